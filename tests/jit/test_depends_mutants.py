"""Bugs put on purpose into the analysis of dependence, and into what obeys it, are found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sacpy.lang.diagnostics import SacError
from tests.jit import test_depends, test_depends_judged, test_in_place, test_thread_updates, test_versions
from tests.jit.mutation import Mutant, mutated

ANALYSIS, KERNELS = "sacpy.jit.analysis.", "sacpy.jit.kernels."


def overwritten() -> None:
    test_depends_judged.test_what_may_be_overwritten_is_read_by_nobody_else(400, 10)


def rounds() -> None:
    test_depends_judged.test_rounds_that_may_run_at_once_depend_on_no_other(400, 10)


def cell(*case: str) -> Callable[[], None]:
    return lambda: test_depends.test_cells_that_are_arrays_read_others_only(*case, False)


def part(*case: str) -> Callable[[], None]:
    return lambda: test_depends.test_parts_and_other_extents_are_the_same_memory(*case, False)


def version(code: str, results: str) -> Callable[[], None]:
    return lambda: test_versions.test_results_are_versions_of_arrays(code, results, None)


def thread(name: str) -> Callable[[], None]:
    return lambda: test_thread_updates.test_what_is_used_again_stays_as_it_was(name)


MUTANTS: dict[Mutant, Callable[[], None]] = {
    Mutant(
        "any index along an axis of several is its own",
        ANALYSIS + "overlap",
        "_is_own",
        "distance(lower, upper, sums) == 1",
        "distance(lower, upper, sums) != 0",
    ): overwritten,
    Mutant(
        "a cell that is computed twice may be read",
        ANALYSIS + "depends",
        "may_share",
        "once or w.disjoint or len(w.partitions) < 2",
        "True",
    ): overwritten,
    Mutant(
        "only the own partition counts",
        ANALYSIS + "overlap",
        "Overlap.needed",
        "for q in self.w.partitions:",
        "for q in (p,):",
    ): overwritten,
    Mutant(
        "one of the indices that are selected from is enough",
        ANALYSIS + "overlap",
        "Overlap._along",
        "for a in _cases(at, self.ints.sums):",
        "for a in [*_cases(at, self.ints.sums)][:1]:",
    ): overwritten,
    Mutant(
        "the last row of an array is never read",
        ANALYSIS + "overlap",
        "Overlap._never",
        "never_negative(form - end)",
        "never_negative(form - end + 1)",
    ): overwritten,
    Mutant(
        "a condition lets the first row be read",
        ANALYSIS + "overlap",
        "Overlap._later",
        "forms.form(q.lower[k]) - 1 - form",
        "forms.form(q.lower[k]) - form",
    ): overwritten,
    Mutant(
        "a condition holds for the best index only",
        "sacpy.withloop.linear",
        "Bounds.least",
        "0 if c > 0 else 1",
        "1 if c > 0 else 0",
    ): overwritten,
    Mutant("widths are not looked at", ANALYSIS + "overlap", "Overlap._off", "first < width or ", ""): overwritten,
    Mutant(
        "an index ends before the last",
        ANALYSIS + "forms",
        "Forms._index",
        "[upper - 1]",
        "[upper - 2]",
    ): overwritten,
    Mutant(
        "of what begins later it is forgotten where",
        ANALYSIS + "forms",
        "Forms.reached",
        "offset + (first - name(i)) * c",
        "offset - name(i) * c",
    ): overwritten,
    Mutant("a step's last round is left out", ANALYSIS + "forms", "_rounds", "-(-length // step)", "length // step"): (
        overwritten
    ),
    Mutant(
        "strips may touch",
        ANALYSIS + "depends",
        "_Rounds._never_meet",
        "abs(w.pace) - 1",
        "abs(w.pace)",
    ): rounds,
    Mutant(
        "what moves otherwise is not looked at",
        ANALYSIS + "depends",
        "_Rounds._never_meet",
        "(w.pace != u.pace or not w.pace) and self._outside(u, w)",
        "w.pace != u.pace or not w.pace",
    ): rounds,
    Mutant(
        "who has left what later rounds get to has left it for earlier ones",
        ANALYSIS + "depends",
        "_Rounds._never_meet",
        "if later and earlier:",
        "if later or earlier:",
    ): rounds,
    Mutant(
        "products are sums", ANALYSIS + "forms", "Forms._form", "self.form(x, depth - 1) * int(y.value)", "self.form(x)"
    ): overwritten,
    Mutant(
        "a part is at the front",
        ANALYSIS + "access",
        "_at",
        "Access((*before.index, *index), element)",
        "Access(index, element)",
    ): part("[3,0] <= [i,j] < [8,6]", "row[0]"),
    Mutant(
        "what a body gives is not read",
        ANALYSIS + "access",
        "accesses",
        "for a in b.results:",
        "for a in ():",
    ): cell("[1] <= [i] < [n]", "up", "u[0,j]", "row"),
    Mutant(
        "branches may give different arrays",
        ANALYSIS + "versions",
        "Followed._branches",
        "if ends[0] != ends[1]:",
        "if False:",
    ): version(test_versions.BRANCH.format(then="v", otherwise="b"), "n, u"),
    Mutant(
        "an old version may be used",
        ANALYSIS + "versions",
        "Followed._update",
        "self._move(array, target.name)",
        "self.now[array] = target.name",
    ): version("double[n] u = update a[k] with x", "n, a, n, u"),
    Mutant(
        "the next statement's uses are not seen",
        KERNELS + "liveness",
        "Level.names",
        "last > self.at",
        "last > self.at + 1",
    ): thread("in one branch"),
    Mutant(
        "the next round's uses are not seen",
        KERNELS + "thread",
        "Thread._for",
        "with self.live.kept(self.env, inside):",
        "with self.live.kept(self.env, ()):",
    ): thread("looked at in the next round"),
    Mutant(
        "the next cell's uses are not seen",
        KERNELS + "nests",
        "_Folding.run",
        "t.live.kept(t.env, self.next_round())",
        "t.live.kept(t.env, ())",
    ): thread("looked at for the next cell"),
    Mutant(
        "what is carried twice is carried once",
        KERNELS + "thread",
        "Thread._dying",
        "== 1",
        ">= 1",
    ): thread("carried twice"),
    Mutant(
        "a device does not ask whether a condition holds",
        "sacpy.jit.device.loops",
        "DeviceLoop._holds",
        "total >= 0",
        "True",
    ): lambda: test_in_place.test_where_what_is_read_may_change_the_code_looks_when_it_runs(11),
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_bug_is_found(mutant: Mutant) -> None:
    pytest.importorskip("islpy")
    with mutated(mutant), pytest.raises((AssertionError, SacError)):
        MUTANTS[mutant]()
