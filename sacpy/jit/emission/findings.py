"""What check mode finds: objects with all that a reader needs, and a sentence.

In: the records that `shadow` writes. Out: `Finding`s.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.emission import shadow
from sacpy.jit.emission.lowering import Site
from sacpy.nodes import Node

OUT_OF_RANGE = "out of range"
TWICE = "written twice"
UNSET = "read before it is set"
WRITE_WRITE = "written by two threads without a barrier between"
READ_AFTER_WRITE = "read without a barrier after another thread wrote it"
WRITE_AFTER_READ = "written without a barrier after another thread read it"
BEYOND_MEMORY = "beyond the memory that the launch gave"
NOT_WRITTEN = "not written"
NOT_ITS_CELL = "written, but not the launch's to write"
TOO_LARGE = "beyond the last cell that 32-bit indices reach"
_KINDS = {
    shadow.OUT_OF_RANGE: OUT_OF_RANGE, shadow.TWICE: TWICE, shadow.UNSET: UNSET, shadow.WRITE_WRITE: WRITE_WRITE,
    shadow.READ_AFTER_WRITE: READ_AFTER_WRITE, shadow.WRITE_AFTER_READ: WRITE_AFTER_READ,
    shadow.BEYOND_MEMORY: BEYOND_MEMORY,
}  # fmt: skip


class Finding(Node):
    """A fault of a kernel in a launch. `block` and `thread` are row-major numbers in the grid and in the block, `phase`
    the number of the `ForAll` in the kernel's text (from 1), `statement` its text; -1, 0 and "" where no thread is to
    blame. `other`: the statement of the access that this one is at odds with, by `other_thread` of `other_block`.
    `detail`: what the sentence adds. `kind` is one of the constants of this module."""

    kernel: str
    kind: str
    array: str
    index: tuple[int, ...]
    block: int = -1
    thread: int = -1
    phase: int = 0
    statement: str = ""
    other: str = ""
    other_block: int = -1
    other_thread: int = -1
    detail: str = ""

    def __str__(self) -> str:
        text = f"kernel {self.kernel}: {self.array}{list(self.index)} is {self.kind}{self.detail}"
        if self.statement:
            text += f", by thread {self.thread} of block {self.block} in phase {self.phase}: {self.statement}"
        if self.other:
            text += f" (before: thread {self.other_thread} of block {self.other_block}: {self.other})"
        return text


def finding(
    kernel: str, record: Sequence[int], arrays: Sequence[tuple[str, tuple[int, ...]]], sites: Sequence[Site]
) -> Finding:
    """A record as an object. `arrays`: names and extents by number."""
    name, extents = arrays[record[shadow.R_ARRAY]]
    index = tuple(record[shadow.R_INDEX : shadow.R_INDEX + len(extents)])
    kind = _KINDS[record[shadow.R_KIND]]
    site, other = sites[record[shadow.R_SITE] - 1], record[shadow.R_OTHER_SITE]
    axis = record[shadow.R_AXIS]
    detail = f": index {index[axis]} on axis {axis}, extent {extents[axis]}" if kind == OUT_OF_RANGE else ""
    before = (
        (sites[other - 1].text, record[shadow.R_OTHER_BLOCK], record[shadow.R_OTHER_THREAD])
        if other and kind != UNSET
        else ("", -1, -1)
    )
    return Finding(
        kernel,
        kind,
        name,
        index,
        record[shadow.R_BLOCK],
        record[shadow.R_THREAD],
        site.phase,
        site.text,
        *before,
        detail,
    )
