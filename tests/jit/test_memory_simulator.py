"""Plans of memory, run slowly beside values (`memory_simulator`): what is read is what it stands for, nothing is read
of dead blocks, no two indices of a with-loop race; and mistakes in plans are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.jit.analysis.circuits import Opening, Plan
from sacpy.jit.analysis.depends import ALWAYS
from sacpy.jit.analysis.projections import Shift
from sacpy.jit.ir import graph as g
from sacpy.jit.options import Options
from sacpy.jit.run import compiler
from sacpy.nodes import replace
from tests.fuzz.block_programs import generated
from tests.jit import test_circuit_mutants, test_destinations
from tests.jit.circuit_tools import unit_of
from tests.jit.corpus import run_natively
from tests.jit.graph_evaluator import CheckFailed, evaluate
from tests.jit.memory_simulator import Simulator, TooLong
from tests.jit.mutation import Mutant, mutated
from tests.jit.simulated_memory import Fault
from tests.jit.test_circuits import ELSEWHERE, SC, TABLE
from tests.jit.test_corpus_cpu import PROGRAMS as CORPUS
from tests.test_programs import PROGRAMS, beside
from tests.tools import first_directive, read_directives

Case = tuple[str, tuple[Any, ...]]
CASES: dict[str, Case] = {name: (SC + case[0], case[1]) for name, case in (TABLE | ELSEWHERE).items()}
CASES |= {name: (SC + text, args) for name, (text, args) in test_circuit_mutants.MORE.items()}
CASES |= {
    f"{name}, by calls": (test_destinations.FUNCTIONS + case[0], case[1])
    for name, case in (test_destinations.TABLE | test_destinations.ELSEWHERE).items()
}
CASES["neighbours"] = (
    SC + "double[n] f(double[n] a) { b = sc(a); return { [i] -> b[max(i - 1, 0)] + b[i] | [i] < [n] }; }",
    (np.cos(np.arange(9.0)),),
)
FEW = ("three operands", "a[i] = sc(a[i])", "the rest changes places", "halves, by calls")


def case(name: str) -> tuple[g.Unit, tuple[Any, ...]]:
    """A function's graph, and arguments that are not too large."""
    text, args = CASES[name]
    few = tuple(a[:26, :20].copy() if np.ndim(a) == 2 and len(a) == 60 else a for a in args)
    return unit_of(text, "f", few, Options(strict_fp=True)), few


def agree(unit: g.Unit, args: tuple[Any, ...]) -> int:
    """How many arrays are made in others; memory and values agree."""
    try:
        expected = evaluate(unit, args)
    except CheckFailed:
        return 0
    simulator = Simulator(unit)
    found = simulator.run(args)
    assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(found, expected))
    return simulator.circuits


@pytest.mark.parametrize("name", [pytest.param(k, marks=[] if k in FEW else pytest.mark.long) for k in CASES])
def test_memory_holds_what_values_are(name: str) -> None:
    assert agree(*case(name)) > 0 or name in ELSEWHERE or name not in FEW


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 150), marks=pytest.mark.long)])
def test_random_programs(seeds: range) -> None:
    made = 0
    for seed in seeds:
        text, args = generated(seed)
        made += agree(unit_of(text, "f", args, Options(strict_fp=True)), args)
    assert made > len(seeds)


# ---------------------------------------------------------------- programs as they run


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are simulated, with what they are called with first, as they are compiled."""
    names: list[str] = []
    compile_unit = compiler.compile_unit

    def watched(program: Any, key: str, kind: Any, name: str, tools: Any, border: Any = None) -> Any:
        made = compile_unit(program, key, kind, name, tools, border)
        units = [] if border else [compiler.compiled_unit(program, key, kind, tools.options)]

        def call(args: tuple[Any, ...]) -> tuple[Any, ...]:
            if units and sum(np.size(a) for a in args) <= 500:
                try:
                    Simulator(units.pop(), steps=20_000).run(args)
                    names.append(key)
                except (CheckFailed, TooLong):
                    pass
            return made.call(args)

        return replace(made, call=call, direct=None, giving=None, gate=None)

    monkeypatch.setattr(compiler, "compile_unit", watched)
    return names


@pytest.mark.parametrize(
    "program",
    [pytest.param(p, id=p.stem, marks=[] if p.stem == "smoothing" else pytest.mark.long) for p in PROGRAMS],
)
def test_programs(program: Path, tmp_path: Path, simulated: list[str]) -> None:
    given = beside(program, ".stdin")
    status, out, err, _ = run_natively(program, stdin=given.read_bytes() if given.exists() else b"", cwd=tmp_path)
    assert (status, err) == (0, "")
    assert out.decode() == beside(program, ".expected").read_text(encoding="utf-8")
    assert simulated or program.stem != "smoothing"


@pytest.mark.long
@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.stem)
def test_the_corpus(program: Path, tmp_path: Path, simulated: list[str]) -> None:
    directives = read_directives(program)
    stdin = first_directive(directives, "stdin")
    flags = [f.replace("{here}", str(program.parent)) for f in first_directive(directives, "flags").split()]
    args = first_directive(directives, "args").split()
    run_natively(program, args, (program.parent / stdin).read_bytes() if stdin else b"", flags, tmp_path)


# ---------------------------------------------------------------- mistakes

Change = Callable[[Opening], Opening]


def further(o: Opening) -> Opening:
    """Every part lies one element further along its last axis."""
    moved = []
    for c in o.circuits:
        last = c.at[-1]
        assert isinstance(last, Shift)
        start = g.integer(last.start.value + 1) if isinstance(last.start, g.Const) else g.integer(1)
        moved.append(replace(c, at=(*c.at[:-1], replace(last, start=start)), source=None))
    return replace(o, circuits=tuple(moved))


def swapped(o: Opening) -> Opening:
    """Parts lie where others should."""
    places = [c.at for c in o.circuits]
    return replace(o, circuits=tuple(replace(c, at=at) for c, at in zip(o.circuits, reversed(places))))


CHANGES: dict[str, tuple[str, Change]] = {
    "parts lie one further": ("three operands", further),
    "parts change places": ("sc(..) ++ sc(..)", swapped),
    "rows lie one further": ("a row from the one before", further),
    "the wrong partition is left out": (
        "with what is read too",
        lambda o: replace(o, circuits=tuple(replace(c, partition=1) for c in o.circuits)),
    ),
    "the whole is new where it is there": (
        "a[i] = sc(a[i])",
        lambda o: replace(o, circuits=tuple(replace(c, onto=None, source=None) for c in o.circuits)),
    ),
    "the whole is there too late": ("one row", lambda o: replace(o, first=-1)),
    "nothing is computed ahead": ("three operands", lambda o: replace(o, ahead=())),
    "parts begin with the last row": (
        "a row from the one before",
        lambda o: replace(o, circuits=tuple(replace(c, at=(g.integer(0), *c.at[1:]), source=None) for c in o.circuits)),
    ),
}
ANALYSES = [
    (mutant, name, m.__name__)
    for m in (test_circuit_mutants, test_destinations)
    for mutant, name in m.MUTANTS.items()
    if mutant.module.startswith("sacpy.jit.analysis")
]
ANALYSES.append(
    (
        Mutant(
            "what else a call gives looks into the stack",
            "sacpy.jit.analysis.makers",
            "Makers.may_be_seen",
            "isinstance(s.rhs, g.Call | g.If)",
            "False",
        ),
        "small results that are the same",
        test_destinations.__name__,
    )
)
NOT_IN_PLANS = {"an index at the end counts as behind it", "any copy counts as that of the part"}  # of a pass alone


@pytest.mark.parametrize("name", [pytest.param(k, marks=[] if "one" in k else pytest.mark.long) for k in CHANGES])
def test_mistakes_in_plans_are_found(name: str) -> None:
    of, change = CHANGES[name]
    unit, args = case(of)

    def tamper(b: g.Block, plan: Plan) -> Plan:
        return Plan({point: change(o) for point, o in plan.openings.items()}, plan.refusals)

    with pytest.raises((Fault, KeyError)):
        Simulator(unit, tamper).run(args)


@pytest.mark.parametrize(
    ("mutant", "name", "module"),
    [pytest.param(*a, id=a[0].name, marks=pytest.mark.long) for a in ANALYSES if a[0].name not in NOT_IN_PLANS],
)
def test_mistakes_in_what_plans_are_made_of_are_found(mutant: Mutant, name: str, module: str) -> None:
    with mutated(mutant), pytest.raises(Fault):
        unit, args = case(f"{name}, by calls" if module.endswith("destinations") else name)
        Simulator(unit).run(args)


def test_a_race_is_found() -> None:
    unit, args = case("neighbours")
    assert agree(unit, args) == 0
    with pytest.raises(Fault, match=r"overwritten|another one writes"):
        Simulator(unit, shares=lambda *asked: ALWAYS).run(args)


def test_enough_mistakes_are_tried() -> None:
    assert len(CHANGES) + len([a for a in ANALYSES if a[0].name not in NOT_IN_PLANS]) + 1 >= 20
