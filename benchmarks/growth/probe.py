"""One generated function, compiled in a fresh process: `python -m benchmarks.growth.probe FAMILY SIZE` prints JSON.

`stages`: milliseconds of each, `check` (reading the program and checking it) first; `refused`: why there is no code,
"" where there is; `notes`: what the compiler left out to stay within its budget; `peak`: the most bytes that the
process held, and `before`: that before compiling began.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.growth.generated import FAMILIES
from benchmarks.probe import status
from sacpy.base.collection import without_collection
from sacpy.jit.cache import Cache
from sacpy.jit.failures import Unsupported
from sacpy.jit.options import Options
from sacpy.jit.run.compiler import compile_unit
from sacpy.jit.run.contract import CompileContext
from sacpy.jit.run.regions import Regions
from sacpy.workspace import Workspace


def main() -> int:
    name, size = sys.argv[1:]
    (family,) = (f for f in FAMILIES if f.name == name)
    text = family.text(int(size))
    start = time.perf_counter()
    program = Workspace().load_text(text)[0]
    stages = {"check": 1e3 * (time.perf_counter() - start)}
    (entry,) = program.main.own("f")
    key = program.key(entry, ())
    before = status("VmHWM")
    refused, notes = "", ()
    with tempfile.TemporaryDirectory() as folder, without_collection():
        start = time.perf_counter()
        try:
            tools = CompileContext(Options(threads=2), Cache(Path(folder)))
            report = compile_unit(Regions(program), key, family.kind, "probe", tools).report
            stages |= {stage: 1e3 * seconds for stage, seconds in report.stages}
        except Unsupported as refusal:
            refused = refusal.reason
            stages["refused"] = 1e3 * (time.perf_counter() - start)
    found = {"stages": stages, "refused": refused, "notes": notes, "before": before, "peak": status("VmHWM")}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
