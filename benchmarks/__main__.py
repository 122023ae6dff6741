"""`python -m benchmarks [--json FILE] [--target TARGET] [PART...]`: measures, prints tables, writes JSON.

The JSON goes to the file given, or to `benchmarks.json` in the folder that `$OUT` names. The exit status is 1 where
something is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import (
    blocks,
    circuits,
    circuits_compiling,
    compare,
    dealing,
    interpreter,
    native,
    parallel,
    planted,
    prompt,
    startup,
    terminal,
    triangles,
)
from benchmarks.alignment import command as alignment
from benchmarks.append import command as append
from benchmarks.capture import command as capture
from benchmarks.estimates import command as estimates
from benchmarks.first import command as first
from benchmarks.growth import command as growth
from benchmarks.kernels import command as kernels
from benchmarks.measure import Row, as_json, table
from benchmarks.sac import TARGETS
from benchmarks.styles import command as styles
from benchmarks.suite import SIZES, benchmarks
from benchmarks.windows import command as windows
from sacpy.commands.installation import install

Shown = Callable[[argparse.Namespace], tuple[Any, bool]]
LIMITED: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "interpreter": lambda options: interpreter.measure(options.repetitions),
    "startup": lambda options: startup.measure(options.repetitions),
    "prompt": lambda options: [*prompt.measure(options.repetitions), *terminal.measure(options.repetitions)],
    "native": lambda options: native.measure(options.repetitions),
    "parallel": lambda options: parallel.measure(options.repetitions),
    "dealing": lambda options: dealing.measure(options.repetitions),
    "triangles": lambda options: triangles.measure(options.repetitions),
}
"""Parts that are rows with limits."""
SHOWING: dict[str, Shown] = {
    "alignment": lambda o: alignment.show(o.only or (), o.repetitions, o.quick),
    "append": lambda o: append.show(o.only or (), o.repetitions, o.quick),
    "styles": lambda o: styles.show(o.only or (), o.repetitions, o.quick),
    "windows": lambda o: windows.show(o.only or (), o.repetitions, o.quick),
    "circuits": lambda o: circuits.show(o.only or (), o.repetitions, o.quick),
    "circuits_compiling": lambda o: circuits_compiling.show(o.repetitions, o.quick),
    "capture": lambda o: capture.show(o.only or (), o.repetitions, o.quick),
    "suite": lambda o: _sizes(o),
    "first": lambda o: first.show(o.only or (), o.repetitions, o.seconds, o.quick),
    "compile": lambda o: growth.show(o.only or (), 1 if o.quick else min(o.repetitions, 3), o.seconds),
    "estimates": lambda o: estimates.show(o.only or (), o.seconds),
    "kernels": lambda o: kernels.show(o.only or ()),
    "blocks": lambda o: blocks.show(o.only or ()),
    "planted": lambda o: planted.show(o.only or (), 0.1 if o.quick else 0.5),
}
"""Parts with tables of their own: what they report, and whether something is over its limit."""
PARTS = (*LIMITED, *SHOWING)


def main() -> int:
    options = _options()
    install()  # as the installer left it; the sources may have changed since
    report: dict[str, object] = {"machine": _machine()}
    print(", ".join(f"{k}: {v}" for k, v in _machine().items()))
    over = False
    for part in options.parts or PARTS:
        if part in SHOWING:
            report[part], failed = SHOWING[part](options)
            over |= failed
            continue
        rows = LIMITED[part](options)
        print(table(f"\n{part}, {options.repetitions} repetitions", rows), flush=True)
        report[part] = [as_json(row) for row in rows]
        over |= any(row.verdict == "OVER" for row in rows)
    _write(options.json, report)
    return int(over)


def _sizes(options: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    """The suite, at all sizes that are asked for."""
    found = {size: _suite(options, size) for size in options.size or ["cached", "large"]}
    return found, any(row["verdict"] == "OVER" for one in found.values() for row in one["limits"])


def _suite(options: argparse.Namespace, size: str) -> dict[str, Any]:
    """Compares at one size, and prints the tables."""
    chosen = [b for b in benchmarks() if not options.only or b.name in options.only]
    found = [compare.compare(b, size, options.target, options.repetitions) for b in chosen]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    title = f"\nsuite, {size} sizes, --target {options.target}, {options.repetitions} repetitions; load {load:.1f}"
    print(compare.warm_table(title, found))
    print(compare.first_table("\nfirst result in a fresh process; peak memory of a call beyond its inputs", found))
    for version, reason in {v: r for c in found for v, r in c.missing.items()}.items():
        print(f"left out: {version} ({reason})")
    rows: list[Row] = []
    if options.target != "interp":
        print(compare.compile_table("\nseconds until there is native code", found))
        rows = compare.limits(found)
        print(table("\nlimits", rows))
    return {"benchmarks": [compare.as_json(c) for c in found], "limits": [as_json(row) for row in rows], "load": load}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measurements of sacpy against peers.")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)}; default: everything"
    )
    parser.add_argument(
        "--repetitions", type=int, default=7, help="how often each thing is done (7; of first and compile at most 3)"
    )
    parser.add_argument("--target", choices=TARGETS, default="cpu", help="what runs the SaC side of the suite (cpu)")
    parser.add_argument(
        "--size",
        choices=SIZES,
        action="append",
        help="the sizes of the suite (cached and large); may be given several times",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="of the suite, only that benchmark; of first and estimates, only such cases: GROUP, NAME or a pattern; "
        "of compile, only such families; of kernels, those with that in their names; may be given several times",
    )
    parser.add_argument("--quick", action="store_true", help="of first and compile: one repetition")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of first and compile: the most that a process may take (60)"
    )
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="write the measurements there")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part}; there is {', '.join(PARTS)}")
    return options


def _machine() -> dict[str, str]:
    """Where this was measured."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": _processor(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _write(chosen: Path | None, report: dict[str, object]) -> None:
    folder = os.environ.get("OUT")
    path = chosen or (Path(folder) / "benchmarks.json" if folder else None)
    if path is not None:
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
