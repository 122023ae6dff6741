"""Runs graphs in two ways at once: as values, and in memory as the plan says; slowly, for tests.

In: a unit and the values of its arguments. Out: its results; or a `Fault` where the two disagree:

- what is read of memory is not the value that it stands for: somebody has overwritten it, or has not written it yet;
- it is read of a block that is dead, or beyond its end;
- an index of a with-loop writes what another one reads or writes, so that threads, or lanes, would race;
- an array that the caller keeps is written to, or a block is still held when all is done.

Memory is given out by the same analyses that those who write code ask: `circuits`, `Makers`, `may_share`,
`destinations` and `lent_rows`; what is done with their answers is told here once more, in the plainest words. `tamper`
may change a plan, so that tests see which mistakes are found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.jit.analysis.circuits import Outside, Plan
from sacpy.jit.analysis.depends import may_share
from sacpy.jit.analysis.destinations import destinations
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.host.lowering import recursive
from sacpy.jit.host.takeover import takes
from sacpy.jit.ir import graph as g
from tests.jit.graph_evaluator import Evaluator, _input, _output
from tests.jit.simulated_blocks import Running
from tests.jit.simulated_memory import Fault, Heap, Lying, Memory, Place, replace_lying


class TooLong(Exception):
    """More steps than somebody has time for."""


class Simulator(Heap):
    """Of the functions of a unit. `tamper`: changes the plan of a block; `shares`: what is asked whether a result may
    take the memory of what is read."""

    def __init__(
        self,
        unit: g.Unit,
        tamper: Callable[[g.Block, Plan], Plan] | None = None,
        shares: Any = may_share,
        steps: int = 1 << 40,
    ) -> None:
        super().__init__()
        self.unit, self.tamper, self.shares, self.steps = unit, tamper, shares, steps
        self.known = destinations(unit)
        self.ints = {f.name: Ints(f) for f in unit.functions}
        self.pure = Evaluator(unit)
        self.env: dict[str, Any] = {}
        self.function, self.outside = unit.root, Outside(known=self.known)
        self.circuits = 0
        self.scratch: dict[str, Memory] | None = None  # what the rounds of the loops around share

    def take(self, a: g.Atom, dying: set[str]) -> Any:
        """A value with a reference of its own."""
        if not isinstance(a, g.Var) or not isinstance(a.type, g.ArrayType):
            return self.scalar(a)
        found: Lying = self.env[a.name]
        if a.name in dying:
            dying.discard(a.name)
        else:
            self.retain(found)
        return replace_lying(found)

    def scalar(self, a: g.Atom) -> Any:
        return a.value if isinstance(a, g.Const) else self.env[a.name]

    def shape(self, extents: Sequence[g.Atom]) -> tuple[int, ...]:
        return tuple(map(self.scalar, extents))

    # ---- values

    def step(self, count: int) -> None:
        self.steps -= count
        if self.steps < 0:
            raise TooLong

    def op(self, r: g.Op) -> Any:
        return self.pure.value(r, {a.name: self.env[a.name] for a in r.args if isinstance(a, g.Var)})[0]

    def load(self, r: g.Load) -> Any:
        array, index = self.env[r.array.name], self.shape(r.index)
        assert Evaluator.inside(index, array.value.shape), (r, index, array.value.shape)
        number = int(np.ravel_multi_index(index, array.value.shape))
        self.read(array, slice(number, number + 1))
        return array.value[index].item()

    def whole(self, w: g.WithLoop) -> list[Any]:
        """The results of a with-loop, as values."""
        self.step(prod(self.shape(w.frame or ())))
        plain = {name: v.value if isinstance(v, Lying) else v for name, v in self.env.items()}
        return list(self.pure.value(w, plain))

    def indices(self, p: g.Partition) -> Iterable[tuple[int, ...]]:
        run = self.pure.once(p, self.pure.indices)
        return run({**self.pure.constants, **self.env})

    # ---- blocks

    def call(self, f: g.Function, args: Sequence[Any], into: dict[str, Place], outside: Outside) -> list[Any]:
        before = self.env, self.function, self.outside, self.scratch
        self.env, self.function, self.outside, self.scratch = {}, f, outside, None  # loops share what is their own
        self.bind(f.params, args)
        found = self.block(f.body, [p.name for p in f.params if isinstance(p.type, g.ArrayType)], into)
        self.env, self.function, self.outside, self.scratch = before
        return found

    def bind(self, targets: Sequence[g.Var], values: Sequence[Any]) -> None:
        for t, v in zip(targets, values, strict=True):
            self.env[t.name] = v

    def block(self, b: g.Block, owned: Collection[str] = (), into: dict[str, Place] | None = None) -> list[Any]:
        return Running(self, b, owned, into or {}).run()

    def alone(self, b: g.Block, into: dict[str, Place]) -> list[Any]:
        """A block that may run beside others, so that it shares nothing with those before it."""
        outer, self.scratch = self.scratch, None
        found = self.block(b, (), into)
        self.scratch = outer
        return found

    def shared(self, v: g.Var, shape: tuple[int, ...]) -> Place:
        """Where an array lies in all rounds of a loop; what the round before has left there is nobody's any more."""
        assert self.scratch is not None
        found = self.scratch.get(v.name)
        if found is None or found.cells.size < prod(shape):
            if found is not None:
                found.holders = 0
            found = self.scratch[v.name] = self.new(shape, dtype_of(v.base))
        found.written[:] = False
        return Place(found, 0, shape)

    def run(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The results for the arguments of the core function, which the caller keeps."""
        unit, params = self.unit, []
        for p, i in zip(unit.root.params, unit.inputs):
            value = _input(i.kind, args[i.argument], i.at)
            if isinstance(p.type, g.ArrayType):
                lying = self.fresh(np.array(value))
                lying.block.kept, lying.counted, lying.mine = True, False, False
                value = lying
            params.append(value)
        outside = Outside(known=self.known)
        if not recursive(unit):
            outside = Outside.of(unit.root, takes(unit, False), self.known)
        with np.errstate(all="ignore"):
            found = self.call(unit.root, params, {}, outside)
        plain = []
        for v in found:
            if isinstance(v, Lying):
                self.read(v)
                self.release(v)
                v = v.value
            plain.append(v)
        held = [m.number for m in self.blocks if m.holders > 0 and not m.kept]
        if held:
            raise Fault(f"blocks {held} are held when all is done")
        return tuple(_output(o, plain) for o in unit.outputs)
