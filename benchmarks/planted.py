"""Whether `sacpy bench` finds a slowdown of five percent, and finds nothing where there is nothing.

For each way to run, a program is kept with `--save`; then the same program, and one with five percent more work, are
measured `--against` it, ten times each. Rows say how often it said what. The load of the machine stands beside them:
with other programs at work it may say that it cannot tell, but never that something is slower that is not.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from sacpy import cli

TEXT = """use Array: all;
int counted(int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 3 + i) % 1000003; } return s; }
double blurred(int n) { v = tod(iota(n)); for (i = 0; i < 20; i++) {
  v = { [j] -> (v[j - 1] + v[j] + v[j + 1]) / 3.0 | [1] <= [j] < [n - 1]; [j] -> v[j] | [j] < [n] }; } return sum(v); }
"""
WAYS: dict[str, tuple[str, int, list[str]]] = {
    "interpreted loop": ("counted", 20_000, ["--target", "interp"]),
    "native loop": ("counted", 200_000, ["--target", "cpu", "--threads", "1"]),
    "native with-loops": ("blurred", 20_000, ["--target", "cpu", "--threads", "1"]),
    "with-loops on all cores": ("blurred", 400_000, ["--target", "cpu"]),
}
"""A function, its size, and options."""
RUNS = 10
MORE = 1.05


def show(only: Any, seconds: float) -> tuple[dict[str, Any], bool]:
    """Prints a table. Whether it cried wolf, or missed a slowdown though it could tell."""
    print(f"\nplanted slowdowns of {MORE - 1:.0%}, {RUNS} runs each, load {os.getloadavg()[0]:.1f}", flush=True)
    found: dict[str, Any] = {}
    wrong = False
    for name, (function, size, options) in WAYS.items():
        if only and name not in only:
            continue
        same, slower, ratios = _way(function, size, options, seconds)
        found[name] = {"same": same, "slower": slower, "ratios": ratios, "load": os.getloadavg()[0]}
        wrong |= same["slower"] > 0 or slower["same"] + slower["faster"] > 0
        between = f", {min(ratios) - 1:+.1%} to {max(ratios) - 1:+.1%}" if ratios else ""
        print(
            f"{name:24} nothing planted: {_said(same)}; planted: {_said(slower)}{between}; "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return found, wrong


def _way(
    function: str, size: int, options: list[str], seconds: float
) -> tuple[Counter[str], Counter[str], list[float]]:
    """What was said of the same program, what of the slower one, and its ratios."""
    with tempfile.TemporaryDirectory() as folder:
        base, file = Path(folder) / "base.json", Path(folder) / "p.sac"
        words = [str(file), "bench_it()", *options, "--time", str(seconds)]
        file.write_text(_program(function, size))
        _bench([*words, "--save", str(base)])
        same = Counter(_bench([*words, "--against", str(base)])["verdict"] for _ in range(RUNS))
        file.write_text(_program(function, round(size * MORE)))
        verdicts = [_bench([*words, "--against", str(base)]) for _ in range(RUNS)]
    return same, Counter(v["verdict"] for v in verdicts), [v["ratio"] for v in verdicts if v["pairs"]]


def _program(function: str, size: int) -> str:
    result = "int" if function == "counted" else "double"
    return f"{TEXT}{result} bench_it() {{ return {function}({size}); }}\n"


def _bench(words: list[str]) -> dict[str, Any]:
    """The comparison that a run of the command comes to; nothing where it compares with nothing."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        cli.main(["bench", *words, "--json"])
    against = json.loads(out.getvalue())["against"]
    return against[0] if against else {}


def _said(words: Counter[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(words.items()))


__all__ = ["show"]
