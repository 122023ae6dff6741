"""Linear forms over the integers, and which of them are certainly not negative.

In: constants, names, and for names what they lie between. Out: forms that can be added, subtracted and multiplied by
numbers; proofs. A number is an int or a `Linear`; whatever is said of numbers here holds for both. Names are bounded by
forms of names that were bounded before them, or of free ones; a proof puts bounds in the place of the youngest name,
until the rest is a number."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

MOST = 64  # bounds that one proof tries


class Linear:
    """`constant` plus names times their coefficients, none of which is 0."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int, terms: Mapping[str, int]) -> None:
        self.constant, self.terms = constant, terms

    def __add__(self, other: Number) -> Number:
        if isinstance(other, int):
            return Linear(self.constant + other, self.terms)
        terms = dict(self.terms)
        for name, c in other.terms.items():
            terms[name] = terms.get(name, 0) + c
        left = {name: c for name, c in terms.items() if c}
        return Linear(self.constant + other.constant, left) if left else self.constant + other.constant

    __radd__ = __add__

    def __mul__(self, factor: int) -> Number:
        return Linear(self.constant * factor, {name: c * factor for name, c in self.terms.items()}) if factor else 0

    __rmul__ = __mul__

    def __neg__(self) -> Number:
        return self * -1

    def __sub__(self, other: Number) -> Number:
        return self + other * -1

    def __rsub__(self, other: Number) -> Number:
        return self * -1 + other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms.items())))

    def __repr__(self) -> str:
        return " + ".join([f"{c} {name}" for name, c in sorted(self.terms.items())] + [str(self.constant)])


Number = int | Linear


def name(text: str) -> Linear:
    """A name as a form."""
    return Linear(0, {text: 1})


class Bounds:
    """What names lie between: for each the forms that it is at least, and at most."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[Number], list[Number]]] = {}  # the youngest last

    def learn(self, text: str, least: Sequence[Number] = (), most: Sequence[Number] = ()) -> None:
        """Notes bounds of a name, by forms of names that are older or free. A name is as old as what was first learnt
        of it."""
        below, above = self._known.setdefault(text, ([], []))
        below += least
        above += most

    def least(self, n: Number, names: Container[str]) -> Number | None:
        """A form without some names that a number is at least: by the first bound of each, the youngest first. None
        where one has no bound."""
        for text in reversed(self._known):
            if isinstance(n, int):
                return n
            if text in n.terms and text in names:
                c = n.terms[text]
                bounds = self._known[text][0 if c > 0 else 1]
                if not bounds:
                    return None
                n = n - Linear(0, {text: c}) + bounds[0] * c
        return n if isinstance(n, int) or not any(text in names for text in n.terms) else None

    def never_negative(self, n: Number) -> bool:
        """Whether a number is certainly at least 0."""
        return self._proved(n, [MOST])

    def _proved(self, n: Number, left: list[int]) -> bool:
        if isinstance(n, int):
            return n >= 0
        youngest = next((text for text in reversed(self._known) if text in n.terms), None)
        if youngest is None:
            return False
        c = n.terms[youngest]
        rest = n - Linear(0, {youngest: c})
        for bound in self._known[youngest][0 if c > 0 else 1]:
            left[0] -= 1
            if left[0] < 0:
                return False
            if self._proved(rest + bound * c, left):
                return True
        return False


NOTHING = Bounds()
