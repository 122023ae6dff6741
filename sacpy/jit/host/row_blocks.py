"""The code of rows that are products with a matrix (`schedule/row_products`): a block of them at a time.

In: a `RowProduct`. Out: memory for its rows, and the code that computes them.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import BORROWED, Array, element_address, flat
from sacpy.jit.host.sinks import ArraySink
from sacpy.jit.host.tiling import Tiling
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.schedule.row_products import RowProduct
from sacpy.nodes import replace

FEW = 4  # rows for which it does not pay to pack the matrix


class RowBlock:
    """Memory for a block of rows of one product. `rows`: how many there may be."""

    def __init__(self, low: Writer, product: RowProduct, rows: str, apart: tuple[str, ...]) -> None:
        self.low, self.product, self.apart = low, product, apart
        type_ = product.target.type
        assert isinstance(type_, g.ArrayType)
        self.memory = low.allocate(type_.base, (rows, *low.wides(type_.extents)))

    def fill(self, first: str, end: str, nest: Callable[[ArraySink], None]) -> None:
        """Computes the rows from `first` to before `end`, at the indices of the outer axes that are bound. `nest`
        writes the loops of one row, where the rows are too few for tiles."""
        low, code, tiles = self.low, self.low.code, self.product.tiles
        p = tiles.contraction.p
        many, few, done = code.label("many"), code.label("few"), code.label("filled")
        code.branch(code.op(f"icmp sge i64 {code.difference(end, first)}, {FEW}"), many, few)
        code.place(many)
        Tiling(low, tiles, [ArraySink(low, self.memory, p.rank)]).block_of_rows(first, end)
        code.jump(done)
        code.place(few)

        def one(i: str) -> None:
            low.bind_scalar(p.index[-2], code.op(f"trunc i64 {i} to i32"), i)
            for s in self.product.needed:
                low.statement(s, set(), {})
            nest(ArraySink(low, self.row(i, first), 1))

        count_loop(low, first, end, "1", one)
        code.place(done)

    def row(self, i: str, first: str) -> Array:
        """Row i of a block that begins at `first`."""
        code = self.low.code
        at = flat(code, (code.difference(i, first),), self.memory.extents)
        return replace(
            self.memory,
            data=element_address(code, self.memory, at),
            header=BORROWED,
            extents=self.memory.extents[1:],
            unique=False,
            apart=self.apart,
        )

    def bind(self, i: str, first: str) -> None:
        """Lets the product's name stand for row i."""
        self.low.env[self.product.target.name] = self.row(i, first)
