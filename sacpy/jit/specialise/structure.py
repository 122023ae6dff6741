"""Structural primitives: shapes, selection, update, reshaping, joining, cutting.

In: values. Out: values. On small arrays nothing is left but the elements; on arrays, loads, views, reshapes and
with-loops. Where the operands may be refused there is a check. `cell`: the last axes belong to the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as g
from sacpy.jit.specialise.elementwise import elements, indices, mapped, need_scalar, partitioned
from sacpy.jit.specialise.emit import Builder
from sacpy.jit.specialise.sharing import Wider
from sacpy.jit.specialise.values import (
    LIMIT,
    Fails,
    Small,
    Value,
    extents_of,
    integer,
    is_array,
    is_scalar,
    small_vector,
    static_extents,
    zero,
)
from sacpy.lang.infer_structure import place_order

CHOICES = 4  # elements of a small array among which a computed index chooses by comparisons
LARGEST = 2147483647


def vector(b: Builder, value: Value, what: str) -> tuple[g.Atom, ...]:
    """The components of an index or shape: a scalar is one component. Raises `Unsupported` where their number is not
    known."""
    if is_scalar(value) and not isinstance(value, Small):
        return (b.same(value),)
    if len(extents_of(value)) != 1:
        raise Fails(f"{what} is a vector")
    if isinstance(value, Small):
        return tuple(map(b.same, value.elements))
    extents = static_extents(value)
    if extents is None:
        (length,) = map(b.same, extents_of(value))
        if not isinstance(length, g.Const):
            raise Unsupported(
                f"the length of {what} is known only when it runs, and with it the rank of an array", b.span
            )
        extents = (int(length.value),)
    if extents[0] > LIMIT:
        raise Unsupported(f"{what} has {extents[0]} components", b.span)
    return tuple(elements(b, value, extents))


def settled(b: Builder, value: Value) -> Value:
    """An array of known small shape as its elements."""
    extents = static_extents(value)
    if not is_array(value) or extents is None or prod(extents) > LIMIT:
        return value
    return Small(value.base, extents, tuple(elements(b, value, extents)))


def shape(value: Value, cell: int) -> Small:
    """The shape vector."""
    extents = extents_of(value)
    return small_vector(extents[: len(extents) - cell])


def constants_of(index: Sequence[g.Atom]) -> tuple[int, ...] | None:
    """The values of atoms that are all constants."""
    found = tuple(int(i.value) for i in index if isinstance(i, g.Const))
    return found if len(found) == len(index) else None


# ---------------------------------------------------------------- selection and update


def sel(b: Builder, iv: Value, value: Value, cell: int) -> Value:
    """The element or sub-array at an index."""
    index = vector(b, iv, "an index")
    extents = extents_of(value)
    if len(index) > len(extents) - cell:
        raise Fails("an index has at most as many components as the array has axes")
    if not index:
        return value
    b.in_range(index, extents)
    if isinstance(value, Small):
        return _small_sel(b, index, value)
    array = b.array(value)
    if len(index) == len(extents):
        return b.load(array, index)
    rest = extents[len(index) :]
    sizes = constants_of(tuple(map(b.same, rest)))
    if sizes is not None and prod(sizes) <= LIMIT:
        return Small(
            value.base, sizes, tuple(b.load(array, (*index, *map(integer, inner))) for inner in indices(sizes))
        )
    return b.view(array, index)


def _small_sel(b: Builder, index: Sequence[g.Atom], value: Small) -> Value:
    rest = value.extents[len(index) :]
    size = prod(rest)
    known = constants_of(index)
    if known is not None:
        start = _flat(known, value.extents) * size
        # an index out of range only in code that is never executed
        return _of(value.base, rest, value.elements[start : start + size])
    count = prod(value.extents[: len(index)])
    if not count:
        b.check(g.FALSE, "the index lies in the array")
        return _of(value.base, rest, ())
    if count <= CHOICES:
        rows = [value.elements[k * size : (k + 1) * size] for k in range(count)]
        chosen = rows[-1]
        for k, at in reversed(list(enumerate(indices(value.extents[: len(index)])))[:-1]):
            hit = _hits(b, index, at)
            chosen = tuple(b.op("select", hit, x, y) for x, y in zip(rows[k], chosen))
        return _of(value.base, rest, chosen)
    array = b.array(value)
    if not rest:
        return b.load(array, index)
    return Small(value.base, rest, tuple(b.load(array, (*index, *map(integer, inner))) for inner in indices(rest)))


def _hits(b: Builder, index: Sequence[g.Atom], at: Sequence[int]) -> g.Atom:
    """Whether a computed index is this one."""
    result: g.Atom = g.Const("bool", True)
    for i, k in zip(index, at):
        result = b.op("and", result, b.op("eq", i, integer(k)))
    return result


def _flat(index: Sequence[int], extents: Sequence[int]) -> int:
    at = 0
    for i, n in zip(index, extents):
        at = at * n + i
    return at


def _of(base: str, extents: tuple[int, ...], found: Sequence[g.Atom]) -> Value:
    """A small array, or a scalar. In code that is never executed there may be too few elements."""
    size = prod(extents)
    made = (*found[:size], *[zero(base)] * (size - len(found)))
    return Small(base, extents, made) if extents else made[0]


def modarray(b: Builder, value: Value, iv: Value, new: Value, cell: int) -> Value:
    """The array with the element or sub-array at an index replaced."""
    index = vector(b, iv, "an index")
    extents = extents_of(value)
    if len(index) > len(extents) - cell:
        raise Fails("an index has at most as many components as the array has axes")
    b.in_range(index, extents)
    b.need_equal(extents_of(new), extents[len(index) :], "the new value has the shape of what it replaces")
    if not index:
        return new
    if isinstance(value, Small):
        changed = _small_update(b, value, index, new)
        if changed is not None:
            return changed
    array = b.array(value)
    atom: g.Atom = b.array(new) if len(index) < len(extents) else need_scalar(new, "the new value is a scalar")
    return b.emit(g.Update(array, tuple(index), atom), [array.type], "u")[0]


def _small_update(b: Builder, value: Small, index: Sequence[g.Atom], new: Value) -> Small | None:
    """The array with elements chosen by comparisons; None where it had better be an array: counters, for a device."""
    rest = value.extents[len(index) :]
    size = prod(rest)
    fresh = elements(b, new, rest)
    found = list(value.elements)
    known = constants_of(index)
    if known is not None:
        start = _flat(known, value.extents) * size
        found[start : start + size] = fresh
        return Small(value.base, value.extents, tuple(found[: prod(value.extents)]))
    if prod(value.extents[: len(index)]) > CHOICES or (b.sharing.device and not b.cells):
        return None
    for k, at in enumerate(indices(value.extents[: len(index)])):
        hit = _hits(b, index, at)
        found[k * size : (k + 1) * size] = [
            b.op("select", hit, x, y) for x, y in zip(fresh, found[k * size : (k + 1) * size])
        ]
    return Small(value.base, value.extents, tuple(found))


# ---------------------------------------------------------------- reshaping and joining


def reshape(b: Builder, shp: Value, value: Value, cell: int) -> Value:
    """The same elements under another shape."""
    outer = vector(b, shp, "a shape")
    own = extents_of(value)
    wanted = (*outer, *own[len(own) - cell :])
    natural(b, outer)
    same_size(b, wanted, own)
    sizes = constants_of(tuple(map(b.same, wanted)))
    if is_scalar(value) or isinstance(value, Small):
        if sizes is not None:
            return _of(value.base, sizes, elements(b, value, static_extents(value) or ()))
        value = value if isinstance(value, Small) else Small(value.base, (1,), (value,))
    array = b.array(value)
    if not wanted:
        return b.load(array, (integer(0),) * len(own))
    if tuple(map(b.same, wanted)) == tuple(map(b.same, own)):
        return array
    return settled(b, b.emit(g.Reshape(array, wanted), [g.ArrayType(value.base, wanted)], "r")[0])


def natural(b: Builder, extents: Sequence[g.Atom]) -> None:
    """Asserts that an array may have such extents."""
    for n in extents:
        b.check(b.op("le", integer(0), n), "an extent is not negative")
        if not b.is_extent(n):
            not_too_large(b, n)
        if isinstance(n, g.Var) and b.low(n) is None and b.depth_of(n) == b.depth:
            b.at_least(n, 0)


def not_too_large(b: Builder, n: g.Atom) -> None:
    """Asserts that an extent is as large as the unit's may be. Raises `Wider` where only those of another may."""
    condition = b.op("le", n, integer(b.sharing.largest))
    if condition == g.FALSE and not b.sharing.wide and not b.lenient:
        raise Wider
    b.check(condition, g.TOO_LARGE)


def same_size(b: Builder, a: Sequence[g.Atom], c: Sequence[g.Atom]) -> None:
    """Asserts that two lists of extents have the same product, in numbers wide enough not to wrap."""
    what = "the number of elements stays the same"
    first, second = list(map(b.same, a)), list(map(b.same, c))
    for n in list(first):
        if n in second and isinstance(n, g.Var):
            first.remove(n)
            second.remove(n)
    known = [constants_of(first), constants_of(second)]
    if known[0] is not None and known[1] is not None and prod(known[0]) == prod(known[1]):
        return
    left, right = (_product(b, list(map(b.same, many)), what) for many in (a, c))
    b.check(b.op("eq", left, right), what)


def _product(b: Builder, extents: Sequence[g.Atom], what: str) -> g.Atom:
    total: g.Atom = g.Const("long", 1)
    for at, n in enumerate(extents):
        if at > 1:
            b.check(b.op("le", total, g.Const("long", LARGEST)), what)
        total = b.op("mul", total, b.op("tol", n))
    return total


def cat(b: Builder, x: Value, y: Value) -> Value:
    """Two arrays along the first axis."""
    ex, ey = extents_of(x), extents_of(y)
    if not ex or not ey:
        raise Fails("cat joins arrays")
    b.need_equal(ex[1:], ey[1:], "arrays to be joined differ in the first axis only")
    sx, sy = static_extents(x), static_extents(y)
    if sx is not None and sy is not None and prod(sx) + prod(sy) <= LIMIT:
        return Small(x.base, (sx[0] + sy[0], *sx[1:]), (*elements(b, x, sx), *elements(b, y, sy)))
    first, second = b.array(x), b.array(y)
    if b.sharing.wide:  # the sum need not be an int
        b.check(b.op("le", ex[0], b.op("sub", integer(b.sharing.largest), ey[0], exact=True)), g.TOO_LARGE)
    total = b.add(ex[0], ey[0], exact=True)
    not_too_large(b, total)
    rest = ex[1:]
    zeros = (integer(0),) * len(rest)
    return partitioned(
        b,
        (total, *rest),
        x.base,
        [
            ((integer(0), *zeros), (ex[0], *rest), lambda i: b.load(first, i)),
            ((ex[0], *zeros), (total, *rest), lambda i: b.load(second, (b.op("sub", i[0], ex[0], exact=True), *i[1:]))),
        ],
    )


def take(b: Builder, n: Value, value: Value, *, drop: bool) -> Value:
    """The first n along the first axis (the last -n for a negative n); with `drop`, all but these."""
    extents = extents_of(value)
    (count, *more) = vector(b, n, "a number of elements") or (None,)
    if count is None or more or not extents:
        raise Fails("take and drop have one number, and take arrays")
    word = "drop" if drop else "take"
    extent = b.same(extents[0])
    size = b.op("abs", count)
    b.check(b.op("le", integer(0), size), f"the array has as many elements as {word} is to {word}")
    b.check(b.op("le", size, extent), f"the array has as many elements as {word} is to {word}")
    negative = b.op("lt", count, integer(0))
    if drop:
        left, offset = b.sub(extent, size), b.op("max", count, integer(0))
    else:
        left, offset = size, b.op("select", negative, b.add(extent, count), integer(0))
    return section(b, value, [(left, offset), *((e, integer(0)) for e in extents[1:])])


def section(b: Builder, value: Value, axes: Sequence[tuple[g.Atom, g.Atom]]) -> Value:
    """A box of an array: per axis, how many, and from where. It lies in the array."""
    sizes = constants_of([size for size, _ in axes])
    offsets = constants_of([offset for _, offset in axes])
    if isinstance(value, Small) and sizes is not None and offsets is not None:
        places = [_flat([i + o for i, o in zip(at, offsets)], value.extents) for at in indices(sizes)]
        return _of(value.base, sizes, [value.elements[k] for k in places if 0 <= k < len(value.elements)])
    if all(b.equal(size, n) and b.equal(offset, integer(0)) for (size, offset), n in zip(axes, extents_of(value))):
        return value
    array = b.array(value)
    if sizes is not None and prod(sizes) <= LIMIT:
        return Small(
            value.base,
            sizes,
            tuple(b.load(array, [b.add(o, i) for i, (_, o) in zip(at, axes)]) for at in indices(sizes)),
        )
    for size, _ in axes:
        if isinstance(size, g.Var):
            b.at_least(size, 0)
    return mapped(
        b,
        [size for size, _ in axes],
        value.base,
        lambda i: b.load(array, [b.op("add", x, o, exact=True) for x, (_, o) in zip(i, axes)]),
    )


def cons(b: Builder, values: Sequence[Value]) -> Value:
    """`[a, b, c]`: elements of equal shape."""
    first = values[0]
    for other in values[1:]:
        b.need_equal(extents_of(first), extents_of(other), "the elements of an array have equal shapes")
    inner = next((s for s in map(static_extents, values) if s is not None), None)
    if inner is not None and (len(values) * prod(inner) <= LIMIT or not inner):
        found = [e for v in values for e in elements(b, v, inner)]
        small = Small(first.base, (len(values), *inner), tuple(found))
        return small if len(found) <= LIMIT else b.array(small)
    extents = (integer(len(values)), *extents_of(first))
    arrays = [b.array(v) for v in values]
    zeros = (integer(0),) * (len(extents) - 1)
    parts = [
        ((integer(k), *zeros), (integer(k + 1), *extents[1:]), lambda i, a=a: b.load(a, i[1:]))
        for k, a in enumerate(arrays)
    ]
    return partitioned(b, extents, first.base, parts)


def constant(b: Builder, base: str, extents: tuple[int, ...], found: Sequence[int | float | bool]) -> Value:
    """A constant of the program."""
    atoms = tuple(g.Const(base, v) for v in found)
    if not extents:
        return atoms[0]
    small = Small(base, extents, atoms)
    return small if len(atoms) <= LIMIT else b.array(small)


# ---------------------------------------------------------------- selections and comprehensions with dots


def cut(b: Builder, spec: str, cell: int, value: Value, at: Sequence[Value]) -> Value:
    """`a[i, ., j]`: letter by letter an index, or a kept axis; "*" keeps all others."""
    extents = extents_of(value)
    spare = len(extents) - cell - len(spec.replace("*", ""))
    if spare < 0:
        raise Fails("a selection has at most as many indices and dots as the array has axes")
    full = (spec.replace("*", "." * spare) if "*" in spec else spec + "." * spare) + "." * cell
    given = iter([need_scalar(v, "an index beside dots is a scalar") for v in at])
    index = [next(given) if letter == "i" else None for letter in full]
    b.in_range([i for i in index if i is not None], [n for i, n in zip(index, extents) if i is not None])
    kept = [n for i, n in zip(index, extents) if i is None]
    leading = len(full) - len(full.lstrip("i"))
    if "i" not in full[leading:]:
        return sel(b, small_vector([i for i in index if i is not None]), value, 0)
    return _gathered(b, value, kept, lambda inner: _merged(index, inner))


def _merged(index: Sequence[g.Atom | None], inner: Sequence[g.Atom]) -> list[g.Atom]:
    """An index from fixed components and those of the kept axes."""
    moving = iter(inner)
    return [next(moving) if i is None else i for i in index]


def _gathered(b: Builder, value: Value, kept: Sequence[g.Atom], where: object) -> Value:
    """A new array of extents `kept`, whose elements are found at `where` of their index."""
    assert callable(where)
    sizes = constants_of(tuple(map(b.same, kept)))
    if sizes is not None and prod(sizes) <= LIMIT:
        found = [sel(b, small_vector(where([integer(k) for k in at])), value, 0) for at in indices(sizes)]
        return _of(value.base, sizes, [need_scalar(v, "an element is a scalar") for v in found])
    array = b.array(value)
    return mapped(b, kept, value.base, lambda i: b.load(array, where(i)))


def place(b: Builder, spec: str, cell: int, value: Value) -> Value:
    """The axes of a comprehension's value where the dots stand on its left side."""
    if is_scalar(value):
        return value
    extents = extents_of(value)
    order = place_order(spec, len(extents) - cell - spec.count("i"))
    if order is None:
        raise Fails("the left side of a comprehension keeps at most the axes of its value")
    order = [*order, *(k for k in range(len(extents)) if k not in order)]
    if order == sorted(order):
        return value
    return _gathered(b, value, [extents[k] for k in order], lambda i: [i[order.index(k)] for k in range(len(order))])
