"""Many different expressions, each evaluated once, with values from Python in them."""

import sys
from pathlib import Path

import numpy as np

import sacpy
from benchmarks.first.timing import Watch

watch = Watch()
session = sacpy.Session(target=sys.argv[1])
session.define(Path(__file__).with_suffix(".sac").read_text(encoding="utf-8"))
v = np.arange(1000.0)
total = 0.0
with watch.over("expressions"):
    for k in range(60):
        total += session.eval(f"sum(v * {k}.5) + tod(sum(toi({{ [i] -> prime(i + {k}) | [i] < [40] }})))", v=v)
print(f"{total:.3f}")
watch.tell()
