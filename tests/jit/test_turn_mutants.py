"""Bugs put on purpose into what goes over with a loop that is left in the middle are found by the loops of
`turn_programs`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fuzz.paces import Steady, paced
from tests.jit.mutation import Mutant, mutated
from tests.jit.turn_programs import different, results

RESTS, TURNS, CODE, WITH, NATIVE = (
    "sacpy.jit.run.rests",
    "sacpy.jit.run.turns",
    "sacpy.interp.codegen_loops",
    "sacpy.interp.codegen_withloop",
    "sacpy.jit.host.native",
)
ONE, SOME, FOUR, ALL, FAR = (
    Steady(None, 1, 1),
    Steady(None, 2, 3),
    Steady(None, 4, 2),
    Steady(None, 3, 0),
    Steady(None, 16, 4),
)
MUTANTS: dict[Mutant, tuple[Steady, str]] = {
    Mutant("parameters of a rest are in another order", RESTS, "_binds", "in bases.items()]",
        "in list(bases.items())[::-1]]"): (ALL, "two"),
    Mutant("a stretch gives its variables backwards", RESTS, "stretch_of", "(*map(_var, targets), _var(going))",
        "(*map(_var, targets[::-1]), _var(going))"): (ONE, "two"),
    Mutant("a rest gives its variables backwards", RESTS, "rest_of", "for b in defined(statement))",
        "for b in defined(statement)[::-1])"): (ALL, "two"),
    Mutant("a stretch goes on when its loop ends", RESTS, "stretch_of", 'Prim("and", (loop.test, _var(some)))',
        'Prim("or", (loop.test, _var(some)))'): (SOME, "early"),
    Mutant("a stretch does not tell that its loop has ended", RESTS, "stretch_of",
        "Let((going,), again.atom(loop.test), span)", "Let((going,), Const('bool', (), (True,), span), span)"): (SOME,
        "once"),
    Mutant("a stretch that ends its loop does not end it here", TURNS, "Turn._paced", "over=not going",
        "over=False"): (SOME, "once"),
    Mutant("a stretch in the middle of a loop ends it", TURNS, "Turn._paced", "over=not going", "over=True"): (SOME,
        "up"),
    Mutant("a rest that is done is done again", TURNS, "Turn._go", "raise Left(found)",
        "raise Left(found, over=False)"): (ALL, "last"),
    Mutant("what a rest gives is put together backwards", TURNS, "Turn._go", "raise Left(found)",
        "raise Left(found[::-1])"): (ALL, "two"),
    Mutant("what a stretch gives is put together backwards", TURNS, "Turn._paced", "raise Left(tuple(moved)",
        "raise Left(tuple(moved[::-1])"): (ONE, "two"),
    Mutant("a loop that is done elsewhere goes on here", CODE, "write_loop", "if _left.over: break",
        "if False: break"): (SOME, "once"),
    Mutant("a loop that is not done elsewhere ends here", CODE, "write_loop", "if _left.over: break",
        "break"): (SOME, "nested"),
    Mutant("a loop that comes back begins anew", CODE, "counted_loop", 'gen.emit(f"{start} = {name}", span)',
        'gen.emit(f"{start} = 0", span)'): (SOME, "below"),
    Mutant("a loop that comes back begins a round later", CODE, "counted_loop",
        'gen.emit(f"{start} = {name}", span)',
        'gen.emit(f"{start} = {name} + (0 if {name} < 6 else 1)", span)'): (SOME, "up"),
    Mutant("a counter is where its loop came back", CODE, "counted_loop", 'f"{name} = {bound} if',
        'f"{name} = {start} if'): (FOUR, "below"),
    Mutant("a `do` loop is left behind its body", CODE, "rounds", "[*look, *body, *condition, leave]",
        "[*body, *look, *condition, leave]"): (ONE, "once"),
    Mutant("variables get each other's values", WITH, "WithLoops.left", "for t in targets)} = _left.values",
        "for t in targets[::-1])} = _left.values"): (ALL, "two"),
    Mutant("a fold that has changed its neutral element is computed anew", WITH, "WithLoops._keeps_its_input",
        "all(self.shape(n).rank == 0 for n in neutrals)", "True"): (FAR, "counted"),
    Mutant("extents of a result are those of another axis", NATIVE, "_numbers", "for e in extents)",
        "for e in extents[::-1])"): (ALL, "scaled"),
    Mutant("elements of a small array are each other's", NATIVE, "NativeFunction._caller", "for p in o.positions)",
        "for p in o.positions[::-1])"): (ALL, "mixed"),
    Mutant("all elements of a small array are the first", NATIVE, "_text", ".item({i.at})", ".item(0)"): (ALL, "mixed"),
    Mutant("all scalars are the first", NATIVE, "NativeFunction._caller", 'made.append(f"r[{o.positions[0]}]")',
        'made.append("r[0]")'): (ALL, "two"),
}  # fmt: skip


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Inside, something ends with an exception after so long."""

    def strike(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)  # again and again: what strikes a call is its result
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_mutant_is_found(mutant: Mutant) -> None:
    pace, name = MUTANTS[mutant]
    expected = results(None, name)
    with mutated(mutant):
        try:
            with at_most(2.0):
                found = results(paced(pace), name)
        except Exception:
            return  # it is not even possible, or has no end
    assert different(expected, found, name)


@pytest.mark.parametrize("pace", list(dict.fromkeys(pace for pace, _ in MUTANTS.values())), ids=str)
def test_without_a_mutant_all_is_well(pace: Steady) -> None:
    names = sorted({name for other, name in MUTANTS.values() if other == pace})
    assert different(results(None, *names), results(paced(pace), *names), *names) == []
