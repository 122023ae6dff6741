"""Arrays of other libraries on the device, and ours for them, without a copy.

In: objects with `__cuda_array_interface__` or `__dlpack__` (CuPy, PyTorch, JAX, Numba, NumPy), or plain NumPy arrays.
Out: `DeviceArray`s; and for the methods of `DeviceArray` that other libraries call, what they expect. Where streams
differ, the one that takes waits for the one that gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sacpy.interp.values import DTYPES
from sacpy.jit.device.dlpack import CUDA_MANAGED, Tensor, from_capsule, is_dense
from sacpy.jit.device.machine import Block, DeviceFailure
from sacpy.jit.device.memory import DeviceArray, Memory

_BASES = {dtype: base for base, dtype in reversed(DTYPES.items()) if base not in ("char", "longlong", "ulonglong")}


def base_of(dtype: np.dtype[Any]) -> str:
    """The base type of elements of a dtype. Raises `TypeError` where SaC has none."""
    found = _BASES.get(dtype.newbyteorder("="))
    if found is None:
        raise TypeError(f"SaC has no base type for elements of {dtype.name}")
    return found


def is_foreign(value: Any) -> bool:
    """Whether a value is an array of some other library that lies on a GPU."""
    if type(value) is np.ndarray:
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and device()[0] in (2, CUDA_MANAGED)


def take(memory: Memory, value: Any) -> DeviceArray:
    """A value as an array of this memory. What lies on the same device already is taken as it is; a NumPy array is sent
    when somebody needs it. Raises `TypeError` for what is no array, `ValueError` for one that is not dense."""
    if isinstance(value, DeviceArray):
        return value if value.memory is memory else memory.of(value.host(), value.base)
    if type(value) is not np.ndarray:
        found = _described(memory, value)
        if found is not None:
            return adopted(memory, found)
        value = np.asarray(value)
    if not value.ndim:
        raise TypeError("a scalar is no array: pass it as it is")
    return memory.of(np.ascontiguousarray(value), base_of(value.dtype))


def adopted(memory: Memory, t: Tensor) -> DeviceArray:
    """Memory of somebody else as an array."""
    if not is_dense(t.shape, t.strides):
        raise ValueError(
            f"its elements do not lie in row-major order: strides {list(t.strides or ())} for shape {list(t.shape)}; "
            "copy it first (ascontiguousarray, contiguous)"
        )
    if not t.shape:
        raise TypeError("a scalar on the device: fetch it first (.item())")
    base = base_of(t.dtype)
    return memory.adopt(
        Block(t.address, int(np.prod(t.shape, dtype=np.int64)) * t.dtype.itemsize, t.owner), base, t.shape, t.stream
    )


def _described(memory: Memory, value: Any) -> Tensor | None:
    """Where another library's array lies, if it is on this memory's device."""
    kind, number = memory.machine.interface
    told = getattr(value, "__cuda_array_interface__", None) if kind == 2 else None
    if told is not None and (told.get("stream") is not None or not hasattr(value, "__dlpack__")):
        return _from_interface(memory, value, told)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        there = tuple(value.__dlpack_device__())
        if there == (kind, number) or (kind == 2 and there[0] == CUDA_MANAGED):
            return from_capsule(value.__dlpack__(stream=memory.machine.stream) if kind == 2 else value.__dlpack__())
    return None


def _from_interface(memory: Memory, value: Any, told: dict[str, Any]) -> Tensor:
    if told.get("mask") is not None:
        raise ValueError("an array with a mask has values that are not there")
    dtype = np.dtype(told["typestr"])
    strides = told.get("strides")
    stream = told.get("stream")
    if stream is not None:
        memory.machine.wait_for(stream)
    elif told.get("version", 0) < 3:  # it does not say; most work in the default stream
        memory.machine.wait_for(1)
    return Tensor(
        told["data"][0],
        dtype,
        tuple(told["shape"]),
        None if strides is None else tuple(s // dtype.itemsize for s in strides),
        memory.machine.interface,
        value,
        stream,
    )


def to_device(array: Any, target: str = "auto", device: str = "") -> DeviceArray:
    """An array on a device: "cuda", "emulator", or "auto", which is the GPU if there is one. It is sent when somebody
    needs it there. `device`: the GPU that the emulator stands for ("sm_90").

    Takes what NumPy makes an array of, and arrays of other libraries on that GPU, which are not copied. Raises
    `TypeError` for elements that SaC has no type for, `ValueError` for an array that is not dense, `SacError` where
    there is no GPU for "cuda"."""
    from sacpy.jit.device import context, presence
    from sacpy.withloop.devices import DEVICES

    if target not in ("auto", "cuda", "emulator"):
        raise ValueError(f"there is no device {target!r}; there is auto, cuda, emulator")
    if device and device not in DEVICES:
        raise ValueError(f"there is no device {device!r}; there is {', '.join(DEVICES)}")
    try:
        hardware = (
            context.real()
            if target == "cuda" or (target == "auto" and presence.present())
            else context.emulated(device or context.EMULATED)
        )
    except DeviceFailure as failure:
        raise context.missing(failure) from failure
    return take(hardware.memory, array)
