"""Bugs put into array short-circuiting on purpose are found: each by a function whose result is another one then, or
which asks for more arrays than it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.failures import CheckFailed
from tests.jit.circuit_tools import arrays
from tests.jit.mutation import Mutant, mutated
from tests.jit.test_circuits import (
    ELSEWHERE,
    SC,
    TABLE,
    A,
    B,
    V,
    test_an_array_that_is_taken_over_is_whole_after_a_failed_check,
)

PLANNER, OLD, PLACES, MAKERS, WHOLE, OPENINGS = (
    "sacpy.jit.analysis.planner",
    "sacpy.jit.analysis.overwritten",
    "sacpy.jit.analysis.projections",
    "sacpy.jit.analysis.makers",
    "sacpy.jit.passes.whole_for_part",
    "sacpy.jit.host.openings",
)

# Where bugs show that the functions of `test_circuits` do not see.
MORE: dict[str, tuple[str, tuple[Any, ...]]] = {
    "side by side": (
        """double[.,.] f(double[n,m] a, double[n,k] b) { x = swept(a); y = swept(b);
             return with { ([0,0] <= [i,j] < [n,m]) : x[i,j]; ([0,m] <= [i,j] < [n,m + k]) : y[i,j - m]; }
             : genarray([n,m + k], 0.0); }""",
        (A, B),
    ),
    "the first ones": (
        """double[.] f(double[n] a, int k) { r = there(a); m = n + k;
             return with { ([0] <= [i] < [k]) : r[i]; ([k] <= [i] < [m]) : r[i - k]; } : genarray([m], 0.0); }""",
        (V, 4),
    ),
    "and as many zeros": ("double[.] f(double[n] a) { return there(a) ++ genarray([n], 0.0); }", (V,)),
    "the first of a row": (
        """double[n,m] f(double[n,m] a) { for (i = 0; i < n - 1; i++) { r = a[i];
             for (j = 1; j < m; j++) { s = 0.0; for (k = i; k < n; k++) { s = 0.5 * s + a[k,j - 1]; }
               r[j] = r[j - 1] + s; } a[i] = r; } return a; }""",
        (A,),
    ),
    "the last of a block": (
        """double[n,m] f(double[n,m] a) { for (c = 0; c < n - 9; c += 9) {
             t = { [i,j] -> a[c + i,j] | [i,j] < [9,m] };
             for (i = 8; i >= 0; i--) { for (j = 0; j < m; j++) { t[i,j] = t[i,j] + a[c + 8,j]; } }
             a = with { ([c,0] <= [i,j] < [c + 9,m]) : t[i - c,j]; } : modarray(a); } return a; }""",
        (A,),
    ),
    "the row is read once more": (
        """double[n,m], double f(double[n,m] a) { x = 0.0; for (i = 0; i < n; i++) { r = a[i];
             for (j = 1; j < m; j++) { r[j] = r[j - 1] + r[j]; x = 0.5 * x + a[i,j]; } a[i] = r; }
             return (a, x); }""",
        (A,),
    ),
    "transposed in its place": (
        """double[n,n] f(double[n,n] a, int b) { for (k = 0; k < n / b; k++) { r = k * b;
             t = swept({ [i,j] -> a[r + j, r + i] | [i,j] < [b,b] });
             a = with { ([r,r] <= [i,j] < [r + b,r + b]) : t[i - r,j - r]; } : modarray(a); } return a; }""",
        (A[:40].copy(), 7),
    ),
    "a row that begins with the one before": (
        """double[n,m] f(double[n,m] a) { for (i = 1; i < n; i++) { r = a[i - 1];
             for (j = 1; j < m; j++) { r[j] = r[j - 1] * 0.5 + r[j]; } a[i] = r; } return a; }""",
        (A,),
    ),
    "a whole that is changed": (
        "double[.], double[.] f(double[n] a) { r = there(a); w = r ++ a; w[0] = 5.0; return (w, r); }",
        (V,),
    ),
    "one row": (
        """double[n,m] f(double[n,m] a, int k) { r = a[k]; for (j = 1; j < m; j++) { r[j] = r[j] + r[j - 1]; }
             a[k] = r; return a; }""",
        (A, 3),
    ),
    "with an older version": (
        """double[.] f(double[n] a) { r = sc(a); s = r; for (j = 2; j < n; j++) { s[j] = s[j - 2] - s[j]; }
             return s ++ [r[3] + r[n - 1]]; }""",
        (V,),
    ),
    "blocks from elsewhere": (
        """double[n,m] f(double[n,m] a, double[k,l] c, int b) { for (r = b; r < n - b; r += b) {
             t = swept({ [i,j] -> 2.0 * c[i,j] | [i,j] < [b,b] });
             a = with { ([r,b] <= [i,j] < [r + b,b + b]) : t[i - r,j - b]; } : modarray(a); } return a; }""",
        (A, B, 7),
    ),
}

MUTANTS: dict[Mutant, str] = {
    Mutant(
        "what is needed later is overwritten",
        PLANNER,
        "Planner.judged",
        "any(k > number for k in self.makers.users.get(part.name, ()))",
        "False",
    ): "a whole that is changed",
    Mutant(
        "what is read meanwhile is overwritten",
        PLANNER,
        "Planner.judged",
        "if not old.stays_readable(first, number, starts_there=starts_there):",
        "if False:",
    ): "the row is read behind what has been set",
    Mutant(
        "columns of a wider matrix count as side by side",
        PLACES,
        "is_contiguous",
        "form(n) == form(m)",
        "True",
    ): "side by side",
    Mutant(
        "the end of a part is not looked at",
        PLACES,
        "copied_part",
        "or upper[k] - lower[k] != form(extent)",
        "",
    ): "the first ones",
    Mutant(
        "a part begins where it ends", PLACES, "copied_part", "Shift(axis, p.lower[k])", "Shift(axis, p.upper[k])"
    ): "and as many zeros",
    Mutant(
        "where loops begin is taken too high",
        "sacpy.jit.analysis.forms",
        "Forms._index",
        "[lower], [upper - 1])",
        "[lower + 1], [upper - 1])",
    ): "the first of a row",
    Mutant(
        "an index at the end counts as behind it",
        OLD,
        "Old.covered",
        "self.extents[a.axis])",
        "self.extents[a.axis] - 1)",
    ): "the last of a block",
    Mutant(
        "a row has nothing in it",
        OLD,
        "Old.covered",
        "(self.form(a), 1)",
        "(self.form(a), 0)",
    ): "the row is read by a second loop",
    Mutant(
        "what comes earlier counts as later",
        OLD,
        "_Writer.comes_later",
        "return ahead * step > 0 and ahead % step == 0",
        "return True",
    ): "the row is read behind what has been set",
    Mutant(
        "what is read behind its update counts as before",
        OLD,
        "_Writer.comes_later",
        "return any(s is load for s in self.before)",
        "return True",
    ): "the row is read once more",
    Mutant(
        "a second loop may read what the first has set",
        OLD,
        "Old.stays_readable",
        "number == setter)",
        "True)",
    ): "the row is read by a second loop",
    Mutant(
        "any copy counts as that of the part",
        OLD,
        "Old.is_copy",
        "index[k] == name(i.name)",
        "True",
    ): "transposed in its place",
    Mutant(
        "a view of any row counts as that of the part",
        OLD,
        "Old.is_there",
        "self.form(a) == self.form(b)",
        "True",
    ): "a row that begins with the one before",
    Mutant(
        "loops that keep an older version are placed",
        MAKERS,
        "Makers.chain",
        "k < number and ",
        "",
    ): "with an older version",
    Mutant(
        "an index is not shifted",
        WHOLE,
        "_Mover.index",
        "self.sum(a.start, index[a.axis], made)",
        "index[a.axis]",
    ): "blocks",
    Mutant(
        "what is read of the array is what it was",
        WHOLE,
        "_Mover.end",
        "now = self.versions[self.c.part.name]",
        "now = self.onto",
    ): "blocks",
    Mutant(
        "a partition of the part ends too early",
        WHOLE,
        "_Mover.partition",
        "upper.append(self.sum(a.start, p.upper[a.axis], made))",
        "upper.append(p.upper[a.axis])",
    ): "blocks from elsewhere",
    Mutant(
        "a part lies at the beginning of the whole",
        OPENINGS,
        "Openings.place",
        "at = element_address(w.code, room, flat(w.code, first, room.extents))",
        "at = room.data",
    ): "sc(..) ++ sc(..)",
    Mutant(
        "an array that others hold is written to",
        OPENINGS,
        "Openings.open",
        "elif not array.unique:",
        "elif False:",
    ): "one row",
}


def finds(name: str) -> bool:
    """Whether a function shows that something is wrong."""
    text, args = TABLE[name][:2] if name in TABLE else (ELSEWHERE | MORE)[name]
    try:
        arrays(SC + text, "f", *(a.copy() if isinstance(a, np.ndarray) else a for a in args))
    except (AssertionError, CheckFailed):
        return True
    return False


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_bug_is_found(mutant: Mutant) -> None:
    with mutated(mutant):
        assert finds(MUTANTS[mutant])


@pytest.mark.parametrize("name", MORE)
def test_without_bugs_there_is_nothing_to_find(name: str) -> None:
    assert not finds(name)


def test_that_an_array_is_changed_before_a_check_fails_is_found() -> None:
    early = Mutant(
        "an array that was given away is changed before the last check",
        PLANNER,
        "Planner.judged",
        "if onto.name in self.given and any(",
        "if any(()) and any(",
    )
    test_an_array_that_is_taken_over_is_whole_after_a_failed_check()
    with mutated(early), pytest.raises(AssertionError):
        test_an_array_that_is_taken_over_is_whole_after_a_failed_check()
