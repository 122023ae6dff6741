"""A with-loop to be made into kernels, with what its code needs from around it.

In: a with-loop, the variables it sets, the functions of its unit. Out: its free variables, a `Thread` for each kernel,
and the frame that all mapped kernels share: strides over the grid, recovering the index, the guard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import inner_binders, names_of, uses, with_extents
from sacpy.jit.kernels import loop_tiles
from sacpy.jit.kernels.builder import Builder, IrArithmetic
from sacpy.jit.kernels.thread import Thread
from sacpy.nodes import Node, replace
from sacpy.withloop import chains


class Built(Node):
    """A kernel with the names of those parameters that a launch sets to numbers: first `shape`, then the parameter
    block. `note`: what is worth saying of its code."""

    kernel: k.Kernel
    shape: tuple[str, ...]
    note: str = ""

    def arguments(self, shape: Sequence[int], words: Sequence[int]) -> tuple[str | int, ...]:
        """An argument for each parameter of the kernel. Words over half of the range are given as negative numbers."""
        bits = self.kernel.bits
        numbers = dict(zip(self.shape, shape, strict=True))
        numbers |= {
            v.name: w - (1 << bits) if w >= 1 << (bits - 1) else w
            for v, w in zip(self.kernel.slots, words, strict=True)
        }
        return tuple(numbers.get(p.name, p.name) for p in self.kernel.params)


class Source:
    """A with-loop in its surroundings. `free`: the variables of its function that it uses, extents of arrays included,
    by name; `around`: a function of these that does nothing else."""

    def __init__(
        self, name: str, with_loop: g.WithLoop, targets: Sequence[g.Var], functions: Mapping[str, g.Function]
    ) -> None:
        self.name = name
        self.with_loop = with_loop
        self.targets = tuple(targets)
        self.functions = functions
        around = g.Block((g.Let(self.targets, with_loop),))
        self.free = free_variables(around)
        self.uses = uses(around)
        self.around = g.Function(name, tuple(self.free.values()), around)
        self._taken = names_of(self.around).taken
        self._made = 0

    def thread(self, purpose: str, bits: int) -> Thread:
        """Code of one thread, in a kernel of its own."""
        self._made += 1
        builder = Builder(f"{self.name}.{purpose}.{self._made}", self.free, Names(dict(self._taken)), bits)
        return Thread(builder, self.functions, self.uses)


def free_variables(block: g.Block) -> dict[str, g.Var]:
    """The variables that a block uses and does not set, by name."""
    found: dict[str, g.Var] = {}
    own: set[str] = set()

    def see(atoms: Sequence[g.Atom]) -> None:
        for a in with_extents(atoms):
            if isinstance(a, g.Var):
                found.setdefault(a.name, a)

    see(block.results)
    for s in g.statements(block):
        if not isinstance(s, g.Let):
            see((s.condition,))
            continue
        binders = (*s.targets, *inner_binders(s.rhs))
        own.update(v.name for v in binders)
        see(tuple(g.operands(s.rhs)))
        see(binders)
        for inner in g.blocks(s.rhs):
            see(inner.results)
    return {name: v for name, v in found.items() if name not in own}


class Frame:
    """What all mapped kernels share: strides over the grid, recovering the index. `block`: the extents of a block where
    they are to be constants; then a thread may have several of its positions (`Placement.each`): `size` counts
    positions, `threads` threads."""

    def __init__(self, builder: Builder, mapping: chains.Mapping, block: tuple[int, ...] | None) -> None:
        b = self.b = builder
        self.mapping = mapping
        placement = mapping.placement
        self.words = parameter_block(b, mapping)
        self.place = [b.names.var("block", b.word) for _ in placement.grid]
        self.launched = [b.number("blocks") for _ in placement.grid]
        self.size: tuple[g.Atom, ...] = tuple(
            b.word_const(e) if block is not None else b.number("threads") for e in (block or placement.block)
        )
        self.threads = tuple(map(b.word_const, placement.threads)) if placement.each else self.size
        whole = iter(self.words[len(self.words) - sum(placement.strided) :])
        self.at: list[g.Var] = []
        self.strides: list[tuple[g.Var, g.Var, g.Var, g.Var]] = []
        for own, step, strided in zip(self.place, self.launched, placement.strided):
            if strided:
                self.strides.append((b.names.var("at", b.word), own, next(whole), step))
            self.at.append(self.strides[-1][0] if strided else own)

    def _recovered(self, threads: Sequence[g.Atom]) -> tuple[tuple[g.Atom, ...], g.Atom | None]:
        index, guard = self.mapping.recover(IrArithmetic(self.b, self.words), self.at, threads)
        return tuple(map(self.b.as_int, index)), guard

    def index(self) -> tuple[tuple[g.Var, ...], tuple[g.Atom, ...], g.Atom | None]:
        """Code of one thread: its counters, for a `ForAll` over `size`; the index, as ints; whether it has one (None:
        always)."""
        threads = tuple(self.b.names.var("thread", self.b.word) for _ in self.size)
        return threads, *self._recovered(threads)

    def at_position(self, position: Sequence[g.Atom]) -> tuple[tuple[g.Atom, ...], g.Atom | None]:
        """Code of one thread: the index at a position of the block, as ints; whether there is one (None: always)."""
        return self._recovered(position)

    def corner(self) -> tuple[g.Atom, ...]:
        """Code of one thread: the index of the block's first thread."""
        return self._recovered([self.b.word_const(0)] * len(self.size))[0]

    def kernel(self, body: tuple[k.BlockStmt, ...]) -> Built:
        """The kernel that does this at each place of the grid."""
        for at, own, end, step in reversed(self.strides):
            body = (k.BlockFor(at, own, end, step, body),)
        several = bool(self.mapping.placement.each)
        made = self.b.kernel(self.place, self.launched, self.threads, body, aligned=several)
        return Built(made, tuple(v.name for v in self.b.shape))


def mapped(
    thread: Thread,
    mapping: chains.Mapping,
    block: tuple[int, ...] | None,
    more: Sequence[str],
    body: Callable[[tuple[g.Atom, ...], Sequence[g.Var]], None],
) -> Built:
    """A kernel over the threads of a mapping. `block`: as in `Frame`. `more`: names for words of the parameter block
    behind those of the mapping. `body(index, words)` writes the code for one index, whose entries are ints; `words` are
    those of `more`."""
    b = thread.b
    frame = Frame(b, mapping, block)
    extra = [b.slot(name) for name in more]
    b.open()
    threads, index, guard = frame.index()
    b.when(guard, lambda: body(index, extra))
    code = b.close()
    tiled = loop_tiles.phases(b, threads, frame.size, code)
    if tiled is None:
        return frame.kernel((k.ForAll(threads, frame.size, code),))
    return replace(frame.kernel(tiled[0]), note=tiled[1])


def parameter_block(b: Builder, mapping: chains.Mapping) -> list[g.Var]:
    """A word for each number of `Mapping.words`."""
    found = []
    for slot in mapping.slots:
        stem = slot.name.replace(".", "_")
        found.append(b.slot(stem))
        if slot.divisor:
            found += [b.slot(f"{stem}_multiplier"), b.slot(f"{stem}_shift")]
    return found


def known_block(mapping: chains.Mapping) -> tuple[int, ...] | None:
    """The extents of a block, where the chain itself says all of them, so that they may be constants in the kernel."""
    said = {slot.value for stage in mapping.stages for slot in stage.slots if slot.known}
    block = mapping.placement.block
    return block if all(e in said for e in block) else None


def number_of(a: g.Atom, numbers: Mapping[str, int]) -> int:
    """An int of the graph, as a launch knows it."""
    return int(a.value) if isinstance(a, g.Const) else numbers[a.name]
