"""The checks and cases of `make gpu`, on the emulator: on a GPU they try the GPU, and not themselves."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gpu import mappings
from benchmarks.gpu.cases import CASES, HEAD
from benchmarks.gpu.checks import EXTRA, checks, on
from sacpy import Session, to_device


def test_checks_hold_on_the_emulator() -> None:
    found = list(checks(on("emulator"), 1e-4))
    assert len(found) == len(CASES) + len(EXTRA) + 1
    assert [c for c in found if c.problem] == []


def test_a_wrong_result_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.gpu.checks.np.isclose", lambda a, b, **_: np.zeros(np.shape(a), bool))
    problems = [c.problem for c in checks(on("emulator")) if c.problem]
    assert any("elements differ, the first at" in p for p in problems)


def test_what_did_not_run_on_the_device_is_reported() -> None:
    found = {c.name: c.problem for c in checks(Session(target="interp"))}
    assert found["bytes"] == found["sum"] == "nothing of it ran on the device"


def test_mappings_are_compared() -> None:
    session = Session(target="emulator")
    a = np.linspace(0, 4, 1000, dtype=np.float32)
    for width in mappings.DENSITIES:
        module = session.compile(mappings.source(width))
        results = [module[way](a) for way in ("compressgrid", "prunegrid", "masking")]
        assert all((r == results[0]).all() for r in results)
        assert not (results[0] == a).all()


def test_cases_compile_and_run_where_arrays_stay() -> None:
    session = Session(target="emulator")
    for case in CASES:
        values = [to_device(v, "emulator") for v in case.arguments(case.small)]
        session.compile(HEAD + case.source)[case.function](*values)
