"""One with-loop with step and width, mapped in three ways: gaps left out (CompressGrid), skipped by a guard
(PruneGrid), and masked in the body.

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
    """Functions that change `width` of every 16 elements, in each way."""
    space = f"([0] <= [i] < [n] step [16] width [{width}])" if width < 16 else "([0] <= [i] < [n])"
    texts = [
        f"float[n] {way.lower()}(float[n] a)\n{{\n  return with {{\n    {pragma}\n    {space} : {_BODY};\n"
        f"  }} : modarray(a);\n}}"
        for way, pragma in _WAYS.items()
    ]
    masked = f"float[n] masking(float[n] a) {{ return {{ [i] -> i % 16 < {width} ? {_BODY} : a[i] | [i] < [n] }}; }}"
    return HEAD + "\n".join([*texts, masked])


def compared(session: Session, argument: Any) -> Iterator[dict[str, Any]]:
    """The rows."""
    machine = argument.memory.machine
    for width in DENSITIES:
        module = session.compile(source(width))
        row: dict[str, Any] = {"density": f"{width}/16"}
        for way in ("compressgrid", "prunegrid", "masking"):
            function = module[way]
            row[way] = seconds(lambda function=function: function(argument), lambda _: machine.synchronise())
        row["fastest"] = min(("compressgrid", "prunegrid", "masking"), key=row.__getitem__)
        yield row
