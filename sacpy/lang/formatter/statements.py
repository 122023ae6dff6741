"""Layouts of definitions and statements, from their tokens.

In: the pieces of a file. Out: the `Doc` of the whole. Where a definition or statement ends is seen from braces,
semicolons and the words that begin it; a definition whose brackets do not match (parts of an `#if` that open different
ones) is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable

from sacpy.lang.formatter.doc import (
    CONTINUATION,
    Align,
    Cat,
    Doc,
    Group,
    Hard,
    Line,
    Listed,
    Margin,
    Nest,
    Text,
    cat,
    separated,
)
from sacpy.lang.formatter.withloops import WithLoopLayout
from sacpy.lang.vocabulary import INTERFACES

INDENT = 2
_OTHERS = frozenset(("typedef", "objdef", "module", "class", "classtype"))


class FileLayout(WithLoopLayout):
    """Layouts of definitions and statements."""

    width = 100

    def file(self) -> Doc:
        """The whole file."""
        return cat(self.sequence(0, len(self.items) - 1, self.definition), *self.lead(len(self.items) - 1, False))

    def sequence(self, lo: int, hi: int, one: Callable[[int, int], tuple[Doc, int]]) -> Doc:
        """Definitions or statements below one another, with their remarks; at most one empty line between, and one
        around every function of several lines."""
        docs: list[Doc] = []
        tall = False
        i = lo
        while i < hi:
            first = not docs
            lead = self.lead(i, first)
            apart = any(r.kind == "directive" for r in self.items[i].before)
            body, end = one(i, hi)
            now_tall = one == self.definition and self._is_tall(body)
            if docs and (tall or now_tall) and not apart:
                docs.append(Hard(True))
            docs += [*lead, body, Hard()]
            tall = now_tall
            i = end
        return Cat(tuple(docs))

    @staticmethod
    def _is_tall(body: Doc) -> bool:
        return isinstance(body, Nest)  # functions with a block are marked so: see `function`

    def lead(self, i: int, first: bool) -> list[Doc]:
        """The remarks above a definition or statement, and the empty line above it."""
        piece = self.items[i]
        docs: list[Doc] = []
        if i not in self.taken:
            self.taken.add(i)
            of_declaration = not first and self.has(i - 1, ";")
            for remark in piece.before:
                of_declaration = of_declaration and remark.kind == "pragma"
                docs.append(Nest(self.remark(remark), INDENT) if of_declaration else self.remark(remark))
            if of_declaration and piece.before:
                docs.append(Hard())
        if piece.blank and piece.text and not (first and not piece.before):
            docs.append(Hard(True))
        return docs

    # ------------------------------------------------------------ definitions

    def definition(self, i: int, hi: int) -> tuple[Doc, int]:
        """One definition; gives where the next begins."""
        end, body = self.extent(i, hi)
        uneven = [hi2 for lo, hi2 in self.pieces.uneven if i <= lo < end or lo < i < hi2]
        if uneven:
            return self.kept(i, hi)
        if self.has(i, *INTERFACES):
            return self.interface(i, end), end
        if self.has(i, "struct") and self.has(i + 2, "{"):
            return self.struct(i, end), end
        if body >= 0:
            return self.function(i, body, end), end
        stop = end - 1 if self.has(end - 1, ";") else end
        head = (
            self.head(i, stop) if not self.has(i, *_OTHERS) and self._parameters(i, stop) >= 0 else self.words(i, stop)
        )
        return cat(head, *([self.token(stop)] if stop < end else [])), end

    def extent(self, i: int, hi: int) -> tuple[int, int]:
        """Where a definition ends, and the brace of its body (-1 without one)."""
        start = i
        plain = self.has(i, *INTERFACES) or self.has(i, *_OTHERS)
        while i < hi:
            if self.has(i, ";"):
                return i + 1, -1
            if self.has(i, "{") and not plain and not (self.has(start, "struct") and i == start + 2):
                return self.beyond(i), i
            i = self.beyond(i)
            if (
                i < hi
                and self.items[start].text in self.pieces.macros
                and self.items[i].breaks
                and i == self.beyond(start + 1 if self.has(start + 1, "(") else start)
            ):
                return i, -1
        return hi, -1

    def kept(self, i: int, hi: int) -> tuple[Doc, int]:
        """Definitions as they are, to the end of what does not match."""
        end = i
        while True:
            end, _ = self.extent(end, hi)
            reach = max((b for a, b in self.pieces.uneven if a < end and i <= b), default=end)
            if end >= reach or end >= hi:
                break
        start = self.items[i].start
        start = self.pieces.source.text.rfind("\n", 0, start) + 1
        last = self.items[end - 1]
        stop = max([last.end, *(r.start + len(r.text) for r in last.after)])
        return Margin(self.pieces.source.text[start:stop]), end

    def interface(self, i: int, end: int) -> Doc:
        """`use M: all except { a, b };`"""
        docs: list[Doc] = []
        for j in self.outside(i, end):
            if self.has(j, "{"):
                close = self.items[j].match
                items = [
                    cat(
                        separated([self.token(k) for k in range(lo, hi)], Text(" ")),
                        *([self.token(hi)] if hi < close else []),
                    )
                    for lo, hi in self.split(j + 1, close, ",")
                    if lo < hi
                ]
                docs += [
                    Text(" "),
                    Group(
                        cat(self.token(j), " ", Align(Listed(Text(""), tuple(items), Text(""))), " ", self.token(close))
                    ),
                ]
            elif self.has(j, ":", ";"):
                docs.append(self.token(j))
            else:
                docs += [Text(" "), self.token(j)] if docs else [self.token(j)]
        return Cat(tuple(docs))

    def struct(self, i: int, end: int) -> Doc:
        """`struct S { fields };`"""
        close = self.items[i + 2].match
        small = not self.items[i + 3].breaks
        fields: list[Doc] = []
        for lo, hi in self.split(i + 3, close, ";"):
            if lo < hi:
                fields.append(
                    cat(*self.lead(lo, not fields), self.words(lo, hi), *([self.token(hi)] if hi < close else []))
                )
        gap = Line() if small else Hard()
        inside = Nest(cat(gap, separated(fields, gap), *self.closing(close)), INDENT)
        rest = [self.token(j) for j in range(close + 1, end)]
        return cat(
            self.token(i),
            " ",
            self.token(i + 1),
            " ",
            Group(cat(self.token(i + 2), inside, gap, self.token(close))),
            *rest,
        )

    def closing(self, close: int) -> list[Doc]:
        """The remarks before a closing brace."""
        docs = [] if close in self.taken else [self.remark(r) for r in self.items[close].before]
        self.taken.add(close)
        return docs

    def _parameters(self, i: int, end: int) -> int:
        """The parenthesis of a head's parameters, -1 without one."""
        for j in self.outside(i, end):
            if self.has(j, "("):
                # int (+)(int a, int b)
                old = (
                    self.items[j].match == j + 2
                    and self.items[j + 1].kind == "op"
                    and j + 3 < end
                    and self.has(j + 3, "(")
                )
                return j + 3 if old else j
        return -1

    def function(self, i: int, body: int, end: int) -> Doc:
        """A function with its block, on one line if it was and fits."""
        head = self.head(i, body)
        if not self.items[body].breaks or self.items[body].match == body + 1:
            short = self.short(body, head)
            if short is not None:
                return short
        return Nest(cat(head, Hard(), self.block(body)), 0)

    def short(self, body: int, head: Doc) -> Doc | None:
        """`f(x) { return x; }`, where it stood on one line and fits on one."""
        close = self.items[body].match
        pieces = self.items[body + 1 : close + 1]
        statements = [j for j in range(body + 1, close) if self.has(j, ";")]
        if (
            any(p.before or (p.breaks and statements) for p in pieces)
            or len(statements) > 1
            or any(self.has(j, "if", "for", "while", "do") for j in range(body + 1, close))
        ):
            return None
        if close == body + 1:
            whole = cat(head, " ", self.token(body), " ", self.token(close))
        else:
            statement, _ = self.statement(body + 1, close)
            whole = cat(head, " ", self.token(body), " ", statement, " ", self.token(close))
        bare = (
            whole.flat if not self.items[close].after else cat(head, " {", statement if statements else "", " }").flat
        )
        return whole if bare is not None and bare <= self.width else None

    def head(self, lo: int, hi: int) -> Doc:
        """`inline double[.] f(int a, File &b) | condition`"""
        at = self._parameters(lo, hi)
        if at < 0:
            return self.words(lo, hi)
        close = self.items[at].match
        items = (
            [cat(self.words(a, b), *([self.token(b)] if b < close else [])) for a, b in self.split(at + 1, close, ",")]
            if close > at + 1
            else []
        )
        docs = [self.words(lo, at, name=True), Listed(self.token(at), tuple(items), self.token(close))]
        if close + 1 < hi and self.has(close + 1, "|"):
            conditions = [
                cat(self.expression(a, b), *([self.token(b)] if b < hi else []))
                for a, b in self.split(close + 2, hi, ",")
            ]
            docs.append(
                Group(
                    Nest(
                        cat(Line(), self.token(close + 1), " ", Align(Listed(Text(""), tuple(conditions), Text("")))),
                        CONTINUATION,
                    )
                )
            )
        elif close + 1 < hi:
            docs += [Text(" "), self.words(close + 1, hi)]
        return Cat(tuple(docs))

    def words(self, lo: int, hi: int, name: bool = False) -> Doc:
        """Types and names: `struct S[n,.] a, b`. With `name` the last piece is a function's name, perhaps an
        operator."""
        docs: list[Doc] = []
        glue = True
        angle = 0
        i = lo
        while i < hi:
            piece = self.items[i]
            last = name and i == hi - 1
            text = piece.text
            if piece.kind == "op" and text == "=" and not name:
                docs += [Text(" "), self.token(i), Text(" "), self.expression(i + 1, hi)]
                break
            if text == "[" and not last:
                docs.append(self.brackets(i, True, subscript=True))
                glue = False
            elif piece.match > i:
                taken = text == "(" and not name and i > lo + 1  # by a parameter that is a function
                docs += [*([] if glue or taken else [Text(" ")]), self.brackets(i, False)]
                glue = False
            elif piece.kind == "op" and not last and text in (",", "::", ":", ">"):
                docs.append(self.token(i))
                glue = text == "::"
                angle -= text == ">"
            else:
                docs += [*([] if glue else [Text(" ")]), self.token(i)]
                glue = piece.kind == "op" and text in ("<", "&") and not last
            i = self.beyond(i)
        return Cat(tuple(docs))

    # ------------------------------------------------------------ statements

    def block(self, i: int) -> Doc:
        """`{ .. }` over several lines."""
        close = self.items[i].match
        if close == i + 1 and not self.items[close].before and not self.items[i].after:
            return cat(self.token(i), " ", self.token(close))
        inside = cat(Hard(), self.sequence(i + 1, close, self.statement), *self.closing(close))
        return cat(self.token(i), Nest(inside, INDENT), Hard(), self.token(close))

    def statement(self, i: int, hi: int) -> tuple[Doc, int]:
        """One statement; gives where the next begins."""
        if self.has(i, "{"):
            return self.block(i), self.beyond(i)
        if self.has(i, "if", "while", "for") and self.has(i + 1, "("):
            return self.controlled(i, hi)
        if self.has(i, "do"):
            body, end = self.dependent(i + 1, hi)
            tail, end = self.simple(end, hi)
            gap: Doc = Text(" ") if self.has(i + 1, "{") else Hard()
            return cat(self.token(i), body, gap, tail), end
        return self.simple(i, hi)

    def controlled(self, i: int, hi: int) -> tuple[Doc, int]:
        """`if (..) ..`, `while (..) ..`, `for (..;..;..) ..`"""
        head = cat(
            self.token(i), " ", self.loop_head(i + 1) if self.has(i, "for") else self.listed(i + 1, ", ", index=False)
        )
        start = self.beyond(i + 1)
        body, end = self.dependent(start, hi)
        doc = cat(head, body)
        if self.has(i, "if") and end < hi and self.has(end, "else"):
            braced = self.has(start, "{") and not self.items[end].before
            doc = cat(doc, " " if braced else Hard(), self.token(end))
            if end + 1 < hi and self.has(end + 1, "if") and not self.items[end + 1].before:
                other, end = self.statement(end + 1, hi)
                return cat(doc, " ", other), end
            other, end = self.dependent(end + 1, hi)
            doc = cat(doc, other)
        return doc, end

    def loop_head(self, i: int) -> Doc:
        """`(i = 0; i < n; i++)`"""
        close = self.items[i].match
        docs = []
        for lo, hi in self.split(i + 1, close, ";"):
            docs.append(cat(self.values(lo, hi), *([self.token(hi)] if hi < close else [])))
        return (
            Listed(self.token(i), tuple(docs), self.token(close))
            if any(d.flat != 1 for d in docs)
            else cat(self.token(i), *docs, self.token(close))
        )

    def dependent(self, i: int, hi: int) -> tuple[Doc, int]:
        """What a condition or loop governs, with the gap before it: a block behind it, another statement behind it or
        below it as it was."""
        if i >= hi:
            return Text(""), i
        if self.has(i, ";"):
            return self.token(i), i + 1
        if self.has(i, "{"):
            return cat(" ", self.block(i)), self.beyond(i)
        broken = self.items[i].breaks or self.has(i, "if")  # so that one sees whose `else` it is
        remarks = self.lead(i, True)
        body, end = self.statement(i, hi)
        return (cat(Nest(cat(Hard(), *remarks, body), INDENT)) if broken or remarks else cat(" ", body)), end

    def simple(self, i: int, hi: int) -> tuple[Doc, int]:
        """An assignment, call, declaration, `return`."""
        end = i
        while end < hi and not self.has(end, ";"):
            end = self.beyond(end)
            if (
                end < hi
                and self.items[i].text in self.pieces.macros
                and self.items[end].breaks
                and end == self.beyond(i + 1 if self.has(i + 1, "(") else i)
            ):
                return self.values(i, end), end
        mark = [self.token(end)] if end < hi else []
        if self.has(i, "return", "while"):
            value = [] if i + 1 == end else [Text(" "), self.values(i + 1, end)]
            return cat(self.token(i), *value, *mark), min(end + 1, hi)
        return cat(self.values(i, end), *mark), min(end + 1, hi)

    def values(self, lo: int, hi: int) -> Doc:
        """Expressions, assignments or variables with commas between: `a, b = f(x)`."""
        if self.is_declaration(lo, hi):
            return self.words(lo, hi)
        docs: list[Doc] = []
        for a, b in self.split(lo, hi, ","):
            docs += [Text(" ")] if docs else []
            docs += [self.expression(a, b), *([self.token(b)] if b < hi else [])]
        return Cat(tuple(docs))

    def is_declaration(self, lo: int, hi: int) -> bool:
        """Whether it is `type a, b`."""
        if hi - lo < 2 or self.items[lo].kind != "name" or self.has(lo, "with"):
            return False
        j = lo + 1 + self.has(lo, "struct")
        if j < hi and self.has(j, "::"):
            j += 2
        if j < hi and self.has(j, "["):
            j = self.beyond(j)
        return j < hi and self.items[j].kind == "name" and (j + 1 == hi or self.has(j + 1, ",", "="))
