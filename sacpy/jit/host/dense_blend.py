"""Partitions that step along their last axis, such as the points of one colour of a chessboard: all points between the
first and the last are computed, vector by vector, and those that do not belong to them keep what is there.

In: a partition, and the sinks that take its values. Out: whether its last axis may be run through without gaps, and the
loop.

    part [1,1] <= [i,j] < [n,n] step [2,2] width [1,1]          for j from 1 to the last one:
        a = load u[i,j-1]                                             x[j] = 0.5 * (u[i,j-1] + u[i,j+1])
        b = load u[i,j+1]                              ->         for j from 1 to the last one:
        ..                                                            u[i,j] = (j - 1) mod 2 == 0 ? x[j] : u[i,j]

Vectors of elements that lie apart take a processor longer than some that are computed in vain. What is loaded must be
at the index plus something, so that it is there for points in between too. Values wait in a small buffer until a strip
of them is complete: a load that meets what has just been stored, in part, would have to wait for it. Points only read
what others of the partition do not change, or their own cell (`analysis/depends`; otherwise the result is another
array).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.analysis.along import Along
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import flat
from sacpy.jit.host.sinks import ArraySink, Sink
from sacpy.jit.host.work import weight
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import LLVM_TYPES
from sacpy.lang.types import BITS, REAL

MOST_STEP = 4
MOST = 48  # statements of a point, none of them dear
STRIP = 512  # points that are computed at a time


def can_blend(p: g.Partition, sinks: Sequence[Sink]) -> bool:
    """Whether a partition's last axis may be run through without gaps, and it pays."""
    if (
        p.rank < 1
        or p.step is None
        or not isinstance(p.step[-1], g.Const)
        or not 2 <= p.step[-1].value <= MOST_STEP
        or (p.width is not None and p.width[-1] != g.Const("int", 1))
    ):
        return False
    if (
        len(sinks) != 1
        or not isinstance(sinks[0], ArraySink)
        or sinks[0].earlier
        or len(sinks[0].result.extents) != p.rank
    ):
        return False
    if sinks[0].result.element not in REAL and BITS.get(sinks[0].result.element, 0) < 32:
        return False
    along = Along(p.index[-1])
    for s in p.body.statements:
        if (
            not isinstance(s, g.Let)
            or not isinstance(s.rhs, g.Op | g.Load)
            or (isinstance(s.rhs, g.Op) and weight(s.rhs) > 1.0)
        ):
            return False
        if (
            along.see(s)
            and isinstance(s.rhs, g.Load)
            and not {a.name for a in s.rhs.index if isinstance(a, g.Var)} & along.dependent <= along.names
        ):
            return False
    return len(p.body.statements) <= MOST


def blend_loop(
    lowering: Writer,
    p: g.Partition,
    sink: ArraySink,
    outer: tuple[str, ...],
    lower: str,
    upper: str,
    body: Callable[[str], None],
) -> None:
    """The loop of the last axis from `lower` to before `upper`; `outer`: the other components. `body` hands the values
    of an index to the sink."""
    assert p.step is not None and isinstance(p.step[-1], g.Const)
    code, step, type_ = lowering.code, int(p.step[-1].value), LLVM_TYPES[sink.result.element]
    span = code.difference(upper, lower)
    count = code.quotient(code.sum(span, str(step - 1)), str(step))
    end = code.sum(lower, code.difference(code.product(count, str(step)), str(step - 1)))
    values = code.slot(f"[{STRIP} x {type_}]")

    def strip(first: str) -> None:
        far = code.sum(first, str(STRIP))
        last = code.op(f"select i1 {code.op(f'icmp slt i64 {far}, {end}')}, i64 {far}, i64 {end}")

        def place(i: str) -> str:
            return code.offset(type_, values, code.op(f"sub nuw nsw i64 {i}, {first}"))

        def compute(i: str) -> None:
            sink.aside = place(i)
            body(i)
            sink.aside = ""

        def settle(i: str) -> None:
            gone = code.op(f"sub nuw nsw i64 {i}, {lower}")
            chosen = code.op(f"icmp eq i64 {code.op(f'urem i64 {gone}, {step}')}, 0")
            at = flat(code, (*outer, i), sink.result.extents)
            lowering.store(
                sink.result,
                at,
                code.op(
                    f"select i1 {chosen}, {type_} {code.load(type_, place(i))}, {type_} "
                    f"{lowering.load_flat(sink.result, at)}"
                ),
            )

        count_loop(lowering, first, last, "1", compute)
        count_loop(lowering, first, last, "1", settle)

    count_loop(lowering, lower, end, str(STRIP), strip)
