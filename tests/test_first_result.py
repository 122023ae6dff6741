"""What a first result in a fresh process loads: each module takes some fifty microseconds, and what it makes when it is
loaded."""

import os
import subprocess
import sys
from pathlib import Path

from tests.tools import ROOT

SCRIPT = """
import sys
import numpy as np
import sacpy
session = sacpy.Session(target="cpu")
f = session.compile("use Array: all; double f(double[.] a, double[.] b) { return sum(a * b); }").f
assert f(np.ones(100000), np.ones(100000)) == 100000.0
loaded = sorted(sys.modules)
assert session.stats().units == 1
print(*loaded)
"""

RARE = (
    # what is interpreted
    "sacpy.interp.codegen", "sacpy.interp.emitter", "sacpy.interp.natives", "sacpy.interp.twins", "sacpy.interp.usage",
    # what nobody has asked for
    "sacpy.explain", "sacpy.jit.device", "sacpy.jit.emission", "sacpy.jit.kernels", "sacpy.jit.reports",
    "sacpy.jit.ir.kernel", "sacpy.lang.formatter", "sacpy.lang.render", "sacpy.repl", "sacpy.withloop",
    "asyncio", "cuda", "hashlib", "numba", "pickletools", "platformdirs", "prompt_toolkit", "pygments", "ssl",
)  # fmt: skip


def test_code_that_runs_natively_loads_nothing_that_interprets_it_and_nothing_that_it_does_not_need(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path)}
    loaded = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [m for m in loaded if m.startswith(tuple(f"{rare}." for rare in RARE)) or m in RARE]
    assert len([m for m in loaded if m.startswith("sacpy.")]) <= 256


START = """
import sys
import sac_lang
assert sac_lang.main() == 0
from sacpy.base.deferring import _Deferred
print(*(name for name, module in sys.modules.items() if not isinstance(module, _Deferred)))
"""
UNUSED = (
    "_ctypes", "argparse", "bz2", "dis", "gettext", "ipaddress", "locale", "lzma", "numpy._core._add_newdocs", "pickle",
    "platform", "sacpy.commands.options", "sacpy.interp.foreign", "sacpy.interp.natives.scanning", "shutil", "tempfile",
    "tokenize",
)  # fmt: skip


def test_a_program_that_is_run_loads_nothing_that_neither_it_nor_numpy_uses(tmp_path: Path) -> None:
    program = tmp_path / "program.sac"
    program.write_text('use StdIO: all; use Array: all; int main() { printf("%d\\n", sum(iota(5))); return 0; }')
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", START, str(program)], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        result, loaded = done.stdout.splitlines()
        assert (result, done.stderr) == ("10", "")
        assert not set(UNUSED) & set(loaded.split())
