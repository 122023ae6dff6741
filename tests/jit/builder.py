"""Writes graph units by hand, for tests: `B` collects statements; `unit` makes a unit of parameters and a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir.graph import (
    INT,
    ArrayType,
    Atom,
    Block,
    Check,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    If,
    Input,
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Operator,
    Output,
    Partition,
    Rhs,
    ScalarType,
    Stmt,
    Unit,
    Update,
    Var,
    WithLoop,
    integer,
)
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base


class B:
    """A block being written. Names are unique over all blocks that share `names`."""

    def __init__(self, names: Names | None = None) -> None:
        self.names = names or Names()
        self.statements: list[Stmt] = []

    def inner(self) -> B:
        return B(self.names)

    def atom(self, x: Atom | int | float | bool) -> Atom:
        if isinstance(x, bool):
            return Const("bool", x)
        return integer(x) if isinstance(x, int) else Const("double", x) if isinstance(x, float) else x

    def atoms(self, many: Sequence[Atom | int | float | bool]) -> tuple[Atom, ...]:
        return tuple(map(self.atom, many))

    def var(self, stem: str, base: str, extents: Sequence[Atom | int] | None = None) -> Var:
        return self.names.var(stem, ScalarType(base) if extents is None else ArrayType(base, self.atoms(extents)))

    def let(self, rhs: Rhs, *types: tuple[str, Sequence[Atom | int] | None]) -> tuple[Var, ...]:
        targets = tuple(self.var("v", base, extents) for base, extents in types)
        self.statements.append(Let(targets, rhs))
        return targets

    def op(self, code: str, *args: Atom | int | float | bool, exact: bool = False) -> Var:
        atoms = self.atoms(args)
        return self.let(Op(code, atoms, exact), (op_base(code, atoms), None))[0]

    def load(self, array: Var, *index: Atom | int) -> Var:
        return self.let(Load(array, self.atoms(index)), (array.base, None))[0]

    def update(self, array: Var, index: Sequence[Atom | int], value: Atom | int | float) -> Var:
        assert isinstance(array.type, ArrayType)
        return self.let(Update(array, self.atoms(index), self.atom(value)), (array.base, array.type.extents))[0]

    def check(self, condition: Atom, what: str = "it holds") -> None:
        self.statements.append(Check(condition, what))

    def block(self, *results: Atom | int | float | bool) -> Block:
        return Block(tuple(self.statements), self.atoms(results))

    # ---- with-loops

    def partition(
        self,
        lower: Sequence[Atom | int],
        upper: Sequence[Atom | int],
        body: Callable[..., Sequence[Atom] | Atom],
        step: Sequence[Atom | int] | None = None,
        width: Sequence[Atom | int] | None = None,
    ) -> Partition:
        """`body(b, *index)` gives the values, or the only one."""
        b = self.inner()
        index = tuple(b.var("i", "int") for _ in lower)
        values = body(b, *index)
        results = values if isinstance(values, tuple | list) else (values,)
        steps = None if step is None else self.atoms(step)
        widths = None if step is None else self.atoms(width or [1] * len(index))
        return Partition(self.atoms(lower), self.atoms(upper), steps, widths, index, b.block(*results))

    def genarray(
        self,
        base: str,
        frame: Sequence[Atom | int],
        partitions: Sequence[Partition],
        default: Atom | int | float = 0,
        cell: Sequence[Atom | int] = (),
        **flags: bool,
    ) -> Var:
        d = Const(base, default) if isinstance(default, int | float) else default
        return self.with_loop(frame, partitions, [Genarray(base, self.atoms(cell), d)], **flags)[0]

    def modarray(self, array: Var, frame: Sequence[Atom | int], partitions: Sequence[Partition], **flags: bool) -> Var:
        return self.with_loop(frame, partitions, [Modarray(array)], **flags)[0]

    def fold(self, code: str, neutral: Const, partitions: Sequence[Partition]) -> Var:
        return self.with_loop(None, partitions, [self.folding(code, neutral)])[0]

    def folding(self, code: str, neutral: Const, stop: tuple[Atom, ...] | None = None) -> Fold:
        b = self.inner()
        x, y = b.var("acc", neutral.base), b.var("val", neutral.base)
        return Fold((neutral,), (x,), (y,), b.block(b.op(code, x, y)), stop)

    def with_loop(
        self,
        frame: Sequence[Atom | int] | None,
        partitions: Sequence[Partition],
        operators: Sequence[Operator],
        **flags: bool,
    ) -> tuple[Var, ...]:
        types: list[tuple[str, Sequence[Atom | int] | None]] = []
        for o in operators:
            match o:
                case Genarray():
                    types.append((o.base, (*self.atoms(frame or ()), *o.cell)))
                case Modarray():
                    assert isinstance(o.array.type, ArrayType)
                    types.append((o.array.base, o.array.type.extents))
                case Fold():
                    types += [_type(a) for a in o.neutrals]
                case _:
                    types += [_type(p) for p in o.params]
        return self.let(
            WithLoop(None if frame is None else self.atoms(frame), tuple(partitions), tuple(operators), **flags), *types
        )

    # ---- control

    def if_(
        self, condition: Atom, then: Callable[[B], Sequence[Atom]], otherwise: Callable[[B], Sequence[Atom]]
    ) -> tuple[Var, ...]:
        a, b = self.inner(), self.inner()
        xs, ys = self.atoms(then(a)), self.atoms(otherwise(b))
        return self.let(If(condition, a.block(*xs), b.block(*ys)), *map(_type, xs))

    def for_(
        self,
        lower: Atom | int,
        upper: Atom | int,
        initial: Sequence[Atom | int | float],
        body: Callable[..., Sequence[Atom]],
        step: int = 1,
    ) -> tuple[Var, ...]:
        """`body(b, i, *carried)` gives the next values. Arrays keep their extents."""
        b = self.inner()
        start = self.atoms(initial)
        i, params = b.var("i", "int"), tuple(b.names.var("c", a.type) for a in start)
        block = b.block(*body(b, i, *params))
        return self.let(For(i, self.atom(lower), self.atom(upper), step, params, start, block), *map(_type, start))

    def loop(
        self,
        initial: Sequence[Atom | int | float],
        condition: Callable[..., Atom],
        body: Callable[..., Sequence[Atom]],
        body_first: bool = False,
    ) -> tuple[Var, ...]:
        start = self.atoms(initial)
        params = tuple(self.names.var("c", a.type) for a in start)
        c, b = self.inner(), self.inner()
        test = c.block(condition(c, *params))
        return self.let(Loop(params, start, test, b.block(*body(b, *params)), body_first), *map(_type, start))


def _type(a: Atom) -> tuple[str, Sequence[Atom | int] | None]:
    return a.base, a.type.extents if isinstance(a.type, ArrayType) else None


def arguments(b: B, *kinds: tuple[str, int]) -> tuple[list[Var], list[Var], tuple[Input, ...]]:
    """Parameters for arguments of (base, rank): the parameters, the variables of the arguments themselves, and the
    inputs."""
    params: list[Var] = []
    values: list[Var] = []
    inputs: list[Input] = []
    for number, (base, rank) in enumerate(kinds):
        extents = [b.names.var("n", INT) for _ in range(rank)]
        params += extents
        inputs += [Input("extent", number, axis) for axis in range(rank)]
        v = b.var("a", base, extents if rank else None)
        params.append(v)
        values.append(v)
        inputs.append(Input("array" if rank else "scalar", number))
    return params, values, tuple(inputs)


def unit(
    b: B,
    params: Sequence[Var],
    inputs: tuple[Input, ...],
    results: Sequence[Atom | int | float | bool],
    others: Sequence[Function] = (),
) -> Unit:
    """A unit whose root has the statements of `b`. Extents of array results are results themselves."""
    atoms: list[Atom] = []
    outputs: list[Output] = []
    for r in b.atoms(results):
        if isinstance(r.type, ArrayType):
            refs: list[int | tuple[None, int]] = []
            for e in r.type.extents:
                if isinstance(e, Const):
                    refs.append(int(e.value))
                else:
                    if e not in atoms:
                        atoms.append(e)
                    refs.append((None, atoms.index(e)))
            outputs.append(Output("array", r.base, (len(atoms),), tuple(refs)))
        else:
            outputs.append(Output("scalar", r.base, (len(atoms),)))
        atoms.append(r)
    return Unit((Function("main", tuple(params), b.block(*atoms)), *others), inputs, tuple(outputs))
