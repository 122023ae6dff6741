"""Bugs put into the compiler on purpose are found by the battery: each by one of its functions, and there is none
without a bug."""

from __future__ import annotations

import pytest

from tests.jit import battery
from tests.jit.mutation import Mutant, mutated

ANALYSIS, LLVM, PASSES, HOST, SCHEDULE, SPECIALISE = (
    "sacpy.jit.analysis.",
    "sacpy.jit.llvm.",
    "sacpy.jit.passes.",
    "sacpy.jit.host.",
    "sacpy.jit.schedule.",
    "sacpy.jit.specialise.",
)

MUTANTS: dict[Mutant, str] = {
    # What the specialiser may get wrong.
    Mutant(
        "a guard is dropped",
        SPECIALISE + "emit",
        "Builder.in_range",
        'self.check(self.op("lt", i, n), "the index lies in the array")',
        "pass",
    ): "picked",
    Mutant(
        "an inclusive upper bound is taken as exclusive",
        SPECIALISE + "indexsets",
        "box",
        "1 if p.upper_inclusive else 0",
        "0",
    ): "overlap",
    Mutant("a width beyond the step is kept", SPECIALISE + "indexsets", "box", 'b.op("min", w, s)', "w"): "strided",
    Mutant(
        "unknown steps count as none",
        SPECIALISE + "unrolling",
        "unrolled",
        "any(where.points() is None for where in boxes)",
        "False",
    ): "small",
    # What passes may get wrong.
    Mutant(
        "of overlapping partitions the last is folded",
        PASSES + "fold_withloops",
        "_Folder.chosen",
        "partitions[0], partitions[1:]",
        "partitions[-1], partitions[:-1]",
    ): "covered",
    Mutant(
        "a folded partition has no lower bound",
        PASSES + "fold_withloops",
        "_Folder.membership",
        'tests.append(op("le", p.lower[k], i))',
        "pass",
    ): "covered",
    Mutant(
        "the border of a split is left out",
        PASSES + "split",
        "Splitter.sliced",
        "border.append(box.part(axis, lower, inner_lower))",
        "pass",
    ): "border",
    Mutant(
        "the end of what steps begins anywhere",
        PASSES + "split",
        "Splitter.stepped",
        "inner_upper, away)",
        "inner_upper, g.integer(0))",
    ): "torus",
    Mutant(
        "disjoint pieces leave a row out",
        PASSES + "disjoint",
        "_Divider.without",
        "(above, upper[k])",
        "(upper[k], above)",
    ): "boxes",
    Mutant(
        "what a branch has computed is known in the other",
        PASSES + "walker",
        "Walker.scoped",
        "while len(self._trail) > mark:",
        "while False:",
    ): "guarded",
    Mutant(
        "subtraction counts as commutative",
        PASSES + "cse",
        "key_of",
        "if code in COMMUTATIVE:",
        'if code in COMMUTATIVE or code == "sub":',
    ): "differences",
    Mutant(
        "a hoisted check looks at the wrong end",
        PASSES + "invariant",
        "_Mover.least_of",
        "0 if c > 0 else 1",
        "1 if c > 0 else 0",
    ): "ahead",
    Mutant(
        "a proof that nothing wraps is not made",
        PASSES + "summing",
        "Known.fits",
        "facts = self.facts",
        "return True",
    ): "near",
    Mutant(
        "a comparison is learnt too strongly",
        PASSES + "learning",
        "Learned.assume",
        "self.learn(up.offset(-1))",
        "self.learn(up.offset(-2))",
    ): "edge",
    Mutant(
        "a counting loop ends a round early", PASSES + "counting", "_Counting.end", "1 if up else -1", "0 if up else -1"
    ): "triangle",
    Mutant(
        "an unrolled loop leaves a round out",
        PASSES + "unroll",
        "_rounds",
        "range(int(r.lower.value),",
        "range(int(r.lower.value) + 1,",
    ): "horner",
    Mutant(
        "fused loops load elsewhere",
        ANALYSIS + "depends",
        "own_cell",
        "uses(code)[array.name] == loads",
        "True",
    ): "neighbours",
    Mutant(
        "a loop forgets what only the next round uses",
        PASSES + "dead_code",
        "_Liveness.want",
        "r.params[k], r.initial[k], r.body.results[k]",
        "r.params[k], r.initial[k]",
    ): "settled",
    Mutant(
        "axes are swapped in a flattened loop",
        PASSES + "flatten",
        "flat",
        "(*p.index, *inner.index)",
        "(*inner.index, *p.index)",
    ): "rows",
    Mutant(
        "a loop that reads other elements counts as independent",
        PASSES + "loops_to_withloops",
        "_sets",
        "u.access.element and u.access.index == index",
        "u.access.element",
    ): "chained",
    Mutant(
        "an element that a branch leaves alone is lost",
        PASSES + "loops_to_withloops",
        "_Converter.element",
        "return target",
        "return g.integer(0)",
    ): "wrapped",
    Mutant(
        "sums start from 0",
        PASSES + "accumulating",
        "_Summer.part",
        "fold_of([n.step], (first,), self.supply)",
        "fold_of([n.step], (g.Const(start.base, 0.0),), self.supply)",
    ): "weighed",
    Mutant(
        "a part of an assigned row is left out",
        PASSES + "assigning",
        "_Assigner.assign",
        "for p in w.partitions:",
        "for p in w.partitions[:1]:",
    ): "combed",
    Mutant(
        "a scratch array that is filled but for its start is each round's own",
        ANALYSIS + "depends",
        "_extent_of",
        "r.lower == g.integer(0)",
        "True",
    ): "drafted",
    Mutant(
        "a copy of two rows from one is a copy of both",
        PASSES + "parity_partitions",
        "_ParityCutter.copied",
        "offset(1)",
        "offset(2)",
    ): "edged",
    Mutant(
        "the other colour changes",
        PASSES + "parity_partitions",
        "_ParityCutter.chosen",
        "rest=1 - parity.rest",
        "rest=parity.rest",
    ): "spots",
    Mutant(
        "the last of a stretch is overlooked",
        PASSES + "argmin_strips",
        "_Chooser.any",
        "g.integer(STRETCH),",
        "g.integer(STRETCH - 1),",
    ): "foremost",
    Mutant(
        "sums along an axis are all the last one",
        PASSES + "jam",
        "_Jammer.jammed",
        "g.integer(k)}",
        "g.integer(extent - 1)}",
    ): "pulled",
    Mutant(
        "with-loops that share cells swap their results",
        PASSES + "fuse",
        "Fuser.fused",
        "(*p.body.results, *body.results)",
        "(*body.results, *p.body.results)",
    ): "unpacked",
    # What the host target may get wrong.
    Mutant(
        "two sums of a cell are mistaken for each other",
        HOST + "tiling",
        "Tiling.finish_cells",
        "zip(c.targets, memories)",
        "zip(c.targets, memories[::-1])",
    ): "complexes",
    Mutant(
        "a quotient is rounded up", HOST + "last_axes", "bind_quotients", "(r + offset) //", "(r + offset + 1) //"
    ): "finer",
    Mutant(
        "the last round is not checked ahead",
        HOST + "early_checks",
        "write_checks",
        'count_loop(lowering, "0", rounds, "1", body)',
        'count_loop(lowering, "1", rounds, "1", body)',
    ): "added",
    Mutant(
        "what wraps around is read though it changes",
        ANALYSIS + "overlap",
        "Overlap._off",
        "frozenset({multiple(extent, turn)})",
        "ALWAYS",
    ): "torus",
    Mutant(
        "points in between are changed",
        HOST + "last_axes",
        "blend_loop",
        "urem i64 {gone}, {step}",
        "urem i64 {gone}, 1",
    ): "chess",
    Mutant(
        "odd rows do not get their turn", HOST + "rows", "_write_turns", "rows.turns):", "rows.turns[:1]):"
    ): "chess",
    Mutant(
        "a tile forgets its last column",
        HOST + "tiling",
        "Tiling.finish_cells",
        'count_loop(low, "0", columns, "1", lambda x: cell(r, x))',
        'count_loop(low, "1", columns, "1", lambda x: cell(r, x))',
    ): "levelled",
    Mutant(
        "the last columns are forgotten",
        HOST + "tiling",
        "Tiling.columns",
        "count_loop(self.low, middle, upper, str(self.lanes * NARROW)",
        "count_loop(self.low, middle, middle, str(self.lanes * NARROW)",
    ): "weighed",
    Mutant("strides are swapped", HOST + "memory", "flat", "zip(index, extents)", "zip(index, extents[::-1])"): "relax",
    Mutant(
        "an argument is updated in place",
        HOST + "functions",
        "Lowering.enter",
        "self.owned(v) if isinstance(v, Array) and p.name in unique else v",
        "v",
    ): "kept",
    Mutant(
        "a cell is not copied to its place",
        HOST + "writer",
        "Writer.built",
        "if value.data != place.data:",
        "if False:",
    ): "laid",
    Mutant(
        "an array that is updated is not copied to its place",
        HOST + "functions",
        "Lowering.placed",
        "if source.data != place.data:",
        "if False:",
    ): "cells",
    Mutant(
        "an array stays in its place, though an older version is kept",
        ANALYSIS + "makers",
        "Makers.chain",
        "k < number and ",
        "",
    ): "versions",
    Mutant(
        "counting loops go by 1",
        HOST + "functions",
        "Lowering.rounds",
        "add nsw i64 {i}, {rhs.step}",
        "add nsw i64 {i}, 1",
    ): "triangle",
    Mutant("a product starts from 0", ANALYSIS + "folds", "_identity", "return 1\n", "return 0\n"): "least",
    Mutant(
        "a vector of a scan forgets those before it",
        HOST + "scanning",
        "Piece.scanned",
        "self.monoid.applied(code, before, old)",
        "before",
    ): "running",
    Mutant(
        "threads scan from the same start",
        HOST + "scan_chunks",
        "Vectors.applied",
        "self.monoid.applied(self.low.code, starts[0], element)",
        "starts[0]",
    ): "running",
    Mutant(
        "an exclusive scan is inclusive", HOST + "scanning", "Piece.scanned", "self.scan.exclusive", "False"
    ): "before",
    Mutant(
        "a failing check in a vector is not noted",
        HOST + "nests",
        "Nest.noted_body",
        'code.store("i8", "1", failed)',
        'code.store("i8", "0", failed)',
    ): "picked",
    Mutant(
        "a sum in 64 bits loses its constant",
        PASSES + "summing",
        "Known.long_of",
        'Const("long", s.constant)',
        'Const("long", min(s.constant, 0))',
    ): "shifted",
    Mutant(
        "every chunk starts from the neutral element",
        HOST + "parallel",
        "Spreading.inner_fold",
        "{type_} {identity(fold.reduction, k)}",
        "{type_} {code.load(type_, slot)}",
    ): "chosen",
    Mutant(
        "partial results of chunks are lost",
        HOST + "parallel",
        "join",
        'count_loop(low, "1", chunks',
        'count_loop(low, "2", chunks',
    ): "sums",
    Mutant(
        "unsigned numbers are compared as signed", LLVM + "scalars", "compare", "if base in SIGNED else", "if True else"
    ): "unsigned",
    Mutant(
        "a floored remainder has the dividend's sign",
        LLVM + "scalars",
        "_aplmod",
        "and i1 {nonzero}, {unlike}",
        "and i1 {nonzero}, false",
    ): "numbers",
    Mutant(
        "of overlapping partitions the last is written",
        SCHEDULE + "withloops",
        "schedule_of",
        "w.partitions[::-1] if backwards else w.partitions",
        "w.partitions",
    ): "overlap",
    # What the engine may get wrong.
    Mutant(
        "any version serves any call",
        "sacpy.jit.run.versions",
        "Versions.get",
        "known = self.versions.get(kind)",
        "known = next(iter(self.versions.values()), None)",
    ): "relax",
    Mutant(
        "compiled code is found again for other extents",
        "sacpy.jit.fingerprint",
        "Fingerprints.digest",
        "{kind!r}",
        "()",
    ): "relax",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_bug_is_found(mutant: Mutant) -> None:
    with mutated(mutant):
        found = battery.differs(MUTANTS[mutant])
    assert found


@pytest.mark.parametrize("strict_fp", [pytest.param(False, marks=pytest.mark.long), True])
def test_nothing_is_found_where_there_is_no_bug(strict_fp: bool) -> None:
    assert battery.differs(strict_fp=strict_fp) == ""


def test_the_battery_is_compiled() -> None:
    assert battery.functions_compiled() == 1.0
