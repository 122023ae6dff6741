"""Random programs give on the emulator, every access checked, what they give interpreted; with every strategy."""

import pytest

from tests.fuzz.devices import EMULATOR, emulated
from tests.fuzz.differential import compare
from tests.fuzz.seeds import case

FEW, MANY = 4, 200


@pytest.mark.parametrize("seed", [pytest.param(s, marks=() if s < FEW else pytest.mark.long) for s in range(MANY)])
def test_emulated_is_interpreted(seed: int) -> None:
    outcome = compare(case(seed), EMULATOR)
    assert not outcome.different, outcome.expected


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["jing", "jing_ext", "jing_printed", "foldall"])
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_strategies(seed: int, strategy: str) -> None:
    outcome = compare(case(seed), {"strict": lambda: emulated(strict_fp=True, strategy=strategy)})
    assert not outcome.different, outcome.expected
