"""The interpreter needs Python and NumPy only: no compiler, no prompt, no other processes, no threads. So it can run
where there are none of these, as in a browser."""

import subprocess
import sys

import pytest

from tests.tools import ROOT

ALONE = """
import os, sys, threading, time

del time.thread_time  # which is not on every system
for name in ("llvmlite", "prompt_toolkit", "pygments", "platformdirs", "cuda"):
    sys.modules[name] = None  # as if it were not there

def missing(*arguments, **keywords):
    raise RuntimeError("there is no such thing here")

def unable(*arguments, **keywords):
    raise OSError("the system has no processes")

import subprocess
threading.Thread.start = subprocess.Popen.__init__ = missing
for name in ("fork", "posix_spawn", "posix_spawnp", "system"):
    if hasattr(os, name):
        setattr(os, name, unable)
"""

USES = {
    "an embedded function": """
import numpy as np, sacpy
session = sacpy.Session(target="interp")
f = session.compile("use Array: all; double[n] f(double[n] v) { return { [i] -> v[i] * 2.0 | [i] < [n] }; }").f
print(f(np.array([1.0, 2.5])))
""",
    "expressions, an error, and what led to it": """
from sacpy.interp.world import World
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace
engine = Engine(Workspace(), World.captured())
engine.enter("int f(int[*] v, int k) { return v[k]; }")
engine.enter("a = iota(3); sum(a)")
print(engine.world.out().decode(), end="")
print(engine.enter("f(a, 7)").diagnostics[0].message)
""",
    "a program": """
from sacpy.cli import main
import tempfile, pathlib
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "p.sac")
    file.write_text('use StdIO: all; int main() { printf("%d\\\\n", 42); return 3; }')
    print(main(["run", "--target", "interp", str(file)]), main(["check", str(file)]))
""",
    "the default target": """
from sacpy.cli import main
import tempfile, pathlib
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "p.sac")
    file.write_text('use StdIO: all; use Array: all; int main() { s = 0; '
                    'for (i = 0; i < 60000; i++) { s = (s * 3 + i) % 1009; } print(s); return 3; }')
    print(main([str(file)]))
""",
}
SAID = {
    "an embedded function": "[2. 5.]\n",
    "expressions, an error, and what led to it": "int 3\nindex [7] is out of range for the shape [3]\n",
    "a program": "42\n3 0\n",
    "the default target": "Dimension:  0\nShape    : < >\n 116\n3\n",
}


@pytest.mark.parametrize("use", USES)
def test_without_anything_else(use: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE + USES[use]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (SAID[use], ""), done.stderr
