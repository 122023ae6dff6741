"""Which functions of a large unit are compiled once and called, instead of being put in the place of each of their
calls.

In: what was inlined, and how many statements it became. Out: the uses that are calls from now on. A unit is made the
short way at first, where everything is inlined and fuses; when it has grown large, and the same functions come again
and again, it is made anew with calls of these, and of whatever comes again from then on. So the time that a unit takes
stays near linear in the text of its functions, though each may call others twice.

Functions in the cells of with-loops are inlined all the same: what is done for each cell has to be.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir.graph import LARGEST_EXTENT, WIDEST_EXTENT, Const
from sacpy.jit.specialise.values import Kind, Small, Value
from sacpy.lang.types import REAL
from sacpy.nodes import Node, Record, field

MANY = 700  # statements of a unit from which on it counts as large
PIECE = 24  # statements of a function that is worth calling
TIMES = 2

Constants = tuple[Value | None, ...]


class Use(Node):
    """A function, called with arguments of these kinds. `constants`: those arguments that are known by value."""

    key: str
    kinds: tuple[Kind, ...]
    constants: Constants


def constants_among(args: Sequence[Value]) -> Constants:
    """The arguments that are constants; None for the others. Reals are numbers to compute with: code for any serves,
    where an int may be an axis, and a bool which way to go."""
    return tuple(a if _is_constant(a) else None for a in args)


def _is_constant(value: Value) -> bool:
    if value.base in REAL:
        return False
    return isinstance(value, Const) or (isinstance(value, Small) and all(isinstance(e, Const) for e in value.elements))


class Grown(Exception):
    """The unit turned out to be large: it is made once more, and functions that come again are called."""


class Wider(Exception):
    """There is an extent that is too large, unless the unit is made for such."""


class Sharing(Record):
    """What is known of one unit's repetitions. `seen`: how many statements a use has become at most, of those that were
    inlined; `large`: whether the unit is made with calls; `wide`: whether extents may be larger than usual;
    `device`: whether it is for a device."""

    shared: set[Use] = field(default_factory=set)
    large: bool = False
    statements: int = 0
    seen: dict[Use, tuple[int, int]] = field(default_factory=dict)
    wide: bool = False
    device: bool = False

    @property
    def largest(self) -> int:
        """The largest extent."""
        return WIDEST_EXTENT if self.wide else LARGEST_EXTENT

    def begin(self) -> None:
        """Starts an attempt."""
        self.statements = 0
        self.seen.clear()

    def is_called(self, use: Use) -> bool:
        """Whether a use is a call."""
        if use not in self.shared and self.large and use in self.seen and self.seen[use][1] >= PIECE:
            self.shared.add(use)
        return use in self.shared

    def inlined(self, use: Use, statements: int) -> None:
        """Notes what a use became. Raises `Grown`."""
        times, most = self.seen.get(use, (0, 0))
        self.seen[use] = times + 1, max(most, statements)
        if self.large or self.statements <= MANY:
            return
        repeated = {u for u, (times, most) in self.seen.items() if times >= TIMES and most >= PIECE}
        if repeated:
            self.shared, self.large = repeated, True
            raise Grown

    @property
    def notes(self) -> tuple[str, ...]:
        """What to tell of it."""
        if not self.shared:
            return ()
        names = sorted({u.key.rpartition("::")[2].partition("/")[0] for u in self.shared})
        return (f"large: compiled once and called, not written out each time: {', '.join(names)}",)
