"""The laws of kernel programs, checked: `verify_kernel(kernel)` raises `GraphError` at the first breach.

Checked are scoping (scalars of one phase are not used in another), single assignment, types, ranks, that only declared
arrays are written and that what is the same for a block is made from such.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.graph_printer import type_text
from sacpy.jit.ir.kernel import (
    ATOMIC_BASES,
    ATOMIC_CODES,
    WARP,
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
from sacpy.jit.ir.matrix_units import FORMS, OWN
from sacpy.jit.ir.operations import GraphError, op_base
from sacpy.nodes import Record, field

SPACES = ("shared", "private", "scratch")
INDICES = ("int", "long")


def verify_kernel(kernel: Kernel) -> None:
    """Checks a kernel. Raises `GraphError`."""
    try:
        _Scope(kernel).kernel()
    except GraphError as error:
        raise GraphError(f"in kernel {kernel.name}: {error}") from None


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise GraphError(message)


class _Scope(Record):
    """What is in scope; `uniform`: the names that are the same in all threads of a block; `written`: the arrays that
    may be written; `own`: those that each thread has for itself, `private`: of these, those not in global memory."""

    k: Kernel
    types: dict[str, g.Type] = field(default_factory=dict)
    uniform: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    private: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    def kernel(self) -> None:
        k = self.k
        _need(k.bits in (32, 64), "index words have 32 or 64 bits")
        _need(
            len(k.grid) <= 3 and len(k.block) <= 3 and len(k.grid) == len(k.block_index),
            "a grid and a block have at most three axes",
        )
        self.bind(k.params, uniform=True)
        self.bind(k.block_index, uniform=True)
        for a in (*k.grid, *k.block):
            self.index(a)
        _need(
            tuple(v.name for v in k.params[len(k.params) - len(k.slots) :]) == tuple(v.name for v in k.slots),
            "the parameter block ends the parameters",
        )
        for v, of in k.multiples:
            self.index(v)
            _need(of > 0 and not of & (of - 1), f"{v.name} is a multiple of {of}, which is no power of two")
        for w in k.writes:
            _need(w.array.name in self.types, f"{w.array.name} is written, but is no parameter")
            self.written.add(w.array.name)
        inner = (s for s in block_statements(k.body) if s not in k.body[-1:])
        _need(not any(isinstance(s, LastBlock) for s in inner), "what the last block does stands elsewhere than last")
        if k.body and isinstance(k.body[-1], LastBlock):
            _need(self.handed_on(k.body[:-1]), "no barrier stands between what threads write and the last block")
        self.block(k.body)

    # ---- names

    def bind(self, many: Iterable[g.Var], *, uniform: bool = False) -> None:
        for v in many:
            _need(v.name not in self.taken, f"{v.name} is set twice")
            self.taken.add(v.name)
            for e in v.type.extents if isinstance(v.type, g.ArrayType) else ():
                self.index(e)
            self.types[v.name] = v.type
            if uniform:
                self.uniform.add(v.name)

    def use(self, a: g.Atom) -> g.Type:
        if isinstance(a, g.Var):
            _need(a.name in self.types, f"{a.name} is used outside its scope")
            _need(
                self.types[a.name].base == a.type.base
                and isinstance(a.type, g.ScalarType) == isinstance(self.types[a.name], g.ScalarType),
                f"{a.name} is {type_text(self.types[a.name])}, but is used as {type_text(a.type)}",
            )
        return a.type

    def index(self, a: g.Atom) -> None:
        _need(isinstance(self.use(a), g.ScalarType) and a.base in INDICES, "an index or extent that is no int")

    def same(self, many: Iterable[g.Atom]) -> None:
        for a in many:
            self.use(a)
            _need(
                isinstance(a, g.Const) or a.name in self.uniform,
                f"{a.name if isinstance(a, g.Var) else a} differs between the threads of a block",
            )

    def scalar(self, a: g.Atom, base: str, what: str) -> None:
        _need(self.use(a) == g.ScalarType(base), f"{what} is {type_text(a.type)}, not {base}")

    def element(self, array: g.Var, index: tuple[g.Atom, ...]) -> None:
        _need(
            isinstance(self.use(array), g.ArrayType) and len(index) == len(g.extents_of(array)),
            f"{len(index)} indices into {array.name}, which is {type_text(array.type)}",
        )
        for i in index:
            self.index(i)

    # ---- block level

    def block(self, statements: tuple[BlockStmt, ...]) -> None:
        outer = dict(self.types)
        for s in statements:
            self.block_statement(s)
        self.types = outer

    def block_statement(self, s: BlockStmt) -> None:
        match s:
            case Barrier():
                pass
            case Shuffle():
                self.shuffle(s)
            case MultiplyAdd():
                self.multiply(s)
            case ForAll():
                _need(len(s.index) == len(s.extents) <= 3, "a forall has an extent for each index, and at most three")
                self.same(s.extents)
                outer = dict(self.types)
                self.bind(s.index)
                self.thread(s.body)
                self.types = outer
            case Allocate():
                _need(s.space in SPACES, f"there is no memory called {s.space}")
                extents = g.extents_of(s.array)
                self.same(extents)
                _need(bool(extents), f"{s.array.name} is no array")
                _need(
                    s.space == "scratch"
                    or all(isinstance(e, g.Const) or e.name in {p.name for p in self.k.params} for e in extents),
                    f"the extents of {s.array.name} must be known before the launch",
                )
                self.bind((s.array,))
                self.written.add(s.array.name)
                if s.space != "shared":
                    self.own.add(s.array.name)
                if s.space == "private":
                    self.private.add(s.array.name)
            case Uniform():
                self.same(_operands(s.rhs))
                self.let(s.target, s.rhs, uniform=True)
            case BlockFor():
                self.same((s.lower, s.upper, s.step))
                outer = dict(self.types)
                self.bind((s.index,), uniform=True)
                self.block(s.body)
                self.types = outer
            case BlockIf():
                self.same((s.condition,))
                self.scalar(s.condition, "bool", "a condition")
                self.block(s.then)
            case LastBlock():
                shared = self.written - self.own - {p.name for p in self.k.params}
                _need(s.flag.name in shared, f"{s.flag.name} is no shared array")
                _need(s.flag.type == g.ArrayType("int", (g.integer(1),)), f"{s.flag.name} is not one int")
                self.use(s.flag)
                self.block(s.body)

    def handed_on(self, body: tuple[BlockStmt, ...]) -> bool:
        """Whether a barrier, or nothing but the first thread, comes behind what threads write for other blocks."""
        given = {p.name for p in self.k.params}
        for s in reversed(body):
            if isinstance(s, Barrier):
                return True
            phases = [p for p in block_statements((s,)) if isinstance(p, ForAll)]
            alone = phases == [s] and all(e == g.integer(1) for e in phases[0].extents)
            code = [t for p in phases for t in thread_statements(p.body)]
            if not alone and any(isinstance(t, Store | Atomic) and t.array.name in given for t in code):
                return False
        return True

    def shuffle(self, s: Shuffle) -> None:
        for array in (s.target, s.source):
            self.element(array, (g.integer(0),))
            _need(g.extents_of(array) == (g.integer(1),), f"{array.name} has not one element")
            _need(array.name in self.private, f"{array.name} is no private array")
        _need(s.target.name != s.source.name, f"{s.target.name} is handed on to itself")
        _need(s.target.base == s.source.base, f"{s.target.name} and {s.source.name} differ in type")
        _need(0 < s.distance < WARP, f"no thread of a warp is {s.distance} further")
        self.whole_warps()

    def multiply(self, s: MultiplyAdd) -> None:
        form = FORMS.get(s.form)
        _need(form is not None, f"there is no form {s.form}")
        assert form is not None
        sizes = []
        for array in (s.target, s.left, s.right):
            self.element(array, (g.integer(0),))
            _need(array.name in self.private, f"{array.name} is no private array")
            _need(array.base == form.base, f"{array.name} is of {array.base}, and {s.form} is of {form.base}")
            sizes.append(math.prod(int(e.value) for e in g.extents_of(array) if isinstance(e, g.Const)))
        target, left, right = sizes
        _need(
            left % (form.deep * form.high) == 0
            and right % form.deep == 0
            and target == OWN * (left // form.deep) * (right // form.deep),
            f"{left} and {right} elements make no {target} by {s.form}",
        )
        self.whole_warps()

    def whole_warps(self) -> None:
        known = [int(e.value) for e in self.k.block if isinstance(e, g.Const)]
        _need(len(known) == len(self.k.block) and math.prod(known) % WARP == 0, "a block has no whole warps")

    # ---- thread level

    def thread(self, statements: tuple[ThreadStmt, ...]) -> None:
        for s in statements:
            self.thread_statement(s)

    def thread_statement(self, s: ThreadStmt) -> None:
        match s:
            case Let():
                self.let(s.target, s.rhs)
            case Store():
                self.element(s.array, s.index)
                _need(s.array.name in self.written, f"{s.array.name} is not to be written")
                self.scalar(s.value, s.array.base, "what is stored")
            case Atomic():
                self.element(s.array, s.index)
                _need(s.code in ATOMIC_CODES, f"{s.code} is no atomic operation")
                _need(s.array.base in ATOMIC_BASES, f"{s.array.base} has no atomic operations")
                _need(s.array.name not in self.own, f"{s.array.name} belongs to a thread")
                _need(s.array.name in self.written, f"{s.array.name} is not to be written")
                self.scalar(s.value, s.array.base, "what is combined")
                if s.old is not None:
                    _need(s.old.type == g.ScalarType(s.array.base), f"{s.old.name} is to be of type {s.array.base}")
                    self.bind((s.old,))
            case Check():
                self.scalar(s.condition, "bool", "what is checked")
            case If():
                self.scalar(s.condition, "bool", "a condition")
                inner = []
                for branch, values in (
                    (s.then, [m.then for m in s.merges]),
                    (s.otherwise, [m.otherwise for m in s.merges]),
                ):
                    outer = dict(self.types)
                    self.thread(branch)
                    inner.append([self.use(v) for v in values])
                    self.types = outer
                self.bind(m.target for m in s.merges)
                for m, then, otherwise in zip(s.merges, *inner):
                    _need(
                        then == otherwise == m.target.type,
                        f"{m.target.name} has one type in one branch and another in the other",
                    )
            case SeqFor():
                self.index(s.lower)
                self.index(s.upper)
                _need(s.step != 0, "a step of 0")
                self.loop(s.carried, (s.index,), (), None, s.body)
            case While():
                self.loop(s.carried, (), s.condition, s.test, s.body)

    def loop(
        self,
        carried: tuple[Carried, ...],
        index: tuple[g.Var, ...],
        condition: tuple[ThreadStmt, ...],
        test: g.Atom | None,
        body: tuple[ThreadStmt, ...],
    ) -> None:
        for c in carried:
            _need(self.use(c.initial) == c.target.type, f"{c.target.name} starts as {type_text(c.initial.type)}")
        self.bind(c.target for c in carried)
        outer = dict(self.types)
        self.bind(index)
        self.thread(condition)
        if test is not None:
            self.scalar(test, "bool", "a loop's condition")
        self.thread(body)
        for c in carried:
            _need(self.use(c.update) == c.target.type, f"{c.target.name} becomes {type_text(c.update.type)}")
        self.types = outer

    def let(self, target: g.Var, rhs: g.Atom | g.Op | g.Load | Divide, *, uniform: bool = False) -> None:
        match rhs:
            case g.Op():
                for a in rhs.args:
                    _need(isinstance(self.use(a), g.ScalarType), f"{rhs.code} of an array")
                base = op_base(rhs.code, rhs.args)
            case g.Load():
                self.element(rhs.array, rhs.index)
                base = rhs.array.base
            case Divide():
                for a in _operands(rhs):
                    self.index(a)
                base = rhs.dividend.base
            case _:
                base = self.use(rhs).base
        _need(target.type == g.ScalarType(base), f"{target.name} is {type_text(target.type)}, but is set to {base}")
        self.bind((target,), uniform=uniform)


def _operands(rhs: g.Atom | g.Op | g.Load | Divide) -> tuple[g.Atom, ...]:
    match rhs:
        case g.Op():
            return rhs.args
        case g.Load():
            return (rhs.array, *rhs.index)
        case Divide():
            return (rhs.dividend, rhs.divisor, rhs.multiplier, rhs.shift)
        case _:
            return (rhs,)
