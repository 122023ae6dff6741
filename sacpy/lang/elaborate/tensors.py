"""Tensor comprehensions: `{ [i,j] -> a[i,j] + b[j] | [i,j] < shp; iv -> 0 }` as a with-loop.

The result's shape is the upper bound of the last part. A missing upper bound comes from the selections `a[..i..]` in
which an index name stands alone: the element-wise minimum of the extents it runs along; in an earlier part that tells
nothing, it is the result's. Dots on the left place the value's own axes, afterwards, by the primitive `place`."""

from __future__ import annotations

from sacpy.lang import ast, core
from sacpy.lang.elaborate.context import Context, Failed, Lost, Value, Variables, expression
from sacpy.lang.elaborate.freenames import binds, mentioned
from sacpy.lang.elaborate.usertypes import INT, BaseType
from sacpy.lang.source import Span
from sacpy.nodes import Node, field_names

# Marks the addition that spreads a bound over the names of an index, so that its mismatch is told as what it is.
INDEX_BOUND = "bound"


class Indices(Node):
    """The left side of a part: the vector's name, or those of its components; `spec` over "i", ".", "*" where axes are
    placed ("" without dots)."""

    vector: str | None
    scalars: tuple[str, ...]
    spec: str
    span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """All index names."""
        return (self.vector,) if self.vector is not None else self.scalars


@expression(ast.Tensor)
def _tensor(cx: Context, node: ast.Tensor, wanted: int | None) -> tuple[Value, ...]:
    lefts = [_indices(cx, part) for part in node.parts]
    if any(
        part.range is not None and depends_on_positions(part.range.upper, left.scalars)
        for part, left in zip(node.parts, lefts, strict=True)
    ):
        from sacpy.lang.elaborate.packed_tensors import comprehension  # loaded where a program has such arrays

        return (comprehension(cx, node, lefts[0].scalars, lefts[0].spec),)
    last, last_left = node.parts[-1], lefts[-1]
    shape = _upper(cx, last, last_left)
    if shape is None:
        names = " and ".join(last_left.names) or "the index"
        cx.fail(
            "E0430", f"nothing tells how far {names} runs", last.lhs_span, "no upper bound",
            notes=("only a selection with the bare index name, as in a[i], tells a bound; b[i+1] does not",),
            help=f"write the range: {{ {last.lhs_span.text} -> .. | {last.lhs_span.text} < .. }}",
        )  # fmt: skip
    types: list[BaseType] = []
    partitions = [
        _part(cx, part, left, shape if part is last else _upper(cx, part, left) or shape, types, wanted)
        for part, left in zip(node.parts, lefts, strict=True)
    ]
    return _finish(cx, node, lefts, shape, partitions, types)


def depends_on_positions(upper: ast.Expr | None, scalars: tuple[str, ...]) -> bool:
    """Whether a bound mentions the index of an axis before it."""
    while isinstance(upper, ast.Paren):
        upper = upper.inner
    return isinstance(upper, ast.ArrayLiteral) and any(
        mentioned(e) & set(scalars[:k]) for k, e in enumerate(upper.elements)
    )


def _finish(
    cx: Context,
    node: ast.Tensor,
    lefts: list[Indices],
    shape: core.Atom,
    partitions: list[core.Partition],
    types: list[BaseType],
) -> tuple[Value, ...]:
    operators: list[core.Operator] = []
    results: list[Value] = []
    targets: list[core.Bind] = []
    for type in types:
        binds = cx.binds("w", type, node.span)
        targets += binds
        operators += [core.Genarray(shape, None) for _ in binds]
        results.append(Value(type, tuple(core.Var(b.name, node.span) for b in binds), node.span))
    cx.emit(core.Let(tuple(targets), core.WithLoop(tuple(partitions), tuple(operators), ()), node.span))
    spec = lefts[-1].spec
    if any(left.spec != spec for left in lefts):
        other = next(left for left in lefts if left.spec != spec)
        cx.fail(
            "E0431",
            "all parts of a comprehension must place the value's axes alike",
            other.span,
            "placed differently",
            help="put the dots in the same positions in every part",
        )
    return tuple(_placed(cx, r, spec, node.span) for r in results) if spec else tuple(results)


def _placed(cx: Context, value: Value, spec: str, span: Span) -> Value:
    atoms = tuple(
        cx.prim(c.base, "place", a, span=span, cell=len(c.cell), attrs=(spec,))
        for c, a in zip(value.type.components, value.atoms, strict=True)
    )
    return Value(value.type, atoms, span)


# ---------------------------------------------------------------- parts


def _indices(cx: Context, part: ast.TensorPart) -> Indices:
    if part.vector is not None:
        return Indices(part.vector, (), "", part.lhs_span)
    scalars = tuple(i for i in part.items if isinstance(i, str))
    if sum(isinstance(i, ast.Dots) for i in part.items) > 1:
        cx.fail(
            "E0420",
            "'...' may stand only once",
            part.lhs_span,
            "twice here",
            help="write a single dot for each further axis",
        )
    repeated = next((n for n in scalars if scalars.count(n) > 1 and n != "_"), None)
    if repeated is not None:
        cx.fail(
            "E0432",
            f"{repeated} stands twice on the left",
            part.lhs_span,
            "two axes, one name",
            help="give each axis a name of its own",
        )
    spec = "".join("i" if isinstance(i, str) else "." if isinstance(i, ast.Dot) else "*" for i in part.items)
    return Indices(None, scalars, spec if "." in spec or "*" in spec else "", part.lhs_span)


def _part(
    cx: Context, part: ast.TensorPart, left: Indices, upper: core.Atom, types: list[BaseType], wanted: int | None
) -> core.Partition:
    r = part.range
    width = cx.scalar(r.width, INT, "a width") if r and r.width is not None else None
    step = cx.scalar(r.step, INT, "a step") if r and r.step is not None else None
    lower = cx.scalar(r.lower, INT, "a bound") if r and r.lower is not None else None
    index = cx.bind(left.vector or "iv", "int", left.span, left.vector or "")
    scalars = tuple(cx.bind(n, "int", left.span, n) for n in left.scalars) if left.vector is None else None
    variables: Variables = dict(cx.variables)
    if left.vector is not None:
        variables[left.vector] = Value(INT, (core.Var(index.name, left.span),), left.span)
    for name, bind in zip(left.scalars, scalars or (), strict=True):
        if name != "_":
            variables[name] = Value(INT, (core.Var(bind.name, left.span),), left.span)
    atoms: list[core.Atom] = []

    def fill() -> None:
        values = cx.values(part.value, wanted)
        if not types:
            types.extend(v.type for v in values)
        if len(values) != len(types) or not values:
            cx.fail(
                "E0433",
                f"this part gives {len(values)} values, another one {len(types)}" if values else "this gives no value",
                part.value.span,
                f"gives {len(values)}",
                help="let every part give the same number of values",
            )
        for value, type in zip(values, types, strict=True):
            cx.refuse_packed(value.type, value.span)
            if value.type != type:
                help, edit = cx.conversion(value.span, value.type, type)
                cx.fail(
                    "E0428",
                    f"the cells are {type.shown}, this value is {value.type.shown}",
                    value.span,
                    f"this is {value.type.shown}",
                    help=help,
                    edit=edit,
                )
            atoms.extend(value.atoms)

    body = cx.block(fill, variables)
    lower_inclusive = r.lower_inclusive if lower is not None and r else True
    return core.Partition(
        lower, lower_inclusive, upper, False, step, width, index, scalars, body, tuple(atoms), (), part.span
    )


# ---------------------------------------------------------------- ranges


def _upper(cx: Context, part: ast.TensorPart, left: Indices) -> core.Atom | None:
    """The exclusive upper bound of a part, as written or as its selections tell; None if nothing tells."""
    r = part.range
    if r is not None and r.upper is not None:
        return _written(cx, r, left)
    return _vector_range(cx, part, left) if left.vector is not None else _component_ranges(cx, part, left)


def _written(cx: Context, r: ast.TensorRange, left: Indices) -> core.Atom:
    assert r.upper is not None
    upper = cx.scalar(r.upper, INT, "a bound")
    if r.upper_inclusive:
        upper = cx.prim("int", "add", upper, core.Const("int", (), (1,), r.upper.span), span=r.upper.span)
    inner = r.upper
    while isinstance(inner, ast.Paren):
        inner = inner.inner
    if left.vector is None and not (isinstance(inner, ast.ArrayLiteral) and len(inner.elements) == len(left.scalars)):
        n = len(left.scalars)
        return cx.prim(
            "int", "add", core.Const("int", (n,), (0,) * n, r.span), upper, span=r.span, attrs=(INDEX_BOUND,)
        )
    if left.vector is not None and r.lower is not None:
        lower = cx.scalar(r.lower, INT, "a bound")
        none = cx.prim("int", "mul", core.Const("int", (), (0,), r.span), lower, span=r.span)
        return cx.prim("int", "add", none, upper, span=r.span)
    return upper


class Selection(Node):
    """An array selected from, with the index expressions."""

    array: ast.Expr
    indices: tuple[ast.Expr, ...]


def _selections(cx: Context, part: ast.TensorPart, left: Indices) -> list[Selection]:
    """Selections in the value whose array can be evaluated outside the comprehension; where an inner construct binds
    one of the index names anew, what is below does not count."""
    found: list[Selection] = []
    stack: list[tuple[object, frozenset[str]]] = [(part.value, frozenset())]
    names = frozenset(left.names)
    while stack:
        node, bound = stack.pop()
        if isinstance(node, tuple):
            stack.extend((n, bound) for n in reversed(node))
            continue
        if not hasattr(node, "span") or not isinstance(node, Node) or isinstance(node, ast.QName):
            continue
        inner = bound | binds(node)
        if names & inner:
            continue
        selection = _as_selection(node)
        if (
            selection is not None
            and not (mentioned(selection.array) & (names | bound))
            and _evaluable(cx, selection.array)
        ):
            found.append(selection)
        stack.extend((getattr(node, f), inner) for f in reversed(field_names(node)))
    return found


def _as_selection(node: object) -> Selection | None:
    if isinstance(node, ast.Select):
        return Selection(node.array, node.indices)
    if isinstance(node, ast.Call) and len(node.args) == 2 and node.function.name in ("_sel_VxA_", "sel"):
        return Selection(node.args[1], (node.args[0],))
    return None


def _evaluable(cx: Context, array: ast.Expr) -> bool:
    for name in mentioned(array):
        value = cx.variables.get(name)
        if value is None and name in cx.variables:
            raise Failed
        if isinstance(value, Lost) or (
            value is None and cx.scope.global_object(ast.QName(None, name, array.span)) is None
        ):
            return False
    return True


def _bare(expr: ast.Expr) -> str | None:
    while isinstance(expr, ast.Paren):
        expr = expr.inner
    return expr.name.name if isinstance(expr, ast.Name) and expr.name.module is None else None


def _shape(cx: Context, array: ast.Expr, known: dict[str, core.Atom], at: int = 0) -> core.Atom:
    """The shape of an array, evaluated once for a plain name; of a packed one that of its first axis, and no other
    axis may be asked for (`at`)."""
    key = _bare(array)
    if key is not None and key in known and not at:
        return known[key]
    value = cx.value(array)
    if value.type.kind == "packed":
        shape = _first_extent(cx, value, array, at)
    elif key is not None and key in known:
        return known[key]
    else:
        component = value.type.components[0]
        shape = cx.prim("int", "shape", value.atoms[0], span=array.span, cell=len(component.cell))
    if key is not None:
        known[key] = shape
    return shape


def _first_extent(cx: Context, value: Value, array: ast.Expr, at: int) -> core.Atom:
    """The extent of the first axis of a packed array, as a vector."""
    from sacpy.lang.elaborate.packed_functions import extents_of, int_of, sizes_of

    if at:
        cx.fail(
            "E0449",
            f"the extents of {value.type.shown} depend on positions, so this axis does not tell where an index ends",
            array.span,
            f"this is {value.type.shown}",
            help="write the bound: { [i,j] -> .. | [i,j] < [n, i+1] }",
        )
    extent = int_of(cx, extents_of(value.type).axes[0], sizes_of(cx, value, array.span), array.span)
    return cx.prim("int", "ravel", extent, span=array.span)


def _vector_range(cx: Context, part: ast.TensorPart, left: Indices) -> core.Atom | None:
    bound: core.Atom | None = None
    known: dict[str, core.Atom] = {}
    span = left.span
    for s in _selections(cx, part, left):
        if len(s.indices) != 1 or _bare(s.indices[0]) != left.vector or _bare(s.array) in known:
            continue
        shape = _shape(cx, s.array, known)
        if bound is None:
            bound = shape
            continue
        lengths = [
            cx.prim("int", "sel", core.Const("int", (1,), (0,), span), cx.prim("int", "shape", v, span=span), span=span)
            for v in (bound, shape)
        ]
        length = cx.prim("int", "min", *lengths, span=span)
        bound = cx.prim(
            "int", "min", *(cx.prim("int", "take", length, v, span=span) for v in (bound, shape)), span=span
        )
    return bound


def _component_ranges(cx: Context, part: ast.TensorPart, left: Indices) -> core.Atom | None:
    if not left.scalars:
        return core.Const("int", (0,), (), left.span)
    bounds: dict[str, list[core.Atom]] = {n: [] for n in left.scalars}
    known: dict[str, core.Atom] = {}
    seen: set[tuple[str, str, int]] = set()
    for s in _selections(cx, part, left):
        items = s.indices
        if len(items) == 1 and isinstance(items[0], ast.ArrayLiteral):
            items = items[0].elements
        dots = next((k for k, e in enumerate(items) if isinstance(e, ast.Dots)), None)
        for k, item in enumerate(items):
            name = _bare(item)
            if name is None or name not in bounds:
                continue
            at = k if dots is None or k < dots else k - len(items)
            key = (name, _bare(s.array) or f"@{s.array.span.start}", at)
            if key not in seen:
                seen.add(key)
                bounds[name].append(_extent(cx, _shape(cx, s.array, known, at), at, item.span))
    if not all(bounds.values()):
        return None
    extents: list[core.Atom] = []
    for atoms in bounds.values():
        least = atoms[0]
        for other in atoms[1:]:
            least = cx.prim("int", "min", least, other, span=left.span)
        extents.append(least)
    return cx.let("int", core.ArrayCons(tuple(extents)), left.span)


def _extent(cx: Context, shape: core.Atom, at: int, span: Span) -> core.Atom:
    """The extent at an axis counted from the front, or (negative) from the back."""
    if at >= 0:
        return cx.prim("int", "sel", core.Const("int", (1,), (at,), span), shape, span=span)
    tail = cx.prim("int", "take", core.Const("int", (), (at,), span), shape, span=span)
    return cx.prim("int", "sel", core.Const("int", (1,), (0,), span), tail, span=span)
