"""A process that is forked while its threads run compiled code or load modules: its child computes on, with threads of
its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import ROOT

PROGRAM = """
import os, signal, threading
import numpy as np, sacpy

text = "use Array: all; double f(double[n] v) { return sum(v * v + 1.0); }"
module, other = (sacpy.Session(target="cpu", threads=2).compile(text) for _ in range(2))
v = np.ones(400_000)
assert module.f(v) == other.f(v) == 800_000.0
over = threading.Event()
def work():
    while not over.is_set():
        other.f(v)
threading.Thread(target=work, daemon=True).start()
for _ in range(8):
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        tasks = "/proc/self/task"
        ok = all(module.f(v) == 800_000.0 for _ in range(5)) and (not os.path.isdir(tasks) or len(os.listdir(tasks))
          == 2)
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
over.set()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


LOADING = """
import os, signal, sys, threading
import sacpy

sacpy.Session()
begun = threading.Event()
sys.path.insert(0, sys.argv[1])
sys.argv.append(begun)
threading.Thread(target=lambda: __import__("slow")).start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(5)
    import slow
    os._exit(slow.answer - 42)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_may_load_what_a_thread_was_loading(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import sys, time\nsys.argv[-1].set()\ntime.sleep(0.2)\nanswer = 42\n")
    command = [sys.executable, "-W", "ignore", "-c", LOADING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
