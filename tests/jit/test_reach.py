"""Each pass changes what is made of a program of the repository, and each choice of how a loop runs is made in one:
none is there for tests alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from sacpy.jit import passes
from sacpy.jit.host.lowering import lower
from sacpy.jit.ir.graph import Unit
from sacpy.jit.options import Options
from sacpy.jit.run.compiler import Clock, optimised, specialised
from sacpy.jit.run.regions import Regions
from sacpy.jit.schedule import counting, nests, rows, threads, tiles, withloops
from sacpy.jit.schedule.loops import Part, Rounds, Rows, Schedule, Written
from sacpy.jit.specialise import Specialiser
from sacpy.lang.ast import FixedExtent
from sacpy.lang.core import Slot
from sacpy.nodes import replace
from sacpy.workspace import Workspace

ROOT = Path(__file__).parents[2]

# For each pass a program and one of its functions, or of the regions `@1`, `@2`, .. of one.
REACH = {
    "call_results": ("tests/corpus/kernel-multigrid-1d.sac", "vcycle/0"),
    "unroll": ("programs/black_scholes.sac", "main/0@1"),
    "dead_code": ("programs/black_scholes.sac", "horner/0"),
    "fold_withloops": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "unroll_longer": ("benchmarks/suite/relax3d/relax3d.sac", "relax/0"),
    "counting": ("programs/black_scholes.sac", "horner/0"),
    "loops_to_withloops": ("tests/corpus/updates-are-linear.sac", "main/0@1"),
    "reductions": ("programs/nbody.sac", "energy/0"),
    "array_folds": ("programs/lattice_boltzmann.sac", "combine/0"),
    "sharing": ("programs/gaussian_pairs.sac", "gaussians/0"),
    "jam": ("benchmarks/styles/styles.sac", "pulls/0"),
    "structure_of_arrays": ("benchmarks/suite/lattice_boltzmann/lattice_boltzmann.sac", "run/0"),
    "roll": ("tests/corpus/ways-loops-run.sac", "apart/0"),
    "flatten": ("programs/lattice_boltzmann.sac", "equilibrium/0"),
    "fuse": ("programs/conjugate_gradient.sac", "main/0@1"),
    "invariant": ("programs/black_scholes.sac", "horner/0"),
    "columns": ("benchmarks/suite/option_pricing/option_pricing.sac", "run/0"),
    "parity_partitions": ("programs/redblack.sac", "smooth/0"),
    "disjoint": ("programs/eigenvalues.sac", "eigen/0"),
    "split": ("programs/borders.sac", "clamped/0"),
    "split_wrapping": ("programs/borders.sac", "mirrored/0"),
    "peel": ("programs/ring.sac", "swept/0"),
    "ranges": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "distribute": ("tests/corpus/distribution.sac", "larger/0"),
    "into": ("programs/components.sac", "components/0"),
    "into_reals": ("tests/corpus/scans-and-into.sac", "rows/0"),
    "exact_scans": ("programs/run_lengths.sac", "numbers/0"),
    "scans": ("tests/corpus/scans-and-into.sac", "sums/0"),
    "stepping": ("tests/corpus/scans-and-into.sac", "sums/0"),
    "behind": ("programs/run_lengths.sac", "numbers/0"),
    "accumulating": ("benchmarks/first/small/matmul_main.sac", "main/0@1"),
    "short_circuit": ("programs/needleman_wunsch.sac", "table/0"),  # `layouts`: ends/0 of programs/smoothing.sac
    "assigning": ("programs/gram_schmidt.sac", "orthonormal/0"),
    "assigning_cells": ("programs/gram_schmidt.sac", "orthonormal/0"),
    "private": ("programs/time_warping.sac", "main/0@2"),
    "fold_bounds": ("benchmarks/styles/styles.sac", "moving_means/0"),
    "axis_invariant": ("benchmarks/styles/styles.sac", "standard_columns/0"),
    "running_folds": ("benchmarks/styles/styles.sac", "drawdowns/0"),
    "running_folds_in_order": ("benchmarks/styles/styles.sac", "drawdowns/0"),
    "class_folds": ("benchmarks/styles/styles.sac", "group_means/0"),
    "slices": ("programs/shortest_paths.sac", "shortest/0"),
    "speculation": ("programs/eigenvalues.sac", "offDiagonal/0"),
    "carried": ("programs/kmeans.sac", "middles/0"),
    "scatter": ("programs/text_statistics.sac", "addLine/0"),
    "scatter_reals": ("tests/corpus/scans-and-into.sac", "weights/0"),
    "scalar_replacement": ("programs/needleman_wunsch.sac", "table/0"),
    "branch_checks": ("benchmarks/styles/styles.sac", "merged/0"),
    "carried_loads": ("programs/convnet.sac", "indexOfLargest/0"),
    "argmin_strips": ("programs/tour.sac", "nearest/0"),
    "detach": ("programs/lu.sac", "swap/1"),
}
OPTIONS = Options(threads=2)
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
    step = BY_NAME[name]
    options = OPTIONS if step.when is None or step.when(OPTIONS) else replace(OPTIONS, strict_fp=True)
    made(path, function, device=step.on == "device", options=options)
    assert name in changed


@pytest.mark.parametrize("device", [False, True])
def test_a_pass_that_is_not_needed_changes_nothing(device: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out: set[str] = set()

    def always(step: passes.Step, unit: Unit, options: Options) -> Unit:
        found = step.run(unit)
        if not step.needs(unit):
            left_out.add(step.name)
            assert found == unit, step.name
        return found

    monkeypatch.setattr(passes, "_done", always)
    scalar, combining = ("benchmarks/first/table/fib28.sac", "fib/0"), ("tests/corpus/scans-and-into.sac", "main/0@7")
    for path, function in (*REACH.values(), scalar, combining):
        made(path, function, device=device)
    steps = passes._steps(passes.STEPS, "device" if device else "cpu", OPTIONS)
    assert left_out >= {step.name for step in steps if step.needs is not passes._any}


def made(path: str, function: str, *, device: bool = False, options: Options = OPTIONS) -> Unit:
    """A function of a program, or a region of one, optimised."""
    regions = program(path)
    owner = next(k for k in regions.program.user_keys([]) if k.partition("::")[2] == function.partition("@")[0])
    regions.function(owner)
    key = owner if "@" not in function else f"{owner}@{function.partition('@')[2]}"
    kind = tuple(map(extents, regions.signature(key).params))
    unit = specialised(Specialiser(regions), regions, key, kind, options, Clock())
    return optimised(unit, options, Clock(), device=device)


# For each choice of a schedule, by the name of its reason (or of what else is chosen), a program and a function.
WAYS = "tests/corpus/ways-loops-run.sac"
CHOICES = {
    "nests.VECTORS": (WAYS, "attention/0"),
    "nests.LOOPS": (WAYS, "attended/0"),
    "nests.OUTER": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "nests.LONG": (WAYS, "attended/0"),
    "nests.WIDTH": (WAYS, "blocks/0"),
    "nests.CELLS": (WAYS, "between/0"),
    "nests.BLENDED": ("programs/redblack.sac", "smooth/0"),
    "nests.TOGETHER": (WAYS, "finer/0"),
    "nests.SIDE_BY_SIDE": ("programs/trmv.sac", "trmv/0"),
    "nests.GROWING": ("programs/trmv.sac", "transposed/0"),
    "nests.REGROUPED": (WAYS, "attended/0"),
    "nests.ORDERED": ("tests/corpus/kernel-lava.sac", "main/0@2"),
    "nests.STRIPS": (WAYS, "attention/0"),
    "tiles.PACKED": ("benchmarks/suite/attention/attention.sac", "run/0"),
    "tiles.COLUMNS": (WAYS, "attended/0"),
    "tiles.REDUCED": (WAYS, "attended/0"),
    "tiles.SLIDING": ("programs/borders.sac", "clamped/0"),
    "rows.SHARED": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "rows.TURNS": (WAYS, "stripes/0"),
    "rows.MESHED": (WAYS, "wider/0"),
    "threads.EVEN": ("programs/trmv.sac", "trmv/0"),
    "threads.CUT": ("programs/conjugate_gradient.sac", "laplacian/0"),
    "threads.LINES": (WAYS, "attended/0"),
    "threads.PANELS": ("benchmarks/suite/attention/attention.sac", "run/0"),
    "threads.STRIPS": (WAYS, "attention/0"),
    "threads.GROUPS": (WAYS, "attended/0"),
    "threads.SLIDING": ("programs/borders.sac", "clamped/0"),
    "threads.PLAIN": (WAYS, "stripes/0"),
    "withloops.ONE": (WAYS, "attended/0"),
    "withloops.DISJOINT": (WAYS, "stripes/0"),
    "withloops.REVERSED": (WAYS, "combs/0"),
    "withloops.GUARDED": (WAYS, "read/0"),
    "withloops.IN_ORDER": ("tests/corpus/kernel-ordered-folds.sac", "of_parts/0"),
    "counting.SCANNED": ("programs/components.sac", "show/0@1"),
    "counting.WAITING": ("programs/needleman_wunsch.sac", "table/0"),
    "counting.CHAINED": ("tests/corpus/scans-by-any-function.sac", "places/0"),
    "counting.INDEPENDENT": ("programs/gram_schmidt.sac", "orthonormal/0"),
    "counting.AHEAD": ("programs/components.sac", "components/0"),
    "counting.STRETCHED": ("programs/components.sac", "components/0"),
    "counting.FEW": ("programs/gaussian_pairs.sac", "main/0@1"),
    "counting.POLLED": ("programs/alignment.sac", "scores/0"),
    "long": ("programs/lu_blocks.sac", "distance/0"),
    "hoisted": ("programs/borders.sac", "mirrored/0"),
    "noted": (WAYS, "read/0"),
    "leaves": (WAYS, "anyLarge/0"),
    "short": ("programs/gram_schmidt.sac", "orthonormal/0"),
    "again": (WAYS, "attended/0"),
}


@cache
def choices(path: str, function: str) -> frozenset[str]:
    """The reasons of the schedules of a function, and what else they have."""
    written: Written = {}
    lower(made(path, function), replace(OPTIONS, verify=True), written=written)
    schedules = [s for many in written.values() for s in many]
    found = {s.why for s in schedules}
    found |= {counting.WAITING for s in schedules if isinstance(s, Rounds) and s.lanes}
    for group in (group for s in schedules if isinstance(s, Schedule) for group in s.groups):
        parts: list[Part] = [group.part]
        found |= {group.threads.why} if group.threads is not None else set()
        found |= {name for name in ("short", "again") if getattr(group, name) is not None}
        for part in parts:
            if isinstance(part, Rows):
                found.add(part.loop.why)
                parts += part.parts
                continue
            found |= {loop.why for loop in part.loops} | {loop.tag for loop in part.loops}
            found |= {what for what in ("noted", "leaves") if getattr(part, what)}
            found |= {"hoisted"} if part.before else set()
    return frozenset(found)


def reasons() -> dict[str, str]:
    """The reasons that there are, by the modules that give them."""
    modules = {m.__name__.rpartition(".")[2]: m for m in (counting, nests, rows, threads, tiles, withloops)}
    return {
        f"{short}.{name}": value
        for short, m in modules.items()
        for name, value in vars(m).items()
        if name.isupper() and isinstance(value, str)
    }


def test_all_choices_are_in_the_table() -> None:
    assert {name for name in CHOICES if "." in name} == set(reasons())


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_made_in_a_program(name: str) -> None:
    assert reasons().get(name, name) in choices(*CHOICES[name])
