"""Arrays of other libraries on the GPU that the interpreter of PTX is."""

from __future__ import annotations

from typing import Any

from sacpy.jit.device.dlpack import Tensor, to_capsule
from tests.ptx.driver import PtxCuda


class Lent:
    """An array of another library, in the GPU's memory. `offset`: bytes from where memory of its own would begin."""

    def __init__(self, gpu: PtxCuda, values: Any, offset: int = 0) -> None:
        start, _, _ = gpu.take(values.nbytes + offset)
        self.address = start + offset
        gpu.move(self.address, values.ctypes.data, values.nbytes)
        self.values, self.dtype = values, values.dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int) -> Any:
        return to_capsule(Tensor(self.address, self.values.dtype, self.values.shape, None, (2, 0), self))
