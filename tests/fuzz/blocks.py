"""Array short-circuiting, by random programs: `python -m tests.fuzz.blocks --seeds 20000`.

In: seeds, each with its function (`block_programs`). Out: whether it gives the same natively, with short-circuiting and
without, bit for bit, as interpreted: values, or where it fails, but for errors in code whose value nobody uses. A few
functions stand in one program, so that what they call is checked once; passes that do not know of circuits run once for
both ways; and what takes longer takes turns, `TURNS`: graphs verified after each pass, optimised code, threads, the
emulator, and the plan of memory simulated.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from time import monotonic
from typing import Any
from unittest.mock import patch

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit import passes
from sacpy.jit.cache import Cache
from sacpy.jit.failures import CheckFailed, Unsupported
from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.native import Context, load
from sacpy.jit.host.signature import Signature
from sacpy.jit.ir.graph import Unit
from sacpy.jit.kinds import Kind
from sacpy.jit.options import Options
from sacpy.jit.run.compiler import Clock, optimised, specialised
from sacpy.jit.run.engine import Engine
from sacpy.jit.specialise import Specialiser
from sacpy.lang.core import Program
from sacpy.lang.diagnostics import SacError
from sacpy.nodes import replace
from tests.fuzz.block_programs import TOGETHER, function, helpers
from tests.fuzz.differential import in_full, same, small_chunks, workspace

Result = tuple[Any, ...] | None
PLAIN, VERIFIED, OPTIMISED, THREADS, EMULATED, SIMULATED = (
    "plain", "verified", "optimised", "on threads", "emulated", "simulated",
)  # fmt: skip
# Seeds take them in turn; whatever else is done, every program runs natively both ways.
TURNS = (
    PLAIN, VERIFIED, PLAIN, OPTIMISED, PLAIN, THREADS, PLAIN, SIMULATED, PLAIN, OPTIMISED,
    PLAIN, VERIFIED, PLAIN, THREADS, PLAIN, OPTIMISED, PLAIN, SIMULATED, PLAIN, EMULATED,
)  # fmt: skip


@dataclass
class Functions:
    """The functions of some seeds, in one program."""

    program: Program
    specialiser: Specialiser
    cases: dict[int, tuple[str, tuple[Any, ...]]]  # by seeds: the key, and the arguments

    @staticmethod
    def of(seeds: Sequence[int]) -> Functions:
        """`seeds`: of one element type."""
        made = {seed: function(seed, f"f{seed}") for seed in seeds}
        program, _ = workspace().load_text(helpers(seeds[0]) + "".join(text for text, _ in made.values()))
        keys = {key.partition("::")[2].partition("/")[0]: key for key in program.user_keys([])}
        return Functions(
            program, Specialiser(program), {seed: (keys[f"f{seed}"], args) for seed, (_, args) in made.items()}
        )


@contextmanager
def once() -> Iterator[None]:
    """Inside, a pass runs once on a graph, whoever asks."""
    done: dict[tuple[int, str], tuple[Unit, Unit]] = {}
    run = passes._done

    def kept(step: passes.Step, unit: Unit, options: Options) -> Unit:
        found = done.get((id(unit), step.name))
        if found is None or found[0] is not unit:
            found = done[id(unit), step.name] = unit, run(step, unit, options)
        return found[1]

    with patch.object(passes, "_done", kept):
        yield


def interpreted(functions: Functions, seed: int) -> Result:
    """What a function gives; None where it fails."""
    key, args = functions.cases[seed]
    try:
        return tuple(Evaluator(functions.program, World.captured()).call(key, args))
    except SacError:
        return None


def units(functions: Functions, seed: int, options: Options) -> dict[bool, Unit]:
    """The graphs of a function, by whether there are circuits, for arguments of any extents. Raises `Unsupported`."""
    key, args = functions.cases[seed]
    kind: Kind = tuple((None,) * np.ndim(a) for a in args)
    with once():
        plain = specialised(functions.specialiser, functions.program, key, kind, options, Clock())
        return {on: optimised(plain, replace(options, short_circuit=on), Clock()) for on in (True, False)}


def natively(found: dict[bool, Unit], args: tuple[Any, ...], options: Options) -> dict[bool, Result]:
    """What code gives; without circuits only where that is other code."""
    texts = {on: lower(unit, replace(options, short_circuit=on)) for on, unit in found.items()}
    results: dict[bool, Result] = {}
    for on, text in texts.items():
        if on or text != texts[True]:
            context = Context(options.threads, 1 << 33)
            code = load(compile_object(text, options), Signature.of(found[on]), options, context)
            try:
                results[on] = code.call(args)
            except CheckFailed:
                results[on] = None
    return results


def emulated(functions: Functions, seed: int, on: bool) -> Result:
    """What kernels give, with every access to memory checked."""
    key, args = functions.cases[seed]
    engine = Engine(
        "emulator", threads=1, strict_fp=True, eager=True, defects=True, check=True, short_circuit=on, cache=Cache(None)
    )
    try:
        found = Evaluator(functions.program, World.captured(), engine=engine, strict_fp=True).call(key, args)
    except SacError:
        return None
    return tuple(np.copy(r) if isinstance(r, np.ndarray) else r for r in found)


def simulated(unit: Unit, args: tuple[Any, ...]) -> Result:
    """What the plan of memory gives, simulated beside values. Raises `Fault`."""
    from tests.jit import graph_evaluator
    from tests.jit.memory_simulator import Simulator

    try:
        graph_evaluator.evaluate(unit, args)
    except graph_evaluator.CheckFailed:
        return None
    return tuple(Simulator(unit).run(args))


def fails_in_full(functions: Functions, seed: int) -> bool:
    """Whether a function fails natively where code whose value nobody uses is kept."""
    options = Options(strict_fp=True, opt_level=0, threads=1)
    with in_full():
        return all(
            r is None for r in natively(units(functions, seed, options), functions.cases[seed][1], options).values()
        )


@dataclass
class Outcome:
    """What came of a function. `wrong`: in words, None if nothing is; `circuits`: whether there is other code with
    them; `refused`: not compiled; `fails`: where interpreted."""

    wrong: str | None = None
    circuits: bool = False
    refused: bool = False
    fails: bool = False


def outcome(functions: Functions, seed: int, turn: str) -> Outcome:
    """What comes of a function."""
    args = functions.cases[seed][1]
    expected = interpreted(functions, seed)
    before = [np.copy(a) for a in args]
    options = Options(
        strict_fp=True,
        verify=turn == VERIFIED,
        opt_level=3 if turn == OPTIMISED else 0,
        threads=3 if turn == THREADS else 1,
    )
    try:
        with small_chunks() if turn == THREADS else nullcontext():
            graphs = units(functions, seed, options)
            found = {f"short_circuit={on}": r for on, r in natively(graphs, args, options).items()}
    except Unsupported:
        return Outcome(refused=True)
    told = Outcome(circuits=len(found) == 2, fails=expected is None)
    if turn == SIMULATED:
        found["simulated"] = simulated(graphs[True], args)
    if turn == EMULATED:
        found |= {f"emulated, short_circuit={on}": emulated(functions, seed, on) for on in (True, False)}
    if not all(map(same, map(np.asarray, args), before)):
        told.wrong = "an argument was changed"
    vanished = expected is None and any(v is not None for v in found.values()) and fails_in_full(functions, seed)
    for way, values in found.items():
        if values is None or expected is None:
            if values is not expected and not vanished:
                told.wrong = f"{way}: {'a check fails' if values is None else 'nothing fails'}"
        elif not all(same(np.asarray(x), np.asarray(y)) for x, y in zip(values, expected, strict=True)):
            told.wrong = f"{way}: {values} and not {expected}"
    return told


def outcomes(seeds: range, turn: str | None = None) -> Iterator[tuple[int, str, Outcome]]:
    """Of each seed the turn that it took, and what came of it. `turn`: all take this one."""
    at = seeds.start
    while at < seeds.stop:
        end = min((at // TOGETHER + 1) * TOGETHER, seeds.stop)
        functions = Functions.of(range(at, end))
        for seed in range(at, end):
            now = turn or TURNS[seed % len(TURNS)]
            yield seed, now, outcome(functions, seed, now)
        at = end


def main() -> int:
    """The exit status: 1 if a program gave something else."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.blocks")
    parser.add_argument("--seeds", type=int, default=20_000, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--time", type=float, default=float("inf"), help="seconds, after which no more are started")
    parser.add_argument("--turn", choices=sorted(set(TURNS)), help="what all of them take, and not by turns")
    parsed = parser.parse_args()
    start, turns, tally = monotonic(), Counter[str](), Counter[str]()

    def told() -> str:
        by_turn = ", ".join(f"{count} {turn}" for turn, count in sorted(turns.items()))
        return (
            f"{turns.total()} programs ({by_turn}), {tally['wrong']} differ; {tally['circuits']} other code with "
            f"circuits, {tally['fails']} fail, {tally['refused']} not compiled; {monotonic() - start:.0f} s"
        )

    for seed, turn, found in outcomes(range(parsed.first, parsed.first + parsed.seeds), parsed.turn):
        turns[turn] += 1
        tally.update(what for what, so in vars(found).items() if so)
        if found.wrong is not None:
            print(f"seed {seed}: {found.wrong[:200]}", flush=True)
        if turns.total() % 200 == 0:
            print(told(), flush=True)
        if monotonic() - start > parsed.time:
            break
    print(told())
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
