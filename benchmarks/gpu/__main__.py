"""`python -m benchmarks.gpu [--quick] [--emulator]`: checks and measures sacpy on the GPU of this machine, with whatever peers are installed.

Results of all functions are compared with the interpreter's first. Then each case is measured, sacpy's time beside that of CuPy, Numba-CUDA, JAX and PyTorch where they are there, and beside the device's own copy. Tables go to standard output, all numbers to `gpu.json` in the folder that `$OUT` names. Without a GPU it says so, and the status is 0; it is 1 where a check fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.gpu import mappings
from benchmarks.gpu.cases import CASES, HEAD, Case, vector
from benchmarks.gpu.checks import checks, on
from benchmarks.gpu.measure import PEERS, fetched, peer, placed, seconds, waiter


def main(argv: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu")
    parser.add_argument("--quick", action="store_true", help="the smallest size of each case only")
    parser.add_argument("--emulator", action="store_true", help="the checks on the emulator; nothing is measured")
    options = parser.parse_args(argv)
    if find_spec("platformdirs") is None:
        os.environ.setdefault("SACPY_CACHE_DIR", tempfile.mkdtemp(prefix="sacpy-"))
    from sacpy import SacError, Session
    from sacpy.jit.device.context import real
    from sacpy.jit.device.machine import DeviceFailure

    if options.emulator:
        return _checked("emulator", {})
    try:
        hardware = real()
    except DeviceFailure as failure:
        print(f"nothing to measure: {failure.reason}")
        return 0
    report: dict[str, Any] = {"device": hardware.machine.name, "limits": str(hardware.machine.limits), "python": platform.python_version()}
    print(f"{hardware.machine.name}, {hardware.machine.limits.name}, {hardware.machine.limits.processors} multiprocessors")
    status = _checked("cuda", report)
    session = Session(target="cuda")
    report["copy"] = _copy(hardware, 1 << 22 if options.quick else 1 << 28)
    print(f"copy on the device: {report['copy'] / 1e9:.0f} GB/s")
    report["launch"] = _launch(session, hardware)
    print(f"a call with one launch: {report['launch'] * 1e6:.1f} us")
    modules, report["peers"] = _peers()
    report["cases"] = []
    for case in CASES:
        for size in case.sizes[:1] if options.quick else case.sizes:
            try:
                row = _measured(case, size, session, hardware, modules, report["copy"])
            except (SacError, DeviceFailure, MemoryError) as error:
                row, status = {"case": case.name, "size": size, "error": str(error)}, 1
            report["cases"].append(row)
            print(_line(row), flush=True)
    report["mappings"] = list(mappings.compared(session, hardware.memory.of(vector(1 << 20 if options.quick else 1 << 26), "float")))
    for row in report["mappings"]:
        print(", ".join(f"{k} {v if isinstance(v, str) else f'{v * 1e6:.1f} us'}" for k, v in row.items()))
    _write(report)
    return status


def _checked(target: str, report: dict[str, Any]) -> int:
    found = list(checks(on(target)))
    report["checks"] = {c.name: c.problem for c in found}
    for c in found:
        if c.problem:
            print(f"WRONG {c.name}: {c.problem}")
    wrong = sum(bool(c.problem) for c in found)
    print(f"{len(found)} checks, {wrong} wrong")
    return int(wrong > 0)


def _copy(hardware: Any, elements: int) -> float:
    """The bytes per second, read and written, of a copy on the device."""
    memory = hardware.memory
    a, b = memory.new("float", (elements,)), memory.new("float", (elements,))
    machine = hardware.machine
    taken = seconds(lambda: machine.copy(b.address(), a.address(), a.nbytes), machine.synchronise)
    return 2 * a.nbytes / taken


def _launch(session: Any, hardware: Any) -> float:
    """Seconds of a call whose work is nothing."""
    twice = session.compile(HEAD + "float[n] twice(float[n] v) { return { [i] -> v[i] * 2.0f | [i] < [n] }; }")["twice"]
    v = hardware.memory.of(vector(32), "float")
    return seconds(lambda: twice(v), hardware.machine.synchronise)


def _peers() -> tuple[dict[str, Any], dict[str, str]]:
    modules, said = {}, {}
    for name in PEERS:
        try:
            modules[name] = peer(name)
            said[name] = str(getattr(sys.modules[name], "__version__", ""))
        except Exception as error:  # a peer may fail in any way; it is left out then
            said[name] = f"left out: {type(error).__name__}: {error}"
            print(f"{name} {said[name]}")
    return modules, said


def _measured(case: Case, size: int, session: Any, hardware: Any, modules: dict[str, Any], copy: float) -> dict[str, Any]:
    import numpy as np

    from sacpy.jit.device.interop import take

    values = case.arguments(size)
    function = session.compile(HEAD + case.source)[case.function]
    own = tuple(take(hardware.memory, v) if isinstance(v, np.ndarray) else v for v in values)
    row: dict[str, Any] = {"case": case.name, "size": size, "sacpy": seconds(lambda: function(*own), hardware.machine.synchronise)}
    wanted = np.asarray(function(*own))
    if case.traffic is not None:
        row["of copy"] = case.traffic(size) / row["sacpy"] / copy
    for name, module in modules.items():
        if name in case.peers:
            row[name] = _of_peer(name, module, case.peers[name], values, wanted)
    return row


def _of_peer(name: str, module: Any, make: Callable[[Any], Callable[..., Any]], values: tuple[Any, ...], wanted: Any) -> float | str:
    import numpy as np

    try:
        function, given = make(module), placed(name, module, values)
        found = np.asarray(fetched(name, function(*given)))
        if not np.allclose(found, wanted, rtol=1e-3, atol=1e-3, equal_nan=True):
            return "another result"
        return seconds(lambda: function(*given), waiter(name, module, lambda: function(*given)))
    except Exception as error:  # a peer may fail in any way; it is left out then
        return f"{type(error).__name__}: {error}"[:200]


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['case']:14} {row['size']:>10}  {row['error']}"
    own = row["sacpy"]
    parts = [f"{row['case']:14} {row['size']:>10}  sacpy {own * 1e6:9.1f} us"]
    if "of copy" in row:
        parts.append(f"{100 * row['of copy']:.0f} % of a copy")
    parts += [f"{name} {row[name] / own:.2f}x" if isinstance(row[name], float) else f"{name}: {row[name]}" for name in PEERS if name in row]
    return ", ".join(parts)


def _write(report: dict[str, Any]) -> None:
    folder = os.environ.get("OUT")
    if folder:
        Path(folder, "gpu.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
