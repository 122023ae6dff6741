"""N-body in CUDA C++, as NVIDIA's own examples write it: a thread for each body, the others in tiles of shared memory.

In: a GPU's machine. Out: a function of arrays of that machine. Compiled by NVRTC through cuda.core, by nvcc where that
fails; raises with both texts where neither works.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

BLOCK = 128
SOURCE = """
struct Body { double x, y, z, m; };

extern "C" __global__ void pull(const double *__restrict__ p, const double *__restrict__ m, double *__restrict__ out,
  int n)
{
  __shared__ Body tile[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const double x = i < n ? p[3 * i] : 0, y = i < n ? p[3 * i + 1] : 0, z = i < n ? p[3 * i + 2] : 0;
  double fx = 0, fy = 0, fz = 0;
  for (int start = 0; start < n; start += BLOCK) {
    const int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? Body{p[3 * j], p[3 * j + 1], p[3 * j + 2], m[j]} : Body{0, 0, 0, 0};
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < BLOCK; k++) {
      const Body b = tile[k];
      const double dx = b.x - x, dy = b.y - y, dz = b.z - z;
      const double d = dx * dx + dy * dy + dz * dz + 0.01;
      const double f = b.m / (d * sqrt(d));
      fx += f * dx;
      fy += f * dy;
      fz += f * dz;
    }
    __syncthreads();
  }
  if (i < n) {
    out[3 * i] = fx;
    out[3 * i + 1] = fy;
    out[3 * i + 2] = fz;
  }
}
""".replace("BLOCK", str(BLOCK))


class Compiled:
    """The functions of `SOURCE` on the machine of `hardware`. `tool`: what compiled them."""

    def __init__(self, hardware: Any) -> None:
        self.hardware = hardware
        self.core = hardware.machine._core
        self.tool, code = cubin(self.core, hardware.machine.limits.name, SOURCE)
        hardware.machine._device.set_current()
        self.module = self.core.ObjectCode.from_cubin(code)

    def pull(self) -> Callable[..., Any]:
        """Places and masses to forces, arrays of the machine."""
        kernel, core, machine, memory = (
            self.module.get_kernel("pull"),
            self.core,
            self.hardware.machine,
            self.hardware.memory,
        )

        def run(p: Any, m: Any) -> Any:
            n = m.shape[0]
            out = memory.new("double", p.shape)
            config = core.LaunchConfig(grid=(n + BLOCK - 1) // BLOCK, block=BLOCK)
            core.launch(
                machine._stream, config, kernel, *(ctypes.c_uint64(a.address()) for a in (p, m, out)), ctypes.c_int32(n)
            )
            memory.let_go()
            return out.written()

        return run


def cubin(core: Any, architecture: str, source: str) -> tuple[str, bytes]:
    """What compiled the text, and the code. Raises `RuntimeError` where nothing does."""
    try:
        options = core.ProgramOptions(arch=architecture, std="c++17")
        return "NVRTC", core.Program(source, code_type="c++", options=options).compile("cubin").code
    except Exception as error:  # no NVRTC, or one that does not like it: nvcc may
        refused = f"{type(error).__name__}: {error}"
    nvcc = shutil.which("nvcc") or ("/usr/local/cuda/bin/nvcc" if Path("/usr/local/cuda/bin/nvcc").exists() else None)
    if nvcc is None:
        raise RuntimeError(f"NVRTC: {refused}; nvcc is not there")
    with tempfile.TemporaryDirectory() as folder:
        file, target = Path(folder, "kernels.cu"), Path(folder, "kernels.cubin")
        file.write_text(source)
        done = subprocess.run(
            [nvcc, "-O3", "-std=c++17", f"-arch={architecture}", "-cubin", "-o", str(target), str(file)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"NVRTC: {refused}; nvcc: {done.stderr.strip()[-500:]}")
        return "nvcc", target.read_bytes()
