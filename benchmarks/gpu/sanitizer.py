"""compute-sanitizer over a program with kernels of all kinds: it watches every access to memory, and looks for races in
shared memory.

In: the tools' names. Out: for each what it says, and whether it found something; where it is not installed, or cannot
watch this GPU, that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TOOLS = ("memcheck", "racecheck", "synccheck")
FOUND = 86  # the status that is asked for where something is found
PROGRAM = """use Array: all;
use Math: all;
use StdIO: all;

noinline double[m,n] relax(double[m,n] a)
{
  return with {
    #pragma gpukernel GridBlock(2, Permute([2,0,3,1], SplitLast(8, Permute([1,2,0], SplitLast(32, ShiftLB(Gen))))))
    #pragma gpumem shared(a)
    ([1,1] <= [i,j] < [m - 1, n - 1]) : 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]);
  } : modarray(a);
}

noinline double[.] rows(double[m,n] a) { return { [i] -> with { ([0] <= [j] < [n]) : a[i,j];
  } : fold(+, 0.0) | [i] < [m] }; }

noinline double[.,.] product(double[m,l] a, double[l,n] b)
{
  return with {
    #pragma gpukernel GridBlock(2, Permute([2,0,3,1], SplitLast(16, Permute([1,2,0], SplitLast(16, ShiftLB(Gen))))))
    #pragma gpumem shared(a, b)
    ([0,0] <= [i,j] < [m,n]) : with { ([0] <= [k] < [l]) : a[i,k] * b[k,j]; } : fold(+, 0.0);
  } : genarray([m,n], 0.0);
}

noinline int[.] steps(int n)
{
  return with {
    #pragma gpukernel GridBlock(1, SplitLast(256, CompressGrid([1], ShiftLB(Gen))))
    ([1] <= [i] < [n - 1] step [5] width [2]) : i;
  } : genarray([n], -1);
}

int main()
{
  a = { [i,j] -> tod((i * 7 + j * 3) % 11) | [i,j] < [173, 211] };
  for (k = 0; k < 3; k++) { a = relax(a); }
  t = transpose(a);
  b = product(a, t);
  printf("%.6e %.6e %.6e %d %d\\n", sum(a), sum(rows(a)), sum(b), sum(steps(70001)), maxval(steps(70001)));
  return 0;
}
"""


def watched(tool: str, seconds: float) -> dict[str, Any]:
    """What one tool says of the program, run as a user would."""
    path = shutil.which("compute-sanitizer") or (
        "/usr/local/cuda/bin/compute-sanitizer" if Path("/usr/local/cuda/bin/compute-sanitizer").exists() else None
    )
    if path is None:
        return {"left out": "compute-sanitizer is not installed"}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "watched.sac")
        program.write_text(PROGRAM)
        command = [
            path,
            "--tool",
            tool,
            "--error-exitcode",
            str(FOUND),
            "--target-processes",
            "all",
            sys.executable,
            "-m",
            "sacpy",
            "run",
            "--target",
            "cuda",
            str(program),
        ]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]),
                },
            )
        except subprocess.TimeoutExpired:
            return {"left out": f"it took more than {seconds:.0f} s"}
    text = done.stdout + done.stderr
    row: dict[str, Any] = {"status": done.returncode, "text": text[-2000:]}
    if "ERROR SUMMARY: 0 errors" in text or "RACECHECK SUMMARY: 0 hazards" in text:
        row["found"] = 0 if done.returncode == 0 else "the program failed"
    elif "SUMMARY:" not in text or "not supported" in text:
        row["left out"] = "it does not work here"
    else:
        row["found"] = text[text.index("SUMMARY:") :].splitlines()[0]
    return row
