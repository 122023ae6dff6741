"""Every function that the corpus and the programs call, specialised for its arguments and compared with the
interpreter: `python -m tests.jit.specialise_corpus [FILE...]` prints what does not specialise, and why.

In: program files. Out: per call, "same", the reason for which it stays interpreted, or what is wrong. Calls with large
arguments are left out; the graph evaluator is slow.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sacpy.jit.failures import Unsupported
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.specialise import Argument, Specialiser
from tests.jit.graph_evaluator import evaluate
from tests.jit.specialise_tools import identical, recorded_calls, shapes_of

ROOT = Path(__file__).parents[2]
SAME = "same"


def outcomes(path: Path) -> Iterator[tuple[str, str]]:
    """For each recorded call of a program, with small extents fixed and with open ones: the function's key, and how it
    went."""
    program, recorded = recorded_calls(path)
    specialiser = Specialiser(program)
    for key, calls in recorded.items():
        bases = [slot.base for slot in program.signature(key).params]
        for args, wanted in calls:
            for fixed in (4, -1):
                try:
                    unit = specialiser.specialise(
                        key, [Argument(base, shape) for base, shape in zip(bases, shapes_of(args, fixed=fixed))]
                    )
                except Unsupported as problem:
                    yield key, problem.reason
                    continue
                verify(unit)
                got = evaluate(unit, args)
                yield (
                    key,
                    SAME
                    if all(identical(g, w) for g, w in zip(got, wanted, strict=True))
                    else f"WRONG: {args} gives {got}, not {wanted}",
                )


def main(paths: list[Path]) -> None:
    """Runs programs, and prints a table."""
    sys.setrecursionlimit(50_000)
    total: Counter[str] = Counter()
    functions: dict[str, bool] = {}
    for path in paths or [*sorted((ROOT / "tests/corpus").glob("*.sac")), *sorted((ROOT / "programs").glob("*.sac"))]:
        try:
            for key, how in outcomes(path):
                total[how] += 1
                functions[f"{path.stem} {key}"] = functions.get(f"{path.stem} {key}", False) or how == SAME
                if how.startswith("WRONG"):
                    print(path.name, key, how)
        except Exception as problem:
            print(path.name, type(problem).__name__, str(problem)[:200])
    for how, count in total.most_common():
        print(f"{count:6} {how}")
    print(f"{sum(functions.values())} of {len(functions)} functions specialise")


if __name__ == "__main__":
    main([Path(p) for p in sys.argv[1:]])
