"""What strategies share.

In: an index space, steps of a chain. Out: a `Choice`: the chain with the reasons for it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.nodes import Node
from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import Combinator, PruneGrid
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace


class Choice(Node):
    """A mapping that fits the device, and why it is this one, one short clause per reason."""

    chain: Chain
    reasons: tuple[str, ...]


def chain_of(
    steps: Iterable[Combinator], block_axes: int, most_blocks: int | None = None, stride: bool = False
) -> Chain:
    """The chain of these steps, innermost first, under GridBlock."""
    return Chain(tuple(steps), GridBlock(block_axes, stride, most_blocks))


def gaps(space: IndexSpace) -> list[Combinator]:
    """PruneGrid where the space has gaps."""
    return [] if space.dense else [PruneGrid()]
