"""The GPU's machine: every thread runs the kernel's text; what is of the block is computed by all its threads alike.

Text is LLVM IR with typed pointers and address spaces, which libNVVM (both dialects), LLVM's NVPTX and nothing newer
than they need. After the kernel's own parameters come the scratch arrays, in order, and two words (`i32*`): the check
word, 0 while all checks held, then the number of one that did not; and how many blocks have come to where the last one
goes on, 0 before and after each launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.emission.addresses import Addresses
from sacpy.jit.emission.geometry import (
    MOST_STATIC_SHARED,
    SHARED_ALIGNMENT,
    allocations,
    shared_plan,
    spaces,
    static_cells,
)
from sacpy.jit.emission.libdevice import DEVICE_ROWS
from sacpy.jit.emission.machine import Machine, Memory
from sacpy.jit.emission.multiples import Multiples
from sacpy.jit.ir.graph import ArrayType, Const, Op, Var
from sacpy.jit.ir.kernel import ALIGNMENT, WARP, Kernel, SeqFor, While, read_by_the_last, thread_statements
from sacpy.jit.ir.matrix_units import FORMS, OWN
from sacpy.jit.llvm.legal import LLVM_TYPES, SIZES, Code, Module, memory_type, size_of
from sacpy.jit.llvm.scalars import Style

AXES = "xyz"
WORDS_OF = ("int", "long")  # the types of indices
GENERIC, GLOBAL, SHARED = 0, 1, 3
SHARED_MEMORY = "@sacpy_shared"
_COPIES = ((12, 8), (40, 4), (80, 2))  # statements of a round at most, and how many rounds are written out


def pointer_type(element: str, space: int) -> str:
    """A typed pointer."""
    return f"{element} addrspace({space})*" if space else f"{element}*"


class TypedCode(Code):
    """Code whose pointers are typed. `space_of`: the address space of each pointer that is not in the generic one;
    `alignment`: of pointers that are known to be aligned better than what they point to is."""

    def __init__(
        self,
        module: Module,
        name: str,
        result: str,
        params: Sequence[tuple[str, str]],
        *,
        head: str = "define",
        tail: str = "",
    ) -> None:
        super().__init__(module, name, result, params, head=head, tail=tail)
        self.space_of: dict[str, int] = {}
        self.alignment: dict[str, int] = {}
        self.blocks = 0

    def place(self, label: str) -> None:
        super().place(label)
        self.blocks += 1

    def pointer(self, element: str, pointer: str) -> str:
        """A pointer with its type."""
        return f"{pointer_type(element, self.space_of.get(pointer, GENERIC))} {pointer}"

    def in_space(self, pointer: str, space: int) -> str:
        """Notes a pointer's address space."""
        self.space_of[pointer] = space
        return pointer

    def load(self, type_: str, pointer: str, note: str = "") -> str:
        return self.op(f"load {type_}, {self.pointer(type_, pointer)}, align {self._aligned(type_, pointer)}{note}")

    def store(self, type_: str, value: str, pointer: str, note: str = "") -> None:
        self.do(f"store {type_} {value}, {self.pointer(type_, pointer)}, align {self._aligned(type_, pointer)}{note}")

    def _aligned(self, type_: str, pointer: str) -> int:
        return max(SIZES.get(type_, 1), self.alignment.get(pointer, 1))

    def offset(self, type_: str, pointer: str, index: str) -> str:
        if index == "0":
            return pointer
        return self.in_space(
            self.op(f"getelementptr inbounds {type_}, {self.pointer(type_, pointer)}, i64 {index}"),
            self.space_of.get(pointer, GENERIC),
        )


class DeviceMachine(Machine):
    """Writes a kernel for GPUs. `name`: the function's, a plain identifier."""

    rows = DEVICE_ROWS

    def __init__(self, kernel: Kernel, module: Module, name: str, *, strict: bool) -> None:
        super().__init__(kernel)
        self.address = self.word
        self.style = Style(strict)
        self.spaces = spaces(kernel)
        self.plan = shared_plan(kernel)
        written = {w.array.name for w in kernel.writes}
        self.exchanged = written & read_by_the_last(kernel)
        scratch = [a.array for a in allocations(kernel) if self.spaces[a.array.name] == "scratch"]
        params = [(self._passed(v, v.name not in written), f"%p{n}") for n, v in enumerate(kernel.params)]
        params += [
            (pointer_type(memory_type(v.base), GLOBAL) + " noalias", f"%s{n}.scratch") for n, v in enumerate(scratch)
        ]
        self.params = [*params, (pointer_type("i32", GLOBAL), "%failed")]
        self.code: TypedCode = TypedCode(module, f"@{name}", "void", self.params)
        for type_, text in self.params:
            if "addrspace(1)" in type_:
                self.code.in_space(text, GLOBAL)
        self.scratch = iter([text for type_, text in params if text.endswith(".scratch")])
        self.addresses = Addresses(lambda: self.code.blocks)
        self.multiples = Multiples()
        self.allocated = 0
        self.dynamic = "0"  # bytes of dynamic shared memory given away so far

    def operation(self, op: Op, args: Sequence[str]) -> str:
        text = super().operation(op, args)
        if op.args[0].base in WORDS_OF:
            self.addresses.note(text, op.code, args, op.exact)
            self.multiples.note(text, op.code, args)
        return text

    def multiple(self, text: str, type_: str, of: int) -> str:
        found = super().multiple(text, type_, of)
        self.multiples.is_multiple(found, of)
        return found

    def widened(self, text: str, source: str, target: str) -> str:
        found = super().widened(text, source, target)
        if found != text:
            self.multiples.is_multiple(found, self.multiples.of(text))
        return found

    def product(self, op: Op, args: Sequence[str]) -> str:
        if self.style.strict:
            return self.operation(op, args)
        type_ = LLVM_TYPES[op.args[0].base]
        name = f"@llvm.nvvm.mul.rn.{type_[0]}"
        self.code.module.declare(name, f"declare {type_} {name}({type_}, {type_})")
        return self.code.op(f"call {type_} {name}({type_} {args[0]}, {type_} {args[1]})")

    def _passed(self, v: Var, read_only: bool) -> str:
        if isinstance(v.type, ArrayType):
            aligned = f" align {ALIGNMENT}" if self.kernel.aligned else ""
            # what other blocks have changed is read: compilers may not take it that nobody else does
            alone = "" if v.name in self.exchanged else " noalias"
            return pointer_type(memory_type(v.base), GLOBAL) + alone + (" readonly" if read_only else "") + aligned
        return memory_type(v.base)

    # ---- the levels

    def _register(self, name: str) -> str:
        full = f"@llvm.nvvm.read.ptx.sreg.{name}"
        self.code.module.declare(full, f"declare i32 {full}()")
        return self.code.op(f"call i32 {full}()")

    def _axis(self, register: str, axis: int, rank: int) -> str:
        """A special register as a word, an extent of the block that is known as a number. It is never negative: no
        index passes 2**31 - 1."""
        extent = self.kernel.block[axis] if register == "ntid" else None
        if isinstance(extent, Const):
            return str(int(extent.value))
        text = self._register(f"{register}.{AXES[rank - 1 - axis]}")
        return text if self.word == "i32" else self.code.op(f"zext i32 {text} to i64")

    def grid_index(self, axis: int) -> str:
        return self._axis("ctaid", axis, len(self.kernel.grid))

    def thread_index(self, axis: int) -> str:
        return self._axis("tid", axis, len(self.kernel.block))

    def _flat(self, index: str, extent: str, rank: int) -> str:
        """A number from indices and extents in special registers, the last axis fastest."""
        if rank == 0:
            return "0"
        number = self._axis(index, 0, rank)
        for axis in range(1, rank):
            number = self._sum(self._product(number, self._axis(extent, axis, rank)), self._axis(index, axis, rank))
        return number

    def thread_number(self) -> str:
        return self._flat("tid", "ntid", len(self.kernel.block))

    def threads(self, body: Callable[[], None]) -> None:
        body()

    def barrier(self) -> None:
        tail = self.code.module.attribute("convergent nounwind")
        self.code.module.declare("@llvm.nvvm.barrier0", f"declare void @llvm.nvvm.barrier0() {tail}")
        self.code.do("call void @llvm.nvvm.barrier0()")

    def is_last(self, flag: Memory) -> str:
        """The first thread finds out, and tells the others. The word behind the check word counts the blocks, and is 0
        again when the last one has come."""
        code, told = self.code, self.element(flag, ["0"])
        inside, last, on = (code.label(stem) for stem in ("first", "last", "on"))
        # in the words of a phase of one thread, so that what such a one leaves stands in the same branch
        code.branch(code.op(f"icmp slt {self.word} {self.thread_number()}, 1"), inside, on)
        code.place(inside)
        count = code.offset("i32", "%failed", "1")
        self._fence()
        before = code.op(f"atomicrmw add {code.pointer('i32', count)}, i32 1 monotonic")
        self._fence()
        blocks = "1"
        for axis in range(len(self.kernel.grid)):
            text = self._register(f"nctaid.{AXES[axis]}")
            blocks = text if blocks == "1" else code.op(f"mul i32 {blocks}, {text}")
        all_here = code.op(f"icmp eq i32 {before}, {code.op(f'sub i32 {blocks}, 1')}")
        code.store("i32", code.op(f"zext i1 {all_here} to i32"), told)
        code.branch(all_here, last, on)
        code.place(last)
        code.store("i32", "0", count)
        code.jump(on)
        code.place(on)
        self.barrier()
        return code.op(f"icmp ne i32 {code.load('i32', told)}, 0")

    def _fence(self) -> None:
        """What a thread has written before is seen by all that see what it writes after."""
        name = "@llvm.nvvm.membar.gl"
        self.code.module.declare(name, f"declare void {name}() {self.code.module.attribute('nounwind')}")
        self.code.do(f"call void {name}()")

    def shuffle(self, target: Memory, source: Memory, distance: int, site: int) -> None:
        code, element = self.code, source.element
        value = code.load(element, self.element(source, ["0"]))
        size = SIZES[element]
        bits = "<2 x i32>" if size == 8 else f"i{8 * size}"
        if bits != element:
            value = code.op(f"bitcast {element} {value} to {bits}")
        if size == 8:
            halves = [code.op(f"extractelement {bits} {value}, i32 {n}") for n in (0, 1)]
            value = "undef"
            for n, half in enumerate(halves):
                value = code.op(f"insertelement {bits} {value}, i32 {self._handed_on(half, distance)}, i32 {n}")
        elif size == 4:
            value = self._handed_on(value, distance)
        else:
            wide = self._handed_on(code.op(f"zext {bits} {value} to i32"), distance)
            value = code.op(f"trunc i32 {wide} to {bits}")
        if bits != element:
            value = code.op(f"bitcast {bits} {value} to {element}")
        code.store(element, value, self.element(target, ["0"]))

    def _handed_on(self, word: str, distance: int) -> str:
        """A word of 32 bits from another thread of the warp."""
        name, tail = "@llvm.nvvm.shfl.sync.down.i32", self.code.module.attribute("convergent nounwind")
        self.code.module.declare(name, f"declare i32 {name}(i32, i32, i32, i32) {tail}")
        return self.code.op(f"call i32 {name}(i32 -1, i32 {word}, i32 {distance}, i32 {WARP - 1})")

    def multiply(self, target: Memory, left: Memory, right: Memory, form: str, site: int) -> None:
        code, f, type_ = self.code, FORMS[form], target.element
        rows, halves = int(left.extents[0]) // f.deep, int(right.extents[0]) // f.deep
        operand = "i32" if f.rounds else type_  # PTX has operands of rounded types in registers of bits

        def parts(memory: Memory, first: int, many: int) -> list[str]:
            found = [code.load(type_, self.element(memory, [str(first + n)])) for n in range(many)]
            return found if operand == type_ else [code.op(f"bitcast {type_} {x} to {operand}") for x in found]

        b = [parts(right, half * f.deep, f.deep) for half in range(halves)]
        for row in range(0, rows, f.high):
            a = parts(left, row * f.deep, f.high * f.deep)
            a = [a[high * f.deep + deep] for deep in range(f.deep) for high in range(f.high)]
            for half in range(halves):
                places = [(row + n) * OWN * halves + half * OWN + e for n in range(f.high) for e in range(OWN)]
                old = [code.load(type_, self.element(target, [str(at)])) for at in places]
                many = [(operand, [*a, *b[half]]), (type_, old)]
                for n, at in zip(self._multiplied(form, type_, operand, many), places):
                    code.store(type_, n, self.element(target, [str(at)]))

    def _multiplied(self, form: str, type_: str, operand: str, given: Sequence[tuple[str, list[str]]]) -> list[str]:
        """The results of one instruction. It is written as PTX, as libNVVM's older dialect has no other name for
        it."""
        f, code = FORMS[form], self.code
        sizes = [f.high * OWN, f.high * f.deep, f.deep, f.high * OWN]
        starts = [sum(sizes[:n]) for n in range(4)]
        groups = ", ".join(f"{{{', '.join(f'${s + n}' for n in range(size))}}}" for s, size in zip(starts, sizes))
        sums = "f64" if type_ == "double" else "f32"
        name = f"mma.sync.aligned.m{8 * f.high}n8k{f.folded}.row.col.{sums}.{form}.{form}.{sums}"
        letters = {"double": "d", "float": "f", "i32": "r"}
        kinds = [f"={letters[type_]}"] * sizes[0] + [letters[t] for t, many in given for _ in many]
        record = f"{{{', '.join([type_] * sizes[0])}}}"
        args = ", ".join(f"{t} {x}" for t, many in given for x in many)
        tail = code.module.attribute("convergent nounwind")
        found = code.op(f'call {record} asm "{name} {groups};", "{",".join(kinds)}"({args}) {tail}')
        return [code.op(f"extractvalue {record} {found}, {n}") for n in range(sizes[0])]

    def loop_note(self, s: SeqFor) -> str:
        """How often the rounds of a short loop are written out: compilers ask for the loads of several rounds together,
        but do not agree by themselves which loops they do that for."""
        copies = _copies(s)
        module = self.code.module
        if s.rolled or (abs(s.step) > 1 and isinstance(s.lower, Const) and isinstance(s.upper, Const)):
            part = module.node('!{!"llvm.loop.unroll.disable"}')
            return ", !llvm.loop " + module.node("!{{self}, " + part + "}", distinct=True)
        if copies == 1:
            return ""
        part = module.node(f'!{{!"llvm.loop.unroll.count", i32 {copies}}}')
        return ", !llvm.loop " + module.node("!{{self}, " + part + "}", distinct=True)

    # ---- memory

    def parameter(self, v: Var, number: int, extents: tuple[str, ...]) -> Memory | str:
        text = f"%p{number}"
        if isinstance(v.type, ArrayType):
            return Memory(v.base, "global", text, extents, number)
        return self.scalar_of(v.base, text)

    def allocate(self, array: Var, space: str, extents: tuple[str, ...]) -> Memory:
        number = len(self.kernel.params) + self.allocated
        self.allocated += 1
        element = memory_type(array.base)
        match self.spaces[array.name]:
            case "private":
                return Memory(array.base, "private", self._local(element, static_cells(array)), extents, number)
            case "shared":
                return Memory(array.base, "shared", self._shared(array, extents), extents, number)
            case _:
                return self._scratch(array, extents, number)

    def _local(self, element: str, cells: int) -> str:
        type_ = f"[{max(cells, 1)} x {element}]"
        slot = self.code.slot(type_)
        return self.code.op(f"getelementptr inbounds {type_}, {type_}* {slot}, i32 0, i32 0")

    def _shared(self, array: Var, extents: Sequence[str]) -> str:
        """In the block's shared memory: where the plan says, or behind what was given away before, in the memory that
        the launch asks for (sizes as `geometry` has them)."""
        code, element = self.code, memory_type(array.base)
        start = self._shared_start(str(self.plan.offsets[array.name]) if self.plan else self.dynamic)
        if self.plan is None:
            size = str(size_of(array.base))
            for e in extents:
                size = code.product(size, self._not_negative(e))
            padded = code.op(f"and i64 {code.op(f'add i64 {size}, {SHARED_ALIGNMENT - 1}')}, {-SHARED_ALIGNMENT}")
            self.dynamic = code.sum(self.dynamic, padded)
        return code.in_space(
            code.op(f"bitcast i8 addrspace({SHARED})* {start} to {pointer_type(element, SHARED)}"), SHARED
        )

    def _shared_start(self, offset: str) -> str:
        asked = self.plan is None or self.plan.size > MOST_STATIC_SHARED
        type_ = "[0 x i8]" if asked else f"[{self.plan.size if self.plan else 0} x i8]"
        space = f"addrspace({SHARED})"
        self.code.module.declare(
            SHARED_MEMORY,
            f"{SHARED_MEMORY} = "
            f"{f'external {space} global {type_}' if asked else f'internal {space} global {type_} undef'}, align "
            f"{SHARED_ALIGNMENT}",
        )
        return self.code.op(f"getelementptr inbounds {type_}, {type_} {space}* {SHARED_MEMORY}, i64 0, i64 {offset}")

    def _not_negative(self, word: str) -> str:
        wide = self.widened(word, self.address, "i64")
        return self.code.op(f"select i1 {self.code.op(f'icmp sgt i64 {wide}, 0')}, i64 {wide}, i64 0")

    def _scratch(self, array: Var, extents: tuple[str, ...], number: int) -> Memory:
        """Interleaved: the same element of neighbouring threads lies side by side."""
        code, element, pointer = self.code, memory_type(array.base), next(self.scratch)
        threads = self._flat64("ntid", len(self.kernel.block))
        blocks = self._flat64("nctaid", len(self.kernel.grid))
        block = self.widened(self._flat("ctaid", "nctaid", len(self.kernel.grid)), self.address, "i64")
        thread = self.widened(self.thread_number(), self.address, "i64")
        start = code.offset(element, pointer, code.sum(code.product(block, threads), thread))
        return Memory(array.base, "scratch", start, extents, number, code.product(blocks, threads))

    def _flat64(self, register: str, rank: int) -> str:
        number = "1"
        for axis in range(rank):
            number = self.code.product(number, self.widened(self._axis(register, axis, rank), self.address, "i64"))
        return number

    def element(self, memory: Memory, index: Sequence[str]) -> str:
        pointer = self._element(memory, index)
        if memory.lanes == "1" and (memory.space == "shared" or (memory.space == "global" and self.kernel.aligned)):
            known = self.multiples.alignment(SIZES[memory.element], index, memory.extents)
            self.code.alignment[pointer] = min(ALIGNMENT, max(known, self.code.alignment.get(pointer, 1)))
        return pointer

    def _element(self, memory: Memory, index: Sequence[str]) -> str:
        step = self.addresses.step(memory.pointer, index, memory.extents) if memory.lanes == "1" and index else None
        if step is None:
            found = super().element(memory, index)
            if memory.lanes == "1" and index:
                self.addresses.keep(memory.pointer, index, found)
            return found
        pointer = step.start.pointer
        for axis, far in step.rows:
            pointer = self.code.offset(memory.element, pointer, self._row(memory, axis, far))
        if step.rows:
            self.addresses.keep(memory.pointer, index, pointer, step.constant)
        return self.code.offset(memory.element, pointer, str(step.constant))

    def _row(self, memory: Memory, axis: int, far: int) -> str:
        """How many elements lie between two that are `far` apart along an axis."""

        def make() -> str:
            size = str(far)
            for e in memory.extents[axis + 1 :]:
                wide = self.widened(e, self.address, "i64")
                size = wide if size == "1" else self.code.op(f"mul nsw i64 {wide}, {size}")
            return size

        return self.addresses.row(memory.pointer, axis, far, make)

    def atomic_text(self, operation: str, memory: Memory, pointer: str, value: str) -> str:
        return f"atomicrmw {operation} {self.code.pointer(memory.element, pointer)}, {memory.element} {value} monotonic"

    def refuse(self, site: int) -> None:
        self.code.store("i32", str(site), "%failed")


def _copies(s: SeqFor) -> int:
    """How many rounds of a loop are written one after the other; one where the compiler decides, as it knows how many
    there are, and where rounds have loops of their own."""
    if isinstance(s.lower, Const) and isinstance(s.upper, Const):
        return 1
    body = list(thread_statements(s.body))
    if any(isinstance(t, SeqFor | While) for t in body):
        return 1
    return next((copies for most, copies in _COPIES if len(body) <= most), 1)
