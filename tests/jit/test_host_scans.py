"""Scans: which counting loops are some, and that computing them as vectors and on threads gives what the rounds
give."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from sacpy.interp.values import dtype_of
from sacpy.jit.analysis.indices import Facts
from sacpy.jit.analysis.scans import Scan, scan_of
from sacpy.jit.host.native import Context
from sacpy.jit.ir.graph import For, Let, statements
from sacpy.jit.options import Options
from sacpy.jit.schedule import threads as dealing
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import compiled, same

DEFAULT = Options(threads=2)
STRICT = Options(threads=2, strict_fp=True)

READ_BACK = """
function f(int n, {base}[n] x, {base}[n] y, int from, int to)
    {base}[n] r = for i from from to to step 1 with {base}[n] s := x
        int j = add! i, -1
        {base} p = load s[j]
        {base} v = load {of}[i]
        {base} t = {code} {operands}
        {base}[n] u = update s[i] with t
        next u
    return n, r
"""

CARRIED = """
function f(int n, {base}[n] x, {base}[n] y, int from, int to, {base} start)
    {base}[n] r, {base} last = for i from from to to step 1 with {base}[n] s := x, {base} p := start
        {base} v = load {of}[i]
        {base} t = {code} {operands}
        {base}[n] u = update s[i] with {written}
        next u, t
    return n, r, last
"""


def read_back(base: str = "double", code: str = "add", operands: str = "p, v", of: str = "y") -> str:
    return READ_BACK.format(base=base, code=code, operands=operands, of=of)


def carried(base: str = "double", code: str = "add", operands: str = "p, v", written: str = "t", of: str = "y") -> str:
    return CARRIED.format(base=base, code=code, operands=operands, written=written, of=of)


def then(base: str = "double", to: str = "double", written: str = "w", more: str = "mul t, v", of: str = "y") -> str:
    """A scan of which something is computed that is written."""
    text = CARRIED.format(base=base, code="add", operands="p, v", written=written, of=of)
    return (
        text.replace(f"        {base}[n] u", f"        {to} w = {more}\n        {to}[n] u")
        .replace(f"{base}[n] s :=", f"{to}[n] s :=")
        .replace(f"{base}[n] x", f"{to}[n] x")
        .replace(f"{base}[n] r", f"{to}[n] r")
    )


def the_scan(text: str, *, strict: bool = False) -> Scan | None:
    function = parsed(text).root
    (loop,) = [s.rhs for s in statements(function.body) if isinstance(s, Let) and isinstance(s.rhs, For)]
    return scan_of(loop, Facts.of(function).made, strict=strict)


@pytest.mark.parametrize(
    ("text", "exclusive"),
    [
        (read_back(), False),
        (read_back(operands="v, p"), False),
        (read_back(of="s"), False),
        (read_back(code="sub"), False),
        (carried(), False),
        (carried(written="p"), True),
        (carried("int", "max"), False),
    ],
)
def test_what_is_a_scan(text: str, exclusive: bool) -> None:
    found = the_scan(text)
    assert found is not None
    assert found.exclusive == exclusive


@pytest.mark.parametrize(
    "text",
    [
        read_back(code="sub", operands="v, p"),
        read_back(code="div"),
        read_back(code="max"),
        read_back(operands="p, p"),
        read_back().replace("add! i, -1", "add! i, -2"),
        read_back().replace("update s[i]", "update s[j]"),
        read_back(of="s").replace("load s[i]", "load s[n]"),
        read_back().replace("load y[i]", "mul p, p"),
        read_back().replace("step 1", "step 2"),
        carried().replace("with t\n", "with v\n"),
        then(written="w", more="add p, t"),
        then(written="w", more="add t, v", of="s").replace("load s[i]", "load s[n]"),
        carried().replace("load y[i]", "mul p, p"),
        carried("bool", "and"),
    ],
)
def test_what_is_none(text: str) -> None:
    assert the_scan(text) is None


def test_strict_floating_point_leaves_sums_as_they_are_and_takes_integers() -> None:
    assert the_scan(read_back(), strict=True) is None
    assert the_scan(read_back("int"), strict=True) is not None


def numbers(base: str, n: int, seed: int) -> np.ndarray:
    """Whole numbers, so that the order of additions does not show."""
    r = np.random.default_rng(seed)
    if base in ("double", "float"):
        return r.integers(-4, 5, n).astype(dtype_of(base))
    info = np.iinfo(dtype_of(base))
    return r.integers(info.min, info.max, n, dtype_of(base), endpoint=True)


ANEW = (
    CARRIED.replace("int to, ", "int to, bool[n] flags, ")
    .replace(
        "        {base}[n] u",
        """        bool f = load flags[i]
        {base} w = {again}
        {base}[n] u""",
    )
    .replace("next u, t", "next u, w")
)
AGAIN = "select f, v, t"
BRANCH = """if f
            give v
        else
            {base} z = {code} p, v
            give z"""
EXTREME = CARRIED.replace(
    "        {base} t = {code} {operands}",
    """        bool nan = neq p, p
        bool one = {code} {operands}
        bool first = or one, nan
        {base} t = select first, p, v""",
)
AFFINE = CARRIED.replace(
    "        {base} t = {code} {operands}",
    """        {base} a = load x[i]
        {base} scaled = mul a, p
        {base} t = add v, scaled""",
).replace("step 1", "step 1 associative")


def anew(base: str = "double", code: str = "add", written: str = "w", again: str = AGAIN) -> str:
    text = ANEW if again != BRANCH else ANEW.replace("        {base} t = {code} {operands}\n", "")
    again = again.format(base=base, code=code)
    return text.format(base=base, code=code, operands="p, v", written=written, of="y", again=again)


def extreme(base: str = "double", code: str = "ge", operands: str = "p, v", written: str = "t") -> str:
    return EXTREME.format(base=base, code=code, operands=operands, written=written, of="y")


def affine(base: str = "double", written: str = "t") -> str:
    return AFFINE.format(base=base, written=written, of="y")


def down(text: str) -> str:
    """The same from the upper bound down to behind the lower one."""
    return text.replace("from from to to step 1", "from to to from step -1")


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        (anew(), "reset", "add"),
        (anew("int", "bitxor", "p"), "reset", "bitxor"),
        (anew(again=BRANCH), "reset", "add"),
        (extreme(), "plain", "max"),
        (extreme(code="le", operands="v, p"), "plain", "max"),
        (extreme(code="le"), "plain", "min"),
        (affine(), "affine", "add"),
        (affine("int").replace(" associative", ""), "affine", "add"),
        (down(carried()), "plain", "add"),
    ],
)
def test_forms_of_scans(text: str, form: str, code: str) -> None:
    found = the_scan(text)
    assert found is not None
    assert (found.form, found.code) == (form, code)


@pytest.mark.parametrize(
    "text",
    [
        affine().replace(" associative", ""),
        anew(again="select f, t, v"),
        anew(again="select f, p, t"),
        extreme().replace("neq p, p", "neq v, v"),
        extreme().replace("select first, p, v", "select first, v, p"),
        down(read_back()),
    ],
)
def test_what_is_no_form_of_a_scan(text: str) -> None:
    assert the_scan(text) is None


def test_extremes_of_reals_are_scans_when_floating_point_is_strict_too() -> None:
    assert the_scan(extreme(), strict=True) is not None
    assert the_scan(affine(), strict=True) is None


def values(base: str, n: int, seed: int) -> np.ndarray:
    """Numbers, for reals with NaN and both zeros among them."""
    found = numbers(base, n, seed)
    if base in ("double", "float"):
        r = np.random.default_rng(seed)
        found[r.random(n) < 0.1] = -0.0
        found[r.random(n) < 0.002] = np.nan
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("spread", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "text",
    [
        anew(),
        anew("float", "mul", again=BRANCH),
        anew("ubyte", "bitxor", "p"),
        extreme(),
        extreme("float", "le"),
        affine("int"),
        affine("short", "p"),
        pytest.param(then(), marks=pytest.mark.long),
        then(more="mul p, v", of="x"),
        then("int", "double", more="tod t"),
        down(then("int", "byte", more="tob p")),
        pytest.param(down(carried()), marks=pytest.mark.long),
        down(carried("int", written="p")),
        down(anew("long", again=BRANCH)),
        down(extreme()),
    ],
)
def test_a_form_of_a_scan_gives_what_the_rounds_give(text: str, spread: bool) -> None:
    u = parsed(text)
    base, of = u.root.params[1].base, u.root.params[2].base
    with patch.object(dealing, "WORTH", 60.0 if spread else 1e30), patch.object(dealing, "PER_CHUNK", 30.0):
        f = compiled(u, DEFAULT, Context(threads=2))
    for first, end in RANGES:
        n = max(end, first) + 5
        make = values if "nan" in text else numbers
        x, y = make(base, n, 1), make(of, n, 2)
        args: list[object] = [x, y, first, end]
        if "flags" in text:
            args.append(np.random.default_rng(5).random(n) < 0.1)
            if "mul" in text:
                y[:] = np.sign(y)
        args.append(numbers(of, 1, 3)[0].item())
        wanted = evaluate(u, args)
        for threads in (1, 2):
            f.context.threads = threads
            assert all(same(a, b) for a, b in zip(f.call(tuple(args)), wanted, strict=True)), (first, end, threads)


RANGES = [(1, 0), (1, 1), (1, 2), (3, 11), (1, 64), (5, 513), (1, 1000), (7, 3000)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        read_back(),
        pytest.param(read_back("float"), marks=pytest.mark.long),
        read_back("double", "sub", of="s"),
        read_back("int", "mul", of="s"),
        read_back("byte"),
        read_back("ushort", "max"),
        read_back("long", "bitxor"),
        carried(),
        carried("float", written="p"),
        pytest.param(carried("int", "sub"), marks=pytest.mark.long),
        carried("ulong", "min", written="p"),
        carried("short", "bitand", of="s"),
        pytest.param(carried("ubyte", "bitor"), marks=pytest.mark.long),
        pytest.param(carried("int", "min"), marks=pytest.mark.long),
    ],
)
def test_a_scan_gives_what_the_rounds_give(text: str, spread: bool) -> None:
    u = parsed(text)
    base = u.root.params[1].base
    with patch.object(dealing, "WORTH", 60.0 if spread else 1e30), patch.object(dealing, "PER_CHUNK", 30.0):
        f = compiled(u, DEFAULT, Context(threads=2))
    for first, end in RANGES:
        n = max(end, first) + 5
        x, y = numbers(base, n, 1), numbers(base, n, 2)
        args: list[object] = [x, y, first, end]
        if "start" in text:
            args.append(numbers(base, 1, 3)[0].item())
        before = x.copy()
        for threads in (1, 2):
            f.context.threads = threads
            found = f.call(tuple(args))
            assert all(same(a, b) for a, b in zip(found, evaluate(u, args), strict=True)), (first, end, threads)
        assert same(x, before), "an argument was changed"


@pytest.mark.parametrize("text", [read_back(), carried(), carried("float", "mul", written="p"), affine()])
def test_the_result_does_not_depend_on_threads(text: str) -> None:
    u = parsed(text)
    base = u.root.params[1].base
    r = np.random.default_rng(4)
    x, y = (r.uniform(0.9, 1.1, 5000).astype(dtype_of(base)) for _ in range(2))
    args = (x, y, 1, 5000, *((1.0,) if "start" in text else ()))
    with patch.object(dealing, "WORTH", 60.0), patch.object(dealing, "PER_CHUNK", 30.0):
        f = compiled(u, DEFAULT, Context())
    found = []
    for threads in (1, 2, 3):
        f.context.threads = threads
        found.append(f.call(args))
    assert all(same(a, b) for other in found[1:] for a, b in zip(found[0], other))


def test_rounding_stays_within_the_bound_of_a_sum() -> None:
    u = parsed(read_back())
    x, y = np.zeros(100_000), np.random.default_rng(6).uniform(-1, 1, 100_000)
    found = compiled(u, DEFAULT).call((x, y, 1, len(x)))[-1]
    exact = np.cumsum(np.where(np.arange(len(y)) > 0, y, 0.0).astype(np.longdouble))
    bound = np.arange(1, len(y) + 1) * np.finfo(float).eps * np.cumsum(np.abs(y))
    assert (np.abs(found - exact) <= bound).all()
