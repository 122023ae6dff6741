"""What a process that compiles does before it is asked for anything: has LLVM translate something, which is as much as
translating takes the first time, and loads, step by step, whatever else compiling may take. So what comes first takes
hardly longer than what comes later.

In: nothing. Out: steps, each of a few milliseconds, between which somebody looks whether there is something to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOMS = ("host", "passes", "analysis")  # whose modules are loaded where they are needed
# of those, what calls code, or makes that of GPUs: it takes NumPy, which making code for a processor does not
UNUSED = ("gates", "native", "reached", "strides")
HERE = Path(__file__).parents[1]
# a loop that LLVM makes vectors of: its code is read from the disk where it is first used
SAMPLE = """
define double @sample(double* noalias %a, double* noalias %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %p = getelementptr double, double* %a, i64 %i
  %q = getelementptr double, double* %b, i64 %i
  %x = load double, double* %p
  %y = fmul contract double %x, 2.0
  store double %y, double* %q
  %t = fadd reassoc double %s, %y
  %j = add nsw i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %end
end:
  ret double %t
}
"""


def steps() -> Iterator[None]:
    """The steps, in the order in which they are of use."""
    from sacpy.jit.host.compile import compile_object
    from sacpy.jit.options import Options

    compile_object(SAMPLE, Options())
    yield
    for room in ROOMS:
        for path in sorted((HERE / room).glob("*.py")):
            if path.stem not in UNUSED:
                import_module(f"sacpy.jit.{room}.{path.stem}")
                yield
