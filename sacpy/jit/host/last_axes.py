"""The code of last axes that are run through in another way than index by index: without gaps (`schedule/dense_blend`),
or several indices in a round (`schedule/residues`).

In: what the schedule says, bounds, and who writes the body. Out: the loops.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.host.folds import scalar_note
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import flat
from sacpy.jit.host.sinks import ArraySink
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import LLVM_TYPES
from sacpy.jit.schedule.residues import Residues


def blend_loop(
    lowering: Writer,
    p: g.Partition,
    sink: ArraySink,
    size: int,
    outer: tuple[str, ...],
    lower: str,
    upper: str,
    body: Callable[[str], None],
) -> None:
    """The loop of the last axis from `lower` to before `upper`, in strips of `size`; `outer`: the other components.
    `body` hands the values of an index to the sink."""
    assert p.step is not None and isinstance(p.step[-1], g.Const)
    code, step, type_ = lowering.code, int(p.step[-1].value), LLVM_TYPES[sink.result.element]
    span = code.difference(upper, lower)
    count = code.quotient(code.sum(span, str(step - 1)), str(step))
    end = code.sum(lower, code.difference(code.product(count, str(step)), str(step - 1)))
    values = code.slot(f"[{size} x {type_}]")

    def strip(first: str) -> None:
        far = code.sum(first, str(size))
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

    count_loop(lowering, lower, end, str(size), strip)


def bind_quotients(lowering: Writer, found: Residues, k: str, r: int) -> None:
    """Sets quotients and remainders for the index that is k times the divisor, and `r`."""
    for v, offset in found.quotients:
        wide = lowering.code.sum(k, str((r + offset) // found.divisor))
        lowering.bind_scalar(v, lowering.code.op(f"trunc i64 {wide} to i32"), wide)
    for v, offset in found.remainders:
        rest = str((r + offset) % found.divisor)
        lowering.bind_scalar(v, rest, rest)


def residue_loops(
    lowering: Writer,
    found: Residues,
    lower: str,
    upper: str,
    single: Callable[[str], None],
    several: Callable[[str], None],
) -> None:
    """The loops from `lower`, which is not negative, to before `upper`. `single`: writes the body for an index;
    `several`: what is left of it, where quotients and remainders are set."""
    code, d = lowering.code, found.divisor
    note = scalar_note(code.module)

    def together(k: str) -> None:
        first = code.product(k, str(d))
        for r in range(d) if found.only is None else (found.only,):
            bind_quotients(lowering, found, k, r)
            several(code.sum(first, str(r)))

    if found.only is not None:
        first, behind = (code.difference(bound, str(found.only)) for bound in (lower, upper))
        end = code.op(f"sdiv i64 {code.sum(behind, str(d - 1))}, {d}")
        count_loop(lowering, code.op(f"sdiv i64 {first}, {d}"), end, "1", together)
        return
    start, begin = "0", lower
    if lower != "0":
        start = code.op(f"sdiv i64 {code.sum(lower, str(d - 1))}, {d}")
        begin = code.product(start, str(d))
        begin = code.op(f"select i1 {code.op(f'icmp slt i64 {begin}, {upper}')}, i64 {begin}, i64 {upper}")
        count_loop(lowering, lower, begin, "1", single, note)
    end = code.op(f"sdiv i64 {upper}, {d}")
    count_loop(lowering, start, end, "1", together)
    left = code.product(end, str(d))
    left = code.op(f"select i1 {code.op(f'icmp sgt i64 {left}, {begin}')}, i64 {left}, i64 {begin}")
    count_loop(lowering, left, upper, "1", single, note)
