"""The emulator's machine: a kernel as a function of the host that runs blocks one after the other, phases as loops over
the threads of a block.

The function is `void sacpy_kernel(i64* arguments, i64 first, i64 last)`: it runs the blocks from `first` to before
`last` (row-major in the grid). `arguments` has a word per parameter (scalars by value, sign-extended or as bits; arrays
as addresses), one per allocated array (memory of a block; private and scratch arrays thread by thread), the address of
the check word, where accesses are checked the address of the control words of `shadow`, the address of the word that
ends a launch, and that of the word that counts the blocks of the launch that have come to where the last one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.emission import shadow
from sacpy.jit.emission.geometry import allocations
from sacpy.jit.emission.lowering import Lowering, Site
from sacpy.jit.emission.machine import Machine, Memory
from sacpy.jit.ir.graph import ArrayType, Var
from sacpy.jit.ir.kernel import WARP, Kernel
from sacpy.jit.ir.matrix_units import FOLDED, FORMS, OWN
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, Module, memory_type
from sacpy.jit.llvm.scalars import ROWS, Style

ENTRY = "sacpy_kernel"
_WORDS = (("ptr", "%stop"), ("ptr", "%arrived"))


class HostMachine(Machine):
    """Writes a kernel for the host. Results are the interpreter's, bit by bit. Shared arrays may lie over each
    other."""

    rows = ROWS
    style = Style(strict=True)
    address = "i64"

    def __init__(self, kernel: Kernel, module: Module) -> None:
        super().__init__(kernel)
        params = [(self._passed(v), f"%p{n}") for n, v in enumerate(kernel.params)]
        memory = [
            ("ptr" if a.space == "shared" else "ptr noalias", f"%m{n}") for n, a in enumerate(allocations(kernel))
        ]
        self.signature = [*params, *memory, ("ptr noalias", "%failed"), ("ptr noalias", "%control"), *_WORDS]
        self.code = Code(module, "@body", "void", [*self.signature, ("i64", "%first"), ("i64", "%last")])
        self.block = ""
        self.grid: list[str] = []
        self.launched: list[str] = []
        self.extents_of_block: list[str] = []
        self.thread: list[str] = []
        self.number = ""
        self.allocated = 0

    def _passed(self, v: Var) -> str:
        return "ptr noalias" if isinstance(v.type, ArrayType) else LLVM_TYPES[v.base]

    # ---- the levels

    def blocks(self, lowering: Lowering) -> None:
        """The whole function: the kernel's body for each block."""
        code = self.code
        lowering.bind_parameters()
        grid = [lowering.words(e, "i64") for e in self.kernel.grid]
        self.extents_of_block = [lowering.words(e, "i64") for e in self.kernel.block]

        def block(number: str) -> None:
            self.block, rest = number, number
            self.launched = grid
            self.grid = []
            for e in reversed(grid[1:]):
                self.grid.insert(0, code.op(f"urem i64 {rest}, {e}"))
                rest = code.op(f"udiv i64 {rest}, {e}")
            self.grid.insert(0, rest)
            self.look_up()
            self.begin_block()
            lowering.body()

        self._loop("%first", "%last", block)
        code.end("ret void")
        code.finish()

    def _loop(self, lower: str, upper: str, body: Callable[[str], None]) -> None:
        code = self.code
        slot = code.slot("i64")
        code.store("i64", lower, slot)
        head, inside, done = code.label("loop"), code.label("round"), code.label("done")
        code.place(head)
        index = code.load("i64", slot)
        code.branch(code.op(f"icmp slt i64 {index}, {upper}"), inside, done)
        code.place(inside)
        body(index)
        code.store("i64", code.op(f"add nsw i64 {index}, 1"), slot)
        code.jump(head)
        code.place(done)

    def begin_block(self) -> None:
        """Written where a block starts."""

    def begin_phase(self) -> None:
        """Written where a phase starts."""

    def begin_thread(self) -> None:
        """Written where a thread starts in a phase."""

    def grid_index(self, axis: int) -> str:
        return self.widened(self.grid[axis], "i64", self.word)

    def thread_index(self, axis: int) -> str:
        return self.widened(self.thread[axis], "i64", self.word)

    def thread_number(self) -> str:
        return self.widened(self.number, "i64", self.word)

    def threads(self, body: Callable[[], None]) -> None:
        self.begin_phase()
        self._nest(0, "0", body)

    def _nest(self, axis: int, number: str, body: Callable[[], None]) -> None:
        if axis == len(self.extents_of_block):
            self.number = number
            self.begin_thread()
            body()
            return
        extent = self.extents_of_block[axis]

        def inner(index: str) -> None:
            self.thread = [*self.thread[:axis], index]
            self._nest(axis + 1, self.code.sum(self.code.product(number, extent), index), body)

        self._loop("0", extent, inner)

    def look_up(self) -> None:
        code = self.code
        stopped, leave, on = code.op("load volatile i64, ptr %stop"), code.label("leave"), code.label("on")
        code.branch(code.op(f"icmp ne i64 {stopped}, 0"), leave, on)
        code.place(leave)
        code.end("ret void")  # not to the end of the loop: what follows relies on all its rounds
        code.place(on)

    def barrier(self) -> None:
        """Nothing: each phase ends before the next begins."""

    def is_last(self, flag: Memory) -> str:
        code, blocks = self.code, "1"
        for e in self.launched:
            blocks = code.product(blocks, e)
        before = code.op("atomicrmw add ptr %arrived, i64 1 acq_rel")
        return code.op(f"icmp eq i64 {code.sum(before, '1')}, {blocks}")

    def shuffle(self, target: Memory, source: Memory, distance: int, site: int) -> None:
        code = self.code

        def hand_on() -> None:
            own = self.number
            lane = code.op(f"and i64 {own}, {WARP - 1}")
            there = code.op(f"icmp ult i64 {lane}, {WARP - distance}")
            self.become(code.op(f"select i1 {there}, i64 {code.sum(own, str(distance))}, i64 {own}"))
            value = self.load(source, ["0"], site)
            self.become(own)
            self.store(target, ["0"], value, site)

        self.threads(hand_on)

    def multiply(self, target: Memory, left: Memory, right: Memory, form: str, site: int) -> None:
        code, f = self.code, FORMS[form]
        element, deep = target.element, f.deep
        rows, halves = int(left.extents[0]) // deep, int(right.extents[0]) // deep

        def cell(own: str, row: str, half: str, e: int) -> None:
            """A column of those that a thread has side by side: its products in the order of the folded axis."""
            g = code.op(f"and i64 {own}, {-FOLDED}")
            warp, t = code.op(f"and i64 {own}, {-WARP}"), code.op(f"and i64 {own}, {FOLDED - 1}")
            column = code.sum(code.product(t, str(OWN)), str(e))
            start = code.sum(warp, code.product(column, str(FOLDED)))
            at = code.sum(code.product(row, str(OWN * halves)), code.sum(code.product(half, str(OWN)), str(e)))
            found = self.load(target, [at], site)
            for n in range(FOLDED):
                for k in range(deep):
                    self.become(code.sum(g, str(n)))
                    a = self.load(left, [code.sum(code.product(row, str(deep)), str(k))], site)
                    self.become(code.sum(start, str(n)))
                    b = self.load(right, [code.sum(code.product(half, str(deep)), str(k))], site)
                    found = code.op(f"fadd {element} {found}, {code.op(f'fmul {element} {a}, {b}')}")
            self.become(own)
            self.store(target, [at], found, site)

        def all_cells() -> None:
            own = self.number

            def half_row(row: str, half: str) -> None:
                for e in range(OWN):
                    cell(own, row, half, e)

            self._loop("0", str(rows), lambda row: self._loop("0", str(halves), lambda half: half_row(row, half)))

        self.threads(all_cells)

    def become(self, number: str) -> None:
        """From here on it is the thread of this number that does the work."""
        self.number = number
        self.begin_thread()
        self.virtual_thread()

    # ---- memory

    def parameter(self, v: Var, number: int, extents: tuple[str, ...]) -> Memory | str:
        if isinstance(v.type, ArrayType):
            return Memory(v.base, "global", f"%p{number}", extents, number)
        return f"%p{number}"

    def allocate(self, array: Var, space: str, extents: tuple[str, ...]) -> Memory:
        number = self.allocated
        self.allocated += 1
        return Memory(array.base, space, f"%m{number}", extents, len(self.kernel.params) + number)

    def element(self, memory: Memory, index: Sequence[str]) -> str:
        if memory.space in ("private", "scratch"):
            index = (self.code.sum(self.code.product(self.number, memory.extents[0]), index[0]), *index[1:])
        return super().element(memory, index)

    def refuse(self, site: int) -> None:
        old = self.code.load("i32", "%failed")
        first = self.code.op(f"icmp eq i32 {old}, 0")
        self.code.store("i32", self.code.op(f"select i1 {first}, i32 {site}, i32 {old}"), "%failed")


class CheckedMachine(HostMachine):
    """Writes a kernel for the host so that every access to memory is checked (`shadow`), and those out of range are not
    executed."""

    def __init__(self, kernel: Kernel, module: Module) -> None:
        super().__init__(kernel, module)
        shadow.declare(module)
        self.index = self.code.slot(f"[{shadow.MOST_AXES} x i64]")

    def _set(self, word: int, value: str) -> None:
        self.code.store("i64", value, self.code.offset("i64", "%control", str(word)))

    def _advance(self, word: int) -> None:
        address = self.code.offset("i64", "%control", str(word))
        self.code.store("i64", self.code.op(f"add i64 {self.code.load('i64', address)}, 1"), address)

    def begin_block(self) -> None:
        self._set(shadow.BLOCK, self.block)
        self._advance(shadow.EPOCH)

    def begin_phase(self) -> None:
        self._advance(shadow.INSTANCE)

    def begin_thread(self) -> None:
        self._set(shadow.THREAD, self.number)

    def virtual_thread(self, number: str | None = None) -> None:
        self._set(shadow.VIRTUAL, self.number if number is None else self.widened(number, self.word, "i64"))

    def barrier(self) -> None:
        self._advance(shadow.EPOCH)

    def is_last(self, flag: Memory) -> str:
        self._advance(shadow.EPOCH)
        return super().is_last(flag)

    def begin_last(self) -> None:
        self._set(shadow.ALONE, "1")

    def allocate(self, array: Var, space: str, extents: tuple[str, ...]) -> Memory:
        memory = super().allocate(array, space, extents)
        description = self._description(memory)
        for axis, e in enumerate(extents):
            self.code.store("i64", e, self.code.offset("i64", description, str(shadow.EXTENTS + axis)))
        generation = self.code.offset("i64", description, str(shadow.GENERATION))
        self.code.store("i64", self.code.op(f"add i64 {self.code.load('i64', generation)}, 1"), generation)
        return memory

    def _description(self, memory: Memory) -> str:
        return self.code.load("ptr", self.code.offset("ptr", "%control", str(shadow.WORDS + memory.number)))

    def _checked(self, memory: Memory, index: Sequence[str], site: int, writes: bool, atomic: bool = False) -> str:
        """The element's place in memory, or -1."""
        for axis, i in enumerate(index):
            self.code.store("i64", i, self.code.offset("i64", self.index, str(axis)))
        args = (
            f"ptr %control, ptr {self._description(memory)}, ptr {self.index}, i64 {site}, i1 "
            f"{'true' if writes else 'false'}, i1 {'true' if atomic else 'false'}"
        )
        return self.code.op(f"call i64 @{shadow.ACCESS}({args})")

    def load(self, memory: Memory, index: Sequence[str], site: int) -> str:
        code = self.code
        slot = code.slot(memory.element)
        code.store(memory.element, "0.0" if memory.base in ("float", "double") else "0", slot)
        self._guarded(
            self._checked(memory, index, site, False),
            lambda at: code.store(
                memory.element, code.load(memory.element, code.offset(memory.element, memory.pointer, at)), slot
            ),
        )
        return self.scalar_of(memory.base, code.load(memory.element, slot))

    def store(self, memory: Memory, index: Sequence[str], value: str, site: int) -> None:
        held = self.in_memory(memory.base, value)
        self._guarded(
            self._checked(memory, index, site, True),
            lambda at: self.code.store(memory.element, held, self.code.offset(memory.element, memory.pointer, at)),
        )

    def atomic(self, operation: str, memory: Memory, index: Sequence[str], value: str, site: int) -> str:
        code = self.code
        slot = code.slot(memory.element)
        code.store(memory.element, "0", slot)
        self._guarded(
            self._checked(memory, index, site, True, atomic=True),
            lambda at: code.store(
                memory.element,
                code.op(self.atomic_text(operation, memory, code.offset(memory.element, memory.pointer, at), value)),
                slot,
            ),
        )
        return code.load(memory.element, slot)

    def _guarded(self, place: str, body: Callable[[str], None]) -> None:
        inside, on = self.code.label("inside"), self.code.label("on")
        self.code.branch(self.code.op(f"icmp sge i64 {place}, 0"), inside, on)
        self.code.place(inside)
        body(place)
        self.code.jump(on)
        self.code.place(on)


def host_text(kernel: Kernel, *, check: bool = False) -> tuple[str, tuple[Site, ...]]:
    """A kernel's module for the host, and its statements that touch memory."""
    module = Module()
    machine = CheckedMachine(kernel, module) if check else HostMachine(kernel, module)
    lowering = Lowering(kernel, machine)
    machine.blocks(lowering)
    _entry(module, kernel, machine)
    return module.text(), tuple(lowering.sites)


def _entry(module: Module, kernel: Kernel, machine: HostMachine) -> None:
    """Takes the arguments out of their words."""
    code = Code(
        module, f"@{ENTRY}", "void", [("ptr", "%arguments"), ("i64", "%first"), ("i64", "%last")], head="define"
    )
    passed = []
    for number, (type_, _) in enumerate(machine.signature):
        plain = type_.removesuffix(" noalias")
        address = code.offset("i64", "%arguments", str(number))
        held = memory_type(kernel.params[number].base) if plain == "i1" else plain
        value = code.load(held, address)
        passed.append(f"{plain} {code.op(f'icmp ne i8 {value}, 0') if plain == 'i1' else value}")
    code.do(f"call void @body({', '.join([*passed, 'i64 %first', 'i64 %last'])})")
    code.end("ret void")
    code.finish()
