"""The options of the tools around programs: `test`.

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
    what = (
        "a program or module, a folder for all .sac files in it, or FILE::NAME for the tests of one function; tests "
        "are functions called test_*, examples in comments, and programs with NAME.out or NAME.expected beside them; "
        "with --target all each runs interpreted, compiled and on the emulator, and must do the same"
    )
    add("paths", nargs="+", metavar="PATH", help=what)


def _above_0(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


_above_0.__name__ = "int"  # argparse calls it that in its message


OPTIONS: dict[str, Callable[[_Options], None]] = {"test": test}
"""By command."""
