"""Where the elements of an array lie whose inner extents depend on outer positions: sizes, offsets, and back.

In: `Extents`, one function per axis of the positions on the axes before it. Out: the number of elements, the offset of
a position, both as closed forms where there are any, and how a position is found from an offset. Elements lie packed,
in row-major order:

    N_r = 1,  N_k(x_1..x_k) = sum of N_(k+1)(x_1..x_k, t) for t < e_(k+1)(x_1..x_k)        elements: N_0
    S_k(x_1..x_k) = sum of N_k(x_1..x_(k-1), t) for t < x_k                                 offset: S_1 + .. + S_r

A sum of t^p is a polynomial in its bound (Faulhaber), of t^p b^t a polynomial times b^t; a step in t cuts the sum where
it begins. Where there is no closed form (`None`), who holds such an array keeps a table of the offsets of its rows.

After Pizzuti, Steuwer and Dubach, "Position-Dependent Arrays and Their Application for High Performance Code
Generation" (FHPNC 2019), sections 4 and 5; the view of section 5 is corrected: row i begins where rows k < i end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb

from sacpy.nodes import Node
from sacpy.withloop.arithmetic import place_in_rows
from sacpy.withloop.piecewise import (
    ONE,
    ZERO,
    Factor,
    Poly,
    Power,
    Quotient,
    Step,
    Variable,
    coefficient_of,
    maximum,
    name,
    names,
    number,
    power,
    replaced,
    step,
    substituted,
    value_at,
)

LARGEST = 6  # exponents that are summed: a rank of 5 makes no larger ones out of affine extents
MOST = 16  # terms of a function that is summed; with more, a table is quicker than the formula


def position(axis: int) -> str:
    """The variable that stands for the position on an axis, from 0."""
    return f"x{axis}"


# ---------------------------------------------------------------- sums


@cache
def _powers_below(p: int) -> tuple[Fraction, ...]:
    """The coefficients, of x^1 and up, of the sum of t^p for t < x."""
    rows: list[tuple[Fraction, ...]] = []
    for q in range(p + 1):
        # (x)^(q+1) = sum over t < x of (t+1)^(q+1) - t^(q+1) = sum over k <= q of comb(q+1, k) S_k(x)
        row = [Fraction(0)] * (q + 1)
        row[q] = Fraction(1)
        for k in range(q):
            for e, c in enumerate(rows[k]):
                row[e] -= comb(q + 1, k) * c
        rows.append(tuple(c / (q + 1) for c in row))
    return rows[p]


@cache
def _geometric(p: int, base: int) -> tuple[Fraction, ...]:
    """The coefficients, of t^0 and up, of q with q(t+1) * base - q(t) = t^p: then the sum of t^p base^t for t < x is
    q(x) * base^x - q(0)."""
    q = [Fraction(0)] * (p + 1)
    for e in range(p, -1, -1):
        rest = Fraction(int(e == p)) - sum((base * q[k] * comb(k, e) for k in range(e + 1, p + 1)), Fraction(0))
        q[e] = rest / (base - 1)
    return tuple(q)


def sum_below(of: Poly, variable: str, end: Poly) -> Poly | None:
    """The sum of a function for `variable` from 0 below `end`, which is at least 0; None where there is no closed
    form."""
    apart = _one_step_each(of, variable)
    total = ZERO
    for monomial, coefficient in () if apart is None else apart.terms:
        inside = [(f, e) for f, e in monomial if variable in names(_alone(f))]
        outside = number(coefficient)
        for f, e in monomial:
            if (f, e) not in inside:
                outside = outside * Poly(((((f, e),), Fraction(1)),))
        found = _summed(inside, variable, end)
        if found is None:
            return None
        total = total + outside * found
    return None if apart is None else total


def _alone(factor: Factor) -> Poly:
    return Poly(((((factor, 1),), Fraction(1)),))


def _summed(inside: Sequence[tuple[Factor, int]], variable: str, end: Poly) -> Poly | None:
    """The sum of a product of a power of the variable, an exponential, and a step that goes up."""
    exponent, start, exponential = 0, None, None
    for factor, e in inside:
        match factor:
            case Variable():
                exponent = e
            case Step(of=inner):
                start = _beginning(inner, variable)
                if start is None:
                    return None
            case Power(base=base, of=inner):
                slope = coefficient_of(inner, variable)
                c = None if slope is None else slope[0].constant
                if slope is None or c is None or c < 1 or c.denominator != 1:
                    return None
                exponential = (base ** int(c), base, int(c), slope[1])
            case Quotient():
                return None
    if exponent > LARGEST:
        return None

    def below(x: Poly) -> Poly | None:
        if exponential is None:
            return _in_powers(_powers_below(exponent), x) * x
        base, b, c, rest = exponential
        q = _geometric(exponent, base)
        raised, outer = power(b, x.scaled(c) + rest), power(b, rest)
        return None if raised is None or outer is None else _in_powers(q, x) * raised - outer.scaled(q[0])

    whole = below(end)
    if start is None or whole is None:
        return whole
    before = below(maximum(start, ZERO)) if exponential is None else _exponential_before(below, start)
    return None if before is None else step(end - start) * (whole - before)


def _exponential_before(below: object, start: Poly) -> Poly | None:
    """The part of an exponential sum before a step: closed only where the step's place is a number."""
    assert callable(below)
    at = start.constant
    found = below(number(at if at > 0 else 0)) if at is not None else None
    return found if isinstance(found, Poly) else None


def _in_powers(coefficients: Sequence[Fraction], x: Poly) -> Poly:
    found = ZERO
    for c in reversed(coefficients):
        found = found * x + number(c)
    return found


def _beginning(inner: Poly, variable: str) -> Poly | None:
    """The first value of the variable at which a step is up; None for one that goes down, or whose place is no whole
    number."""
    slope = coefficient_of(inner, variable)
    c = None if slope is None else slope[0].constant
    if slope is None or c is None or c <= 0:
        return None
    if c == 1:
        return -slope[1]
    rest = slope[1].constant
    return None if rest is None else number(-(rest // c))  # c * t + rest >= 0 from t = ceil(-rest / c)


def _one_step_each(of: Poly, variable: str) -> Poly | None:
    """With at most one step in the variable in each product, and that one going up. None where a step's place is not
    known."""
    while True:
        steps: list[Step] = []
        for monomial, _ in of.terms:
            own = [f for f, _ in monomial if isinstance(f, Step) and variable in names(f.of)]
            down = next((f for f in own if _goes_down(f.of, variable)), None)
            if down is not None:
                up = _alone(Step(-down.of - ONE))  # not `step`, which would turn it around again
                of = _with(of, down, ONE - up)
                break
            if len(own) > 1:
                steps = own
                break
        else:
            return of
        if len(steps) > 1:
            first, second = (_beginning(s.of, variable) for s in steps[:2])
            if first is None or second is None:
                return None
            later = step(first - second)
            together = later * _alone(steps[0]) + (ONE - later) * _alone(steps[1])
            of = _without_product(of, steps[0], steps[1], together)


def _goes_down(inner: Poly, variable: str) -> bool:
    slope = coefficient_of(inner, variable)
    c = None if slope is None else slope[0].constant
    return c is not None and c < 0


def _with(of: Poly, factor: Factor, new: Poly) -> Poly:
    """With a function in the place of a factor, at the outermost level only."""
    total = ZERO
    for monomial, coefficient in of.terms:
        rest = Poly(((tuple(f for f in monomial if f[0] != factor), coefficient),))
        total = total + (rest * new if any(f == factor for f, _ in monomial) else rest)
    return total


def _without_product(of: Poly, a: Factor, b: Factor, new: Poly) -> Poly:
    total = ZERO
    for monomial, coefficient in of.terms:
        present = {f for f, _ in monomial}
        if a in present and b in present:
            total = total + Poly(((tuple(f for f in monomial if f[0] not in (a, b)), coefficient),)) * new
        else:
            total = total + Poly(((monomial, coefficient),))
    return total


# ---------------------------------------------------------------- arrays


class Extents(Node):
    """The extents of all axes, outermost first, as functions of the positions `x0`, `x1`, .. before them and of
    sizes."""

    axes: tuple[Poly, ...]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.axes)

    def sizes(self) -> tuple[Poly | None, ...]:
        """N_0 (all elements), N_1, .. N_r, each of the positions before it; None where there is no closed form."""
        return _sizes(self)

    def sums(self) -> tuple[Poly | None, ...]:
        """S_1 .. S_r: what the position on each axis adds to the offset."""
        return _sums(self)

    @property
    def closed(self) -> bool:
        """Whether the offset of every position is a closed form."""
        return None not in self.sums()

    def row(self, at: Poly) -> Extents:
        """The extents of the array at a position of the first axis."""
        by = {position(0): at} | {position(k): name(position(k - 1)) for k in range(1, self.rank)}
        return Extents(tuple(substituted(e, by) for e in self.axes[1:]))


@cache
def _sizes(extents: Extents) -> tuple[Poly | None, ...]:
    sizes: list[Poly | None] = [ONE]
    for k in reversed(range(extents.rank)):
        sizes.append(_sum(sizes[-1], position(k), extents.axes[k]))
    return tuple(reversed(sizes))


@cache
def _sums(extents: Extents) -> tuple[Poly | None, ...]:
    return tuple(_sum(n, position(k), name(position(k))) for k, n in enumerate(_sizes(extents)[1:]))


def _sum(of: Poly | None, variable: str, end: Poly) -> Poly | None:
    try:
        # the variable of the sum may be the name of its bound too
        inner = None if of is None else substituted(of, {variable: name("t")})
        return None if inner is None or len(inner.terms) > MOST else sum_below(inner, "t", end)
    except ValueError:
        return None


# ---------------------------------------------------------------- bounds


def lowest(extents: Extents, axis: int) -> Poly | None:
    """A function of sizes alone that no extent of an axis is below; None where that cannot be seen. The least value of
    a sum is at an end of each position; a product of steps is 0 or 1, and each of its steps says something."""
    return _lowest(extents.axes[axis], extents, axis)


def _lowest(of: Poly, extents: Extents, axis: int) -> Poly | None:
    inner = next((f for m, _ in of.terms for f, _ in m if isinstance(f, Step)), None)
    if inner is not None:
        cases = ((ONE, inner.of), (ZERO, -inner.of - ONE))
        found = [_case(replaced(of, {inner: value}), known, extents, axis) for value, known in cases]
        return ZERO if all(p is not None and is_never_negative(p) for p in found) else None
    if any(isinstance(f, Power) for m, _ in of.terms for f, _ in m) and all(c > 0 for _, c in of.terms):
        return ZERO
    for k in reversed(range(axis)):
        slope = coefficient_of(of, position(k))
        if slope is None or slope[0].constant is None:
            return ZERO if is_never_negative(of) else None
        end = ZERO if slope[0].constant >= 0 else extents.axes[k] - ONE
        of = slope[0] * end + slope[1]
        if any(isinstance(f, Step) for m, _ in of.terms for f, _ in m):
            return None
    return of if not any(n[0] == "x" for n in names(of)) else None


def _case(of: Poly, known: Poly, extents: Extents, axis: int) -> Poly | None:
    """The same where `known` is at least 0."""
    return ZERO if is_never_negative(of - known) else _lowest(of, extents, axis)


def is_never_negative(of: Poly) -> bool:
    """Whether a function has no negative part at all."""
    return step(of) == ONE


# ---------------------------------------------------------------- and back


class Inverse(Node):
    """How the position on an axis is found from the elements `k` that lie before: the last `x` with S(x) <= k. `kind`:
    "rows" (S is linear or quadratic: what lies at `x` has `growth` elements more than what lies at x - 1, and at least
    `least`: a quotient, or a root, see `arithmetic.place_in_rows`), or "search" (bisection)."""

    kind: str
    growth: int = 0
    least: Poly = ZERO


def inverse(of: Poly | None, variable: str, end: Poly) -> Inverse:
    """The inverse of a sum, as a function of the position `variable`, which is below `end`."""
    if of is None:
        return Inverse("search")
    slope = coefficient_of(of, variable)
    if slope is not None and not slope[1].terms and not any(isinstance(f, Power) for m, _ in of.terms for f, _ in m):
        return Inverse("rows", least=slope[0])
    factor = Variable(variable)
    parts: dict[int, Poly] = {}
    for monomial, coefficient in of.terms:
        rest = tuple(f for f in monomial if f[0] != factor)
        e = next((e for f, e in monomial if f == factor), 0)
        parts[e] = parts.get(e, ZERO) + Poly(((rest, coefficient),))
    a = parts.get(2, ZERO).constant
    if set(parts) <= {1, 2} and a and (2 * a).denominator == 1 and variable not in names(parts.get(1, ZERO)):
        growth, first = int(2 * a), parts.get(1, ZERO) + number(a)
        return Inverse("rows", growth=growth, least=first + number(min(growth, 0)) * (end - ONE))
    return Inverse("search")


def size(extents: Extents, values: Mapping[str, int]) -> int:
    """The number of elements, counted row by row where there is no closed form."""
    n = extents.sizes()[0]
    if n is not None:
        return value_at(n, values)
    return (
        sum(size(extents.row(number(t)), values) for t in range(value_at(extents.axes[0], values)))
        if (extents.rank)
        else 1
    )


def offset(extents: Extents, values: Mapping[str, int], index: Sequence[int]) -> int:
    """Where the element at an index lies."""
    at = {**values, **{position(k): i for k, i in enumerate(index)}}
    total, rest = 0, extents
    for s, i in zip(extents.sums(), index):
        total += value_at(s, at) if s is not None else sum(size(rest.row(number(t)), values) for t in range(i))
        rest = rest.row(number(i))
    return total


def index_at(extents: Extents, values: Mapping[str, int], k: int) -> tuple[int, ...]:
    """The index of the element that lies at an offset."""
    found: list[int] = []
    at = dict(values)
    for axis, s in enumerate(extents.sums()):
        end = value_at(extents.axes[axis], at)

        def before(x: int, s: Poly | None = s, axis: int = axis) -> int:
            if s is None:
                return offset(extents, values, (*found, x)) - offset(extents, values, (*found, 0))
            return value_at(s, {**at, position(axis): x})

        how = inverse(s, position(axis), extents.axes[axis])
        if how.kind == "rows":
            x, _ = place_in_rows(k, value_at(how.least, at), how.growth, end)
        else:
            low, high = 0, end
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if before(middle) <= k else (low, middle)
            x = low
        k -= before(x)
        found.append(x)
        at[position(axis)] = x
    return tuple(found)


__all__ = [
    "Extents",
    "Inverse",
    "index_at",
    "inverse",
    "lowest",
    "offset",
    "position",
    "size",
    "sum_below",
]  # fmt: skip
