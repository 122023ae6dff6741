"""Comprehensions whose bounds depend on positions: `{ [i,j] -> e | [i,j] < [n, i+1] }`.

In: a comprehension. Out: a with-loop over the vector of elements, the position of each by the inverse of its offset;
and the packed array. An array with the same extents that is selected from at the position itself is read where the
element is written.
"""

from __future__ import annotations

from sacpy.lang import ast, core
from sacpy.lang.elaborate import extents
from sacpy.lang.elaborate.context import Context, Inside, Value, Variables
from sacpy.lang.elaborate.freenames import mentioned
from sacpy.lang.elaborate.packed_functions import LongMachine, extents_of, long_of
from sacpy.lang.elaborate.packed_sizes import evaluated, total, value_of
from sacpy.lang.elaborate.usertypes import BUILTINS, INT, BaseType
from sacpy.lang.source import Span
from sacpy.withloop import piecewise as pw
from sacpy.withloop.piecewise import Poly
from sacpy.withloop.sums import inverse, position


def comprehension(cx: Context, node: ast.Tensor, scalars: tuple[str, ...], spec: str) -> Value:
    """The packed array."""
    part = node.parts[0]
    if len(node.parts) > 1 or spec:
        cx.fail(
            "E0449",
            "a comprehension whose bounds depend on positions has one part, and names for all axes",
            node.span,
            "several parts" if len(node.parts) > 1 else "dots on the left",
            help="tell the parts apart in the value: [i,j] -> i == j ? a : b",
        )
    r = part.range
    assert r is not None and r.upper is not None, "the bound was seen"
    if r.lower is not None or r.step is not None or r.width is not None:
        wrong = r.lower or r.step or r.width
        assert wrong is not None
        cx.fail(
            "E0449",
            "where bounds depend on positions, every axis begins at 0 and goes on by 1",
            wrong.span,
            "not possible here",
            help="write [i,j] < [n, i+1], and compute with i and j in the value",
        )
    upper: ast.Expr = r.upper
    while isinstance(upper, ast.Paren):
        upper = upper.inner
    assert isinstance(upper, ast.ArrayLiteral), "the bound was seen"
    if len(upper.elements) != len(scalars):
        cx.fail(
            "E0446",
            f"the index has {len(scalars)} names, its bound {len(upper.elements)}",
            upper.span,
            f"{len(upper.elements)} extents",
            help="write one extent for each name",
        )
    known: dict[str, core.Atom] = {}
    axes = _axes(cx, upper, scalars, known, r.upper_inclusive)
    made = extents.packed(BUILTINS["int"], axes, upper.span)  # the element's type is not known yet
    sizes = evaluated(cx, made, known.__getitem__, upper.span)
    elements, table = total(cx, made.type, sizes, upper.span)
    type: list[BaseType] = []
    result = _filled(cx, part, scalars, made.type, sizes, elements, table, type)
    whole = extents.packed(type[0], axes, upper.span).type
    return value_of(cx, whole, result, sizes, table, node.span)


def _axes(
    cx: Context, upper: ast.ArrayLiteral, scalars: tuple[str, ...], known: dict[str, core.Atom], inclusive: bool
) -> list[Poly]:
    """The bounds as functions; `known` receives what stands for the names in them."""
    positions: dict[str, Poly] = {}
    found: list[Poly] = []

    def leaf(expr: ast.Expr) -> Poly:
        own = mentioned(expr) & set(positions)
        if own:
            extents.refuse(
                "E0441",
                f"a bound is computed from positions by + - * / % << >>, min, max and `? :`, and {sorted(own)[0]} is "
                "one",
                expr.span,
                "not possible here",
                "an array whose row lengths are data is a vector, with a vector of offsets beside it",
            )
        name = expr.name.name if isinstance(expr, ast.Name) and expr.name.module is None else f"e{len(known)}"
        known[name] = cx.scalar(expr, INT, "a bound")
        return pw.name(extents.FREE + name)

    for axis, (scalar, element) in enumerate(zip(scalars, upper.elements, strict=True)):
        bound = extents.function(element, positions, leaf)
        found.append(bound + pw.ONE if inclusive else bound)
        positions[scalar] = pw.name(position(axis))
    return found


def _filled(
    cx: Context,
    part: ast.TensorPart,
    scalars: tuple[str, ...],
    type: BaseType,
    sizes: tuple[core.Atom, ...],
    elements: core.Atom,
    table: core.Atom | None,
    found: list[BaseType],
) -> core.Var:
    """The vector of elements; `found` receives their type."""
    span = part.span
    index, flat = cx.bind("iv", "int", span), cx.bind("k", "int", span)
    variables: Variables = dict(cx.variables)
    values: list[core.Atom] = []

    def fill() -> None:
        longs = {f"p{k}": long_of(cx, a, span) for k, a in enumerate(sizes)}
        at = inverted(cx, type, longs, table, core.Var(flat.name, span), span)
        for name, atom in zip(scalars, at, strict=True):
            if name != "_":
                cx.variables[name] = Value(INT, (_named(cx, atom, name, part.lhs_span),), part.lhs_span)
        own = tuple(v.atom for n in scalars if isinstance(v := cx.variables.get(n), Value))
        behind = (*sizes, table) if table is not None else sizes
        outer = cx.comprehension
        value: Value
        try:
            cx.comprehension = Inside(type, behind, core.Var(index.name, span), own)
            value = cx.value(part.value)
        finally:
            cx.comprehension = outer
        if value.type.key not in BUILTINS:
            cx.fail(
                "E0440",
                "an array with extents that depend on positions has elements of a built-in type, not "
                f"{value.type.shown}",
                part.value.span,
                f"this is {value.type.shown}",
                help="make one such array for each part",
            )
        cx.emit(core.Check(value.atom, None, (), value.type.shown, "an element of this comprehension", span))
        found.append(value.type)
        values.append(value.atom)

    body = cx.block(fill, variables)
    shape = cx.let("int", core.ArrayCons((elements,)), span)
    target = cx.bind("w", found[0].core, span)
    zero = core.Const("int", (1,), (0,), span)
    partition = core.Partition(zero, True, shape, False, None, None, index, (flat,), body, tuple(values), (), span)
    cx.emit(core.Let((target,), core.WithLoop((partition,), (core.Genarray(shape, None),), ()), span))
    return core.Var(target.name, span)


def _named(cx: Context, atom: core.Atom, name: str, span: Span) -> core.Var:
    bind = cx.bind(name, "int", span, name)
    cx.emit(core.Let((bind,), atom, span))
    return core.Var(bind.name, span)


def inverted(
    cx: Context, type: BaseType, values: dict[str, core.Atom], table: core.Atom | None, flat: core.Atom, span: Span
) -> list[core.Atom]:
    """The position of the element with the number `flat`, as ints."""
    extents = extents_of(type)
    machine = LongMachine(cx, span)
    left = long_of(cx, flat, span)
    values = dict(values)
    found: list[core.Atom] = []
    for axis in range(extents.rank):
        name = position(axis)
        if axis == extents.rank - 1:
            x = left
        else:
            end = pw.computed(extents.axes[axis], machine, values)
            x, before = _last_below(cx, extents.sums()[axis], name, values, table, left, end, span)
            left = cx.prim("long", "sub", left, before, span=span)
        values[name] = x
        found.append(cx.prim("int", "toi", x, span=span))
    return found


def _last_below(
    cx: Context,
    of: Poly | None,
    name: str,
    values: dict[str, core.Atom],
    table: core.Atom | None,
    left: core.Atom,
    end: core.Atom,
    span: Span,
) -> tuple[core.Atom, core.Atom]:
    """The last position before which at most `left` elements lie, and how many do."""
    machine = LongMachine(cx, span)

    def before(x: core.Atom) -> core.Atom:
        if of is not None:
            return pw.computed(of, machine, {**values, name: x})
        assert table is not None, "without a closed form there is a table"
        at = cx.prim("int", "ravel", cx.prim("int", "toi", x, span=span), span=span)
        return long_of(cx, cx.prim("int", "sel", at, table, span=span), span)

    def long(op: str, *args: core.Atom) -> core.Atom:
        return cx.prim("long", op, *args, span=span)

    how = inverse(of, name)
    if how.kind == "linear":
        x = long("div", left, long("max", pw.computed(how.a, machine, values), machine.whole(1)))
        return x, before(x)
    if how.kind == "quadratic":
        a = int(how.a.constant or 0)
        b = cx.prim("double", "tod", pw.computed(how.b, machine, values), span=span)

        def real(op: str, *args: core.Atom | float) -> core.Atom:
            atoms = [core.Const("double", (), (v,), span) if isinstance(v, float) else v for v in args]
            return cx.prim("double", op, *atoms, span=span)

        k = cx.prim("double", "tod", left, span=span)
        under = real("max", real("add", real("mul", b, b), real("mul", k, float(4 * a * how.c))), 0.0)
        root = real("div", real("sub", real("sqrt", under), b), float(2 * a))
        last = long("sub", end, machine.whole(1))
        guess = long("max", long("min", cx.prim("long", "tol", root, span=span), last), machine.whole(0))
        high = cx.prim("bool", "gt", before(guess), left, span=span)
        x = long("sub", guess, long("tol", high))
        following = long("add", x, machine.whole(1))
        below = cx.prim(
            "bool",
            "and",
            cx.prim("bool", "lt", following, end, span=span),
            cx.prim("bool", "le", before(following), left, span=span),
            span=span,
        )
        nearest = long("add", x, long("tol", below))
        return nearest, before(nearest)
    least, most = cx.bind("low", "long", span), cx.bind("high", "long", span)
    tests: list[core.Atom] = []
    updates: list[core.Atom] = []
    low_, high_ = core.Var(least.name, span), core.Var(most.name, span)

    def condition() -> None:
        apart = long("sub", high_, low_)
        tests.append(cx.prim("bool", "gt", apart, machine.whole(1), span=span))

    def body() -> None:
        middle = long("div", long("add", low_, high_), machine.whole(2))
        reached = cx.prim("bool", "le", before(middle), left, span=span)
        targets = cx.bind("low", "long", span), cx.bind("high", "long", span)
        merges = core.Merge(targets[0], middle, low_), core.Merge(targets[1], high_, middle)
        cx.emit(core.If(reached, core.EMPTY, core.EMPTY, merges, span))
        updates.extend(core.Var(t.name, span) for t in targets)

    tested, round_ = cx.block(condition), cx.block(body)
    carried = core.Carried(least, machine.whole(0), updates[0]), core.Carried(most, end, updates[1])
    cx.emit(core.Loop(carried, tested, tests[0], round_, False, span))
    return low_, before(low_)


__all__ = ["comprehension"]
