"""Whole-number functions of positions and sizes in one normal form: polynomials whose variables are names, steps,
powers and quotients.

In: `name`, `number`, and the operations of an extent as a program writes it (`+ - * / % << >>`, minima, maxima,
conditions). Out: a `Poly`; two functions that are equal as polynomials over the same steps are the same `Poly`. A step
is 1 where its argument is at least 0, and 0 elsewhere: `min(a, b)` is `b + (a - b) * step(b - a)`, and so is everything
else that is defined by cases. The arguments of steps hold no steps, of two opposite steps only one is kept, and powers
of one base are one power; so sums over a position stay in the form (`sums`), and equality is a comparison.

After the arithmetic of position-dependent extents in Pizzuti, Steuwer and Dubach, "Position-Dependent Arrays and Their
Application for High Performance Code Generation" (FHPNC 2019), section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from math import gcd, lcm
from typing import Any, Protocol, TypeVar

from sacpy.nodes import Node

V = TypeVar("V")
MOST = 64  # terms of a function that is still called a closed form


class TooLarge(ValueError):
    """A function has more terms than anybody would want to compute for each element."""


class Variable(Node):
    """A position or a size."""

    name: str


class Step(Node):
    """1 where `of` is at least 0, else 0."""

    of: Poly


class Power(Node):
    """`base` to the power of `of`, which is affine and has no constant part; where that is negative, the value does not
    matter."""

    base: int
    of: Poly


class Quotient(Node):
    """C's quotient or remainder of two functions."""

    op: str
    left: Poly
    right: Poly


Factor = Variable | Step | Power | Quotient
Monomial = tuple[tuple[Factor, int], ...]  # factors with their exponents, in the order of their texts


class Poly(Node):
    """A sum of products: `terms` are monomials with their coefficients, in a fixed order, none of them 0."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:  # the coefficients tell most functions apart, and are found without going deep
        return hash(tuple(c.numerator for _, c in self.terms))

    def __add__(self, other: Poly) -> Poly:
        return _collected((*self.terms, *other.terms))

    def __neg__(self) -> Poly:
        return Poly(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        if len(self.terms) * len(other.terms) > MOST * MOST:
            raise TooLarge
        return _collected([(_product(a, b), x * y) for a, x in self.terms for b, y in other.terms])

    def scaled(self, by: Fraction | int) -> Poly:
        """Times a number."""
        return Poly(tuple((m, c * by) for m, c in self.terms)) if by else ZERO

    @property
    def constant(self) -> Fraction | None:
        """The value of a function that is the same everywhere."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def __str__(self) -> str:
        return shown(self)


ZERO = Poly(())


def number(value: int | Fraction) -> Poly:
    """A constant."""
    return Poly((((), Fraction(value)),)) if value else ZERO


ONE = number(1)


def name(text: str) -> Poly:
    """A variable."""
    return _factor(Variable(text))


def never_negative(text: str) -> bool:
    """Whether a variable is a position (`x0`, `x1`, ..), that of a sum (`t`) or the first extent (`p0`)."""
    return text in ("t", "p0") or text[0] == "x"


def _factor(factor: Factor) -> Poly:
    return Poly(((((factor, 1),), Fraction(1)),))


def _order(monomial: Monomial) -> tuple[Any, ...]:
    return (-sum(e for _, e in monomial), tuple((factor_text(f), -e) for f, e in monomial))


def _collected(terms: Iterable[tuple[Monomial, Fraction]]) -> Poly:
    """Equal monomials together."""
    found: dict[Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        found[monomial] = found.get(monomial, Fraction(0)) + coefficient
    kept = [(m, c) for m, c in found.items() if c]
    if len(kept) > MOST:
        raise TooLarge
    return Poly(tuple(sorted(kept, key=lambda t: _order(t[0]))) if len(kept) > 1 else tuple(kept))


def _product(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials: powers of one base are one, and a step times itself is the step."""
    found: dict[Factor, int] = dict(a)
    for factor, exponent in b:
        found[factor] = found.get(factor, 0) + exponent
    powers: dict[int, Poly] = {}
    for factor in list(found):
        if isinstance(factor, Step):
            found[factor] = 1
        elif isinstance(factor, Power):
            powers[factor.base] = powers.get(factor.base, ZERO) + factor.of.scaled(found.pop(factor))
    for base, of in powers.items():
        if of.terms:
            found[Power(base, of)] = 1
    return tuple(sorted(found.items(), key=lambda item: factor_text(item[0])))


# ---------------------------------------------------------------- what extents are written with


def step(of: Poly) -> Poly:
    """1 where `of` is at least 0, else 0."""
    inner = next((f for m, _ in of.terms for f, _ in m if isinstance(f, Step)), None)
    if inner is not None:
        with_, without = replaced(of, {inner: ONE}), replaced(of, {inner: ZERO})
        return _factor(inner) * step(with_) + (ONE - _factor(inner)) * step(without)
    if all(c >= 0 and all(isinstance(f, Variable) and never_negative(f.name) for f, _ in m) for m, c in of.terms):
        return ONE
    if of.constant is not None:
        return ZERO
    of = _primitive(of)
    if _leading(of) < 0:  # one of the two opposite ones
        return ONE - step(-of - ONE)
    return _factor(Step(of))


def _primitive(of: Poly) -> Poly:
    """A function of whole numbers that is at least 0 where this one is, with coefficients as small as can be."""
    of = of.scaled(lcm(*(c.denominator for _, c in of.terms)))
    common = gcd(*(int(c) for m, c in of.terms if m))
    if common == 1:
        return of
    return _collected((m, c / common if m else Fraction(int(c) // common)) for m, c in of.terms)


def minimum(a: Poly, b: Poly) -> Poly:
    """The smaller of two."""
    apart = b - a
    if _leading(apart) < 0:  # of the two forms, which differ where both are equal, always the same
        a, b, apart = b, a, -apart
    return b - apart * step(apart)


def _leading(of: Poly) -> Fraction:
    return next((c for m, c in of.terms if m), Fraction(0))


def maximum(a: Poly, b: Poly) -> Poly:
    """The larger of two."""
    return a + b - minimum(a, b)


def choice(condition: Poly, a: Poly, b: Poly) -> Poly:
    """`a` where the condition is 1, `b` where it is 0."""
    return b + condition * (a - b)


def power(base: int, of: Poly) -> Poly | None:
    """`base` to the power of an affine function; None for another."""
    if any(len(m) > 1 or any(not isinstance(f, Variable) or e > 1 for f, e in m) for m, _ in of.terms):
        return None
    constant = sum((c for m, c in of.terms if not m), Fraction(0))
    rest = of - number(constant)
    if any(c.denominator != 1 for _, c in of.terms):
        return None
    factor = number(Fraction(base) ** int(constant))
    return factor * _factor(Power(base, rest)) if rest.terms else factor


def quotient(op: str, a: Poly, b: Poly) -> Poly:
    """C's quotient ("div") or remainder ("mod"); computed where both are numbers."""
    x, y = a.constant, b.constant
    if x is not None and y:
        q = abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1)
        return number(q if op == "div" else x - q * y)
    if y == 1:
        return a if op == "div" else ZERO
    return _factor(Quotient(op, a, b))


# ---------------------------------------------------------------- looking and replacing


def names(of: Poly) -> tuple[str, ...]:
    """The variables that occur, in the order of the terms."""
    return tuple(dict.fromkeys(_names(of)))


def _names(of: Poly) -> Iterable[str]:
    for monomial, _ in of.terms:
        for factor, _ in monomial:
            match factor:
                case Variable(name=text):
                    yield text
                case Step(of=inner) | Power(of=inner):
                    yield from _names(inner)
                case Quotient(left=left, right=right):
                    yield from _names(left)
                    yield from _names(right)


def replaced(of: Poly, by: Mapping[Factor, Poly]) -> Poly:
    """With functions in the place of some factors, in steps, powers and quotients too. `ValueError` where a power would
    not be affine any more."""
    found = ZERO
    for monomial, coefficient in of.terms:
        product = number(coefficient)
        for factor, exponent in monomial:
            new = _replaced(factor, by)
            for _ in range(exponent):
                product = product * new
        found = found + product
    return found


def _replaced(factor: Factor, by: Mapping[Factor, Poly]) -> Poly:
    if factor in by:
        return by[factor]
    match factor:
        case Step(of=inner):
            return step(replaced(inner, by))
        case Power(base=base, of=inner):
            new = power(base, replaced(inner, by))
            if new is None:
                raise ValueError("the exponent of a power is not affine")
            return new
        case Quotient(op=op, left=left, right=right):
            return quotient(op, replaced(left, by), replaced(right, by))
    return _factor(factor)


def substituted(of: Poly, by: Mapping[str, Poly]) -> Poly:
    """With functions in the place of some variables."""
    present: dict[Factor, Poly] = {Variable(n): p for n, p in by.items() if n in names(of)}
    return replaced(of, present) if present else of


def coefficient_of(of: Poly, variable: str) -> tuple[Poly, Poly] | None:
    """`a` and `b` of a function `a * variable + b` of which neither mentions the variable; None where it is none."""
    factor = Variable(variable)
    slope = [(tuple(f for f in m if f[0] != factor), c) for m, c in of.terms if (factor, 1) in m]
    a = _collected(slope)
    b = of - a * name(variable)
    return None if variable in names(a) or variable in names(b) else (a, b)


# ---------------------------------------------------------------- computing


class Machine(Protocol[V]):
    """What computing a function takes: whole numbers of 64 bits, and their comparison."""

    def whole(self, value: int) -> V: ...
    def add(self, a: V, b: V) -> V: ...
    def multiply(self, a: V, b: V) -> V: ...
    def exact(self, a: V, by: int) -> V: ...
    def quotient(self, op: str, a: V, b: V) -> V: ...
    def step(self, a: V) -> V: ...
    def power(self, base: int, a: V) -> V: ...


def computed(of: Poly, machine: Machine[V], values: Mapping[str, V]) -> V:
    """The value of a function."""
    common = lcm(*(c.denominator for _, c in of.terms))
    total: V | None = None
    for monomial, coefficient in of.terms:
        value = _monomial(monomial, int(coefficient * common), machine, values)
        total = value if total is None else machine.add(total, value)
    if total is None:
        return machine.whole(0)
    return total if common == 1 else machine.exact(total, common)


def _monomial(monomial: Monomial, coefficient: int, machine: Machine[V], values: Mapping[str, V]) -> V:
    product: V | None = None
    for factor, exponent in monomial:
        match factor:
            case Variable(name=text):
                value = values[text]
            case Step(of=inner):
                value = machine.step(computed(inner, machine, values))
            case Power(base=base, of=inner):
                value = machine.power(base, computed(inner, machine, values))
            case Quotient(op=op, left=left, right=right):
                value = machine.quotient(op, computed(left, machine, values), computed(right, machine, values))
        for _ in range(exponent):
            product = value if product is None else machine.multiply(product, value)
    if product is None:
        return machine.whole(coefficient)
    return product if coefficient == 1 else machine.multiply(machine.whole(coefficient), product)


class Whole:
    """Python's integers."""

    def whole(self, value: int) -> int:
        return value

    def add(self, a: int, b: int) -> int:
        return a + b

    def multiply(self, a: int, b: int) -> int:
        return a * b

    def exact(self, a: int, by: int) -> int:
        assert a % by == 0, "a whole-number function has no fractions"
        return a // by

    def quotient(self, op: str, a: int, b: int) -> int:
        q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return q if op == "div" else a - q * b

    def step(self, a: int) -> int:
        return int(a >= 0)

    def power(self, base: int, a: int) -> int:
        return int(base ** max(a, 0))


def value_at(of: Poly, values: Mapping[str, int]) -> int:
    """The value of a function at whole numbers."""
    return computed(of, Whole(), values)


# ---------------------------------------------------------------- text


@cache
def factor_text(factor: Factor, call: Callable[[str], str] = str) -> str:
    """A factor as one reads it; `call` gives the names."""
    match factor:
        case Variable(name=text):
            return call(text)
        case Step(of=inner):
            return f"({shown(inner, call)} >= 0 ? 1 : 0)"
        case Power(base=2, of=inner):
            return f"(1 << {_within(inner, call)})"
        case Power(base=base, of=inner):
            return f"({base} ** {_within(inner, call)})"
        case Quotient(op=op, left=left, right=right):
            return f"({_within(left, call)} {'/' if op == 'div' else '%'} {_within(right, call)})"


def _within(of: Poly, call: Callable[[str], str]) -> str:
    text = shown(of, call)
    return f"({text})" if " " in text else text


def _cut(of: Poly) -> tuple[Step, Poly, int] | None:
    """A step of which the function has a multiple of the kind `u * step(u)` or `(u + 1) * step(u)`: the step, what is
    cut off at 0, and the sign."""
    for step_ in {f: None for m, _ in of.terms for f, _ in m if isinstance(f, Step)}:
        own = [(tuple(f for f in m if f[0] != step_), c) for m, c in of.terms if (step_, 1) in m]
        factor = _collected(own)
        for cut in (step_.of, step_.of + ONE):
            for sign in (1, -1):
                if factor == cut.scaled(sign):
                    return step_, cut, sign
    return None


def shown(of: Poly, call: Callable[[str], str] = str) -> str:
    """A function as one reads it: products with steps are shown as the maxima that they come from, where they do."""
    cuts: list[str] = []
    while (found := _cut(of)) is not None:
        step_, cut, sign = found
        of = of - _factor(step_) * cut.scaled(sign)
        cuts.append(f" {'+' if sign > 0 else '-'} max(0, {shown(cut, call)})")
    text = _terms(of, call)
    if cuts and text == "0":
        text = cuts.pop(0).removeprefix(" + ").replace(" - ", "-", 1)
    return text + "".join(cuts)


def _terms(of: Poly, call: Callable[[str], str]) -> str:
    parts: list[str] = []
    for monomial, coefficient in of.terms:
        factors = [factor_text(f, call) for f, e in monomial for _ in range(e)]
        size = abs(coefficient)
        if size.numerator != 1 or not factors:
            factors.insert(0, str(size.numerator))
        text = " * ".join(factors) + (f" / {size.denominator}" if size.denominator != 1 else "")
        sign = "-" if coefficient < 0 else "+"
        parts.append(f"{sign} {text}" if parts else f"-{text}" if sign == "-" else text)
    return " ".join(parts) or "0"


__all__ = [
    "ONE", "ZERO", "Factor", "Machine", "Poly", "Power", "Quotient", "Step", "TooLarge", "Variable", "Whole", "choice",
    "coefficient_of", "computed", "maximum", "minimum", "name", "names", "number", "power", "quotient", "replaced",
    "shown", "step", "substituted", "value_at",
]  # fmt: skip
