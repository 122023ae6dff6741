"""Scans by any associative function on threads: what they give depends neither on how many there are nor on who is
first, and is what the interpreter gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from sacpy import Session
from sacpy.jit.host import scan_chains, scan_chunks
from sacpy.jit.schedule import threads as dealing

PROGRAM = """
use Array: all;
struct Best { double sum; double most; };
struct Best join(struct Best a, struct Best b) { return Best{a.sum + b.sum, max(a.most, a.sum + b.most)}; }
double[.] most(double[n] v)
{
  s = with { ([0] <= [i] < [n]) : Best{v[i], v[i]}; } : scan(join, Best{0.0, -1e300});
  return { [i] -> s[i].most | [i] < [n] };
}
double[.], double[.] before(double[n] v)
{
  s = with { ([0] <= [i] < [n]) : Best{v[i], v[i]}; } : exscan(join, Best{0.0, -1e300});
  return ({ [i] -> s[i].sum | [i] < [n] }, { [i] -> s[i].most + v[i] | [i] < [n] });
}
struct Map { int a; int b; };
struct Map then(struct Map f, struct Map g) { return Map{f.a * g.a % 1009, (f.b * g.a + g.b) % 1009}; }
int[.], int[.] maps(double[n] v)
{
  s = with { ([0] <= [i] < [n]) : Map{toi(v[i]) % 7, i % 11}; } : scan(then, Map{1, 0});
  return ({ [i] -> s[i].a | [i] < [n] }, { [i] -> s[i].b | [i] < [n] });
}
double[.], double[.] affine(double[n] v)
{
  s = with { ([0] <= [i] < [n]) : Best{v[i], 1.0}; } : scan(linear, Best{1.0, 0.0});
  return ({ [i] -> s[i].sum | [i] < [n] }, { [i] -> s[i].most | [i] < [n] });
}
struct Best linear(struct Best a, struct Best b) { return Best{a.sum * b.sum, a.most * b.sum + b.most}; }
"""
FUNCTIONS = ("most", "before", "maps", "affine")


@pytest.mark.parametrize(
    ("kept", "statements"),
    [(1 << 10, 256), (1 << 13, 256), pytest.param(1 << 13, 40, marks=pytest.mark.long), (1 << 13, 1)],
)
def test_results_do_not_depend_on_threads_and_are_the_interpreters(
    kept: int, statements: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kept`: chunks of a part of a block, of two; `statements`: eight stretches, four, one."""
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path))  # code that is kept knows nothing of what is patched
    r, work = np.random.default_rng(1), 30.0 if kept == 1 << 10 else 8000.0
    with (
        patch.object(dealing, "WORTH", 2 * work),
        patch.object(dealing, "PER_CHUNK", work),
        patch.object(scan_chunks, "KEPT", kept),
        patch.object(scan_chains, "STATEMENTS", statements),
    ):
        one, *others, interpreted = (
            opened(target, threads).compile(PROGRAM)
            for target, threads in (("cpu", 1), ("cpu", 2), ("cpu", 3), ("interp", 1))
        )
        for n in (0, 1, 511, 512, 513, 5000):
            v = r.uniform(-1.0, 1.0, n)
            for name in FUNCTIONS:
                alone = results(one, name, v)
                for other in others:
                    assert all(np.array_equal(a, b) for a, b in zip(alone, results(other, name, v), strict=True)), n
                for a, b in zip(alone, results(interpreted, name, v), strict=True):
                    assert a.dtype == b.dtype
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


def opened(target: str, threads: int) -> Session:
    """What compiles at once: interpreted, sums are added in another order, and on a busy machine that may be a call of
    one session and not of the other."""
    session = Session(target=target, threads=threads)
    session._workspace.eager = target != "interp"
    return session


def results(program: Any, name: str, v: np.ndarray) -> list[np.ndarray]:
    found = getattr(program, name)(v)
    return [np.asarray(a) for a in (found if isinstance(found, tuple) else (found,))]
