"""With-loops of the simulator of plans: index by index, with what each one reads and writes.

In: a with-loop, the places of its results, and what these are. Out: where they lie; or a `Fault` where an index writes
what another one reads or writes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.jit.analysis.makers import arrays_of
from sacpy.jit.ir import graph as g
from tests.jit.simulated_memory import Fault, Lying, Place, Trace, replace_lying

if TYPE_CHECKING:
    from tests.jit.memory_simulator import Simulator


class Loops:
    """One with-loop: index by index, with what each one reads and writes."""

    def __init__(self, s: Simulator, w: g.WithLoop, dying: set[str]) -> None:
        self.s, self.w, self.dying = s, w, dying

    def run(self, targets: Sequence[g.Var], places: Sequence[Place | None], values: Sequence[Any]) -> list[Any]:
        """The results. `values`: what they are."""
        s, w = self.s, self.w
        traces: list[Trace] = []
        ordered = not w.operators or any(isinstance(o, g.Fold | g.Propagate) for o in w.operators)
        memories: list[Place | None] = []
        results: list[Any] = []
        at = 0
        for o in w.operators:
            width = len(o.neutrals) if isinstance(o, g.Fold) else len(o.params) if isinstance(o, g.Propagate) else 1
            if isinstance(o, g.Genarray | g.Modarray):
                made, held = self.start(o, targets[at], places[at], values[at])
                results.append(held)
                memories.append(made)
            else:
                results += [s.fresh(v) if isinstance(v, np.ndarray) else v for v in values[at : at + width]]
                memories += [None] * width
            at += width
        if not ordered:
            self.cells(memories, values, traces)
            self.races(traces, {m.block.number for m in memories if m is not None})
        else:
            self.folded(memories, values)
        return results

    def start(
        self, o: g.Genarray | g.Modarray, target: g.Var, place: Place | None, value: np.ndarray[Any, Any]
    ) -> tuple[Place, Lying]:
        """Where a result lies, and what holds it."""
        s, w = self.s, self.w
        if isinstance(o, g.Modarray):
            source: Lying = s.env[o.array.name]
            if place is None and o.array.name in self.dying and self.may_share(o.array):
                taken = s.owned(s.take(o.array, self.dying))
                return Place(taken.block, taken.offset, value.shape), replace_lying(taken, value=value)
            held = None
            if place is None:
                place = Place(s.new(value.shape, value.dtype), 0, value.shape)
                held = Lying(value, place.block, 0, mine=True)
            elif not w.complete and (place.block, place.offset) == (source.block, source.offset):
                return place, s.at(place, value)
            if not w.complete:
                self.fill(place, source.value, source)
            return place, held or s.at(place, value)
        if place is None and w.complete and len(w.operators) == 1:
            for name in sorted(self.dying):
                old: Lying = s.env[name]
                same = old.value.shape == value.shape and old.value.dtype == value.dtype
                if same and old.counted and old.block.holders == 1 and self.may_share(g.Var(name, target.type)):
                    self.dying.discard(name)
                    return Place(old.block, old.offset, value.shape), replace_lying(old, value=value, mine=True)
        held = None
        if place is None:
            place = Place(s.new(value.shape, value.dtype), 0, value.shape)
            held = Lying(value, place.block, 0, mine=True)
        if not w.complete:
            default = s.scalar(o.default)
            if isinstance(default, Lying):
                s.read(default)
                default = default.value
            self.fill(place, np.broadcast_to(default, value.shape), None)
        return place, held or s.at(place, value)

    def may_share(self, array: g.Var) -> bool:
        """Whether results may be written where an array lies, as far as that is known here."""
        needed = self.s.shares(self.w, array, self.s.ints[self.s.function.name])
        return needed is not None and all(any(self.holds(t) for t in tests) for tests in needed)

    def holds(self, t: Any) -> bool:
        if any(v.name not in self.s.env for v, _ in t.terms):
            return False
        total = t.constant + sum(self.s.env[v.name] * n for v, n in t.terms)
        return bool(total % t.modulus == 0 if t.modulus else total >= 0)

    def fill(self, place: Place, value: np.ndarray[Any, Any], source: Lying | None) -> None:
        """Writes the cells that no partition covers."""
        s, frame = self.s, self.s.shape(self.w.frame or ())
        covered = np.zeros(frame, bool)
        for p in self.w.partitions:
            for iv in s.indices(p):
                covered[iv] = True
        size = prod(place.shape[len(frame) :])
        for number in np.flatnonzero(~covered.reshape(-1)):
            if source is not None:
                s.read(source, slice(int(number) * size, (int(number) + 1) * size))
            s.write(
                place.block, place.offset + int(number) * size, value.reshape(-1)[number * size : (number + 1) * size]
            )

    def cells(self, memories: Sequence[Place | None], values: Sequence[Any], traces: list[Trace]) -> None:
        s, w = self.s, self.w
        frame = s.shape(w.frame or ())
        taken = np.zeros(frame, bool)
        for p in w.partitions:
            new = []
            for iv in s.indices(p):
                if taken[iv]:
                    continue
                new.append(iv)
                trace = Trace()
                s.traces.append(trace)
                s.bind(p.index, iv)
                number = int(np.ravel_multi_index(iv, frame)) if frame else 0
                into: dict[str, Place] = {}
                spots = []
                for a, m, v in zip(p.body.results, memories, values):
                    assert m is not None
                    shape = v.shape[len(frame) :]
                    spot = Place(m.block, m.offset + number * prod(shape), shape)
                    spots.append(spot)
                    if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType):
                        into[a.name] = spot
                found = s.alone(p.body, into)
                for cell, spot in zip(found, spots):
                    if isinstance(cell, Lying):
                        s.built(cell, spot)
                    else:
                        s.write(spot.block, spot.offset, cell)
                s.traces.pop()
                traces.append(trace)
            for iv in new:
                taken[iv] = True

    def races(self, traces: Sequence[Trace], results: Collection[int]) -> None:
        """No index touches what another one writes of the results."""
        writers: dict[tuple[int, int], int] = {}
        for k, t in enumerate(traces):
            for cell in t.writes:
                if cell[0] in results and writers.setdefault(cell, k) != k:
                    raise Fault(f"two indices of a with-loop write cell {cell[1]} of block {cell[0]}")
        for k, t in enumerate(traces):
            for cell in t.reads:
                if writers.get(cell, k) != k:
                    raise Fault(
                        f"an index of a with-loop reads cell {cell[1]} of block {cell[0]}, another one writes it"
                    )

    def folded(self, memories: Sequence[Place | None], values: Sequence[Any]) -> None:
        """Folds, and what is threaded through: the arrays that bodies read have to be what they were; arrays that are
        made beside are written at the end."""
        s = self.s
        for name in sorted(set().union(*(arrays_of(i) for p in self.w.partitions for i in p.body.statements))):
            if name in s.env and isinstance(s.env[name], Lying):
                s.read(s.env[name])
        for m, v in zip(memories, values):
            if m is not None:
                s.write(m.block, m.offset, v)
