"""Plans for genarray and modarray: which pieces there are, how each is mapped, which kernel it runs.

In: a with-loop whose operators are all of these; at run time the numbers that its bounds have. Out: launches that together write every cell of the results once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

from sacpy.jit.graph import Atom, Let, Load, Modarray, Var, blocks, extents_of, operands, statements
from sacpy.jit.kernels import contractions, maps, rows, staging
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch
from sacpy.jit.kernels.numbers import (
    Numbers,
    array_sizes,
    chain_of,
    flat_words,
    maybe_dense,
    maybe_zero_based,
    memory_of,
    pragmas_of,
    scratch_of,
    space_of,
)
from sacpy.jit.kernels.source import Built, Source, known_block, number_of
from sacpy.withloop import chains, membership
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import Pragma
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.splitting import MOST_PIECES, Piece, Split, split
from sacpy.withloop.strategies import choose

_MERGE_DENSE = 1 << 22  # cells up to which asking each index for its partition costs less than another launch
_MERGE_GAPS = 1 << 16  # the same where partitions have gaps, so that neighbouring threads take different branches


class Cells:
    """One with-loop. Kernels are remembered by the form of their mapping."""

    def __init__(self, source: Source, options: KernelOptions) -> None:
        self.source = source
        self.options = options
        w = source.with_loop
        self.rank = len(w.frame or ())
        self.pragmas = pragmas_of(w)
        self.kernels: dict[Hashable, Built] = {}
        self.scratch: set[str] = set()
        self._check()
        self.rows = [rows.tried(source, p) for p in w.partitions]
        self.contractions = [contractions.contraction(source, p) for p in w.partitions]

    def _check(self) -> None:
        """Translates each body once, so that what cannot run is known before it is to run; checks pragmas."""
        for p, pragmas in zip(self.source.with_loop.partitions, self.pragmas):
            chain = chain_of(pragmas)
            if chain is not None:
                chain.check(p.rank, self.options.device, maybe_zero_based(p), maybe_dense(p))
            thread = self.source.thread("trial", 32)
            maps.compute(thread, p, p.index, maps.results(thread, self.source))
            self.scratch |= thread.b.scratch_extents()

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        w = self.source.with_loop
        atoms: list[Atom] = list(w.frame or ())
        for p in (*w.partitions, *(row.inner for row in self.rows if row is not None), *(c.inner for c in self.contractions if c is not None)):
            atoms += [*p.lower, *p.upper, *(p.step or ()), *(p.width or ())]
        return {a.name for a in atoms if isinstance(a, Var)} | self.scratch

    def in_place(self) -> list[tuple[Var, str]]:
        """Results, each with the source array that is read by no index but where it is written."""
        w = self.source.with_loop
        own = {(o.array.name, p.index) for o in w.operators if isinstance(o, Modarray) for p in w.partitions}
        sources = [o.array.name for o in w.operators if isinstance(o, Modarray)]
        elsewhere: set[str] = set()
        for p in w.partitions:
            elsewhere |= {r.name for r in p.body.results if isinstance(r, Var)}
            for s in statements(p.body):
                if not isinstance(s, Let) or (isinstance(s.rhs, Load) and (s.rhs.array.name, s.rhs.index) in own):
                    continue
                elsewhere |= {a.name for a in operands(s.rhs) if isinstance(a, Var)}
                elsewhere |= {r.name for b in blocks(s.rhs) for r in b.results if isinstance(r, Var)}
        single = len(w.operators) == 1 or len(set(sources)) == len(w.operators)
        return [(t, o.array.name) for t, o in zip(self.source.targets, w.operators) if isinstance(o, Modarray) and single and o.array.name not in elsewhere]

    # ---- plans

    def plan(self, numbers: Numbers, parameters: Mapping[str, int]) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches."""
        w = self.source.with_loop
        frame = tuple(max(0, number_of(e, numbers)) for e in w.frame or ())
        spaces = tuple(space_of(p, numbers) for p in w.partitions)
        parts = split(frame, spaces)
        if parts.first_match:
            return [], self._together(frame, spaces, numbers, f"the partitions make more than {MOST_PIECES} pieces, so each index asks which has it")
        if self._merged(parts, frame, spaces):
            return [], self._together(frame, spaces, numbers, f"{len(parts.pieces)} pieces in one launch, each index asks which has it, as that costs less than launches do")
        temporaries: list[Buffer] = []
        launches: list[Launch] = []
        for piece in parts.pieces:
            if piece.partition is None:
                launches += self._default(piece.space, numbers)
                continue
            more, own = self._piece(piece, spaces, numbers, parameters)
            temporaries += more
            launches += own
        return temporaries, launches

    def _merged(self, parts: Split, frame: tuple[int, ...], spaces: tuple[IndexSpace, ...]) -> bool:
        """Whether the pieces go into one launch."""
        if not self.options.merge or len(parts.pieces) < 2 or (self.options.strategy == "auto" and any(self.rows)) or any(chain_of(p) is not None or _stages(p) for p in self.pragmas):
            return False
        return math.prod(frame) <= (_MERGE_DENSE if all(s.dense for s in spaces) else _MERGE_GAPS)

    def _together(self, frame: tuple[int, ...], spaces: tuple[IndexSpace, ...], numbers: Numbers, why: str) -> list[Launch]:
        spaces = tuple(s.normalised() for s in spaces)
        forms = tuple(map(membership.form, spaces))
        words = [(slot.value, slot.divisor) for s in spaces for slot in membership.slots(s)]

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return maps.pieces_kernel(self.source, forms, spaces, mapping, block, bits)

        chain, reasons = self._chosen(IndexSpace.box(frame))
        return self._launch(IndexSpace.box(frame), chain, (why, *reasons), ("pieces", forms), make, "pieces", None, numbers, words)

    def _piece(self, piece: Piece, spaces: tuple[IndexSpace, ...], numbers: Numbers, parameters: Mapping[str, int]) -> tuple[list[Buffer], list[Launch]]:
        number = piece.partition
        assert number is not None
        chain = chain_of(self.pragmas[number])
        whole = piece.space.normalised() == spaces[number].normalised()
        reasons: tuple[str, ...] = ("the pragma says so",)
        if chain is not None:
            names = {p.name for p in chain.parameters}
            chain = chain.bind(**{name: value for name, value in parameters.items() if name in names})
            try:
                chain.map(piece.space, self.options.device)
            except MappingError as error:
                if whole:
                    raise
                chain, reasons = None, (f"this piece of the partition does not fit the pragma: {error.message}",)
        row, body, wanted = self.rows[number], self.contractions[number], memory_of(self.pragmas[number])
        squares = None
        if chain is None and body is not None and self.options.strategy == "auto" and (wanted is None or wanted.mode == "shared"):
            squares = contractions.chain_for(body, piece.space, numbers)
        full = squares is not None and piece.space.size >= self.options.device.processors * contractions.SIDE**2
        if chain is None and row is not None and self.options.strategy == "auto" and not full:
            shared = rows.launches(self.source, number, row, piece.space, whole, numbers, self.options, self.kernels)
            if shared is not None:
                return shared
        if chain is None and squares is not None:
            chain = squares
            reasons = (*(reasons if chain_of(self.pragmas[number]) else ()), "squares of cells, as neighbours read the same")
        if chain is None:
            chain, why = self._chosen(piece.space)
            reasons = (*(reasons if chain_of(self.pragmas[number]) else ()), *why)

        if body is not None:
            strips = contractions.tiles_for(body, chain.map(piece.space, self.options.device), wanted, self.options.device.shared_per_block)
            if strips is not None:
                return [], self._tiled(piece, chain, (*reasons, f"{strips.size} bytes of shared memory: {strips.words(body.partition)}"), body, strips, numbers)
        tiles = staging.staging(self.source, number, chain.map(piece.space, self.options.device), wanted, self.options.device.shared_per_block)
        if isinstance(tiles, staging.Staging):
            return [], self._staged(piece, chain, (*reasons, f"{tiles.size} bytes of shared memory: {tiles.words(self.source.with_loop.partitions[number])}"), tiles, numbers)
        if tiles is not None:
            reasons = (*reasons, f"nothing is staged, as {tiles}")

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return maps.partition_kernel(self.source, number, mapping, block, bits)

        return [], self._launch(piece.space, chain, reasons, ("partition", number), make, "partition", number, numbers)

    def _staged(self, piece: Piece, chain: chains.Chain, reasons: tuple[str, ...], tiles: staging.Staging, numbers: Numbers) -> list[Launch]:
        number = piece.partition
        assert number is not None

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return staging.staged_kernel(self.source, number, mapping, tiles, bits)

        return self._launch(piece.space, chain, reasons, ("staged", number), make, "partition", number, numbers, constant_block=True)

    def _tiled(self, piece: Piece, chain: chains.Chain, reasons: tuple[str, ...], body: contractions.Contraction, strips: contractions.Tiles, numbers: Numbers) -> list[Launch]:
        number = piece.partition
        assert number is not None

        def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int) -> Built:
            return contractions.contraction_kernel(self.source, number, body, mapping, strips, bits)

        return self._launch(piece.space, chain, reasons, ("tiled", number), make, "partition", number, numbers, constant_block=True)

    def _default(self, space: IndexSpace, numbers: Numbers) -> list[Launch]:
        launches: list[Launch] = []
        for n, (o, t) in enumerate(zip(self.source.with_loop.operators, self.source.targets)):
            cell = tuple(max(0, number_of(e, numbers)) for e in extents_of(t)[self.rank :])
            ones = (1,) * len(cell)
            whole = IndexSpace((*space.lower, *(0 for _ in cell)), (*space.upper, *cell), (*space.step, *ones), (*space.width, *ones))
            chain, reasons = self._chosen(whole)

            def make(mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int, n: int = n) -> Built:
                return maps.default_kernel(self.source, n, self.rank, mapping, block, bits)

            launches += self._launch(whole, chain, reasons, ("default", n), make, "copy" if isinstance(o, Modarray) else "default", None, numbers)
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
        """The launch of one space; none where it is empty. `more`: words behind the mapping's, and whether each is a divisor. `constant_block`: the kernel has the block's extents as constants."""
        mapping = chain.map(space, self.options.device)
        if not mapping.threads:
            return []
        bits = mapping.bits([*array_sizes(self.source, numbers), *(v + max(space.upper, default=0) for v, _ in more or ())])
        block = mapping.placement.block if constant_block else known_block(mapping)
        key = (what, mapping.key, block, bits)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = make(mapping, block, bits)
        placement = mapping.placement
        shape = (*placement.launched, *(() if block is not None else placement.block))
        words = [*mapping.words(bits), *flat_words(more or [], bits)]
        reasons = (*reasons, *((placement.note,) if placement.note else ()))
        return [Launch(built.kernel, mapping.grid, mapping.block, built.arguments(shape, words), purpose, partition, mapping, reasons, scratch_of(built, numbers))]


def _stages(pragmas: Sequence[Pragma]) -> bool:
    """Whether shared memory is asked for."""
    memory = memory_of(pragmas)
    return memory is not None and memory.mode == "shared"
