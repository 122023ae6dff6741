"""Windows over arrays, whatever is at the border: cut into interior and border, and the same as interpreted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.ir.graph import Function, Let, Unit, WithLoop, statements
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise
from sacpy.jit.reports.statistics import explain
from sacpy.jit.run.engine import Engine
from sacpy.jit.specialise import Argument, Specialiser
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.workspace import Workspace
from tests.fuzz.devices import EMULATOR
from tests.fuzz.differential import QUICK_STRICT, compare, native
from tests.fuzz.windows import windows
from tests.jit.native_tools import same

SEEDS = [pytest.param(s, marks=() if s < 3 else pytest.mark.long) for s in range(150)]
DEVICE = {"emulator strict": EMULATOR["emulator strict"]}
TEXT = (Path(__file__).parents[2] / "benchmarks" / "windows" / "windows.sac").read_text(encoding="utf-8")

# By name: what is loaded in a window of W x W around [i, j] of x and y, which are n x m.
BODIES = {
    "clamped": "x[max(min(i + p - R, n - 1), 0), max(min(j + q - R, m - 1), 0)]",
    "constant": "(i+p-R >= 0 && i+p-R < n && j+q-R >= 0 && j+q-R < m ? x[i + p - R, j + q - R] : 0d)",
    "wrapped": "x[mod(i + p - R, n), mod(j + q - R, m)]",
    "wrapped with %": "x[(i + p - R + n) % n, (j + q - R + m) % m]",
    "reflected": "x[i+p-R < 0 ? R-i-p : i+p-R >= n ? 2*n-2-(i+p-R) : i+p-R, "
    "j+q-R < 0 ? R-j-q : j+q-R >= m ? 2*m-2-(j+q-R) : j+q-R]",
    "reflected by abs": "x[min(abs(i+p-R), 2*(n-1)-abs(i+p-R)), min(abs(j+q-R), 2*(m-1)-abs(j+q-R))]",
    "two arrays": "x[max(min(i + p - R, n - 1), 0), j] * y[i, mod(j + q - R, m)]",
}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_windows_are_the_same_on_the_cpu(seed: int) -> None:
    outcome = compare(windows(seed), QUICK_STRICT)
    assert not outcome.refused_before and not outcome.different, (outcome.case.source, outcome.expected)


@pytest.mark.parametrize("seed", [8, *(pytest.param(s, marks=pytest.mark.long) for s in (1, *range(20, 80)))])
def test_random_windows_are_the_same_on_the_emulator(seed: int) -> None:
    outcome = compare(windows(seed), DEVICE)
    assert not outcome.refused_before and not outcome.different, (outcome.case.source, outcome.expected)


def program(body: str, width: str, head: str = "") -> ElaboratedProgram:
    text = (
        f"use Array: all;\nuse Math: all;\n{head}#define R ({width} / 2)\n"
        f"double[.,.] run(double[n,m] x, double[n,m] y, double[v,w] k)\n{{ return {{ [i,j] -> sum({{ [p,q] -> "
        f"k[p,q] * {body} | [p,q] < [{width},{width}] }}) | [i,j] < [n,m] }}; }}\n"
    )
    return Workspace().load_text(text)[0]


def optimised(program: ElaboratedProgram, host: bool, options: Options | None = None) -> Unit:
    (entry,) = program.main.own("run")
    kind = [Argument("double", (None, None)) for _ in range(3)]
    return optimise(Specialiser(program).specialise(program.key(entry, ()), kind), options, host=host)


def interior(function: Function) -> WithLoop:
    """The with-loop that gives the result, which is cut, with its last partition alone."""
    found = [
        s.rhs
        for s in function.body.statements
        if isinstance(s, Let) and isinstance(s.rhs, WithLoop) and len(s.rhs.partitions) > 4
    ]
    return found[-1]


@pytest.mark.parametrize("host", [True, False], ids=["cpu", "device"])
@pytest.mark.parametrize("width", ["9", "v"])
@pytest.mark.parametrize("name", BODIES)
def test_an_interior_tests_no_index(name: str, width: str, host: bool) -> None:
    unit = optimised(program(BODIES[name], width), host)
    w = interior(unit.root)
    tested = {
        s.rhs.code  # type: ignore[union-attr]
        for s in statements(w.partitions[-1].body)
        if isinstance(s, Let) and getattr(s.rhs, "code", "") in ("min", "max", "mod", "aplmod", "select", "abs", "and")
    }
    assert not tested
    assert not any(not isinstance(s, Let) for s in statements(w.partitions[-1].body))
    assert unit.cuts and re.fullmatch(r"line \d+: \d+ partitions instead of one, cut along axis 0 .*", unit.cuts[-1])


def test_an_option_leaves_them_whole() -> None:
    unit = optimised(program(BODIES["clamped"], "9"), True, Options(split_borders=False))
    assert not unit.cuts
    loops = [s.rhs for s in unit.root.body.statements if isinstance(s, Let) and isinstance(s.rhs, WithLoop)]
    assert [len(w.partitions) for w in loops] == [1]
    assert Options(split_borders=False).key != Options().key


def test_code_does_not_grow_with_the_width() -> None:
    sizes = {
        sum(1 for _ in statements(optimised(program(BODIES["reflected"], str(width)), True).root.body))
        for width in (9, 15, 31, 101)
    }
    assert len(sizes) == 1


def test_what_lies_near_no_end_is_cut_nowhere() -> None:
    """A condition on two indices of the result, or on the data, tells no interior."""
    for body in ("(i + p < j + q ? x[i, j] : 0d)", "(x[i, j] < tod(p) ? x[i, j] : 0d)"):
        unit = optimised(program(body, "9"), True)
        assert not unit.cuts


def called(program: ElaboratedProgram, name: str, engine: Engine, *args: np.ndarray) -> object:
    (entry,) = program.main.own(name)
    return Evaluator(program, World.captured(), engine=engine, strict_fp=True).call(program.key(entry, ()), args)[0]


@pytest.mark.parametrize(
    "manners", [("constant", "reflected"), pytest.param(("clamped", "wrapped"), marks=pytest.mark.long)]
)
def test_whole_and_cut_are_equal_to_the_last_bit(manners: tuple[str, str]) -> None:
    """Also with NaN, infinities and zeros of both signs in the picture, and a picture smaller than the window."""
    rng = np.random.default_rng(5)
    loaded = Workspace().load_text(f"#define WIDTH 7\n{TEXT}")[0]
    cut = native(strict_fp=True, threads=1, opt_level=1)
    whole = Engine("cpu", threads=1, strict_fp=True, opt_level=1, eager=True, defects=True, cache=Cache(None),
                   split_borders=False)  # fmt: skip
    weights = rng.standard_normal((7, 7)).astype("f4")
    for shape in ((5, 4), (23, 40)):
        picture = rng.standard_normal(shape).astype("f4")
        picture[rng.random(shape) < 0.02] = np.nan
        picture[rng.random(shape) < 0.02] = -0.0
        picture[1, 1] = np.inf
        for name in manners:
            found = [called(loaded, name, engine, picture, weights) for engine in (cut, whole)]
            assert same(*found), name
    assert any(v.report.cuts for site in cut.sites for v in site.versions.values())
    assert not any(v.report.cuts for site in whole.sites for v in site.versions.values())


@pytest.mark.long
def test_a_kernel_of_the_interior_stages_its_tile() -> None:
    """Only the interior reads at fixed distances from the index."""
    loaded = Workspace().load_text(f"#define WIDTH 9\n{TEXT}")[0]
    engine = Engine("emulator", threads=1, device="sm_75", eager=True, defects=True, cache=Cache(None))
    called(loaded, "clamped", engine, np.ones((72, 1024), "f4"), np.ones((9, 9), "f4"))
    assert "x by tiles of 9 x 264" in explain(engine)
