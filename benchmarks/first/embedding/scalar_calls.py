"""A function of a scalar, twenty thousand calls from Python."""

import sys
from pathlib import Path

import sacpy
from benchmarks.first.timing import Watch

CALLS = 20_000
watch = Watch()
module = sacpy.Session(target=sys.argv[1]).load(Path(__file__).with_suffix(".sac"))
with watch.over("each", CALLS):
    total = sum(module.digits(n) for n in range(CALLS))
print(total)
watch.tell()
