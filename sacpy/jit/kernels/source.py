"""A with-loop to be made into kernels, with what its code needs from around it.

In: a with-loop, the variables it sets, the functions of its unit. Out: its free variables, a `Thread` for each kernel, and the frame that all mapped kernels share: strides over the grid, recovering the index, the guard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sacpy.jit import kernel as k
from sacpy.jit.graph import Atom, Block, Const, Function, Let, Names, Var, WithLoop, blocks, inner_binders, operands, statements
from sacpy.jit.kernels.builder import Builder, IrArithmetic
from sacpy.jit.kernels.thread import Thread
from sacpy.jit.rewrite import names_of, uses, with_extents
from sacpy.withloop import chains


@dataclass(frozen=True, slots=True)
class Built:
    """A kernel with the names of those parameters that a launch sets to numbers: first `shape`, then the parameter block."""

    kernel: k.Kernel
    shape: tuple[str, ...]

    def arguments(self, shape: Sequence[int], words: Sequence[int]) -> tuple[str | int, ...]:
        """An argument for each parameter of the kernel. Words over half of the range are given as negative numbers."""
        bits = self.kernel.bits
        numbers = dict(zip(self.shape, shape, strict=True))
        numbers |= {v.name: w - (1 << bits) if w >> (bits - 1) else w for v, w in zip(self.kernel.slots, words, strict=True)}
        return tuple(numbers.get(p.name, p.name) for p in self.kernel.params)


class Source:
    """A with-loop in its surroundings. `free`: the variables of its function that it uses, extents of arrays included, by name."""

    def __init__(self, name: str, with_loop: WithLoop, targets: Sequence[Var], functions: Mapping[str, Function]) -> None:
        self.name = name
        self.with_loop = with_loop
        self.targets = tuple(targets)
        self.functions = functions
        around = Block((Let(self.targets, with_loop),))
        self.free = free_variables(around)
        self.uses = uses(around)
        self._taken = names_of(Function(name, tuple(self.free.values()), around)).taken
        self._made = 0

    def thread(self, purpose: str, bits: int) -> Thread:
        """Code of one thread, in a kernel of its own."""
        self._made += 1
        builder = Builder(f"{self.name}.{purpose}.{self._made}", self.free, Names(dict(self._taken)), bits)
        return Thread(builder, self.functions, self.uses)


def free_variables(block: Block) -> dict[str, Var]:
    """The variables that a block uses and does not set, by name."""
    found: dict[str, Var] = {}
    own: set[str] = set()

    def see(atoms: Sequence[Atom]) -> None:
        for a in with_extents(atoms):
            if isinstance(a, Var):
                found.setdefault(a.name, a)

    see(block.results)
    for s in statements(block):
        if not isinstance(s, Let):
            see((s.condition,))
            continue
        binders = (*s.targets, *inner_binders(s.rhs))
        own.update(v.name for v in binders)
        see(tuple(operands(s.rhs)))
        see(binders)
        for inner in blocks(s.rhs):
            see(inner.results)
    return {name: v for name, v in found.items() if name not in own}


def mapped(thread: Thread, mapping: chains.Mapping, block: tuple[int, ...] | None, more: Sequence[str], body: Callable[[tuple[Atom, ...], Sequence[Var]], None]) -> Built:
    """A kernel over the threads of a mapping. `block`: the extents of a block where they are to be constants. `more`: names for words of the parameter block behind those of the mapping. `body(index, words)` writes the code for one index, whose entries are ints; `words` are those of `more`."""
    b = thread.b
    placement = mapping.placement
    words = parameter_block(b, mapping)
    extra = [b.slot(name) for name in more]
    place = [b.names.var("block", b.word) for _ in placement.grid]
    launched = [b.number("blocks") for _ in placement.grid]
    size: list[Atom] = [b.word_const(e) for e in block] if block is not None else [b.number("threads") for _ in placement.block]
    threads = [b.names.var("thread", b.word) for _ in placement.block]
    whole = iter(words[len(words) - sum(placement.strided) :])
    at: list[Var] = []
    strides: list[tuple[Var, Var, Var, Var]] = []
    for own, step, strided in zip(place, launched, placement.strided):
        if strided:
            strides.append((b.names.var("at", b.word), own, next(whole), step))
        at.append(strides[-1][0] if strided else own)
    b.open()
    index, guard = mapping.recover(IrArithmetic(b, words), at, threads)
    b.when(guard, lambda: body(tuple(map(b.as_int, index)), extra))
    code: k.BlockStmt = k.ForAll(tuple(threads), tuple(size), b.close())
    for at_, own, end, step in reversed(strides):
        code = k.BlockFor(at_, own, end, step, (code,))
    return Built(b.kernel(place, launched, size, (code,)), tuple(v.name for v in b.shape))


def parameter_block(b: Builder, mapping: chains.Mapping) -> list[Var]:
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


def number_of(a: Atom, numbers: Mapping[str, int]) -> int:
    """An int of the graph, as a launch knows it."""
    return int(a.value) if isinstance(a, Const) else numbers[a.name]
