"""Addresses that go on from one another.

In: the operations on integers that a kernel has written, and the elements that it accesses. Out: the address of an
element, from that of another one of the same array where the two differ by numbers alone: neighbours in a row by a
constant, which instructions have room for, neighbours in a column by a row's length, which one addition takes. From
scratch it would be a product for each axis, a conversion and an addition. libNVVM finds this by itself, LLVM's NVPTX
does not, as indices have 32 bits and addresses 64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.nodes import Node

MOST = 2  # instructions that an address from another one may take; as many as one from scratch has beyond its product


class Form(Node):
    """An integer: the sum of `terms` (sorted names of values) and a constant."""

    terms: tuple[str, ...]
    constant: int


class Known(Node):
    """An address that was computed before in the block: the constants of its indices, and its name."""

    constants: tuple[int, ...]
    pointer: str


class Step(Node):
    """How to come to an element from a known address: by `constant` elements, and by `rows`: along which axes, and how
    far, where a row's length is not known."""

    start: Known
    constant: int
    rows: tuple[tuple[int, int], ...]


class Addresses:
    """Of one function. `block` numbers the blocks of its code; what was computed in another one may not be there."""

    def __init__(self, block: Callable[[], int]) -> None:
        self.forms: dict[str, Form] = {}
        self._same: dict[tuple[str, tuple[Form, ...]], str] = {}
        self._block, self._seen = block, -1
        self._known: dict[tuple[str, tuple[tuple[str, ...], ...]], list[Known]] = {}
        self._rows: dict[tuple[str, int, int], str] = {}

    def form(self, text: str) -> Form:
        """What a word is."""
        if text.lstrip("-").isdigit():
            return Form((), int(text))
        return self.forms.get(text) or Form((text,), 0)

    def note(self, text: str, code: str, args: Sequence[str], exact: bool) -> None:
        """An operation on integers was written. `exact`: its result does not wrap."""
        parts = tuple(map(self.form, args))
        if exact and code == "add":
            terms = tuple(sorted(parts[0].terms + parts[1].terms))
            self.forms[text] = Form(terms, parts[0].constant + parts[1].constant)
        elif exact and code == "sub" and not parts[1].terms:
            self.forms[text] = Form(parts[0].terms, parts[0].constant - parts[1].constant)
        else:
            self.forms[text] = Form((self._same.setdefault((code, parts), text),), 0)

    def step(self, pointer: str, index: Sequence[str], extents: Sequence[str]) -> Step | None:
        """The shortest way to an element of an array from what is known; None where there is none."""
        key, constants = self._key(pointer, index)
        best: tuple[int, Step] | None = None
        for known in self._known.get(key, ()):
            step = _between(known, constants, extents)
            cost = sum(1 if (pointer, axis, far) in self._rows else 2 for axis, far in step.rows)
            if cost <= MOST and (best is None or cost <= best[0]):
                best = cost, step
        return None if best is None else best[1]

    def keep(self, pointer: str, index: Sequence[str], found: str, less: int = 0) -> None:
        """The address of an element is there now; `less`: it is so many elements behind."""
        key, constants = self._key(pointer, index)
        constants = (*constants[:-1], constants[-1] - less)
        self._known.setdefault(key, []).append(Known(constants, found))

    def row(self, pointer: str, axis: int, far: int, make: Callable[[], str]) -> str:
        """How many elements it is `far` along an axis."""
        key = pointer, axis, far
        if key not in self._rows:
            self._rows[key] = make()
        return self._rows[key]

    def _key(
        self, pointer: str, index: Sequence[str]
    ) -> tuple[tuple[str, tuple[tuple[str, ...], ...]], tuple[int, ...]]:
        if self._block() != self._seen:
            self._seen = self._block()
            self._known.clear()
            self._rows.clear()
        forms = tuple(map(self.form, index))
        return (pointer, tuple(f.terms for f in forms)), tuple(f.constant for f in forms)


def _between(known: Known, constants: tuple[int, ...], extents: Sequence[str]) -> Step:
    """The way from one element to another. Along an axis whose rows have a known length it is a constant."""
    constant, rows = 0, []
    for axis, (old, new) in enumerate(zip(known.constants, constants, strict=True)):
        inner = extents[axis + 1 :]
        if all(e.isdigit() for e in inner):
            length = 1
            for e in inner:
                length *= int(e)
            constant += (new - old) * length
        elif new != old:
            rows.append((axis, new - old))
    return Step(known, constant, tuple(rows))
