"""Host arrays that are on the device as well.

In: results of device programs that the interpreter gets, and never writes, since it is told that it does not own them.
Out: for such an array that comes back as an argument, the one on the device, so that nothing is sent.
"""

from __future__ import annotations

import weakref
from typing import Any

from sacpy.jit.device.machine import Array
from sacpy.jit.device.memory import DeviceArray


class Residents:
    """Host arrays that are on the device as well: results of device programs that the interpreter holds, and never
    writes."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, DeviceArray]] = {}

    def of(self, array: Array) -> DeviceArray | None:
        """The same elements on the device, if they are there."""
        known = self._known.get(id(array))
        return known[1] if known is not None and known[0]() is array else None

    def keep(self, host: Array, array: DeviceArray) -> Array:
        """Remembers that these are the same elements, as long as somebody has the host array; gives that."""
        key = id(host)
        self._known[key] = (weakref.ref(host, lambda _: self._known.pop(key, None)), array)
        return host
