"""What the compiler may be told: how many threads, how strict, how hard to try. Comes from the command line or a
`Session`, goes to every stage of the compiler; part of the key of compiled code."""

from __future__ import annotations

import os

from sacpy.nodes import Node

TARGETS = ("auto", "cpu", "cuda", "emulator", "interp")
# Those of withloop.strategies and withloop.devices, which are loaded only where somebody needs them.
STRATEGIES = ("auto", "jing", "jing_ext", "jing_printed", "foldall")
GENERATIONS = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100")


class Options(Node):
    """`threads`: how many threads parallel loops may use, at least 1; compiled code is the same for any number.
    `strict_fp`: floating point bit-equal to the interpreter: folds left to right, the interpreter's own libm, no
    contraction. `short_circuit`: arrays that are made to be copied into a part of another one are made there;
    `split_borders`: partitions are cut into an interior and borders where that decides conditions on indices; results
    are the same without either. `opt_level`: LLVM's, 0 to 3. `verify`: check the graph's laws after every pass.
    `strategy`: who lays out with-loops without a pragma on a GPU (a name of `withloop.strategies`); `device`: the GPU
    generation that they are laid out for, "" for that of the machine; neither changes code for the host."""

    threads: int = 1
    strict_fp: bool = False
    opt_level: int = 3
    verify: bool = False
    strategy: str = "auto"
    device: str = ""
    split_borders: bool = True
    short_circuit: bool = True

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, not {self.threads}")
        if self.opt_level not in (0, 1, 2, 3):
            raise ValueError(f"opt_level must be 0, 1, 2 or 3, not {self.opt_level}")

    @property
    def key(self) -> str:
        """What of this the compiled code depends on."""
        whole = "" if self.split_borders else " whole"
        apart = "" if self.short_circuit else " without circuits"
        return f"{'strict' if self.strict_fp else 'default'} O{self.opt_level}{whole}{apart}"


def cores() -> int:
    """How many threads this process may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
