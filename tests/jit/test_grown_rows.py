"""Elements of rows that grow, computed row by row on the CPU: what counting gives, wherever chunks begin and end."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy import Session
from tests.jit.test_triangles import TYPES, bound

SIZES = ((0, 0), (1, 0), (1, 3), (2, 1), (7, 0), (33, 5), (300, 2))


def lengths(extents: str, n: int, m: int) -> list[int]:
    inner = extents.partition(",")[2].strip(" ]")
    return [max(0, eval(inner, {"i": i, "n": n, "m": m})) for i in range(n)]


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_those_that_counting_gives(threads: int) -> None:
    made = "".join(
        f"int[.] f{k}(int n, int m) {{ t = {{ [i,j] -> 1000 * i + j | [i,j] < {bound(e)} }}; return (int[.]) t; }}\n"
        f"double[.] g{k}(int n, int m, double[.] x) {{ t = {{ [i,j] -> x[j] + sum({{ [k] -> x[k] * tod(i) | [k] < [3] "
        f"}}) | [i,j] < {bound(e)} }}; return (double[.]) t; }}\n"
        for k, e in enumerate(TYPES.values())
    )
    session = Session(target="cpu", threads=threads)
    module = session.compile(f"use Array: all;\n{made}")
    x = np.random.default_rng(2).random(4000)
    for k, extents in enumerate(TYPES.values()):
        for n, m in SIZES:
            rows = lengths(extents, n, m)
            wanted = [1000 * i + j for i, length in enumerate(rows) for j in range(length)]
            assert getattr(module, f"f{k}")(n, m).tolist() == wanted, (extents, n, m)
            reals = [x[j] + x[0] * i + x[1] * i + x[2] * i for i, length in enumerate(rows) for j in range(length)]
            np.testing.assert_allclose(getattr(module, f"g{k}")(n, m, x), reals, rtol=1e-12)
    told = session.explain()
    assert told.count("row by row") >= 2 * len(TYPES) and "the compiler failed" not in told


def test_checks_in_rows_fail_as_they_do_in_the_interpreter() -> None:
    body = "t = { [i,j] -> 7 / x[j] | [i,j] < [n, i+1] }; return (int[.]) t;"
    source = f"use Array: all; int[.] f(int n, int[.] x) {{ {body} }}"
    modules = [Session(target=t).compile(source) for t in ("interp", "cpu")]
    x = np.arange(40, 0, -1, dtype=np.int32)
    given = [m.f(40, x).tolist() for m in modules]
    assert given[0] == given[1]
    x[39] = 0
    said = []
    for m in modules:
        with pytest.raises(Exception, match="E0603") as caught:
            m.f(40, x)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert modules[1].f(39, x).tolist() == modules[0].f(39, x).tolist()
