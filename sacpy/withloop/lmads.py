"""LMADs, linear memory access descriptors: sets of addresses with strides, and the functions that give them.

In: offsets, counts and strides. Out: what slicing, transposing, reversing and reshaping make of them; whether two have
no address in common, whether one names no address twice; the addresses that a generator with step and width covers.

    offset + {(count1, stride1), (count2, stride2)}  =  { offset + i * stride1 + j * stride2 | i < count1, j < count2 }

As a set its axes may be reordered, joined and turned round (`normal`); as a function from indices to addresses, the
first axis outermost, they may not. Strides are ints; offsets and counts are ints or linear forms (`linear`), whose
names may be bounded. A count of 0 or less makes the set empty.

Source: Munksgaard, *Static and Dynamic Analyses for Efficient GPU Execution* (PhD, Copenhagen, 2023), chapter 3, with
these differences: what turning an axis of negative stride round adds to the offset is (count - 1) * stride, for any
stride (3.2); of two ranges one ends before the other begins if its last address, (count - 1) * stride, is below the
other's first (3.5); where strides overlap, it is one of the inner axes that is cut, by its last point, and both parts
must be apart (procedure 3.5 says the outer one)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import gcd, prod

from sacpy.nodes import Node
from sacpy.withloop.linear import NOTHING, Bounds, Number, name

CUTS = 64  # of sets into parts, for one answer
FEW = 4096  # addresses that are looked at one by one

Axis = tuple[Number, int]


class Lmad(Node):
    """`axes`: count and stride of each, the first one outermost."""

    offset: Number
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[Number, ...]:
        return tuple(count for count, _ in self.axes)

    def at(self, index: Sequence[int]) -> Number:
        """The address of an index."""
        return self.offset + sum(i * stride for i, (_, stride) in zip(index, self.axes, strict=True))

    # ---- as a function: what views of an array are

    def transposed(self, order: Sequence[int]) -> Lmad:
        """With its axes in another order: axis k is that which was `order[k]`."""
        assert sorted(order) == list(range(len(self.axes)))
        return Lmad(self.offset, tuple(self.axes[k] for k in order))

    def reversed(self, axis: int) -> Lmad:
        """With one axis turned round."""
        count, stride = self.axes[axis]
        axes = (*self.axes[:axis], (count, -stride), *self.axes[axis + 1 :])
        return Lmad(self.offset + (count - 1) * stride, axes)

    def sliced(self, starts: Sequence[Number], counts: Sequence[Number], steps: Sequence[int]) -> Lmad:
        """Along each axis so many indices, a step apart, from a first one. Nobody checks that there are so many."""
        axes = tuple((count, stride * step) for count, step, (_, stride) in zip(counts, steps, self.axes, strict=True))
        return Lmad(
            self.offset + sum(start * stride for start, (_, stride) in zip(starts, self.axes, strict=True)), axes
        )

    def fixed(self, axis: int, at: Number) -> Lmad:
        """The part at one index of an axis."""
        stride = self.axes[axis][1]
        return Lmad(self.offset + at * stride, self.axes[:axis] + self.axes[axis + 1 :])

    def through(self, inner: Lmad) -> Lmad:
        """What another one selects from this one, which has one axis: addresses of `inner` are indices here."""
        ((_, stride),) = self.axes
        return Lmad(self.offset + inner.offset * stride, tuple((count, step * stride) for count, step in inner.axes))

    def reshaped(self, shape: Sequence[int]) -> Lmad | None:
        """The same addresses in the same order under other extents of the same product; None where axes do not join.
        All counts are ints."""
        counts = [_int(count) for count in self.shape]
        assert prod(counts) == prod(shape)
        if 0 in shape:
            return Lmad(self.offset, tuple((n, 0) for n in shape))
        joined: list[tuple[int, int]] = []  # as few axes as there can be
        for count, (_, stride) in zip(counts, self.axes):
            if count == 1:
                continue
            if joined and joined[-1][1] == count * stride:
                joined[-1] = (joined[-1][0] * count, stride)
            else:
                joined.append((count, stride))
        axes: list[Axis] = []
        rest, step = 1, 0  # of the joined axis that is being cut: how many there are yet, and how far apart
        for n in reversed(shape):
            if n == 1:
                axes.append((1, 0))
                continue
            if rest == 1:
                rest, step = joined.pop()
            if rest % n:
                return None
            axes.append((n, step))
            rest, step = rest // n, step * n
        return Lmad(self.offset, tuple(reversed(axes)))

    # ---- as a set

    def normal(self) -> Lmad:
        """The same set: strides positive and different, the largest first, no axis of one index."""
        offset, counts = self.offset, dict[int, Number]()
        for count, stride in self.axes:
            if isinstance(count, int) and count <= 0:
                return EMPTY
            if count == 1 or not stride:
                if not isinstance(count, int):
                    counts[0] = count  # which may be 0, and then there is nothing
                continue
            if stride < 0:
                offset, stride = offset + (count - 1) * stride, -stride
            counts[stride] = counts.get(stride, 1) + count - 1
        return Lmad(offset, tuple((counts[stride], stride) for stride in sorted(counts, reverse=True)))

    def last(self) -> Number:
        """The largest address of a set that is not empty, in normal form."""
        return self.offset + sum((count - 1) * stride for count, stride in self.axes)

    def addresses(self) -> Iterator[int]:
        """All of them, one for each index, in row-major order. All numbers are ints."""
        start = _int(self.offset)
        for index in product(*(range(_int(count)) for count in self.shape)):
            yield start + sum(i * stride for i, (_, stride) in zip(index, self.axes))


EMPTY = Lmad(0, ((0, 1),))


def _int(n: Number) -> int:
    assert isinstance(n, int)
    return n


def row_major(shape: Sequence[int], offset: Number = 0) -> Lmad:
    """An array of that shape whose elements lie side by side."""
    return Lmad(offset, tuple((n, prod(shape[k + 1 :])) for k, n in enumerate(shape)))


def generator(
    lower: Sequence[int],
    upper: Sequence[int],
    step: Sequence[int],
    width: Sequence[int],
    strides: Sequence[int],
    offset: int = 0,
) -> tuple[Lmad, ...]:
    """The addresses that a generator's indices have in an array of those strides: sets that have nothing in common. An
    axis whose last block is cut off by the upper bound makes two of one."""
    found = [Lmad(offset, ())]
    for low, high, s, w, stride in zip(lower, upper, step, width, strides, strict=True):
        blocks, rest = divmod(max(high - low, 0), s)
        whole: list[tuple[int, tuple[Axis, ...]]] = [
            (low, ((blocks, s * stride), (w, stride)) if w < s else ((blocks * s, stride),))
        ]
        tail = min(w, rest)
        if w == s:
            whole = [(low, ((blocks * s + rest, stride),))]
        elif tail == w:
            whole = [(low, ((blocks + 1, s * stride), (w, stride)))]
        elif tail:
            whole.append((low + blocks * s, ((tail, stride),)))
        found = [
            Lmad(a.offset + first * stride, (*a.axes, *axes))
            for a in found
            for first, axes in whole
            if all(count for count, _ in axes)
        ]
    return tuple(found)


def injective(a: Lmad, bounds: Bounds = NOTHING) -> bool:
    """Whether no two indices have the same address, as far as can be seen: each stride is larger than all that smaller
    ones reach together. Where that is not so, few addresses are looked at one by one."""
    axes = [(count, abs(stride)) for count, stride in a.axes if count != 1]
    if any(isinstance(count, int) and count <= 0 for count, _ in axes):
        return True
    reach: Number = 0
    for count, stride in sorted(axes, key=lambda axis: axis[1]):
        if not bounds.never_negative(stride - 1 - reach):
            break
        reach = reach + (count - 1) * stride
    else:
        return True
    counts = [count for count in a.shape if isinstance(count, int)]
    if len(counts) < len(a.axes) or prod(counts) > FEW:
        return False
    return len(set(Lmad(0, a.axes).addresses())) == prod(counts)


# ---------------------------------------------------------------- apart


def apart(a: Lmad, b: Lmad, bounds: Bounds = NOTHING) -> bool:
    """Whether two sets certainly have no address in common. It may miss that they have none."""
    return _apart(a.normal(), b.normal(), bounds, [CUTS])


def _apart(a: Lmad, b: Lmad, bounds: Bounds, left: list[int]) -> bool:
    """The same for sets in normal form. `left`: how often sets may be cut."""
    if EMPTY in (a, b):
        return True
    distance = a.offset - b.offset
    if bounds.never_negative(b.offset - a.last() - 1) or bounds.never_negative(a.offset - b.last() - 1):
        return True
    common = gcd(*(stride for _, stride in (*a.axes, *b.axes)))
    if _indivisible(distance, common):
        return True
    digits = _Digits(a, b, distance)
    overlap = digits.overlap(bounds)
    if overlap is None:
        return digits.differ(bounds)
    cut = _cut(*overlap)
    if cut is None or left[0] <= 0:
        return False
    left[0] -= 1
    one, other = cut
    rest = b if one is a else a
    return all(_apart(part, rest, bounds, left) for part in other)


def _indivisible(n: Number, by: int) -> bool:
    """Whether a number is certainly no multiple of another, where 0 is the only multiple of 0."""
    if isinstance(n, int):
        return n % by != 0 if by else n != 0
    return by != 0 and all(c % by == 0 for c in n.terms.values()) and n.constant % by != 0


class _Digits:
    """Two sets as sums of intervals times the same strides, the largest first: the addresses of the one are equal to
    those of the other where the sums are. The distance of their offsets has been dealt out among the strides."""

    def __init__(self, a: Lmad, b: Lmad, distance: Number) -> None:
        self.a, self.b = a, b
        self.strides = sorted({stride for _, stride in (*a.axes, *b.axes)} - {0} | {1}, reverse=True)
        counts_a, counts_b = ({stride: count for count, stride in z.axes} for z in (a, b))
        shift = self._dealt(distance)
        self.one = [(shift[k], shift[k] + counts_a.get(s, 1) - 1) for k, s in enumerate(self.strides)]
        self.other: list[tuple[Number, Number]] = [(0, counts_b.get(s, 1) - 1) for s in self.strides]

    def _dealt(self, distance: Number) -> list[Number]:
        """Digits whose sum times the strides is the distance: of each coefficient as much as there is to the larger
        strides."""
        shift: list[Number] = [0] * len(self.strides)
        terms: list[tuple[Number, int]] = (
            [(1, distance)]
            if isinstance(distance, int)
            else [(1, distance.constant), *((name(n), c) for n, c in distance.terms.items())]
        )
        for unit, coefficient in terms:
            sign, rest = (1, coefficient) if coefficient >= 0 else (-1, -coefficient)
            for k, s in enumerate(self.strides):
                digit, rest = divmod(rest, s)
                if digit:
                    shift[k] = shift[k] + (sign * digit) * unit
        return shift

    def overlap(self, bounds: Bounds) -> tuple[Lmad, Lmad, int] | None:
        """None if equal sums have equal digits: if digits that are smaller by one at a stride are never made up for by
        the smaller strides. Otherwise the set that reaches too far there, the other one, and the stride."""
        for z, rest, high, low in ((self.b, self.a, self.other, self.one), (self.a, self.b, self.one, self.other)):
            reach: Number = 0
            for k in reversed(range(len(self.strides))):
                if not bounds.never_negative(self.strides[k] - 1 - reach):
                    return z, rest, self.strides[k]
                reach = reach + (high[k][1] - low[k][0]) * self.strides[k]
        return None

    def differ(self, bounds: Bounds) -> bool:
        """Whether the digits at some stride are never equal."""
        return any(
            bounds.never_negative(low - most - 1)
            for (l1, u1), (l2, u2) in zip(self.one, self.other)
            for low, most in ((l1, u2), (l2, u1))
        )


def _cut(z: Lmad, rest: Lmad, stride: int) -> tuple[Lmad, tuple[Lmad, Lmad]] | None:
    """One of two sets, and two parts of it: its axis of the largest stride below the given one without its last index,
    and that index."""
    for one in (z, rest):
        for k, (count, s) in enumerate(one.axes):
            if 0 < s < stride and isinstance(count, int):
                less = Lmad(one.offset, (*one.axes[:k], (count - 1, s), *one.axes[k + 1 :]))
                last = Lmad(one.offset + (count - 1) * s, one.axes[:k] + one.axes[k + 1 :])
                return one, (less.normal(), last)
    return None
