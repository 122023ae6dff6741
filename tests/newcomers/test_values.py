"""What is proposed for an expression of NumPy has the value that NumPy gives."""

import numpy as np
import pytest

import sacpy

V, W = np.array([4.0, 1.0, 9.0, 1.0]), np.array([2.0, 3.0, 5.0, 7.0])
M, A = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
U, N, B = np.array([0, 2, 1, 2]), 3, True
NAMES = {"v": V, "w": W, "m": M, "a": A, "u": U, "n": N, "b": B}
EXPRESSIONS = {
    "len(v)": 4,
    "size(m)": 4,
    "ndim(m)": 2,
    "zeros(3)": np.zeros(3),
    "ones((2, 3))": np.ones((2, 3)),
    "full((2, 2), 7)": np.full((2, 2), 7),
    "arange(2, 6)": np.arange(2, 6),
    "arange(1, 9, 2)": np.arange(1, 9, 2),
    "arange(0, 9, 2)": np.arange(0, 9, 2),
    "arange(0, 8, 3)": np.arange(0, 8, 3),
    "range(9, 0, -2)": np.arange(9, 0, -2),
    "range(8, 0, -2)": np.arange(8, 0, -2),
    "range(5, 5, 2)": np.arange(5, 5, 2),
    "[x * 2.0 for x in v]": V * 2,
    "[x * 2.0 for x in v + w]": (V + W) * 2,
    "[n for x in v]": np.full(4, N),
    "[i * i for i in range(2, 5)]": np.array([4, 9, 16]),
    "[x * tod(i) for i, x in enumerate(v)]": V * np.arange(4),
    "[x * y for x, y in zip(v, w)]": V * W,
    "[[i + 10 * j for j in range(3)] for i in range(2)]": np.array([[0, 10, 20], [1, 11, 21]]),
    "[i + 10 * j for i in range(2) for j in range(3)]": np.array([0, 10, 20, 1, 11, 21]),
    "map(lambda x: x * x, v)": V * V,
    "sum(x * x for x in v)": (V * V).sum(),
    "sum(n for x in v)": 4 * N,
    "max(x * x for x in v)": 81.0,
    "any(x > 8.0 for x in v)": True,
    "all(x > 8.0 for x in v)": False,
    "linspace(0.0, 1.0, 5)": np.linspace(0, 1, 5),
    "eye(3)": np.eye(3),
    "average(v)": V.mean(),
    "stddev(v)": V.std(),
    "percentile(v, 30.0)": np.percentile(V, 30),
    "accumulate(v)": V.cumsum(),
    "cumsum(m, 1)": M.cumsum(1),
    "sorted(v)": np.sort(V),
    "sortperm(v)": np.argsort(V),
    "nub(u)": np.unique(U),
    "tabulate(u)": np.bincount(U),
    "bisect(sort(v), 4.0)": np.searchsorted(np.sort(V), 4, "right"),
    "flatnonzero(v > 1.0)": np.flatnonzero(V > 1),
    "mean(m, 0)": M.mean(0),
    "amax(v)": V.max(),
    "minimum(v, w)": np.minimum(V, W),
    "clip(v, 2.0, 5.0)": V.clip(2, 5),
    "product(v)": V.prod(),
    "dot(v, w)": V @ W,
    "matmul(m, a)": M @ A,
    "outer(v, w)": np.outer(V, W),
    "norm(v)": np.linalg.norm(V),
    "trace(m)": M.trace(),
    "diag(m)": M.diagonal(),
    "triu(m)": np.triu(M),
    "diff(v)": np.diff(V),
    "count_nonzero(u)": int(np.count_nonzero(U)),
    "allclose(v, v)": True,
    "array_equal(v, w)": False,
    "append(v, 5.0)": np.append(V, 5),
    "concatenate((v, w))": np.concatenate((V, W)),
    "vstack((m, a))": np.vstack((M, A)),
    "hstack((m, a))": np.hstack((M, A)),
    "stack((v, w))": np.stack((V, W)),
    "repeat(v, 2)": np.repeat(V, 2),
    "flip(v)": np.flip(V),
    "fliplr(m)": np.fliplr(M),
    "rot90(m)": np.rot90(M),
    "roll(v, 1)": np.roll(V, 1),
    "flatten(m)": M.flatten(),
    "swapaxes(m, 0, 1)": M.swapaxes(0, 1),
    "round(2.5)": np.round(2.5),
    "trunc(-2.5)": np.trunc(-2.5),
    "degrees(1.0)": np.degrees(1.0),
    "sum(m, 0)": M.sum(0),
    "sum(m, axis=1)": M.sum(1),
    "max(v)": V.max(),
    "v.sum()": V.sum(),
    "m.T": M.T,
    "v.reshape(2, 2)": V.reshape(2, 2),
    "np.zeros(2)": np.zeros(2),
    "np.mean(w)": W.mean(),
    "m @ a": M @ A,
    "m @ w[0:2]": M @ W[:2],
    "2 ** 3": 8.0,
    "v ** 2": V**2,
    "v[1:3]": V[1:3],
    "v[:2]": V[:2],
    "v[2:]": V[2:],
    "v[:-1]": V[:-1],
    "v[-2:]": V[-2:],
    "v[::2]": V[::2],
    "v[::-1]": V[::-1],
    "m[:, 0]": M[:, 0],
    "m[1, :]": M[1],
    "m[:1, 1]": M[:1, 1],
    "9.0 in v": True,
    "9.0 not in v": False,
    "1 if b else 2": 1,
    "b and not b": False,
    "[i * i for i in range(n)]": np.array([0, 1, 4]),
    "sum(i * i for i in range(n))": 5,
}  # fmt: skip


@pytest.fixture(scope="module")
def session() -> sacpy.Session:
    made = sacpy.Session()
    made.define("use Scan: all; use Histogram: all; use Sort: all; use Statistics: all; use Select: all;")
    return made


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_value(session: sacpy.Session, text: str) -> None:
    with pytest.raises(sacpy.SacError) as raised:
        session.eval(text, **NAMES)
    edit = raised.value.diagnostics[0].edit
    assert edit is not None, str(raised.value)
    mended = edit.applied(text)
    np.testing.assert_allclose(session.eval(mended, **NAMES), EXPRESSIONS[text], err_msg=mended)
