"""The first call of a captured function: the process that compiles is there when the function is decorated, and is told
of the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sacpy.jit.run.fork import may_fork

pytestmark = pytest.mark.skipif(not may_fork(), reason="nothing is compiled by other processes here")
ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, sys
import numpy as np
import sacpy
from sacpy import Double
from sacpy.capture.function import default_session
from sacpy.jit.run import engine, makers, making

engine.is_processor_free = lambda: True  # whatever else runs here
FORKS = []
made = makers.Makers._new_fork
makers.Makers._new_fork = lambda self, read: (FORKS.append(read is not None), made(self, read))[1]
if {broken!r}:
    answered = making.Making.answer
    making.Making.answer = lambda self, r: answered(self, (*r[:3], "another" + r[3], *r[4:]))

if {ahead!r}:
    answered = making.Making.answer
    def only_what_is_there(self, request):
        assert request[3] in self._ahead
        return answered(self, request)
    making.Making.answer = only_what_is_there
    made_here = makers.Makers._delivered
    def delivered(self, unit, kind, name, data):
        print(unit.key, len(data) > 0)
        return made_here(self, unit, kind, name, data)
    makers.Makers._delivered = delivered

@sacpy.function
def dense(a: Double["n", "m"], b: Double["m", "k"]) -> Double["n", "k"]:
    return a @ b + 1.0

@sacpy.function
def steps(n: int) -> int:
    x, count = n, 0
    while x != 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        count += 1
    return count

print(FORKS)
a = np.arange(90000.0).reshape(300, 300)
assert np.allclose(dense(a, a), a @ a + 1.0)
assert steps(27) == 111
print(FORKS)
print(sorted(r.function for r in default_session("auto").stats().rows if r.where == "native"))
"""


def run(folder: Path, broken: bool = False, ahead: bool = False) -> list[str]:
    """What the script prints. `broken`: the other process has the programs otherwise; `ahead`: it answers with what it
    has made before it was asked, and with nothing else."""
    path = folder / "script.py"
    if not path.exists():
        path.write_text(SCRIPT.format(broken=broken, ahead=ahead))
    environment = {"SACPY_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(path)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_who_compiles_is_there_and_has_begun_before_the_first_call_unless_the_cache_has_what_comes(
    tmp_path: Path,
) -> None:
    first = run(tmp_path, ahead=True)
    assert first[0] == first[-2] == "[True]" and "_MAIN::dense/0 True" in first and "'dense'" in first[-1]
    second = run(tmp_path, ahead=True)
    assert second[0] == second[-2] == "[]" and "'dense'" in second[-1]


def test_what_has_become_another_program_there_is_compiled_here(tmp_path: Path) -> None:
    assert "'dense'" in run(tmp_path, broken=True)[-1]
