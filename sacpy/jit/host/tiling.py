"""Register tiles for sums over products, and other folds, that reuse what they load (`analysis/contractions`).

In: a contraction, and the array that takes its cells. Out: a nest that computes tiles of cells, with the sums in
registers while k runs. Every cell adds up in the order of k, so that results do not differ from the plain nest's in
that order (but for contraction where it is allowed).

What depends on j but not on i is first packed, for a column of tiles at a time, so that it is read in order from the
cache (Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008). A tile of columns is one row of
vectors; all of it is read in order. How large tiles are `schedule/tiles` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sacpy.jit.analysis.contractions import names_of
from sacpy.jit.host.loops import count_loop
from sacpy.jit.host.memory import Array, Scalar, element_address, flat, release
from sacpy.jit.host.sinks import ArraySink
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import LLVM_TYPES, constant
from sacpy.jit.schedule.loops import Tiles
from sacpy.jit.schedule.tiles import NARROW

Cell = Callable[[str, str], None]  # writes what is done for an index of k and a column


class Tiling:
    """Writes the nest of a contraction. `sinks`: take the cell's values; `lower`, `upper`: the range of the first axis,
    where it is not the partition's."""

    def __init__(
        self, lowering: Writer, tiles: Tiles, sinks: Sequence[ArraySink], lower: str = "", upper: str = ""
    ) -> None:
        self.low, self.sinks, self.code = lowering, sinks, lowering.code
        self.c = c = tiles.contraction
        self.first = (lower, upper)
        self.type = LLVM_TYPES[c.base]
        self.rows, self.vectors, self.lanes = tiles.rows, tiles.vectors, tiles.lanes
        from sacpy.jit.host.vectors import Vectors  # most programs have no tiles

        self.registers = Vectors(self.code, c.base, self.lanes, lowering.unit.style.flags)
        loads = [s for s in c.inner.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)]
        self.packs = (
            [s for s in loads if isinstance(s.rhs, g.Load) and c.j in s.rhs.index and c.p.index[-2] not in s.rhs.index]
            if c.packed
            else []
        )
        self.panels: dict[str, Array] = {}
        self.shared = tiles.sliding
        self.loaded: dict[tuple[str, int], str] = {}  # vectors of these, by name and column, in a step of rows together
        self.together = ""  # the first of the rows of columns that are computed together, where they are
        self.width = 0  # columns of the panels that are being used
        self.origin = ""  # the row that is stored as row 0, if that is another
        self.at_column = 0  # the vector's place among them

    def run(self, outer: tuple[str, ...] = ()) -> None:
        """Writes the loops: axes before the last two plainly, then columns of tiles, then rows; or all axes but the
        last, then tiles. `outer`: indices along the first axes, which are bound, where their loops are somebody
        else's."""
        code, p = self.code, self.c.p
        # checks that stand around the loop hold only if there is a cell
        some, none = code.label("some"), code.label("none")
        found = "true"
        for axis in range(len(outer), p.rank):
            lower, upper = self.bounds(axis)
            found = code.op(f"and i1 {found}, {code.op(f'icmp slt i64 {lower}, {upper}')}")
        code.branch(found, some, none)
        code.place(some)
        self.some(outer)
        code.place(none)

    def some(self, outer: tuple[str, ...]) -> None:
        """The loops, where no axis is empty."""
        if not self.c.packed:
            self.outer(outer)
            return
        self.in_panels(lambda: self.outer(outer))

    def in_panels(self, work: Callable[[], None]) -> None:
        """Does packed work, with memory for panels."""
        low, code = self.low, self.code
        wide = str(self.lanes * self.vectors)
        rounds = code.difference(low.wide(self.c.inner.upper[0]), low.wide(self.c.inner.lower[0]))
        positive = code.op(f"select i1 {code.op(f'icmp sgt i64 {rounds}, 0')}, i64 {rounds}, i64 0")
        for s in self.packs:
            self.panels[s.targets[0].name] = low.allocate(self.c.base, (positive, wide))
        work()
        for panel in self.panels.values():
            release(code, panel)

    def block_of_rows(self, first: str, end: str) -> None:
        """The tiles of some rows, stored from row 0 of the sink's array on, where outer indices are bound already.
        There is at least one row."""
        self.origin = first
        self.in_panels(lambda: self.columns((), first, end))

    def outer(self, index: tuple[str, ...]) -> None:
        k, p = len(index), self.c.p
        if not self.c.packed and k == p.rank - 1:
            self.low.block(g.Block(self.c.rows, ()))
            self.columns(index, "", "")
            return
        lower, upper = self.bounds(k)
        if self.shared and k == p.rank - 2:
            self.sliding(index, lower, upper)
            return
        if self.c.packed and k == p.rank - 2:
            self.columns(index, lower, upper)
            return

        def body(i: str) -> None:
            self.low.poll()
            self.bind(p.index[k], i)
            self.outer((*index, i))

        count_loop(self.low, lower, upper, "1", body)

    def sliding(self, index: tuple[str, ...], lower: str, upper: str) -> None:
        """Rows that share what they load: some at a time, where each has as many rounds as there are others; then
        single ones."""
        low, code = self.low, self.code
        count = code.difference(upper, lower)
        rounds = code.difference(low.wide(self.c.inner.upper[0]), low.wide(self.c.inner.lower[0]))
        enough = code.op(f"icmp sge i64 {rounds}, {self.rows - 1}")
        left = code.op(f"select i1 {enough}, i64 {code.op(f'srem i64 {count}, {self.rows}')}, i64 {count}")
        middle = code.sum(lower, code.difference(count, left))

        def single(i: str) -> None:
            low.poll()
            self.bind(self.c.p.index[-2], i)
            self.outer((*index, i))

        def several(i: str) -> None:
            self.together = i
            self.columns(index, "", "")
            self.together = ""

        count_loop(low, lower, middle, str(self.rows), several)
        count_loop(low, middle, upper, "1", single)

    def bounds(self, k: int) -> tuple[str, str]:
        lower, upper = self.first if k == 0 else ("", "")
        return lower or self.low.wide(self.c.p.lower[k]), upper or self.low.wide(self.c.p.upper[k])

    def bind(self, v: g.Var, i: str) -> None:
        self.low.env[v.name] = Scalar(self.code.op(f"trunc i64 {i} to i32"), "int", i)

    def columns(self, outer: tuple[str, ...], first: str, last: str) -> None:
        """Columns of full tiles, then narrower ones, masked. Where only what is stored has to be masked, all tiles
        are."""
        code, (lower, upper) = self.code, self.bounds(self.c.p.rank - 1)
        wide = self.lanes * self.vectors

        def full(j: str) -> None:
            self.low.poll()
            self.pack(j, str(wide), wide)
            self.down(first, last, lambda i, rows: self.tile(outer, i, rows, j, [""] * self.vectors, str(wide)))

        def masked(j: str, vectors: int) -> None:
            self.low.poll()
            masks = [self.registers.mask(code.sum(j, str(v * self.lanes)), upper) for v in range(vectors)]
            left, width = code.difference(upper, j), self.lanes * vectors
            columns = code.op(f"select i1 {code.op(f'icmp slt i64 {left}, {width}')}, i64 {left}, i64 {width}")
            self.pack(j, columns, width)
            self.down(first, last, lambda i, rows: self.tile(outer, i, rows, j, masks, columns))

        if self.all_packed:
            count_loop(self.low, lower, upper, str(wide), lambda j: masked(j, self.vectors))
            return
        count = code.difference(upper, lower)
        whole = code.difference(count, code.op(f"srem i64 {count}, {wide}"))
        nonempty = code.op(f"select i1 {code.op(f'icmp sgt i64 {count}, 0')}, i64 {whole}, i64 0")
        middle = code.sum(lower, nonempty)
        count_loop(self.low, lower, middle, str(wide), full)
        if not self.c.packed:  # what is left is read once, if it is more than a narrow tile takes
            left = code.difference(upper, middle)
            end = code.op(
                f"select i1 {code.op(f'icmp sgt i64 {left}, {self.lanes * NARROW}')}, i64 {upper}, i64 {middle}"
            )
            count_loop(self.low, middle, end, str(wide), lambda j: masked(j, self.vectors))
            middle = end
        count_loop(self.low, middle, upper, str(self.lanes * NARROW), lambda j: masked(j, NARROW))

    @property
    def all_packed(self) -> bool:
        """Whether all that depends on j is read from panels."""
        loads = [s.rhs for s in self.c.inner.body.statements if isinstance(s, g.Let) and isinstance(s.rhs, g.Load)]
        return len(self.packs) == sum(self.c.j in load.index for load in loads)

    def down(self, first: str, last: str, tile: Callable[[str, int], None]) -> None:
        """All rows of a column: full tiles, then single rows."""
        code = self.code
        if not self.c.packed:
            tile(self.together, self.rows if self.together else 1)
            return
        count = code.difference(last, first)
        whole = code.difference(count, code.op(f"srem i64 {count}, {self.rows}"))
        middle = code.sum(first, code.op(f"select i1 {code.op(f'icmp sgt i64 {count}, 0')}, i64 {whole}, i64 0"))
        count_loop(self.low, first, middle, str(self.rows), lambda i: tile(i, self.rows))
        count_loop(self.low, middle, last, "1", lambda i: tile(i, 1))

    def pack(self, j: str, columns: str, width: int) -> None:
        """Copies what the columns from j on need into panels: row k of a panel has the elements of the columns in
        order."""
        code, c, low = self.code, self.c, self.low
        self.width = width
        lower, upper = low.wide(c.inner.lower[0]), low.wide(c.inner.upper[0])
        for s in self.packs:
            panel, rhs = self.panels[s.targets[0].name], s.rhs
            assert isinstance(rhs, g.Load)

            def copy(k: str, column: str, rhs: g.Load = rhs, panel: Array = panel) -> None:
                self.bind(c.k, k)
                self.bind(c.j, code.sum(j, column))
                row = code.product(code.difference(k, lower), str(width))
                low.store(panel, code.sum(row, column), low.load(low.array(rhs.array), low.wides(rhs.index)))

            def clear(k: str, column: str, panel: Array = panel) -> None:
                row = code.product(code.difference(k, lower), str(width))
                low.store(panel, code.sum(row, column), constant(c.base, 0))

            def copy_row(k: str, copy: Cell = copy) -> None:
                count_loop(low, "0", columns, "1", lambda x: copy(k, x))

            def copy_column(x: str, copy: Cell = copy) -> None:
                count_loop(low, lower, upper, "1", lambda k: copy(k, x))

            def clear_row(k: str, clear: Cell = clear) -> None:
                count_loop(low, columns, str(width), "1", lambda x: clear(k, x))

            if rhs.index[-1] == c.j:  # read along the rows of the array, whichever they are
                count_loop(low, lower, upper, "1", copy_row)
            else:
                count_loop(low, "0", columns, "1", copy_column)
            # lanes that are no columns: what was left in memory may be denormal numbers, by which some processors
            # calculate a hundred times slower
            if columns != str(width):
                count_loop(low, lower, upper, "1", clear_row)

    # ---- tiles

    def tile(self, outer: tuple[str, ...], i: str, rows: int, j: str, masks: Sequence[str], columns: str) -> None:
        """The cells at rows i, i + 1, ... (of `outer` alone where tiles are not packed) and columns from j: sums over
        all k, then stored. `masks`: which lanes of each vector are columns; "" for all. `columns`: how many there
        are."""
        code, c, vectors = self.code, self.c, len(masks)
        sums = [[[code.slot(self.registers.vector) for _ in range(vectors)] for _ in range(rows)] for _ in c.targets]
        at_i = [code.sum(i, str(r)) if i else "" for r in range(rows)]
        at_j = [code.sum(j, str(v * self.lanes)) for v in range(vectors)]
        for tile, neutral, first in zip(sums, c.neutrals, c.starts):
            start = "" if first else self.splat(self.low.text(neutral))
            for r, row in enumerate(tile):
                for v, slot in enumerate(row):
                    code.store(
                        self.registers.vector,
                        self.cells_of(first, at_i[r], at_j[v], masks[v]) if first else start,
                        slot,
                    )

        def body(some: Sequence[int]) -> None:
            for r in some:
                for v in range(vectors):
                    self.at_column = v * self.lanes
                    for step, tile, term in zip(c.steps, sums, self.terms(at_i[r], at_j[v], masks[v])):
                        assert isinstance(step.value, g.Var)
                        found = {step.old.name: code.load(self.registers.vector, tile[r][v]), step.value.name: term}
                        for s in step.lets:
                            found[s.targets[0].name] = self.operation(s.rhs, found)
                        code.store(self.registers.vector, found[step.new.name], tile[r][v])

        if self.together:
            self.slid_rounds(rows, body)
        else:
            self.rounds(lambda: body(range(rows)))
        if not c.plain:
            self.finish_cells(outer, i, j, sums, columns)
            return
        for sink, tile in zip(self.sinks, sums):
            for r, row in enumerate(tile):
                for v, slot in enumerate(row):
                    at = flat(code, self.place(outer, at_i[r], at_j[v]), sink.result.extents)
                    self.registers.store(
                        code.load(self.registers.vector, slot),
                        element_address(code, sink.result, at),
                        masks[v],
                        sink.result.note(code),
                    )

    def cells_of(self, load: g.Load, i: str, j: str, mask: str) -> str:
        """The elements that a load gives for row i and the vector of columns at j."""
        if i:
            self.bind(self.c.p.index[-2], i)
        self.bind(self.c.j, j)
        array = self.low.array(load.array)
        return self.registers.load(self.address(array, load.index), mask, array.note(self.code))

    def rounds(self, body: Callable[[], None], axis: int = 0) -> None:
        """The loops over k."""
        inner = self.c.inner
        if axis == inner.rank:
            body()
            return

        def round_(k: str) -> None:
            self.bind(inner.index[axis], k)
            self.rounds(body, axis + 1)

        count_loop(self.low, self.low.wide(inner.lower[axis]), self.low.wide(inner.upper[axis]), "1", round_)

    def slid_rounds(self, rows: int, body: Callable[[Sequence[int]], None]) -> None:
        """The rounds of rows that share what they load, by what they load: that for k of the first row is that for
        k - 1 of the second, and so on. Each row has its rounds in their order: the last one begins and ends last."""
        low, code = self.low, self.code
        lower, upper = (low.wide(bounds[0]) for bounds in (self.c.inner.lower, self.c.inner.upper))

        def step(k: str, some: Sequence[int]) -> None:
            self.loaded = {}
            for r in some:
                self.bind(self.c.k, code.difference(k, str(r)))
                body((r,))
            self.loaded = {}

        for s in range(rows - 1):
            self.rounds(partial(step, code.sum(lower, str(s)), range(s + 1)), 1)
        count_loop(
            low, code.sum(lower, str(rows - 1)), upper, "1", lambda k: self.rounds(partial(step, k, range(rows)), 1)
        )
        for s in range(rows - 1):
            self.rounds(partial(step, code.sum(upper, str(s)), range(s + 1, rows)), 1)

    def place(self, outer: tuple[str, ...], i: str, j: str) -> tuple[str, ...]:
        """The index of a cell."""
        row = self.code.difference(i, self.origin) if self.origin else i
        return (*outer, row, j) if row else (*outer, j)

    def finish_cells(
        self, outer: tuple[str, ...], i: str, j: str, sums: Sequence[Sequence[Sequence[str]]], columns: str
    ) -> None:
        """Runs what is left of the body for each cell of a tile, and stores the results."""
        code, c, low = self.code, self.c, self.low
        rows, width = len(sums[0]), len(sums[0][0]) * self.lanes
        memories = [code.slot(f"[{rows * width} x {self.type}]") for _ in sums]
        for tile, memory in zip(sums, memories):
            for r, row in enumerate(tile):
                for v, slot in enumerate(row):
                    address = code.offset(self.type, memory, str(r * width + v * self.lanes))
                    self.registers.store(code.load(self.registers.vector, slot), address, "", "")

        def cell(r: str, x: str) -> None:
            row, column = code.sum(i, r) if i else "", code.sum(j, x)
            if row:
                self.bind(c.p.index[-2], row)
                low.block(g.Block(c.rows, ()))
            self.bind(c.j, column)
            for target, memory in zip(c.targets, memories):
                low.bind_scalar(
                    target,
                    code.load(self.type, code.offset(self.type, memory, code.sum(code.product(r, str(width)), x))),
                )
            index = self.place(outer, row, column)
            places = [sink.place(index) for sink in self.sinks]
            into = {
                a.name: place
                for a, place in zip(c.p.body.results, places)
                if place is not None and isinstance(a, g.Var)
            }
            values = low.block(g.Block(c.cells, c.p.body.results), (), into)
            for sink, value, place in zip(self.sinks, values, places):
                sink.put(index, [low.built(value, place) if place is not None and isinstance(value, Array) else value])

        count_loop(low, "0", str(rows), "1", lambda r: count_loop(low, "0", columns, "1", lambda x: cell(r, x)))

    def terms(self, i: str, j: str, mask: str) -> list[str]:
        """What one k adds to each sum, for row i and the vector of columns at j. Loads that several cells share are
        written once for each; LLVM merges them."""
        if i:
            self.bind(self.c.p.index[-2], i)
            self.low.block(g.Block(self.c.rows, ()))
        self.bind(self.c.j, j)
        found: dict[str, str] = {}
        for s in self.c.inner.body.statements:
            assert isinstance(s, g.Let)
            if s.targets[0].name not in self.c.vectors:
                self.low.statement(s, set(), {})
                continue
            found[s.targets[0].name] = self.vector(s, mask, found)
        return [self.operand(a, found) for a in self.c.inner.body.results]

    def vector(self, s: g.Let, mask: str, found: Mapping[str, str]) -> str:
        """The vector that a statement of a term sets, from those that were found before."""
        key = s.targets[0].name, self.at_column
        if key in self.loaded:
            return self.loaded[key]
        panel = self.panels.get(s.targets[0].name)
        if panel:
            return self.packed(panel)
        made = self.load(s.rhs, mask) if isinstance(s.rhs, g.Load) else self.operation(s.rhs, found)
        if self.together and s.targets[0].name in self.shared:
            self.loaded[key] = made
        return made

    def packed(self, panel: Array) -> str:
        """The vector of a panel at the current k."""
        k = self.code.difference(self.low.wide(self.c.k), self.low.wide(self.c.inner.lower[0]))
        at = self.code.sum(self.code.product(k, str(self.width)), str(self.at_column))
        return self.registers.load(element_address(self.code, panel, at), "", "")

    def load(self, rhs: g.Load, mask: str) -> str:
        array = self.low.array(rhs.array)
        if names_of(rhs.index[-1:]) & self.c.along:
            return self.registers.load(self.address(array, rhs.index), mask, array.note(self.code))
        return self.splat(self.low.load(array, self.low.wides(rhs.index)))

    def address(self, array: Array, index: Sequence[g.Atom]) -> str:
        return element_address(self.code, array, flat(self.code, self.low.wides(index), array.extents))

    def splat(self, text: str) -> str:
        """A vector of one element."""
        return self.registers.splat(self.registers.vector, self.type, text)

    def operation(self, rhs: object, found: Mapping[str, str]) -> str:
        """An operation on vectors that were found, and on scalars."""
        assert isinstance(rhs, g.Op)
        fuses = not self.low.facts.is_difference_of_products(rhs)
        return self.registers.operation(rhs, [self.operand(a, found) for a in rhs.args], fuses)

    def operand(self, a: g.Atom, found: Mapping[str, str]) -> str:
        if isinstance(a, g.Const):
            return self.splat(constant(a.base, a.value))
        return found[a.name] if a.name in found else self.splat(self.low.text(a))
