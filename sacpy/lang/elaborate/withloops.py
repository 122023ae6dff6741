"""With-loops: operators, partitions, folds, objects threaded through.

An operator over a struct is one core operator per field (fold and propagate: one with several values). Operators,
bounds, steps and widths are evaluated outside, in the order last to first, as arguments are."""

from __future__ import annotations

from collections.abc import Callable

from sacpy.lang import ast, core
from sacpy.lang.diagnostics import Label
from sacpy.lang.elaborate.calls import apply, candidates, references, set_reference
from sacpy.lang.elaborate.context import Context, Value, Variables, expression
from sacpy.lang.elaborate.freenames import nodes
from sacpy.lang.elaborate.statements import statements
from sacpy.lang.elaborate.usertypes import INT, BaseType
from sacpy.nodes import Record


class Op(Record):
    """A source operator: the type of its values where known from the start, the core operators it becomes (made once
    the type of the values is known), names it gives a value inside, and (a fold) the type of its result."""

    type: BaseType | None
    make: Callable[[BaseType], tuple[core.Operator, ...]]
    inside: dict[str, Value]
    object: ast.Expr | None = None
    gives_shape: bool = True
    result: BaseType | None = None
    array: Value | None = None  # what a modarray starts from


@expression(ast.With)
def _with(cx: Context, node: ast.With, wanted: int | None) -> tuple[Value, ...]:
    node = _by_index_length(node)
    cx.program.pragmas |= bool(node.pragmas) or any(part.pragmas for part in node.parts)
    operators = [_operator(cx, op) for op in reversed(node.operators)][::-1]
    hidden = _implicit_objects(cx, node, operators)
    if not any(op.gives_shape for op in operators):
        _no_dots(cx, node)
    types: list[BaseType | None] = [op.type for op in operators]
    partitions = [_partition(cx, part, operators, hidden, types, len(node.operators)) for part in node.parts]
    made: list[core.Operator] = []
    results: list[Value] = []
    targets: list[core.Bind] = []
    objects: list[tuple[ast.Expr, Value]] = []
    for i, op in enumerate((*operators, *hidden)):
        type = (types[i] if i < len(types) else op.type) or op.result
        if type is None:
            cx.fail(
                "E0424",
                "the type of this with-loop's cells is unknown: it has no partition and no default",
                node.span,
                "no value anywhere",
                help="give genarray a default: genarray(shp, 0)",
            )
        made += op.make(type)
        result = op.result or type
        binds = cx.binds("w", result, node.span)
        targets += binds
        value = Value(result, tuple(core.Var(b.name, node.span) for b in binds), node.span)
        if i < len(operators):
            results.append(value)
        if op.object is not None:
            objects.append((op.object, value))
    cx.emit(core.Let(tuple(targets), core.WithLoop(tuple(partitions), tuple(made), node.pragmas), node.span))
    for object, value in objects:
        set_reference(cx, object, value)
    return tuple(results)


def _by_index_length(node: ast.With) -> ast.With:
    """The parts of a modarray may have indices of different lengths, some for elements and some for rows: those of
    another length make an array of their own first, as the earlier parts win."""
    if len(node.operators) != 1 or not isinstance(node.operators[0], ast.ModarrayOp):
        return node
    lengths = [_index_length(part.generator) for part in node.parts]
    known = [(i, length) for i, length in enumerate(lengths) if length is not None]
    for i, length in known:
        if length != known[0][1]:
            later = ast.With(node.pragmas, node.parts[i:], node.operators, node.span)
            return ast.With(node.pragmas, node.parts[:i], (ast.ModarrayOp(later, node.operators[0].span),), node.span)
    return node


def _index_length(generator: ast.Generator) -> int | None:
    """The length of an index, where it can be seen: from the names or a bound written in brackets."""
    if generator.scalars is not None:
        return len(generator.scalars)
    bounds = [b for b in (generator.lower, generator.upper) if isinstance(b, ast.ArrayLiteral) and b.elements]
    return len(bounds[0].elements) if bounds else None


# ---------------------------------------------------------------- operators


def _operator(cx: Context, op: ast.WithOp) -> Op:
    match op:
        case ast.GenarrayOp():
            return _genarray(cx, op)
        case ast.ModarrayOp():
            array = cx.value(op.array)
            return Op(array.type, lambda t: tuple(core.Modarray(a) for a in array.atoms), {}, array=array)
        case ast.FoldOp():
            return _fold(cx, op)
        case ast.PropagateOp():
            return _propagate(cx, op.object)


def _genarray(cx: Context, op: ast.GenarrayOp) -> Op:
    default = cx.value(op.default) if op.default is not None else None
    shape = cx.scalar(op.shape, INT, "the shape of a genarray")

    def make(type: BaseType) -> tuple[core.Operator, ...]:
        if default is None:
            return tuple(core.Genarray(shape, None) for _ in type.components)
        return tuple(core.Genarray(shape, a) for a in default.atoms)

    return Op(default.type if default is not None else None, make, {})


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

    def make(type: BaseType) -> tuple[core.Operator, ...]:
        return (core.Fold(neutral.atoms, _combine(cx, op, extra, neutral, type), stops),)

    return Op(None, make, {}, gives_shape=False, result=neutral.type)


def _combine(cx: Context, op: ast.FoldOp, extra: list[Value], neutral: Value, type: BaseType) -> core.Lambda:
    """`acc = f(extra.., acc, value)` as a function of accumulators and values."""
    accumulators, values = cx.binds("acc", neutral.type, op.span), cx.binds("val", type, op.span)
    results: list[Value] = []

    def fill() -> None:
        arguments = [
            *extra,
            *(
                Value(t, tuple(core.Var(b.name, op.span) for b in g), op.span)
                for t, g in ((neutral.type, accumulators), (type, values))
            ),
        ]
        matches = candidates(cx, op.function, [a.type for a in arguments], op.span, (*op.args, op.neutral))
        found, _ = apply(cx, matches, arguments, op.span, str(op.function))
        results.extend(found)

    body = cx.block(fill)
    if len(results) != 1 or results[0].type != neutral.type:
        shown = ", ".join(r.type.shown for r in results) or "nothing"
        cx.fail(
            "E0425", f"a fold function must give what the neutral element is, {neutral.type.shown}; {op.function} "
                f"gives {shown}", op.function.span, f"gives {shown}",
            labels=(Label(neutral.span, f"this is {neutral.type.shown}"),),
            help="make neutral element, values and result of one type",
        )  # fmt: skip
    return core.Lambda((*accumulators, *values), body, results[0].atoms)


def _propagate(cx: Context, object: ast.Expr) -> Op:
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
    return Op(value.type, lambda t: (core.Propagate(value.atoms, params),), inside, gives_shape=False)


def _implicit_objects(cx: Context, node: ast.With, operators: list[Op]) -> list[Op]:
    """Objects that a body changes through references without a propagate: they are threaded through all the same."""
    named = {n for op in operators for n in op.inside}
    found: list[str] = []
    for part in node.parts:
        for call in (n for n in nodes((part.body, part.results or ())) if isinstance(n, ast.Call)):
            for name in sorted(references(cx, call)):
                value = cx.variables.get(name)
                if (
                    isinstance(value, Value)
                    and value.type.kind in ("class", "opaque")
                    and name not in named
                    and name not in found
                ):
                    found.append(name)
    hidden: list[Op] = []
    for name in found:
        written = ast.Name(ast.QName(None, name, node.span), node.span)
        op = _propagate(cx, written)
        hidden.append(Op(op.type, op.make, op.inside, written, False))
    return hidden


def _no_dots(cx: Context, node: ast.With) -> None:
    for part in node.parts:
        g = part.generator
        if g.lower is None or g.upper is None:
            cx.fail(
                "E0426",
                "a dot bound means the smallest or largest index of the result, and a fold has none",
                g.span,
                "a dot",
                help="write the bound, as in 0 * shape(a) <= iv < shape(a)",
            )


# ---------------------------------------------------------------- partitions


def _partition(
    cx: Context, part: ast.Part, operators: list[Op], hidden: list[Op], types: list[BaseType | None], count: int
) -> core.Partition:
    g = part.generator
    width = cx.scalar(g.width, INT, "a width") if g.width is not None else None
    step = cx.scalar(g.step, INT, "a step") if g.step is not None else None
    upper = cx.scalar(g.upper, INT, "a bound") if g.upper is not None else None
    lower = cx.scalar(g.lower, INT, "a bound") if g.lower is not None else None
    if lower is None and upper is None and g.scalars is None:
        lower, upper = _whole(cx, part, operators)
    index = cx.bind(g.vector or "iv", "int", g.index_span, g.vector or "")
    scalars = tuple(cx.bind(n, "int", g.index_span, n) for n in g.scalars) if g.scalars is not None else None
    variables: Variables = dict(cx.variables)
    if g.vector:
        variables[g.vector] = Value(INT, (core.Var(index.name, g.index_span),), g.index_span)
    for name, bind in zip(g.scalars or (), scalars or (), strict=True):
        if name != "_":
            variables[name] = Value(INT, (core.Var(bind.name, g.index_span),), g.index_span)
    for op in (*operators, *hidden):
        variables |= op.inside
    values: list[core.Atom] = []

    def fill() -> None:
        statements(cx, part.body)
        values.extend(_results(cx, part, operators, types, count))
        for op in hidden:
            assert op.object is not None
            values.extend(cx.value(op.object).atoms)

    body = cx.block(fill, variables)
    return core.Partition(
        lower,
        g.lower_inclusive,
        upper,
        g.upper_inclusive,
        step,
        width,
        index,
        scalars,
        body,
        tuple(values),
        part.pragmas,
        part.span,
    )


def _whole(cx: Context, part: ast.Part, operators: list[Op]) -> tuple[core.Atom | None, core.Atom | None]:
    """What two dots stand for where elements have axes of their own, which the index leaves alone: the first and the
    last index of the array that is modified. Elsewhere they stay dots."""
    array = next((op.array for op in operators if op.gives_shape), None)
    if (
        array is None
        or array.type.any_cell
        or not array.type.components
        or not any(c.cell for c in array.type.components)
    ):
        return None, None
    span = part.generator.span
    shape = cx.prim("int", "shape", array.atoms[0], span=span, cell=len(array.type.components[0].cell))
    return cx.prim("int", "mul", shape, core.Const("int", (), (0,), span), span=span), cx.prim(
        "int", "sub", shape, core.Const("int", (), (1,), span), span=span
    )


def _results(
    cx: Context, part: ast.Part, operators: list[Op], types: list[BaseType | None], count: int
) -> list[core.Atom]:
    written = part.results or ()
    if len(written) == 1:
        values = list(cx.values(written[0], count))
    else:
        values = [cx.value(e) for e in reversed(written)][::-1]
    if not written and count:
        objects = [op for op in operators if op.inside]
        if len(objects) == count:  # all propagated: their values are the objects themselves
            values = [
                cx.value(ast.Name(ast.QName(None, next(iter(op.inside)), part.span), part.span)) for op in objects
            ]
    if len(values) != count:
        cx.fail(
            "E0427",
            f"this partition gives {len(values)} value{'s' * (len(values) != 1)}, the with-loop has {count} "
            f"operator{'s' * (count != 1)}",
            part.span,
            f"gives {len(values)}",
            help="give one value per operator: (..) { .. } : (x, y);",
        )
    atoms: list[core.Atom] = []
    for i, value in enumerate(values):
        known = types[i]
        if known is None:
            types[i] = value.type
        elif value.type != known:
            help, edit = cx.conversion(value.span, value.type, known)
            cx.fail(
                "E0428",
                f"the cells are {known.shown}, this value is {value.type.shown}",
                value.span,
                f"this is {value.type.shown}",
                help=help,
                edit=edit,
            )
        atoms += value.atoms
    return atoms
