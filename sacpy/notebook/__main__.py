"""`python -m sacpy.notebook -f CONNECTION_FILE`: the kernel, as Jupyter starts it."""

from __future__ import annotations

from typing import Any, cast

from ipykernel.kernelapp import IPKernelApp

from sacpy.notebook.kernel import SacKernel

if __name__ == "__main__":
    cast(Any, IPKernelApp).launch_instance(kernel_class=SacKernel)
