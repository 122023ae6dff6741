"""How the threads of a block put together what they fold: the pragma `gpufold`.

In: the words of a pragma. Out: the way that it asks for. The ways are those of Svensson's thesis (Embedded Languages
for Data-Parallel Programming, 2013), whose seven reductions differ in which operands meet, and in how much a thread
does alone before; and that of tensor cores, by which warps multiply matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sacpy.base.spelling import closest
from sacpy.nodes import Node, field
from sacpy.withloop.combinators import Offsets
from sacpy.withloop.errors import MappingError

if TYPE_CHECKING:
    from sacpy.withloop.pragma_words import Word
    from sacpy.withloop.pragmas import _Parser

WAYS = ("interleaved", "halving", "shuffle", "runs", "strided", "mma")
FORMS = ("f64", "tf32")  # of `mma`
_MOST = 1 << 16  # indices of a thread


class GpuFold(Node):
    """`gpufold WAY`. `interleaved`: in pairs of neighbours, then pairs of these; `halving`: the first half with the
    second; `shuffle`: from register to register within warps, then what these have; `runs(n)` and `strided(n)`: a
    thread folds n neighbours, or n that lie evenly apart, before. `each`: that n. `mma(f)`: the fold is one of a matrix
    product, which tensor cores compute by a form of their instructions, one of `FORMS`. `span`: the place of the way in
    the pragma."""

    way: Literal["interleaved", "halving", "shuffle", "runs", "strided", "mma"]
    each: int = 0
    span: Offsets | None = field(default=None, compare=False)
    form: str = ""

    @property
    def words(self) -> str:
        """As it is written."""
        given = self.form or self.each
        return f"{self.way}({given})" if given else self.way

    @property
    def turns(self) -> bool:
        """Whether operands meet in another order than that of the indices."""
        return self.way in ("halving", "strided")

    @property
    def pairs(self) -> bool:
        """Whether threads put together two at a time."""
        return self.way in ("interleaved", "halving")

    def refused(self, message: str, help: str) -> MappingError:
        """Why it cannot be so."""
        return MappingError("E0820", message, help, span=self.span, word="gpufold")


def gpufold(p: _Parser) -> GpuFold:
    """way = "interleaved" | "halving" | "shuffle" | ("runs" | "strided") "(" INT ")" | "mma" "(" form ")" """
    token = p.here
    if token.text not in WAYS:
        near = closest(token.text, WAYS)
        help = f"did you mean {near[0]}?" if near else f"there are {', '.join(WAYS)}"
        p.fail("a way to put together what threads fold", help, "E0820")
    p.take()
    if token.text == "mma":
        return _mma(p, token)
    if token.text not in ("runs", "strided"):
        return GpuFold(token.text, span=token.span)  # type: ignore[arg-type]
    p.sign("(", f"behind {token.text}, and how many indices a thread folds")
    if p.here.kind != "number":
        p.fail("how many indices a thread folds", f"write `gpufold {token.text}(8)`", "E0820")
    number = p.here
    each = p.integer()
    if not 1 <= each <= _MOST:
        raise MappingError(
            "E0820", f"a thread folds 1 to {_MOST} indices, and not {each}", "write such a number", span=number.span
        )
    return GpuFold(token.text, each, (token.start, p.sign(")", "behind the number").end))  # type: ignore[arg-type]


def _mma(p: _Parser, way: Word) -> GpuFold:
    """ "(" ("f64" | "tf32") ")" """
    help = "write `gpufold mma(f64)` for doubles, `gpufold mma(tf32)` for floats, whose factors are rounded then"
    if p.here.text != "(":
        p.fail("`(`, and which numbers tensor cores multiply", help, "E0820")
    p.take()
    form = p.here
    if form.text not in FORMS:
        p.fail(f"one of {', '.join(FORMS)}", help, "E0820")
    p.take()
    return GpuFold("mma", form=form.text, span=(way.start, p.sign(")", f"behind {form.text}").end))
