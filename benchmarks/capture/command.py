"""Measures captured functions beside Numba: warm in turns, and the first call in a fresh process with empty caches. Of
each the shortest repetition counts.

In: names of functions, how often. Out: the report, and whether something is over its limit, differs, or was not
compiled.
"""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.capture.cases import CASES, arguments
from benchmarks.capture.numba_versions import compiled
from benchmarks.measure import Row, as_json, in_turns, table
from sacpy import Captured, Session

ROOT = Path(__file__).resolve().parents[2]
WARM, FIRST, OVERHEAD = 0.9, 0.3, 1.5  # times Numba's: geometric means, and of a call on an 8 x 8 array
AT_LEAST = 0.02  # seconds of a repetition
SETTLED = 10.0  # seconds until which a function should have been compiled


def show(only: Sequence[str], repetitions: int, quick: bool) -> tuple[dict[str, Any], bool]:
    """Measures the chosen functions, prints tables; nothing without Numba. Raises ValueError for a name of no
    function."""
    known = {f.__name__: f for f in CASES}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise ValueError(f"there is no function {unknown[0]}; there are {', '.join(known)}")
    try:
        import numba  # noqa: F401  the peer
    except ImportError as missing:
        print(f"left out: {missing.name} ({missing})")
        return {"left out": str(missing)}, False
    chosen = [known[name] for name in only] or list(known.values())
    rows, interpreted, wrong = [], [], []
    for function in chosen:
        row, native, equal = _warm(function, 1 if quick else repetitions)
        rows.append(row)
        interpreted += [] if native else [function.__name__]
        wrong += [] if equal else [function.__name__]
        print(f"  {row.name}: {row.value:.2f}", flush=True)
    print(table("\ncaptured functions, warm, times Numba's", rows))
    first = [_first(function, 1 if quick else min(repetitions, 3)) for function in chosen]
    print(table("\nthe first call with empty caches, times Numba's", first))
    judged = [_mean("warm", rows, WARM), _mean("first call", first, FIRST), _overhead(repetitions)]
    print(table("\nlimits", judged))
    for name in interpreted:
        print(f"not compiled: {name}")
    for name in wrong:
        print(f"differs from Numba: {name}")
    report = {"warm": rows, "first": first, "limits": judged}
    over = bool(interpreted or wrong) or any(row.verdict == "OVER" for row in judged)
    return {part: [as_json(row) for row in found] for part, found in report.items()}, over


def _warm(function: Captured, repetitions: int) -> tuple[Row, bool, bool]:
    """The time of a call beside Numba's; whether it was compiled, and whether both give the same."""
    session = Session()
    mine = function.on(session)
    theirs = compiled(function)
    given = arguments(function, 1)
    expected, found = theirs(*copy.deepcopy(given)), mine(*given)
    equal = all(
        np.allclose(a, b, rtol=1e-9, atol=1e-12)
        for a, b in zip(_several(found), _several(expected), strict=True)
    )  # fmt: skip
    _settle(session, mine, given)
    actions: dict[str, Callable[[], object]] = {"sacpy": lambda: mine(*given), "numba": lambda: theirs(*given)}
    timings = in_turns(actions, repetitions, AT_LEAST)
    ratios = [a / b for a, b in zip(timings["sacpy"].seconds, timings["numba"].seconds)]
    best, other = min(timings["sacpy"].seconds), min(timings["numba"].seconds)
    value, note = best / other, f"{best * 1e3:.3f} ms, {other * 1e3:.3f} ms"
    row = Row(function.__name__, value, "x", min(ratios), max(ratios), note=note)
    return row, _is_native(session, mine), equal


def _settle(session: Session, function: Captured, given: tuple[Any, ...]) -> None:
    """Calls a function until it is compiled, and some more."""
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < 1.0 or (passed < SETTLED and not _is_native(session, function)):
        function(*given)


def _is_native(session: Session, function: Captured) -> bool:
    """Whether there is native code for it."""
    return any(row.function == function.sac_name and row.where == "native" for row in session.stats().rows)


def _first(function: Captured, repetitions: int) -> Row:
    """The first call in a fresh process."""
    taken: dict[str, list[float]] = {"sacpy": [], "numba": []}
    for _ in range(repetitions):
        for who, seconds in taken.items():
            with tempfile.TemporaryDirectory() as cache:
                path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
                place = {"SACPY_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": path}
                command = [sys.executable, "-m", "benchmarks.capture.first", function.__name__, who]
                environment = {**os.environ, **place}
                done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
                seconds.append(float(done.stdout))
    ratios = [a / b for a, b in zip(taken["sacpy"], taken["numba"])]
    mine, theirs = min(taken["sacpy"]), min(taken["numba"])
    return Row(function.__name__, mine / theirs, "x", min(ratios), max(ratios), note=f"{mine:.2f} s, {theirs:.2f} s")


def _mean(name: str, rows: Sequence[Row], limit: float) -> Row:
    values = [math.exp(sum(math.log(v) for v in some) / len(some))
              for some in ([r.value for r in rows], [r.low for r in rows], [r.high for r in rows])]  # fmt: skip
    return Row(f"{name}, geometric mean", values[0], "x", values[1], values[2], limit)


def _overhead(repetitions: int) -> Row:
    """A call on an 8 x 8 array."""
    function = next(f for f in CASES if f.__name__ == "blur")
    session = Session()
    mine, theirs = function.on(session), compiled(function)
    image = np.ones((8, 8))
    _settle(session, mine, (image,))
    theirs(image)
    timings = in_turns({"sacpy": lambda: mine(image), "numba": lambda: theirs(image)}, repetitions, AT_LEAST)
    ratios = [a / b for a, b in zip(timings["sacpy"].seconds, timings["numba"].seconds)]
    best, other = min(timings["sacpy"].seconds), min(timings["numba"].seconds)
    value, note = best / other, f"{best * 1e6:.1f} us, {other * 1e6:.1f} us"
    return Row("a call on 8 x 8", value, "x", min(ratios), max(ratios), OVERHEAD, note)


def _several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)
