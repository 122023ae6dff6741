"""What must agree with the interpreter before anything is measured.

In: a device ("cuda", "emulator"). Out: for each check a line, and whether it holds. All with-loops run there, however
small, and a check whose with-loops did not is none. The same checks run on the emulator in the tests, so that on a GPU
they try the GPU, and not themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.gpu.cases import CASES, HEAD
from sacpy import SacError, Session
from sacpy.jit.device.context import Device
from sacpy.jit.device.weigh import Policy
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.on_demand import OnDemand


@dataclass(frozen=True)
class Checked:
    """One check; `problem`: what is wrong, "" if nothing is."""

    name: str
    problem: str


EXTRA: dict[str, tuple[str, str, Callable[[], tuple[Any, ...]]]] = {
    "empty": ("twice", "double[n] twice(double[n] v) { return { [i] -> v[i] * 2.0 | [i] < [n] }; }",
        lambda: (np.zeros(0),)),
    "one element": ("twice", "double[n] twice(double[n] v) { return { [i] -> v[i] * 2.0 | [i] < [n] }; }",
        lambda: (np.ones(1),)),
    "wrap-around": ("wrap", "int[n] wrap(int[n] v) { return { [i] -> v[i] * 65537 + i | [i] < [n] }; }",
        lambda: (np.arange(70_000, dtype=np.int32),)),
    "bytes": ("bytes", "byte[n] bytes(byte[n] v) { return { [i] -> v[i] + v[n - 1 - i] | [i] < [n] }; }",
        lambda: (np.arange(-100, 100, dtype=np.int8),)),
    "truth": ("truth", "bool[n] truth(bool[n] v) { return { [i] -> v[i] && !v[n - 1 - i] | [i] < [n] }; }",
        lambda: (np.arange(1000) % 3 == 0,)),
    "NaN and infinity": ("odd", "double[n] odd(double[n] v) { return { [i] -> min(v[i], v[n - 1 - i]) + sqrt(v[i]) | "
        "[i] < [n] }; }", lambda: (np.array([np.nan, np.inf, -1.0, 0.0, -0.0, 4.0] * 50),)),
    "steps and widths": ("grid", "int[.] grid(int n) { return with { ([1] <= [i] < [n - 1] step [5] width [2]) : i; } "
        ": genarray([n], -1); }", lambda: (100_001,)),
    "modarray": ("inner", "double[n] inner(double[n] v) { return with { ([1] <= [i] < [n - 1]) : v[i] + v[i + 1]; } : "
        "modarray(v); }", lambda: (np.arange(5000.0),)),
    "steps in time": ("heat", "double[n] heat(double[n] v) { for (k = 0; k < 20; k++) { v = { [i] -> (v[i - 1] + v[i "
        "+ 1]) * 0.5 | [1] <= [i] < [n - 1]; [i] -> v[i] | [i] < [n] }; } return v; }",
        lambda: (np.arange(3000.0) % 17,)),
    "maximum": ("top", "int top(int[n] v) { return maxval(v); }",
        lambda: (np.random.default_rng(3).integers(-(10**9), 10**9, 100_003, dtype=np.int32),)),
}  # fmt: skip


def engine_there(target: str, **options: Any) -> Engine:
    """An engine that compiles functions at their first call, with all with-loops on the device. Raises `SacError` where
    there is none."""
    engine = Engine(target, eager=True, **options)
    device = engine.device
    assert device is not None
    engine.tools.device = Device(device.hardware, Policy(always=True))
    return engine


def always_there(target: str) -> OnDemand:
    """Such an engine, as a workspace wants it."""
    on_demand = OnDemand(target)
    on_demand._engine = engine_there(target)
    return on_demand


def on(target: str) -> Session:
    """A session with such an engine."""
    session = Session(target=target)
    session._workspace.use(always_there(target))
    return session


def checks(session: Session, tolerance: float = 1e-5) -> Iterator[Checked]:
    """Runs all of them in a session made by `on`. Floating-point numbers agree within `tolerance`, relative: sums have
    another order, and functions another library."""
    plain = Session(target="interp")
    kept = []  # what has gone is no longer counted
    named = {case.name: (case.function, case.source, lambda case=case: case.arguments(case.small)) for case in CASES}
    for name, (function, source, arguments) in {**named, **EXTRA}.items():
        values = arguments()
        before = runs(session)
        try:
            kept.append(session.compile(HEAD + source))
            wanted, found = plain.compile(HEAD + source)[function](*values), kept[-1][function](*values)
        except Exception as error:
            yield Checked(name, f"{type(error).__name__}: {error}")
            continue
        ran = runs(session) > before or (np.ndim(wanted) > 0 and np.size(wanted) <= 1)  # those are unrolled
        yield Checked(name, _difference(wanted, found, tolerance) if ran else "nothing of it ran on the device")
    yield Checked("index out of range", _out_of_range(session))


def _out_of_range(session: Session) -> str:
    """A check that fails in a kernel is found, and the next run is not disturbed by it."""
    at = session.compile(HEAD + "int[.] at(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }")["at"]
    v, good = np.arange(1000, dtype=np.int32), np.full(5000, 7, np.int32)
    bad = good.copy()
    bad[4000] = 1000
    try:
        at(v, bad)
    except SacError as error:
        return (
            ""
            if "E0601" in str(error) and (at(v, good) == 7).all()
            else f"another error, or a wrong result after it: {error}"
        )
    return "no error"


def runs(session: Session) -> int:
    """How often with-loops of a session have run on its device."""
    engine = session._workspace.engine
    versions = (
        [v for site in engine.engine.entered() for v in site.versions.values()]
        if engine is not None and engine.engine is not None
        else []
    )
    return sum(placed.device for v in versions if v.device is not None for placed in v.device.runtime.placed)


def _difference(wanted: Any, found: Any, tolerance: float) -> str:
    a, b = np.asarray(wanted), np.asarray(found)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    same = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True) if a.dtype.kind == "f" else a == b
    return (
        ""
        if same.all()
        else f"{int((~same).sum())} of {a.size} elements differ, the first at "
        f"{np.argwhere(~np.atleast_1d(same))[0].tolist()}"
    )
