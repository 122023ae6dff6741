"""Random functions against CPython: interpreted, and more of them on all targets under `long`."""

import copy
import linecache
import math
import os
from typing import Any

import numpy as np
import pytest

import sacpy
from tests.capture.generate import generated

SOME, MANY = 10, int(os.environ.get("SACPY_CAPTURE_SEEDS", "300"))
NAMES = {"np": np, "math": math, "Double": sacpy.Double, "Int": sacpy.Int}


def made(seed: int) -> tuple[Any, tuple[Any, ...]]:
    """A function whose text can be read, and its arguments."""
    text, given = generated(seed)
    name = f"<generated {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = dict(NAMES)
    exec(compile(text, name, "exec"), names)
    return names["f"], given


def compare(seed: int, target: str) -> None:
    function, given = made(seed)
    with np.errstate(all="ignore"):
        expected = function(*copy.deepcopy(given))
    found = sacpy.Captured(function, target=target)(*given)
    for mine, theirs in zip(found, expected, strict=True):
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9, err_msg=generated(seed)[0])


@pytest.mark.parametrize("seed", range(SOME))
def test_a_random_function_gives_what_python_gives(seed: int) -> None:
    compare(seed, "interp")


@pytest.mark.long
@pytest.mark.parametrize("target", ["interp", "cpu", "emulator"])
@pytest.mark.parametrize("seed", range(SOME, MANY))
def test_the_same_on_all_targets(seed: int, target: str) -> None:
    compare(seed, target)


def test_the_generator_gives_much_of_the_subset() -> None:
    text = "".join(generated(seed)[0] for seed in range(60))
    for part in ("break", "continue", "return", "while ", "for ", "else:", "np.roll", "[::2] =", " if ", "sum(", "//"):
        assert part in text
