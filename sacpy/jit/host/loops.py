"""A counting loop over 64-bit numbers, the brick that loop nests are made of.

In: bounds, and who writes the body. Out: the loop's code.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.host.writer import Writer


def count_loop(
    lowering: Writer, lower: str, upper: str, step: str, body: Callable[[str], None], note: str = ""
) -> None:
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


def stretches(
    lowering: Writer, size: int, lower: str, upper: str, step: str, loops: Callable[[str, str], None]
) -> None:
    """Loops over 64-bit numbers from `lower` in steps of `step` while below `upper`, a stretch of `size` steps at a
    time, with a look at the stop flag between two: within loops that LLVM is to vectorise there is no room for it.
    `loops` writes those of a range."""
    code = lowering.code
    position = code.slot("i64")
    code.store("i64", lower, position)
    length = str(size * int(step)) if step.isdigit() else code.op(f"mul nsw i64 {step}, {size}")
    stretch, more, done = code.label("stretch"), code.label("more"), code.label("done")
    code.place(stretch)
    begin = code.load("i64", position)
    far = code.op(f"add nsw i64 {begin}, {length}")
    code.store("i64", far, position)
    loops(begin, code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {upper}')}, i64 {far}, i64 {upper}"))
    code.branch(code.op(f"icmp slt i64 {code.load('i64', position)}, {upper}"), more, done)
    code.place(more)
    lowering.poll()
    code.jump(stretch)
    code.place(done)


def short_or_long(
    lowering: Writer, size: int, lower: str, upper: str, step: str, loops: Callable[[str, str], None]
) -> None:
    """The same where rows are mostly short and there are many: these have loops of their own, which LLVM knows to be as
    long in each row."""
    code = lowering.code
    most = str(size * int(step)) if step.isdigit() else code.op(f"mul nsw i64 {step}, {size}")
    short, long, done = code.label("short"), code.label("long"), code.label("both")
    code.branch(code.op(f"icmp sle i64 {code.difference(upper, lower)}, {most}"), short, long)
    code.place(short)
    loops(lower, upper)
    code.jump(done)
    code.place(long)
    stretches(lowering, size, lower, upper, step, loops)
    code.jump(done)
    code.place(done)


def before(step: int) -> str:
    """LLVM's comparison of a counter that has not reached its end."""
    return "slt" if step > 0 else "sgt"
