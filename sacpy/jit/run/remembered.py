"""What an engine remembers for as long as it lives, which may be years: bounded.

In: compiled units by the digest of what they are made of; functions and loops that are watched, by the evaluator that
runs them. Out: the units that were used last; the functions of the evaluators that are alive, and of the last few
others, for whoever asks what ran.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import ref

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

T = TypeVar("T")
UNITS = 128
ENDED = 2  # evaluators whose functions are known after their end


class Recent(Generic[T]):
    """A mapping of names that forgets what was not asked for for longest."""

    def __init__(self, most: int = UNITS) -> None:
        self._most = most
        self._known: OrderedDict[str, T] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: str) -> T | None:
        """What has this name, if it is still known."""
        found = self._known.get(name)
        if found is not None:
            self._known.move_to_end(name)
        return found

    def keep(self, name: str, value: T) -> T:
        """Remembers something, and gives it."""
        self._known[name] = value
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return value


class Watched(Generic[T]):
    """What is watched, in the order in which it came. `name`: where an evaluator keeps its own in its namespace, so
    that it goes with it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._all: list[ref[T]] = []
        self._kept: deque[list[T]] = deque(maxlen=ENDED)
        self._pruned = 0  # things when it was last looked for those that are gone

    def add(self, evaluator: Evaluator, thing: T) -> None:
        """Something of an evaluator, which keeps it."""
        own: list[T] = evaluator.namespace.setdefault(self._name, [])
        own.append(thing)
        if not any(kept is own for kept in self._kept):
            self._kept.append(own)
        self._all.append(ref(thing))
        if len(self._all) > 2 * self._pruned + 100:
            self._all = [one for one in self._all if one() is not None]
            self._pruned = len(self._all)

    def of(self, evaluator: Evaluator) -> Sequence[T]:
        """What belongs to one evaluator."""
        own: Sequence[T] = evaluator.namespace.get(self._name, ())
        return own

    def __iter__(self) -> Iterator[T]:
        return (thing for one in tuple(self._all) if (thing := one()) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, at: int) -> T:
        return list(self)[at]
