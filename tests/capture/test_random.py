"""Random functions against CPython: interpreted, and more of them on all targets under `long`; `fuzz` has thousands."""

import os

import pytest

from sacpy.capture.function import default_session
from tests.capture.fuzz import compare
from tests.capture.generate import generated

SOME, MANY = 10, int(os.environ.get("SACPY_CAPTURE_SEEDS", "300"))


@pytest.mark.parametrize("seed", range(SOME))
def test_a_random_function_gives_what_python_gives(seed: int) -> None:
    compare(seed, default_session("interp"))


@pytest.mark.long
@pytest.mark.parametrize("target", ["interp", "cpu", "emulator"])
@pytest.mark.parametrize("seed", range(SOME, MANY))
def test_the_same_on_all_targets(seed: int, target: str) -> None:
    compare(seed, default_session(target))


def test_the_generator_gives_much_of_the_subset() -> None:
    text = "".join(generated(seed)[0] for seed in range(60))
    for part in ("break", "continue", "return", "while ", "for ", "else:", "np.roll", "[::2] =", " if ", "sum(", "//"):
        assert part in text
