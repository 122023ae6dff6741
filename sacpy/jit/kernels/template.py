"""With-loops as launches.

In: a with-loop of a graph. Out: a `Template`; its `plan` takes the numbers that bounds and extents have at run time and
gives the launches. Plans are remembered by those numbers, kernels by the form of their mapping, so that a with-loop met
again costs a look-up.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir.graph import Function, Propagate, Var, WithLoop, extents_of
from sacpy.jit.kernels.by_index import combined, in_order
from sacpy.jit.kernels.cells import Cells
from sacpy.jit.kernels.distributed import Distributed
from sacpy.jit.kernels.folds import Folds
from sacpy.jit.kernels.in_place import candidates, settled
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Plan, Refused
from sacpy.jit.kernels.nests import divided, results_of, select
from sacpy.jit.kernels.ordered import Ordered
from sacpy.jit.kernels.scanned import Scanned, is_scan
from sacpy.jit.kernels.scattered import Scattered, is_atomic
from sacpy.jit.kernels.source import Source, number_of
from sacpy.jit.passes.distribute import WORD

_MOST_PLANS = 256
Part: TypeAlias = "Cells | Folds | Scattered | Ordered | Scanned | Distributed"


class Template:
    """A with-loop that runs on a GPU. `inputs`: the names of the ints of its function, in order, whose values `plan`
    takes. `in_place`: the results that may take the memory of a source which nobody needs afterwards."""

    def __init__(self, source: Source, parts: Sequence[Part], options: KernelOptions, ints: Ints) -> None:
        self.source = source
        self.options = options
        self.parts = tuple(parts)
        self.inputs = tuple(sorted({name for part in parts for name in part.inputs()} | _extents(source)))
        self.in_place = candidates(source.with_loop, source.targets, ints)
        self._plans: dict[Hashable, Plan] = {}

    def plan(
        self,
        values: tuple[int, ...],
        parameters: Mapping[str, int] | None = None,
        taken: frozenset[str] = frozenset(),
    ) -> Plan:
        """The launches for the values of `inputs`. `parameters`: picked values of what a mapping leaves open, by name.
        `taken`: those of the results in `in_place` that lie in the memory of their source; of these, launches are only
        over what is written. `MappingError` where a pragma's mapping does not fit what it is applied to, or the
        device."""
        key: Hashable = (values, tuple(sorted((parameters or {}).items())), taken)
        found = self._plans.get(key)
        if found is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.pop(next(iter(self._plans)))
            found = self._plans[key] = self._plan(dict(zip(self.inputs, values, strict=True)), parameters or {}, taken)
        return found

    def _plan(self, numbers: dict[str, int], parameters: Mapping[str, int], taken: frozenset[str]) -> Plan:
        results = []
        for t in self.source.targets:
            extents = tuple(number_of(e, numbers) for e in extents_of(t))
            results.append(Buffer(t.name, t.base, extents) if extents else Buffer(t.name, t.base, (1,), scalar=True))
        temporaries: list[Buffer] = []
        launches: list[Launch] = []
        for part in self.parts:
            more, own = part.plan(numbers, parameters, taken)
            temporaries += more
            launches += own
        sources = {name: self.in_place[name].source.name for name in taken}
        return Plan(tuple(results), tuple(temporaries), tuple(settled(launch, sources) for launch in launches))


def _extents(source: Source) -> set[str]:
    """The ints that say how large arrays are."""
    atoms = [e for v in (*source.free.values(), *source.targets) for e in extents_of(v)]
    return {e.name for e in atoms if isinstance(e, Var)}


def build(
    with_loop: WithLoop,
    targets: Sequence[Var],
    functions: Mapping[str, Function] | None = None,
    options: KernelOptions | None = None,
    name: str = "kernel",
    ints: Ints | None = None,
) -> Template:
    """The template of a with-loop that sets `targets`. `functions`: those of the unit, by name; `ints`: what is known
    in the one around it. `Refused` where it stays on the CPU; `MappingError` where a pragma is wrong whatever the
    bounds are."""
    options = options or KernelOptions()
    functions = functions or {}
    handed = [o for o in with_loop.operators if isinstance(o, Propagate)]
    if any(o.word == WORD for o in handed):
        source = Source(name, with_loop, targets, functions)
        return Template(source, [Distributed(source, options)], options, ints or Ints(source.around))
    if handed and len(handed) == len(with_loop.operators):
        source = Source(name, with_loop, targets, functions)
        found = combined(source)
        way = Scattered if is_atomic(found) else Ordered
        return Template(source, [way(source, options, found)], options, ints or Ints(source.around))
    if handed:
        if not is_scan(with_loop):
            raise Refused(in_order(with_loop))
        source = Source(name, with_loop, targets, functions)
        return Template(source, [Scanned(source, options)], options, ints or Ints(source.around))
    framed, folds = divided(with_loop)
    names = results_of(with_loop, targets)
    parts: list[Part] = []
    if framed:
        parts.append(
            Cells(Source(name, select(with_loop, framed), [t for n in framed for t in names[n]], functions), options)
        )
    if folds:
        parts.append(
            Folds(Source(name, select(with_loop, folds), [t for n in folds for t in names[n]], functions), options)
        )
    source = Source(name, with_loop, targets, functions)
    return Template(source, parts, options, ints or Ints(source.around))
