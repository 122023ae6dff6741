"""What the interpreter costs: scalar loops against the same loops in plain Python, a whole-array expression against
NumPy, and updates of single elements, which must not copy the array."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.measure import Row, duration, in_turns, ratio
from benchmarks.sac import SacProgram

ITERATIONS = 1_000_000
ELEMENTS = 10_000_000
UPDATED = 1_000_000
UPDATES = 100_000
DEPTH = 10_000  # of the recursion that updates: as many calls as there are updates, in chunks
LOOP_LIMIT = 6.0
ARRAY_LIMIT = 1.5
UPDATE_LIMIT = 1.0

LOOPS = """
use Array: all;

int ints(int n)
{
  s = 1;
  for (i = 0; i < n; i++) {
    s = s * 1664525 + i;
  }
  return s;
}

double doubles(int n)
{
  x = 0.5;
  for (i = 0; i < n; i++) {
    x = 3.75 * x * (1.0 - x);
  }
  return x;
}

double reading(double[.] a, int n)
{
  s = 0.0;
  for (i = 0; i < n; i++) {
    s = s + a[i];
  }
  return s;
}

double[.] arithmetic(double[.] a, double[.] b, double[.] c)
{
  return a * b + c;
}
"""

UPDATING = """
use Array: all;

struct Table { int[.] cells; int count; };

int loop(int n, int m)
{
  a = genarray([n], 0);
  for (i = 0; i < m; i++) {
    a[i] = i;
  }
  return a[m - 1];
}

noinline int[.] put(int[.] a, int i)
{
  a[i] = i;
  return a;
}

int callee(int n, int m)
{
  a = genarray([n], 0);
  for (i = 0; i < m; i++) {
    a = put(a, i);
  }
  return a[m - 1];
}

int field(int n, int m)
{
  t = Table{genarray([n], 0), 0};
  for (i = 0; i < m; i++) {
    t.cells[i] = i;
    t.count += 1;
  }
  return t.cells[m - 1];
}

int[.] fill(int[.] a, int from, int to)
{
  if (from < to) {
    a[from] = from;
    a = fill(a, from + 1, to);
  }
  return a;
}

int recursion(int n, int m, int depth)
{
  a = genarray([n], 0);
  for (start = 0; start < m; start += depth) {
    a = fill(a, start, start + depth);
  }
  return a[m - 1];
}

int row(int n, int m)
{
  a = genarray([100, n / 100], 0);
  for (i = 0; i < m; i++) {
    a[i % 100, i / 100] = i;
  }
  return a[(m - 1) % 100, (m - 1) / 100];
}

int rows(int n, int m)
{
  a = genarray([n / 10, 10], 0);
  for (i = 0; i < m; i++) {
    a[i] = genarray([10], i);
  }
  return a[m - 1, 9];
}
"""


def python_ints(n: int) -> int:
    s = 1
    for i in range(n):
        s = (s * 1664525 + i) & 0xFFFFFFFF
    return s - (s >> 31 << 32)


def python_doubles(n: int) -> float:
    x = 0.5
    for _ in range(n):
        x = 3.75 * x * (1.0 - x)
    return x


def python_reading(a: list[float], n: int) -> float:
    s = 0.0
    for i in range(n):
        s = s + a[i]
    return s


def measure(repetitions: int = 5, target: str = "interp") -> list[Row]:
    """All ratios and times."""
    return [*loops(repetitions, target), *arrays(repetitions, target), *updates(repetitions, target)]


def loops(repetitions: int, target: str) -> list[Row]:
    """Scalar loops against plain Python."""
    sac = SacProgram.from_text(LOOPS, target)
    a = np.linspace(0.0, 1.0, ITERATIONS)
    listed = a.tolist()
    n = ITERATIONS
    return [
        _against(
            "10^6 iterations over wrapping ints",
            lambda: sac.function("ints")(n),
            lambda: python_ints(n),
            repetitions,
            LOOP_LIMIT,
        ),
        _against(
            "10^6 iterations over doubles",
            lambda: sac.function("doubles")(n),
            lambda: python_doubles(n),
            repetitions,
            LOOP_LIMIT,
        ),
        _against(
            "10^6 iterations reading an array",
            lambda: sac.function("reading")(a, n),
            lambda: python_reading(listed, n),
            repetitions,
            LOOP_LIMIT,
        ),
    ]


def arrays(repetitions: int, target: str) -> list[Row]:
    """A whole-array expression against NumPy."""
    sac = SacProgram.from_text(LOOPS, target)
    a, b, c = (np.linspace(k, k + 1.0, ELEMENTS) for k in range(3))
    return [
        _against(
            "a * b + c on 10^7 doubles",
            lambda: sac.function("arithmetic")(a, b, c),
            lambda: a * b + c,
            repetitions,
            ARRAY_LIMIT,
        )
    ]


def updates(repetitions: int, target: str) -> list[Row]:
    """Updates of single elements, and of rows."""
    sac = SacProgram.from_text(UPDATING, target)

    def timed(name: str, where: str, *more: int) -> Row:
        function = sac.function(where)
        taken = in_turns({where: lambda: _expect(function(UPDATED, UPDATES, *more), UPDATES - 1)}, repetitions)
        return duration(name, taken[where].seconds, "s", UPDATE_LIMIT)

    return [
        timed("10^5 updates of 10^6 elements, in a loop", "loop"),
        timed("10^5 updates of 10^6 elements, in a callee", "callee"),
        timed("10^5 updates of 10^6 elements, in a struct's field", "field"),
        timed("10^5 updates of 10^6 elements, in a recursion", "recursion", DEPTH),
        timed("10^5 updates of 10^6 elements, in the rows of a matrix", "row"),
        timed("10^5 updates of whole rows of a matrix", "rows"),
    ]


def _against(name: str, ours: Callable[[], object], peer: Callable[[], object], repetitions: int, limit: float) -> Row:
    """Our time over a peer's, after a look that both compute the same."""
    if not np.array_equal(np.asarray(ours()), np.asarray(peer())):
        raise AssertionError(f"{name}: the peers disagree")
    taken = in_turns({"ours": ours, "peer": peer}, repetitions)
    return ratio(name, taken["ours"], taken["peer"], limit)


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"found {found}, expected {wanted}")
