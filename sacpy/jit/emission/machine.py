"""What the code of a kernel may ask of the machine it runs on. One class per machine answers: `host_machine`,
`device_machine`.

Values are texts of LLVM IR, as in `llvm.legal`. A machine writes into `code`; it owns how memory is addressed, what
threads there are, and how scalars are computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from sacpy.jit.ir.graph import Op, Var
from sacpy.jit.ir.kernel import Kernel, SeqFor
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, memory_type
from sacpy.jit.llvm.scalars import Emit, Style
from sacpy.nodes import Node

WORDS = {32: "i32", 64: "i64"}


def atomic_operation(code: str, signed: bool) -> str:
    """What LLVM calls an atomic operation of kernels."""
    return f"u{code}" if code in ("min", "max") and not signed else code.removeprefix("bit")


class Memory(Node):
    """An array's elements: `pointer` to the first, in row-major order; `extents` are words of the machine's addresses.
    `number`: which array it is: its place among the parameters, or the number of parameters and its place among the
    allocations. `lanes`: for arrays in interleaved memory, how many elements lie from one element of a thread to its
    next."""

    base: str
    space: str
    pointer: str
    extents: tuple[str, ...]
    number: int
    lanes: str = "1"

    @property
    def element(self) -> str:
        """The LLVM type of an element in memory."""
        return memory_type(self.base)


class Machine(ABC):
    """A machine, and the function that is being written for it."""

    code: Code
    rows: Mapping[str, Emit]
    style: Style
    address: str  # the LLVM type in which addresses are computed

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.word = WORDS[kernel.bits]

    # ---- scalars

    def operation(self, op: Op, args: Sequence[str]) -> str:
        """A scalar operation, total, as `llvm.scalars` has them."""
        if op.code == "select":
            type_ = LLVM_TYPES[op.args[1].base]
            return self.code.op(f"select i1 {args[0]}, {type_} {args[1]}, {type_} {args[2]}")
        return self.rows[op.code](self.code, op, op.args[0].base, args, self.style)

    def product(self, op: Op, args: Sequence[str]) -> str:
        """A product of reals that is rounded before it is used: what is subtracted from it must not make it more exact
        than the other one."""
        return self.operation(op, args)

    def widened(self, text: str, source: str, target: str) -> str:
        """A signed integer of LLVM type `source` in `target`, which may be narrower where the value fits."""
        if source == target or text.lstrip("-").isdigit():
            return text
        return self.code.op(f"{'sext' if source == 'i32' else 'trunc'} {source} {text} to {target}")

    def multiple(self, text: str, type_: str, of: int) -> str:
        """An integer that is known to be a multiple of a power of two, so that compilers see it."""
        return self.code.op(f"and {type_} {text}, {-of}")

    # ---- the levels

    @abstractmethod
    def grid_index(self, axis: int) -> str:
        """The block's index along an axis of the grid, outermost first, a word."""

    @abstractmethod
    def thread_index(self, axis: int) -> str:
        """The thread's index along an axis of the block, a word. Only inside `threads`."""

    @abstractmethod
    def thread_number(self) -> str:
        """The thread's number in its block, the last axis fastest, a word. Only inside `threads`."""

    @abstractmethod
    def threads(self, body: Callable[[], None]) -> None:
        """A phase: what `body` writes, run by all threads of the block."""

    def loop_note(self, s: SeqFor) -> str:
        """What the compiler is told about a loop, as metadata of its last jump."""
        return ""

    def look_up(self) -> None:  # noqa: B027 (only the emulator can be told to stop)
        """Written where a round begins of a loop that may take long: it ends the kernel if somebody has stopped the
        launch."""

    def virtual_thread(self, number: str | None = None) -> None:  # noqa: B027 (only check mode wants to know)
        """From here on a thread does the work of this virtual thread (a word); None: of the one with its own number."""

    @abstractmethod
    def barrier(self) -> None:
        """All threads of the block come here before one goes on."""

    @abstractmethod
    def shuffle(self, target: Memory, source: Memory, distance: int, site: int) -> None:
        """The one element of each thread's `target` becomes that of `source` of the thread so far behind it in its
        warp, or its own."""

    @abstractmethod
    def is_last(self, flag: Memory) -> str:
        """Whether all other blocks of the launch have come here before, an i1; then what they wrote is seen, as
        `LastBlock` says. A barrier. `flag`: as of `LastBlock`."""

    def begin_last(self) -> None:  # noqa: B027 (only check mode wants to know)
        """Written where the last block goes on."""

    @abstractmethod
    def multiply(self, target: Memory, left: Memory, right: Memory, form: str, site: int) -> None:
        """The threads of each warp multiply what they have of two matrices, and add it to what they have of a third
        one."""

    # ---- memory

    @abstractmethod
    def parameter(self, v: Var, number: int, extents: tuple[str, ...]) -> Memory | str:
        """Parameter `number`: an array with these extents, or a scalar's text."""

    @abstractmethod
    def allocate(self, array: Var, space: str, extents: tuple[str, ...]) -> Memory:
        """Memory of the block or of each of its threads. Called once for each `Allocate`, in the order of the text."""

    def element(self, memory: Memory, index: Sequence[str]) -> str:
        """The address of an element: `index` are words of addresses, in range."""
        code, type_ = self.code, self.address
        flat = index[0]
        for i, extent in zip(index[1:], memory.extents[1:]):
            flat = self._sum(self._product(flat, extent), i)
        flat = self.widened(flat, type_, "i64")
        return code.offset(memory.element, memory.pointer, code.product(flat, memory.lanes))

    def _product(self, a: str, b: str) -> str:
        if "0" in (a, b):
            return "0"
        return a if b == "1" else b if a == "1" else self.code.op(f"mul nsw {self.address} {a}, {b}")

    def _sum(self, a: str, b: str) -> str:
        return b if a == "0" else a if b == "0" else self.code.op(f"add nsw {self.address} {a}, {b}")

    def load(self, memory: Memory, index: Sequence[str], site: int) -> str:
        """An element, as a scalar of its base type. `site`: the number of the statement, from 1."""
        return self.scalar_of(memory.base, self.code.load(memory.element, self.element(memory, index)))

    def store(self, memory: Memory, index: Sequence[str], value: str, site: int) -> None:
        """Writes an element."""
        self.code.store(memory.element, self.in_memory(memory.base, value), self.element(memory, index))

    def atomic(self, operation: str, memory: Memory, index: Sequence[str], value: str, site: int) -> str:
        """Combines an element with a value in one step; gives what it was. `operation`: as LLVM has it."""
        return self.code.op(self.atomic_text(operation, memory, self.element(memory, index), value))

    def atomic_text(self, operation: str, memory: Memory, pointer: str, value: str) -> str:
        """The instruction."""
        return f"atomicrmw {operation} ptr {pointer}, {memory.element} {value} monotonic"

    def scalar_of(self, base: str, text: str) -> str:
        """A scalar from how memory holds it."""
        return self.code.op(f"icmp ne i8 {text}, 0") if base == "bool" else text

    def in_memory(self, base: str, text: str) -> str:
        """A scalar as memory holds it."""
        return self.code.op(f"zext i1 {text} to i8") if base == "bool" else text

    @abstractmethod
    def refuse(self, site: int) -> None:
        """The launch fails at a `Check`; the thread goes on."""
