"""Random programs give on the emulator, every access checked, what they give interpreted; with every strategy."""

import numpy as np
import pytest

from tests.fuzz.devices import EMULATOR, emulated
from tests.fuzz.differential import compare
from tests.fuzz.programs import HEAD, Case
from tests.fuzz.seeds import case

FEW, MANY = 4, 200
FOUND = {
    "a with-loop that nobody uses, with a loop in it that may not end": (
        "int run(int n) { v = with { ([0] <= [i] < [n]) { k = 0; do { k = k + 1; } while (k < n); } : k; } : "
        "genarray([n], 0); return n; }",
        (5,),
    ),
    "an array that the interpreter goes on with where a check has failed": (
        "float[n] run(int[n] at, float[n] v) { x = { [i] -> mod(at[i], n) | [i] < [n] }; x[n / 2] = min(at[0] & 63, "
        "n); h = v;"
        " for (i = 0; i < n; i++) { j = x[i] + 1; h[j - 1] = h[j / 2] + v[j - 1]; } return h; }",
        (np.array([4, 3, 7, 5], np.int32), np.ones(4, np.float32)),
    ),
    "sums of many rows, which threads would share": (
        "double[n] run(double[n,m] a) { return { [i] -> sum(a[i]) | [i] < [n] }; }",
        (np.random.default_rng(1).standard_normal((12000, 64)),),
    ),
}


@pytest.mark.sample(2)
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


@pytest.mark.parametrize(("text", "args"), FOUND.values(), ids=FOUND)
def test_found(text: str, args: tuple[object, ...]) -> None:
    outcome = compare(Case(0, HEAD + text, (("run", args),)), EMULATOR)
    assert not outcome.different, outcome.expected
