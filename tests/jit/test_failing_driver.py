"""A driver that fails at its n-th call, for every n: what comes of it is the right result or an error in words, never
a wrong result or a traceback; the session goes on, and no memory is lost."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sacpy.jit.device.machine import DeviceFailure
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from tests.jit.fake_cuda import CUDAError, FakeCuda
from tests.jit.test_cuda_machine import GpuSession

SOURCE = """
use Array: all;
double[n] heat(double[n] v, int rounds)
{
  for (r = 0; r < rounds; r++) {
    v = { [i] -> (v[i - 1] + v[i + 1]) / 2.0 | [1] <= [i] < [n - 1]; [i] -> v[i] | [i] < [n] };
  }
  return v;
}
double spread(double[n] v) { return maxval(v) - minval(v) + sum(v); }
int[.] at(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }
double[m] own(double[n] v, int m, int k)
{
  return { [i] -> sum({ [j] -> v[(i * 7 + j) % n] * tod(j) | [j] < [k] }) | [i] < [m] };
}
"""
ARRAY = np.linspace(0, 1, 300_000)  # large enough to go through pinned memory
INTS = np.arange(1000, dtype=np.int32)
CALLS: dict[str, tuple[Any, ...]] = {
    "heat": (ARRAY, 3),
    "spread": (ARRAY[:5000],),
    "at": (INTS, INTS[::-1].copy()),
    "own": (ARRAY[:100], 40, 9),
}

DEAR = {"heat", "own"}  # of the same kind as others


class Failing(list[tuple[Any, ...]]):
    """The calls that a driver was asked for, which fails at number `at` from now on, once or, `lasting`, ever after."""

    def __init__(self) -> None:
        super().__init__()
        self.at, self.lasting, self.words = -1, False, ""

    def append(self, call: tuple[Any, ...]) -> None:
        super().append(call)
        if self.at == 0:
            self.at = 0 if self.lasting else -1
            raise CUDAError(self.words)
        self.at -= self.at > 0


def agree(found: Any, wanted: Any) -> bool:
    return bool(np.allclose(found, wanted, rtol=1e-12))


def outcomes(gpu: GpuSession, module: Any, name: str, words: str, lasting: bool) -> Iterator[tuple[int, Any]]:
    """What comes of a call, when the driver fails at its n-th call, for every n there is."""
    calls = gpu.fake.calls
    assert isinstance(calls, Failing)
    for n in range(1000):
        calls.at, calls.lasting, calls.words = n, lasting, words
        found: Any
        try:
            found = module[name](*CALLS[name])
        except SacError as error:
            found = error
        reached = calls.at == (0 if lasting else -1)
        calls.at = -1
        yield n, found
        if not reached:
            return
    raise AssertionError("it never ends")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("words", "lasting"),
    [
        ("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure", False),
        ("CUDA_ERROR_OUT_OF_MEMORY: out of memory", False),
        ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", True),
    ],
)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in DEAR)) for name in CALLS])
def test_whichever_call_fails_a_result_is_right_or_an_error_is_said(name: str, words: str, lasting: bool) -> None:
    fake = FakeCuda()
    fake.calls = Failing()
    gpu = GpuSession(fake)
    module = gpu.session.define(SOURCE)
    wanted = Session(target="interp").define(SOURCE)[name](*CALLS[name])
    assert agree(module[name](*CALLS[name]), wanted)
    failed = 0
    for _, found in outcomes(gpu, module, name, words, lasting):
        if isinstance(found, SacError):
            failed += 1
            assert [d.code for d in found.diagnostics] == ["E0784"], found
            assert words.partition(":")[0] in str(found) or "OUT_OF_MEMORY" in words
        else:
            assert agree(found, wanted)
        assert agree(module[name](*CALLS[name]), wanted)  # it goes on
    assert failed or "OUT_OF_MEMORY" in words
    del found
    gc.collect()
    assert gpu.hardware.memory.used == 0


def test_an_array_whose_transfer_failed_is_sent_again() -> None:
    fake = FakeCuda()
    fake.calls = calls = Failing()
    gpu = GpuSession(fake)
    module = gpu.session.define(SOURCE)
    v = gpu.hardware.memory.of(ARRAY[:5000], "double")
    wanted = Session(target="interp").define(SOURCE).spread(ARRAY[:5000])
    for n in range(4):  # allocation, copy, and what waits for it
        calls.at, calls.words = n, "CUDA_ERROR_UNKNOWN: unknown error"
        with pytest.raises(SacError, match="E0784"):
            module.spread(v)
        assert agree(module.spread(v), wanted)
        v = gpu.hardware.memory.of(ARRAY[:5000], "double")


def test_blocks_that_are_given_back_are_given_back_once() -> None:
    fake = FakeCuda()
    fake.calls = calls = Failing()
    memory = GpuSession(fake).hardware.memory
    arrays = [memory.new("double", (1000,)) for _ in range(5)]
    del arrays
    assert (memory.used, memory.pooled) == (0, 5 * 8192)
    calls.at, calls.words = 2, "CUDA_ERROR_UNKNOWN: unknown error"
    with pytest.raises(DeviceFailure):
        memory.trim()
    memory.trim()
    assert memory.pooled == 0 and len(fake.asked("free")) == 5
