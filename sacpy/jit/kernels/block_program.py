"""A block's program under construction: phases in order, and what stands between them.

In: the stages of a body (`block_stages`), the threads of the block. Out: the statements of its kernel. What a stage
makes is in the block's memory, or the kernel's result if nobody else reads it. What comes of no with-loop, scalars and
parts of arrays, is computed anew by each thread in each phase that needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sacpy.jit.analysis.reached import Numbers, reads_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.rewrite import free, uses
from sacpy.jit.kernels import maps
from sacpy.jit.kernels.block_arrays import staged
from sacpy.jit.kernels.block_folds import Total, folded, reads_of_total
from sacpy.jit.kernels.block_places import counted, index_of, numbers_of
from sacpy.jit.kernels.builder import IrArithmetic
from sacpy.jit.kernels.crossing import Crossing, Touched
from sacpy.jit.kernels.nests import divided, results_of, select
from sacpy.jit.kernels.source import Source, parameter_block
from sacpy.jit.kernels.values import Memory, Value, is_array
from sacpy.nodes import Node
from sacpy.withloop import chains
from sacpy.withloop.block_words import GpuBlock
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.spaces import IndexSpace

Item = g.Stmt | Total


class Noted(Node):
    """A phase, for those who look. `barrier`: whether one stands before it."""

    words: str
    barrier: bool


class BlockProgram:
    """One kernel under construction."""

    def __init__(
        self,
        source: Source,
        number: int,
        block: GpuBlock,
        program: g.Function,
        outer: chains.Mapping,
        bits: int,
        device: DeviceLimits,
    ) -> None:
        self.device = device
        self.source, self.asked, self.outer = source, block, outer
        self.partition = source.with_loop.partitions[number]
        self.thread = source.thread(f"block{number}", bits)
        self.thread.uses = uses(program.body)
        b = self.b = self.thread.b
        self.words, self.blocks = parameter_block(b, outer), b.number("blocks")
        self.place = b.names.var("block", b.word)
        self.results = maps.results(self.thread, source)
        self.wanted = program.body.results
        self.items: list[Item] = []  # what stands before the phase at hand
        self.homes: dict[str, g.Var] = {}  # the block's arrays, by the names of the graph
        self.crossing = Crossing()
        self.body: list[k.BlockStmt] = []
        self.phases: list[Noted] = []
        self.written: set[str] = set()  # results that are in their place
        statements = program.body.statements
        self.later: list[set[str]] = [set() for _ in statements]
        names = {a.name for a in self.wanted if isinstance(a, g.Var)}
        for n in range(len(statements) - 1, -1, -1):
            self.later[n] = set(names)
            names |= free(g.Block((statements[n],)))
        for s, later in zip(statements, self.later):
            self._statement(s, later)
        self._finish()

    # ---- statements

    def _statement(self, s: g.Stmt, later: set[str]) -> None:
        if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop):
            framed, folds = divided(s.rhs)
            names = results_of(s.rhs, s.targets)
            for chosen in (framed, folds):
                targets = [t for n in chosen for t in names[n]]
                if targets:
                    w = select(s.rhs, chosen)
                    items = self.needed([g.Block((g.Let(tuple(targets), w),))])
                    if chosen is framed:
                        staged(self, targets, w, self._living(later), items)
                    else:
                        self.items += folded(self, targets, w, items)
            return
        of_one = isinstance(s, g.Let) and not isinstance(s.rhs, g.View | g.Reshape | g.Cons | g.Var)
        if isinstance(s, g.Let) and of_one and any(g.extents_of(t) for t in s.targets):
            raise self.asked.refused(
                "an array comes of a loop, a branch or an update between its stages, which would be one thread's",
                "let a with-loop make it, or let the loop or branch stand in a stage",
            )
        self.items.append(s)

    def needed(self, code: Sequence[g.Block]) -> tuple[Item, ...]:
        """Of what stands before, that which some code needs, checks included."""
        names = set().union(*map(free, code)) if code else set()
        found: list[Item] = []
        for item in reversed(self.items):
            sets = {t.name for t in item.targets} if not isinstance(item, g.Check) else None
            if sets is None or sets & names:
                found.append(item)
                names |= item.free if isinstance(item, Total) else free(g.Block((item,)))
        return tuple(reversed(found))

    def _living(self, later: set[str]) -> set[str]:
        """The block's arrays that are read again."""
        names = set(later)
        for item in reversed(self.items):
            if isinstance(item, g.Check) or {t.name for t in item.targets} & names:
                names |= item.free if isinstance(item, Total) else free(g.Block((item,)))
        return names

    # ---- phases

    def numbers(self, atoms: Sequence[g.Atom], what: str) -> tuple[int, ...]:
        """Extents and bounds, which are numbers by now."""
        if not all(isinstance(a, g.Const) for a in atoms):
            raise self.asked.refused(
                f"{what} is not known before the launch", "take the numbers from extents and arguments"
            )
        return tuple(int(a.value) for a in atoms if isinstance(a, g.Const))

    def reads(
        self, code: g.Block, index: Mapping[str, Numbers], threads: Numbers, items: Sequence[Item]
    ) -> list[Touched]:
        """What threads read of the block's memory."""
        tracked = {name: self.numbers(g.extents_of(v), "an extent") for name, v in self.homes.items()}
        before = tuple(item for item in items if not isinstance(item, Total))
        found = reads_of(g.Block((*before, *code.statements), code.results), index, len(threads), tracked)
        return [
            *(Touched(self.homes[r.array].name, threads, r.cells) for r in found),
            *(t for item in items if isinstance(item, Total) for t in reads_of_total(item, threads)),
        ]

    def phase(
        self, code: Sequence[k.BlockStmt], reads: Sequence[Touched], writes: Sequence[Touched], words: str
    ) -> None:
        """Adds code that does this, behind a barrier where one is needed."""
        needed = self.crossing.needs(reads, writes)
        if needed:
            self.body.append(k.Barrier())
            self.crossing.meet()
        self.crossing.note(reads, writes)
        self.body += code
        self.phases.append(Noted(words, needed))

    def on_stage(self, w: g.WithLoop, error: MappingError) -> MappingError:
        """The error on the pragma of a stage that it is about."""
        for pragma in (*w.pragmas, *(pragma for p in w.partitions for pragma in p.pragmas)):
            if pragma.text.startswith(error.word):
                error.pragma = pragma
                return error
        return self.asked.refused(error.message, error.help)

    def start(self, items: Sequence[Item], then: Callable[[], None]) -> None:
        """Code of one thread: the cell of its block, what stands before, then the work."""
        index, guard = self.outer.recover(IrArithmetic(self.b, self.words), (self.place,), ())
        assert guard is None
        self.cell = tuple(map(self.b.as_int, index))
        self.thread.env = {name: Memory(v) for name, v in self.homes.items()}
        self.thread.bind(self.partition.index, self.cell)
        self._before(tuple(items), then)

    def _before(self, items: tuple[Item, ...], then: Callable[[], None]) -> None:
        at = next((n for n, item in enumerate(items) if isinstance(item, Total)), len(items))
        statements = tuple(item for item in items[:at] if not isinstance(item, Total))

        def rest(_: list[Value]) -> None:
            if at == len(items):
                then()
                return
            item = items[at]
            assert isinstance(item, Total)
            self.thread.bind(item.targets, item.values())
            self._before(items[at + 1 :], then)

        self.thread.block(g.Block(statements), rest)

    # ---- results

    def _finish(self) -> None:
        """What is not in its place yet goes there."""
        for array, a in zip(self.results, self.wanted, strict=True):
            if not (isinstance(a, g.Var) and a.name in self.written):
                self._copy(array, a)

    def _copy(self, array: g.Var, a: g.Atom) -> None:
        """A phase that puts a value into a result."""
        space = IndexSpace.box(self.numbers(g.extents_of(a), "an extent of a cell"))
        if not space.size:
            return
        index = tuple(g.Var(f".{n}", g.INT) for n in range(space.rank))
        element: tuple[g.Stmt, ...] = ()
        if isinstance(a, g.Var) and index:
            element = (g.Let((g.Var(".v", g.ScalarType(a.base)),), g.Load(a, index)),)
        items = self.needed([g.Block((), (a,))])
        threads = np.arange(space.size) % self.asked.threads
        numbers = dict(zip((v.name for v in index), numbers_of(space)))
        reads = self.reads(g.Block(element), numbers, threads, items)
        t = self.b.names.var("thread", self.b.word)

        def copy() -> None:
            at, v = index_of(self.b, space, t), self.thread.value(a)
            if is_array(v):
                v = self.thread.arrays.load(self.thread.array(a), at)
            assert isinstance(v, g.Var | g.Const)
            self.b.store(array, (*self.cell, *at), v)

        self.b.open()
        self.start(items, copy)
        code = k.ForAll((t,), (self.b.word_const(space.size),), self.b.close())
        self.phase([code], reads, (), f"{counted(space.size, 'element')} into the result")
