"""What is remembered of each unit that was compiled: how long the stages took, and what the passes made of it.

A `Report` is kept with the code, so that `--explain` can tell of code that came out of the cache, too.
"""

from __future__ import annotations

from sacpy.jit.kinds import Kind
from sacpy.nodes import Node


class Counts(Node):
    """What a graph consists of. `with_loops`: nodes, with `partitions` in all; `arrays`: with-loops and updates that
    make an array; `loops`: other loops; `checks`: conditions that are tested at run time; `functions`: the root and
    those that it calls."""

    with_loops: int
    partitions: int
    arrays: int
    loops: int
    checks: int
    calls: int
    functions: int


class Report(Node):
    """One unit. `stages`: name and seconds of each step on the way to native code; `size`: bytes of it; `parallel`:
    loops that may be spread over threads; `notes`: what was left out or done another way because it is large; `cuts`:
    which partitions were cut, and where; `loops`: how loops run, where there is more to say than index by index."""

    key: str
    kind: Kind
    stages: tuple[tuple[str, float], ...]
    before: Counts
    after: Counts
    size: int
    parallel: int
    cached: bool = False
    notes: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """From the first stage to the last."""
        return sum(seconds for _, seconds in self.stages)
