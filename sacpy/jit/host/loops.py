"""A counting loop over 64-bit numbers, the brick that loop nests are made of.

In: bounds, and who writes the body. Out: the loop's code.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.host.functions import Lowering


def count_loop(lowering: Lowering, lower: str, upper: str, step: str, body: Callable[[str], None], note: str = "") -> None:
    """A loop over 64-bit numbers from `lower` in steps of `step` while below `upper`."""
    code = lowering.code
    counter = code.slot("i64")
    code.store("i64", lower, counter)
    test, start, done = code.label("test"), code.label("body"), code.label("done")
    code.place(test)
    i = code.load("i64", counter)
    code.branch(code.op(f"icmp slt i64 {i}, {upper}"), start, done)
    code.place(start)
    body(i)
    code.store("i64", code.op(f"add nsw i64 {i}, {step}"), counter)
    code.jump(test, note)
    code.place(done)
