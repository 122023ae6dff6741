"""Values that go where counters say: compactions, and passes of radix sorts."""

from __future__ import annotations

from tests.ptx.cases.case import Cases

MADE = Cases(9)
MADE.add(
    "compaction",
    """int[.], double[.], int f(int[n] v) { a = v; b = tod(v); k = 0;
    for (i = 0; i < n; i++) { if (v[i] % 3 == 0) { a[k] = i; b[k] = tod(v[i]) / 4.0; k = k + 1; } }
    return (a, b, k); }""",
    (MADE.integers(5000),),
    (MADE.integers(1),),
)
MADE.add(
    "compaction that writes in any case",
    """int[.] f(int[n] v) { a = genarray([n + 1], -7); k = 0;
    for (i = 0; i < n; i++) { a[k] = v[i]; k = k + toi(v[i] > 9); } return a; }""",
    MADE.integers(4500),
)
MADE.add("sort of doubles", "use Sort: all;\ndouble[.] f(double[n] v) { return sort(v); }", MADE.doubles(4200))
MADE.add(
    "places in order", "use Sort: all;\nint[.] f(int[n] v) { return argsort(v); }", MADE.integers(5000, low=-9, high=9)
)
