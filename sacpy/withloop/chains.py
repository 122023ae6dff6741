"""Chains of combinators, and what one makes of a concrete index space.

In: a chain, an index space, the limits of a device. Out: a `Mapping`: extents of grid and block, the index of each
thread, and the parameter block that lets one kernel serve all spaces of the same form.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache

from sacpy.nodes import Node, replace
from sacpy.withloop.arithmetic import PLAIN, Arithmetic, G, Ranges, Slot, V
from sacpy.withloop.combinators import Combinator, Form, Parameter, both
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.division import magic
from sacpy.withloop.errors import MappingError
from sacpy.withloop.placement import AXES, GridBlock, Placement
from sacpy.withloop.spaces import IndexSpace, Vector


class Stage(Node):
    """One combinator between two concrete spaces."""

    combinator: Combinator
    before: IndexSpace
    after: IndexSpace
    form: Form
    slots: tuple[Slot, ...]


class Chain(Node):
    """`GridBlock(b, C1(.., C2(.., Gen)))`: the combinators, innermost first, then GridBlock."""

    steps: tuple[Combinator, ...]
    grid_block: GridBlock

    def __str__(self) -> str:
        text = "Gen"
        for step in self.steps:
            text = f"{step.name}({', '.join(filter(None, (step.arguments(), text)))})"
        return f"GridBlock({self.grid_block.axes}, {text})"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The numbers left open, each once, innermost first."""
        opened = [p for step in self.steps for p in step.parameters()]
        return tuple(dict.fromkeys([*opened, *self.grid_block.parameters()]))

    def bind(self, **values: int) -> Chain:
        """The chain with open numbers set. `MappingError` for a name it does not have, or a value that its pragma does
        not list."""
        unknown = set(values) - {p.name for p in self.parameters}
        if unknown:
            raise MappingError(
                "E0813",
                f"the mapping has no parameter {min(unknown)}",
                f"it has {', '.join(p.name for p in self.parameters) or 'none'}",
            )
        return Chain(tuple(step.bind(values) for step in self.steps), self.grid_block.bind(values))

    def spaces(self, space: IndexSpace) -> tuple[IndexSpace, ...]:
        """The space itself (Gen), then the space after each combinator."""
        return (space.normalised(), *(stage.after for stage in self.stages(space)))

    def stages(self, space: IndexSpace) -> Iterator[Stage]:
        """The combinators, innermost first, each between its two spaces."""
        before = space.normalised()
        for place, step in enumerate(self.steps):
            try:
                after = step.forward(before)
            except MappingError as error:
                error.place = place
                raise
            yield Stage(step, before, after, step.form(before), step.slots(before))
            before = after

    def check(
        self,
        rank: int,
        device: DeviceLimits | None = None,
        zero_based: bool = True,
        dense: Sequence[bool] = (),
        growth: int = 0,
    ) -> None:
        """What is wrong with the chain whatever the bounds are, before any are known, with any of the values that its
        open numbers may have: `MappingError`. `zero_based` says false where the partition is known not to be, `dense`
        along which axes (nothing: it may be along all). `growth`: that of the rows."""
        first = 0 if zero_based else 1
        gaps = [not d for d in dense] or [False] * rank
        smallest = IndexSpace.of(
            (first,) * rank, [first + (3 if g else 1) for g in gaps], [2 if g else 1 for g in gaps]
        )
        smallest = replace(smallest, growth=growth)
        self.map(smallest, device)
        for parameter in self.parameters:
            for value in parameter.choices:
                self.bind(**{parameter.name: value}).map(smallest, device)

    def map(self, space: IndexSpace, device: DeviceLimits | None = None) -> Mapping:
        """The mapping of a concrete space. Without a device no limits apply. `MappingError` where a combinator's
        requirement does not hold or the result does not fit the device; it says where. Remembered for spaces seen
        before."""
        return _mapped(self, space, device)


class Mapping(Node):
    """A chain applied to one space: every thread of grid and block has at most one index of the space, and every index
    has exactly one thread."""

    chain: Chain
    space: IndexSpace
    stages: tuple[Stage, ...]
    placement: Placement

    @property
    def grid(self) -> tuple[int, int, int]:
        """The blocks to launch: z, y, x."""
        return _three(self.placement.launched)

    @property
    def block(self) -> tuple[int, int, int]:
        """The threads of a block: z, y, x."""
        return _three(self.placement.threads)

    @property
    def threads(self) -> int:
        """How many positions the thread space has, strides included; 0 launches nothing."""
        return math.prod(self.placement.grid) * math.prod(self.placement.block)

    @property
    def idle(self) -> int:
        """Positions of the thread space that have no index."""
        return self.threads - self.space.size

    @property
    def guarded(self) -> bool:
        """Some code is needed to find out threads without an index."""
        return self.recover(PLAIN, (0,) * len(self.placement.grid), (0,) * len(self.placement.block))[1] is not None

    def recover(self, a: Arithmetic[V, G], block: Sequence[V], thread: Sequence[V]) -> tuple[tuple[V, ...], G | None]:
        """The index of a thread: from its block's position in the (whole) grid and its own in the block, outermost axis
        first. The guard says whether the thread has an index; None: it always has."""
        index: tuple[V, ...] = (*block, *thread)
        guard: G | None = None
        for stage in reversed(self.stages):
            before = stage.combinator.recover(a, stage.form, stage.slots, index)
            index, guard = before[0], both(a, guard, before[1])
        return index, guard

    def __iter__(self) -> Iterator[tuple[Vector, Vector, Vector | None]]:
        """Block, thread and index (None: idle) of every position of the thread space, the last axis running fastest."""
        grid, block = self.placement.grid, self.placement.block
        for b in itertools.product(*map(range, grid)):
            for t in itertools.product(*map(range, block)):
                index, guard = self.recover(PLAIN, b, t)
                yield b, t, index if guard is None or guard else None

    def work(self, block: Sequence[int]) -> Iterator[Vector]:
        """The positions in the whole grid whose work a launched block does, its own first."""
        return itertools.product(
            *(range(b, extent, step) for b, extent, step in zip(block, self.placement.grid, self.placement.launched))
        )

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The parameter block: bounds and divisors of every stage, then the extents of those grid axes that are strided
        over."""
        slots = [slot for stage in self.stages for slot in stage.slots if not slot.known]
        position = sum(3 if slot.divisor else 1 for slot in slots)
        names = (
            AXES[3 - len(self.placement.grid) :] if len(self.placement.grid) <= 3 else range(len(self.placement.grid))
        )
        for name, extent, strided in zip(names, self.placement.grid, self.placement.strided):
            if strided:
                slots.append(Slot(f"grid.{name}", extent, position=position))
                position += 1
        return tuple(slots)

    def words(self, bits: int) -> tuple[int, ...]:
        """The parameter block as numbers of `bits` bits: each bound, and for each divisor the divisor, its multiplier
        and its shift (see `division`)."""
        numbers: list[int] = []
        for slot in self.slots:
            numbers.append(slot.value)
            if slot.divisor:
                m = magic(slot.value, bits)
                numbers += [m.multiplier, m.shift]
        return tuple(numbers)

    def bits(self, addresses: Iterable[int] = ()) -> int:
        """The word size in which indices are recovered: 32 where every value that comes up in any thread, idle ones
        too, and every one of `addresses` (the largest element offsets accessed) fits a signed word of 32 bits, 64
        otherwise. `MappingError` where 64 do not suffice either."""
        ranges = Ranges()
        for address in addresses:
            ranges.value(address, address)
        for extent, launched in zip(self.placement.grid, self.placement.launched):
            ranges.value(0, extent + launched)  # a strided loop steps past its end once
        block = [ranges.value(0, max(0, extent - 1)) for extent in self.placement.grid]
        thread = [ranges.value(0, max(0, extent - 1)) for extent in self.placement.block]
        self.recover(ranges, block, thread)
        if ranges.high >= 1 << 63 or ranges.low < -(1 << 63):
            raise MappingError(
                "E0811",
                f"indices up to {ranges.high} come up, and the largest words have 64 bits",
                "fold fewer axes, or split the with-loop",
                (f"the space is {self.space}",),
            )
        return ranges.bits

    @property
    def key(self) -> Hashable:
        """All that a kernel's code depends on beside the word size: equal keys share a kernel, with their own parameter
        blocks."""
        steps = tuple(
            (
                stage.combinator.name,
                stage.form,
                tuple((slot.name, slot.value if slot.known else None) for slot in stage.slots),
            )
            for stage in self.stages
        )
        placement = self.placement
        return self.space.rank, steps, len(placement.grid), len(placement.block), placement.strided, placement.each


@lru_cache(maxsize=4096)
def _mapped(chain: Chain, space: IndexSpace, device: DeviceLimits | None) -> Mapping:
    stages, position = [], 0
    final = space.normalised()
    for stage in chain.stages(space):
        slots = []
        for slot in stage.slots:
            if not slot.known:
                slot, position = replace(slot, position=position), position + (3 if slot.divisor else 1)
            slots.append(slot)
        stages.append(replace(stage, slots=tuple(slots)))
        final = stage.after
    try:
        placement = chain.grid_block.place(final, device)
    except MappingError as error:
        error.place = len(chain.steps)
        raise
    return Mapping(chain, space, tuple(stages), placement)


def _three(extents: Vector) -> tuple[int, int, int]:
    """Extents as z, y, x; unused axes have extent 1. `ValueError` for more than three."""
    if len(extents) > 3:
        raise ValueError(f"{len(extents)} axes do not fit a device's three")
    z, y, x = (1,) * (3 - len(extents)) + extents
    return z, y, x
