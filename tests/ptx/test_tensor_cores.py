"""Products of matrices by tensor cores: the instructions on the interpreter of PTX, kernels that have them against
plain products, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from tests.ptx import changes
from tests.ptx.comparing import HEAD, reals
from tests.ptx.driver import PtxCuda
from tests.ptx.sessions import emulated, session
from tests.ptx.test_ptx import Changed

TYPES: dict[str, tuple[str, str, Any]] = {"f64": ("double", "0.0", np.float64), "tf32": ("float", "0f", np.float32)}


def source(form: str, term: str = "a[i,l] * b[l,j]", after: str = "s", a: str = "m,k", b: str = "k,n") -> str:
    t, zero, _ = TYPES[form]
    return (
        f"{HEAD}{t}[m,n] f({t}[{a}] a, {t}[{b}] b) {{ return with {{\n#pragma gpufold mma({form})\n([0,0] <= [i,j] < "
        f"[m,n]) {{ s = with {{ ([0] <= [l] < [k]) : {term}; }} : fold(+, {zero}); }} : {after}; }} : "
        f"genarray([m,n], {zero}); }}"
    )


def rounded(x: Any) -> Any:
    """Floats with 10 bits behind the point, as doubles; others as they are."""
    if x.dtype != np.float32:
        return x
    return ((x.view(np.uint32) + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def multiplied(text: str, args: tuple[Any, ...], gpu: PtxCuda) -> Any:
    """What a GPU gives; a kernel with tensor cores is among those that ran."""
    found = np.asarray(session(gpu, verify=True).compile(text).f(*args))
    assert gpu.findings.lines() == []
    assert any("mma.sync" in code.decode() for code in gpu.programs)
    return found


def near(found: Any, wanted: Any, form: str) -> bool:
    return np.allclose(found, wanted, rtol=0, atol=1e-12 if form == "f64" else 1e-5, equal_nan=True)


@pytest.mark.parametrize(
    ("m", "k", "n", "form", "path"),
    [
        (64, 32, 64, "f64", "sm_80 libnvvm"),
        (70, 21, 67, "tf32", "sm_90 nvptx"),
        (70, 21, 67, "f64", "sm_100 nvptx"),
        (130, 24, 132, "tf32", "sm_80 libnvvm"),
        (8, 4, 9, "tf32", "sm_90 nvptx"),
    ],
)
def test_tensor_cores_multiply_what_the_program_says(m: int, k: int, n: int, form: str, path: str) -> None:
    t = TYPES[form][2]
    a, b = reals(m, k, t=t), reals(k, n, t=t)
    a[m - 1, 0], b[0, n - 1] = np.nan, -0.0
    found = multiplied(source(form), (a, b), PtxCuda(*path.split(), processors=1))
    assert near(found, rounded(a) @ rounded(b), form) and np.isnan(found[m - 1]).all()


@pytest.mark.parametrize("form", TYPES)
def test_operands_may_lie_across_and_what_they_make_is_used_on(form: str) -> None:
    t = TYPES[form][2]
    two = "2.0" if form == "f64" else "2f"
    a, b = reals(33, 70, t=t), reals(40, 33, t=t)
    text = source(form, "b[j,l] * a[l,i]", f"s / {two} + {'tod' if form == 'f64' else 'tof'}(i)", "k,m", "n,k")
    wanted = (rounded(a).T @ rounded(b).T) / 2 + np.arange(70)[:, None]
    assert near(multiplied(text, (a, b), PtxCuda("sm_90", processors=1)), wanted, form)
    on = np.asarray(emulated(1).compile(text).f(a, b))
    assert near(on, wanted, form)


def test_several_products_at_once_are_multiplied_one_by_one() -> None:
    text = (
        f"{HEAD}double[o,m,n] f(double[o,m,k] a, double[o,k,n] b) {{ return with {{\n#pragma gpufold mma(f64)\n"
        "([0,0,0] <= [h,i,j] < [o,m,n]) : with { ([0] <= [l] < [k]) : a[h,i,l] * b[h,l,j]; } : fold(+, 0.0); } : "
        "genarray([o,m,n], 0.0); }"
    )
    a, b = reals(2, 18, 19, t=np.float64), reals(2, 19, 34, t=np.float64)
    assert near(multiplied(text, (a, b), PtxCuda("sm_90", processors=1)), a @ b, "f64")


@pytest.mark.parametrize(
    ("m", "k", "n"), [(2, 2, 40), (1, 9, 40), (40, 1, 9), (40, 9, 7), (1, 1, 1), (0, 5, 6), (9, 0, 16)]
)
def test_what_is_less_than_one_instruction_threads_multiply(m: int, k: int, n: int) -> None:
    a, b = reals(m, k, t=np.float64), reals(k, n, t=np.float64)
    own = session(PtxCuda("sm_90", processors=1))
    assert near(np.asarray(own.compile(source("f64")).f(a, b)), a @ b, "f64")
    assert k != 1 or "so mma(f64) does nothing" in str(own.explain())


def test_explain_says_what_precision_is_given_up() -> None:
    own = session(PtxCuda("sm_90", processors=1))
    own.compile(source("tf32")).f(reals(64, 32), reals(32, 64))
    told = str(own.explain())
    assert "multiplied by tensor cores, which gives up the order of sums, and 13 of the 23 bits" in told
    assert "operations on floats by tensor cores" in told


FOLD = (
    "double f(double[m] a, double[m] b) { return with {\n#pragma gpufold mma(f64)\n([0] <= [i] < [m]) : a[i] * b[i]; "
    "} : fold(+, 0.0); }"
)
REFUSED: dict[str, tuple[str, Any, str, str]] = {
    "an old device": (source("f64"), np.float64, "sm_75", "sm_75 has no tensor cores for f64, sm_80 has"),
    "doubles": (source("f64").replace("mma(f64)", "mma(tf32)"), np.float64, "sm_90", "are doubles.*mma.f64"),
    "floats": (source("tf32").replace("mma(tf32)", "mma(f64)"), np.float32, "sm_90", "these are floats.*13 of the 23"),
    "sums of sums": (source("f64", "a[i,l] + b[l,j]"), np.float64, "sm_90", "sum products of two elements"),
    "three factors": (source("f64", "a[i,l] * b[l,j] * 2.0"), np.float64, "sm_90", "sum products of two elements"),
    "squares": (source("f64", "a[i,l] * a[i,l]"), np.float64, "sm_90", "one follows the rows and one the columns"),
    "products of products": (source("f64").replace("+, 0.0", "*, 1.0"), np.float64, "sm_90", "sum products"),
    "another pragma": (
        source("f64").replace("#pragma", "#pragma gpumem shared(a)\n#pragma", 1), np.float64, "sm_90", "another pragma"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_tensor_cores_cannot_do_is_refused(name: str) -> None:
    text, t, architecture, message = REFUSED[name]
    with pytest.raises(SacError, match=f"(?s)E0820.*{message}"):
        session(PtxCuda(architecture, processors=1)).compile(text).f(reals(64, 64, t=t), reals(64, 64, t=t))


def test_a_sum_without_cells_is_refused() -> None:
    v = reals(64, t=np.float64)
    with pytest.raises(SacError, match=r"E0820.*cells of a matrix product"):
        session(PtxCuda("sm_90", processors=1)).compile(HEAD + FOLD).f(v, v)


def test_strict_floating_point_keeps_the_order_of_sums() -> None:
    a = reals(64, 64, t=np.float64)
    with pytest.raises(SacError, match="in the order that the program says"):
        session(PtxCuda("sm_90", strict=True, processors=1)).compile(source("f64")).f(a, a)


def test_on_the_cpu_the_pragma_means_nothing() -> None:
    a, b = reals(20, 30), reals(30, 20)
    assert np.allclose(Session(target="cpu").compile(source("tf32")).f(a, b), a @ b, atol=1e-5)


# ---------------------------------------------------------------- the interpreter finds what is left out


def changed(change: Any) -> list[str]:
    gpu = PtxCuda("sm_90", "nvptx", processors=1)
    gpu.translating = Changed("nvptx")
    gpu.translating.change = change
    session(gpu).compile(source("tf32")).f(reals(64, 32), reals(32, 64))
    return gpu.findings.lines()


def test_a_factor_that_nobody_rounded_is_found() -> None:
    assert any("no tf32" in line for line in changed(lambda t: t.replace("cvt.rna.tf32.f32", "mov.b32")))


def test_a_missing_barrier_is_found() -> None:
    gpu = PtxCuda("sm_90", "nvptx", processors=1)
    session(gpu).compile(source("tf32")).f(reals(64, 40), reals(40, 64))
    (text,) = [code.decode() for code in gpu.programs]
    first = next(changes.without_barriers(text))
    assert any("race in shared memory" in line for line in changed(lambda t: first))


def test_rounding_is_to_the_nearest_and_away_from_zero() -> None:
    x = np.array([1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-20, 1 + 3 * 2.0**-11, -1 - 2.0**-11, 0, 2.0**-130], np.float32)
    x[4] = np.finfo(np.float32).max
    a = np.zeros((64, 32), np.float32)
    a[: len(x), 0] = x
    b = np.zeros((32, 64), np.float32)
    b[0, 0] = 1
    found = multiplied(source("tf32"), (a, b), PtxCuda("sm_90", processors=1))[: len(x), 0]
    up = 2.0**-10
    assert found[:4].tolist() == [1 + up, 1 + up, 1 + 2 * up, -1 - up]
    assert np.isinf(found[4]) and found[5] == np.float32(2.0**-130)
