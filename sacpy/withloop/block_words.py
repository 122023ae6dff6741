"""How a block's program runs: the pragmas `gpublock`, `force`, `gputhreads` and `gpueach`.

In: the words of a pragma. Out: what it asks for. The words are those of Svensson's Obsidian (Embedded Languages for
Data-Parallel Programming, 2013), where a program of one block computes arrays in stages, and `force` is the one thing
that puts an array into the block's shared memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.nodes import Node, field
from sacpy.withloop.combinators import Offsets
from sacpy.withloop.errors import MappingError

if TYPE_CHECKING:
    from sacpy.withloop.pragmas import _Parser

WORDS = ("gpublock", "force", "gputhreads", "gpueach")
_MOST = 1 << 10  # threads of a block of any device, and elements of a thread


class GpuBlock(Node):
    """`gpublock(n)`: each cell of the with-loop is the work of a block of n threads. `span`: the place of the number in
    the pragma."""

    threads: int
    span: Offsets | None = field(default=None, compare=False)

    word = "gpublock"

    @property
    def words(self) -> str:
        """What a cell is, in words."""
        return f"each cell is the program of a block of {self.threads} threads: sacpy explain tells its stages"

    def refused(self, message: str, help: str) -> MappingError:
        """Why it cannot be so."""
        return MappingError("E0821", message, help, span=self.span, word=self.word)


class Force(Node):
    """`force`: what the with-loop computes is in memory, of a block's program in the block's, before it is read."""

    word = "force"


class GpuThreads(Node):
    """`gputhreads(n)`: n threads of the block do this stage, in turns where it has more elements."""

    threads: int
    span: Offsets | None = field(default=None, compare=False)

    word = "gputhreads"


class GpuEach(Node):
    """`gpueach(n)`: each thread does n elements of this stage, evenly apart."""

    each: int
    span: Offsets | None = field(default=None, compare=False)

    word = "gpueach"


Stage = GpuThreads | GpuEach
Word = GpuBlock | Force | GpuThreads | GpuEach


def block_word(p: _Parser, word: str) -> Word:
    """word = "force" | ("gpublock" | "gputhreads" | "gpueach") "(" INT ")" """
    if word == "force":
        return Force()
    start = p.sign("(", f"behind {word}, and a number").start
    if p.here.kind != "number":
        p.fail("a number", f"write `{word}({4 if word == 'gpueach' else 256})`", "E0821")
    number = p.here
    value = p.integer()
    if not 1 <= value <= _MOST:
        what = "a thread has 1" if word == "gpueach" else "a block has 1"
        unit = "elements" if word == "gpueach" else "threads"
        raise MappingError(
            "E0821", f"{what} to {_MOST} {unit}, and not {value}", "write such a number", span=number.span, word=word
        )
    span = (start, p.sign(")", "behind the number").end)
    return (GpuBlock if word == "gpublock" else GpuThreads if word == "gputhreads" else GpuEach)(value, span)
