"""LLVM IR as text, written instruction by instruction: modules, functions, blocks.

In: operations with the types and names of their operands. Out: the text of a module. Only what every consumer of the
text takes can be written here; memory is touched through `load`, `store` and `offset`, which name the element type.
Text rather than objects: writing it is a few microseconds an instruction, and LLVM's own parser checks it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from sacpy.nodes import Record, field

LLVM_TYPES = {
    "byte": "i8", "short": "i16", "int": "i32", "long": "i64", "longlong": "i64", "ubyte": "i8", "ushort": "i16",
    "uint": "i32", "ulong": "i64", "ulonglong": "i64", "float": "float", "double": "double", "bool": "i1", "char": "i8",
}  # fmt: skip
# in the metadata of a loop: its rounds have vectors of their own, which LLVM makes of straight-line code if asked
STRAIGHT_VECTORS = "sacpy.straight_vectors"
ABOVE_EXTENTS = 1 << 31  # more than any extent
EXTENT = f"i32 noundef range(i32 0, {-ABOVE_EXTENTS})"  # the type of a parameter that is one: up to the largest int
_NODE = re.compile(r"!\d+")
SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}


def memory_type(base: str) -> str:
    """The LLVM type of an array's elements."""
    return "i8" if base == "bool" else LLVM_TYPES[base]


def size_of(base: str) -> int:
    """Bytes of an element."""
    return SIZES[memory_type(base)]


def constant(base: str, value: int | float | bool) -> str:
    """A constant's text. Reals are written as the bits of a double, so that every value, NaN and infinities too, is
    exact."""
    if base in ("float", "double"):
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return f"0x{bits:016X}"
    if base == "bool":
        return "true" if value else "false"
    return str(int(value))


class Module(Record):
    """A module being written: functions, declarations, globals and metadata, each once."""

    functions: list[str] = field(default_factory=list)
    declarations: dict[str, str] = field(default_factory=dict)
    metadata: list[str] = field(default_factory=list)
    attributes: dict[str, int] = field(default_factory=dict)
    vector_routines: list[str] = field(default_factory=list)
    lists: dict[tuple[str, ...], str] = field(default_factory=dict)
    domain: str = ""
    names: int = 0
    shared: dict[tuple[str, ...], str] = field(default_factory=dict)  # functions that may be, by what they do

    def declare(self, name: str, text: str) -> str:
        """Declares an external function or global; gives its name."""
        self.declarations.setdefault(name, text)
        return name

    def node(self, text: str, *, distinct: bool = False) -> str:
        """A metadata node; `{self}` in the text stands for the node itself."""
        name = f"!{len(self.metadata)}"
        self.metadata.append(f"{name} = {'distinct ' if distinct else ''}{text.replace('{self}', name)}")
        return name

    def scope(self) -> str:
        """A new alias scope."""
        if not self.domain:
            self.domain = self.node("!{{self}}", distinct=True)
        return self.node(f"!{{{{self}}, {self.domain}}}", distinct=True)

    def list_of(self, nodes: tuple[str, ...]) -> str:
        """A metadata node that lists others."""
        if nodes not in self.lists:
            self.lists[nodes] = self.node("!{" + ", ".join(nodes) + "}")
        return self.lists[nodes]

    def attribute(self, text: str) -> str:
        """A group of function attributes."""
        return f"#{self.attributes.setdefault(text, len(self.attributes))}"

    def fresh(self, stem: str) -> str:
        """A new global name."""
        self.names += 1
        return f"@{stem}.{self.names}"

    def share(self, name: str, text: str) -> str:
        """Adds a function, unless there is one that differs from it in nothing but its name and the numbers of its
        metadata. Gives the name of the one that there is then."""
        numbers: dict[str, int] = {}

        def renumbered(text: str) -> str:
            return _NODE.sub(lambda m: f"!{numbers.setdefault(m[0], len(numbers))}", text)

        form = [renumbered(text.replace(name, "@", 1))]
        while len(form) <= len(numbers):  # each definition may name more
            form.append(renumbered(self.metadata[int(list(numbers)[len(form) - 1][1:])]))
        known = self.shared.setdefault(tuple(form), name)
        if known == name:
            self.functions.append(text)
        return known

    def text(self) -> str:
        """The module as LLVM reads it."""
        parts = [*self.declarations.values(), *self.functions]
        if self.vector_routines:  # only the vectoriser will call them; until then they must not go
            users = ", ".join(f"ptr {name}" for name in self.vector_routines)
            parts.append(
                f"@llvm.compiler.used = appending global [{len(self.vector_routines)} x ptr] [{users}], section "
                '"llvm.metadata"'
            )
        parts += [f"attributes #{n} = {{ {text} }}" for text, n in self.attributes.items()]
        return "\n".join([*parts, *self.metadata, ""])


class Code:
    """One function being written. Values are names or constants as text; `%t…` are temporaries, each set once."""

    def __init__(
        self,
        module: Module,
        name: str,
        result: str,
        params: Sequence[tuple[str, str]],
        *,
        head: str = "define internal",
        tail: str = "",
    ) -> None:
        self.module = module
        self.head = (
            f"{head} {result} {name}({', '.join(f'{type_} {p}' for type_, p in params)}){' ' + tail if tail else ''} {{"
        )
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.open = True
        self.group = ""  # that the loads and stores of a loop belong to whose rounds do not depend on each other
        self.chosen: set[str] = set()  # temporaries that are one value or another

    # ---- blocks

    def label(self, stem: str) -> str:
        """A new label, not yet placed."""
        self.count += 1
        return f"{stem}{self.count}"

    def place(self, label: str) -> None:
        """Starts a block; the one before falls through to it."""
        if self.open:
            self.jump(label)
        self.lines.append(f"{label}:")
        self.open = True

    def jump(self, label: str, note: str = "") -> None:
        """Ends the block with a jump."""
        self.end(f"br label %{label}{note}")

    def branch(self, condition: str, then: str, otherwise: str, note: str = "") -> None:
        """Ends the block with a conditional jump."""
        self.end(f"br i1 {condition}, label %{then}, label %{otherwise}{note}")

    def one_jump(self, condition: str) -> str:
        """The metadata of a conditional jump that does not become several, one on what a condition is chosen by: LLVM
        takes all jumps for foreseen but those that are said not to be."""
        return f", !unpredictable {self.module.node('!{}')}" if condition in self.chosen else ""

    def end(self, text: str) -> None:
        """Ends the block. What would follow a block's end is not written."""
        if self.open:
            self.lines.append(f"  {text}")
        self.open = False

    # ---- instructions

    def op(self, text: str) -> str:
        """An instruction with a result."""
        self.count += 1
        name = f"%t{self.count}"
        if self.open:
            self.lines.append(f"  {name} = {text}")
            if text.startswith("select "):
                self.chosen.add(name)
        return name

    def do(self, text: str) -> None:
        """An instruction without a result."""
        if self.open:
            self.lines.append(f"  {text}")

    def slot(self, type_: str) -> str:
        """A local variable in memory, for values that several paths set; LLVM turns it into registers."""
        self.count += 1
        name = f"%s{self.count}"
        self.slots.append(f"  {name} = alloca {type_}")
        return name

    def load(self, type_: str, pointer: str, note: str = "") -> str:
        """Reads memory."""
        value = self.op(f"load {type_}, ptr {pointer}{note}")
        if pointer.startswith("%s"):  # a slot
            self.chosen.add(value)
        return value

    def store(self, type_: str, value: str, pointer: str, note: str = "") -> None:
        """Writes memory."""
        self.do(f"store {type_} {value}, ptr {pointer}{note}")

    def put(self, type_: str, value: str, pointer: str, note: str = "") -> None:
        """Writes an element of an array. LLVM 22 makes a masked store of what is either a new value or the old one of
        that element, which takes some processors without AVX-512 3.5 times longer (llvm-project 145176, put right in
        214187); it does not see that a frozen value is such a choice."""
        self.store(type_, self.op(f"freeze {type_} {value}") if value in self.chosen else value, pointer, note)

    def extent_note(self) -> str:
        """The metadata of a load of an extent, 64 bits: that it is not negative, so that LLVM asks but once whether an
        index is neither negative nor too large."""
        node = self.module.node
        return f", !range {node(f'!{{i64 0, i64 {ABOVE_EXTENTS}}}')}, !noundef {node('!{}')}"

    def offset(self, type_: str, pointer: str, index: str) -> str:
        """The address of element `index` (64 bits)."""
        return pointer if index == "0" else self.op(f"getelementptr inbounds {type_}, ptr {pointer}, i64 {index}")

    def sum(self, a: str, b: str) -> str:
        """a + b of 64 bits, known not to wrap."""
        if _is_number(a) and _is_number(b):
            return str(int(a) + int(b))
        return b if a == "0" else a if b == "0" else self.op(f"add nsw i64 {a}, {b}")

    def product(self, a: str, b: str) -> str:
        """a * b of 64 bits, known not to wrap."""
        if _is_number(a) and _is_number(b):
            return str(int(a) * int(b))
        if a == "1" or b == "0":
            return b
        return a if b == "1" or a == "0" else self.op(f"mul nsw i64 {a}, {b}")

    def difference(self, a: str, b: str) -> str:
        """a - b of 64 bits, known not to wrap."""
        if _is_number(a) and _is_number(b):
            return str(int(a) - int(b))
        return a if b == "0" else self.op(f"sub nsw i64 {a}, {b}")

    def quotient(self, a: str, b: str) -> str:
        """a / b of 64 bits, truncated; b is positive."""
        if _is_number(a) and _is_number(b) and int(a) >= 0:
            return str(int(a) // int(b))
        return a if b == "1" else self.op(f"sdiv i64 {a}, {b}")

    def largest(self, a: str, b: str) -> str:
        """The larger of two numbers of 64 bits."""
        if _is_number(a) and _is_number(b):
            return str(max(int(a), int(b)))
        self.module.declare("llvm.smax", "declare i64 @llvm.smax.i64(i64, i64)")
        return self.op(f"call i64 @llvm.smax.i64(i64 {a}, i64 {b})")

    def text(self) -> str:
        """The function's text. Slots stand in the first block."""
        return "\n".join([self.head, *self.slots, *self.lines, "}"])

    def finish(self) -> None:
        """Hands the function to its module."""
        self.module.functions.append(self.text())


def _is_number(text: str) -> bool:
    """Whether a 64-bit text is a constant."""
    return not text.startswith("%")


__all__ = ["LLVM_TYPES", "Code", "Module", "constant", "memory_type", "size_of"]
