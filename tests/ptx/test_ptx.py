"""Kernels executed as PTX: a sample of what `python -m tests.ptx` runs, faults that must be found, and the way from a
session down to a launch. What takes longer is marked so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.jit.device.cubins import Cubin
from sacpy.jit.emission import toolchain
from sacpy.jit.emission.libnvvm import version
from sacpy.jit.emission.toolchain import AssemblyError
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.kernel import Kernel
from sacpy.nodes import replace
from tests.ptx import changes, checking, direct, validation
from tests.ptx.cases import CASES
from tests.ptx.driver import PtxCuda, Translating
from tests.ptx.lending import Lent
from tests.ptx.sessions import session

ROOT = Path(__file__).parents[2]
BLUR = """
use Array: all;

double[m,n] blur(double[m,n] a)
{
  return with {
    #pragma gpumem shared(a)
    ([1,1] <= [i,j] < [m - 1,n - 1]) : (a[i - 1,j] + a[i + 1,j] + a[i,j - 1] + a[i,j + 1]) / 4.0;
  } : modarray(a);
}

double[n] times(double[n] v, double k) { return { [i] -> v[i] * k | [i] < [n] }; }
int[.] at(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }
double total(double[n] v) { return with { ([0] <= [i] < [n]) : v[i]; } : fold(+, 0.0); }
double of_blocks(double[n] v) { return with { ([0] <= [i] < [n]) : v[i]; } : fold(+, 0.0); }
float[m,n] product(float[m,k] a, float[k,n] b)
{
  return with {
    ([0,0] <= [i,j] < [m,n]) : with { ([0] <= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0f);
  } : genarray([m,n], 0f);
}
"""
RANDOM = np.random.default_rng(8)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "blur": (RANDOM.standard_normal((40, 50)),),
    "times": (RANDOM.standard_normal(500), 2.0),
    "total": (RANDOM.standard_normal(1000),),
    "of_blocks": (RANDOM.standard_normal(9000),),
    "product": tuple(RANDOM.standard_normal((37, 37)).astype(np.float32) for _ in "ab"),
}


def paths() -> list[tuple[str, str]]:
    """Those that there are tools for."""
    try:
        version()
    except (AssemblyError, Unsupported):
        return [path for path in checking.PATHS if path[1] == "nvptx"]
    return checking.PATHS


def test_a_sample_of_the_cases_gives_what_the_interpreter_gives() -> None:
    found = paths()
    for k in range(len(found)):
        verdict = checking.cases(CASES[7 * k :: 12 * len(found)], [found[k]], races=k % 2 == 0)
        assert verdict.wrong == []
        assert verdict.told["launches"] >= 2


@pytest.mark.long
@pytest.mark.parametrize("strict", [False, True])
def test_all_cases_on_all_paths(strict: bool) -> None:
    verdict = checking.cases(CASES, paths(), strict=strict)
    assert verdict.wrong == []
    # of a scalar, rows of a triangle of seven and rows of nothing no with-loop is left after unrolling; strictly, folds
    # of reals over everything are the CPU's
    assert verdict.told["without a launch"] <= (14 if strict else 4) * len(paths())


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["jing", "jing_ext", "foldall"])
def test_all_cases_by_the_strategies_of_the_paper(strategy: str) -> None:
    assert checking.cases(CASES, paths()[:1], strategy=strategy).wrong == []


@pytest.mark.long
def test_random_programs() -> None:
    # strictly: in some, sums of huge numbers that cancel depend on the order of their operands
    verdict = checking.fuzz(range(70_000, 70_200), paths(), strict=True, races=False)
    assert verdict.wrong == []
    assert verdict.told["launches"] > 100


@pytest.mark.long
def test_whole_programs() -> None:
    files = sorted((ROOT / "tests/corpus").glob("kernel-*.sac")) + sorted((ROOT / "programs").glob("*.sac"))
    verdict = checking.programs(files, paths(), races=False, each=20)
    assert verdict.wrong == []
    assert verdict.told["programs with launches"] >= 10


# ---------------------------------------------------------------- the interpreter itself


@pytest.mark.long
@pytest.mark.skipif(toolchain.program("nvcc") is None, reason="there is no nvcc")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_the_interpreter_does_what_cuda_c_says(architecture: str) -> None:
    assert validation.all_of(architecture) == []


def test_arithmetic_is_exact() -> None:
    validation.arithmetic(assert_good)


def assert_good(name: str, good: Any, detail: str = "") -> None:
    assert good, f"{name}: {detail}"


class Changed(Translating):
    """Makes PTX in which something is changed."""

    change: Callable[[str], str] = staticmethod(str)

    def __call__(self, kernel: Kernel, architecture: str) -> Cubin:
        made = super().__call__(kernel, architecture)
        return replace(made, code=self.change(made.code.decode()).encode())


def findings(function: str, change: Callable[[str], str]) -> list[str]:
    """What is found where PTX is changed so."""
    gpu = PtxCuda("sm_90", "nvptx")
    gpu.translating = Changed("nvptx")
    gpu.translating.change = change  # type: ignore[method-assign]
    got = checking.outcome(session(gpu).compile(BLUR), function, ARGUMENTS[function])
    assert gpu.launches
    del got
    return gpu.findings.lines()


def texts(function: str) -> list[str]:
    """The PTX of a function's kernels."""
    gpu = PtxCuda("sm_90", "nvptx", races=False)
    checking.outcome(session(gpu).compile(BLUR), function, ARGUMENTS[function])
    return [code.decode() for code in gpu.programs]


@pytest.mark.parametrize("function", ["blur", "total", "product"])
def test_a_missing_barrier_is_found(function: str) -> None:
    assert removed(function, changes.without_barriers, "race in shared memory") >= 1


def test_a_missing_fence_is_found() -> None:
    """Between what blocks leave and the block that is done last, which puts it together."""
    assert removed("of_blocks", changes.without_fences, "race in global memory") == 2


def test_blocks_are_counted_anew_in_each_launch() -> None:
    gpu = PtxCuda("sm_90", processors=4)
    module = session(gpu).compile(BLUR)
    (v,) = ARGUMENTS["of_blocks"]
    for n in (9000, 5000, 1, 0, 8191, 9000):
        assert np.isclose(module.of_blocks(v[:n]), v[:n].sum(), rtol=1e-12)
        assert np.isclose(module.total(v[:n]), v[:n].sum(), rtol=1e-12)
    assert gpu.findings.lines() == []


@pytest.mark.parametrize("function", ["times", "blur"])
def test_a_missing_guard_is_found(function: str) -> None:
    assert removed(function, changes.without_guards, "memory") >= 1


def removed(function: str, without: Callable[[str], Iterator[str]], wanted: str) -> int:
    """How many removals there are in a function's kernels. Each must be found."""
    number = 0
    for text in texts(function):
        for changed in without(text):
            number += 1
            found = findings(function, lambda t, text=text, changed=changed: changed if t == text else t)
            assert any(wanted in line for line in found), (number, found)
    return number


# ---------------------------------------------------------------- behind --target cuda


def test_arrays_stay_on_the_gpu_between_real_kernels() -> None:
    gpu = PtxCuda("sm_90")
    module = session(gpu).compile(BLUR)
    a = ARGUMENTS["blur"][0]
    wanted = a
    got: Any = module.blur(a)
    for _ in range(2):
        wanted = blurred(wanted)
        got = module.blur(got)
    assert np.allclose(np.asarray(got), blurred(wanted), rtol=1e-14)
    assert gpu.findings.lines() == []


def blurred(a: Any) -> Any:
    r = a.copy()
    r[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4
    return r


def test_a_full_gpu_sends_arrays_away_and_kernels_go_on() -> None:
    gpu = PtxCuda("sm_90", memory=1 << 16)
    module = session(gpu).compile(BLUR)
    kept = [module.times(np.full(1500, float(k)), 2.0) for k in range(8)]
    assert [float(np.asarray(r).sum()) for r in kept] == [3000.0 * k for k in range(8)]
    assert gpu.findings.lines() == []


def test_a_failing_check_in_a_kernel_is_the_interpreter_s_error() -> None:
    gpu = PtxCuda("sm_90")
    module = session(gpu).compile(BLUR)
    v, w = np.arange(100, dtype=np.int32), np.full(300, 5, np.int32)
    assert (np.asarray(module["at"](v, w)) == 5).all()
    w[299] = 100
    with pytest.raises(Exception, match="E0601"):
        module["at"](v, w)
    w[299] = 7
    assert np.asarray(module["at"](v, w))[299] == 7
    assert gpu.findings.lines() == []


def test_arrays_of_other_libraries_are_read_where_they_are() -> None:
    gpu = PtxCuda("sm_90")
    module = session(gpu).compile(BLUR)
    before = gpu.used
    assert np.asarray(module.times(Lent(gpu, np.arange(700.0)), 3.0))[699] == 2097.0
    assert gpu.used - before < 2 * 700 * 8
    assert gpu.findings.lines() == []


EXTREMES = """.version 8.0
.target sm_90
.address_size 64
.visible .entry extremes(.param .u64 x, .param .u64 r)
{
  .reg .b32 %r<9>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [r];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.s64 %d4, %d1, %d3;
  ld.global.u32 %r2, [%d4];
  max.relu.s32 %r3, %r2, -5;
  min.relu.s32 %r4, %r2, 7;
  max.s32 %r5, %r2, -5;
  mul.wide.u32 %d3, %r1, 12;
  add.s64 %d5, %d2, %d3;
  st.global.u32 [%d5], %r3;
  st.global.u32 [%d5+4], %r4;
  st.global.u32 [%d5+8], %r5;
  ret;
}
"""


def test_extremes_may_be_kept_from_falling_below_zero() -> None:
    x = np.array([-9, -3, 0, 4, 12, -(2**31), 2**31 - 1, 7], np.int32)
    found = np.zeros((8, 3), np.int32)
    assert direct.run(EXTREMES, "extremes", (1, 1, 1), (8, 1, 1), [x, found]).lines() == []
    wanted = [np.maximum(np.maximum(x, -5), 0), np.maximum(np.minimum(x, 7), 0), np.maximum(x, -5)]
    assert (found == np.transpose(wanted)).all()
