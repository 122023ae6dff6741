"""`python -m tests.ptx`: cases on all paths; with `--fuzz FROM TO` random programs, with `--programs FILE...` whole
ones, with `--validate` the interpreter itself. The exit status is 1 where anything is wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import monotonic

from tests.ptx import checking, validation
from tests.ptx.cases import CASES


def main() -> int:
    p = argparse.ArgumentParser(prog="python -m tests.ptx", description="Runs kernels on the interpreter of PTX.")
    p.add_argument("--cases", default="", metavar="TEXT", help="only cases with that in their names")
    p.add_argument("--fuzz", nargs=2, type=int, metavar=("FROM", "TO"), help="random programs of these seeds")
    p.add_argument("--programs", nargs="*", type=Path, metavar="FILE", help="whole programs")
    p.add_argument("--each", type=int, default=60, help="the most seconds that a whole program may take (60)")
    p.add_argument("--validate", action="store_true", help="the interpreter against what nvcc makes of CUDA C")
    p.add_argument("--paths", default="", help="architectures with front ends: sm_90:libnvvm,sm_80:nvptx")
    p.add_argument("--strict", action="store_true", help="as with --strict-fp")
    p.add_argument("--no-races", action="store_true", help="do not look for races: faster")
    p.add_argument("--strategy", default="auto", help="how with-loops are mapped")
    p.add_argument("--seconds", type=float, default=3600, help="when to begin nothing more (3600)")
    o = p.parse_args()
    paths = [(arch, front) for arch, front in (x.split(":") for x in o.paths.split(","))] if o.paths else checking.PATHS
    until = monotonic() + o.seconds
    if o.validate:
        wrong = [line for arch in dict.fromkeys(arch for arch, _ in paths) for line in validation.all_of(arch)]
        told = ""
    else:
        if o.fuzz:
            v = checking.fuzz(range(*o.fuzz), paths, strict=o.strict, races=not o.no_races, until=until)
        elif o.programs:
            v = checking.programs(o.programs, paths, races=not o.no_races, each=o.each, until=until)
        else:
            chosen = [c for c in CASES if o.cases in c.name]
            v = checking.cases(chosen, paths, strict=o.strict, races=not o.no_races, strategy=o.strategy, until=until)
        wrong, told = v.wrong, ", ".join(f"{k}: {n}" for k, n in v.told.items())
    print(*wrong, told, f"{len(wrong)} wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
