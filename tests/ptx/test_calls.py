"""What stands between a call from Python and a launch: by counts, since times are for benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.embedding.device_calls import DeviceGate
from sacpy.lang.diagnostics import SacError
from tests.ptx.comparing import HEAD
from tests.ptx.driver import PtxCuda
from tests.ptx.lending import Lent
from tests.ptx.sessions import session
from tests.tools import through

SOURCE = (
    f"{HEAD}double[n] scaled(double[n] v, double k) {{ return {{ [i] -> v[i] * k | [i] < [n] }}; }}\n"
    "double total(double[n] a) { return with { ([0] <= [i] < [n]) : a[i]; } : fold(+, 0.0); }\n"
    "double[n] mean(double[n] a, double[n] b) { return { [i] -> (a[i] + b[i]) / 2.0 | [i] < [n] }; }\n"
)
CALLS = 64  # functions of sacpy that a call may go through before it comes to the driver, and after


def placed(gpu: PtxCuda, module: Any, values: Any) -> Any:
    """An array on the GPU."""
    return module.scaled(Lent(gpu, values), 1.0)


def test_a_call_with_arrays_on_the_gpu_goes_through_few_functions() -> None:
    gpu = PtxCuda("sm_90", races=False)
    module = session(gpu).compile(SOURCE)
    x = placed(gpu, module, np.arange(300.0))
    y = module.scaled(x, 2.0)
    for call in (lambda: module.scaled(x, 3.0), lambda: module.mean(x, y)):
        wanted = [np.asarray(call()) for _ in range(3)]
        assert through(call) <= CALLS
        assert np.array_equal(wanted[0], wanted[2])


def test_calls_whose_extents_are_compared_go_straight_there_and_what_fails_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = PtxCuda("sm_90", races=False)
    module = session(gpu).compile(SOURCE)
    x = placed(gpu, module, np.arange(300.0))
    taken: list[Any] = []
    straight = DeviceGate.gate

    def noted(self: DeviceGate, *args: Any) -> Any:
        taken.append(straight(self, *args))
        return taken[-1]

    monkeypatch.setattr(DeviceGate, "gate", noted)
    for _ in range(3):
        assert np.array_equal(np.asarray(module.mean(x, x)), np.arange(300.0))
    assert len(taken) >= 1 and np.array_equal(np.asarray(taken[-1]), np.arange(300.0))
    with pytest.raises(SacError):
        module.mean(x, module.scaled(placed(gpu, module, np.arange(200.0)), 1.0))


def test_a_number_that_comes_back_costs_a_copy_of_its_bytes_and_one_wait() -> None:
    gpu = PtxCuda("sm_90", races=False)
    module = session(gpu).compile(SOURCE)
    x = placed(gpu, module, np.arange(90000.0))
    assert [module.total(x) for _ in range(3)] == [90000.0 * 89999 / 2] * 3
    before = len(gpu.calls)
    module.total(x)
    asked = gpu.calls[before:]
    assert [c[0] for c in asked] == ["launch", "copy", "sync"] and asked[1][3] == 8


def test_a_kernel_for_arrays_that_begin_anywhere_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = PtxCuda("sm_90", races=False)
    module = session(gpu).compile(SOURCE)
    values = np.arange(300.0)
    for _ in range(2):
        module.scaled(Lent(gpu, values, 8), 2.0)

    def never(*_: Any) -> None:
        raise AssertionError("the kernel was printed again")

    monkeypatch.setattr("sacpy.jit.device.cuda.print_kernel", never)
    assert np.array_equal(np.asarray(module.scaled(Lent(gpu, values, 8), 2.0)), 2 * values)
