"""Plans for genarray and modarray: which pieces there are, how each is mapped, which kernel it runs.

In: a with-loop whose operators are all of these; at run time the numbers that its bounds have. Out: launches that
together write every cell of the results once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from sacpy.jit.ir.graph import Atom, Genarray, Modarray, Var, extents_of
from sacpy.jit.ir.matrix_units import COLUMNS, FOLDED
from sacpy.jit.kernels import across, blocks, maps, product_tiles, rows, segments, split_folds, staging, triangles, wide
from sacpy.jit.kernels.contraction import Contraction, contraction
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch
from sacpy.jit.kernels.numbers import (
    Numbers,
    array_sizes,
    block_of,
    chain_of,
    flat_words,
    fold_of,
    memory_of,
    pragmas_of,
    scratch_of,
    space_of,
    stages,
)
from sacpy.jit.kernels.source import Built, Source, known_block, number_of
from sacpy.jit.kernels.tilings import Tilings
from sacpy.nodes import replace
from sacpy.withloop import chains, membership
from sacpy.withloop.auto import in_rows
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import MOST_PIECES, Piece, box_around, split
from sacpy.withloop.strategies import choose
from sacpy.withloop.ways import GpuFold

_MERGE_DENSE = 1 << 22  # cells up to which asking each index for its partition costs less than another launch
_MERGE_MOST = 0.9  # of all cells in the first partition, with which that holds for any number of them
_MERGE_ACROSS = 1 << 18  # the same where reads across would be turned in shared memory
_MERGE_GAPS = 1 << 16  # the same where partitions have gaps, so that neighbouring threads take different branches


class Cells:
    """One with-loop. Kernels are remembered by the form of their mapping."""

    def __init__(self, source: Source, options: KernelOptions) -> None:
        self.source, self.options = source, options
        w = source.with_loop
        self.rank = len(w.frame or ())
        self.pragmas = pragmas_of(w)
        self.kernels: dict[Hashable, Built] = {}
        self.scratch: set[str] = set()
        self.split: split_folds.SplitFold | None = None
        self._check()
        self.rows = [rows.tried(source, p) for p in w.partitions]
        self.segments = [segments.tried(source, p) for p in w.partitions]
        self.contractions = [contraction(source, p) for p in w.partitions]
        self.wide = [wide.suits(p) for p in w.partitions]
        self.across = [across.axis_across(p, source.free) for p in w.partitions]
        self.tilings = Tilings(source, self.contractions, self.across, self.pragmas, options.device)

    def _check(self) -> None:
        """Translates each body once, so that what cannot run is known before it is to run; checks pragmas."""
        for p, pragmas in zip(self.source.with_loop.partitions, self.pragmas):
            chain = chain_of(pragmas)
            if chain is not None:
                triangles.check(chain, p, self.options.device)
            if (sizes := blocks.checked(self.source, p, pragmas)) is not None:
                self.scratch |= sizes  # with these it is known whether its stages can be
                continue
            thread = self.source.thread("trial", 32)
            maps.compute(thread, p, p.index, maps.results(thread, self.source))
            self.scratch |= thread.b.scratch_extents()

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        w = self.source.with_loop
        atoms: list[Atom] = [*(w.frame or ()), *triangles.sizes(w.partitions)]
        for p in (*w.partitions, *(c.inner for c in self.contractions if c is not None)):
            atoms += [*p.lower, *p.upper, *(p.step or ()), *(p.width or ())]
        of_rows = (row.inputs for row in self.rows if row is not None)
        return {a.name for a in atoms if isinstance(a, Var)}.union(self.scratch, *of_rows)

    # ---- plans

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. `taken`: the results that lie in the memory of their source; where all do, launches
        are over what partitions have alone."""
        w = self.source.with_loop
        within = taken.issuperset(t.name for t in self.source.targets)
        frame = tuple(max(0, number_of(e, numbers)) for e in w.frame or ())
        spaces = tuple(space_of(p, numbers) for p in w.partitions)
        parts = split(frame, spaces)
        every = frozenset(range(len(spaces) if within else len(spaces) + 1))
        if parts.first_match:
            box = box_around(spaces) if within else IndexSpace.box(frame)
            return [], self._first_match(box, spaces, every, numbers, parameters)
        pieces = [p for p in parts.pieces if p.partition is not None or not within]
        box = box_around([p.space for p in pieces]) if within and pieces else IndexSpace.box(frame)
        if self._merged(pieces, box, spaces):
            return [], self._together(
                box,
                spaces,
                every,
                numbers,
                f"{len(pieces)} pieces in one launch, each index asks which has it, as that costs less than "
                "launches do",
                whole=not within,
            )
        temporaries: list[Buffer] = []
        launches: list[Launch] = []
        whole: set[int] = set()  # partitions whose mapping fits all of them, and not each of their pieces
        for piece in pieces:
            number = piece.partition
            if number is None:
                launches += self._default(piece.space, numbers, taken)
            elif number not in whole:
                chain = self._asked(number, parameters)
                p = w.partitions[number]
                own = (q.space for q in pieces if q.partition == number)
                if chain is not None and not self._fits(chain, (triangles.positions(p, s, numbers) or s for s in own)):
                    whole.add(number)
                    launches += self._alone(
                        number, chain, spaces, numbers, "its mapping does not fit what other partitions leave of it"
                    )
                    continue
                more, made = self._piece(piece, chain, spaces, numbers)
                temporaries += more
                launches += made
        return temporaries, launches

    def _asked(self, number: int, parameters: Mapping[str, int]) -> chains.Chain | None:
        """The mapping that the pragmas of a partition ask for."""
        chain = chain_of(self.pragmas[number])
        if chain is None:
            return None
        names = {p.name for p in chain.parameters}
        return chain.bind(**{name: value for name, value in parameters.items() if name in names})

    def _fits(self, chain: chains.Chain, spaces: Iterable[IndexSpace]) -> bool:
        try:
            for space in spaces:
                chain.map(space, self.options.device)
        except MappingError:
            return False
        return True

    def _merged(self, pieces: Sequence[Piece], box: IndexSpace, spaces: tuple[IndexSpace, ...]) -> bool:
        """Whether the pieces go into one launch over a box, which nothing else lies in."""
        if (
            not self.options.merge
            or len(pieces) < 2
            or sum(p.space.size for p in pieces) < box.size
            or (self.options.strategy == "auto" and any(self.rows))
            or any(chain_of(p) or fold_of(p) or stages(p) or block_of(p) for p in self.pragmas)
        ):
            return False
        if self.options.strategy == "auto" and any(axis is not None for axis in self.across):
            return box.size <= _MERGE_ACROSS
        if self._several(box, spaces) is not None and spaces[self._order(spaces)[0]].size >= _MERGE_MOST * box.size:
            return True  # nearly all threads ask but once for all of their cells
        return box.size <= (_MERGE_DENSE if all(s.dense for s in spaces) else _MERGE_GAPS)

    def _several(self, box: IndexSpace, spaces: tuple[IndexSpace, ...]) -> chains.Chain | None:
        """The mapping of a box under which threads have several cells, of which they ask the first partition first."""
        first = self._order(spaces)[0]
        if self.options.strategy != "auto" or not spaces[first].dense or not self.wide[first]:
            return None
        return wide.chain_for(self.source.with_loop.partitions[first], box, self.options.device)

    def _first_match(
        self,
        box: IndexSpace,
        spaces: tuple[IndexSpace, ...],
        every: frozenset[int],
        numbers: Numbers,
        parameters: Mapping[str, int],
    ) -> list[Launch]:
        """The launches where the pieces would be too many: each index asks which partition has it. A partition with a
        mapping has a launch of its own."""
        launches: list[Launch] = []
        rest = set(every)
        why = f"the partitions make more than {MOST_PIECES} pieces, so each index asks which has it"
        for number, pragmas in enumerate(self.pragmas):
            blocks.check_pieces(pragmas)
            memory = memory_of(pragmas)
            if memory is not None and memory.mode == "shared":
                raise staging.cannot_stage(memory, f"the partitions make more than {MOST_PIECES} pieces")
            rows.check(fold_of(pragmas), self.rows[number], self.source.with_loop.partitions[number], True)
            chain = self._asked(number, parameters)
            if chain is not None:
                rest.discard(number)
                launches += self._alone(number, chain, spaces, numbers, why)
        return [*self._together(box, spaces, frozenset(rest), numbers, why), *launches]

    def _alone(
        self, number: int, chain: chains.Chain, spaces: tuple[IndexSpace, ...], numbers: Numbers, why: str
    ) -> list[Launch]:
        """The launch of a whole partition under its mapping, where threads leave out what earlier ones have."""
        only, reasons = frozenset([number]), ("the pragma says so", why)
        return self._asking(spaces[number], chain, reasons, spaces, only, "partition", number, numbers)

    def _together(
        self,
        box: IndexSpace,
        spaces: tuple[IndexSpace, ...],
        only: frozenset[int],
        numbers: Numbers,
        why: str,
        whole: bool = False,
    ) -> list[Launch]:
        """One launch over a box. `only`: the partitions that it is for, the default counted last; `whole`: it is for
        all cells of the results."""
        several = self._several(box, spaces) if whole else None
        chain, reasons = self._chosen(box) if several is None else (several, (_many(several),))
        return self._asking(box, chain, (why, *reasons), spaces, only, "pieces", None, numbers)

    def _order(self, spaces: tuple[IndexSpace, ...]) -> tuple[int, ...]:
        """The order in which an index asks partitions for itself: their own, or, where no two have it, the largest
        first, borders last."""
        disjoint = self.source.with_loop.disjoint
        return tuple(sorted(range(len(spaces)), key=lambda n: -spaces[n].size if disjoint else n))

    def _asking(
        self,
        space: IndexSpace,
        chain: chains.Chain,
        reasons: tuple[str, ...],
        spaces: tuple[IndexSpace, ...],
        only: frozenset[int],
        purpose: str,
        partition: int | None,
        numbers: Numbers,
    ) -> list[Launch]:
        """A launch in which each index asks which partition has it."""
        spaces = tuple(s.normalised() for s in spaces)
        forms = tuple(map(membership.form, spaces))
        words = [(slot.value, slot.divisor) for s in spaces for slot in membership.slots(s)]
        order = self._order(spaces)

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return maps.pieces_kernel(self.source, forms, spaces, only, order, mapping, block, bits)

        what, constant = ("pieces", forms, only, order), bool(chain.grid_block.each)
        return self._launch(space, chain, reasons, what, make, purpose, partition, numbers, words, constant)

    def _piece(
        self, piece: Piece, asked: chains.Chain | None, spaces: tuple[IndexSpace, ...], numbers: Numbers
    ) -> tuple[list[Buffer], list[Launch]]:
        """The launches of a piece of a partition. `asked`: the mapping that its pragmas ask for."""
        number = piece.partition
        assert number is not None
        way = fold_of(self.pragmas[number])
        if way is None or way.way != "mma":
            return self._laid_out(piece, number, asked, spaces, numbers, way)
        found = self.tilings.multiplied(number, way, piece.space, numbers)
        if found is not None:
            return [], self.tiled(piece, found[0], (f"the pragma says so: {way.words}",), found[1], numbers)
        temporaries, launches = self._laid_out(piece, number, asked, spaces, numbers, None)
        least = f"{COLUMNS} rows and columns by {FOLDED} indices"
        why = f"tensor cores multiply {least} at least, so {way.words} does nothing"
        return temporaries, [replace(launch, reasons=(*launch.reasons, why)) for launch in launches]

    def _laid_out(
        self,
        piece: Piece,
        number: int,
        asked: chains.Chain | None,
        spaces: tuple[IndexSpace, ...],
        numbers: Numbers,
        way: GpuFold | None,
    ) -> tuple[list[Buffer], list[Launch]]:
        """The same, `way` being how threads are to put together what cells fold."""
        device, what = self.options.device, ("partition", number)

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return maps.partition_kernel(self.source, number, mapping, block, bits)

        if (block := block_of(self.pragmas[number])) is not None:
            return [], blocks.launches(self.source, number, block, piece.space, numbers, self.options, self.kernels)
        whole = piece.space.normalised() == spaces[number].normalised()
        row, body, wanted = self.rows[number], self.contractions[number], memory_of(self.pragmas[number])
        positions = triangles.positions(self.source.with_loop.partitions[number], piece.space, numbers)
        chain, squares = asked, None
        reasons: tuple[str, ...] = ("the pragma says so",)
        auto = self.options.strategy == "auto"
        if chain is None and body is not None and way is None and auto and (wanted is None or wanted.mode == "shared"):
            split = self._split(body, piece.space, numbers) if whole and wanted is None else None
            if split is not None:
                return split
            squares = self.tilings.squares(number, body, piece.space, numbers, wanted)
        full = squares is not None and piece.space.size >= device.processors * product_tiles.SIDE**2
        otherwise = chain is not None or stages(self.pragmas[number])
        rows.check(way, row, self.source.with_loop.partitions[number], otherwise)
        if row is not None and (way or (auto and not full and not otherwise)):
            data = (piece.space, whole, numbers, self.options, self.kernels, way)
            shared = rows.launches(self.source, number, row, *data)
            if shared is not None:
                return shared
        segment = self.segments[number]
        if segment is not None and auto and chain is None and wanted is None:
            found = segments.launches(self.source, number, segment, piece.space, numbers, self.options, self.kernels)
            if found:
                return [], found
        if positions is not None and squares is None:
            if wanted is not None and wanted.mode == "shared":
                raise staging.cannot_stage(wanted, "what rows that grow read is no box")
            chain, reasons = (chain, reasons) if chain is not None else self._chosen(positions)
            return [], self._launch(positions, chain, reasons, what, make, "partition", number, numbers)
        if chain is None and squares is not None:
            chain, reasons = squares, (product_tiles.why(squares, piece.space, device.processors),)
        if chain is None and body is None and wanted is None and auto:
            chain, reasons = self.tilings.brought(number, piece.space, numbers)
        if chain is None:
            chain, reasons = self._chosen(piece.space)
        tiles = self.tilings.tiles(number, chain, piece.space, numbers)
        if isinstance(tiles, str) and asked is None:
            boxes = in_rows(piece.space, device)
            other = self.tilings.tiles(number, boxes.chain, piece.space, numbers)
            if not isinstance(other, str):
                chain, reasons, tiles = boxes.chain, boxes.reasons, other
        if isinstance(tiles, staging.Tiled):
            return [], self.tiled(piece, chain, reasons, tiles, numbers)
        if tiles is not None:
            assert wanted is not None
            raise staging.cannot_stage(wanted, tiles)
        if asked is None and wanted is None and self.options.strategy == "auto" and self.wide[number]:
            several = wide.chain_for(self.source.with_loop.partitions[number], piece.space, device)
            if several is not None:
                return [], self._wide(piece, several, numbers)
        return [], self._launch(piece.space, chain, reasons, what, make, "partition", number, numbers)

    def _split(
        self, body: Contraction, space: IndexSpace, numbers: Numbers
    ) -> tuple[list[Buffer], list[Launch]] | None:
        """The launches of cells whose folds are cut into parts; None where that does not pay."""
        w = self.source.with_loop
        new = w.complete and len(w.partitions) == 1 and all(isinstance(o, Genarray) for o in w.operators)
        cut = split_folds.cut_of(body, space, numbers, self.options) if new else None
        if cut is None:
            return None
        if self.split is None:
            self.split = split_folds.SplitFold(self.source, body, lambda source: Cells(source, self.options))
        return self.split.plan(cut, space, numbers, self.options)

    def _wide(self, piece: Piece, chain: chains.Chain, numbers: Numbers) -> list[Launch]:
        number = piece.partition
        assert number is not None

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return wide.wide_kernel(self.source, number, mapping, bits)

        what = ("wide", number)
        why = (_many(chain),)
        return self._launch(piece.space, chain, why, what, make, "partition", number, numbers, constant_block=True)

    def tiled(
        self, piece: Piece, chain: chains.Chain, reasons: tuple[str, ...], tiles: staging.Tiled, numbers: Numbers
    ) -> list[Launch]:
        """The launch of a piece whose blocks keep something in shared memory."""
        number = piece.partition
        assert number is not None

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return tiles.kernel(self.source, number, mapping, bits)

        words = f"{tiles.size} bytes of shared memory: {tiles.words(self.source.with_loop.partitions[number])}"
        reasons, what = (*reasons, words), (tiles.purpose, number, tiles.form)
        return self._launch(piece.space, chain, reasons, what, make, "partition", number, numbers, constant_block=True)

    def _default(self, space: IndexSpace, numbers: Numbers, taken: frozenset[str]) -> list[Launch]:
        launches: list[Launch] = []
        for n, (o, t) in enumerate(zip(self.source.with_loop.operators, self.source.targets)):
            if t.name in taken:
                continue
            cell = tuple(max(0, number_of(e, numbers)) for e in extents_of(t)[self.rank :])
            ones = (1,) * len(cell)
            whole = IndexSpace(
                (*space.lower, *(0 for _ in cell)), (*space.upper, *cell), (*space.step, *ones), (*space.width, *ones)
            )
            chain, reasons = self._chosen(whole)

            def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int, n: int = n) -> Built:
                return maps.default_kernel(self.source, n, self.rank, mapping, block, bits)

            purpose = "copy" if isinstance(o, Modarray) else "default"
            launches += self._launch(whole, chain, reasons, ("default", n), make, purpose, None, numbers)
        return launches

    def _chosen(self, space: IndexSpace) -> tuple[chains.Chain, tuple[str, ...]]:
        choice = choose(self.options.strategy, space, self.options.device)
        return choice.chain, choice.reasons

    def _launch(
        self,
        space: IndexSpace,
        chain: chains.Chain,
        reasons: tuple[str, ...],
        what: Hashable,
        make: Callable[[chains.Mapping, tuple[int, ...] | None, int], Built],
        purpose: str,
        partition: int | None,
        numbers: Numbers,
        more: list[tuple[int, bool]] | None = None,
        constant_block: bool = False,
    ) -> list[Launch]:
        """The launch of one space; none where it is empty. `more`: words behind the mapping's, and whether each is a
        divisor. `constant_block`: the kernel has the block's extents as constants."""
        mapping = chain.map(space, self.options.device)
        if not mapping.threads:
            return []
        bits = mapping.bits(
            [*array_sizes(self.source, numbers), *(v + max(space.upper, default=0) for v, _ in more or ())]
        )
        block = mapping.placement.block if constant_block else known_block(mapping)
        key = (what, mapping.key, block, bits)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = make(mapping, block, bits)
        placement = mapping.placement
        shape = (*placement.launched, *(() if block is not None else placement.block))
        words = [*mapping.words(bits), *flat_words(more or [], bits)]
        reasons = (*reasons, *(note for note in (placement.note, built.note) if note))
        return [
            Launch(
                built.kernel,
                mapping.grid,
                mapping.block,
                built.arguments(shape, words),
                purpose,
                partition,
                mapping,
                reasons,
                scratch_of(built, numbers),
            )
        ]


def _many(chain: chains.Chain) -> str:
    """Why threads have several cells."""
    return f"{math.prod(chain.grid_block.each)} cells a thread, as there are many"
