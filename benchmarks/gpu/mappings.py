"""One with-loop with step and width, mapped in three ways: gaps left out (CompressGrid), skipped by a guard (PruneGrid), and masked in the body.

In: a session, a size. Out: for each density, of 1/16 to 1, the seconds of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.gpu.cases import HEAD
from benchmarks.gpu.measure import seconds
from sacpy import Session

DENSITIES = (1, 2, 4, 8, 12, 16)  # of 16
_BODY = "sqrt(a[i]) * 2.0f + a[i]"
_WAYS = {
    "CompressGrid": "#pragma gpukernel GridBlock(1, SplitLast(256, CompressGrid([1], ShiftLB(Gen))))",
    "PruneGrid": "#pragma gpukernel GridBlock(1, SplitLast(256, PruneGrid(ShiftLB(Gen))))",
}


def source(width: int) -> str:
    """Functions that update `width` of every 16 elements, in each way."""
    texts = [f"float[n] {way.lower()}(float[n] a)\n{{\n  return with {{\n    {pragma}\n    ([0] <= [i] < [n] step [16] width [{width}]) : {_BODY};\n  }} : modarray(a);\n}}" for way, pragma in _WAYS.items()]
    masked = f"float[n] masking(float[n] a) {{ return {{ [i] -> i % 16 < {width} ? {_BODY} : a[i] | [i] < [n] }}; }}"
    return HEAD + "\n".join([*texts, masked])


def compared(session: Session, argument: Any) -> Iterator[dict[str, Any]]:
    """The rows."""
    wait = argument.memory.machine.synchronise
    for width in DENSITIES:
        module = session.compile(source(width))
        row: dict[str, Any] = {"density": f"{width}/16"}
        for way in ("compressgrid", "prunegrid", "masking"):
            function = module[way]
            row[way] = seconds(lambda function=function: function(argument), wait)
        yield row
