"""The cells of a with-loop's result that no partition covers: filled with the default, or copied from the array that is
modified.

In: a with-loop whose partitions leave cells out. Out: the code that sets these.

One dense partition leaves a box out: its complement is filled, as contiguous runs, by a function that all with-loops
of the unit share that differ in nothing but numbers; rows that are short as a whole, since a run for each of their ends
would take longer. With several partitions, all is filled. What is too much is written over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import (
    BORROWED,
    Array,
    copy_elements,
    element_address,
    elements,
    fill_elements,
    flat,
)
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import ArrayType, Atom, WithLoop
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, size_of
from sacpy.nodes import replace

SHORT = 256  # bytes of a row that is filled as a whole

Run = Callable[[str, str], None]  # start and length, in elements


class Filling:
    """Fills a result."""

    def __init__(self, lowering: Writer, w: WithLoop, result: Array) -> None:
        self.low, self.w, self.result = lowering, w, result
        assert w.frame is not None
        self.rank = len(w.frame)
        self.leaves_a_box = len(w.partitions) == 1 and w.partitions[0].step is None and self.rank > 0

    def default(self, value: Atom) -> None:
        """Every uncovered cell becomes `value`: a scalar, spread over the cell, or an array of the cell's extents."""
        low, result = self.low, self.result
        if isinstance(value.type, ArrayType):
            self.with_cells(low.array(value))
        elif self.leaves_a_box:

            def scalars(inner: Writer, array: Array, texts: Sequence[str]) -> Run:
                def run(start: str, length: str) -> None:
                    if length == "1":
                        inner.store(array, start, texts[0])
                    else:
                        end = inner.code.sum(start, length)
                        count_loop(inner, start, end, "1", lambda i: inner.store(array, i, texts[0]))

                return run

            self.outside(scalars, [(LLVM_TYPES[value.base], low.text(value))])
        else:
            fill_elements(low.code, result, elements(low.code, result.extents), low.text(value))

    def with_cells(self, cell: Array) -> None:
        """The same for arrays."""
        low, result, size = self.low, self.result, elements(self.low.code, cell.extents)

        def fill(start: str, length: str) -> None:
            def body(i: str) -> None:
                copy_elements(low.code, cell.element, element_address(low.code, result, i), cell.data, size)

            step = low.code.op(f"select i1 {low.code.op(f'icmp eq i64 {size}, 0')}, i64 1, i64 {size}")
            count_loop(low, start, low.code.sum(start, length), step, body)

        if self.leaves_a_box:
            Outside(low, self.bounds(), result.extents, fill).axis(())
        else:
            fill("0", elements(low.code, result.extents))

    def copy(self, source: Array) -> None:
        """Every uncovered cell becomes that of `source`, an array of the result's extents."""
        low, result = self.low, self.result
        if not self.leaves_a_box:
            copy_elements(low.code, result.element, result.data, source.data, elements(low.code, result.extents))
            return

        def cells(inner: Writer, array: Array, texts: Sequence[str]) -> Run:
            def run(start: str, length: str) -> None:
                from_, to = (element_address(inner.code, replace(array, data=d), start) for d in (texts[0], array.data))
                copy_elements(inner.code, array.element, to, from_, length)

            return run

        self.outside(cells, [("ptr", source.data)])

    def bounds(self) -> list[tuple[str, str]]:
        """Of the only partition."""
        p, low = self.w.partitions[0], self.low
        return [(low.wide(lower), low.wide(upper)) for lower, upper in zip(p.lower, p.upper)]

    def outside(self, runs: Callable[[Writer, Array, Sequence[str]], Run], others: Sequence[tuple[str, str]]) -> None:
        """Writes a call of a function that fills what the only partition leaves out. `others`: values that it needs."""
        low, result = self.low, self.result
        bounds = self.bounds()
        outer = [
            ("ptr", result.data),
            *others,
            *(("i64", t) for t in (*(b for pair in bounds for b in pair), *result.extents)),
        ]
        params: dict[tuple[str, str], str] = {}
        for value in outer:
            if value[1].startswith("%"):
                params.setdefault(value, f"%a{len(params)}")
        name = low.code.module.fresh("fill")
        code = Code(low.code.module, name, "void", [(t, n) for (t, _), n in params.items()], tail="noinline")
        data, *rest = [params.get(value, value[1]) for value in outer]
        texts, numbers = rest[: len(others)], rest[len(others) :]
        count = len(bounds)
        inner_bounds = list(zip(numbers[: 2 * count : 2], numbers[1 : 2 * count : 2]))
        array = Array(data, BORROWED, result.element, tuple(numbers[2 * count :]))
        inner = low.fork(code)
        short = SHORT // size_of(array.element)
        Outside(inner, inner_bounds, array.extents, runs(inner, array, texts), short).axis(())
        code.end("ret void")
        shared = code.module.share(name, code.text())
        low.code.do(f"call void {shared}({', '.join(f'{t} {text}' for t, text in params)})")


class Outside:
    """The complement of a box in an array of these extents, told as contiguous runs. `short`: so many elements of the
    box, or fewer, may be in a run too, between what lies before and behind them."""

    def __init__(
        self, low: Writer, bounds: Sequence[tuple[str, str]], extents: tuple[str, ...], run: Run, short: int = 0
    ) -> None:
        self.low, self.bounds, self.extents, self.run, self.short = low, bounds, extents, run, short

    def axis(self, prefix: tuple[str, ...]) -> None:
        """Axis by axis: within the box's range on the axes before, what lies before and behind it on this one."""
        code, k = self.low.code, len(prefix)
        if k == len(self.bounds):
            return
        extent = self.extents[k]
        lower, upper = (self.clamped(bound, extent) for bound in self.bounds[k])
        inner = elements(code, self.extents[k + 1 :])
        if self.more(k + 1) and self.short and (not inner.isdigit() or int(inner) <= self.short):
            self.rows(prefix, inner, lambda: self.ends(prefix, lower, upper, inner))
        else:
            self.ends(prefix, lower, upper, inner)

    def rows(self, prefix: tuple[str, ...], inner: str, ends: Callable[[], None]) -> None:
        """The rows along the next axis, of `inner` elements each, as a whole where they are short. `ends`: others."""
        code, extent = self.low.code, self.extents[len(prefix)]

        def whole() -> None:
            self.run(flat(code, (*prefix, "0"), self.extents), code.product(extent, inner))

        if inner.isdigit():
            whole()
            return
        short, long, done = code.label("short"), code.label("long"), code.label("filled")
        code.branch(code.op(f"icmp sle i64 {inner}, {self.short}"), short, long)
        code.place(short)
        whole()
        code.jump(done)
        code.place(long)
        ends()
        code.jump(done)
        code.place(done)

    def ends(self, prefix: tuple[str, ...], lower: str, upper: str, inner: str) -> None:
        """What lies before and behind the box on the next axis, and then within its range there."""
        code, extent = self.low.code, self.extents[len(prefix)]
        if lower != "0":
            self.run(flat(code, (*prefix, "0"), self.extents), code.product(lower, inner))
        if upper != extent:
            self.run(flat(code, (*prefix, upper), self.extents), code.product(code.difference(extent, upper), inner))
        if self.more(len(prefix) + 1):
            count_loop(self.low, lower, upper, "1", lambda i: self.axis((*prefix, i)))

    def more(self, k: int) -> bool:
        """Whether the box leaves anything out on axis k or later ones."""
        pairs = zip(self.bounds[k:], self.extents[k:])
        return any(lower != "0" or upper != extent for (lower, upper), extent in pairs)

    def clamped(self, bound: str, extent: str) -> str:
        """A bound within 0 and the extent: those of an empty partition may be anywhere."""
        if bound in ("0", extent):
            return bound
        code = self.low.code
        low = bound if bound.isdigit() else code.largest(bound, "0")
        return code.op(f"select i1 {code.op(f'icmp slt i64 {low}, {extent}')}, i64 {low}, i64 {extent}")
