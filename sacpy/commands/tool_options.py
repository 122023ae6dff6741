"""The options of the tools around programs: `test`, `bench`, `profile`, `new`.

In: what adds an argument to the parser of a command. Out: nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

_Options = Callable[..., argparse.Action]


def test(add: _Options) -> None:
    """Options of `sacpy test`."""
    what = "only tests whose FILE::NAME has these words in it; and, or, not and parentheses combine words"
    add("-k", dest="words", default="", metavar="EXPRESSION", help=what)
    add("-x", "--first", action="store_true", help="end with the first test that fails")
    add("-v", "--verbose", action="store_true", help="a line for each test")
    add("--list", action="store_true", help="name the tests, and run none")
    what = "how many cases a test with parameters is tried with; 100 by default"
    add("--cases", type=_above_0, default=100, metavar="N", help=what)
    what = "other cases for tests with parameters: those of this number; 0 by default"
    add("--seed", type=int, default=0, metavar="N", help=what)
    add("--watch", action="store_true", help="run the tests now and after each change of the files")
    add("--junit", type=Path, default=None, metavar="FILE", help="write the results to a file, in JUnit's XML")
    add("--durations", type=_above_0, default=0, metavar="N", help="tell which N tests took longest")
    what = (
        "a program or module, a folder for all .sac files in it, or FILE::NAME for the tests of one function; tests "
        "are functions called test_*, examples in comments, and programs with NAME.out or NAME.expected beside them; "
        "with --target all each runs interpreted, compiled and on the emulator, and must do the same; this folder "
        "without any"
    )
    add("paths", nargs="*", default=["."], metavar="PATH", help=what)


def _above_0(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


_above_0.__name__ = "int"  # argparse calls it that in its message


def bench(add: _Options) -> None:
    """Options of `sacpy bench`."""
    what = f"where to run, side by side: {', '.join(TARGETS)}, several with commas between them; auto by default"
    add("--target", dest="targets", type=_targets, default=["auto"], metavar="T[,T..]", help=what)
    what = "how many threads a compiled loop may use, several with commas between them; by default one per core"
    add("--threads", type=_numbers, default=[], metavar="N[,N..]", help=what)
    what = "for functions bench_*(int n): the sizes to call them with; 1000 and 100000 by default"
    add("--sizes", type=_numbers, default=[1000, 100000], metavar="N[,N..]", help=what)
    what = "how long to measure a call on a target; 1 by default"
    add("--time", type=_positive, default=1.0, metavar="SECONDS", help=what)
    what = "keep the times and the program in a file, for --against"
    add("--save", type=Path, default=None, metavar="BASE.json", help=what)
    what = "compare with the program that such a file has: both are measured now, in turns; status 1 if one is slower"
    add("--against", type=Path, default=None, metavar="BASE.json", help=what)
    what = "differences below this do not count; 2 by default"
    add("--tolerance", type=_positive, default=2.0, metavar="PERCENT", help=what)
    what = "a line for each compiled with-loop: bytes and operations beside what this machine can, measured now"
    add("--roofline", action="store_true", help=what)
    add("--json", action="store_true", help="print everything as JSON")
    add("--strict-fp", action="store_true", help="floating point in the order that the program says")
    add("file", type=Path, metavar="FILE.sac")
    what = "calls to measure, as 'f(iota(1000))': their arguments are evaluated before; all functions bench_* without"
    add("expressions", nargs="*", metavar="EXPR", help=what)


def new(add: _Options) -> None:
    """Options of `sacpy new`."""
    add("kind", choices=["program", "module", "python"])
    add("folder", type=Path, metavar="NAME", help="the folder to make; what is in it is called so too")


def profile(add: _Options) -> None:
    """Options of `sacpy profile`."""
    add("--html", type=Path, default=None, metavar="FILE", help="write a page with the program's text too")
    add("--rows", type=_above_0, default=10, metavar="N", help="how many rows each table has; 10 by default")
    add("file", type=Path)


TARGETS = ("auto", "cpu", "cuda", "emulator", "interp")


def _targets(text: str) -> list[str]:
    names = text.split(",")
    wrong = next((name for name in names if name not in TARGETS), None)
    if wrong is not None:
        raise argparse.ArgumentTypeError(f"{wrong!r} is none of {', '.join(TARGETS)}")
    return names


def _numbers(text: str) -> list[int]:
    return [_above_0(number) for number in text.split(",")]


def _positive(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


_numbers.__name__ = "number"
_positive.__name__ = "number"
OPTIONS: dict[str, Callable[[_Options], None]] = {
    "test": test,
    "bench": bench,
    "profile": profile,
    "new": new,
    "dap": lambda add: None,
}
"""By command."""
