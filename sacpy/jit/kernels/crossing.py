"""Where the threads of a block have to meet.

In: the phases of a block's program in order: which elements of the block's memory each thread reads and writes. Out:
whether a barrier is needed before a phase: only where one thread reads what another has written since the last one, or
writes what another has read or written. What a thread reads of its own needs none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sacpy.nodes import Node, Record, field

Numbers = NDArray[np.int64]
_NOBODY, _SEVERAL = -1, -2


class Touched(Node):
    """What threads do to elements of one array: `cells`, a row for each entry of `threads`; None: any of them."""

    array: str
    threads: Numbers
    cells: Numbers | None


class Crossing(Record):
    """`sizes`: how many elements each array has. What was done since the last barrier: who wrote, who read."""

    sizes: dict[str, int] = field(default_factory=dict)
    written: dict[str, Numbers] = field(default_factory=dict)
    read: dict[str, Numbers] = field(default_factory=dict)

    def meet(self) -> None:
        """A barrier."""
        self.written.clear()
        self.read.clear()

    def needs(self, reads: Sequence[Touched], writes: Sequence[Touched]) -> bool:
        """Whether a barrier must stand before a phase that does this."""
        return any(_others(self.written, t) for t in (*reads, *writes)) or any(_others(self.read, t) for t in writes)

    def note(self, reads: Sequence[Touched], writes: Sequence[Touched]) -> None:
        """A phase has done this."""
        for table, many in ((self.read, reads), (self.written, writes)):
            for t in many:
                who = table.setdefault(t.array, np.full(self.sizes[t.array], _NOBODY, np.int64))
                if t.cells is None:
                    whole = t.threads[0] if len(set(t.threads.tolist())) == 1 else _SEVERAL
                    who[(who != _NOBODY) & (who != whole)] = _SEVERAL
                    who[who == _NOBODY] = whole
                    continue
                for column in t.cells.T:
                    inside = (column >= 0) & (column < len(who))
                    cells, threads = column[inside], t.threads[inside]
                    first = np.full(len(who), _NOBODY, np.int64)
                    first[cells] = threads
                    mixed = np.zeros(len(who), bool)
                    mixed[cells[first[cells] != threads]] = True
                    now = first != _NOBODY
                    who[now & (who != _NOBODY) & (who != first)] = _SEVERAL
                    who[now & (who == _NOBODY)] = first[now & (who == _NOBODY)]
                    who[mixed] = _SEVERAL


def _others(table: dict[str, Numbers], t: Touched) -> bool:
    """Whether another thread than those that touch an element is noted for it."""
    who = table.get(t.array)
    if who is None or not len(t.threads):
        return False
    if t.cells is None:
        noted = who[who != _NOBODY]
        return bool(len(noted)) and (len(set(t.threads.tolist())) > 1 or bool(np.any(noted != t.threads[0])))
    inside = (t.cells >= 0) & (t.cells < len(who))
    noted = who[np.where(inside, t.cells, 0)]
    return bool(np.any(inside & (noted != _NOBODY) & (noted != t.threads[:, None])))


def apart(size: int, reads: Sequence[Touched], writes: Sequence[Touched]) -> bool:
    """Whether nobody reads what another writes: all reads and writes are of one array of that size, `threads` of them
    whoever reads everything before he writes."""
    known = Crossing({t.array: size for t in (*reads, *writes)})
    known.note((), writes)
    return not any(_others(known.written, t) for t in reads)
