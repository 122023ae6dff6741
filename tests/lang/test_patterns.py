"""Matching patterns against known and partly known shapes, and the plan of the same check."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.lang import plan as p
from sacpy.lang.core import Signature
from sacpy.lang.lattice import at_least, constant, scalar, vector
from sacpy.lang.patterns import instantiate, match_arguments, match_results, names_of
from sacpy.lang.types import ANY, SCALAR, Shape, known, of_rank
from tests.lang.coretools import sig


def texts(signature: Signature, *shapes: Shape) -> list[str]:
    return [v.text for v in match_arguments(signature, shapes).violations]


MATMUL = sig("matmul", [("double", "a", "n,k"), ("double", "b", "k,m")], [("double", "", "n,m")])
REDUCE = sig(
    "reduce", [("int", "axis", None), ("double", "a", "axis:oshp,n,i:ishp")], [("double", "", "axis:oshp,i:ishp")]
)
SELECT = sig("select", [("int", "idx", "o"), ("double", "a", "o:oshp,i:ishp")], [("double", "", "i:ishp")])


def test_names_unify_and_instantiate_the_result() -> None:
    found = match_arguments(MATMUL, [known((2, 3)), known((3, None))])
    assert not found.violations
    assert instantiate(MATMUL.results[0], found.bindings) == known((2, None))


def test_a_disagreement_names_both_sides() -> None:
    assert texts(MATMUL, known((2, 3)), known((4, 5))) == [
        "argument 2 (b) is double[4,5] but takes double[k,m], where k is 4, but k is 3 in argument 1 (a)"
    ]


def test_all_violations_are_found_together() -> None:
    signature = sig("f", [("int", "a", "n"), ("int", "b", "n"), ("int", "c", "3,n")], [])
    assert len(texts(signature, known((2,)), known((4,)), known((9, 5)))) == 3


def test_unknown_extents_violate_nothing() -> None:
    assert texts(MATMUL, of_rank(2), of_rank(2)) == []
    assert texts(MATMUL, ANY, at_least(2)) == []
    assert texts(MATMUL, at_least(3), of_rank(2)) == [
        "argument 1 (a) is double[.,.,.,*] but takes double[n,k], which needs rank 2"
    ]


def test_a_rank_given_by_another_arguments_value() -> None:
    found = match_arguments(REDUCE, [scalar(1), known((2, 3, 4, 5))])
    assert not found.violations
    assert found.bindings.shapes == {"oshp": (2,), "ishp": (4, 5)}
    assert found.bindings.ints == {"axis": 1, "n": 3, "i": 2}
    assert instantiate(REDUCE.results[0], found.bindings) == known((2, 4, 5))


def test_a_rank_of_unknown_value_leaves_the_slices_open() -> None:
    found = match_arguments(REDUCE, [SCALAR, known((2, 3, 4))])
    assert not found.violations
    assert found.bindings.shapes == {"oshp": None, "ishp": None}
    assert instantiate(REDUCE.results[0], found.bindings) == ANY


def test_a_rank_out_of_range_is_a_violation() -> None:
    assert texts(REDUCE, scalar(2), known((2, 3))) == [
        "argument 2 (a) is double[2,3] but takes double[axis:oshp,n,i:ishp], which needs rank at least 3 (the "
        "argument axis is 2)"
    ]
    assert texts(REDUCE, scalar(-1), known((2, 3))) == [
        "argument 2 (a) takes double[axis:oshp,n,i:ishp], which needs axis to be at least 0, but the argument axis is "
        "-1"
    ]


def test_a_rank_given_by_another_arguments_extent() -> None:
    found = match_arguments(SELECT, [known((2,)), known((3, 4, 5))])
    assert found.bindings.shapes == {"oshp": (3, 4), "ishp": (5,)}
    assert texts(SELECT, known((2,)), known((3,))) != []


def test_a_parameter_may_be_the_shape_itself() -> None:
    signature = sig("f", [("int", "shp", "."), ("int", "a", "d:shp")], [])
    assert texts(signature, vector(2, [3, 4]), known((3, 4))) == []
    assert texts(signature, vector(2, [3, 4]), known((3, 5))) == [
        "argument 2 (a) is int[3,5] but takes int[d:shp], where shp is [3,5], but the argument shp is [3,4]"
    ]
    assert len(texts(signature, known((2,)), known((3, 5, 6)))) == 1
    plan = p.compile_plan(signature)
    assert p.TakeParameter("shp", 0) in plan.entry and not plan.unsolved


def test_two_arguments_of_one_shape_have_words_of_their_own() -> None:
    signature = sig("f", [("int", "a", "d>0:shp"), ("int", "b", "d>0:shp")], [])
    assert texts(signature, known((2, 3)), known((2, 4))) == [
        "argument 1 (a) and argument 2 (b) must have the same shape, but they are int[2,3] and int[2,4]"
    ]
    assert texts(signature, known((2, 3)), known((6,))) == [
        "argument 1 (a) and argument 2 (b) must have the same shape, but they are int[2,3] and int[6]"
    ]


def test_minimum_of_a_rank() -> None:
    signature = sig("f", [("int", "a", "d>1:shp")], [])
    assert texts(signature, known((3,))) == [
        "argument 1 (a) is int[3] but takes int[d>1:shp], which needs rank at least 2"
    ]
    assert texts(signature, known((3, 3))) == []


def test_underscore_ignores() -> None:
    signature = sig("f", [("int", "a", "_,_"), ("int", "b", "_:_,_")], [])
    found = match_arguments(signature, [known((3, 4)), known((1, 2, 3))])
    assert not found.violations and not found.bindings.ints and not found.bindings.shapes


def test_names_of_a_function_of_which_only_the_signature_is_known() -> None:
    names = names_of(sig("f", [("int", "a", "2:shp,n,*")], []))
    assert names.shape_of("shp") == known((2,))
    assert names.shape_of("n") == SCALAR
    assert names_of(REDUCE).shape_of("oshp") == of_rank(1)


def test_the_elements_own_axes_stay_out_of_the_names() -> None:
    signature = sig("f", [("double", "c", "d:shp", (2,))], [("double", "", "d:shp", (2,))])
    found = match_arguments(signature, [known((5, 2))])
    assert found.bindings.shapes == {"shp": (5,)}
    assert instantiate(signature.results[0], found.bindings) == known((5, 2))
    assert texts(signature, known((5, 3))) == ["argument 1 (c) is double[5,3] underneath, which is no array of double"]


def test_results_are_matched_with_the_arguments_names() -> None:
    bindings = match_arguments(MATMUL, [known((2, 3)), known((3, 4))]).bindings
    assert [v.text for v in match_results(MATMUL, [known((2, 5))], bindings).violations] == [
        "the result is double[2,5] but is declared as double[n,m], where m is 5, but m is 4 in argument 2 (b)"
    ]


def test_slices_that_nothing_fixes_are_an_error_of_the_definition() -> None:
    assert p.compile_plan(sig("f", [("int", "a", "o:oshp,i:ishp")], [])).unsolved == ("int[o:oshp,i:ishp]",)


def test_a_rank_used_twice_is_half() -> None:
    signature = sig("f", [("int", "a", "d:s,d:t")], [])
    assert match_arguments(signature, [known((1, 2, 3, 4))]).bindings.shapes == {"s": (1, 2), "t": (3, 4)}
    assert len(texts(signature, known((1, 2, 3)))) == 1
    assert not p.compile_plan(signature).unsolved


def passes(signature: Signature, arguments: Sequence[Shape]) -> bool:
    """Runs a plan's entry steps the slow way."""
    ints: dict[str, int] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    extents = [tuple(e or 0 for e in a.extents or ()) for a in arguments]

    def length(x: p.Length) -> int:
        return x.fixed + sum(ints[n] for n in x.names)

    def axis(arg: int, place: p.Place) -> int:
        return len(extents[arg]) - length(place.length) if place.from_back else length(place.length)

    for step in p.compile_plan(signature).entry:
        ok = True
        match step:
            case p.RankIs(arg, rank):
                ok = len(extents[arg]) == length(rank)
            case p.RankAtLeast(arg, rank):
                ok = len(extents[arg]) >= length(rank)
            case p.ExtentIs(arg, place, value):
                ok = extents[arg][axis(arg, place)] == value
            case p.TakeParameter(name, arg):
                values = tuple(int(v) for v in arguments[arg].value or ())
                if extents[arg] == ():
                    ints[name] = values[0]
                else:
                    shapes[name] = values
            case p.BindExtent(name, arg, place):
                ints[name] = extents[arg][axis(arg, place)]
            case p.CheckExtent(name, arg, place):
                ok = extents[arg][axis(arg, place)] == ints[name]
            case p.BindRank(name, arg, rest, times):
                ints[name], left = divmod(len(extents[arg]) - length(rest), times)
                ok = ints[name] >= 0 and left == 0
            case p.BindLength(name, shape):
                ints[name] = len(shapes[shape])
            case p.AtLeast(name, minimum):
                ok = ints[name] >= minimum
            case p.BindShape(name, arg, start, stop):
                shapes[name] = extents[arg][axis(arg, start) : axis(arg, stop)]
            case p.CheckShape(name, arg, start, stop):
                ok = extents[arg][axis(arg, start) : axis(arg, stop)] == shapes[name]
        if not ok:
            return False
    return True


FEATURES = st.lists(st.sampled_from([".", "2", "n", "m", "d:s", "d>0:s", "2:t", "i:u", "_"]), max_size=4).map(",".join)
EXTENTS = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(FEATURES, EXTENTS), min_size=1, max_size=3), st.integers(-1, 3))
def test_plan_and_matcher_agree_on_actual_shapes(slots: list[tuple[str, tuple[int, ...]]], i: int) -> None:
    signature = sig(
        "f", [("int", "i", None), *(("int", f"a{k}", features) for k, (features, _) in enumerate(slots))], []
    )
    plan = p.compile_plan(signature)
    if plan.unsolved:
        return
    arguments = [scalar(i), *(constant(extents, None) for _, extents in slots)]
    assert passes(signature, arguments) == (not match_arguments(signature, arguments).violations)


def test_a_rank_that_a_later_argument_binds_is_known_to_the_earlier_ones() -> None:
    signature = sig("f", [("int", "a", "n:s,m:t"), ("int", "b", "n:s")], [("int", "", "m:t")])
    found = match_arguments(signature, [known((2, 3, 4)), known((2, 3))])
    assert not found.violations
    assert instantiate(signature.results[0], found.bindings) == known((4,))
