"""What the tensor cores of a GPU multiply: the forms of their instructions.

In: nothing. Out: a table. Threads of a warp hold parts of three matrices, `target += left * right`, which PTX calls
fragments ("Matrix Fragments for mma.m8n8k4 with .f64", "... mma.m16n8k8", PTX ISA, Warp Level Matrix Instructions). Of
the threads of a warp, numbered 4 * g + t, each has of the left matrix the rows g, g + 8, .. and, of each, the columns
that belong to t; of the right one the same with rows and columns exchanged; and of the target the rows g, g + 8, ..
with the columns 2 * t and 2 * t + 1. Which index of the folded axis is which column is the program's to say, as long as
both matrices agree.
"""

from __future__ import annotations

from sacpy.nodes import Node

ROWS, COLUMNS = 8, 8  # of the target, for each that a thread has
FOLDED = 4  # indices of the folded axis, for each that a thread has
OWN = 2  # neighbouring columns of the target that a thread has


class Form(Node):
    """An instruction. `base`: of elements and sums; `high`: rows of a thread; `deep`: indices of the folded axis of a
    thread; `since`: the first generation of GPUs that has it. `rounds`: operands are rounded, to the type that gives
    the form its name. `given_up`: against sums one index after the other, in words."""

    base: str
    high: int
    deep: int
    since: int
    rounds: bool
    given_up: str

    @property
    def folded(self) -> int:
        """How many indices of the folded axis an instruction takes."""
        return FOLDED * self.deep

    @property
    def operations(self) -> int:
        """Multiply-adds of an instruction."""
        return ROWS * self.high * COLUMNS * self.folded


FORMS = {
    "f64": Form("double", 1, 1, 80, False, "the order of sums"),
    "tf32": Form(
        "float", 2, 2, 80, True, "the order of sums, and 13 of the 23 bits behind the point of each factor (tf32)"
    ),
}
