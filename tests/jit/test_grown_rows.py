"""Elements of rows that grow, computed row by row on the CPU: what counting gives, wherever chunks begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


BLOCKS = {
    "blocks of triangles": "m, n, i+1",
    "blocks in blocks, some without rows": "m, 3, n, n-i-1",
    "rows of threes": "n, i+1, 3",
    "a band": "n, min(n, i+m+1) - max(0, i-2)",
    "a cut triangle": "n, max(0, i-m)",
    "rows that stop growing": "n, min(i, m)",
    "two places, four ways to grow": "n, min(2*i, i+m) + max(0, 3*i-15)",
    "rows that begin to grow": "n, i < m ? 2 : 2*i",
}


@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_rows_and_rows_whose_length_is_defined_by_cases(threads: int) -> None:
    letters = {2: "ij", 3: "bij", 4: "bcij"}

    def names(bound: str) -> str:
        count = bound.count(",") - bound.count("min(") - bound.count("max(0") + 1
        return ",".join("ijk" if bound.endswith("3") else letters[count])

    def value(bound: str) -> str:
        return "+".join(f"{100**k}*{c}" for k, c in enumerate(reversed(names(bound).split(","))))

    made = "".join(
        f"int[.] f{k}(int n, int m) {{ t = {{ [{names(b)}] -> {value(b)} | [{names(b)}] < [{b}] }}; "
        f"return (int[.]) t; }}\n"
        for k, b in enumerate(BLOCKS.values())
    )
    compiled = Session(target="cpu", threads=threads)
    modules = [s.compile(f"use Array: all;\n{made}") for s in (compiled, Session(target="interp"))]
    for k, b in enumerate(BLOCKS.values()):
        for n, m in ((0, 2), (1, 0), (2, 3), (7, 0), (9, 4), (40, 11)):
            found, wanted = (getattr(x, f"f{k}")(n, m).tolist() for x in modules)
            assert found == wanted == list(counted(b, names(b).split(","), n, m)), (b, n, m)
    told = compiled.explain()
    assert told.count("row by row") >= len(BLOCKS) and "the compiler failed" not in told


def counted(bound: str, names: list[str], n: int, m: int) -> Iterator[int]:
    """The values in order: each position's digits, two for an axis."""
    ends = [_in_python(e) for e in re.split(r", (?![^(]*\))", bound)]

    def below(at: dict[str, int], number: int) -> Iterator[int]:
        if len(at) == len(names):
            yield number
            return
        for x in range(eval(ends[len(at)], {"n": n, "m": m, **at})):
            yield from below({**at, names[len(at)]: x}, 100 * number + x)

    return below({}, 0)


def _in_python(text: str) -> str:
    condition, _, rest = text.partition(" ? ")
    return f"({rest.replace(' : ', f' if {condition} else ')})" if rest else text


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
