"""PTX text to instructions.

In: the text of a module. Out: `Module`: functions with their instructions, labels, parameters, and the variables of the
module. Nothing is interpreted here but numbers.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field


class PtxError(Exception):
    """Text that this interpreter does not understand."""


@dataclass
class Variable:
    """Memory that the module declares. `size` 0 and `space` shared: what the launch asks for. `init`: bytes, and
    (offset, symbol) of addresses in it."""

    name: str
    space: str
    align: int
    size: int
    init: bytes = b""
    symbols: list[tuple[int, str]] = field(default_factory=list)


@dataclass
class Instr:
    """`guard`: a predicate, "!" before it if negated. `mods`: the parts of the opcode behind its first one. `args`:
    operands as text."""

    op: str
    mods: list[str]
    args: list[str]
    guard: str = ""
    text: str = ""


@dataclass
class Function:
    name: str
    kernel: bool
    params: list[Variable]
    results: list[Variable]
    code: list[Instr] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)  # type by name
    tables: dict[str, list[str]] = field(default_factory=dict)  # targets of brx
    variables: list[Variable] = field(default_factory=list)  # local and shared ones
    ntid: tuple[int, ...] = ()
    exact: bool = False  # whether ntid is required, not only an upper bound


@dataclass
class Module:
    version: str = ""
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)


SIZES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4, "s32": 4,
    "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8, "b128": 16,
}  # fmt: skip
_DECLARATION = re.compile(
    r"^(?:\.(?:visible|extern|weak|common)\s+)*\.(global|const|shared|local|param)\s+"
    r"(?:\.attribute\([^)]*\)\s+)?(?:\.align\s+(\d+)\s+)?"
    r"\.(\w+)\s+([\w$%.]+)\s*((?:\[\d*\]\s*)*)(?:=\s*(.*))?$",
    re.S,
)


def integer(text: str) -> int | None:
    """An integer literal."""
    m = re.fullmatch(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?", text)
    if not m:
        return None
    value = int(m[2], 8) if re.fullmatch(r"0[0-7]+", m[2]) else int(m[2], 0)
    return -value if m[1] else value


def real(text: str) -> float | None:
    """A floating-point literal: in hex (0f, 0d), or plain."""
    m = re.fullmatch(r"(-?)0[fF]([0-9a-fA-F]{8})", text)
    if m:
        return float(struct.unpack(">f", bytes.fromhex(m[2]))[0]) * (-1 if m[1] else 1)
    m = re.fullmatch(r"(-?)0[dD]([0-9a-fA-F]{16})", text)
    if m:
        return float(struct.unpack(">d", bytes.fromhex(m[2]))[0]) * (-1 if m[1] else 1)
    if re.fullmatch(r"-?\d+\.\d*(?:[eE][-+]?\d+)?", text):
        return float(text)
    return None


def split(text: str) -> list[str]:
    """Operands, which commas outside of brackets separate."""
    found, depth, start = [], 0, 0
    for at, c in enumerate(text):
        if c in "{[(":
            depth += 1
        elif c in "}])":
            depth -= 1
        elif c == "," and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*found, last] if last else found


def _variable(text: str) -> Variable:
    plain = re.sub(r"\.ptr (?:\.(?:global|shared|local|const) )?(?:\.align \d+ )?", "", " ".join(text.split()))
    m = _DECLARATION.match(plain)
    if not m:
        raise PtxError(f"declaration: {text}")
    space, align, type_, name, dims, init = m.groups()
    element = SIZES[type_]
    count = 1
    for d in re.findall(r"\[(\d*)\]", dims):
        count *= int(d or 0)
    v = Variable(name, space, int(align or element), element * count)
    if init:
        data = bytearray()
        for item in split(init.strip().removeprefix("{").removesuffix("}")):
            item = item.strip("{} ")
            n, r = integer(item), real(item)
            if r is not None:
                data += struct.pack("<f" if element == 4 else "<d", r)
            elif n is not None:
                data += (n & ((1 << (8 * element)) - 1)).to_bytes(element, "little")
            else:
                v.symbols.append((len(data), re.sub(r"^generic\(|\)$", "", item)))
                data += bytes(element)
        v.size = v.size or len(data)
        v.init = bytes(data) + bytes(v.size - len(data))
    return v


def _clean(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^\s*\.(loc|file)\b[^\n]*$", "", text, flags=re.M)
    return re.sub(r"^\s*\.section\b.*?^\s*\}", "", text, flags=re.M | re.S)


def _block_end(text: str, start: int) -> int:
    """Behind the brace that closes the one at `start`."""
    depth = 0
    for m in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if m[0] == "{" else -1
        if not depth:
            return m.end()
    raise PtxError("a brace is not closed")


def parse(text: str) -> Module:
    """A module."""
    text, module, at = _clean(text), Module(), 0
    while True:
        m = re.compile(r"\s*").match(text, at)
        at = m.end() if m else at
        if at >= len(text):
            return module
        m = re.compile(r"\.(version|target|address_size)\s+([^\n]*)").match(text, at)
        if m:
            if m[1] == "version":
                module.version = m[2].strip()
            elif m[1] == "target":
                module.target = m[2].split(",")[0].strip()
            at = m.end()
            continue
        m = re.compile(r"(?:\.(?:visible|extern|weak)\s+)*\.(entry|func)\b").match(text, at)
        if m:
            stop = re.compile(r"[{;]").search(text, at)
            assert stop
            f = _head(text[m.end() : stop.start()], m[1] == "entry")
            if stop[0] == ";":  # declared only
                at = stop.end()
                continue
            at = _block_end(text, stop.start())
            _body(f, text[stop.start() + 1 : at - 1])
            module.functions[f.name] = f
            continue
        stop = re.compile(r";").search(text, at)
        if stop is None:
            raise PtxError(f"what is this: {text[at : at + 80]!r}")
        v = _variable(text[at : stop.start()])
        module.variables[v.name] = v
        at = stop.end()


def _head(text: str, kernel: bool) -> Function:
    m = re.match(r"\s*(?:\(([^()]*)\)\s*)?([\w$%.]+)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?(.*)$", text, re.S)
    if not m:
        raise PtxError(f"head: {text}")
    f = Function(m[2], kernel, [_variable(p) for p in split(m[3] or "")], [_variable(p) for p in split(m[1] or "")])
    bound = re.search(r"\.(maxntid|reqntid)\s+([\d, ]+)", m[4])
    if bound:
        f.ntid, f.exact = tuple(int(n) for n in bound[2].replace(" ", "").strip(",").split(",")), bound[1] == "reqntid"
    return f


def _body(f: Function, text: str) -> None:
    """Statements. Names that an inner scope declares get a number."""
    scopes: list[dict[str, str]] = [{}]
    skip = re.compile(r"\s*")
    label = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
    at = 0
    while True:
        at = skip.match(text, at).end()  # type: ignore[union-attr]
        if at >= len(text):
            return
        if text[at] == "{":
            scopes.append({})
            at += 1
            continue
        if text[at] == "}":
            scopes.pop()
            at += 1
            continue
        m = label.match(text, at)
        if m:
            f.labels[m[1]] = len(f.code)
            at = m.end()
            table = re.compile(r"\s*\.branchtargets\s+([^;]*);").match(text, at)
            proto = re.compile(r"\s*\.callprototype[^;]*;").match(text, at)
            if table:
                f.tables[m[1]] = [t.strip() for t in table[1].split(",")]
                at = table.end()
            elif proto:
                at = proto.end()
            continue
        end = text.index(";", at)
        statement = text[at:end].strip()
        at = end + 1
        if not statement:
            continue
        if statement.startswith(".reg"):
            _, type_, rest = statement.split(None, 2)
            for name in split(rest):
                many = re.fullmatch(r"([\w$%]+)<(\d+)>", name)
                for one in [f"{many[1]}{k}" for k in range(int(many[2]))] if many else [name]:
                    real_name = one if len(scopes) == 1 else f"{one}#{len(f.registers)}"
                    scopes[-1][one] = real_name
                    f.registers[real_name] = type_[1:]
        elif re.match(r"\.(local|shared|param)\b", statement):
            v = _variable(statement)
            if len(scopes) > 1:
                scopes[-1][v.name] = f"{v.name}#{len(f.variables)}"
                v.name = scopes[-1][v.name]
            f.variables.append(v)
        elif statement.startswith("."):
            if not statement.startswith(".pragma"):
                raise PtxError(f"directive: {statement}")
        else:
            f.code.append(_instruction(statement, scopes))


_NAME = re.compile(r"[%A-Za-z_$][\w$]*")


def _instruction(text: str, scopes: list[dict[str, str]]) -> Instr:
    guard, rest = "", " ".join(text.split())
    m = re.match(r"@(!?)\s*([\w$%]+)\s+", rest)
    if m:
        guard, rest = m[1] + _renamed(m[2], scopes), rest[m.end() :]
    opcode, _, operands = rest.partition(" ")
    op, *mods = re.sub(r"::", "__", opcode).split(".")
    if len(scopes) > 1:
        operands = _NAME.sub(lambda m: _renamed(m[0], scopes), operands)
    return Instr(op, mods, split(operands), guard, text)


def _renamed(name: str, scopes: list[dict[str, str]]) -> str:
    return next((s[name] for s in reversed(scopes) if name in s), name)
