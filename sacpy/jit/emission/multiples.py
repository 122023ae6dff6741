"""Which powers of two integers are multiples of, as far as the operations tell that made them.

In: the operations on integers that a kernel has written. Out: for a word, a power of two that divides it; for an
element, the alignment of its address. Compilers ask the same before they make one access of several, but follow no more
than six operations, which is less than it takes to come to an element of a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST = 64  # the largest one that anybody asks for


class Multiples:
    """Of one function."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, text: str) -> int:
        """A power of two that divides a word, up to `MOST`; that of 0 is `MOST`."""
        if text.lstrip("-").isdigit():
            value = int(text)
            return min(value & -value or MOST, MOST)
        return self._known.get(text, 1)

    def is_multiple(self, text: str, of: int) -> None:
        """A word is a multiple of a power of two."""
        self._known[text] = min(max(of, self._known.get(text, 1)), MOST)

    def note(self, text: str, code: str, args: Sequence[str]) -> None:
        """An operation on integers was written. That it may wrap changes no power of two."""
        parts = tuple(map(self.of, args))
        match code:
            case "add" | "sub" | "min" | "max" | "bitor" | "bitxor" | "toi" | "tol" | "neg":
                self.is_multiple(text, min(parts))
            case "mul":
                self.is_multiple(text, parts[0] * parts[1])
            case "bitand":
                self.is_multiple(text, max(parts))
            case "shl" if args[1].isdigit():
                self.is_multiple(text, parts[0] << min(int(args[1]), MOST))

    def alignment(self, size: int, index: Sequence[str], extents: Sequence[str]) -> int:
        """That of an element of `size` bytes, relative to the first one of its array."""
        least, row = MOST, 1
        for i, extent in zip(reversed(index), reversed(extents)):
            least = min(least, self.of(i) * row)
            row = min(row * self.of(extent), MOST)
        return size * least
