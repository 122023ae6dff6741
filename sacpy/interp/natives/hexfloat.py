"""Hexadecimal floating point as glibc's `%a` writes it."""

from __future__ import annotations

from math import frexp

FRACTION_BITS = 52
SMALLEST_EXPONENT = -1022


def hex_digits(value: float, precision: int | None, alternate: bool) -> str:
    """The digits behind `0x` of a finite number that is not negative: `1.8p+1` for 3. With a precision the last digit
    is rounded half to even."""
    mantissa, exponent = _split(value)
    places = FRACTION_BITS // 4
    if precision is not None and precision < places:
        drop = 4 * (places - precision)
        rest, half = mantissa & ((1 << drop) - 1), 1 << (drop - 1)
        mantissa >>= drop
        if rest > half or (rest == half and mantissa & 1):
            mantissa += 1
        places = precision
    whole = mantissa >> (4 * places)
    fraction = format(mantissa & ((1 << (4 * places)) - 1), f"0{places}x") if places else ""
    fraction = fraction.rstrip("0") if precision is None else fraction.ljust(precision, "0")
    return f"{whole:x}{'.' if fraction or alternate else ''}{fraction}p{exponent:+d}"


def _split(value: float) -> tuple[int, int]:
    """Mantissa with 52 fraction bits and the binary exponent; a subnormal keeps the smallest exponent and has no
    leading 1."""
    if value == 0:
        return 0, 0
    fraction, exponent = frexp(value)
    exponent -= 1
    if exponent < SMALLEST_EXPONENT:
        return int(value * 2.0**1000 * 2.0 ** (FRACTION_BITS - SMALLEST_EXPONENT - 1000)), SMALLEST_EXPONENT
    return int(fraction * 2 ** (FRACTION_BITS + 1)), exponent
