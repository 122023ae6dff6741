"""Loops over elements that all threads of a block read: tiles of shared memory, on the emulator that checks every
access; what the interpreter of PTX runs of them is in `tests/ptx/cases/loop_tiles.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.session import Session
from tests.ptx.cases.loop_tiles import MADE
from tests.ptx.checking import outcome, same, shown
from tests.ptx.sessions import emulated

HEAD = "use Array: all;\nuse Math: all;\n"
TILED = "rounds of its loop read"
ROUND = "double[n] f(double[n] p, double[k] q) {{ return {{ [i] -> g(p[i], i, q) | [i] < [n] }}; }}\n{0}"
INLINE = "inline double g(double x, int i, double[k] q) {{ s = x; for (j = 0; j < {1}; j++) {{ s = {0}; }} return s; }}"


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", MADE.all, ids=lambda case: case.name)
def test_what_they_compute_is_what_the_interpreter_does(case: Any) -> None:
    plain = Session(target="interp", strict_fp=True).compile(case.source)
    session = emulated(132, strict=True)
    module = session.compile(case.source)
    for function, args in case.calls:
        wanted, got = outcome(plain, function, args), outcome(module, function, args)
        assert same(wanted, got, True, "float" in case.name), shown(wanted, got)
    assert TILED in session.explain("f")  # in order, so that no sum is one of rows


@pytest.mark.parametrize(
    ("term", "rounds", "tiled"),
    [
        ("s / (1.5 + q[j] * q[j])", "k", True),
        ("sqrt(abs(s - q[j])) + q[j]", "n", False),  # n rounds, of which the last ones may have no element
        ("s * q[j] + 1.0", "k", False),  # nothing to wait for between loads
        ("s / (1.5 + q[(i + j) % k])", "k", False),  # each thread reads another element
        ("s / (1.5 + q[j])", "toi(q[0])", False),  # no launch knows how many
        ("s / (1.5 + q[j])", "8", False),
    ],
)
def test_where_there_are_tiles(term: str, rounds: str, tiled: bool) -> None:
    rounds = rounds.replace("n", "shape(q)[0] * 0 + i")
    source = HEAD + ROUND.format(INLINE.format(term, rounds))
    args = (np.linspace(0.5, 2.0, 90), np.linspace(100.0, 200.0, 201))
    session = emulated(132, strict=True)
    got = session.compile(source).f(*args)
    wanted = Session(target="interp", strict_fp=True).compile(source).f(*args)
    assert np.array_equal(wanted, got)
    assert (TILED in session.explain("f")) == tiled


PAIRS = (
    "double[n,3] f(double[n,3] p, double[n] m) { return with { ([0] <= [i] < [n]) { x = 0.0; y = 0.0; z = 0.0; for (j "
    "= 0; j < n; j++) { dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] - p[i,2]; w = m[j] / sqrt(dx * dx "
    "+ dy * dy + dz * dz + 0.1); x += dx * w; y += dy * w; z += dz * w; } } : [x, y, z]; } : genarray([n], [0.0, 0.0, "
    "0.0]); }"
)


@pytest.mark.parametrize(("processors", "tiled"), [(1, True), (4, False)])
def test_sums_over_all_pairs_have_a_thread_for_each_cell_once_there_are_some_for_each_processor(
    processors: int, tiled: bool
) -> None:
    p, m = (np.random.default_rng(5).standard_normal(shape) for shape in ((90, 3), 90))
    session = emulated(processors)
    got = session.compile(HEAD + PAIRS).f(p, m)
    wanted = Session(target="interp").compile(HEAD + PAIRS).f(p, m)
    assert np.allclose(got, wanted, rtol=1e-12, atol=1e-12)
    assert (TILED in session.explain("f")) == tiled
    assert ("threads for each of 90 cells" in session.explain("f")) != tiled
