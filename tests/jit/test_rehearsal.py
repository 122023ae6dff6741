"""What a process that compiles does while nobody asks it for anything."""

from __future__ import annotations

import subprocess
import sys

from tests.tools import ROOT

PROGRAM = """
import sys
from sacpy.jit.run.rehearsal import HERE, ROOMS, UNUSED, steps
found = sum(1 for _ in steps())
missing = [f"{room}.{path.stem}" for room in ROOMS for path in (HERE / room).glob("*.py")
           if path.stem not in UNUSED and f"sacpy.jit.{room}.{path.stem}" not in sys.modules]
print(found > 100, missing)
from sacpy.jit.host import compile
text = "define i32 @f(i32 %x) {\\n" + "  %y = add i32 %x, 1\\n" + "  ret i32 %y\\n}\\n"
long = text + ";" + "x" * 40000
print(compile.is_brief(text), compile.is_brief(long))
compile.stay_here(lambda: 1)
print(compile.is_brief(text), compile.is_brief(long))
"""


def test_it_loads_all_that_compiling_may_take_and_keeps_what_is_larger_to_itself() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "True []\nTrue False\nTrue True\n", done.stderr
