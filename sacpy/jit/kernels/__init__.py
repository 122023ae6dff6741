"""From with-loops to kernel programs.

In: a with-loop of a graph with the functions that its bodies call, a device's limits, a strategy for those partitions
that no pragma maps. Out: a `Template`, from which `plan` makes the launches for concrete bounds; or `Refused`, with the
reason why the with-loop stays on the CPU. Kernels depend on the form of a mapping only, so that one kernel serves all
bounds of that form.
"""

from sacpy.jit.kernels.launches import Buffer, KernelOptions, Launch, Plan, Refused
from sacpy.jit.kernels.template import Template, build

__all__ = ["Buffer", "KernelOptions", "Launch", "Plan", "Refused", "Template", "build"]
