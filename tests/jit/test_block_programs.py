"""Programs of a block: networks on all inputs of noughts and ones, folds between stages, odd sizes and shapes, every
access checked, with blocks in three orders; and where barriers stand, which is a matter of who reads what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.run.on_demand import OnDemand
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES
from tests.tools import ROOT

ORDERS: list[Callable[[int], Sequence[int]]] = [
    range,
    lambda n: range(n - 1, -1, -1),
    lambda n: np.random.default_rng(5).permutation(n).tolist(),
]


def emulated(check: bool = True) -> Session:
    """A session on the emulator, where everything runs that can."""
    demand = OnDemand("emulator", eager=True, defects=True, verify=check, cache=Cache(None))
    machine = EmulatorMachine(DEVICES["sm_90"], check=check)
    demand.engine.tools.device = Device(Hardware(machine), Policy(always=True))
    made = Session(target="emulator")
    made._workspace.use(demand)
    return made


def program(name: str) -> str:
    return (ROOT / "programs" / f"{name}.sac").read_text(encoding="utf-8")


def rows(text: str, threads: int = 8, cell: str = "int[.]", result: str = "int[.,.]") -> str:
    """A function `f` of a matrix, of whose rows each is the work of a block that calls `g`."""
    empty = "genarray([shape(m)[1]], 0)" if result == "int[.,.]" else "0"
    return (
        f"use Array: all; use Math: all; use StdIO: all;\n{text}\n{result} f(int[.,.] m) {{ return with {{\n"
        f"#pragma gpublock({threads})\n([0] <= [r] < [shape(m)[0]]) : g(m[r]); }} "
        f": genarray([shape(m)[0]], {empty}); }}"
    )


def said(there: Session) -> tuple[int, int, int]:
    """Stages, barriers, bytes of shared memory of the one block's program that has run."""
    (found,) = re.findall(r"(\d+) stages?, (\d+) barriers?, (\d+) bytes of shared memory", str(there.explain()))
    stages, barriers, size = map(int, found)
    return stages, barriers, size


# ---------------------------------------------------------------- networks


@pytest.mark.parametrize(("name", "places"), [("tsort", 2), ("vsort", 2), ("oesort", 1)])
def test_a_network_sorts_all_noughts_and_ones(name: str, places: int) -> None:
    """In one launch; a network of any depth has two places, and one whose stages are in place has one."""
    m = (np.arange(1 << 16)[:, None] >> np.arange(16) & 1).astype(np.int32)
    there = emulated(check=False)
    assert np.array_equal(getattr(there.define(program("networks")), name)(m), np.sort(m, axis=1))
    assert said(there) == (11, 10, places * 64)


@pytest.mark.parametrize("name", ["scan4", *(pytest.param(f"scan{n}", marks=pytest.mark.long) for n in (1, 2, 3))])
def test_a_network_for_running_sums_has_every_operand_once(name: str) -> None:
    m = (np.arange(1 << 16)[:, None] >> np.arange(16) & 1).astype(np.int32)
    module = emulated(check=False).define(program("scans"))
    assert np.array_equal(getattr(module, name)(m), np.cumsum(m, axis=1))


@pytest.mark.parametrize("order", [ORDERS[2], *(pytest.param(o, marks=pytest.mark.long) for o in ORDERS[:2])])
@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("networks", "tsort oesort"),
        pytest.param("networks", "vsort", marks=pytest.mark.long),
        pytest.param("scans", "scan1 scan2 scan3 scan4", marks=pytest.mark.long),
    ],
)
def test_every_access_of_a_network_is_in_order(
    file: str, names: str, order: Callable[[int], Sequence[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checked are races, what is not set, bounds; whatever order the blocks run in."""
    run = Emulated._run

    def in_order(self: Emulated, args: Any, place: Any, first: int, last: int, **rest: Any) -> int:
        failed = [run(self, args, place, first + b, first + b + 1, **rest) for b in order(last - first)]
        return max(failed, default=0)

    monkeypatch.setattr(Emulated, "_run", in_order)
    m = np.random.default_rng(3).integers(-99, 99, (5, 16), dtype=np.int32)
    module = emulated().define(program(file))
    for name in names.split():
        want = np.sort(m, axis=1) if file == "networks" else np.cumsum(m, axis=1)
        assert np.array_equal(getattr(module, name)(m), want), name


@pytest.mark.parametrize("number", [4, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 3, 5, 6, 7))])
def test_a_reduction(number: int) -> None:
    m = np.random.default_rng(4).integers(-99, 99, (2, 64), dtype=np.int32)
    there = emulated()
    assert np.array_equal(getattr(there.define(program("reductions")), f"red{number}")(m), m.sum(axis=1))


# ---------------------------------------------------------------- stages

FORCE = "\n#pragma force\n"
STAGES: dict[str, tuple[str, int, int, tuple[int, ...]]] = {
    # text, threads, barriers, shape
    "each reads its own": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] * 2; }} : genarray(shape(v), 0); "
        "return with { ([0] <= [x] < shape(v)) : a[x] + 1; } : genarray(shape(v), 0); }",
        8,
        0,
        (3, 21),
    ),
    "each reads its neighbour's": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] * 2; }} : genarray(shape(v), 0); "
        "return with { ([0] <= [x] < shape(v) - 1) : a[x + 1] + 1; } : genarray(shape(v), 7); }",
        8,
        1,
        (3, 21),
    ),
    "each reads its neighbour's, which it has computed itself": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] * 2; }} : genarray(shape(v), 0); "
        "return with { ([1] <= [x] < shape(v)) : a[x - 1] + 1; } : genarray(shape(v), 7); }",
        8,
        0,
        (3, 21),
    ),
    "a stage with gaps, a default and three elements a thread": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}#pragma gpueach(3)\n([1] <= [x] < shape(v) step [4] width [3]) : "
        "v[x] * 2; } : genarray(shape(v), 5); "
        "return with { ([0] <= [x] < shape(v)) : a[shape(v)[0] - 1 - x]; } : genarray(shape(v), 0); }",
        8,
        1,
        (2, 23),
    ),
    "two threads take turns": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}#pragma gputhreads(2)\n([0] <= [x] < shape(v)) : v[x] * 2; }} "
        ": genarray(shape(v), 5); "
        "return with { ([0] <= [x] < shape(v)) : a[shape(v)[0] - 1 - x]; } : genarray(shape(v), 0); }",
        8,
        1,
        (2, 37),
    ),
    "one modarray in place, one that is not": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x]; }} : genarray(shape(v), 0); "
        f"b = with {{{FORCE}([1] <= [x] < shape(v) step [2]) : a[x - 1] + a[x]; }} : modarray(a); "
        f"return with {{{FORCE}([2] <= [x] < shape(v)) : b[x - 1] + b[x] + b[0]; }} : modarray(b); }}",
        4,
        3,
        (2, 16),
    ),
    "two threads compare in turns, and double in place": (
        f"int[.] g(int[.] v) {{ n = shape(v)[0]; v = with {{{FORCE}([0] <= [x] < [n]) : v[n - 1 - x]; }} "
        f": genarray([n], 0); v = with {{{FORCE}#pragma gputhreads(2)\n([0] <= [x] < [n] step [2]) : "
        "min(v[x], v[x + 1]); ([1] <= [x] < [n] step [2]) : max(v[x], v[x - 1]); } : genarray([n], 0); "
        f"return with {{{FORCE}#pragma gputhreads(2)\n([0] <= [x] < [n]) : v[x] * 2; }} : genarray([n], 0); }}",
        8,
        3,
        (2, 40),
    ),
    "an array that two stages read": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] + 1; }} : genarray(shape(v), 0); "
        f"b = with {{{FORCE}([0] <= [x] < shape(v)) : a[(x + 1) % shape(v)[0]]; }} : genarray(shape(v), 0); "
        "return with { ([0] <= [x] < shape(v)) : a[x] * 100 + b[(x + 2) % shape(v)[0]]; } : genarray(shape(v), 0); }",
        4,
        2,
        (2, 9),
    ),
    "planes in the block's memory": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0,0] <= [i,j] < [3, shape(v)[0]]) : v[j] * 10 + i; }} "
        ": genarray([3, shape(v)[0]], 0); "
        "return with { ([0] <= [x] < shape(v)) : a[2,x] - a[0, shape(v)[0] - 1 - x]; } : genarray(shape(v), 0); }",
        8,
        1,
        (2, 11),
    ),
    "an index that comes of elements": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : abs(v[x]) % shape(v)[0]; }} "
        ": genarray(shape(v), 0); return with { ([0] <= [x] < shape(v)) : a[a[x]]; } : genarray(shape(v), 0); }",
        8,
        1,
        (3, 13),
    ),
    "one element": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] + 1; }} : genarray(shape(v), 0); "
        "return with { ([0] <= [x] < shape(v)) : a[0] * a[x]; } : genarray(shape(v), 0); }",
        1,
        0,
        (3, 1),
    ),
    "a scalar that all threads share": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] + 1; }} : genarray(shape(v), 0); "
        "s = a[3] * 2; return with { ([0] <= [x] < shape(v)) : a[x] * s; } : genarray(shape(v), 0); }",
        4,
        1,
        (3, 10),
    ),
    "a fold, and what it gives": (
        f"int[.] g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] + 1; }} : genarray(shape(v), 0); "
        "s = with { ([0] <= [x] < shape(v)) : a[x]; } : fold(+, 0); "
        "return with { ([0] <= [x] < shape(v)) : a[x] * s; } : genarray(shape(v), 0); }",
        8,
        2,
        (3, 30),
    ),
}


OF_ONE_KIND = STAGES.keys() - {
    "each reads its neighbour's, which it has computed itself",
    "a stage with gaps, a default and three elements a thread",
    "one modarray in place, one that is not",
    "two threads compare in turns, and double in place",
    "an index that comes of elements",
    "a fold, and what it gives",
}


def mostly(names: Iterable[str], long: Iterable[str]) -> list[object]:
    """Cases, those of a kind that another one has among the long ones."""
    return [pytest.param(n, marks=pytest.mark.long if n in long else (), id=n) for n in names]


@pytest.mark.parametrize("name", mostly(STAGES, OF_ONE_KIND))
def test_stages(name: str) -> None:
    text, threads, barriers, shape = STAGES[name]
    m = np.random.default_rng(6).integers(-99, 99, shape, dtype=np.int32)
    there = emulated()
    found = there.define(rows(text, threads)).f(m)
    assert np.array_equal(found, Session(target="interp").define(rows(text, threads)).f(m))
    assert said(there)[1] == barriers


@pytest.mark.parametrize(
    "way",
    mostly(
        ["halving", "interleaved", "runs(4)", "strided(4)", "shuffle", ""], ["halving", "interleaved", "runs(4)", ""]
    ),
)
def test_a_fold_between_stages_is_put_together_as_is_said(way: str) -> None:
    pragma = f"\n#pragma gpufold {way}\n" if way else ""
    text = (
        f"int g(int[.] v) {{ a = with {{{FORCE}([0] <= [x] < shape(v)) : v[x] * 3; }} : genarray(shape(v), 0); "
        f"return with {{{pragma}([0] <= [x] < shape(v)) : a[shape(v)[0] - 1 - x]; }} : fold(+, 5); }}"
    )
    m = np.random.default_rng(6).integers(-99, 99, (2, 100), dtype=np.int32)
    there = emulated()
    found = there.define(rows(text, 32, result="int[.]")).f(m)
    assert np.array_equal(found, 5 + 3 * m.sum(axis=1))
    assert way in str(there.explain())


U = "use Array: all; use Math: all;\n"
ODD: dict[str, tuple[str, tuple[int, ...]]] = {
    "the outer with-loop has steps, a plane of blocks and a default": (
        f"{U}int[*] f(int[.,.,.] m) {{ n = shape(m)[2]; return with {{\n#pragma gpublock(4)\n"
        "([1,0] <= [r,q] < [shape(m)[0],shape(m)[1]] step [2,3] width [1,2]) : "
        f"with {{{FORCE}([0] <= [x] < [n]) : m[r,q,n - 1 - x] + r; }} : genarray([n], 0); }} "
        ": genarray([shape(m)[0],shape(m)[1]], genarray([n], 7)); }",
        (5, 7, 9),
    ),
    "rows of a modarray": (
        f"{U}int[.,.] f(int[.,.] m) {{ n = shape(m)[1]; return with {{\n#pragma gpublock(4)\n"
        f"([1] <= [r] < [shape(m)[0] - 1]) : with {{{FORCE}([0] <= [x] < [n]) : m[r,n - 1 - x] + r; }} "
        ": genarray([n], 0); } : modarray(m); }",
        (5, 9),
    ),
    "partitions with blocks of different sizes": (
        f"{U}int[.,.] f(int[.,.] m) {{ n = shape(m)[1]; return with {{\n#pragma gpublock(4)\n"
        f"([0] <= [r] < [2]) : with {{{FORCE}([0] <= [x] < [n]) : m[r,n - 1 - x] + r; }} : genarray([n], 0);"
        f"\n#pragma gpublock(8)\n([1] <= [r] < [shape(m)[0]]) : with {{{FORCE}([0] <= [x] < [n]) : m[r,x] * 2; }}"
        " : genarray([n], 0); } : genarray([shape(m)[0]], genarray([n], 3)); }",
        (5, 9),
    ),
    "a fold of structs that keeps its order": (
        f"{U}struct M {{ int a; int b; }}; struct M after(struct M f, struct M g) "
        "{ return M{f.a * g.a, f.a * g.b + f.b}; } int[.] f(int[.,.] m) { return with {\n#pragma gpublock(32)\n"
        "([0] <= [r] < [shape(m)[0]]) { q = with { ([0] <= [x] < [shape(m)[1]]) : M{m[r,x], x}; } "
        ": fold(after, M{1,0}); } : q.a + q.b; } : genarray([shape(m)[0]], 0); }",
        (4, 70),
    ),
    "recursion": (
        f"{U}int[.] g(int[.] v) {{ n = shape(v)[0]; if (n <= 1) {{ r = v; }} else {{ "
        f"r = g(with {{{FORCE}([0] <= [x] < [n / 2]) : v[2 * x] * 3 + v[2 * x + 1]; }} : genarray([n / 2], 0)); }} "
        "return r; } int[.] f(int[.,.] m) { return with {\n#pragma gpublock(16)\n"
        "([0] <= [r] < [shape(m)[0]]) : g(m[r])[0]; } : genarray([shape(m)[0]], 0); }",
        (5, 64),
    ),
    "other extents, and cells that are vectors": (
        f"{U}int[.,.] f(int[.,.] m) {{ n = shape(m)[1]; return with {{\n#pragma gpublock(4)\n"
        f"([0] <= [r] < [shape(m)[0]]) {{ v = with {{{FORCE}([0] <= [i] < [n]) : "
        "with { ([0] <= [j] < [n]) : m[r,(i + j) % n]; } : genarray([n], 0); } : genarray([n], genarray([n], 0)); "
        f"w = with {{{FORCE}([0,0] <= [i,j] < [n / 2, 2]) : v[i,n - 1 - j] + v[(i + 1) % n,i]; }} "
        ": genarray([n / 2, 2], 0); } : reshape([n], w); } : genarray([shape(m)[0]]); }",
        (5, 12),
    ),
    "longer than the block": (
        f"{U}int[.] f(int[.,.] m) {{ n = shape(m)[1]; return with {{\n#pragma gpublock(128)\n"
        f"([0] <= [r] < [shape(m)[0]]) {{ v = with {{{FORCE}([0] <= [i] < [n]) : m[r,i] * 2; }} : genarray([n], 0); "
        f"w = with {{{FORCE}([1] <= [i] < [n] step [3]) : v[i - 1] + v[i]; }} : modarray(v); "
        "s = with { ([0] <= [i] < [n]) : w[i] * w[n - 1 - i]; } : fold(+, 0); } : s; } : genarray([shape(m)[0]], 0); }",
        (2, 2999),
    ),
    "forced in the body of another, where there is no block": (
        f"{U}int[.] f(int[.,.] m) {{ n = shape(m)[1]; return with {{ ([0] <= [r] < [shape(m)[0]]) {{ "
        f"b = with {{{FORCE}([0] <= [i] < [n]) : m[r,i] * 2; }} : genarray([n], 0); "
        "s = with { ([0] <= [i] < [n]) : b[i] * b[n - 1 - i]; } : fold(+, 0); } : s; } : genarray([shape(m)[0]], 0); }",
        (6, 7),
    ),
}
ALSO_LONG = {"longer than the block", "rows of a modarray", "recursion", "partitions with blocks of different sizes"}


@pytest.mark.parametrize("name", mostly(ODD, ALSO_LONG))
def test_odd_shapes(name: str) -> None:
    text, shape = ODD[name]
    m = np.random.default_rng(7).integers(-9, 9, shape, dtype=np.int32)
    assert np.array_equal(emulated().define(text).f(m), Session(target="interp").define(text).f(m))


def test_a_check_that_fails_is_told() -> None:
    text = STAGES["an index that comes of elements"][0].replace("abs(v[x]) % shape(v)[0]", "v[x]")
    module = emulated().define(rows(text))
    assert np.array_equal(module.f(np.array([[1, 2, 0]], np.int32)), [[2, 0, 1]])
    with pytest.raises(SacError, match="E0601"):
        module.f(np.array([[1, 2, 3]], np.int32))


def test_a_fold_that_wants_more_threads_than_the_block_has_is_refused() -> None:
    text = "int g(int[.] v) { return with {\n#pragma gpufold runs(2)\n([0] <= [x] < shape(v)) : v[x]; } : fold(+, 0); }"
    with pytest.raises(SacError, match="100 elements by 2 each are more threads than the 32 of the block"):
        emulated().define(rows(text, 32, result="int[.]")).f(np.ones((2, 100), np.int32))


def test_empty_rows_and_no_rows() -> None:
    text = STAGES["each reads its neighbour's"][0]
    module = emulated().define(rows(text))
    for shape in ((0, 5), (3, 0), (0, 0)):
        assert module.f(np.zeros(shape, np.int32)).shape == shape


# ---------------------------------------------------------------- what cannot be

STAGE = rf"with {{{FORCE}\1([0] <= [x] < shape(v)) : v[x]; }} : genarray(shape(v), 0)"
REFUSED = {
    "more threads than there are": (
        "int[.] g(int[.] v) { return STAGE(#pragma gpueach(2)\n); }",
        "20 elements by 2 each are 10 threads, and the block has 8",
    ),
    "more threads than the block has": (
        "int[.] g(int[.] v) { return STAGE(#pragma gputhreads(9)\n); }",
        "9 threads are to do a stage, and the block has 8",
    ),
    "a mapping in a stage": (
        "int[.] g(int[.] v) { return STAGE(#pragma gpukernel GridBlock(1, SplitLast(4, Gen))\n); }",
        "is a stage of a block's program",
    ),
    "rounds that elements decide": (
        "int[.] g(int[.] v) { for (i = 0; i < v[0]; i++) { v = STAGE; } return v; }",
        "whether a loop around its stages goes on is not known before the launch",
    ),
    "a branch that elements decide": (
        "int[.] g(int[.] v) { if (v[0] > 0) { v = STAGE; } return v; }",
        "stages in a branch that only a run of the block decides on",
    ),
    "an update between stages": (
        "int[.] g(int[.] v) { v = STAGE; v[3] = 7; return STAGE; }",
        "an array comes of a loop, a branch or an update between its stages",
    ),
    "too much memory": (
        "int[.] g(int[.] v) { a = with {FORCE([0,0] <= [i,j] < [9999, shape(v)[0]]) : v[j] + i; } : "
        "genarray([9999, shape(v)[0]], 0); return with { ([0] <= [x] < shape(v)) : a[9998 - x, x]; } "
        ": genarray(shape(v), 0); }".replace("FORCE", FORCE),
        "799920 bytes of the block's memory",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str) -> None:
    text, message = REFUSED[name]
    text = rows(re.sub(r"STAGE(?:\((#.*\n)\))?", STAGE, text))
    m = np.arange(60, dtype=np.int32).reshape(3, 20) % 5
    with pytest.raises(SacError) as error:
        emulated().define(text).f(m)
    (found,) = error.value.diagnostics
    assert found.code == "E0821" and message in found.message and found.help
