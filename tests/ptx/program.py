"""A module of PTX, ready to run: its functions cut into basic blocks, each a Python function over arrays; its variables
in memory.

In: a `Module` (`parse.py`), and the memory. Out: `Program`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ptx import operations
from tests.ptx.kinds import TYPES
from tests.ptx.launch import EXIT, Frame
from tests.ptx.memory import BASE, Arena
from tests.ptx.operands import ENDS, is_barrier, names_in
from tests.ptx.parse import SIZES, Function, Instr, Module, Variable
from tests.ptx.writer import Writer


class BasicBlock:
    """`run(launch, frame, m, lanes)` gives the next block, one number or one per lane."""

    def __init__(self, run: Callable[..., Any], barrier: bool, opcodes: Counter[str]) -> None:
        self.run, self.barrier, self.opcodes = run, barrier, opcodes
        self.gathers = any(op.startswith(("shfl.", "vote.", "redux.", "bar.warp.", "mma.")) for op in opcodes)


class Compiled:
    """A function. `registers`: how many, with `types`."""

    def __init__(self, function: Function, program: Program) -> None:
        self.function = function
        self.number = {name: k for k, name in enumerate([*function.registers, "%CC"])}
        self.types = [np.bool_ if t == "pred" else TYPES["u" + str(SIZES[t])] for t in function.registers.values()] + [
            np.bool_
        ]
        self.registers = len(self.types)
        self.blocks: list[BasicBlock] = []
        self.locals: dict[str, int] = {}
        self.depot = 0
        for v in function.variables:
            if v.space == "local":
                self.depot += -self.depot % max(v.align, 1)
                self.locals[v.name] = self.depot
                self.depot += v.size
        self.sources: list[str] = []
        self.ends: list[str] = []
        _cut(self, program)

    def barrier_text(self, block: int) -> str:
        """The barrier behind which a block stands."""
        return f"{self.function.name}: {self.ends[block - 1]} (before block {block})"


class Program:
    """A module, ready to run. `grain`: the smallest access to memory, in bytes."""

    def __init__(self, module: Module, arena: Arena, entry: str = "") -> None:
        self.module = module
        kernels = [f for f in module.functions.values() if f.kernel]
        self.entry = module.functions[entry] if entry else kernels[0]
        self.addresses: dict[str, tuple[str, int]] = {}
        self.grain = 8
        shared = [v for v in module.variables.values() if v.space == "shared"] + [
            v for f in module.functions.values() for v in f.variables if v.space == "shared"
        ]
        at = BASE
        for v in sorted(shared, key=lambda v: not v.size):  # what the launch asks for lies behind
            at += -at % max(v.align, 1)
            self.addresses[v.name] = ("shared", at)
            at += v.size
        self.static_shared = at - BASE
        globals_ = [v for v in module.variables.values() if v.space in ("global", "const")]
        for v in globals_:
            self.addresses[v.name] = (v.space, arena.allocate(v.size))
        for v in globals_:
            _fill(v, arena, self.addresses)
        self.compiled = {name: Compiled(f, self) for name, f in module.functions.items()}
        self.deepest = sum(c.depot + -c.depot % 16 for c in self.compiled.values())
        self.stack = self.deepest * (1 if len(self.compiled) == 1 else 4)


def _fill(v: Variable, arena: Arena, addresses: dict[str, tuple[str, int]]) -> None:
    data = bytearray(v.init or bytes(v.size))
    for at, name in v.symbols:
        data[at : at + 8] = addresses[name][1].to_bytes(8, "little")
    if data:
        arena.write(addresses[v.name][1], np.frombuffer(bytes(data), np.uint8))


# ---------------------------------------------------------------- blocks


def _cut(c: Compiled, program: Program) -> None:
    """Basic blocks, and their Python."""
    f = c.function
    starts = {0, *f.labels.values()}
    for at, i in enumerate(f.code):
        if i.op in ENDS or is_barrier(i):
            starts.add(at + 1)
    order = sorted(s for s in starts if s < len(f.code))
    number = {s: k for k, s in enumerate(order)}
    targets = {label: number.get(at, EXIT) for label, at in f.labels.items()}
    pieces = [f.code[s:e] for s, e in zip(order, [*order[1:], len(f.code)])]
    outer: set[str] = set()  # registers that live from block to block
    for piece in pieces:
        defined: set[str] = set()
        for i in piece:
            read, written = _touches(i, c)
            outer |= read - defined
            defined |= written
    for k, piece in enumerate(pieces):
        writer = Writer(c, program, f"b{k}", outer)
        writer.write(piece, k, targets, len(pieces))
        text = writer.text()
        space: dict[str, Any] = {
            "np": np,
            "o": operations,
            "EXIT": EXIT,
            "br": _branch,
            "kept": _kept,
            **TYPES_NAMED,
            **writer.constants,
        }
        exec(compile(text, f"<{f.name} {k}>", "exec"), space)
        c.sources.append(text)
        c.ends.append(piece[-1].text)
        c.blocks.append(
            BasicBlock(space[f"b{k}"], is_barrier(piece[-1]), Counter(".".join([i.op, *i.mods]) for i in piece))
        )


TYPES_NAMED = {f"T{k}": t for k, t in TYPES.items()}


def _touches(i: Instr, c: Compiled) -> tuple[set[str], set[str]]:
    """Registers that an instruction reads and writes. What is written under a guard is read too."""
    stores = i.op in ("st", "bra", "red", "bar", "barrier", "ret", "exit", "call", "trap", "brx", "membar", "fence")
    every = [[n for n in names_in(a.lstrip("!-")) if n in c.number] for a in i.args]
    written = set() if stores or not every else set(every[0])
    read = {n for part in (every if stores else every[1:]) for n in part}
    if i.guard:
        read |= {i.guard.lstrip("!")} | written
    if i.mods[:1] == ["cc"] or "cc" in i.mods:
        written.add("%CC")
    if i.op in ("addc", "subc", "madc"):
        read.add("%CC")
    return read, written


def _branch(p: Any, then: int, other: int) -> Any:
    """The next blocks after a conditional branch."""
    p = np.asarray(p)
    if p.all():
        return then
    return np.where(p, then, other) if p.any() else other


def _kept(frame: Frame, k: int, value: Any, m: Any) -> None:
    """Writes a register."""
    t = frame.R[k].dtype
    value = np.asarray(value)
    if value.dtype != t:
        value = value.view(t)
    if m is None:
        frame.R[k] = value if value.ndim else np.full(len(frame.lanes), value, t)
    else:
        new = frame.R[k].copy()
        new[m] = value
        frame.R[k] = new
