"""Indices and slices, with Python's meaning.

In: what stands in brackets. Out: selections, or comprehensions over what slices leave. A negative index that stands in
the text counts from the end; one that turns out negative while the function runs is an error, as any that no element
has.
"""

from __future__ import annotations

import ast as py

from sacpy.capture import build
from sacpy.capture.frame import NOTHING, Frame, Val, handles
from sacpy.capture.kinds import Num, array, whole
from sacpy.capture.numbers import converted, literal_int
from sacpy.capture.places import DIFFER, RANGE
from sacpy.lang import ast
from sacpy.lang.source import Span
from sacpy.nodes import Record, replace


class Axis(Record):
    """What happens to an axis of the array. `index`: it is fixed there. Else a slice: the elements from `start` on,
    `count` of them, each `step` from the last; `count` None: all. `new`: an axis that the array does not have."""

    index: ast.Expr | None = None
    start: ast.Expr | None = None
    count: ast.Expr | None = None
    step: int = 1
    new: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it keeps the axis as it is."""
        return self.index is None and self.count is None and not self.new


def static_int(frame: Frame, node: py.expr | None) -> int | None:
    """A whole number that is known now."""
    if node is None:
        return None
    found = frame.value(node)
    if found.items is None and found.kind.is_int and isinstance(found.expr, ast.Literal):
        return int(found.expr.value)
    return None


def index(frame: Frame, node: py.expr, found: Val, of: Val, axis: int) -> ast.Expr:
    """An index along an axis."""
    kind, span = found.kind, frame.span(node)
    if kind.base == "bool" and kind.rank == 0:
        raise frame.refused(node, "a bool is no index", "write int(x), or np.where for a choice", DIFFER)
    if not kind.is_int:
        help = "convert it: int(x)" if kind.rank == 0 else ""
        raise frame.refused(node, f"an index is a whole number, and this is {frame.shown(found)}", help, DIFFER)
    if kind.high < 0 and kind.low == kind.high:
        return build.binary("-", build.extent(of.expr, axis, span), build.integer(-kind.low, span), span)
    if found.narrow is not None:
        return found.narrow
    return frame.coerced(found, "int").expr


@handles(py.Subscript)
def _subscript(frame: Frame, node: py.Subscript) -> Val:
    found = frame.value(node.value)
    if found.items is not None:
        place = static_int(frame, node.slice)
        count = len(found.items)
        if place is None or not -count <= place < count:
            help = f"write a number from 0 to {count - 1}"
            raise frame.refused(node.slice, "the index of a tuple must be known, and be one of its own", help, RANGE)
        return found.items[place]
    if found.kind.rank == 0:
        raise frame.refused(node, f"{found.kind} has no elements", "", DIFFER)
    parts = node.slice.elts if isinstance(node.slice, py.Tuple) else [node.slice]
    if len(parts) == 1 and (special := _by_array(frame, node, found, parts[0])) is not None:
        return special
    if any(isinstance(p, py.Slice | py.UnaryOp) for p in parts):  # its extents are asked for
        found = _base(frame, node, found)
    return selected(frame, node, found, axes(frame, node, found, parts))


def _base(frame: Frame, node: py.Subscript, found: Val) -> Val:
    """The array under a name, unless it is a selection that an index goes on from."""
    if isinstance(found.expr, ast.Select) and build.is_simple(found.expr.array):
        return found
    return frame.kept(found, node) if frame.pre is not None else found


def _by_array(frame: Frame, node: py.Subscript, found: Val, part: py.expr) -> Val | None:
    """`a[mask]`, `a[indices]`."""
    if isinstance(part, py.Slice) or (isinstance(part, py.Constant) and part.value in (None, ...)):
        return None
    at = frame.value(part)
    if at.items is not None or at.kind.rank == 0 or at.kind == NOTHING:
        return None
    span = frame.span(node)
    if at.kind.rank != 1:
        help = "use np.where, or a loop over the indices"
        raise frame.refused(part, f"an array is indexed by arrays with one axis, and this is {at.kind}", help, DIFFER)
    if at.kind.base == "bool":
        return Val(build.call("Select::filter", [at.expr, found.expr], span), array(found.kind.base, found.kind.rank))
    if at.kind.base not in ("int", "long", "ubyte"):
        raise frame.refused(part, f"an index is a whole number, and this is {at.kind}", "", DIFFER)
    found, at = frame.kept(found, node), frame.kept(at, node)
    name = frame.fresh("k")
    one = ast.Select(at.expr, (build.var(name, span),), span)
    place = frame.support("index_of", [one], span) if at.kind.base == "long" else build.call("toi", [one], span)
    value = ast.Select(found.expr, (place,), span)
    expr = build.comprehension([name], value, [build.extent(at.expr, 0, span)], span)
    return Val(expr, array(found.kind.base, found.kind.rank))


def axes(frame: Frame, node: py.AST, found: Val, parts: list[py.expr]) -> list[Axis]:
    """What the parts of an index do to the axes of an array."""
    rank = found.kind.rank
    taken = sum(not (isinstance(p, py.Constant) and p.value in (None, ...)) for p in parts)
    if rank is not None and taken > rank:
        message = f"{taken} indices are too many for {found.kind}"
        raise frame.refused(node, message, "give at most one for each axis", DIFFER)
    result: list[Axis] = []
    axis = 0
    for part in parts:
        if isinstance(part, py.Constant) and part.value is None:
            result.append(Axis(new=True))
        elif isinstance(part, py.Constant) and part.value is ...:
            if rank is None:
                raise frame.refused(part, "'...' needs an array of known rank", 'annotate it: Double["n", "m"]')
            result += [Axis() for _ in range(rank - taken)]
            axis += rank - taken
        elif isinstance(part, py.Slice):
            result.append(_slice(frame, part, found, axis))
            axis += 1
        else:
            result.append(Axis(index(frame, part, frame.value(part), found, axis)))
            axis += 1
    if rank is not None and any(a.index is None for a in result):
        result += [Axis() for _ in range(rank - axis)]
    return result


def _slice(frame: Frame, node: py.Slice, of: Val, axis: int) -> Axis:
    """A slice of an axis, cut to what there is."""
    span = frame.span(node)
    step = 1 if node.step is None else static_int(frame, node.step)
    if not step:
        what = "a step of 0 has no meaning" if step == 0 else "the step of a slice must be a number in the text"
        raise frame.refused(node.step or node, what, "use a comprehension over range(..)", RANGE)
    if node.lower is None and node.upper is None and step == 1:
        return Axis()
    n = build.extent(of.expr, axis, span)
    if step < 0:
        return _backward(frame, node, n, step, span)
    low, high = (None if e is None else _end(frame, e) for e in (node.lower, node.upper))
    start, shift = _start(frame, low, n, span)
    if high is None or (isinstance(high, int) and high < 0):
        back = shift - (high or 0)
        count = n if not back else build.binary("-", n, build.integer(back, span), span)
    else:
        count = (
            build.call("min", [build.integer(high, span), n], span)
            if isinstance(high, int)
            else _clamped(frame, high, n)
        )
        if shift:
            count = build.binary("-", count, build.integer(shift, span), span)
    if start is not None and not isinstance(start, ast.Literal):
        count = build.binary("-", count, start, span)
    count = build.call("max", [count, build.integer(0, span)], span)
    if step != 1:
        count = build.binary("/", build.binary("+", count, build.integer(step - 1, span), span),
                             build.integer(step, span), span)  # fmt: skip
    return Axis(None, start, count, step)


def _end(frame: Frame, node: py.expr) -> int | Val:
    """An end of a slice: a number that is known, or a value."""
    found = frame.value(node)
    if not found.kind.is_int:
        raise frame.refused(node, f"an end of a slice is a whole number, and this is {frame.shown(found)}", "", DIFFER)
    if isinstance(found.expr, ast.Literal) and found.kind.is_small:
        return int(found.expr.value)
    return found


def _clamped(frame: Frame, found: Val, n: ast.Expr, name: str = "slice_end") -> ast.Expr:
    span = found.span
    value = found.expr if found.kind.is_small else frame.support("bound_of", [found.expr], span)
    if found.kind.is_small and found.kind.base == "long":
        value = frame.coerced(found, "int").expr
    return frame.support(name, [value, n], span)


def _start(frame: Frame, low: int | Val | None, n: ast.Expr, span: Span) -> tuple[ast.Expr | None, int]:
    """Where a slice begins; and, if that is a number from 0 on, the number."""
    if low is None or low == 0:
        return None, 0
    if isinstance(low, int):
        if low > 0:
            return build.integer(low, span), low
        back = build.binary("-", n, build.integer(-low, span), span)
        return build.call("max", [back, build.integer(0, span)], span), 0
    return _clamped(frame, low, n), 0


def _backward(frame: Frame, node: py.Slice, n: ast.Expr, step: int, span: Span) -> Axis:
    """A slice with a negative step."""
    one = build.integer(1, span)
    first, last = build.binary("-", n, one, span), build.integer(-1, span)
    if node.lower is not None:
        first = _clamped(frame, frame.value(node.lower), n, "slice_back")
    if node.upper is not None:
        last = _clamped(frame, frame.value(node.upper), n, "slice_back")
    count = build.call("max", [build.binary("-", first, last, span), build.integer(0, span)], span)
    if step != -1:
        more = build.binary("+", count, build.integer(-step - 1, span), span)
        count = build.binary("/", more, build.integer(-step, span), span)
    return Axis(None, first, count, step)


def selected(frame: Frame, node: py.AST, found: Val, parts: list[Axis]) -> Val:
    """The part of an array."""
    span, kind = frame.span(node), found.kind
    if all(a.is_whole for a in parts):
        return found
    if all(a.index is not None for a in parts):
        indices = tuple(a.index for a in parts if a.index is not None)
        expr: ast.Expr = found.expr
        if isinstance(found.expr, ast.Select):
            expr, indices = found.expr.array, (*found.expr.indices, *indices)
        rank = None if kind.rank is None else kind.rank - len(parts)
        ones = frozenset(axis - len(parts) for axis in kind.ones if axis >= len(parts))
        shares = found.shares if rank != 0 else frozenset()
        made = Val(ast.Select(expr, indices, span), array(kind.base, rank, ones), None, shares)
        return converted(frame, made, "int") if rank == 0 and kind.base == "ubyte" else made
    names: list[str] = []
    upper: list[ast.Expr] = []
    indices_: list[ast.Expr] = []
    ones_: set[int] = set()
    own = 0
    for a in parts:
        if a.index is not None:
            indices_.append(a.index)
            own += 1
            continue
        name = frame.fresh("k")
        if a.new or (a.is_whole and own in kind.ones):
            ones_.add(len(names))
        names.append(name)
        if a.new:
            upper.append(build.integer(1, span))
            continue
        upper.append(build.extent(found.expr, own, span) if a.count is None else a.count)
        indices_.append(shifted(build.var(name, span), a, span))
        own += 1
    rank = (
        None if kind.rank is None else kind.rank - sum(a.index is not None for a in parts) + sum(a.new for a in parts)
    )
    expr = build.comprehension(names, ast.Select(found.expr, tuple(indices_), span), upper, span)
    return Val(expr, array(kind.base, rank, frozenset(ones_)), None, found.shares)


def shifted(index: ast.Expr, axis: Axis, span: Span) -> ast.Expr:
    """The place in the array of an index within a slice."""
    if axis.step not in (1, -1):
        index = build.binary("*", index, build.integer(abs(axis.step), span), span)
    if axis.start is None:
        return index
    return build.binary("-", axis.start, index, span) if axis.step < 0 else build.binary("+", index, axis.start, span)


# ---------------------------------------------------------------- assignments


def updated(frame: Frame, node: py.Subscript, value: Val, span: Span) -> list[ast.Stmt]:
    """`a[..] = value`: a new value of the variable. Raises `SacError` for what cannot be set this way."""
    indices: list[py.expr] = []
    target: py.expr = node
    while isinstance(target, py.Subscript):
        indices = [*(target.slice.elts if isinstance(target.slice, py.Tuple) else [target.slice]), *indices]
        if isinstance(target.value, py.Subscript) and any(isinstance(p, py.Slice) for p in indices):
            raise frame.refused(node, "a part of a slice cannot be set", "use one index: a[i, j] = x")
        target = target.value
    if not isinstance(target, py.Name):
        raise frame.refused(node, "only elements of a variable can be set", "set a variable first")
    if target.id not in frame.locals:
        help = "pass it as an argument, and return the new array"
        raise frame.refused(node, f"{target.id} is a constant here, and cannot be changed", help)
    name = target.id
    of = frame.read(name, target)
    if of.items is not None or of.kind.rank == 0:
        raise frame.refused(node, f"{name} is {frame.shown(of)}, and has no elements to set", "", DIFFER)
    frame.changing(name, node)
    value = fitted(frame, node, value, of.kind)
    if len(indices) == 1 and not isinstance(indices[0], py.Slice | py.Constant):
        at = frame.value(indices[0])
        if at.items is None and at.kind.rank != 0:
            return _masked(frame, node, of, at, value, span)
    parts = axes(frame, node, of, indices)
    if any(a.new for a in parts):
        raise frame.refused(node, "None is no index of what is set", "leave it out")
    sac = frame.sac_name(name)
    rest = None if of.kind.rank is None else of.kind.rank - len(parts)
    if all(a.index is not None for a in parts):
        if rest != 0 and value.kind.rank == 0:
            if rest is None:
                raise frame.refused(node, f"how many axes {name} has is not known", "say so where it is annotated")
            cell = [build.extent(of.expr, axis, span) for axis in range(len(parts), len(parts) + rest)]
            value = Val(build.call("genarray", [build.array(cell, span), value.expr], span), array(of.kind.base, rest))
        elif rest is not None and value.kind.rank != rest:
            message = f"an element of {name} is {array(of.kind.base, rest)}, and this is {value.kind}"
            raise frame.refused(node, message, "", DIFFER)
        step = ast.IndexStep(tuple(a.index for a in parts if a.index is not None), span)
        return [ast.Assign((ast.Target(sac, (step,), span, span),), None, value.expr, span)]
    return _slices(frame, node, name, of, parts, value, span)


def fitted(frame: Frame, node: py.AST, value: Val, kind: Num) -> Val:
    """A value as an element of an array."""
    if value.items is not None or value.kind == NOTHING:
        raise frame.refused(node, f"{frame.shown(value)} cannot be an element", "", DIFFER)
    given = value.kind
    if given.base == kind.base:
        return value
    both = given.is_int or given.base in ("bool", "int", "long", "ubyte")
    exact = (both and kind.base in ("double", "complex")) or (
        given.is_int and kind.base in ("float", "long", "int", "ubyte")
    )
    adapts = given.literal and given.base == "double" and kind.base == "float"
    wider = (given.base, kind.base) in (("double", "complex"), ("int", "long"), ("ubyte", "long"), ("ubyte", "int"),
                                        ("bool", "long"), ("bool", "int"))  # fmt: skip
    if exact or adapts or wider:
        return converted(frame, value, kind.base)
    element = replace(kind, rank=0)
    message = f"the elements are {element}, and this is {given}"
    convert = {"double": "float", "long": "int", "int": "int", "bool": "bool"}.get(kind.base)
    raise frame.refused(node, message, f"convert it: {convert}(x)" if convert else "convert it", DIFFER)


def _masked(frame: Frame, node: py.AST, of: Val, at: Val, value: Val, span: Span) -> list[ast.Stmt]:
    if at.kind.base != "bool" or value.kind.rank != 0 or at.kind.rank != of.kind.rank:
        message = "elements are set by an index, a slice, or a mask of the same shape and a number"
        raise frame.refused(node, message, "set them one by one, in a loop")
    assert isinstance(of.expr, ast.Name)
    chosen = build.call("where", [at.expr, value.expr, of.expr], span)
    return [build.assign(of.expr.name.name, chosen, span)]


def _slices(
    frame: Frame, node: py.AST, name: str, of: Val, parts: list[Axis], value: Val, span: Span
) -> list[ast.Stmt]:
    """A with-loop that changes a part of the array."""
    sliced = [i for i, a in enumerate(parts) if a.index is None]
    if any(parts[i].step < 0 for i in sliced):
        raise frame.refused(node, "a slice that is set counts forward", "use a positive step")
    if value.kind.rank is None or value.kind.rank > len(sliced):
        message = f"{value.kind} does not fit a slice with {len(sliced)} axes"
        raise frame.refused(node, message, "", DIFFER)
    rank = value.kind.rank
    value = frame.kept(value, node)
    zero, one = build.integer(0, span), build.integer(1, span)
    names = [frame.fresh("k") for _ in parts]
    low: list[ast.Expr] = []
    high: list[ast.Expr] = []
    at: list[ast.Expr] = []
    for i, a in enumerate(parts):
        if a.index is not None:
            low.append(a.index)
            high.append(build.binary("+", a.index, one, span))
            continue
        n = build.extent(of.expr, i, span)
        start = zero if a.start is None else a.start
        count = n if a.count is None else a.count
        own = rank - (len(sliced) - sliced.index(i))
        if own >= 0:
            if own in value.kind.ones:
                at.append(zero)
            else:
                count = frame.support("same_extent", [count, build.extent(value.expr, own, span)], span)
                place = build.var(names[i], span)
                place = place if a.start is None else build.binary("-", place, start, span)
                at.append(place if a.step == 1 else build.binary("/", place, build.integer(a.step, span), span))
        low.append(start)
        reach = count if a.step == 1 else build.binary("*", count, build.integer(a.step, span), span)
        end = reach if a.start is None else build.binary("+", start, reach, span)
        high.append(end if a.step == 1 else build.call("min", [end, n], span))
    steps = [build.integer(parts[i].step if parts[i].index is None else 1, span) for i in range(len(parts))]
    cell = value.expr if not at else ast.Select(value.expr, tuple(at), span)
    operator = ast.ModarrayOp(of.expr, span)
    wanted = steps if any(parts[i].step != 1 for i in sliced) else None
    loop = build.withloop(names, high, [], cell, operator, span, low, wanted)
    return [build.assign(frame.sac_name(name), loop, span)]


__all__ = ["axes", "fitted", "literal_int", "selected", "static_int", "updated", "whole"]
