"""With-loops: partitions, and objects threaded through. The operators are in `operators`.

An operator over a struct is one core operator per field (fold and propagate: one with several values). Operators,
bounds, steps and widths are evaluated outside, in the order last to first, as arguments are."""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.lang import ast, core
from sacpy.lang.elaborate.calls import references, set_reference
from sacpy.lang.elaborate.context import Context, Value, Variables, expression
from sacpy.lang.elaborate.freenames import nodes
from sacpy.lang.elaborate.operators import Op, operator_of, propagate
from sacpy.lang.elaborate.statements import statements
from sacpy.lang.elaborate.tensors import depends_on_positions
from sacpy.lang.elaborate.usertypes import INT, BaseType


@expression(ast.With)
def _with(cx: Context, node: ast.With, wanted: int | None) -> tuple[Value, ...]:
    node = _by_index_length(node)
    cx.program.pragmas |= bool(node.pragmas) or any(part.pragmas for part in node.parts)
    if any(depends_on_positions(part.generator.upper, part.generator.scalars or ()) for part in node.parts):
        from sacpy.lang.elaborate.packed_tensors import with_loop  # loaded where a program has such arrays

        if _implicit_objects(cx, node, []):
            cx.fail(
                "E0449",
                "a with-loop whose bounds depend on positions hands no object on",
                node.span,
                "changes an object",
                help="go through the positions by two loops: for (i = ..) { for (j = ..) { .. } }",
            )
        return (with_loop(cx, node, lambda part: _given(cx, part)),)
    operators = [operator_of(cx, op) for op in reversed(node.operators)][::-1]
    hidden = _implicit_objects(cx, node, operators)
    words = {op.word for op in operators}
    if not any(op.gives_shape for op in operators) or "scan" in words:
        _no_dots(cx, node, next((word for word in ("scan", "into") if word in words), "fold"))
    types: list[BaseType | None] = [type for op in operators for type in op.types]
    partitions = [_partition(cx, part, operators, hidden, types) for part in node.parts]
    made: list[core.Operator] = []
    results: list[Value] = []
    targets: list[core.Bind] = []
    objects: list[tuple[ast.Expr, Value]] = []
    given = [*types, *(type for op in hidden for type in op.types)]
    for i, op in enumerate((*operators, *hidden)):
        own, given = given[: len(op.types)], given[len(op.types) :]
        type = own[-1] or op.result
        if type is None:
            cx.fail(
                "E0424",
                "the type of this with-loop's cells is unknown: it has no partition and no default",
                node.span,
                "no value anywhere",
                help="give genarray a default: genarray(shp, 0)",
            )
        made += op.make(type, partitions)
        result = op.result or type
        binds = cx.binds("w", result, node.span)
        targets += binds
        targets += [b for discarded in op.discarded for b in cx.binds("w", discarded, node.span)]
        value = Value(result, tuple(core.Var(b.name, node.span) for b in binds), node.span)
        if i < len(operators):
            results.append(value)
        if op.object is not None:
            objects.append((op.object, value))
    cx.emit(core.Let(tuple(targets), core.WithLoop(tuple(partitions), tuple(made), node.pragmas), node.span))
    for object, value in objects:
        set_reference(cx, object, value)
    return tuple(results)


def _given(cx: Context, part: ast.Part) -> list[Value]:
    """The values of a part, its body before them."""
    statements(cx, part.body)
    return [cx.value(e) for e in reversed(part.results or ())][::-1]


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
        op = propagate(cx, written)
        hidden.append(Op(op.types, op.make, op.inside, written, False))
    return hidden


def _no_dots(cx: Context, node: ast.With, word: str) -> None:
    for part in node.parts:
        g = part.generator
        if g.lower is None or g.upper is None:
            none = {
                "scan": "a scan's is as large as its bounds say",
                "into": "an into has no index set of its own",
            }.get(word, "a fold has none")
            cx.fail(
                "E0426",
                f"a dot bound means the smallest or largest index of the result, and {none}",
                g.span,
                "a dot",
                help="write the bound, as in 0 * shape(a) <= iv < shape(a)",
            )


# ---------------------------------------------------------------- partitions


def _partition(
    cx: Context, part: ast.Part, operators: list[Op], hidden: list[Op], types: list[BaseType | None]
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
        values.extend(_results(cx, part, operators, types))
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


def _results(cx: Context, part: ast.Part, operators: list[Op], types: list[BaseType | None]) -> list[core.Atom]:
    written, count = part.results or (), len(types)
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
        gives = f"this partition gives {len(values)} value{'s' * (len(values) != 1)}"
        if any(op.word == "into" for op in operators):
            help = (
                "give one value per operator, and for into two, the index and what comes there: (..) { .. } : (i, x);"
            )
            cx.fail("E0427", f"{gives}, the with-loop takes {count}", part.span, f"gives {len(values)}", help=help)
        cx.fail(
            "E0427",
            f"{gives}, the with-loop has {count} operator{'s' * (count != 1)}",
            part.span,
            f"gives {len(values)}",
            help="give one value per operator: (..) { .. } : (x, y);",
        )
    atoms: list[core.Atom] = []
    indices = {at for at, op in _starts(operators) if op.word == "into"}
    for i, value in enumerate(values):
        known = types[i]
        if known is None:
            types[i] = value.type
        elif value.type != known:
            help, edit = cx.conversion(value.span, value.type, known)
            cx.fail(
                "E0428",
                f"{'the index of an into is' if i in indices else 'the cells are'} {known.shown}, this value is "
                f"{value.type.shown}",
                value.span,
                f"this is {value.type.shown}",
                help=help,
                edit=edit,
            )
    for op in operators:
        own, values = values[: len(op.types)], values[len(op.types) :]
        atoms += op.values(own) if op.values is not None else [a for value in own for a in value.atoms]
    return atoms


def _starts(operators: list[Op]) -> Iterator[tuple[int, Op]]:
    """Each operator with the position of the first value that it takes."""
    at = 0
    for op in operators:
        yield at, op
        at += len(op.types)
