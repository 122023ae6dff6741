"""With-loops whose programmer has said how they run on a GPU.

In: a with-loop; a unit. Out: whether it is to have a kernel of its own; the unit for a target that has no kernels,
where mappings mean nothing.

A mapping is about the index space that the programmer has written. So on devices a with-loop that has one is neither
computed inside those that read it, nor joined with neighbours, nor given more axes, nor cut where conditions would like
it. Inside of another with-loop's body it has no kernel, and is like any other; but what is to be forced into memory is
computed there wherever it stands, and the with-loops in the body of one whose cells are programs of a block
(`is_program`) are the work of many threads, and stand as those outside of all bodies do.
"""

from __future__ import annotations

from sacpy.jit.ir.graph import Function, WithLoop
from sacpy.jit.ir.rewrite import Rewriter
from sacpy.jit.passes.units import wherever
from sacpy.lang.pragmas import STAGE, asks
from sacpy.nodes import replace


def stands(w: WithLoop) -> bool:
    """Whether a mapping, or staging in shared memory, is asked for."""
    return any(map(asks, _texts(w)))


def forced(w: WithLoop) -> bool:
    """Whether it is a stage of a block's program, which nobody computes where he reads it."""
    return any(text.startswith(STAGE) for text in _texts(w))


def is_program(w: WithLoop) -> bool:
    """Whether its cells, or some of them, are programs of a block."""
    return any(text.startswith("gpublock") for text in _texts(w))


def _texts(w: WithLoop) -> list[str]:
    return [p.text for pragmas in (w.pragmas, *(p.pragmas for p in w.partitions)) for p in pragmas]


def shares_folds(w: WithLoop) -> bool:
    """Whether threads are to put together what its bodies fold, as a pragma says."""
    every = (w.pragmas, *(q.pragmas for q in w.partitions))
    return any(p.text.startswith("gpufold") for pragmas in every for p in pragmas)


def multiplies(w: WithLoop) -> bool:
    """Whether tensor cores are to compute its cells, as a pragma says."""
    return any(text.startswith("gpufold") and "mma" in text for text in _texts(w))


class _Without(Rewriter):
    def with_loop(self, w: WithLoop) -> WithLoop:
        new = super().with_loop(w)
        return (
            replace(new, partitions=tuple(replace(p, pragmas=()) for p in new.partitions), pragmas=())
            if stands(new)
            else new
        )


@wherever(lambda r: isinstance(r, WithLoop) and stands(r))
def run(function: Function) -> Function:
    """A unit without its mappings."""
    return _Without().function(function)
