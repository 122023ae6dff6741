"""Bugs put on purpose into what says what is combined, and into what obeys it, are found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sacpy.jit.ir.operations import GraphError
from sacpy.jit.passes import accumulating
from tests.jit import (
    test_combine,
    test_host_tiling,
    test_pass_accumulating,
    test_pass_reductions,
)
from tests.jit.mutation import Mutant, mutated
from tests.jit.pass_tools import unchanged

COMBINE, HOST = "sacpy.jit.analysis.combine", "sacpy.jit.host."
INTERIOR, ROWS = test_pass_accumulating.INTERIOR, test_pass_accumulating.ROWS


def step(name: str) -> Callable[[], None]:
    return lambda: test_combine.test_what_a_round_does(name)


def fold(name: str) -> Callable[[], None]:
    return lambda: test_combine.test_folds_that_are_reductions(name)


def stays(old: str, new: str, text: str = "") -> Callable[[], None]:
    text = text or test_pass_accumulating.product("ijk")
    assert old in text
    return lambda: unchanged(accumulating.run, text.replace(old, new))


def same(name: str) -> Callable[[], None]:
    return lambda: test_pass_accumulating.test_other_operations_and_ends_that_differ_from_row_to_row(name)


def lanes(name: str) -> Callable[[], None]:
    return lambda: test_host_tiling.test_any_step_is_done_in_order_lane_by_lane(name, "double", "f8")


def choice(test: str) -> Callable[[], None]:
    return lambda: test_pass_reductions.test_where_equal_ones_are_chosen_otherwise_the_choice_stays_as_it_is(
        "a, p", test
    )


MUTANTS: dict[Mutant, Callable[[], None]] = {
    Mutant("a difference is a sum", COMBINE, "step_of", "negative=True", "negative=False"): same("less"),
    Mutant(
        "any difference is of the old value", COMBINE, "step_of", "old, value = op.args\n", "value, old = op.args\n"
    ): (step("less")),
    Mutant(
        "the old value may be combined with itself",
        COMBINE,
        "step_of",
        "for old, value in (op.args, op.args[::-1]):\n            if isinstance(old, g.Var) and value != old",
        "for old, value in (op.args, op.args[::-1]):\n            if isinstance(old, g.Var)",
    ): stays("add z, t", "add z, z"),
    Mutant(
        "the lesser is the greater", COMBINE, "_choice", "rhs.args == (first, second)", "rhs.args != (first, second)"
    ): choice("le a, p"),
    Mutant(
        "what is chosen is not what is compared",
        COMBINE,
        "_choice",
        "rhs.code in _RELATIONS and set(rhs.args) == {old, value}",
        "rhs.code in _RELATIONS",
    ): step("another is compared"),
    Mutant("the sticky lesser is the greater", COMBINE, "_choice", "a[1].args[0] == old", "a[1].args[0] != old"): (
        step("sticky")
    ),
    Mutant(
        "NaN of the value is sticky", COMBINE, "_choice", 'g.Op("neq", (old, old))', 'g.Op("neq", (value, value))'
    ): step("NaN of the value"),
    Mutant(
        "a choice in which NaN goes is sticky",
        COMBINE,
        "_choice",
        "Step(code, old, value, (compared, s))",
        "Step(code, old, value, (compared, s), sticky=True)",
    ): step("least"),
    Mutant("others may use the new value", COMBINE, "Step.alone", "count[self.new.name] == 1 and", ""): step("used"),
    Mutant(
        "others may use the old value",
        COMBINE,
        "Step.alone",
        "names.count(name) == count[name]",
        "names.count(name) <= count[name]",
    ): step("the old one is used"),
    Mutant("equal ones are all the same", COMBINE, "function_of", '("lt", "gt")', '("lt", "le", "gt", "ge")'): choice(
        "le a, p"
    ),
    Mutant(
        "the operands of an extreme may change places",
        COMBINE,
        "function_of",
        'step.code not in ("min", "max")',
        "not before",
    ): lambda: test_pass_reductions.test_operands_of_an_extreme_stay_in_order("max a, p", "max val, p"),
    Mutant(
        "a fold's function may combine something else",
        COMBINE,
        "steps_of_fold",
        "step.negative or step.value != value",
        "step.negative",
    ): fold("something else"),
    Mutant("a fold may subtract", COMBINE, "steps_of_fold", "step.negative or ", ""): fold("a difference"),
    Mutant(
        "a fold's function may do more", COMBINE, "steps_of_fold", "taken == len(fold.combine.statements)", "True"
    ): fold("a check"),
    Mutant("a fold that stops early sees all", COMBINE, "cell_of", "o.stop is None and", ""): (
        test_combine.test_cells_that_are_folds
    ),
    Mutant("a cell's fold has one partition", COMBINE, "cell_of", "len(w.partitions) != 1\n            or ", ""): (
        test_combine.test_cells_that_are_folds
    ),
    Mutant("loops may step", COMBINE, "nest_of", "r.step == 1 and ", ""): stays("to l step 1", "to l step 2"),
    Mutant("terms may read the array", COMBINE, "nest_of", "parameters & free(g.Block(body))", "set()"): (
        stays("load u[i,k]", "load pk[i,k]")
    ),
    Mutant(
        "an element on the diagonal has two indices",
        COMBINE,
        "nest_of",
        "len(set(element.index)) != len(element.index)",
        "False",
    ): stays("pj[i,j]", "pj[i,i]", test_pass_accumulating.product("kij").replace("u[i,k]", "u[k,i]")),
    Mutant("any order is that of the loops inside", COMBINE, "nest_of", "counters == order", "True"): stays(
        "double t = mul x, y", "double t = pow x, y", test_pass_accumulating.product("kij")
    ),
    Mutant(
        "elements may be no box",
        COMBINE,
        "_is_box",
        "a.upper.name in inside for a in parallel",
        "False for a in parallel",
    ): stays("to m step", "to i step"),
    Mutant("indices may be negative", COMBINE, "_is_box", "and a.lower.value >= 0", ""): stays(
        "for j from 0", "for j from -2"
    ),
    Mutant(
        "ends may be loaded for each element",
        COMBINE,
        "_is_box",
        "isinstance(s.rhs, g.Op)",
        "isinstance(s.rhs, g.Op | g.Load)",
    ): test_combine.test_ends_that_are_loaded_stay,
    Mutant("an element's rounds may depend on other rounds", COMBINE, "_is_box", "free(bounds) & inside", "set()"): (
        test_combine.test_ends_that_depend_on_other_rounds_stay
    ),
    Mutant("rows of the array may come from elsewhere", COMBINE, "_of_cells", "and w.complete", ""): stays(
        "disjoint complete", "disjoint", ROWS
    ),
    Mutant("a part may have gaps", COMBINE, "_of_cells", "p.step is not None or ", ""): stays(
        "[e,w]", "[e,w] step [2,1] width [1,1]", INTERIOR
    ),
    Mutant(
        "any array may be changed",
        COMBINE,
        "_of_cells",
        "isinstance(operator, g.Modarray) and operator.array == array",
        "isinstance(operator, g.Modarray)",
    ): stays("modarray p\n", "modarray a\n", INTERIOR),
    Mutant("a row that is used twice is used once", COMBINE, "_element", "!= 1", "< 1"): (
        test_combine.test_a_row_that_is_used_elsewhere_stays
    ),
    Mutant("terms are mistaken for each other", HOST + "tiling", "Tiling.tile", "masks[v])):", "masks[v])[::-1]):"): (
        test_combine.test_two_different_steps_of_a_cell
    ),
    Mutant("the greatest is the least", HOST + "vectors", "Vectors.operation", 'rhs.code == "min" else', "True else"): (
        lanes("greatest")
    ),
    Mutant("NaN goes", HOST + "vectors", "Vectors.operation", 'f"or <', 'f"and <'): lanes("sticky"),
    Mutant(
        "the other one is chosen",
        HOST + "vectors",
        "Vectors.chosen",
        "{self.vector} {a}, {self.vector} {b}",
        "{self.vector} {b}, {self.vector} {a}",
    ): lanes("chosen"),
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_bug_is_found(mutant: Mutant) -> None:
    with mutated(mutant), pytest.raises((AssertionError, GraphError)):
        MUTANTS[mutant]()
