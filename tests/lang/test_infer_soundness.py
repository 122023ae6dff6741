"""Less knowledge never contradicts more: the rules of the primitives are monotone, so what is inferred holds for every
actual value."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sacpy.lang.infer_operation import carries_cell
from sacpy.lang.infer_primitives import RULES, Operation, apply
from sacpy.lang.lattice import constant, is_below, join, meet, widen
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.shape_problems import Fails
from sacpy.lang.types import ANY, BOTTOM, BUILTIN, Scalar, Shape

EXTENTS = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def actual(draw: st.DrawFn, base: str) -> Shape:
    """A value."""
    extents = draw(EXTENTS)
    count = 1
    for extent in extents:
        count *= extent
    small: st.SearchStrategy[Scalar] = {
        "bool": st.booleans(),
        "double": st.sampled_from([-1.5, -0.0, 0.0, 2.0]),
        "float": st.sampled_from([-1.5, 0.0, 2.0]),
    }.get(base, st.integers(0, 3))
    return constant(extents, [draw(small) for _ in range(count)])


@st.composite
def weaker(draw: st.DrawFn, shape: Shape) -> Shape:
    """Something that is known of a value."""
    keep = draw(st.integers(0, 4))
    if keep == 4 or shape.extents is None or shape.rank is None:
        return shape
    if keep == 3:
        return Shape(shape.rank, shape.extents, shape.rank)
    if keep == 2:
        return Shape(shape.rank, tuple(e if draw(st.booleans()) else None for e in shape.extents), shape.rank)
    return Shape(min_rank=draw(st.integers(0, shape.rank)) if keep else 0)


@st.composite
def operations(draw: st.DrawFn) -> tuple[Operation, Operation]:
    op = draw(st.sampled_from(sorted(RULES)))
    row = PRIMITIVES[op]
    shared = draw(st.sampled_from([b for b in row.over if b in BUILTIN]))
    kinds = [kind for kind in row.args if kind != "..."]
    attrs: tuple[object, ...] = ()
    if op in ("slice", "place"):
        spec = draw(st.text("i.", max_size=3)) + draw(st.sampled_from(["", "*"])) + draw(st.text("i.", max_size=2))
        attrs = (spec,)
        kinds += ["int"] * spec.count("i") if op == "slice" else []
    bases = tuple(shared if kind == "T" else kind for kind in kinds)
    shapes = [draw(actual(base)) for base in bases]
    if op == "sel" and draw(st.booleans()):
        shapes[0] = constant((draw(st.integers(0, 3)),), None)
        shapes[0] = constant(shapes[0].extents or (), [draw(st.integers(0, 1))] * (shapes[0].extents or (0,))[0])  # type: ignore[arg-type]
    cell = draw(st.integers(0, 1)) if row.structural else 0
    carrying = [s.rank or 0 for k, s in enumerate(shapes) if carries_cell(op, k)]
    cell = min([cell, *carrying])  # an array has its elements' own axes
    letters = (
        draw(st.sampled_from(["", *["".join(draw(st.sampled_from("SVA")) for _ in kinds)]]))
        if op not in ("slice", "place")
        else ""
    )
    known = Operation(op, bases, tuple(shapes), letters, cell, attrs)
    less = Operation(op, bases, tuple(draw(weaker(s)) for s in shapes), letters, cell, attrs)
    return known, less


@settings(max_examples=500, deadline=None)
@given(operations())
def test_rules_are_monotone(pair: tuple[Operation, Operation]) -> None:
    known, less = pair
    try:
        exact = apply(known)
    except Fails:
        assume(False)
    assert is_below(exact, apply(less)), (known, less, exact, apply(less))


SHAPES = actual("int").flatmap(weaker) | st.sampled_from([ANY, BOTTOM])


@settings(max_examples=300, deadline=None)
@given(SHAPES, SHAPES)
def test_join_and_meet_are_bounds(a: Shape, b: Shape) -> None:
    assert is_below(a, join(a, b)) and is_below(b, join(a, b))
    assert is_below(meet(a, b), Shape(a.rank, a.extents, a.min_rank) if not a.never else a)
    assert join(a, a) == a and meet(a, a) == a
    assert is_below(a, b) == (join(a, b) == b)


@settings(max_examples=300, deadline=None)
@given(st.lists(SHAPES, min_size=1, max_size=5))
def test_widening_ends(rounds: list[Shape]) -> None:
    state = BOTTOM
    for round_ in range(30):
        wider = widen(state, rounds[round_ % len(rounds)], ANY, round_)
        assert is_below(state, wider)
        if round_ > 15:
            assert wider == state
        state = wider
