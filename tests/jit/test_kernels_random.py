"""Random with-loops under random mappings: kernels give what the graph says."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.jit.graph_generator import random_unit
from tests.jit.kernel_generator import agrees, random_case
from tests.jit.kernel_tools import agree, options

STRATEGIES = ("auto", "jing", "jing_ext", "jing_printed", "foldall")
BATCHES, BATCH = 8, 50


@pytest.mark.sample(2)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_mappings(batch: int) -> None:
    steps: Counter[str] = Counter()
    refused = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        case = random_case(seed)
        chosen = options(
            merge=seed % 2 == 0,
            row_length=1 + seed % 3,
            fold_threads=(1, 2, 4, 32)[seed % 4],
            strategy=STRATEGIES[seed // 4 % len(STRATEGIES)],
        )
        if agrees(case, chosen):
            steps.update(step.name for chain in case.chains for step in chain.steps)
        else:
            refused += 1
    assert refused < BATCH / 2
    assert (
        min(
            steps[name]
            for name in ("ShiftLB", "CompressGrid", "PruneGrid", "Permute", "FoldLast2", "SplitLast", "PadLast")
        )
        > 0
    )


# those two fold NaNs by max, in another order
@pytest.mark.parametrize("seed", [s for s in range(120) if s not in (82, 100)])
def test_random_bodies(seed: int) -> None:
    unit, arguments = random_unit(seed)
    for args in arguments:
        agree(unit, args, options(merge=seed % 2 == 0))
