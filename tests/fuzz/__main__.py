"""`make fuzz`: random programs at length, interpreted and compiled.

    python -m tests.fuzz --seeds 20000 --time 3600

In: how many programs, and for how many seconds at most. Out: a report of what differed (with the seed, which makes the
program again), what was compiled, and how often each operation, statement, pass and way through the engine was seen.
The status is 1 if anything differed, was seen less than 200 times in a full run, or if less than 90 % of the functions
were compiled.

    python -m tests.fuzz --show 4711        the program of a seed, and what comes of it
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

from sacpy.base.kept import write_atomically
from sacpy.jit.options import cores
from tests.fuzz.differential import Outcome, same
from tests.fuzz.processes import findings
from tests.fuzz.seeds import case
from tests.fuzz.work import Findings, examined

FULL = 20_000  # programs of a full run
WANTED = 200
SAVED = 100  # programs between two times that findings are saved
COMPILED = 0.9


def main(argv: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seeds", type=int, default=FULL, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--time", type=float, default=float("inf"), help="seconds, after which no more are started")
    parser.add_argument("--jobs", type=int, default=cores(), help="processes")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="where what earlier runs have found is kept, to be added to"
    )
    parser.add_argument("--show", type=int, metavar="SEED", help="one program")
    parsed = parser.parse_args(argv)
    if parsed.show is not None:
        return _show(parsed.show)
    start = monotonic()
    total = pickle.loads(parsed.save.read_bytes()) if parsed.save and parsed.save.exists() else Findings()
    for found in findings(range(parsed.first, parsed.first + parsed.seeds), parsed.jobs, start + parsed.time):
        for line in found.failures:
            print(line, flush=True)
        total.merge(found)
        if parsed.save and total.programs % SAVED == 0:
            write_atomically(parsed.save, pickle.dumps(total))
        if sys.stdout.isatty():
            print(f"\r{total.programs} programs, {len(total.failures)} differ", end="", flush=True)
    if parsed.save:
        write_atomically(parsed.save, pickle.dumps(total))
    print(report(total, monotonic() - start))
    short = total.programs >= FULL and total.coverage.missing(WANTED)
    return 1 if total.failures or short or total.coverage.compiled < COMPILED else 0


def report(total: Findings, seconds: float) -> str:
    """A run in words."""
    coverage = total.coverage
    seen = dict(coverage.all())
    lines = [
        f"{total.programs} programs, {total.calls} calls, {total.errors} of them end in an error, {total.refused} "
        f"programs wrong before they run; {seconds:.0f} s",
        *(f"  {count:6} results {verdict}" for verdict, count in total.verdicts.most_common()),
        f"{len(total.failures)} differ",
        f"{coverage.functions['compiled']} versions of functions compiled, {coverage.functions['refused']} not "
        f"({100 * coverage.compiled:.1f} % compiled)",
        *(f"  {count:6} {reason}" for reason, count in coverage.reasons.most_common(10)),
        f"{sum(count >= WANTED for count in seen.values())} of {len(seen)} operations, statements, passes and ways "
        f"seen at least {WANTED} times; the fewest:",
        *(f"  {count:6} {what}" for what, count in sorted(seen.items(), key=lambda item: item[1])[:12]),
        *(
            f"  {count:6} {kind} {name}"
            for kind, counts in (("statement", coverage.statements), ("pass", coverage.passes), ("way", coverage.paths))
            for name, count in Counter(counts).most_common()
        ),
    ]
    return "\n".join(lines)


def _show(seed: int) -> int:
    shown = case(seed)
    print(shown.source)
    outcome = examined(seed)
    if isinstance(outcome, str):
        print(outcome)
        return 1
    if outcome.refused_before:
        print("wrong before it runs:", outcome.refused_before)
    _print(outcome)
    return 1 if outcome.different else 0


def _print(outcome: Outcome) -> None:
    for k, (name, args) in enumerate(outcome.case.calls):
        print(f"\n{name}{args}\n  interpreted: {outcome.expected[k]}" if outcome.expected else f"\n{name}{args}")
        for way, results in outcome.different.items():
            if not same(outcome.expected[k], results[k]):
                print(f"  {way}: {results[k]}")


if __name__ == "__main__":
    sys.exit(main())
