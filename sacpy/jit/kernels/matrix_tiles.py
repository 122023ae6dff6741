"""Products of matrices by tensor cores: cells that sum products of two elements, where a pragma asks for it.

    #pragma gpufold mma(tf32)
    for each [i, j]: sum over k of a[i, k] * b[k, j]

In: a contraction, the form of the instructions, a piece of its partition. Out: a mapping and a kernel like those of
`register_tiles`, but that the warps of a block multiply what lies in a strip's tiles (`ir.matrix_units`); or the reason
why that cannot be, which is an error of the pragma.

The eight warps of a block lie in two rows of four. A warp has as many cells as its 32 threads have, a box of these; of
what it multiplies, each thread has the rows and columns that the instruction says. Of the indices of the folded axis
that an instruction takes, those of a thread are neighbours: so the threads of a warp read from all banks of shared
memory, whose rows are longer by four elements. What is behind the last index is 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sacpy.jit.analysis.affine import block_axes
from sacpy.jit.analysis.combine import steps_of_fold
from sacpy.jit.analysis.folds import recognised
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.matrix_units import COLUMNS, FORMS, OWN, ROWS, Form
from sacpy.jit.kernels import product_tiles
from sacpy.jit.kernels.contraction import Contraction, suits
from sacpy.jit.kernels.numbers import Numbers
from sacpy.jit.kernels.register_tiles import RegisterTiles, Writer, register_tiles
from sacpy.jit.kernels.source import Built, Source
from sacpy.jit.kernels.strip_loads import RegisterTile, StripLoad
from sacpy.nodes import replace
from sacpy.withloop import chains
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

WARPS = 2, 4  # of a block of 256 threads, along its two axes
_PRODUCTS = (
    "cells of two or three axes without gaps that sum products of two elements, of which one follows the rows and one "
    "the columns"
)
_LEAVE = "leave the pragma out"


class MatrixTiles(RegisterTiles):
    """What to load; `unit`: the form of the instructions."""

    purpose = "multiplied"
    unit: str

    def group(self, axis: int) -> int:
        """How many neighbouring cells a thread has: those that an instruction gives it."""
        return OWN if range(len(self.each))[axis] == len(self.each) - 1 else 1

    @property
    def form(self) -> Hashable:
        """The instructions are part of the kernel."""
        return super().form, self.unit

    def words(self, p: g.Partition) -> str:
        """What is loaded, and what it costs to multiply it so."""
        return f"{super().words(p)}, multiplied by tensor cores, which gives up {FORMS[self.unit].given_up}"

    def kernel(self, source: Source, number: int, mapping: chains.Mapping, bits: int) -> Built:
        """Loads the tiles of a strip, multiplies them, and goes on to the next."""
        return _Writer(source, number, self.body, mapping, self, bits).kernel()


def matrix_tiles(
    source: Source, c: Contraction | None, way: GpuFold, space: IndexSpace, numbers: Numbers, device: DeviceLimits
) -> tuple[chains.Chain, MatrixTiles]:
    """The mapping and the tiles of a piece with at least one cell. Raises `MappingError` where tensor cores cannot do
    it, or cannot do it so."""
    form = FORMS[way.form]
    if int(device.name.removeprefix("sm_")) < form.since:
        raise way.refused(f"{device.name} has no tensor cores for {way.form}, sm_{form.since} has", _LEAVE)
    if c is None or not _is_product(c) or space.rank not in (2, 3) or not space.dense:
        raise way.refused(f"tensor cores compute {_PRODUCTS}", _LEAVE)
    base = c.folds[0].neutrals[0].base
    if base != form.base:
        other = next((name for name, f in FORMS.items() if f.base == base), None)
        help = f"write mma({other}), which gives up {FORMS[other].given_up}" if other else _LEAVE
        raise way.refused(f"{way.form} is for sums of {form.base}s, and these are {base}s", help)
    chain = product_tiles.boxes(space, product_tiles.best(product_tiles.sides(c), space, device.processors))
    mapping = chain.map(space, device)
    axes = block_axes(mapping)

    def make(c: Contraction, tiles: tuple[RegisterTile, ...], strip: int, each: tuple[int, ...]) -> MatrixTiles:
        return MatrixTiles(c, tuple(replace(t, crossed=True) for t in tiles), strip, each, False, way.form)

    assert axes is not None
    found = register_tiles(source, c, axes, mapping, numbers, device.shared_per_block, make)
    if not isinstance(found, MatrixTiles) or sorted(t.moving for t in found.tiles) != [0, 1]:
        raise way.refused(f"tensor cores compute {_PRODUCTS}", _LEAVE)
    return chain, found


def _is_product(c: Contraction) -> bool:
    """Whether a cell sums products of two elements."""
    fold, body = c.folds[0], c.inner.body
    found = recognised(fold)
    lets = {s.targets[0]: s.rhs for s in body.statements if isinstance(s, g.Let)}
    result = lets.get(body.results[0]) if isinstance(body.results[0], g.Var) else None
    added = found is not None and found.codes == ("add",) and not any(s.negative for s in steps_of_fold(fold) or ())
    if len(c.folds) != 1 or not added:
        return False
    factors = [lets.get(a) for a in result.args if isinstance(a, g.Var)] if isinstance(result, g.Op) else []
    multiplied = isinstance(result, g.Op) and result.code == "mul" and len(factors) == 2
    loads = [f for f in factors if isinstance(f, g.Load)]
    return multiplied and len(loads) == 2 and len(lets) == 3 and suits(c)


class _Writer(Writer):
    found: MatrixTiles

    @property
    def unit(self) -> Form:
        return FORMS[self.found.unit]

    def put(self, load: StripLoad, buffer: g.Atom, many: g.Atom | None) -> k.ForAll:
        """Elements are rounded on their way to the tile, and what is behind the last index is 0."""
        return load.put(buffer, many, "totf32" if self.unit.rounds else "")

    def _place(self, threads: Sequence[g.Atom]) -> tuple[tuple[g.Atom, g.Atom], g.Atom, g.Atom]:
        """Of a thread: where its warp lies among those of the block, and the two digits of its number in the warp."""
        b, (down, along) = self.b, threads

        def bits(a: g.Atom, first: int, many: int) -> g.Atom:
            shifted = b.op("shr", a, b.word_const(first)) if first else a
            return b.op("bitand", shifted, b.word_const((1 << many) - 1))

        high = b.op("shl", bits(down, 0, 1), b.word_const(2))
        return (bits(down, 3, 1), bits(down, 1, 2)), b.op("bitor", high, bits(along, 2, 2)), bits(along, 0, 2)

    def _along(self, warp: g.Atom, warps: int, axis: int, own: g.Atom) -> g.Atom:
        """The first position of a thread along an axis of the block. `own`: counted from its warp's first."""
        b = self.b
        extent = self.frame.mapping.placement.block[axis] // warps
        return b.op("add", b.op("mul", warp, b.word_const(extent), exact=True), own, exact=True)

    def positions(self, threads: Sequence[g.Atom]) -> list[list[g.Atom]]:
        b = self.b
        (warp_down, warp_along), group, t = self._place(threads)
        row = self._along(warp_down, WARPS[0], 0, group)
        column = self._along(warp_along, WARPS[1], 1, b.op("mul", t, b.word_const(OWN), exact=True))
        down, along = self.each
        return [
            [self._further(row, n * ROWS) for n in range(down)],
            [self._further(column, n // OWN * COLUMNS + n % OWN) for n in range(along)],
        ]

    def _further(self, a: g.Atom, many: int) -> g.Atom:
        return self.b.op("add", a, g.Const(a.base, many), exact=True) if many else a

    def fold(self, strip: g.Var, many: g.Atom, buffer: g.Atom) -> tuple[k.BlockStmt, ...]:
        """Warps multiply a strip, all of it: what is not there is 0."""
        b, deep, (down, along) = self.b, self.unit.deep, self.each
        columns = along // OWN
        placed = {t.moving: (place, t) for place, t in self.placed.items()}
        steps = range(0, self.found.strip, self.unit.folded)
        parts = [[b.array(self.unit.base, (g.integer(n * deep),)) for n in (down, columns)] for _ in steps]
        b.open()
        threads = self.threads()
        (warp_down, warp_along), group, t = self._place(threads)
        rows = self._along(warp_down, WARPS[0], 0, group), self._along(warp_along, WARPS[1], 1, group)
        own = b.op("mul", b.as_int(t), g.integer(deep), exact=True)
        for first, arrays in zip(steps, parts):
            for moving, (start, size) in enumerate(zip(rows, (down, columns))):
                place, tile = placed[moving]
                for n in range(size):
                    for d in range(deep):
                        at, position = self._further(own, first + d), self._further(start, n * COLUMNS)
                        x = self.read(place, tile, buffer, at, position)
                        self.b.store(arrays[moving], (g.integer(n * deep + d),), x)
        loads = k.ForAll(threads, self.frame.threads, b.close())
        return loads, *(k.MultiplyAdd(self.own[0], a, b, self.found.unit) for a, b in parts)
