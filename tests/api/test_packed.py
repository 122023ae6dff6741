"""Arrays whose extents depend on positions, to and from Python."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sacpy
from sacpy import Module, SacError, Session
from sacpy.workspace import Workspace
from tests.tools import ROOT

SOURCE = """
use Array: all;
double[n] trmv(double[i<n, i+1] a, double[n] x)
{ return { [i] -> sum(a[i] * take([i+1], x)) | [i] < [n] }; }
double[i<n, i+1] triangle(int n) { return { [i,j] -> tod(10*i+j) | [i,j] < [n, i+1] }; }
double[i<n, i+1] marked(double[i<n, i+1] a) { a[0,0] = 99.0; return a; }
int[i<n, i/2] halves(int n) { return { [i,j] -> i | [i,j] < [n, i/2] }; }
int total(int[i<n, i/2] h) { return sum(h); }
int[i<n, j<i+1, j+1] pyramid(int n) { return { [i,j,k] -> 100*i+10*j+k | [i,j,k] < [n, i+1, j+1] }; }
"""


@pytest.fixture(scope="module")
def module() -> Module:
    return Session().compile(SOURCE)


def test_a_triangle_comes_out(module: Module) -> None:
    t = module.triangle(3)
    assert t.data.tolist() == [0, 10, 11, 20, 21, 22] and t.extents.tolist() == [1, 2, 3] and len(t) == 3
    assert [row.tolist() for row in t.rows()] == [[0], [10, 11], [20, 21, 22]]
    assert t.dense().tolist() == [[0, 0, 0], [10, 11, 0], [20, 21, 22]]
    assert repr(t) == "<SaC double[i<n, i + 1], 3 rows, 6 elements>"
    assert module.triangle(0).dense().shape == (0, 0)


def test_and_goes_in(module: Module) -> None:
    a = np.arange(25.0).reshape(5, 5)
    lower = sacpy.packed_from_dense("double[i<n, i+1]", a, n=5)
    assert np.allclose(module.trmv(lower, np.ones(5)), np.tril(a).sum(axis=1))
    assert np.array_equal(lower.dense(), np.tril(a))
    upper = sacpy.packed_from_dense("int[i<4, k-i]", np.ones((4, 4), int), k=4)
    assert upper.data.sum() == 10


def test_elements_are_borrowed(module: Module) -> None:
    v = np.arange(6.0)
    p = sacpy.packed("double[i<n, i+1]", v, n=3)
    assert np.shares_memory(p.data, v)
    assert module.marked(p).data[0] == 99 and v[0] == 0


def test_arrays_with_tables_and_more_axes(module: Module) -> None:
    h = module.halves(6)
    assert h.data.tolist() == [2, 3, 4, 4, 5, 5] and module.total(h) == 23
    assert module.total(sacpy.packed("int[k<5, k/2]", [1, 2, 3, 4])) == 10
    p = module.pyramid(2)
    assert [e.tolist() for e in p.extents] == [[1], [1, 2]]
    assert p.dense(-1).tolist() == [[[0, -1], [-1, -1]], [[100, -1], [110, 111]]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sacpy.packed("double[i<n, i+1]", np.arange(5.0), n=3), "has 6 elements, and here are 5"),
        (lambda: sacpy.packed("double[i<n, i+1]", [1.0]), "nothing says what n is"),
        (lambda: sacpy.packed("double[3]", [1.0]), "is no type of a packed array"),
        (lambda: sacpy.packed("double[i<n, i+1]", [], n=-1), "the first extent of double[i<n, i+1] is -1"),
        (lambda: sacpy.packed("int[i<n, i-m]", [], n=3, m=1), "has a negative extent at [0]"),
        (lambda: sacpy.packed_from_dense("int[i<n, i+1]", np.zeros((2, 2)), n=3), "reaches beyond the shape [2, 2]"),
        (lambda: sacpy.packed_from_dense("int[i<n, i+1]", np.zeros(3), n=2), "has 2 axes, and this array 1"),
    ],
)
def test_what_does_not_fit(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(SacError, match="E0713") as caught:
        make()
    assert message in str(caught.value)


def test_another_type_is_refused(module: Module) -> None:
    with pytest.raises(SacError, match=r"is not double\[i<n, i \+ 1\]"):
        module.trmv(np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(SacError, match=r"int\[i<n, \(i / 2\)\] is not double"):
        module.trmv(module.halves(4), np.zeros(4))


def test_the_page_about_them_is_right() -> None:
    page = (ROOT / "docs" / "packed.md").read_text(encoding="utf-8")
    for example in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(example, {})
    for example in re.findall(r"^```sac\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        assert Workspace().check_text(example)[1] == []


def test_large_ones_go_in_and_out_row_by_row() -> None:
    a = np.arange(2_250_000.0).reshape(1500, 1500)
    lower = sacpy.packed_from_dense("double[i<n, i+1]", a, n=1500)
    assert np.array_equal(lower.data, a[np.tril_indices(1500)]) and np.array_equal(lower.dense(), np.tril(a))
