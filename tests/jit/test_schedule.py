"""Schedules: what is said of how loops run, the laws of schedules, and faults of those who choose that these find."""

from __future__ import annotations

import re
from functools import cache
from textwrap import dedent

import numpy as np
import pytest

import sacpy
from sacpy.jit.host.lowering import lower
from sacpy.jit.ir import graph as g
from sacpy.jit.options import Options
from sacpy.jit.schedule.loops import Written
from sacpy.jit.schedule.nest_verify import ScheduleError
from sacpy.jit.schedule.schedule_printer import schedule_text
from tests.jit.graph_text import unit as parsed
from tests.jit.mutation import Mutant, mutated
from tests.jit.test_host_checks_ahead import loop
from tests.jit.test_host_dense_blend import COMB, FAR, TURNS
from tests.jit.test_host_hoisting import GATHERED, ROUNDS, ROWS, SHIFTED
from tests.jit.test_host_row_products import scores
from tests.jit.test_reach import WAYS, made

VERIFY = Options(threads=2, verify=True)
STRICT = Options(threads=2, verify=True, strict_fp=True)

# ---------------------------------------------------------------- what is said


def emitted(text: str) -> str:
    return sacpy.Session(target="cpu").emit("schedule", "f", text).split("\n", 1)[1]


def test_a_sum_has_lanes_and_threads() -> None:
    expected = """\
        function f(int a_n, double[a_n] a)
            w = with                                  one partition
                [0] <= [i] < [a_n]
                    i  threads by 64                  one axis: a chunk has whole cache lines
                    i  stretch 262144                 there may be more indices than a look at the stop flag may wait for
                    i  lanes 4 x 8                    a fold on reals that may be regrouped, in lanes that depend on the program alone
        """  # noqa: E501
    assert emitted("use Array: all; double f(double[.] a) { return sum(a); }") == dedent(expected)


def test_a_product_has_tiles_whose_size_is_the_processor_s() -> None:
    text = emitted(
        "use Array: all; double[.,.] f(double[m,k] a, double[k,n] b) { return {[i,j] -> sum(a[i] * b[.,j])}; }"
    )
    assert re.search(r"i  threads by 8, 48 or more +each chunk packs a whole matrix", text)
    assert re.search(r"j  tile \d+ .*\n +i  tile \d+ .*\n +i\.\d  serial +in order", text)


def test_what_stands_in_front_of_a_loop_is_named() -> None:
    text = emitted(
        "use Array: all; double[.,.] f(double[m,n] a, double[.] w, int[.] at) "
        "{ return {[i,j] -> a[i,j] * w[at[i]] | [i,j] < [m,n]}; }"
    )
    assert re.search(r"once: .*2 checks +it does not depend on the axes behind", text)


def test_in_a_loop_a_short_row_stands_in_place() -> None:
    rounds = "use Array: all; double[n] f(double[n] a, int k) {{ for (r = 0; r < k; r++) {{ {} }} return a; }}"
    text = emitted(rounds.format("a = a * 0.5 + tod(r);"))
    assert re.search(
        r"\[0\] <= \[(i\S*)\] < \[a_n\]\n +\1  threads by 64 .*\n +\1  serial .*\n"
        r" +short, in place +a call takes longer than some elements\n +\1  serial ",
        text,
    )
    dear = emitted(rounds.format("a = {[i] -> sum({[j] -> a[j] / tod(i + j + 1) | [j] < [n]}) | [i] < [n]};"))
    assert "threads" in dear and "short" not in dear  # loops stand in it


def test_explain_tells_what_is_special_about_a_loop() -> None:
    session = sacpy.Session(target="cpu")
    session.compile("use Array: all; double f(double[.] a) { return sum(a); }").f(np.ones(500_000))
    told = session.explain()
    assert re.search(r"i\S* on threads \(one axis", told) and re.search(r"in 4 x 8 lanes \(a fold on reals", told)


# ---------------------------------------------------------------- faults

FUNCTIONS = (
    *(
        (WAYS, f"{name}/0")
        for name in ("attention", "attended", "finer", "combs", "read", "blocks", "stripes", "anyLarge")
    ),
    ("programs/borders.sac", "mirrored/0"),
    ("programs/multigrid.sac", "scatter/0"),
    ("programs/conjugate_gradient.sac", "laplacian/0"),
    ("programs/components.sac", "components/0"),
    ("programs/gram_schmidt.sac", "orthonormal/0"),
    ("programs/gaussian_pairs.sac", "main/0@1"),
    ("tests/corpus/kernel-lava.sac", "main/0@2"),
    ("tests/corpus/kernel-ordered-folds.sac", "of_parts/0"),
    ("benchmarks/suite/attention/attention.sac", "run/0"),
)
LOOPS = """
function f(int m, int n, double[m,n] a, int first, double[n] v)
    double s = with
        fold from 0.0 by (double acc), (double val)
            double t = add acc, val
            give t
        part [0,0] <= [i,j] < [m,n]
            double w = for k from i to j step 1 with double s.1 := 0.0
                double t.1 = load a[i,k]
                double u = mul s.1, 0.5
                double s.2 = add u, t.1
                next s.2
            yield w
    double[m,n] r = with [m,n] disjoint
        genarray double default 0.0
        part [0,0] <= [i.1,j.1] < [m,n]
            double x = load a[i.1,j.1]
            yield x
        part [first,0] <= [i.2,j.2] < [m,0]
            yield 1.0
    double z = for k.1 from 0 to 100000 step 1 with double y := 0.0
        double y.1 = load v[0]
        double y.2 = mul y, y.1
        double y.3 = add y.2, 1.0
        next y.3
    return s, m, n, r, z
"""
BELOW = "int d = mul k, 2\n        bool w = lt d, 90\n        check w : it is small\n        "
SCALED = """double w.9 = for l from 0 to i step 1 with double s.9 := scale
                double u.9 = mul s.9, 0.5
                next u.9"""
CLAMPED = "int l = min i, 3\n            double y = load a[l]\n            yield y"
MESH = """
function f(int n, int m, double[n,m] a)
    double[n,m] r = with [n,m] disjoint
        genarray double default 0.5
        part [0,0] <= [i,j] < [n,m] step [1,2] width [1,1]
            double x = load a[i,j]
            yield x
        part [0,1] <= [i.1,j.1] < [n,m] step [1,2] width [1,1]
            bool ok = lt j.1, 90
            check ok : it is small
            yield 1.0
    return n, m, r
"""
UNLIKE = """
function f(int n, double[n,5] a)
    double[n,5] r = with [n] disjoint
        genarray double cell [5] default 0.0
        part [0] <= [i] < [n]
            double v = load a[i,0]
            double w = load a[i,1]
            double x = load a[i,2]
            double y = load a[i,3]
            double z = add v, w
            double[5] c = array [5] of v, w, x, y, z
            yield c
    return n, r
"""
GRAPHS = (
    MESH,
    UNLIKE,
    GATHERED, TURNS, FAR, LOOPS, loop(more=BELOW), SHIFTED.format(loop=ROUNDS),
    ROWS.replace("bool t.2 = lt t, k", "bool t.2 = lt q, k"),
    COMB.format(operator="modarray a", step=2, body=CLAMPED),
)  # fmt: skip


def bug(name: str, module: str, function: str, old: str, new: str) -> Mutant:
    return Mutant(name, f"sacpy.jit.schedule.{module}", function, old, new)


BUGS = [
    bug("a check is overtaken by a load", "hoisting", "hoisted", "level = max(level, checked)", "pass"),
    bug("what needs the row stands in front of it", "hoisting", "_most", "levels.get(a.name, 1)", "1"),
    bug(
        "two partitions change places",
        "withloops",
        "schedule_of",
        "w.partitions[::-1] if backwards",
        "w.partitions if backwards",
    ),
    bug(
        "an earlier partition does not win",
        "withloops",
        "schedule_of",
        "partitions[:number] if overlap",
        "() if overlap",
    ),
    bug(
        "checks run where another partition wins",
        "withloops",
        "schedule_of",
        "not any(has_checks(p.body) for p in w.partitions)",
        "True",
    ),
    bug("extremes have no second run", "withloops", "may_repeat", "x.reduction is not None and", "False and"),
    bug("an order does not matter", "withloops", "_fold", "None if ordered else found", "found"),
    bug("a partition is left out", "withloops", "_disjoint", "(*kept, *([p] for p in others))", "(*kept,)"),
    bug(
        "what threads may not put together",
        "threads",
        "_may_regroup",
        "x.operator.stop is not None or x.ordered",
        "x.ordered",
    ),
    bug("blocks of tiles", "threads", "threads_of", "tiles is None and is_cut", "p.rank > 1 and is_cut"),
    bug(
        "blocks run loops once more each",
        "threads",
        "is_cut",
        "if has_loops is None else has_loops",
        "if has_loops is None else False",
    ),
    bug("chunks end inside of a step", "threads", "threads_of", "p.step is None or p.step[0] == integer(1)", "True"),
    bug(
        "nobody looks at the stop flag",
        "nests",
        "_Nesting.axis",
        "k == 0 and not (p.rank == 1 and self.straight)",
        "False",
    ),
    bug("a long row does not wait", "nests", "_Nesting.may_be_long", "return not (", "return False and not ("),
    bug(
        "a body with loops stands there twice",
        "nests",
        "_Nesting.axis",
        "inside and self.straight and len",
        "inside and len",
    ),
    bug("lanes depend on the machine", "nests", "_Nesting.plain", "if reduction is None:", "if True:"),
    bug("cells are of elements that differ", "nests", "_Nesting.has_wide_cells", " and alike(self.body)", ""),
    bug("a step is forgotten", "nests", "_Nesting.plain", "1 if self.p.step is None else 0", "1"),
    bug("a width is forgotten", "nests", "_Nesting.axis", "p.width is None or p.width[k] == g.integer(1)", "True"),
    bug("loops never leave", "nests", "_Nesting.__init__", "bool(stops) and all(stops)", "False"),
    bug("a check in a loop of loops is noted", "nests", "_Nesting.nest", "and self.straight\n", "and True\n"),
    bug("points in between are not there", "dense_blend", "can_blend", "<= along.names", "<= along.dependent"),
    bug(
        "a remainder is of another number",
        "residues",
        "residues",
        "return Residues(\n        divisor,",
        "return Residues(\n        divisor + 1,",
    ),
    bug(
        "a remainder is not that of the first index",
        "residues",
        "residues",
        "int(first.value) % divisor",
        "(int(first.value) + 1) % divisor",
    ),
    bug("an offset is lost", "residues", "_divided", "return (offset, int", "return (0, int"),
    bug("a body has its products twice", "row_products", "without", "if products else p", "if not products else p"),
    bug(
        "a row lacks what it needs", "row_products", "_product", "if free(inner.body)", "if False and free(inner.body)"
    ),
    bug(
        "columns have rows",
        "tiles",
        "tiles_of",
        "return Tiles(c, 1, max(1, WIDE // sums), lanes)",
        "return Tiles(c, 2, max(1, WIDE // sums), lanes)",
    ),
    bug("rows of tiles come first", "tiles", "tile_loops", "(*outer, *tiles,", "(*outer, *tiles[::-1],"),
    bug(
        "a turn is left out",
        "rows",
        "rows_of",
        "tuple(parts), tuple(_first(p, axis) for p in group)",
        "tuple(parts), tuple(0 for p in group)",
    ),
    bug(
        "rows do not begin together",
        "rows",
        "grouped",
        "shared = (p.lower[axis],",
        "shared = (",
    ),
    bug("a mesh has a way out", "rows", "_meshes", "not has_checks(p.body)", "True"),
    bug("turns are further apart than a step", "rows", "_turns", "< step.value", "< 9 * step.value"),
    bug("a check is not made ahead", "checks_ahead", "_sorted", "others.append(c.condition)", "pass"),
    bug(
        "a load is made ahead of its check",
        "checks_ahead",
        "checked_ahead",
        "from_others or (behind and isinstance(s.rhs, g.Load))",
        "from_others",
    ),
    bug(
        "rounds that see each other run at once",
        "counting",
        "rounds_of",
        "context.parallel and _is_independent(r, context)",
        "_is_independent(r, context)",
    ),
    bug("a loop of loops runs without a look", "counting", "rounds_of", "POLLED, polls=True", "POLLED"),
    bug("a long loop ends soon", "counting", "has_few_rounds", "<= BETWEEN_POLLS", "<= 2 * BETWEEN_POLLS"),
]


@cache
def units() -> tuple[g.Unit, ...]:
    found = [*(made(*function) for function in FUNCTIONS), *map(parsed, GRAPHS)]
    return (*found, scores(), scores(before=SCALED, factor="w.9"))


def written(options: Options = VERIFY) -> str:
    """The schedules of some functions, as text."""
    texts = []
    for unit in units():
        found: Written = {}
        lower(unit, options, written=found)
        texts.append(schedule_text(unit, found))
    return "".join(texts)


def test_no_law_is_broken() -> None:
    assert written() and written(STRICT)


@pytest.mark.parametrize("bug", BUGS, ids=lambda b: b.name)
def test_a_fault_of_those_who_choose_breaks_a_law(bug: Mutant) -> None:
    units()
    with mutated(bug), pytest.raises(ScheduleError):
        written()
        written(STRICT)
