"""Sums of products with few terms are computed in tiles, as they are with many, and give the same."""

from __future__ import annotations

import numpy as np
import pytest

import sacpy
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.passes.roll import CELLS, TERMS, run
from tests.jit.graph_text import unit as parsed

LAYOUTS = {
    "rows and columns": ("sum(a[i] * b[.,j])", "{k},{n}"),
    "rows": ("sum(a[i] * b[j])", "{n},{k}"),
    "elements": ("sum({{[l] -> a[i,l] * b[l,j]}})", "{k},{n}"),
    "distances": ("sum({{[l] -> (a[i,l] - b[l,j]) * (a[i,l] - b[l,j])}})", "{k},{n}"),
}


def source(layout: str, k: int, m: str = "m", n: str = "n", base: str = "double") -> str:
    term, shape = LAYOUTS[layout]
    return (
        f"use Array: all; {base}[{m},{n}] f({base}[{m},{k}] a, {base}[{shape.format(k=k, n=n)}] b) "
        f"{{ return {{ [i,j] -> {term.format()} | [i,j] < [{m},{n}] }}; }}"
    )


def is_tiled(text: str) -> bool:
    return " tile " in sacpy.Session(target="cpu").emit("schedule", "f", text)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("k", [TERMS, 32])
def test_products_with_few_terms_have_tiles(layout: str, k: int) -> None:
    assert is_tiled(source(layout, k))


def test_fewer_terms_or_cells_have_none() -> None:
    assert not is_tiled(source("rows", TERMS - 1))
    few = int(CELLS**0.5) - 1
    assert not is_tiled(source("rows", 16, str(few), str(few)))


def test_a_window_has_none() -> None:
    text = (
        "use Array: all; double[.,.] f(double[n,m] a, double[3,3] w) "
        "{ return { [i,j] -> sum({ [k,l] -> w[k,l] * a[i + k,j + l] | [k,l] < [3,3] }) | [i,j] < [n - 2,m - 2] }; }"
    )
    assert not is_tiled(text)


@pytest.mark.parametrize("base", ["double", "float"])
def test_results_are_the_interpreter_s_bit_by_bit(base: str) -> None:
    rng = np.random.default_rng(7)
    dtype = np.float64 if base == "double" else np.float32
    text = source("rows and columns", 12, base=base)
    compiled = sacpy.Session(target="cpu", strict_fp=True).compile(text)
    interpreted = sacpy.Session(target="interp", strict_fp=True).compile(text)
    for m, n in ((33, 41), (1, 40), (0, 3), (40, 0)):
        a, b = rng.standard_normal((m, 12)).astype(dtype), rng.standard_normal((12, n)).astype(dtype)
        a[: m // 2] = -0.0
        b[:, : n // 3] = 0.0
        if m and n:
            a[-1, 3], b[5, -1] = np.inf, np.nan
        x, y = compiled.f(a, b), interpreted.f(a, b)
        assert x.shape == y.shape
        assert ((x == y) & (np.signbit(x) == np.signbit(y)) | (np.isnan(x) & np.isnan(y))).all()


CHAIN = """
function f(int m, int n, double[m,8] a, double[n,8] b)
    double[m,n] r = with [m,n] disjoint complete
        genarray double default 0.0
        part [0,0] <= [i,j] < [m,n]
            {terms}
            yield s7
    return m, n, r
"""


def chain(first: str, index: str = "{k}", row: str = "j") -> str:
    lines = []
    for k in range(8):
        at = index.format(k=k)
        lines += [f"double x{k} = load a[i,{k}]", f"double y{k} = load b[{row},{at}]", f"double z{k} = mul x{k}, y{k}"]
        lines.append((first if k == 0 else f"double s{k} = add s{k - 1}, z{k}").format(k=k))
    return CHAIN.format(terms="\n            ".join(lines))


def test_a_chain_becomes_a_fold() -> None:
    rolled = run(parsed(chain("double s0 = add z0, 0.0")))
    assert "part [0] <= [k] < [8]" in print_unit(rolled)
    assert "load a[i,k]" in print_unit(rolled) and "load b[j,k]" in print_unit(rolled)


@pytest.mark.parametrize(
    ("first", "index", "row"),
    [
        (
            "double s0 = neg z0",
            "{k}",
            "j",
        ),  # there is nothing to begin with that leaves zeros of both signs as they are
        ("double s0 = add z0, 0.0", "{k}", "i"),  # nothing depends on j
        ("double s0 = sub z0, 0.0", "{k}", "j"),
    ],
)
def test_other_chains_stay(first: str, index: str, row: str) -> None:
    u = parsed(chain(first, index, row))
    assert run(u) == u


def test_terms_that_differ_in_more_than_their_number_stay() -> None:
    u = parsed(chain("double s0 = add z0, 0.0").replace("mul x5, y5", "add x5, y5"))
    assert run(u) == u
