"""Layouts of comprehensions and with-loops: `ExpressionLayout` with the parts of the language that have parts of their
own."""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.lang.formatter.doc import (
    CONTINUATION,
    Align,
    Cat,
    Doc,
    Either,
    Group,
    Hang,
    Hard,
    Line,
    Nest,
    Text,
    cat,
    separated,
)
from sacpy.lang.formatter.expressions import ExpressionLayout

_RAGGED = 24  # how different the widths of lines may be that are put into a table
_TABLE = 80  # how wide such a table may be


class WithLoopLayout(ExpressionLayout):
    """Layouts of comprehensions and with-loops."""

    def comprehension(self, i: int) -> Doc:
        """`{ [i] -> value | range; .. }`: parts below one another if they do not fit on one line or did not stand on
        one."""
        close = self.items[i].match
        parts = [(lo, hi) for lo, hi in self.split(i + 1, close, ";") if lo < hi]
        if not parts:
            return cat(self.token(i), " ", self.token(close))
        broken = any(self.items[lo].breaks for lo, _ in parts[1:])
        heads = [self.tensor_head(lo, hi) for lo, hi in parts]
        ranges = [self.tensor_range(lo, hi) for lo, hi in parts]
        edge = _edge(heads, ranges) if len(parts) > 1 else 0
        docs: list[Doc] = []
        for head, range_, (_, hi) in zip(heads, ranges, parts):
            tail = [self.token(hi)] if hi < close else []
            if range_ is None:
                docs.append(cat(head, *tail))
            else:
                gap = Nest(Line(), 2 if len(parts) > 1 else -2)
                whole: Doc = Group(cat(head, gap, range_, *tail))
                docs.append(
                    Either(cat(head, " " * (edge - (head.flat or 0) + 1), range_, *tail), whole) if edge else whole
                )
        inside = Align(separated(docs, Hard() if broken else Line()))
        return Group(cat(self.token(i), " ", inside, " ", self.token(close)))

    def tensor_head(self, lo: int, hi: int) -> Doc:
        """`[i] -> value`"""
        arrow = next((j for j in self.outside(lo, hi) if self.has(j, "->")), -1)
        if arrow < 0:
            return self.expression(lo, hi)
        return cat(
            self.expression(lo, arrow, True),
            " ",
            self.token(arrow),
            Hang(self.expression(arrow + 1, self._bar(lo, hi))),
        )

    def tensor_range(self, lo: int, hi: int) -> Doc | None:
        """`| range`"""
        bar = self._bar(lo, hi)
        return None if bar == hi else cat(self.token(bar), " ", self.expression(bar + 1, hi, True))

    def _bar(self, lo: int, hi: int) -> int:
        """The bar of a comprehension's part, its end where it has none."""
        outside = self.outside(lo, hi)
        arrow = next((j for j in outside if self.has(j, "->")), hi)
        return next((j for j in outside if j > arrow and self.has(j, "|")), hi)

    def with_loop(self, i: int, hi: int) -> tuple[Doc, int]:
        """`with { parts } : operators`"""
        opening = i + 1
        close = self.items[opening].match
        parts = self.with_parts(opening + 1, close)
        small = (
            len(parts) <= 1
            and not self.items[opening + 1].breaks
            and not any(self.has(j, "{") for j in self.outside(opening + 1, close))
        )
        gap = Line() if small else Hard()
        head = cat(self.token(i), " ", self.token(opening))
        if close == opening + 1:
            loop: Doc = cat(head, " ", self.token(close))
        else:
            ending: list[Doc] = [] if close in self.taken else [self.remark(r) for r in self.items[close].before]
            self.taken.add(close)
            loop = cat(head, Nest(cat(gap, separated(parts, Hard()), *ending), 2), gap, self.token(close))
        i = close + 1
        if i < hi and self.has(i, ":"):
            end = i + 1
            if end < hi and self.items[end].kind == "name":
                end += 1
            if end < hi and self.has(end, "("):
                end = self.beyond(end)
            loop = cat(loop, " ", self.token(i), " ", self.expression(i + 1, end))
            i = end
        return Group(loop), i

    def with_parts(self, lo: int, hi: int) -> list[Doc]:
        """The partitions of a with-loop: `(generator) { .. } : result;`, with the colons of short ones below one
        another."""
        out: list[Doc] = []
        stretches = [(start, end) for start, end in self.split(lo, hi, ";") if start < end]
        lead = {start: [self.remark(r) for r in self.items[start].before] for start, _ in stretches}
        self.taken |= set(lead)
        simple = [
            self.has(start, "(") and self.has(self.beyond(start), ":") and not self.items[self.beyond(start)].before
            for start, _ in stretches
        ]
        generators = [
            self.listed(start, ", ", index=True) if is_simple else None
            for (start, _), is_simple in zip(stretches, simple)
        ]
        edge = 0
        if all(g is not None for g in generators) and len(generators) > 1:
            edge = _edge(
                [g for g in generators if g], [self.expression(self.beyond(start) + 1, end) for start, end in stretches]
            )
        for start, end in stretches:
            remarks = lead[start]
            if self.items[start].blank and out:
                remarks.append(Hard(True))
            out.append(cat(*remarks, self.part(start, end, edge), *([self.token(end)] if end < hi else [])))
        return out

    def part(self, lo: int, hi: int, edge: int = 0) -> Doc:
        """A partition; its generator is filled up with blanks to `edge` columns."""
        if not self.has(lo, "("):
            return self.expression(lo, hi)
        i = self.beyond(lo)
        docs: list[Doc] = [self.listed(lo, ", ", index=True)]
        docs.append(Text(" " * max(edge - (docs[0].flat or 0), 0)))
        if i < hi and self.has(i, "{"):
            docs += [self.before(i), self.block(i)]
            i = self.beyond(i)
        if i < hi and self.has(i, ":"):
            docs += [self.before(i), self.token(i), Hang(self.expression(i + 1, hi))]
            i = hi
        if i < hi:
            docs += [Text(" "), self.expression(i, hi)]
        return Cat(tuple(docs))

    def before(self, i: int) -> Doc:
        """The gap before a piece of a partition: a blank, or its pragmas in lines of their own."""
        if not self.items[i].before or i in self.taken:
            return Text(" ")
        self.taken.add(i)
        return cat(
            Nest(Cat(tuple(cat(Hard(), self.remark(r)) for r in self.items[i].before)), CONTINUATION),
            Nest(Hard(), CONTINUATION if not self.has(i, "{") else 0),
        )

    def block(self, i: int) -> Doc:
        """A block of statements: see `statements`."""
        raise NotImplementedError


def _edge(heads: Sequence[Doc], tails: Sequence[Doc | None]) -> int:
    """The width to which heads of a table's lines are filled up, 0 if they had better not be."""
    widths = [head.flat for head in heads]
    known = [width for width in widths if width is not None]
    if len(known) < len(widths) or not all(tail is not None and tail.flat is not None for tail in tails):
        return 0
    edge = max(known)
    longest = max(tail.flat or 0 for tail in tails if tail is not None)
    return edge if edge - min(known) <= _RAGGED and edge + longest <= _TABLE else 0
