"""Folds with functions of the program's own keep the order of their operands, on every target, under every strategy, at
every size; where brackets stand is free, as a fold's function is associative.

The witnesses are associative and not commutative: affine maps, words over an alphabet (as a hash with the length's
power), the last that was set, matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.run.on_demand import OnDemand
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES
from tests.fuzz.differential import small_chunks

SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 200_000)
P = 1009

WITNESSES = """
use Array: all;

struct Map { int a; int b; };
inline struct Map compose(struct Map f, struct Map g) { return Map{f.a * g.a % 1009, (f.a * g.b + f.b) % 1009}; }
inline struct Map map_at(int i) { return Map{i % 7 + 2, i % 11 + 1}; }
inline int[2] both(struct Map m) { return [m.a, m.b]; }
inline int one(struct Map m) { return m.a * 2000 + m.b; }

struct Word { int hash; int power; };
inline struct Word append(struct Word v, struct Word w)
{
  return Word{(v.hash * w.power + w.hash) % 1009, v.power * w.power % 1009};
}
inline struct Word letter(int i) { return Word{i % 13 + 1, 29}; }

inline int last(int a, int b) { return b == 0 ? a : b; }

int[2] affine(int n)
{
  return both(with { PRAGMA ([0] <= [i] < [n]) : map_at(i); } : fold(compose, Map{1, 0}));
}

int[2] word(int n)
{
  w = with { PRAGMA ([0] <= [i] < [n]) : letter(i); } : fold(append, Word{0, 1});
  return [w.hash, w.power];
}

int[1] last_set(int n)
{
  return [with { PRAGMA ([0] <= [i] < [n]) : i % 3 == 1 ? i : 0; } : fold(last, 0)];
}

int[2] stepped(int n)
{
  return both(with { PRAGMA ([3] <= [i] < [n] step [5] width [2]) : map_at(i); } : fold(compose, Map{1, 0}));
}

int[2] of_matrix(int n, int m)
{
  return both(with { MATRIX ([0,0] <= [i,j] < [n,m]) : map_at(i * 3 + j); } : fold(compose, Map{1, 0}));
}

int[2] of_parts(int n)
{
  return both(with { PRAGMA ([0] <= [i] < [n]) : map_at(i);
                     ([1] <= [i] < [n / 2]) : map_at(2 * i); } : fold(compose, Map{1, 0}));
}

int[2] with_a_sum(int n)
{
  f, s = with { PRAGMA ([0] <= [i] < [n]) : (map_at(i), i); } : (fold(compose, Map{1, 0}), fold(+, 0));
  return [one(f), s];
}

int[2] with_a_test(int n)
{
  return both(with { PRAGMA ([0] <= [i] < [n]) : i < 40 ? map_at(i) : map_at(5 * i); } : fold(compose, Map{1, 0}));
}

int[m] rows(int n, int m) { return { [j] -> folded(j, n) | [j] < [m] }; }
inline int folded(int j, int n)
{
  return one(with { ([0] <= [i] < [n]) : map_at(i + j); } : fold(compose, Map{1, 0}));
}

int[m] columns(int n, int m) { return { [j] -> down(j, n, m) | [j] < [m] }; }
inline int down(int j, int n, int m)
{
  return one(with { ([0,0] <= [i,k] < [n,2]) : map_at(i * m + j + k); } : fold(compose, Map{1, 0}));
}
"""


def compose(f: tuple[int, int], g: tuple[int, int]) -> tuple[int, int]:
    return f[0] * g[0] % P, (f[0] * g[1] + f[1]) % P


def maps(numbers: Any) -> tuple[int, int]:
    """The composition of the maps with these numbers, in order."""
    found = (1, 0)
    for i in numbers:
        found = compose(found, (i % 7 + 2, i % 11 + 1))
    return found


def word(n: int) -> tuple[int, int]:
    hash_, power = 0, 1
    for i in range(n):
        hash_, power = (hash_ * 29 + i % 13 + 1) % P, power * 29 % P
    return hash_, power


def one(f: tuple[int, int]) -> int:
    return f[0] * 2000 + f[1]


WANTED: dict[str, Callable[[int], Any]] = {
    "affine": lambda n: maps(range(n)),
    "word": word,
    "last_set": lambda n: (max((i for i in range(n) if i % 3 == 1), default=0),),
    "stepped": lambda n: maps(i for i in range(3, n) if (i - 3) % 5 < 2),
    "of_parts": lambda n: compose(maps(2 * i for i in range(1, n // 2)), maps(range(n))),
    "with_a_sum": lambda n: (one(maps(range(n))), (n * (n - 1) // 2 + 2**31) % 2**32 - 2**31),
    "with_a_test": lambda n: maps(i if i < 40 else 5 * i for i in range(n)),
}
SHAPES = ((0, 5), (1, 1), (3, 40), (33, 31), (40, 3), (257, 129))


@cache
def wanted(name: str, n: int) -> list[int]:
    return list(WANTED[name](n))


def of_matrix(n: int, m: int) -> list[int]:
    return list(maps(i * 3 + j for i in range(n) for j in range(m)))


class Session_:
    """The witnesses on a target. `always`: everything that can runs on the device; every access is checked there."""

    def __init__(
        self,
        target: str,
        strategy: str = "auto",
        pragma: str = "",
        matrix: str = "",
        strict: bool = False,
        check: bool = True,
        **limits: Any,
    ) -> None:
        session = Session(target=target, strict_fp=strict)
        if target != "interp":
            engine = OnDemand(
                target,
                eager=True,
                defects=True,
                verify=True,
                threads=2,
                strict_fp=strict,
                strategy=strategy,
                cache=Cache(None),
            )
            if target == "emulator":
                self.machine = EmulatorMachine(DEVICES["sm_90"], check=check, threads=2)
                engine.engine.tools.device = Device(Hardware(self.machine), Policy(always=True))
            session._workspace.use(engine)
        lines = {
            word: f"\n#pragma gpukernel {chain}\n" if chain else ""
            for word, chain in (("PRAGMA", pragma), ("MATRIX", matrix))
        }
        self.module = session.define(WITNESSES.replace("PRAGMA", lines["PRAGMA"]).replace("MATRIX", lines["MATRIX"]))

    def __call__(self, name: str, *args: int) -> list[int]:
        found: list[int] = np.asarray(self.module[name](*args)).tolist()
        return found


@pytest.mark.parametrize("name", WANTED)
def test_the_interpreter_keeps_order(name: str) -> None:
    there = Session_("interp")
    for n in SIZES[:-3]:
        assert there(name, n) == wanted(name, n), n


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", WANTED)
def test_the_cpu_keeps_order_on_several_threads(name: str, strict: bool) -> None:
    with small_chunks():
        there = Session_("cpu", strict=strict)
        for n in SIZES:
            assert there(name, n) == wanted(name, n), n
        for n, m in SHAPES:
            assert there("of_matrix", n, m) == of_matrix(n, m)


@pytest.mark.parametrize(
    "strategy",
    ["auto", *(pytest.param(s, marks=pytest.mark.long) for s in ("jing", "foldall", "jing_ext", "jing_printed"))],
)
def test_the_device_keeps_order(strategy: str) -> None:
    there = Session_("emulator", strategy)
    for name, n in product(WANTED, (0, 1, 32, 33, 256, 257, 1025)):
        assert there(name, n) == wanted(name, n), (name, n)
    for n, m in SHAPES[:-1]:
        assert there("of_matrix", n, m) == of_matrix(n, m), (n, m)
    assert there.machine.launches


@pytest.mark.parametrize("strategy", ["auto", pytest.param("jing", marks=pytest.mark.long), "foldall"])
def test_the_device_keeps_order_over_many_blocks(strategy: str) -> None:
    there = Session_("emulator", strategy, check=False)
    for name in WANTED:
        assert there(name, SIZES[-1]) == wanted(name, SIZES[-1]), name
    assert there("of_matrix", 1000, 200) == of_matrix(1000, 200)
    assert there.machine.launches > (2 if strategy != "auto" else 1) * len(WANTED)


LINE = "CompressGrid([1], ShiftLB(Gen))"
PRAGMAS = [
    pytest.param(f"GridBlock(1, SplitLast(1000, {LINE}))", marks=pytest.mark.long),
    f"GridBlock(0, SplitLast(40, {LINE}))",
    pytest.param(f"GridBlock(2, SplitLast(3, SplitLast(21, {LINE})))", marks=pytest.mark.long),
    pytest.param(f"GridBlock(1, PadLast(33, SplitLast(31, {LINE})))", marks=pytest.mark.long),
]


@pytest.mark.parametrize("pragma", PRAGMAS)
def test_blocks_of_any_size_keep_order(pragma: str) -> None:
    there = Session_("emulator", pragma=pragma)
    for name, n in product(WANTED, (0, 1, 33, 1000)):
        assert there(name, n) == wanted(name, n), (name, n)


@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.parametrize("strategy", ["auto", "jing"])
def test_folds_that_threads_of_a_block_share_keep_order(name: str, strategy: str) -> None:
    there = Session_("emulator", strategy)
    for n, m in ((0, 3), (63, 2), (64, 2), (1023, 3), (1025, 33), (3000, 5), (70, 40)):
        if name == "rows":
            expected = [one(maps(range(j, n + j))) for j in range(m)]
        else:
            expected = [one(maps(i * m + j + k for i in range(n) for k in range(2))) for j in range(m)]
        assert there(name, n, m) == expected, (n, m)


ORDERS = ["", "#pragma noncommutative\n", "#pragma commutative\n"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_pragma_lets_the_order_go_where_the_function_allows_it(order: str) -> None:
    """The products of remainders are commutative, which nobody sees: with the pragma threads take indices in strides,
    without it runs."""
    session = Session(target="emulator", strict_fp=False)
    engine = OnDemand("emulator", eager=True, defects=True, verify=True, cache=Cache(None))
    engine.engine.tools.device = Device(Hardware(EmulatorMachine(DEVICES["sm_90"], check=True)), Policy(always=True))
    session._workspace.use(engine)
    text = (
        "inline int times(int a, int b) { return a * b % 1009; } int f(int n) { return with { "
        "PRAGMA ([0] <= [i] < [n]) : i % 1008 + 1; } : fold(times, 1); }"
    )
    found = session.define("use Array: all;\n" + text.replace("PRAGMA", order)).f(5000)
    expected = 1
    for i in range(5000):
        expected = expected * (i % 1008 + 1) % P
    assert found == expected
    told = str(session.explain())
    assert ("up to" in told) == (order == ORDERS[2])
    assert ("a run" in told) == (order != ORDERS[2])


def test_a_mapping_that_changes_the_order_is_refused_where_order_counts() -> None:
    mapped = "GridBlock(1, Permute([1,0], Gen))"
    there = Session_("emulator", matrix=mapped)
    with pytest.raises(SacError) as caught:
        there("of_matrix", 20, 30)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.text) == ("E0818", "Permute")
    assert "commutative" in found.help
    assert Session_("emulator", matrix=mapped)("of_matrix", 20, 1) == of_matrix(20, 1)
    assert Session_("interp", matrix=mapped)("of_matrix", 20, 30) == of_matrix(20, 30)
