"""Programs in processes of their own: how long each takes, how much memory, and whether it prints what it should.

In: a case, and what runs it. Out: a `Run`. A process that takes too long is killed, and the run says so; one that
prints something else, too: nothing here raises but where this machine lacks what a peer needs.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.clib import NoCompiler
from benchmarks.first.cases import HERE, ROOT, Case

MEASURED = b"measured "
SETTLING, PATIENCE = 20.0, 0.02  # seconds: how long it is waited for, and between two looks


@dataclass(frozen=True, slots=True)
class Run:
    """One process. `seconds`: from its start to its end, or what it says itself; `processor`: seconds of all its
    threads; `memory`: the most bytes it held; `wrong`: what is the matter with what it printed, "" where nothing is;
    `late`: it was killed after `seconds`; `measures`: what else it tells."""

    seconds: float
    processor: float
    memory: int
    wrong: str = ""
    late: bool = False
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether it ended, in time, with what it should print."""
        return not self.late and not self.wrong


def run_case(case: Case, target: str, cache: Path, most: float) -> Run:
    """A case on a target, with compiled code kept in `cache`; for at most so many seconds."""
    if case.source.suffix == ".py":
        module = ".".join(case.source.relative_to(ROOT).with_suffix("").parts)
        command = ["-m", module, *case.arguments, target]
    else:
        command = ["-m", "sacpy", "run", "--target", target, str(case.source), *case.arguments]
    return _run([sys.executable, *command], case, cache, most)


def run_peer(case: Case, kind: str, cache: Path, most: float) -> Run:
    """A peer of a case; `cache` is also where its compiler keeps code. Raises `NoCompiler` or ImportError where this
    machine lacks what it needs."""
    source = case.peers[kind]
    if kind == "numba" and importlib.util.find_spec("numba") is None:
        raise ImportError("there is no numba")
    command = [str(_program(source, cache))] if kind == "c" else [sys.executable, str(source)]
    return _run(command, case, cache, most)


def _program(source: Path, folder: Path) -> Path:
    """The program that gcc makes of a file. Raises `NoCompiler`."""
    program = folder / source.stem
    if not program.exists():
        try:
            subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-o", program, source, "-lm"], check=True)
        except FileNotFoundError:
            raise NoCompiler("there is no gcc") from None
    return program


def _run(command: Sequence[str], case: Case, cache: Path, most: float) -> Run:
    setting = {"SACPY_CACHE_DIR": str(cache), "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **setting}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # all that is installed is there as byte code
    with tempfile.TemporaryDirectory() as folder:
        given, out, errors = (Path(folder) / name for name in ("given", "out", "errors"))
        given.write_bytes(case.stdin)
        files = map(str, (given, out, errors))
        whole = [sys.executable, "-S", "-I", str(HERE / "timed.py"), str(most), *files, *command]
        done = subprocess.run(whole, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True)
        found = json.loads(done.stdout)
        printed, measures = _measures(out.read_bytes())
        wrong = "" if found["late"] else _difference(case, printed, errors.read_text(errors="replace"), found["status"])
    seconds = measures.pop("seconds", found["seconds"])
    return Run(seconds, found["processor"], found["memory"], wrong, found["late"], measures)


def settle(cache: Path) -> None:
    """Waits until no process compiles for this cache any more: what a program was about to have compiled when it ended
    is there when somebody starts it again, a moment later."""
    mark = f"SACPY_CACHE_DIR={cache}".encode()
    end = time.monotonic() + SETTLING
    while time.monotonic() < end and any(mark in _environment(process) for process in Path("/proc").glob("[0-9]*")):
        time.sleep(PATIENCE)


def _environment(process: Path) -> list[bytes]:
    """The variables of a process; none where it has ended, or is somebody else's."""
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _measures(printed: bytes) -> tuple[bytes, dict[str, float]]:
    """What was printed without the last line, where that tells times; and these."""
    head, mark, last = printed.rpartition(MEASURED)
    if not mark or (head and not head.endswith(b"\n")):
        return printed, {}
    measures: dict[str, float] = json.loads(last)
    return head, measures


def _difference(case: Case, printed: bytes, errors: str, status: int) -> str:
    """What is wrong with the output of a case, "" if nothing is."""
    said = errors.strip().splitlines() or ["no message"]
    if status != case.status:
        return f"ended with {status}, not {case.status}: {said[-1]}"
    if case.code and f"[{case.code}]" not in errors:
        return f"no {case.code}: {said[0]}"
    if printed != case.expected:
        pairs = zip(printed.splitlines(), case.expected.splitlines())
        line = next((i for i, (a, b) in enumerate(pairs, 1) if a != b), None)
        return "output of another length" if line is None else f"another output, from line {line} on"
    return ""
