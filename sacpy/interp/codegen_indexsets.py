"""Index sets of with-loops as bounds and ranges of Python.

In: a partition, and the shape of the frame. Out: a `Box`, the texts of what its loops run over; lines that work these
out and check that they lie in the frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sacpy.interp.emitter import Ex
from sacpy.interp.intervals import INT, Interval, proper
from sacpy.lang.core import Atom, Partition
from sacpy.lang.source import Span
from sacpy.nodes import Record, field

if TYPE_CHECKING:
    from sacpy.interp.codegen_withloop import WithLoops


class Box(Record):
    """The index set of one partition: the length of the index where known, bounds and loop ranges as texts, and what
    each component of an index lies in."""

    length: int | None
    low: list[str] = field(default_factory=list)
    high: list[str] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    bounds: list[Interval] = field(default_factory=list)
    name: str = ""

    @property
    def outermost(self) -> str:
        """The range of the first loop: an empty one if any axis is, for there may be two thousand million rows."""
        inner = [r if not r.startswith("range(") else f"{low} < {high}" for low, high, r in self._inner]
        return f"{self.ranges[0]} if {' and '.join(inner)} else ()" if inner else self.ranges[0]

    @property
    def _inner(self) -> Iterator[tuple[str, str, str]]:
        """Bounds and ranges of the other axes, without those that are known to have indices."""
        for low, high, range_ in list(zip(self.low, self.high, self.ranges))[1:]:
            if not (low.isdigit() and high.isdigit() and range_.startswith("range(") and int(low) < int(high)):
                yield low, high, range_


def lowest(box: Box) -> str:
    """The text of the lower bounds of a box."""
    return f"({''.join(t + ', ' for t in box.low)})" if box.length is not None else f"{box.name}[0]"


def highest(box: Box) -> str:
    """The text of the upper bounds of a box."""
    return f"({''.join(t + ', ' for t in box.high)})" if box.length is not None else f"{box.name}[1]"


def box_of(gen: WithLoops, p: Partition, frame: str, frame_length: int | None) -> Box:
    """The index set of a partition, in lines and texts; `frame_length`: the axes of the frame, where they are known."""
    length = gen._partition_length(p)
    length = frame_length if length is None else length
    box = Box(length)
    shift_low, shift_high = 0 if p.lower_inclusive else 1, 1 if p.upper_inclusive else 0
    if p.upper is None:
        shift_high -= 1  # the largest legal index is one less than the extent
    if length is None:
        open_box(gen, box, p, frame, shift_low, shift_high)
        return box
    box.low = bounds_of(gen, p.lower, length, "lower bound", shift_low, ["0"] * length, p.span)
    extents = [f"{frame}[{k}]" for k in range(length)]
    box.high = bounds_of(gen, p.upper, length, "upper bound", shift_high, extents, p.span)
    if p.step is None and p.width is None:
        box.ranges = [
            f"range({high})" if low == "0" else f"range({low}, {high})" for low, high in zip(box.low, box.high)
        ]
    else:
        ones = ["1"] * length
        steps, widths = (
            bounds_of(gen, p.step, length, "step", 0, ones, p.span),
            bounds_of(gen, p.width, length, "width", 0, ones, p.span),
        )
        for spec in zip(box.low, box.high, steps, widths):
            name = gen.fresh("axis")
            gen.emit(f"{name} = {gen.mark('_axis(' + ', '.join(spec) + ')', p.span)}", p.span)
            box.ranges.append(name)
    check_box(gen, box, frame, frame_length, p)
    least = INT[0] if frame == "None" else 0  # others have been refused
    most = INT[1] - 1 + max(shift_high, 0)
    box.bounds = [
        proper(int(low) if low.isdigit() else least, int(high) - 1 if high.isdigit() else most)
        for low, high in zip(box.low, box.high)
    ]
    return box


def check_box(gen: WithLoops, box: Box, frame: str, frame_length: int | None, p: Partition) -> None:
    """The test that a partition stays inside the result, where that is not plain to see."""
    if frame == "None":
        return
    if frame_length != box.length:
        refuse = gen.mark(f"_bound({frame}, {box.length}, 'shape')", p.span)
        gen.emit(f"if len({frame}) != {box.length}: {refuse}", p.span)
    tests = [f"{low} < 0" for low in box.low if not low.isdigit()]
    tests += [f"{high} > {frame}[{k}]" for k, high in enumerate(box.high) if not high.startswith(f"{frame}[")]
    if tests:
        gen.emit(
            f"if {' or '.join(tests)}: {gen.mark(f'_check_box({lowest(box)}, {highest(box)}, {frame})', p.span)}",
            p.span,
        )


def open_box(gen: WithLoops, box: Box, p: Partition, frame: str, shift_low: int, shift_high: int) -> None:
    """An index set whose rank is known only at run time."""
    box.name = gen.fresh("box")
    texts = [
        f"({'None' if a is None else gen.index_tuple(gen.stable(a))}, {shift})"
        for a, shift in ((p.lower, shift_low), (p.upper, shift_high), (p.step, 0), (p.width, 0))
    ]
    gen.emit(f"{box.name} = {gen.mark('_axes(' + ', '.join(texts) + f', {frame})', p.span)}", p.span)
    if frame != "None":
        gen.emit(gen.mark(f"_check_box({box.name}[0], {box.name}[1], {frame})", p.span), p.span)


def bounds_of(
    gen: WithLoops, atom: Atom | None, length: int, what: str, shift: int, default: list[str], span: Span
) -> list[str]:
    """A bound, one text for each axis."""
    if atom is None:
        return [shifted(t, shift) for t in default]
    ex = gen.use(atom)
    if ex.parts is not None and len(ex.parts) == length:
        parts = [gen.local(p, span, "b") for p in ex.parts]
    elif ex.rank == 0 or gen.shape(atom).rank == 0:
        parts = [gen.local(ex, span, "b")] * length
    else:
        names_ = [gen.fresh("b") for _ in range(length)]
        if length:
            gen.emit(f"{', '.join(names_)}, = {gen.mark(f'_bound({ex.text}, {length}, {what!r})', span)}", span)
        parts = [Ex(n, "int", 0, True) for n in names_]
    texts = []
    for part in parts:
        text = shifted(part.text, shift)
        if not text.strip("()-").isalnum() and shift:
            name = gen.fresh("b")
            gen.emit(f"{name} = {text}", span)
            text = name
        texts.append(text)
    return texts


def shifted(text: str, shift: int) -> str:
    """The text of a number with a small one added."""
    if not shift:
        return text
    if text.lstrip("-(").rstrip(")").isdigit():
        value = int(text.strip("()")) + shift
        return str(value) if value >= 0 else f"({value})"
    return f"{text} {'+' if shift > 0 else '-'} {abs(shift)}"
