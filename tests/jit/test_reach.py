"""Each pass changes what is made of a program of the repository: none is there for tests alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from sacpy.jit import passes
from sacpy.jit.options import Options
from sacpy.jit.run.compiler import Clock, optimised, specialised
from sacpy.jit.run.regions import Regions
from sacpy.jit.specialise import Specialiser
from sacpy.lang.ast import FixedExtent
from sacpy.lang.core import Slot
from sacpy.workspace import Workspace

ROOT = Path(__file__).parents[2]

# For each pass a program and one of its functions, or of the regions `@1`, `@2`, .. of one.
REACH = {
    "unroll": ("programs/black_scholes.sac", "main/0@1"),
    "dead_code": ("programs/black_scholes.sac", "horner/0"),
    "fold_withloops": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "unroll_longer": ("benchmarks/suite/relax3d/relax3d.sac", "relax/0"),
    "counting": ("programs/black_scholes.sac", "horner/0"),
    "loops_to_withloops": ("tests/corpus/updates-are-linear.sac", "main/0@1"),
    "reductions": ("programs/nbody.sac", "energy/0"),
    "array_folds": ("programs/lattice_boltzmann.sac", "combine/0"),
    "sharing": ("programs/gaussian_pairs.sac", "gaussians/0"),
    "jam": ("programs/mean_shift.sac", "main/0@2"),
    "flatten": ("programs/lattice_boltzmann.sac", "equilibrium/0"),
    "fuse": ("programs/conjugate_gradient.sac", "main/0@1"),
    "invariant": ("programs/black_scholes.sac", "horner/0"),
    "parity_partitions": ("programs/redblack.sac", "smooth/0"),
    "disjoint": ("programs/eigenvalues.sac", "eigen/0"),
    "split": ("programs/borders.sac", "clamped/0"),
    "split_wrapping": ("programs/borders.sac", "mirrored/0"),
    "peel": ("programs/ring.sac", "swept/0"),
    "ranges": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "into": ("programs/components.sac", "components/0"),
    "levels": ("programs/run_lengths.sac", "numbers/0"),
    "levels_reals": ("tests/corpus/scans-and-into.sac", "sums/0"),
    "stepping": ("tests/corpus/scans-and-into.sac", "sums/0"),
    "behind": ("programs/run_lengths.sac", "numbers/0"),
    "accumulating": ("benchmarks/first/small/matmul_main.sac", "main/0@1"),
    "short_circuit": ("programs/needleman_wunsch.sac", "table/0"),  # `layouts`: ends/0 of programs/smoothing.sac
    "assigning": ("programs/gram_schmidt.sac", "orthonormal/0"),
    "private": ("programs/time_warping.sac", "main/0@2"),
    "stage_slice": ("programs/segment_tree.sac", "tree/0"),
    "carried": ("programs/kmeans.sac", "middles/0"),
    "scatter": ("programs/text_statistics.sac", "addLine/0"),
    "scatter_reals": ("tests/corpus/scans-and-into.sac", "weights/0"),
    "argmin_strips": ("programs/tour.sac", "nearest/0"),
    "detach": ("programs/lu.sac", "swap/1"),
}
BY_NAME = {step.name: step for step in passes.STEPS}


def test_all_passes_are_in_the_table() -> None:
    assert set(REACH) == set(BY_NAME)
    assert all(step.why and step.on in ("", "cpu", "device") for step in passes.STEPS)


@cache
def program(path: str) -> Regions:
    return Regions(Workspace().load(ROOT / path)[0])


def extents(slot: Slot) -> tuple[int | None, ...]:
    """Those that a parameter declares."""
    return (*(f.value if isinstance(f, FixedExtent) else None for f in slot.pattern or ()), *slot.cell)


@pytest.mark.parametrize("name", REACH)
def test_a_pass_changes_a_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, function = REACH[name]
    changed: set[str] = set()
    done = passes._done

    def noted(step: passes.Step, unit: passes.Unit, verified: bool) -> passes.Unit:
        found = done(step, unit, verified)
        if found != unit:
            changed.add(step.name)
        return found

    monkeypatch.setattr(passes, "_done", noted)
    regions = program(path)
    owner = next(k for k in regions.program.user_keys([]) if k.partition("::")[2] == function.partition("@")[0])
    regions.function(owner)
    key = owner if "@" not in function else f"{owner}@{function.partition('@')[2]}"
    kind = tuple(map(extents, regions.signature(key).params))
    options = Options(threads=2)
    unit = specialised(Specialiser(regions), regions, key, kind, options, Clock())
    optimised(unit, options, Clock(), device=BY_NAME[name].on == "device")
    assert name in changed
