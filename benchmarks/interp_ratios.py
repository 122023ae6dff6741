"""The interpreter against plain Python and NumPy, as ratios; and single-element updates of a large array, in seconds.

Usage: python benchmarks/interp_ratios.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.workspace import Workspace, main_key

HEAD = "use Array: all; use StdIO: all;\n"


def python_int() -> int:
    s = 0
    i = 0
    while i < 1_000_000:
        s = s + i
        i = i + 1
    return s


def python_double() -> float:
    s = 0.0
    i = 0
    while i < 1_000_000:
        s = s * 0.5 + 1.5
        i = i + 1
    return s


LIST = list(range(1_000_000))


def python_read() -> int:
    a = LIST
    s = 0
    i = 0
    while i < 1_000_000:
        s = s + a[i]
        i = i + 1
    return s


TEN_MILLION = np.arange(10_000_000).astype(np.float64)


def numpy_expression() -> float:
    return float((TEN_MILLION * TEN_MILLION + TEN_MILLION)[3])


RATIOS: dict[str, tuple[str, Callable[[], object], float]] = {
    "wrapping ints, loop of 10^6": ("int main() { s = 0; for (i = 0; i < 1000000; i++) { s = s + i; } return s; }", python_int, 6),
    "doubles, loop of 10^6": ("int main() { s = 0.0; for (i = 0; i < 1000000; i++) { s = s * 0.5 + 1.5; } return toi(s); }", python_double, 6),
    "reading an array, loop of 10^6": ("objdef int[.] A = iota(1000000); int main() { a = A; s = 0; for (i = 0; i < 1000000; i++) { s = s + a[i]; } return s; }", python_read, 6),
    "a*b+c on 10^7 doubles": ("objdef double[.] A = tod(iota(10000000)); int main() { a = A; b = A; c = A; return toi((a * b + c)[3]); }", numpy_expression, 1.5),
}
SECONDS: dict[str, str] = {
    "in a loop": "int main() { a = genarray([1000000], 0); for (i = 0; i < 100000; i++) { a[i] = i; } return a[7]; }",
    "in a callee": "int[.] set(int[.] a, int i) { a[i] = i; return a; } int main() { a = genarray([1000000], 0); for (i = 0; i < 100000; i++) { a = set(a, i); } return a[7]; }",
    "in a struct's field": "struct S { int[1000000] a; int n; }; int main() { s = S{}; for (i = 0; i < 100000; i++) { s.a[i] = i; } return s.a[7]; }",
    "in a recursion": "int[.] rec(int[.] a, int i) { if (i < 50000) { a[i] = i; a = rec(a, i + 1); a[i] = i; } return a; } int main() { a = rec(genarray([1000000], 0), 0); return a[7]; }",
}


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs."""
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        action()
        best = min(best, perf_counter() - start)
    return best


def sac(text: str) -> float:
    """Seconds for `main` of a program, generated code and global objects in place."""
    program, _ = Workspace().load_text(HEAD + text)
    evaluator = Evaluator(program, World.captured())
    evaluator.call(main_key(program), ())
    return seconds(lambda: evaluator.call(main_key(program), ()))


def main() -> int:
    """Prints the table; the status says whether all bounds hold."""
    good = True
    for name, (text, peer, bound) in RATIOS.items():
        ours, theirs = sac(text), seconds(peer)
        good &= ours <= bound * theirs
        print(f"{name:32} {ours * 1e3:8.1f} ms  peer {theirs * 1e3:8.1f} ms  ratio {ours / theirs:5.2f}  (at most {bound})")
    for name, text in SECONDS.items():
        ours = sac(text)
        good &= ours <= 1
        print(f"10^5 updates {name:19} {ours * 1e3:8.1f} ms  (at most 1000)")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
