"""fib(28), one call from Python, and a second one."""

import sys
from pathlib import Path

import sacpy
from benchmarks.first.timing import Watch

watch = Watch()
module = sacpy.Session(target=sys.argv[1]).load(Path(__file__).with_suffix(".sac"))
with watch.over("first"):
    result = module.fib(28)
with watch.over("second"):
    again = module.fib(28)
print(result, again)
watch.tell()
