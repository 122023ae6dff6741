"""Reductions by index: with-loops that combine elements of arrays with values wherever the data say.

In: a with-loop whose operators are `into`. Out: what it combines, and the launches that give results the elements that
they start with. How they are combined is chosen in `scattered` and `ordered`.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence

from sacpy.jit.analysis.scatters import Scatter, first_of, scatters_of
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels.launches import KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes
from sacpy.jit.kernels.source import Built, Source, known_block, mapped, number_of
from sacpy.jit.kernels.values import Memory
from sacpy.lang.core import HANDED_ON
from sacpy.withloop import chains
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose

_UNKNOWN = (
    "combines elements by a function that is none of `+`, `-`, `*`, `min`, `max` and the bitwise and logical ones, or "
    "reads them for something else, one after the other"
)


class ByIndex:
    """One with-loop. `found`: what it does to elements; `arrays`: one of these for each array; `body`: what gives the
    indices and the value for each. Kernels are remembered by the form of their mapping."""

    def __init__(self, source: Source, options: KernelOptions, found: Sequence[Scatter]) -> None:
        self.source, self.options, self.found = source, options, tuple(found)
        self.arrays = tuple(first_of(found))
        (self.partition,) = source.with_loop.partitions
        self.kernels: dict[Hashable, Built] = {}
        gone = {h.step.old.name for h in self.found} | {h.updated.name for h in self.found}
        gone |= {t.name for h in self.found for s in h.step.lets for t in s.targets}
        body = self.partition.body.statements
        kept = tuple(s for s in body if not isinstance(s, g.Let) or all(t.name not in gone for t in s.targets))
        self.body = g.Block(kept, tuple(a for h in self.found for a in (*h.index, h.step.value)))
        thread = source.thread("trial", 32)  # translated once, so that what cannot run is known before it is to run
        thread.bind(self.partition.index, list(self.partition.index))
        thread.block(self.body)
        self.scratch = thread.b.scratch_extents()

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        p = self.partition
        bounds = (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()))
        return {a.name for a in bounds if isinstance(a, g.Var)} | self.scratch

    def extents(self, numbers: Numbers) -> tuple[tuple[int, ...], ...]:
        """Those of the arrays."""
        return tuple(tuple(number_of(e, numbers) for e in h.extents) for h in self.arrays)

    # ---- copies

    def copies(self, numbers: Numbers, taken: Container[str]) -> list[Launch]:
        """The launches that give results the elements that they start with, but those that have them (`taken`)."""
        pairs = zip(self.arrays, self.source.targets)
        return [launch for h, t in pairs if t.name not in taken for launch in self._copy(h, t, numbers)]

    def _copy(self, h: Scatter, target: g.Var, numbers: Numbers) -> list[Launch]:
        """The launch that gives a result the elements that it starts with; none where there are none."""
        space = IndexSpace.of([0] * len(h.extents), [number_of(e, numbers) for e in h.extents])
        choice = choose(self.options.strategy, space, self.options.device)
        mapping = choice.chain.map(space, self.options.device)
        if not mapping.threads:
            return []
        bits, block = mapping.bits(array_sizes(self.source, numbers)), known_block(mapping)
        key = ("copy", target.name, mapping.key, block, bits)
        built = self.kernels.get(key)
        if built is None:
            built = self.kernels[key] = self._copy_kernel(h, target, mapping, block, bits)
        placement = mapping.placement
        shape = (*placement.launched, *(() if block is not None else placement.block))
        arguments = built.arguments(shape, mapping.words(bits))
        return [Launch(built.kernel, mapping.grid, mapping.block, arguments, "copy", None, mapping, choice.reasons)]

    def _copy_kernel(
        self, h: Scatter, target: g.Var, mapping: chains.Mapping, block: tuple[int, ...] | None, bits: int
    ) -> Built:
        thread = self.source.thread("copy", bits)
        array = thread.b.result(target.name, target.base, g.extents_of(target))

        def one(index: tuple[g.Atom, ...], _: Sequence[g.Var]) -> None:
            thread.arrays.assign(Memory(array, index), thread.arrays.load(thread.array(h.given), index))

        return mapped(thread, mapping, block, (), one)


def combined(source: Source) -> list[Scatter]:
    """What a with-loop does to arrays by index. `Refused` where it does something else."""
    w = source.with_loop
    operators = [o for o in w.operators if isinstance(o, g.Propagate)]
    words = {o.word for o in operators}
    if words != {"into"}:
        raise Refused(in_order(w))
    if len(w.partitions) != 1 or not w.partitions[0].rank:
        raise Refused(f"into {HANDED_ON['into']}")
    params = tuple(v for o in operators for v in o.params)
    initial = tuple(a for o in operators for a in o.initial)
    found = scatters_of(params, initial, w.partitions[0].body, reals=True)
    if not found:
        raise Refused(f"into {_UNKNOWN}")
    return found


def in_order(w: g.WithLoop) -> str:
    """Why a with-loop that hands values from index to index stays on the host."""
    word = min((o.word for o in w.operators if isinstance(o, g.Propagate) and o.word != "into"), default="into")
    why = ""
    if word == "scan":
        if any(p.rank > 1 for p in w.partitions):
            why = "; that of a vector need not: reshape what is scanned, and the result"
        elif any(p.step is not None for p in w.partitions):
            why = "; one without a step need not"
        elif any(o.cell for o in w.operators if isinstance(o, g.Genarray)):
            why = ", which are arrays; one of scalars or structs need not"
    return f"{word} {HANDED_ON[word]}{why}"


def reorders(w: g.WithLoop) -> bool:
    """Whether a with-loop combines floating-point numbers by index in a way that depends on the order."""
    operators = [o for o in w.operators if isinstance(o, g.Propagate)]
    params = tuple(v for o in operators for v in o.params)
    initial = tuple(a for o in operators for a in o.initial)
    if not operators or len(w.partitions) != 1:
        return False
    return any(not h.step.exact for h in scatters_of(params, initial, w.partitions[0].body, reals=True))
