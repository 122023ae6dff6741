"""Contractions, which are computed in register tiles: equal to the plain nest, bit by bit where floating point is strict."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.graph import Atom, Const, Let, Unit, Var, WithLoop
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.tiling import contraction
from sacpy.jit.options import Options
from tests.jit.builder import B, arguments, unit
from tests.jit.native_tools import STRICT, agree, agree_on, compiled

RNG = np.random.default_rng(5)


def product(left: str, right: str, base: str = "double", lower: tuple[int, int] = (0, 0), extra: bool = False) -> Unit:
    """Sums over k of a[left] * b[right], for all i and j."""
    b = B()
    params, (x, y), inputs = arguments(b, (base, 2), (base, 2))
    ranges: dict[str, Atom] = {}
    for v, letters in ((x, left), (y, right)):
        for axis, letter in enumerate(letters):
            ranges.setdefault(letter, v.type.extents[axis])  # type: ignore[union-attr]

    def body(c: B, i: Var, j: Var) -> Atom:
        def term(d: B, k: Var) -> Atom:
            at = {"i": i, "j": j, "k": k}
            value = d.op("mul", d.load(x, *[at[s] for s in left]), d.load(y, *[at[s] for s in right]))
            return d.op("sub", d.op("neg", value), Const(base, 0.5)) if extra else value

        return c.fold("add", Const(base, 0.25), [c.partition([0], [ranges["k"]], term)])

    frame = [ranges["i"], ranges["j"]]
    return unit(b, params, inputs, [b.genarray(base, frame, [b.partition(lower, frame, body)], default=7)])


def is_tiled(u: Unit) -> bool:
    return any(contraction(p) is not None for s in u.root.body.statements if isinstance(s, Let) and isinstance(s.rhs, WithLoop) for p in s.rhs.partitions)


def shapes(left: str, right: str, i: int, j: int, k: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes = {"i": i, "j": j, "k": k}
    return tuple(sizes[s] for s in left), tuple(sizes[s] for s in right)


@pytest.mark.parametrize(("left", "right"), [("ik", "kj"), ("ik", "jk"), ("ki", "kj"), ("ki", "jk"), ("kj", "ik")])
def test_all_layouts_are_tiled_and_strict(left: str, right: str) -> None:
    for base, dtype in (("double", "f8"), ("float", "f4")):
        u = product(left, right, base)
        assert is_tiled(u)
        sizes = ((1, 1, 1), (9, 27, 3), (17, 50, 5), (0, 3, 2), (3, 0, 2), (8, 24, 0))
        agree_on(u, [[RNG.standard_normal(s).astype(dtype) for s in shapes(left, right, *size)] for size in sizes])


def test_bounds_and_longer_bodies() -> None:
    u = product("ik", "kj", extra=True, lower=(2, 3))
    agree(u, RNG.standard_normal((20, 6)), RNG.standard_normal((6, 40)))


def test_large_products_on_threads() -> None:
    u = product("ik", "kj")
    for options in (STRICT, Options(threads=3)):
        f = compiled(u, options)
        a, b = RNG.standard_normal((203, 190)), RNG.standard_normal((190, 207))
        found = [f.call((a, b))[0] for f.context.threads in (1, 2, 3)]
        assert all((x == found[0]).all() for x in found)
        assert np.allclose(found[0], a @ b + 0.25, rtol=1e-12)


def test_what_does_not_reuse_is_not_tiled() -> None:
    assert not is_tiled(product("ij", "kj"))  # nothing depends on i alone with k: no reuse of rows
    b = B()
    params, (x,), inputs = arguments(b, ("double", 2))
    n = params[0]
    r = b.genarray("double", [n, n], [b.partition([0, 0], [n, n], lambda c, i, j: c.fold("add", Const("double", 0.0), [c.partition([0], [j], lambda d, k: d.op("mul", d.load(x, i, k), d.load(x, k, j)))]))])
    u = unit(b, params, inputs, [r])
    assert not is_tiled(u)
    agree(u, RNG.standard_normal((6, 6)))


def test_products_of_one_array_with_itself_inside_a_body() -> None:
    b = B()
    params, (x,), inputs = arguments(b, ("double", 3))
    m, n = params[0], params[1]

    def outer(c: B, p: Var) -> Atom:
        return c.genarray("double", [n, n], [c.partition([0, 0], [n, n], lambda d, i, j: d.fold("add", Const("double", 0.0), [d.partition([0], [n], lambda e, k: e.op("mul", e.load(x, p, i, k), e.load(x, p, k, j)))]))])

    r = b.genarray("double", [m], [b.partition([0], [m], outer)], default=b.genarray("double", [n, n], []), cell=[n, n])
    agree(unit(b, params, inputs, [r]), RNG.standard_normal((3, 10, 10)))


def test_code_is_the_same_for_any_number_of_threads() -> None:
    u = product("ik", "kj")
    assert lower(u, Options(threads=1)) == lower(u, Options(threads=4)) == lower(u, Options(threads=1))
