"""Loops that distribute values by counters (`analysis/distribution`): compactions, and passes of radix sorts.

In: a with-loop that does so. Out: launches. The rounds are cut into tiles, in their order.

    counts    counts[d, c] = how many rounds of tile c take counter d          a block for each tile
    rows      firsts[d, c] = where those put the first of their values;        a block for each counter
              and what each counter is in the end
    apart     that no two counters have places in common                       a block for each counter
    rest      elements that no round sets are those that there were before
    places    each round puts its values                                       a block for each tile

In the last one a block sorts the numbers of its rounds by counter, in shared memory, stably, a few bits at a time
(`distribution_phases`): so neighbouring threads put values at neighbouring places, and the place of each is known from
that of the first. Rounds are evaluated twice, up to what leads to the counter. (Satish, Harris, Garland: Designing
Efficient Sorting Algorithms for Manycore GPUs, 2009.) Where two counters have places in common a check fails, and
nothing is put anywhere: who comes last has such a place, which only rounds in order tell.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

from sacpy.jit.analysis.distribution import Distribution, distribution_of
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels import distribution_phases as phases
from sacpy.jit.kernels.distribution_places import Places
from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Refused
from sacpy.jit.kernels.numbers import Numbers, array_sizes
from sacpy.jit.kernels.source import Built, Source, number_of
from sacpy.jit.llvm.legal import size_of

MOST = 1024  # counters, of which a block has some words each
WAVES = 2  # how often blocks that look for elements left over fill the device at most


class Distributed:
    """One with-loop. `found`: what it does; `given`: what the counters, then the arrays are before."""

    def __init__(self, source: Source, options: KernelOptions) -> None:
        self.source, self.options = source, options
        (self.partition,) = source.with_loop.partitions
        (handed,) = (o for o in source.with_loop.operators if isinstance(o, g.Propagate))
        found = distribution_of(handed.params, self.partition.body)
        if found is None:
            raise Refused("distributes values one after the other, as places follow from values put before")
        self.found: Distribution = found
        self.start = handed.initial[found.counter]
        self.counted = source.targets[found.counter]  # what the counters are in the end
        self.arrays = [(handed.initial[n], source.targets[n]) for n in found.arrays]
        self.kernels: dict[Hashable, Built] = {}

    def inputs(self) -> set[str]:
        """The ints that plans depend on, extents of arrays left out."""
        return {a.name for a in (*self.partition.lower, *self.partition.upper) if isinstance(a, g.Var)}

    def plan(
        self, numbers: Numbers, parameters: Mapping[str, int], taken: frozenset[str]
    ) -> tuple[list[Buffer], list[Launch]]:
        """Temporaries and launches. `taken`: as for `Cells`."""
        counters = number_of(g.extents_of(self.start)[0], numbers) if self.found.digit is not None else 1
        if not 1 <= counters <= MOST:
            raise Refused(f"distributes values by {counters} counters, and a block has room for 1 to {MOST}")
        lower, upper = (number_of(v[0], numbers) for v in (self.partition.lower, self.partition.upper))
        n, tile = max(0, upper - lower), phases.BLOCK * phases.EACH
        tiles = max(1, -(-n // tile))
        sizes = [n + tile, counters * (tiles + tile), *array_sizes(self.source, numbers)]
        bits = 32 if max(*sizes, abs(lower), abs(upper)) < 1 << 31 else 64
        shape = {"tiles": tiles, "count": n, "lower": lower}
        launches = [
            self._launch(phases.Counts, bits, counters, tiles, shape, f"{n} rounds in {tiles} tiles of {tile}, each "
                         f"with {counters} {'counter' if counters == 1 else 'counters'}: how often it is taken"),
            self._launch(phases.Rows, bits, counters, counters, shape, "where the values of each tile begin"),
        ]  # fmt: skip
        if counters > 1:
            launches.append(
                self._launch(phases.Apart, bits, counters, counters, shape, "no two counters have places in common")
            )
        for given, target in self.arrays:
            if target.name not in taken:
                launches.append(self._rest(given, target, bits, counters, numbers))
        size = sum(size_of(target.base) for _, target in self.arrays)
        launches.append(
            self._launch(Places, bits, counters, tiles, shape, f"values of {size} bytes a round, put in the "
                         "order of their counters, which a block finds in shared memory")
        )  # fmt: skip
        buffers = [Buffer(phases.name_of(self, stem), "int", (counters, tiles)) for stem in ("counts", "firsts")]
        buffers.append(Buffer(phases.name_of(self, "clash"), "int", (1,)))
        return buffers, launches

    def _rest(self, given: g.Atom, target: g.Var, bits: int, counters: int, numbers: Numbers) -> Launch:
        """The launch that gives a result the elements that no round sets."""
        device = self.options.device
        size = number_of(g.extents_of(target)[0], numbers)
        most = device.processors * (device.threads_per_processor // phases.BLOCK) * WAVES
        blocks = max(1, min(-(-size // phases.BLOCK), most))
        make = partial(phases.Rest, given=given, target=target)
        why = "elements that no round sets: none where the values of counters lie side by side, and are all"
        return self._launch(make, bits, counters, blocks, {"blocks": blocks}, why, target.name)

    def _launch(
        self,
        make: phases.Make,
        bits: int,
        counters: int,
        blocks: int,
        shape: Mapping[str, int],
        why: str,
        what: str = "",
    ) -> Launch:
        purpose = "copy" if what else "partition" if make is Places else "partials"
        key = (what or make, bits, counters)
        built = self.kernels.get(key)
        if built is None:
            name = "rest" if what else make.__name__.lower()
            built = self.kernels[key] = make(self, self.source.thread(name, bits), counters).kernel()
        arguments = built.arguments([shape[stem.partition(".")[0]] for stem in built.shape], ())
        threads = (1, 1, phases.BLOCK)
        number = 0 if purpose == "partition" else None
        return Launch(built.kernel, (1, 1, blocks), threads, arguments, purpose, number, None, (why,))
