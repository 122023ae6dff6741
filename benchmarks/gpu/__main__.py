"""`python -m benchmarks.gpu`: checks and measures sacpy on the GPU of this machine, with whatever peers are installed.

Results of all functions are compared with the interpreter's first. Then each case is measured, sacpy's time beside that
of CuPy, Numba-CUDA, JAX, PyTorch, Triton and CUDA C++ where they are there, and beside the device's own copy; last,
compute-sanitizer watches a program. What goes wrong in one step costs that step, and is told. Lines go to standard
output, all numbers to `gpu.json` in the folder that `$OUT` names, anew after each step.

The status is 0, without a GPU too; it is 1 where a check fails, a step of sacpy's own goes wrong, or the sanitizer
finds something.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

from benchmarks.gpu import runner, sanitizer
from benchmarks.gpu.measure import PEERS
from benchmarks.gpu.steps import Settings, names

Report = dict[str, Any]
# steps whose results must be those of the interpreter
AGREEING = ("checks", "with-loops", "programs", "corpus", "random")


def main(argv: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    parser.add_argument("--quick", action="store_true", help="the smallest size of each case only")
    parser.add_argument(
        "--emulator",
        action="store_true",
        help="everything on the emulator, with tiny sizes and without peers: tries the measuring itself",
    )
    parser.add_argument(
        "--rehearse",
        action="store_true",
        help="the same with the stand-in for a GPU: the interpreter of PTX behind what sacpy asks of the driver",
    )
    parser.add_argument(
        "--only", metavar="TEXT", action="append", help="the steps whose names contain this; may be given several times"
    )
    parser.add_argument("--peers", default=",".join(PEERS), help="which peers are asked, with commas between them")
    parser.add_argument(
        "--seconds", type=float, default=540.0, help="how long all of it may take; what is left then is left out"
    )
    parser.add_argument("--step", type=float, default=90.0, help="how long one step may take")
    options = parser.parse_args(argv)
    tiny = options.emulator or options.rehearse
    peers = () if tiny else tuple(p for p in options.peers.split(",") if p)
    settings = Settings(options.emulator, options.quick, peers, options.rehearse)
    watching = () if tiny else tuple(f"sanitizer {tool}" for tool in sanitizer.TOOLS)
    chosen = [
        name for name in [*names(settings), *watching] if not options.only or any(text in name for text in options.only)
    ]
    if find_spec("platformdirs") is None:  # what is compiled in one process is found in the next all the same
        os.environ.setdefault("SACPY_CACHE_DIR", tempfile.mkdtemp(prefix="sacpy-"))
    report: Report = {"steps": {}}
    began = monotonic()

    def heard(name: str, found: Report) -> None:
        if name == runner.OPENING:
            report.update(found)
        else:
            report["steps"][name] = found | {"at": round(monotonic() - began, 1)}
        report["seconds"] = round(monotonic() - began, 1)
        _write(report)
        print(line(name, found, report), flush=True)

    # for the sanitizer
    reserve = min(options.seconds / 4, 30.0 * sum(name in watching for name in chosen))
    runner.run(
        [n for n in chosen if n not in watching],
        runner.started(settings),
        heard,
        each=options.step,
        whole=options.seconds - reserve,
    )
    if "error" in report:
        return 0
    for name in (n for n in chosen if n in watching):
        rest = options.seconds - (monotonic() - began)
        heard(
            name,
            sanitizer.watched(name.removeprefix("sanitizer "), min(options.step, rest))
            if rest > 5
            else {"left out": f"{options.seconds:.0f} s were over"},
        )
    wrong = problems(report)
    report["wrong"] = wrong
    _write(report)
    print(f"{len(report['steps'])} steps, {len(wrong)} wrong" + "".join(f"\n  {w}" for w in wrong))
    return int(bool(wrong))


def problems(report: Report) -> list[str]:
    """What is wrong with sacpy. A peer that fails is none of it."""
    found = []
    for name, step in report["steps"].items():
        if name.startswith("peer"):
            continue
        if "error" in step:
            found.append(f"{name}: {step['error']}")
        if name.startswith(AGREEING):
            found += [
                f"{name.partition(',')[0]}: {check}: {problem}"
                for check, problem in step.items()
                if isinstance(problem, str) and problem and check not in ("error", "trace", "left out")
            ]
        if step.get("found"):
            found.append(f"{name}: {step['found']}")
    return found


def line(name: str, found: Report, report: Report) -> str:
    """A step in one line."""
    if name == runner.OPENING:
        return f"{found['device']}, {found['limits']}" if "device" in found else f"nothing to measure: {found['error']}"
    if "error" in found or "left out" in found:
        return f"{name:34} {found.get('error') or 'left out: ' + found['left out']}"
    if name.startswith(AGREEING):
        wrong = {check: problem for check, problem in found.items() if problem}
        return f"{name:34} {len(found)} run, {len(wrong)} wrong" + "".join(
            f"\n  {check}: {problem}" for check, problem in wrong.items()
        )
    if name.startswith("kernel"):
        own, alone, other = found["sacpy"], found["launches alone"], found["by hand"]
        beside = f"{other / alone:.2f}x" if isinstance(other, float) else other[:200]
        return (
            f"{name:34} sacpy {own * 1e6:9.1f} us, its launches {alone * 1e6:9.1f} us, {found['rate'] / 1e9:.0f} "
            f"G{found['unit']}/s, by hand {beside}"
        )
    if name.startswith("case"):
        own = found["sacpy"]
        parts = [f"{name:34} sacpy {own * 1e6:9.1f} us"]
        if "bytes per second" in found:
            parts.append(f"{found['bytes per second'] / 1e9:.0f} GB/s{_of_copy(found['bytes per second'], report)}")
        parts += [
            f"{peer} {found[peer] / own:.2f}x" if isinstance(found[peer], float) else f"{peer} {found[peer][:80]}"
            for peer in PEERS
            if peer in found
        ]
        return ", ".join(parts)
    if name.startswith("mappings"):
        return "\n".join(
            f"{name} {density:>6}  "
            + ", ".join(f"{way} {v if isinstance(v, str) else f'{v * 1e6:.1f} us'}" for way, v in row.items())
            for density, row in found.items()
        )
    return f"{name:34} " + ", ".join(
        f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {str(v)[-300:]}" for k, v in found.items()
    )


def _of_copy(speed: float, report: Report) -> str:
    copies = [v for k, v in report["steps"].get("copy", {}).items() if k.isdigit()]
    return f" ({100 * speed / max(copies):.0f} % of a copy)" if copies else ""


def _write(report: Report) -> None:
    folder = os.environ.get("OUT")
    if folder:
        target = Path(folder, "gpu.json")
        part = target.with_suffix(".part")
        part.write_text(json.dumps(report, indent=1, default=str), encoding="utf-8")
        part.replace(target)


if __name__ == "__main__":
    sys.exit(main())
