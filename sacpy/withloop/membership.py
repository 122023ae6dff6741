"""Whether an index belongs to a space, asked by a thread.

In: an index space, an index in some arithmetic. Out: the condition. This is the first-match test of frames that are not
worth splitting, and what a check mode asks; like `recover` it is written once over an abstract arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.withloop.arithmetic import Arithmetic, G, Slot, V
from sacpy.withloop.combinators import Form, both
from sacpy.withloop.spaces import IndexSpace


def form(space: IndexSpace) -> Form:
    """All that the code of `member` depends on: for each axis whether it has gaps."""
    return tuple(int(w < t) for t, w in zip(space.step, space.width))


def slots(space: IndexSpace) -> tuple[Slot, ...]:
    """The numbers that `member` needs, in its order."""
    numbers = []
    for k, gap in enumerate(form(space)):
        numbers += [Slot(f"below{k}", space.lower[k] - 1), Slot(f"upper{k}", space.upper[k])]
        if gap:
            step = space.step[k]
            numbers += [
                Slot(f"phase{k}", -space.lower[k] % step),
                Slot(f"step{k}", step, divisor=True),
                Slot(f"width{k}", space.width[k]),
            ]
    return tuple(numbers)


def member(a: Arithmetic[V, G], form: Form, slots: Sequence[Slot], index: Sequence[V]) -> G | None:
    """The index, of which no entry is negative, belongs to the space; None: it always does (rank 0)."""
    number = iter(slots)
    guard: G | None = None
    for i, gap in zip(index, form):
        guard = both(a, guard, a.less(a.bound(next(number)), i))
        guard = both(a, guard, a.less(i, a.bound(next(number))))
        if gap:
            _, phase = a.divide(a.add(i, a.bound(next(number))), next(number))
            guard = both(a, guard, a.less(phase, a.bound(next(number))))
    return guard
