"""Comprehensions whose bounds depend on positions: `{ [i,j] -> e | [i,j] < [n, i+1] }`.

In: a comprehension. Out: a with-loop over the vector of elements, the position of each by the inverse of its offset;
and the packed array. An array with the same extents that is selected from at the position itself is read where the
element is written.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Label
from sacpy.lang.elaborate import extents
from sacpy.lang.elaborate.context import Context, Inside, Value, Variables
from sacpy.lang.elaborate.freenames import mentioned
from sacpy.lang.elaborate.operators import operator_of
from sacpy.lang.elaborate.packed_functions import LongMachine, extents_of, int_of, long_of
from sacpy.lang.elaborate.packed_sizes import evaluated, total, value_of
from sacpy.lang.elaborate.packed_stretches import Stretch, stretches
from sacpy.lang.elaborate.usertypes import BUILTINS, INT, BaseType
from sacpy.lang.source import Span
from sacpy.nodes import Node, replace
from sacpy.withloop import piecewise as pw
from sacpy.withloop.piecewise import Poly
from sacpy.withloop.sums import inverse, lowest, position


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
    space = _space(cx, r.upper, scalars, r.upper_inclusive)
    bodies, (value,) = _bodies(cx, space, scalars, part.lhs_span, lambda: [cx.value(part.value)], part.span, True)
    return _array(cx, space, bodies, value, node.span)


class Space(Node):
    """An index set whose bounds depend on positions: the type of an array of ints over it, the extents as functions of
    the program's names, and as atoms the sizes, the number of elements and the table of offsets, if there is one."""

    type: BaseType
    axes: tuple[Poly, ...]
    sizes: tuple[core.Atom, ...]
    elements: core.Atom
    table: core.Atom | None
    span: Span


def _space(cx: Context, upper: ast.Expr, scalars: tuple[str, ...], inclusive: bool) -> Space:
    literal = _literal(cx, upper, scalars)
    known: dict[str, core.Atom] = {}
    axes = _axes(cx, literal, scalars, known, inclusive)
    made = extents.packed(BUILTINS["int"], axes, literal.span)  # the type of the elements is not known yet
    sizes = evaluated(cx, made, known.__getitem__, literal.span)
    elements, table = total(cx, made.type, sizes, literal.span)
    return Space(made.type, tuple(axes), sizes, elements, table, literal.span)


def _literal(cx: Context, upper: ast.Expr, scalars: tuple[str, ...]) -> ast.ArrayLiteral:
    """A bound as a list with one extent for each name."""
    while isinstance(upper, ast.Paren):
        upper = upper.inner
    if not isinstance(upper, ast.ArrayLiteral) or len(upper.elements) != len(scalars):
        count = len(upper.elements) if isinstance(upper, ast.ArrayLiteral) else "no"
        cx.fail(
            "E0446",
            f"the index has {len(scalars)} names, and here {'is' if count == 1 else 'are'} {count} extents",
            upper.span,
            f"{count} extents",
            help="write one extent for each name",
        )
    return upper


def with_loop(cx: Context, node: ast.With, fill: Callable[[ast.Part], list[Value]]) -> Value:
    """A with-loop whose generator's bound depends on positions: a packed array, or a fold over it. `fill` elaborates a
    part's body and gives its values."""
    part, op = node.parts[0], node.operators[0]
    g = part.generator
    if len(node.parts) > 1 or len(node.operators) > 1 or not isinstance(op, ast.GenarrayOp | ast.FoldOp):
        cx.fail(
            "E0449",
            "a with-loop whose bounds depend on positions has one part, and genarray or fold",
            node.span,
            "something else",
            help="tell the parts apart in the body; write one with-loop for each operator",
        )
    if g.step is not None or g.width is not None or not (g.lower is None or _is_zero(g.lower)):
        wrong = g.step or g.width or g.lower
        assert wrong is not None, "one of them is there"
        cx.fail(
            "E0449",
            "where bounds depend on positions, every axis begins at 0 and goes on by 1",
            wrong.span,
            "not possible here",
            help="write 0 for each axis, and compute with the indices in the body",
        )
    assert g.scalars is not None and g.upper is not None, "the bound was seen"
    space = _space(cx, g.upper, g.scalars, g.upper_inclusive)
    if isinstance(op, ast.GenarrayOp):
        shape = _axes(cx, _literal(cx, op.shape, g.scalars), g.scalars, {}, False)
        if tuple(shape) != space.axes:
            cx.fail(
                "E0449",
                "where bounds depend on positions, a genarray is as large as its index set",
                op.shape.span,
                "another extent",
                labels=(Label(g.upper.span, "the index set"),),
                help="write the bound of the generator",
            )
    scalar = isinstance(op, ast.GenarrayOp)
    bodies, values = _bodies(cx, space, g.scalars, g.index_span, lambda: fill(part), part.span, scalar)
    bodies = tuple(replace(body, pragmas=part.pragmas) for body in bodies)
    if len(values) != 1:
        gives = f"this partition gives {len(values)} values, the with-loop has 1 operator"
        cx.fail("E0427", gives, part.span, f"gives {len(values)}", help="give one value per operator: (..) { .. } : x;")
    if isinstance(op, ast.GenarrayOp):
        return _array(cx, space, bodies, values[0], node.span, node.pragmas)
    made = operator_of(cx, op)
    operators = made.make(values[0].type, bodies)
    result = made.result or values[0].type
    binds = cx.binds("w", result, node.span)
    cx.emit(core.Let(binds, core.WithLoop(bodies, operators, node.pragmas), node.span))
    return Value(result, tuple(core.Var(b.name, node.span) for b in binds), node.span)


def _is_zero(lower: ast.Expr) -> bool:
    items = lower.elements if isinstance(lower, ast.ArrayLiteral) else (lower,)
    return all(isinstance(e, ast.Literal) and e.base == "int" and e.value == 0 for e in items)


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
        name = expr.name.name if isinstance(expr, ast.Name) and expr.name.module is None else f"#{len(known)}"
        known[name] = cx.scalar(expr, INT, "a bound")
        return pw.name(extents.FREE + name)

    for axis, (scalar, element) in enumerate(zip(scalars, upper.elements, strict=True)):
        bound = extents.function(element, positions, leaf)
        found.append(bound + pw.ONE if inclusive else bound)
        positions[scalar] = pw.name(position(axis))
    return found


def _bodies(
    cx: Context,
    space: Space,
    scalars: tuple[str, ...],
    names_span: Span,
    make: Callable[[], list[Value]],
    span: Span,
    scalar: bool,
) -> tuple[tuple[core.Partition, ...], list[Value]]:
    """The partitions over the elements' numbers, whose bodies find the position: one, or one for each stretch of rows;
    and the values that `make` gives in the first, which are `scalar` where they become elements."""
    found = stretches(cx, space.type, space.sizes, space.elements, span)
    made = [_body(cx, space, stretch, scalars, names_span, make, span, scalar) for stretch in found or (None,)]
    return tuple(body for body, _ in made), made[0][1]


def _body(
    cx: Context,
    space: Space,
    stretch: Stretch | None,
    scalars: tuple[str, ...],
    names_span: Span,
    make: Callable[[], list[Value]],
    span: Span,
    scalar: bool,
) -> tuple[core.Partition, list[Value]]:
    """A partition, and the values in it."""
    index, flat = cx.bind("iv", "int", span), cx.bind("k", "int", span)
    variables: Variables = dict(cx.variables)
    values: list[Value] = []

    def fill() -> None:
        longs = {f"p{k}": long_of(cx, a, span) for k, a in enumerate(space.sizes)}
        at = inverted(cx, space.type, longs, space.table, core.Var(flat.name, span), span, stretch)
        for name, atom in zip(scalars, at, strict=True):
            if name != "_":
                cx.variables[name] = Value(INT, (_named(cx, atom, name, names_span),), names_span)
        own = tuple(v.atom for n in scalars if isinstance(v := cx.variables.get(n), Value))
        behind = (*space.sizes, space.table) if space.table is not None else space.sizes
        outer = cx.comprehension
        try:
            cx.comprehension = Inside(space.type, behind, core.Var(index.name, span), own)
            values.extend(make())
            for value in values if scalar else ():
                shown = value.type.shown
                cx.emit(core.Check(value.atom, None, (), shown, "an element of such an array", value.span))
        finally:
            cx.comprehension = outer

    body = cx.block(fill, variables)
    begin: core.Atom = core.Const("int", (1,), (0,), span)
    if stretch is not None and isinstance(stretch.begin, core.Var):
        begin = cx.let("int", core.ArrayCons((stretch.begin,)), span)
    end = cx.let("int", core.ArrayCons((space.elements if stretch is None else stretch.end,)), span)
    atoms = tuple(a for v in values for a in v.atoms)
    return core.Partition(begin, True, end, False, None, None, index, (flat,), body, atoms, (), span), values


def _array(
    cx: Context,
    space: Space,
    bodies: tuple[core.Partition, ...],
    value: Value,
    span: Span,
    pragmas: tuple[ast.Pragma, ...] = (),
) -> Value:
    """The packed array of the values."""
    if value.type.key not in BUILTINS:
        cx.fail(
            "E0440",
            f"an array with extents that depend on positions has elements of a built-in type, not {value.type.shown}",
            value.span,
            f"this is {value.type.shown}",
            help="make one such array for each part",
        )
    shape = bodies[-1].upper
    assert shape is not None, "the number of elements"
    target = cx.bind("w", value.type.core, span)
    cx.emit(core.Let((target,), core.WithLoop(bodies, (core.Genarray(shape, None),), pragmas), span))
    whole = extents.packed(value.type, space.axes, space.span).type
    return value_of(cx, whole, core.Var(target.name, span), space.sizes, space.table, span)


def _named(cx: Context, atom: core.Atom, name: str, span: Span) -> core.Var:
    bind = cx.bind(name, "int", span, name)
    cx.emit(core.Let((bind,), atom, span))
    return core.Var(bind.name, span)


def inverted(
    cx: Context,
    type: BaseType,
    values: dict[str, core.Atom],
    table: core.Atom | None,
    flat: core.Atom,
    span: Span,
    stretch: Stretch | None,
) -> list[core.Atom]:
    """The position of the element with the number `flat`, as ints. `stretch`: that of the rows in which it lies, where
    there are several."""
    extents = extents_of(type)
    left = flat
    values = dict(values)
    found: list[core.Atom] = []
    bounded = False  # whether what is left is known to lie where it may
    for axis, extent in enumerate(extents.axes):
        name, x = position(axis), left
        if axis == 0 and stretch is not None:
            x, left = _in_stretch(cx, stretch, left, span)
        elif axis < extents.rank - 1:
            how = inverse(extents.sums()[axis], name, extent)
            bounded = how.kind == "rows"
            if bounded:
                args = (left, *(int_of(cx, p, values, span) for p in (how.least, pw.number(how.growth), extent)))
                x, left = (cx.prim("int", op, *args, span=span) for op in ("row", "column"))
            else:
                x, left = _last_below(cx, extents.sums()[axis], name, values, table, left, extent, span)
        if not bounded:
            most = int_of(cx, extent - pw.ONE, values, span)  # what analyses see of the inverse
            x = _between(cx, x, most, lowest(extents, axis), span)
        values[name] = long_of(cx, x, span)
        found.append(x)
    return found


def _in_stretch(cx: Context, stretch: Stretch, flat: core.Atom, span: Span) -> tuple[core.Atom, core.Atom]:
    """The row of an element in a stretch of rows, and its place in it."""
    growth = core.Const("int", (), (stretch.growth,), span)
    number = flat
    if isinstance(stretch.begin, core.Var):
        number = cx.prim("int", "sub", flat, stretch.begin, span=span)
    args = (number, stretch.least, growth, stretch.count)
    row, left = (cx.prim("int", op, *args, span=span) for op in ("row", "column"))
    return cx.prim("int", "add", stretch.first, row, span=span), left


def _between(cx: Context, x: core.Atom, most: core.Atom, least: Poly | None, span: Span) -> core.Atom:
    """The position, from 0 to `most`, in the order in which both ends are plain: where no extent is 0, `most` is no
    less than 0."""
    zero = core.Const("int", (), (0,), span)
    constant = None if least is None else least.constant
    if constant is not None and constant >= 1:
        return cx.prim("int", "min", cx.prim("int", "max", x, zero, span=span), most, span=span)
    return cx.prim("int", "max", cx.prim("int", "min", x, most, span=span), zero, span=span)


def _last_below(
    cx: Context,
    of: Poly | None,
    name: str,
    values: dict[str, core.Atom],
    table: core.Atom | None,
    left: core.Atom,
    extent: Poly,
    span: Span,
) -> tuple[core.Atom, core.Atom]:
    """The last position before which at most `left` elements lie, and how many are left then."""
    machine = LongMachine(cx, span)
    wide = long_of(cx, left, span)

    def before(x: core.Atom) -> core.Atom:
        if of is not None:
            return pw.computed(of, machine, {**values, name: x})
        assert table is not None, "without a closed form there is a table"
        at = cx.prim("int", "ravel", cx.prim("int", "toi", x, span=span), span=span)
        return long_of(cx, cx.prim("int", "sel", at, table, span=span), span)

    def long(op: str, *args: core.Atom) -> core.Atom:
        return cx.prim("long", op, *args, span=span)

    def short(a: core.Atom) -> core.Atom:
        return cx.prim("int", "toi", a, span=span)

    def found(x: core.Atom) -> tuple[core.Atom, core.Atom]:
        return short(x), cx.prim("int", "sub", left, short(before(x)), span=span)

    least, most = cx.bind("low", "long", span), cx.bind("high", "long", span)
    tests: list[core.Atom] = []
    updates: list[core.Atom] = []
    low_, high_ = core.Var(least.name, span), core.Var(most.name, span)

    def condition() -> None:
        apart = long("sub", high_, low_)
        tests.append(cx.prim("bool", "gt", apart, machine.whole(1), span=span))

    def body() -> None:
        middle = long("div", long("add", low_, high_), machine.whole(2))
        reached = cx.prim("bool", "le", before(middle), wide, span=span)
        targets = cx.bind("low", "long", span), cx.bind("high", "long", span)
        merges = core.Merge(targets[0], middle, low_), core.Merge(targets[1], high_, middle)
        cx.emit(core.If(reached, core.EMPTY, core.EMPTY, merges, span))
        updates.extend(core.Var(t.name, span) for t in targets)

    tested, round_ = cx.block(condition), cx.block(body)
    carried = (
        core.Carried(least, machine.whole(0), updates[0]),
        core.Carried(most, pw.computed(extent, machine, values), updates[1]),
    )
    cx.emit(core.Loop(carried, tested, tests[0], round_, False, span))
    return found(low_)


__all__ = ["comprehension", "with_loop"]
