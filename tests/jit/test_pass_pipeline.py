"""What becomes of programs of the benchmark suite: how many with-loops are left, and that their inner loops are free of
checks and of divisions."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sacpy.jit.ir.graph import Check, For, Let, Op, Unit, Update, WithLoop, blocks, statements
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.options import Options
from sacpy.jit.passes import optimise
from sacpy.jit.specialise import Argument, specialise
from sacpy.workspace import Workspace
from tests.jit.pass_tools import outcome

SUITE = Path(__file__).parents[2] / "benchmarks" / "suite"


@cache
def units(name: str) -> tuple[Unit, Unit, tuple[object, ...]]:
    """A program of the suite before and after the passes, with small arguments."""
    module = import_module(f"benchmarks.suite.{name}.{name}")
    arguments = module.inputs(module.SIZES["small"])
    program, _ = Workspace().load(SUITE / name / f"{name}.sac")
    key = program.key(program.main.own("run")[0], ())
    kinds = [
        Argument(p.base, tuple(e if e <= 4 else None for e in np.shape(a)))
        for p, a in zip(program.signature(key).params, arguments)
    ]
    before = specialise(program, key, kinds)
    return before, optimise(before, Options(verify=True)), arguments


def loops(unit: Unit) -> list[For | WithLoop]:
    return [
        s.rhs
        for f in unit.functions
        for s in statements(f.body)
        if isinstance(s, Let) and isinstance(s.rhs, For | WithLoop)
    ]


def checks_in_loops(unit: Unit) -> int:
    return sum(isinstance(s, Check) for loop in loops(unit) for b in blocks(loop) for s in b.statements)


@pytest.mark.parametrize(
    ("name", "with_loops"),
    [
        ("triad", 1),
        ("dot", 1),
        ("matmul", 2),
        ("relax2d", 1),
        ("relax3d", 1),
        ("life", 1),
        ("convolution_fixed", 1),
        ("blackscholes", 1),
        ("livermore07", 1),
    ],
)
def test_chains_of_with_loops_become_one(name: str, with_loops: int) -> None:
    _, unit, _ = units(name)
    assert sum(isinstance(loop, WithLoop) for loop in loops(unit)) == with_loops


@pytest.mark.parametrize(
    "name",
    [
        "triad",
        "matmul",
        "relax2d",
        "relax3d",
        "life",
        "convolution_variable",
        "lu",
        "prefix",
        "tridiagonal",
        "livermore01",
        "livermore05",
        "livermore07",
        "attention",
        "nbody",
    ],
)
def test_no_check_is_left_in_a_loop(name: str) -> None:
    _, unit, _ = units(name)
    assert checks_in_loops(unit) == 0


@pytest.mark.parametrize("name", ["relax2d", "relax3d", "life"])
def test_the_interior_has_neither_remainder_nor_a_choice_along_the_last_axis(name: str) -> None:
    _, unit, _ = units(name)
    (loop,) = (loop for loop in loops(unit) if isinstance(loop, WithLoop))
    assert "mod" not in print_unit(unit)
    interior = loop.partitions[-1]
    last = interior.index[-1].name
    defined = {s.targets[0].name: s.rhs for s in statements(interior.body) if isinstance(s, Let)}

    def depends(name: str) -> bool:
        rhs = defined.get(name)
        return name == last or (isinstance(rhs, Op) and any(depends(a.name) for a in rhs.args if hasattr(a, "name")))

    assert not any(isinstance(rhs, Op) and rhs.code == "select" and depends(name) for name, rhs in defined.items())


def test_loops_that_count_and_update_count() -> None:
    _, unit, _ = units("lu")
    assert sum(isinstance(loop, For) for loop in loops(unit)) == 3
    assert sum(isinstance(s, Let) and isinstance(s.rhs, Update) for s in statements(unit.root.body)) == 2


@pytest.mark.parametrize("name", ["fft", "life", "quicksort", "nbody", "livermore06", "histogram"])
def test_results_stay_the_same(name: str) -> None:
    before, after, arguments = units(name)
    assert outcome(after, arguments) == outcome(before, arguments) is not None
