"""Which powers of two words are multiples of, and what that says of addresses."""

from __future__ import annotations

import random

import numpy as np
import pytest

from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.emission.multiples import MOST, Multiples
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.ir.kernel_verify import verify_kernel
from sacpy.jit.ir.operations import GraphError
from sacpy.nodes import replace
from tests.jit.kernel_programs import PROGRAMS

CODES = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 7),
    "div": lambda a, b: a // b if b else 0,
}


def divides(power: int, value: int) -> bool:
    return value % power == 0


@pytest.mark.parametrize("seed", range(40))
def test_what_is_said_of_a_word_holds_for_every_value_that_wraps_or_not(seed: int) -> None:
    r = random.Random(seed)
    known, values = Multiples(), {"%x": r.randrange(-(1 << 31), 1 << 31), "%y": 48 * r.randrange(-9999, 9999)}
    known.is_multiple("%y", 16)
    for n in range(60):
        code = r.choice(list(CODES))
        texts = [r.choice([*values, str(r.randrange(-70, 70)), "0", "64"]) for _ in range(2)]
        if code == "shl":
            texts[1] = str(r.randrange(7))
        args = [values[t] if t in values else int(t) for t in texts]
        values[f"%{n}"] = (CODES[code](*args) + (1 << 31)) % (1 << 32) - (1 << 31)
        known.note(f"%{n}", code, texts)
        assert divides(known.of(f"%{n}"), values[f"%{n}"]), (code, texts, args)


def test_rows_of_even_lengths_begin_at_multiples() -> None:
    known = Multiples()
    known.is_multiple("%n", 4)
    known.note("%j", "mul", ("%t", "4"))
    known.note("%k", "add", ("%j", "2"))
    assert known.alignment(4, ("%i", "%j"), ("%m", "%n")) == 16
    assert known.alignment(4, ("%i", "%k"), ("%m", "%n")) == 8
    assert known.alignment(4, ("%i", "%j"), ("%m", "%o")) == 4
    assert known.alignment(8, ("0", "0"), ("%m", "%o")) == 8 * MOST


def test_a_kernel_for_multiples_takes_no_other_numbers() -> None:
    plain = PROGRAMS["elementwise"]().kernel
    n = plain.params[0]
    kernel = replace(plain, multiples=((n, 4),))
    verify_kernel(kernel)
    assert f"multiples: {n.name} of 4" in print_kernel(kernel)
    Emulated(kernel).launch([8, np.zeros(8), np.zeros(8), np.zeros(8)])
    with pytest.raises(ValueError, match=f"{n.name} must be a multiple of 4, but is 6"):
        Emulated(kernel).launch([6, np.zeros(6), np.zeros(6), np.zeros(6)])
    with pytest.raises(GraphError, match="which is no power of two"):
        verify_kernel(replace(plain, multiples=((n, 6),)))
