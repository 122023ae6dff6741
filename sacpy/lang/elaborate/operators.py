"""The operators of with-loops: what each takes of a partition's values, and what it becomes in core.

In: an operator of the tree, elaborated in the scope around the with-loop. Out: an `Op`.

A scan is an array of what a propagated value is at each index; `into` propagates the array that it changes. So both go
through the indices in order, and their functions need be associative only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Label
from sacpy.lang.elaborate.calls import operation
from sacpy.lang.elaborate.context import Context, Value
from sacpy.lang.elaborate.tensors import INDEX_BOUND
from sacpy.lang.elaborate.usertypes import INT, BaseType
from sacpy.lang.source import Span
from sacpy.nodes import Record


class Op(Record):
    """A source operator, by the word that the program wrote. `types`: those of the values that it takes of a partition,
    where known from the start. `make`: the core operators it becomes, once the type of its values and the with-loop's
    partitions are known. `values`: what it adds to a body, behind the values it takes, and the atoms that the core
    operators take then; without it they take the values. `inside`: names it gives a value inside. `result`: the type of
    its result, where that is not the values'; `discarded`: those of further results of the core operators."""

    types: tuple[BaseType | None, ...]
    make: Callable[[BaseType, Sequence[core.Partition]], tuple[core.Operator, ...]]
    inside: dict[str, Value]
    object: ast.Expr | None = None
    gives_shape: bool = True
    result: BaseType | None = None
    array: Value | None = None  # what a modarray starts from
    values: Callable[[Sequence[Value]], list[core.Atom]] | None = None
    word: str = ""
    discarded: tuple[BaseType, ...] = ()


def operator_of(cx: Context, op: ast.WithOp) -> Op:
    match op:
        case ast.GenarrayOp():
            return _genarray(cx, op)
        case ast.ModarrayOp():
            array = cx.value(op.array)
            if array.type.kind == "packed":
                cx.fail(
                    "E0452",
                    "a modarray changes regular arrays",
                    op.span,
                    f"this is {array.type.shown}",
                    help="change elements and rows by t[i,j] = .. and t[i] = .., or make it anew by a comprehension",
                )
            return Op((array.type,), lambda t, parts: tuple(core.Modarray(a) for a in array.atoms), {}, array=array)
        case ast.FoldOp():
            return _fold(cx, op)
        case ast.PropagateOp():
            return propagate(cx, op.object)
        case ast.ScanOp():
            return _scan(cx, op)
        case ast.IntoOp():
            return _into(cx, op)


def _genarray(cx: Context, op: ast.GenarrayOp) -> Op:
    default = cx.value(op.default) if op.default is not None else None
    shape = cx.scalar(op.shape, INT, "the shape of a genarray")

    def make(type: BaseType, parts: Sequence[core.Partition]) -> tuple[core.Operator, ...]:
        cx.refuse_packed(type, op.span)
        if default is None:
            return tuple(core.Genarray(shape, None) for _ in type.components)
        return tuple(core.Genarray(shape, a) for a in default.atoms)

    return Op((default.type if default is not None else None,), make, {})


def _fold(cx: Context, op: ast.FoldOp) -> Op:
    stop = cx.value(op.stop) if op.stop is not None else None
    neutral = cx.value(op.neutral)
    extra = [cx.value(a) for a in reversed(op.args)][::-1]
    if stop is not None and stop.type != neutral.type:
        help, edit = cx.conversion(stop.span, stop.type, neutral.type)
        cx.fail(
            "E0402",
            f"the stop value must be {neutral.type.shown}, not {stop.type.shown}",
            stop.span,
            f"this is {stop.type.shown}",
            help=help,
            edit=edit,
        )
    stops = stop.atoms if stop is not None else None

    def make(type: BaseType, parts: Sequence[core.Partition]) -> tuple[core.Operator, ...]:
        return (core.Fold(neutral.atoms, _combine(cx, op, extra, neutral, type), stops),)

    return Op((None,), make, {}, gives_shape=False, result=neutral.type, word="fold")


def _combine(
    cx: Context, op: ast.FoldOp | ast.ScanOp, extra: list[Value], neutral: Value, type: BaseType
) -> core.Lambda:
    """`acc = f(extra.., acc, value)` as a function of accumulators and values."""
    accumulators, values = cx.binds("acc", neutral.type, op.span), cx.binds("val", type, op.span)
    result: list[core.Atom] = []

    def fill() -> None:
        held = (
            Value(t, tuple(core.Var(b.name, op.span) for b in g), op.span)
            for t, g in ((neutral.type, accumulators), (type, values))
        )
        result.extend(_applied(cx, op, [*extra, *held], neutral, (*op.args, op.neutral)))

    body = cx.block(fill)
    return core.Lambda((*accumulators, *values), body, tuple(result))


_WORDS: dict[type[ast.WithOp], tuple[str, str]] = {
    ast.FoldOp: ("a fold function", "the neutral element is"),
    ast.ScanOp: ("the function of a scan", "the neutral element is"),
    ast.IntoOp: ("the function of an into", "the array has"),
}


def _applied(
    cx: Context,
    op: ast.FoldOp | ast.ScanOp | ast.IntoOp,
    arguments: list[Value],
    like: Value,
    written: tuple[ast.Expr, ...],
) -> tuple[core.Atom, ...]:
    """An application of an operator's function, which must give what `like` is."""
    results = operation(cx, op.function, arguments, op.span, written)
    if len(results) != 1 or results[0].type != like.type:
        shown = ", ".join(r.type.shown for r in results) or "nothing"
        what, wanted = _WORDS[type(op)]
        cx.fail(
            "E0425",
            f"{what} must give what {wanted}, {like.type.shown}; {op.function} gives {shown}",
            op.function.span,
            f"gives {shown}",
            labels=(Label(like.span, f"this is {like.type.shown}"),),
            help=f"make {'array' if isinstance(op, ast.IntoOp) else 'neutral element'}, values and result of one type",
        )
    return results[0].atoms


def propagate(cx: Context, object: ast.Expr) -> Op:
    value = cx.value(object)
    name = object
    while isinstance(name, ast.Paren):
        name = name.inner
    if not isinstance(name, ast.Name):
        cx.fail(
            "E0414", "propagate needs a variable", object.span, "not a variable", help="give the object a name first"
        )
    params = cx.binds(name.name.name, value.type, object.span, name.name.name)
    inside = {name.name.name: Value(value.type, tuple(core.Var(b.name, object.span) for b in params), object.span)}
    return Op((value.type,), lambda t, parts: (core.Propagate(value.atoms, params),), inside, gives_shape=False)


def _scan(cx: Context, op: ast.ScanOp) -> Op:
    """The value so far at each index, with that of the index or (exclusive) without."""
    neutral = cx.value(op.neutral)
    extra = [cx.value(a) for a in reversed(op.args)][::-1]
    sofar = cx.binds("sofar", neutral.type, op.span)
    before = Value(neutral.type, tuple(core.Var(b.name, op.span) for b in sofar), op.span)

    def make(type: BaseType, parts: Sequence[core.Partition]) -> tuple[core.Operator, ...]:
        if len(parts) != 1:
            help = "write one with-loop for each, or one index set in which the body tells the parts apart"
            cx.fail(
                "E0438",
                f"a scan runs over one index set, and here are {len(parts) or 'none'}",
                op.span,
                "needs one partition",
                help=help,
            )
        shape = _end(cx, parts[0], op.span)
        closed = all(isinstance(a, core.Const) for v in extra for a in v.atoms)
        whole = type == neutral.type and closed and all(not c.cell for c in type.components)
        combine = _combine(cx, op, extra, neutral, type) if whole else None
        arrays = (core.Genarray(shape, a) for a in neutral.atoms)
        return (*arrays, core.Propagate(neutral.atoms, sofar, "scan", combine))

    def values(given: Sequence[Value]) -> list[core.Atom]:
        after = _applied(cx, op, [*extra, before, *given], neutral, (*op.args, op.neutral))
        return [*(before.atoms if op.exclusive else after), *after]

    return Op(
        (None,), make, {}, gives_shape=False, result=neutral.type, values=values, word="scan", discarded=(neutral.type,)
    )


def _end(cx: Context, part: core.Partition, span: Span) -> core.Atom:
    """The shape that reaches as far as an index set does."""
    assert part.upper is not None
    one = core.Const("int", (), (1,), span)
    upper = cx.prim("int", "add", part.upper, one, span=span) if part.upper_inclusive else part.upper
    zeros: core.Atom
    if part.scalars is not None:
        zeros = core.Const("int", (len(part.scalars),), (0,) * len(part.scalars), span)
    else:
        assert part.lower is not None
        zeros = cx.prim("int", "mul", part.lower, core.Const("int", (), (0,), span), span=span)
    return cx.prim("int", "add", zeros, upper, span=span, attrs=(INDEX_BOUND,))


def _into(cx: Context, op: ast.IntoOp) -> Op:
    """The array with the elements (or cells) at the indices that the body gives combined with its values."""
    extra = [cx.value(a) for a in reversed(op.args)][::-1]
    array = cx.value(op.array)
    held = cx.binds("into", array.type, op.span)
    atoms = tuple(core.Var(b.name, op.span) for b in held)

    def make(type: BaseType, parts: Sequence[core.Partition]) -> tuple[core.Operator, ...]:
        return (core.Propagate(array.atoms, held, "into"),)

    def values(given: Sequence[Value]) -> list[core.Atom]:
        index, value = given
        cells = [len(c.cell) for c in array.type.components]
        bases = [c.base for c in array.type.components]
        old = tuple(
            cx.prim(base, "sel", *index.atoms, a, span=op.span, cell=cell)
            for base, cell, a in zip(bases, cells, atoms, strict=True)
        )
        new = _applied(cx, op, [*extra, Value(array.type, old, array.span), value], array, (*op.args, op.array))
        return [
            cx.prim(base, "modarray", a, *index.atoms, x, span=op.span, cell=cell)
            for base, cell, a, x in zip(bases, cells, atoms, new, strict=True)
        ]

    return Op((INT, None), make, {}, gives_shape=False, result=array.type, values=values, word="into")
