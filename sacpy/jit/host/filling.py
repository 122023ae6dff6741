"""The cells of a with-loop's result that no partition covers: filled with the default, or copied from the array that is modified.

In: a with-loop whose partitions leave cells out. Out: the code that sets these.

One dense partition leaves a box out: exactly its complement is filled, as contiguous runs. With several, all is filled first and then written over.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.graph import ArrayType, Atom, WithLoop
from sacpy.jit.host.functions import Lowering
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import Array, copy_elements, element_address, elements, flat

Run = Callable[[str, str], None]  # start and length, in elements


class Filling:
    """Fills a result."""

    def __init__(self, lowering: Lowering, w: WithLoop, result: Array) -> None:
        self.low, self.w, self.result = lowering, w, result
        assert w.frame is not None
        self.rank = len(w.frame)

    def default(self, value: Atom) -> None:
        """Every uncovered cell becomes `value`: a scalar, spread over the cell, or an array of the cell's extents."""
        low, result = self.low, self.result
        if not isinstance(value.type, ArrayType):
            text = low.text(value)
            self.runs(lambda start, length: count_loop(low, start, low.code.sum(start, length), "1", lambda i: low.store(result, i, text)))
            return
        cell = low.array(value)
        size = elements(low.code, cell.extents)

        def fill(start: str, length: str) -> None:
            body = lambda i: copy_elements(low.code, cell.element, element_address(low.code, result, i), cell.data, size)  # noqa: E731
            step = low.code.op(f"select i1 {low.code.op(f'icmp eq i64 {size}, 0')}, i64 1, i64 {size}")
            count_loop(low, start, low.code.sum(start, length), step, body)

        self.runs(fill)

    def copy(self, source: Array) -> None:
        """Every uncovered cell becomes that of `source`, an array of the result's extents."""
        low, result = self.low, self.result

        def copy(start: str, length: str) -> None:
            copy_elements(low.code, result.element, element_address(low.code, result, start), element_address(low.code, source, start), length)

        self.runs(copy)

    def runs(self, run: Run) -> None:
        """Tells `run` of contiguous stretches that hold all uncovered cells."""
        partitions = self.w.partitions
        if len(partitions) == 1 and partitions[0].step is None and self.rank:
            self.outside(run, ())
        else:
            run("0", elements(self.low.code, self.result.extents))

    def outside(self, run: Run, prefix: tuple[str, ...]) -> None:
        """The complement of the only partition's box, axis by axis: within the box's range on the axes before, what lies before and behind it on this one."""
        low, code, p, k = self.low, self.low.code, self.w.partitions[0], len(prefix)
        if k == self.rank:
            return
        extent = self.result.extents[k]
        lower, upper = self.clamped(low.wide(p.lower[k]), extent), self.clamped(low.wide(p.upper[k]), extent)
        inner = elements(code, self.result.extents[k + 1 :])
        if lower != "0":
            run(flat(code, (*prefix, "0"), self.result.extents), code.product(lower, inner))
        if upper != extent:
            run(flat(code, (*prefix, upper), self.result.extents), code.product(code.op(f"sub nsw i64 {extent}, {upper}"), inner))
        if self.more(k + 1):
            count_loop(low, lower, upper, "1", lambda i: self.outside(run, (*prefix, i)))

    def more(self, k: int) -> bool:
        """Whether the box leaves anything out on axis k or later ones."""
        p = self.w.partitions[0]
        return any(self.low.wide(p.lower[j]) != "0" or self.low.wide(p.upper[j]) != self.result.extents[j] for j in range(k, self.rank))

    def clamped(self, bound: str, extent: str) -> str:
        """A bound within 0 and the extent: those of an empty partition may be anywhere."""
        if bound in ("0", extent):
            return bound
        code = self.low.code
        low = code.op(f"select i1 {code.op(f'icmp slt i64 {bound}, 0')}, i64 0, i64 {bound}")
        return code.op(f"select i1 {code.op(f'icmp slt i64 {low}, {extent}')}, i64 {low}, i64 {extent}")
