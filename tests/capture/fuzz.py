"""`python -m tests.capture.fuzz --count 5000 --target interp`: random Python functions against CPython.

In: numbers of functions, targets, of how many processes this is which. Out: the number of each function that differs,
is refused or fails, what went wrong, and at the end how many there were. A number says everything about a function.
Sums may be reordered, which an iteration that is chaotic makes visible: what differs is judged again under `strict_fp`.
"""

from __future__ import annotations

import argparse
import copy
import linecache
import math
import sys
import time
import warnings
from typing import Any

import numpy as np

import sacpy
from tests.capture.generate import generated

NAMES = {"np": np, "math": math, "Double": sacpy.Double, "Int": sacpy.Int}


def made(seed: int) -> tuple[Any, tuple[Any, ...]]:
    """A function whose text can be read, and its arguments."""
    text, given = generated(seed)
    name = f"<generated {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = dict(NAMES)
    exec(compile(text, name, "exec"), names)
    return names["f"], given


def compare(seed: int, session: sacpy.Session) -> None:
    """Runs a function by both. Raises AssertionError where they differ."""
    function, given = made(seed)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(*copy.deepcopy(given))
    found = sacpy.Captured(function, session)(*given)
    for mine, theirs in zip(found, expected, strict=True):
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9, err_msg=generated(seed)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--target", action="append", choices=("interp", "cpu", "auto", "emulator"))
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("K", "N"), help="each N-th, from K on")
    parser.add_argument("--seconds", type=float, default=math.inf, help="for each target")
    options = parser.parse_args()
    wrong, rounded, tried, begin = 0, 0, 0, time.perf_counter()
    for target in options.target or ["interp", "cpu", "auto"]:
        session, end = sacpy.Session(target), time.perf_counter() + options.seconds
        for seed in range(options.first + options.part[0], options.first + options.count, options.part[1]):
            if tried % 200 == 0:  # a session keeps what it has run
                session = sacpy.Session(target)
            if time.perf_counter() > end:
                print(f"{target}: left off before {seed}")
                break
            tried += 1
            try:
                try:
                    compare(seed, session)
                except AssertionError:
                    compare(seed, sacpy.Session(target, strict_fp=True))
                    rounded += 1
            except Exception as error:
                wrong += 1
                print(f"{target} {seed}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
    took = time.perf_counter() - begin
    print(f"{tried} functions in {took:.0f} s, {wrong} wrong, {rounded} right only in strict order", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
