"""Whole programs on the device: those of `programs/` and of the tests' corpus, every with-loop of theirs that can run
there, however small.

In: a target. Out: for each program what is wrong with its output, if anything; numbers may differ as sums in another
order do.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.gpu.checks import always_there
from sacpy import SacError
from sacpy.commands.options import parse
from sacpy.commands.settings import workspace_of
from sacpy.interp.world import World

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "programs").glob("*.sac"), *(ROOT / "programs").glob("*/main.sac")])
CORPUS = sorted(p for p in (ROOT / "tests" / "corpus").glob("*.sac") if p.with_suffix(".out").exists())
TOLERANCE = 1e-4  # relative; what is printed has few digits
# how a program of the corpus is run, in its comments
_TOLD = re.compile(r"^\s*//\s*(args|stdin|flags|expect-status):\s?(.*)$", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)")


def wrong(paths: list[Path], target: str, wait: Any) -> Iterator[tuple[str, str]]:
    """The name of each program, and what is wrong with it, "" where nothing is. `wait`: raises where the device is
    lost, which ends it."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for path in paths:
            name = path.parent.name if path.stem == "main" else path.stem
            try:
                yield name, _difference(path, target)
            except Exception as error:  # whatever it is, it is told, and the others have their turn
                yield name, f"{type(error).__name__}: {error}"[:500]
                wait()


def _difference(path: Path, target: str) -> str:
    told = dict(reversed(_TOLD.findall(path.read_text(encoding="utf-8", errors="replace"))))
    flags = [flag.replace("{here}", str(path.parent)) for flag in shlex.split(told.get("flags", ""))]
    args = shlex.split(told.get("args", ""))
    beside = path.parent.parent / f"{path.parent.name}.x" if path.stem == "main" else path
    stdin = path.parent / told["stdin"].strip() if "stdin" in told else beside.with_suffix(".stdin")
    wanted = next(p for p in (beside.with_suffix(".out"), beside.with_suffix(".expected")) if p.exists()).read_text(
        encoding="latin-1"
    )
    workspace = workspace_of(parse(["run", *flags, "--target", target, str(path), *args]))
    workspace.use(always_there(target))
    world = World.captured(
        stdin.read_bytes() if stdin.is_file() else b"", tuple(os.fsencode(a) for a in (str(path), *args))
    )
    try:
        program, found = workspace.load(path)
        workspace.run(program, world, found)
    except SacError as error:
        if int(told.get("expect-status", "0")) == 0:
            return f"{error}"[:500]
    world.finish()
    return differs(world.out().decode("latin-1"), wanted)


def differs(found: str, wanted: str) -> str:
    """How an output differs from what it should be; "" where only numbers do, and little."""
    if _NUMBER.sub("#", found) != _NUMBER.sub("#", wanted):
        at = next(
            (
                n
                for n, (a, b) in enumerate(zip(found.splitlines(), wanted.splitlines()))
                if _NUMBER.sub("#", a) != _NUMBER.sub("#", b)
            ),
            -1,
        )
        return f"another text, from line {at + 1} on" if at >= 0 else "another number of lines"
    apart = [
        (a, b)
        for a, b in zip(_NUMBER.findall(found), _NUMBER.findall(wanted))
        if a != b and not math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=1e-9)
    ]
    return f"{len(apart)} numbers differ, the first: {apart[0][0]} instead of {apart[0][1]}" if apart else ""
