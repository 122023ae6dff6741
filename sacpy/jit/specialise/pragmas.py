"""What the pragmas of a with-loop ask of the specialiser.

In: a with-loop of core. Out: whether it has a mapping, and the order in which a fold combines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.lang import core
from sacpy.lang.pragmas import asks

if TYPE_CHECKING:
    pass


def laid_out(loop: core.WithLoop) -> bool:
    """Whether a pragma asks for a kernel."""
    return any(asks(p.text) for pragmas in (loop.pragmas, *(q.pragmas for q in loop.partitions)) for p in pragmas)


def order_of_fold(loop: core.WithLoop) -> bool | None:
    """What the pragmas say of the order of the with-loop's folds."""
    if not loop.pragmas:
        return None
    from sacpy.withloop.pragmas import order_of

    return order_of(p.text for p in loop.pragmas)
