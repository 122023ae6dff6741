"""Results that are parts of what compiled code has made: given as views of it where a session allows that, each of
memory that nobody else has; copied where less than half of that memory would be used."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.jit.host import strides
from sacpy.jit.passes import view_results
from sacpy.jit.run import versions
from tests.jit.mutation import Mutant, mutated

TEXT = """use Array: all;
inline double[n] sc(double[n] a) { r = a; for (i = 1; i < n; i++) { r[i] = r[i - 1] * 0.5 + a[i]; } return r; }
inline double[n,m] swept(double[n,m] t)
{
  for (i = 1; i < n; i++) { for (j = 1; j < m; j++) { t[i,j] = t[i,j] + 0.25 * t[i - 1,j - 1]; } }
  return t;
}
double[.,.] turned(double[.,.] a) { return transpose(swept(a)); }
double[.] backwards(double[.] a) { return reverse(sc(a)); }
double[.] most(double[.] a, int k) { return drop([k], sc(a)); }
double[.] evens(double[.] a) { b = sc(a); return { [i] -> b[2 * i] | [i] < [shape(b)[0] / 2] }; }
double[.] oddsDown(double[n] a) { b = sc(a); return { [i] -> b[n - 1 - 2 * i] | [i] < [n / 2] }; }
double[.,.] inner(double[n,m] a) { b = swept(a); return { [i,j] -> b[i + 1,m - 2 - j] | [i,j] < [n - 2,m - 2] }; }
double[.,.,.] cube(double[n] a, int k) { b = reshape([k, n / k / 4, 4], sc(a)); return { [i,j,l] -> b[j,l,i] }; }
double[.] diagonal(double[n,m] a) { b = swept(a); return { [i] -> b[i,i] | [i] < [min(n, m)] }; }
double[.] row(double[.,.] a) { return swept(a)[1]; }
double[.], double[.] twice(double[.] a) { b = sc(a); return (reverse(b), b); }
double[.], double[.] two(double[.] a) { b = sc(a); return (reverse(b), drop([1], b)); }
double[.], double[.] each(double[.] a) { return (reverse(sc(a)), reverse(sc(a + 1.0))); }
double[.] argument(double[.] a) { return reverse(a); }
double[.] often(double[n] a) { b = sc(a); return { [i] -> b[min(i, 3)] | [i] < [n] }; }
double[.,.] rows(double[n] a) { b = sc(a); return { [i,j] -> b[j] | [i,j] < [2,n] }; }
double[.,.] sums(double[n] a) { b = sc(a); return { [i,j] -> b[i + j] | [i,j] < [n / 64,n / 64] }; }
double[.] given(double[.] a, bool p) { b = p ? a : sc(a); return reverse(b); }
double total(double[.,.] a) { return sum(a); }
"""
V, A = np.cos(np.arange(18_000.0)), np.cos(np.arange(120.0 * 90)).reshape(120, 90)
VIEWS: dict[str, tuple[Any, ...]] = {
    "turned": (A,),
    "backwards": (V,),
    "most": (V, 3),
    "evens": (V,),
    "oddsDown": (V,),
    "inner": (A,),
    "each": (V,),
    "given": (V, False),
    "two": (V,),  # one of them
}
COPIES: dict[str, tuple[Any, ...]] = {
    "most": (V, 10_000),  # more is left than is given
    "diagonal": (A,),
    "row": (A,),
    "twice": (V,),
    "argument": (V,),
    "often": (V,),
    "rows": (V,),
    "sums": (V,),
}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> sacpy.Session:
    """One that makes views from the first call on that finds compiled code."""
    monkeypatch.setattr(versions, "LEAST", 0.0)
    monkeypatch.setattr(versions, "PICKING", 1.0)
    return sacpy.Session(target="cpu", strict_fp=True, views=True)


@pytest.fixture(scope="module")
def dense() -> sacpy.Module:
    return sacpy.Session(target="cpu", strict_fp=True).compile(TEXT)


def arrays(found: Any) -> list[np.ndarray[Any, Any]]:
    return [r for r in (found if isinstance(found, tuple) else (found,)) if isinstance(r, np.ndarray)]


def owner(a: np.ndarray[Any, Any]) -> int:
    """How many bytes stay alive with an array."""
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a.nbytes


def checked(module: sacpy.Module, dense: sacpy.Module, name: str, args: tuple[Any, ...]) -> list[np.ndarray[Any, Any]]:
    """The arrays that a function gives: they are right, and nobody else's."""
    before = [np.copy(a) for a in args]
    for _ in range(3):
        found = module[name](*args)
    gc.collect()
    expected = dense[name](*args)
    for x, y in zip(arrays(found), arrays(expected), strict=True):
        assert np.array_equal(x, y)
        assert not any(np.shares_memory(x, a) for a in args if isinstance(a, np.ndarray))
        assert owner(x) <= 2 * x.nbytes
        assert x.flags.writeable
        x[...] = numbers = np.arange(float(x.size)).reshape(x.shape)
        assert np.array_equal(x, numbers)  # no element is there twice, nor in another result
    for x, y in zip(arrays(module[name](*args)), arrays(expected), strict=True):
        assert np.array_equal(x, y)
    assert all(np.array_equal(a, b) for a, b in zip(args, before))
    return arrays(found)


@pytest.mark.parametrize("name", VIEWS)
def test_what_is_in_another_order_is_not_copied(session: sacpy.Session, dense: sacpy.Module, name: str) -> None:
    found = checked(session.compile(TEXT), dense, name, VIEWS[name])
    assert sum(isinstance(x.base, np.ndarray) for x in found) == (1 if name == "two" else len(found))
    assert versions.VIEWS in session.explain()


@pytest.mark.parametrize("name", COPIES)
def test_what_is_copied_all_the_same(session: sacpy.Session, dense: sacpy.Module, name: str) -> None:
    found = checked(session.compile(TEXT), dense, name, COPIES[name])
    assert all(x.flags.c_contiguous for x in found)
    if name in ("twice", "argument"):
        assert view_results.NONE in session.explain()


def test_an_argument_that_would_be_a_part_of_the_result_is_copied(session: sacpy.Session, dense: sacpy.Module) -> None:
    checked(session.compile(TEXT), dense, "given", (V, True))


def test_results_are_dense_where_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch, dense: sacpy.Module) -> None:
    monkeypatch.setattr(versions, "PICKING", 1.0)
    module = sacpy.Session(target="cpu", strict_fp=True).compile(TEXT)
    assert checked(module, dense, "turned", (A,))[0].flags.c_contiguous


def test_a_view_goes_in_again_without_a_copy_of_it(session: sacpy.Session, dense: sacpy.Module) -> None:
    module = session.compile(TEXT)
    for _ in range(3):
        found = module.turned(A)
    for _ in range(3):
        total = module.total(found)
    assert total == dense.total(dense.turned(A))
    assert "arguments that are not dense are read where they lie" in session.explain()


def test_few_elements_none_and_errors(session: sacpy.Session, dense: sacpy.Module) -> None:
    module = session.compile(TEXT)
    for name in ("turned", "backwards", "evens", "inner", "oddsDown"):
        checked(module, dense, name, VIEWS[name])
    for k in (0, 1, 2, 3, 4):
        for name in ("backwards", "evens", "oddsDown"):
            checked(module, dense, name, (V[:k].copy(),))
        checked(module, dense, "turned", (A[:k, :5].copy(),))
    with pytest.raises(sacpy.SacError) as found:
        module.inner(A[:1])
    with pytest.raises(sacpy.SacError) as expected:
        dense.inner(A[:1])
    assert found.value.diagnostics[0].code == expected.value.diagnostics[0].code


def test_a_view_keeps_its_memory_and_lets_go_of_it(session: sacpy.Session) -> None:
    module, kept = session.compile(TEXT), []
    for k in range(8):
        kept.append((k, module.backwards(V + k)))
    gc.collect()
    again = [module.backwards(V + k) for k in range(8)]
    assert all(np.array_equal(x, again[k]) for k, x in kept)


MUTANTS = {
    Mutant("steps are forgotten", strides.__name__, "part_of", "size * step", "size * 1"): "evens",
    Mutant("parts begin at the front", strides.__name__, "part_of", "size * start", "0"): "most",
    Mutant(
        "elements come twice",
        view_results.__name__,
        "_Finder.part",
        "len({axis for axis, _ in moving}) != p.rank",
        "False",
    ): "rows",
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_bugs_are_found(
    session: sacpy.Session, dense: sacpy.Module, mutant: Mutant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path))  # what is wrong is not kept
    name = MUTANTS[mutant]
    with mutated(mutant), pytest.raises((AssertionError, ValueError, sacpy.SacError)):
        checked(session.compile(TEXT), dense, name, {**COPIES, **VIEWS}[name])
