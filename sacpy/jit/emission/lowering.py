"""A kernel's statements as LLVM instructions, once for all machines.

In: a kernel and a machine that is ready to take its body. Out: instructions in the machine's code, and the statements
that touch memory or check, numbered from 1 in the order of the text (`sites`). Variables that several paths set live in
slots, which LLVM turns into registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sacpy.jit.emission.machine import Machine, Memory, atomic_operation
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.kernel import (
    Allocate,
    Atomic,
    Barrier,
    BlockFor,
    BlockIf,
    BlockStmt,
    Carried,
    Check,
    Divide,
    ForAll,
    If,
    Kernel,
    LastBlock,
    Let,
    MultiplyAdd,
    SeqFor,
    Shuffle,
    Store,
    ThreadStmt,
    Uniform,
    While,
    block_statements,
    thread_statements,
)
from sacpy.jit.ir.kernel_printer import statement_text
from sacpy.jit.llvm.legal import LLVM_TYPES, constant
from sacpy.lang.types import REAL, SIGNED
from sacpy.nodes import Node

MOST_ROUNDS = 8  # of a phase, that are written one after the other
FEW_ROUNDS = 64  # of a loop, which are not worth looking up in whether the launch has been stopped


class Site(Node):
    """A statement that findings and failures name. `phase`: the number of its `ForAll` in the text, from 1."""

    text: str
    phase: int
    what: str = ""


class Lowering:
    """Writes one kernel's body."""

    def __init__(self, kernel: Kernel, machine: Machine) -> None:
        self.kernel, self.machine, self.code = kernel, machine, machine.code
        self.scalars: dict[str, str] = {}
        self.arrays: dict[str, Memory] = {}
        self.sites: list[Site] = []
        self.phases = 0
        self.rounded = _rounded(kernel)

    def bind_parameters(self) -> None:
        """The parameters and the block's indices."""
        multiples = {v.name: of for v, of in self.kernel.multiples}
        for number, v in enumerate(self.kernel.params):
            extents = tuple(self._index(v.type.extents)) if isinstance(v.type, g.ArrayType) else ()
            found = self.machine.parameter(v, number, extents)
            if isinstance(found, Memory):
                self.arrays[v.name] = found
            elif v.name in multiples:
                self.scalars[v.name] = self.machine.multiple(found, LLVM_TYPES[v.base], multiples[v.name])
            else:
                self.scalars[v.name] = found

    def body(self) -> None:
        """The kernel's statements, for one block."""
        for axis, v in enumerate(self.kernel.block_index):
            self.scalars[v.name] = self.machine.widened(
                self.machine.grid_index(axis), self.machine.word, LLVM_TYPES[v.base]
            )
        self._block(self.kernel.body)

    # ---- atoms

    def text(self, a: g.Atom) -> str:
        """A scalar."""
        return constant(a.base, a.value) if isinstance(a, g.Const) else self.scalars[a.name]

    def words(self, a: g.Atom, type_: str) -> str:
        """An index or extent as an integer of that type."""
        return self.machine.widened(self.text(a), LLVM_TYPES[a.base], type_)

    def _index(self, many: Sequence[g.Atom]) -> list[str]:
        return [self.words(a, self.machine.address) for a in many]

    # ---- block level

    def _block(self, statements: Iterable[BlockStmt]) -> None:
        for s in statements:
            self._block_statement(s)

    def _block_statement(self, s: BlockStmt) -> None:
        match s:
            case ForAll():
                self._for_all(s)
            case Barrier():
                self.machine.barrier()
            case Shuffle():
                target, source = self.arrays[s.target.name], self.arrays[s.source.name]
                self.machine.shuffle(target, source, s.distance, self._site(s))
            case MultiplyAdd():
                c, a, b = (self.arrays[v.name] for v in (s.target, s.left, s.right))
                self.machine.multiply(c, a, b, s.form, self._site(s))
            case Allocate():
                assert isinstance(s.array.type, g.ArrayType)
                extents = tuple(self._index(s.array.type.extents))
                self.arrays[s.array.name] = self.machine.allocate(s.array, s.space, extents)
            case Uniform():
                self.scalars[s.target.name] = self._scalar(s.rhs)
            case BlockFor():
                self._block_for(s)
            case BlockIf():
                self._branch(self.text(s.condition), lambda: self._block(s.then))
            case LastBlock():
                self._branch(self.machine.is_last(self.arrays[s.flag.name]), lambda: self._last(s))

    def _last(self, s: LastBlock) -> None:
        self.machine.begin_last()
        self._block(s.body)

    def _branch(self, condition: str, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        code = self.code
        yes, no, on = code.label("then"), code.label("else"), code.label("on")
        code.branch(condition, yes, no if otherwise else on)
        code.place(yes)
        then()
        code.jump(on)
        if otherwise:
            code.place(no)
            otherwise()
            code.jump(on)
        code.place(on)

    def _block_for(self, s: BlockFor) -> None:
        code, type_ = self.code, LLVM_TYPES[s.index.base]
        slot = code.slot(type_)
        code.store(type_, self.words(s.lower, type_), slot)
        head, inside, done = code.label("blocks"), code.label("round"), code.label("done")
        code.place(head)
        index, step = code.load(type_, slot), self.words(s.step, type_)
        more = code.op(f"icmp slt {type_} {index}, {self.words(s.upper, type_)}")
        if not isinstance(s.step, g.Const):
            more = code.op(f"and i1 {more}, {code.op(f'icmp sgt {type_} {step}, 0')}")
        code.branch(more, inside, done)
        code.place(inside)
        self.machine.look_up()
        self.scalars[s.index.name] = index
        self._block(s.body)
        code.store(type_, code.op(f"add nsw {type_} {index}, {step}"), slot)
        code.jump(head)
        code.place(done)

    # ---- phases

    def _for_all(self, s: ForAll) -> None:
        self.phases += 1
        block = self.kernel.block
        if s.extents == block:
            self.machine.threads(lambda: self._one_each(s, ()))
        elif len(s.extents) == len(block) and all(_covers(b, e) for b, e in zip(block, s.extents)):
            self.machine.threads(
                lambda: self._one_each(s, [axis for axis, e in enumerate(s.extents) if e != block[axis]])
            )
        else:
            extents = [self._extent(e) for e in s.extents]
            self.machine.threads(lambda: self._several_each(s, extents))

    def _extent(self, e: g.Atom) -> str:
        """An extent as a word, a negative one as 0."""
        text, type_ = self.words(e, self.machine.word), self.machine.word
        if isinstance(e, g.Const):
            return str(max(int(e.value), 0))
        return self.code.op(f"select i1 {self.code.op(f'icmp sgt {type_} {text}, 0')}, {type_} {text}, {type_} 0")

    def _one_each(self, s: ForAll, guarded: Sequence[int]) -> None:
        """Each thread takes the index that it has in the block; along the guarded axes the phase has fewer."""
        machine, type_ = self.machine, self.machine.word
        index = [machine.thread_index(axis) for axis in range(len(s.index))]
        inside = "true"
        for axis in guarded:
            test = self.code.op(f"icmp slt {type_} {index[axis]}, {self.words(s.extents[axis], type_)}")
            inside = test if inside == "true" else self.code.op(f"and i1 {inside}, {test}")

        def body() -> None:
            machine.virtual_thread()
            self._bind_indices(s, index)
            self._thread(s.body)

        if guarded:
            self._branch(inside, body)
        else:
            body()

    def _several_each(self, s: ForAll, extents: Sequence[str]) -> None:
        """Virtual threads are numbered with the last axis fastest; thread t of n takes t, t + n, t + 2n, ... The number
        is unsigned, since it may pass the largest signed word by a block."""
        machine, code, type_ = self.machine, self.code, self.machine.word
        total, count = "1", "1"
        for e in extents:
            total = self._unsigned_product(total, e)
        for b in self.kernel.block:
            count = self._unsigned_product(count, self.words(b, type_))
        if total.isdigit() and count.isdigit() and 0 < int(total) <= MOST_ROUNDS * int(count):
            self._known_rounds(s, extents, int(total), int(count))
            return
        slot = code.slot(type_)
        code.store(type_, machine.thread_number(), slot)
        head, inside, done = code.label("virtual"), code.label("each"), code.label("done")
        code.place(head)
        number = code.load(type_, slot)
        code.branch(code.op(f"icmp ult {type_} {number}, {total}"), inside, done)
        code.place(inside)
        self._virtual(s, extents, number)
        code.store(type_, code.op(f"add {type_} {number}, {count}"), slot)
        code.jump(head)
        code.place(done)

    def _known_rounds(self, s: ForAll, extents: Sequence[str], total: int, count: int) -> None:
        """The same where it is known how many virtual threads each thread does the work of: one after the other, and
        without a question where each has one."""
        code, type_ = self.code, self.machine.word
        first = self.machine.thread_number()
        for start in range(0, total, count):
            number = first if not start else code.op(f"add nuw nsw {type_} {first}, {start}")
            if start + count <= total:
                self._virtual(s, extents, number)
            else:
                self._branch(
                    code.op(f"icmp ult {type_} {number}, {total}"),
                    lambda number=number: self._virtual(s, extents, number),  # type: ignore[misc]
                )

    def _virtual(self, s: ForAll, extents: Sequence[str], number: str) -> None:
        """The work of the virtual thread of that number."""
        code, type_ = self.code, self.machine.word
        self.machine.virtual_thread(number)
        index, rest = [], number
        for e in reversed(extents[1:]):
            index.append(code.op(f"urem {type_} {rest}, {e}"))
            rest = code.op(f"udiv {type_} {rest}, {e}")
        self._bind_indices(s, [rest, *reversed(index)])
        self._thread(s.body)

    def _unsigned_product(self, a: str, b: str) -> str:
        if a.isdigit() and b.isdigit():
            return str(int(a) * int(b))
        return b if a == "1" else a if b == "1" else self.code.op(f"mul {self.machine.word} {a}, {b}")

    def _bind_indices(self, s: ForAll, words: Sequence[str]) -> None:
        for v, word in zip(s.index, words):
            self.scalars[v.name] = self.machine.widened(word, self.machine.word, LLVM_TYPES[v.base])

    # ---- thread level

    def _thread(self, statements: Iterable[ThreadStmt]) -> None:
        for s in statements:
            self._thread_statement(s)

    def _thread_statement(self, s: ThreadStmt) -> None:
        match s:
            case Let(target=target, rhs=g.Load() as load):
                self.scalars[target.name] = self.machine.load(
                    self.arrays[load.array.name], self._index(load.index), self._site(s)
                )
            case Let(target=target, rhs=g.Op() as op) if target.name in self.rounded:
                self.scalars[target.name] = self.machine.product(op, [self.text(a) for a in op.args])
            case Let():
                assert not isinstance(s.rhs, g.Load)
                self.scalars[s.target.name] = self._scalar(s.rhs)
            case Store():
                self.machine.store(self.arrays[s.array.name], self._index(s.index), self.text(s.value), self._site(s))
            case Atomic():
                signed = s.array.base in SIGNED
                old = self.machine.atomic(
                    atomic_operation(s.code, signed),
                    self.arrays[s.array.name],
                    self._index(s.index),
                    self.text(s.value),
                    self._site(s),
                )
                if s.old is not None:
                    self.scalars[s.old.name] = old
            case Check():
                site = self._site(s, s.what)
                self._branch(self.code.op(f"xor i1 {self.text(s.condition)}, true"), lambda: self.machine.refuse(site))
            case If():
                self._if(s)
            case SeqFor():
                self._seq_for(s)
            case While():
                self._while(s)

    def _site(self, s: ThreadStmt | Shuffle | MultiplyAdd, what: str = "") -> int:
        self.sites.append(Site(statement_text(s), self.phases, what))
        return len(self.sites)

    def _scalar(self, rhs: g.Atom | g.Op | Divide) -> str:
        match rhs:
            case g.Op():
                return self.machine.operation(rhs, [self.text(a) for a in rhs.args])
            case Divide():
                return self._divide(rhs)
            case _:
                return self.text(rhs)

    def _divide(self, d: Divide) -> str:
        """The quotient by the host's multiplier and shift, as `withloop.division.Magic.quotient` has it."""
        type_ = LLVM_TYPES[d.dividend.base]
        bits = int(type_[1:])
        wide = f"i{2 * bits}"
        doubled = self.code.op(f"shl nuw {type_} {self.words(d.dividend, type_)}, 1")
        n, m = (self.code.op(f"zext {type_} {text} to {wide}") for text in (doubled, self.words(d.multiplier, type_)))
        high = self.code.op(f"lshr {wide} {self.code.op(f'mul nuw {wide} {n}, {m}')}, {bits}")
        return self.code.op(
            f"lshr {type_} {self.code.op(f'trunc {wide} {high} to {type_}')}, {self.words(d.shift, type_)}"
        )

    def _if(self, s: If) -> None:
        slots = self._slots([m.target for m in s.merges])

        def branch(statements: Sequence[ThreadStmt], values: Sequence[g.Atom]) -> Callable[[], None]:
            def write() -> None:
                self._thread(statements)
                self._set(slots, values)

            return write

        otherwise = branch(s.otherwise, [m.otherwise for m in s.merges]) if s.otherwise or s.merges else None
        self._branch(self.text(s.condition), branch(s.then, [m.then for m in s.merges]), otherwise)
        self._get(slots, [m.target for m in s.merges])

    def _seq_for(self, s: SeqFor) -> None:
        code, type_ = self.code, LLVM_TYPES[s.index.base]
        targets = [c.target for c in s.carried]
        slots, counter = self._begin(s.carried), code.slot(type_)
        code.store(type_, self.words(s.lower, type_), counter)
        upper = self.words(s.upper, type_)
        head, inside, done = code.label("for"), code.label("round"), code.label("done")
        code.place(head)
        index = code.load(type_, counter)
        code.branch(code.op(f"icmp {'slt' if s.step > 0 else 'sgt'} {type_} {index}, {upper}"), inside, done)
        code.place(inside)
        if _may_take_long(s):
            self.machine.look_up()
        self.scalars[s.index.name] = index
        self._get(slots, targets)
        self._thread(s.body)
        self._set(slots, [c.update for c in s.carried])
        code.store(type_, code.op(f"add nsw {type_} {index}, {s.step}"), counter)
        code.jump(head, self.machine.loop_note(s))
        code.place(done)
        self._get(slots, targets)

    def _while(self, s: While) -> None:
        code = self.code
        targets = [c.target for c in s.carried]
        slots = self._begin(s.carried)
        head, inside, done = code.label("while"), code.label("round"), code.label("done")
        code.jump(inside if s.body_first else head)
        code.place(head)
        self._get(slots, targets)
        self._thread(s.condition)
        code.branch(self.text(s.test), inside, done)
        code.place(inside)
        self.machine.look_up()
        self._get(slots, targets)
        self._thread(s.body)
        self._set(slots, [c.update for c in s.carried])
        code.jump(head)
        code.place(done)
        self._get(slots, targets)

    # ---- slots

    def _slots(self, targets: Sequence[g.Var]) -> list[str]:
        return [self.code.slot(LLVM_TYPES[v.base]) for v in targets]

    def _begin(self, carried: Sequence[Carried]) -> list[str]:
        slots = self._slots([c.target for c in carried])
        self._set(slots, [c.initial for c in carried])
        return slots

    def _set(self, slots: Sequence[str], values: Sequence[g.Atom]) -> None:
        for slot, value in zip(slots, values):
            self.code.store(LLVM_TYPES[value.base], self.text(value), slot)

    def _get(self, slots: Sequence[str], targets: Sequence[g.Var]) -> None:
        for slot, v in zip(slots, targets):
            self.scalars[v.name] = self.code.load(LLVM_TYPES[v.base], slot)


def _may_take_long(s: SeqFor) -> bool:
    """Whether a loop is worth looking up from, even where each of its rounds takes no time."""
    return not (isinstance(s.lower, g.Const) and isinstance(s.upper, g.Const)) or abs(
        int(s.upper.value) - int(s.lower.value)
    ) > FEW_ROUNDS * abs(s.step)


def _covers(block: g.Atom, extent: g.Atom) -> bool:
    """Whether a block is known to have a thread for each index of an axis."""
    return block == extent or (
        isinstance(block, g.Const) and isinstance(extent, g.Const) and int(extent.value) <= int(block.value)
    )


def _rounded(kernel: Kernel) -> frozenset[str]:
    """The products of reals of which one is subtracted from another: x y - z w is exactly 0 where both are the same
    (see `host/analysis`)."""
    products: set[str] = set()
    found: set[str] = set()
    for phase in block_statements(kernel.body):
        for s in thread_statements(phase.body) if isinstance(phase, ForAll) else ():
            if isinstance(s, Let) and isinstance(s.rhs, g.Op) and s.target.base in REAL:
                if s.rhs.code == "mul":
                    products.add(s.target.name)
                elif s.rhs.code == "sub" and all(isinstance(a, g.Var) and a.name in products for a in s.rhs.args):
                    found |= {a.name for a in s.rhs.args if isinstance(a, g.Var)}
    return frozenset(found)
