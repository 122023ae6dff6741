"""Arrays of ours for other libraries, on the device and without a copy.

In: an array on a device. Out: a DLPack capsule, or what `__cuda_array_interface__` says. Whoever gets one must not
write the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sacpy.jit.device.dlpack import Tensor, to_capsule
from sacpy.jit.device.machine import Machine

if TYPE_CHECKING:
    from sacpy.jit.device.memory import DeviceArray


def exported(array: DeviceArray, stream: Any = None) -> Any:
    """A capsule of an array, which is brought to the device; whoever asks says in which stream (DLPack's numbers) he
    will use it."""
    machine = array.memory.machine
    with array.memory.lock:
        return _capsule(array, stream, machine)


def _capsule(array: DeviceArray, stream: Any, machine: Machine) -> Any:
    address = array.lend()
    if machine.interface[0] == 2:
        if stream != -1:
            machine.let_wait(1 if stream is None else stream)
    else:
        machine.synchronise()
    return to_capsule(Tensor(address, array.dtype, array.shape, None, machine.interface, array.share()))


def interface(array: DeviceArray) -> dict[str, Any]:
    """What `__cuda_array_interface__` says of an array on a GPU."""
    machine = array.memory.machine
    if machine.interface[0] != 2:
        raise AttributeError(f"this array is on {machine.name}, which is no GPU")
    return {
        "shape": array.shape,
        "typestr": array.dtype.str,
        "data": (array.lend() if array.size else 0, True),
        "version": 3,
        "strides": None,
        "stream": machine.stream or 1,
    }
