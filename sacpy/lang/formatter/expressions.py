"""Layouts of expressions, from their tokens.

In: a stretch of pieces without its terminator. Out: a `Doc`. The stretch is read as operands and operators; operators
that bind loosest are where a line is broken first. Nothing here needs the stretch to be correct SaC (it may hold macros
of any kind): what is not understood is written as it comes, a blank between its tokens.
"""

from __future__ import annotations

from sacpy.lang.formatter.doc import (
    Align,
    Block,
    Cat,
    Doc,
    Either,
    Gap,
    Group,
    Hard,
    Line,
    Listed,
    Margin,
    Nest,
    Suffix,
    Text,
    cat,
    separated,
)
from sacpy.lang.formatter.pieces import OPENING, Piece, Pieces, Remark
from sacpy.lang.vocabulary import ASSIGNMENT, BASE_TYPES, PRECEDENCE, USER_OPERATOR
from sacpy.nodes import Node

_STEPS = frozenset(("step", "width"))
_RANGE = 0.5  # how tightly `step` and `width` bind
_CONDITIONAL = 0.2
_ASSIGNED = 0.1
_ATOMS = frozenset((".", "...", "*", "+"))
_MANY = 10  # operands and operators, from which on those of short operands fill lines
_SHORT = 12  # an operand so narrow that little is gained by breaking the line behind it
_WRITTEN = frozenset(("name", "number", "string", "char"))


class Unit(Node):
    """An operand (`binds` is 0) or an operator with how tightly it binds; `at` is its first piece."""

    doc: Doc
    binds: float
    at: int
    text: str = ""


class ExpressionLayout:
    """Layouts of stretches [lo, hi) of the pieces. `taken` are the pieces whose leading remarks have been written."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.items = pieces.items
        self.taken: set[int] = set()

    # ------------------------------------------------------------ single pieces

    def token(self, i: int) -> Doc:
        """A token with the remarks that belong to it."""
        piece = self.items[i]
        if not piece.before and not piece.after:
            return Text(piece.text)
        parts: list[Doc] = [] if i in self.taken else [self.remark(r) for r in piece.before]
        parts.append(Text(piece.text))
        for remark in piece.after:
            parts += (
                [Suffix(remark.text, remark.column)] if remark.last else [Text(" "), Block(remark.text, remark.column)]
            )
        return Cat(tuple(parts))

    def remark(self, remark: Remark) -> Doc:
        """A remark before a token."""
        if remark.kind == "directive":
            return cat(Hard(remark.blank), Margin(remark.text))
        block = Block(remark.text, remark.column)
        if remark.kind == "block" and not remark.last and "\n" not in remark.text:
            return cat(block, " ")
        return cat(Hard(remark.blank), block, Hard())

    def has(self, i: int, *texts: str) -> bool:
        """Whether the piece is one of these operators or words."""
        return self.items[i].text in texts and self.items[i].kind in ("op", "name")

    def beyond(self, i: int) -> int:
        """The piece behind this one, or behind the brackets that it opens."""
        return max(self.items[i].match, i) + 1

    def split(self, lo: int, hi: int, *marks: str) -> list[tuple[int, int]]:
        """The stretches between these marks, outside all brackets."""
        out, start, i = [], lo, lo
        while i < hi:
            if self.items[i].kind == "op" and self.items[i].text in marks:
                out.append((start, i))
                start = i + 1
            i = self.beyond(i)
        out.append((start, hi))
        return out

    def outside(self, lo: int, hi: int) -> list[int]:
        """The pieces outside all brackets."""
        out = []
        while lo < hi:
            out.append(lo)
            lo = self.beyond(lo)
        return out

    # ------------------------------------------------------------ expressions

    def expression(self, lo: int, hi: int, index: bool = False) -> Doc:
        """An expression, or whatever stands there. `index`: it is about positions, where `[i,j]` is written close
        together."""
        return self.chain(self.units(lo, hi, index), index)

    def chain(self, units: list[Unit], index: bool) -> Doc:
        operators = [u for u in units if u.binds]
        if not operators:
            return separated((u.doc for u in units), Text(" "))
        loosest = min(u.binds for u in operators)
        if loosest == _ASSIGNED:
            return self.assigned(units, index)
        if loosest == _CONDITIONAL:
            return self.conditional(units, index)
        parts: list[Doc] = []
        run: list[Unit] = []
        for unit in units:
            if unit.binds == loosest:
                parts.append(self.chain(run, index))
                parts.append(unit.doc)
                run = []
            else:
                run.append(unit)
        parts.append(self.chain(run, index))
        if len(parts) > _MANY and all((part.flat or _SHORT) < _SHORT for part in parts):
            terms = [
                parts[0],
                *(cat(operator, " ", operand) for operator, operand in zip(parts[1::2], parts[2::2], strict=True)),
            ]
            return Listed(Text(""), tuple(terms), Text(""))
        docs = [parts[0]]
        short = len(parts) == 3 and (parts[0].flat or _SHORT) < _SHORT
        for operator, operand in zip(parts[1::2], parts[2::2], strict=True):
            docs += [Gap(cat(operator, " ", operand)) if short else Line(), operator, Text(" "), operand]
        return Group(Align(Cat(tuple(docs))))

    def assigned(self, units: list[Unit], index: bool) -> Doc:
        """`a = b`; within index names without blanks."""
        at = next(i for i, u in enumerate(units) if u.binds == _ASSIGNED)
        gap = "" if index else " "
        return cat(self.chain(units[:at], index), gap, units[at].doc, gap, self.chain(units[at + 1 :], index))

    def conditional(self, units: list[Unit], index: bool) -> Doc:
        """`c ? a : b`, also in a row."""
        docs: list[Doc] = []
        start = 0
        row = sum(u.text == "?" for u in units) > 1
        for at, unit in enumerate(units):
            if unit.binds == _CONDITIONAL:
                gap: Doc = Text(" ") if row and unit.text == "?" else Line()
                docs += [self.chain(units[start:at], index), gap, unit.doc, Text(" ")]
                start = at + 1
        docs.append(self.chain(units[start:], index))
        return Group(Align(cat(docs[0], Nest(Cat(tuple(docs[1:])), 0 if row else 2))))

    # ------------------------------------------------------------ operands and operators

    def units(self, lo: int, hi: int, index: bool) -> list[Unit]:
        """The stretch as operands and operators."""
        out: list[Unit] = []
        i = lo
        while i < hi:
            piece = self.items[i]
            wanted = not out or out[-1].binds > 0
            if wanted:
                start = i
                doc, i = self.operand(i, hi, index)
                out.append(Unit(doc, 0, start))
            elif piece.kind == "op" and piece.text not in OPENING:
                out.append(Unit(self.token(i), self.binding(piece.text), i, piece.text))
                i += 1
            elif piece.kind == "name" and i + 2 < hi and self.has(i + 1, "::") and self.items[i + 2].kind == "op":
                out.append(
                    Unit(
                        cat(self.token(i), self.token(i + 1), self.token(i + 2)),
                        self.binding(self.items[i + 2].text),
                        i,
                    )
                )
                i += 3
            elif piece.kind == "name" and piece.text in _STEPS and i + 1 < hi:
                out.append(Unit(self.token(i), _RANGE, i, piece.text))
                i += 1
            else:
                start = i
                doc, i = self.operand(i, hi, index)
                out.append(Unit(doc, 0, start))
        return out

    @staticmethod
    def binding(operator: str) -> float:
        if operator in ASSIGNMENT:
            return _ASSIGNED
        if operator in ("?", ":"):
            return _CONDITIONAL
        return PRECEDENCE.get(operator, USER_OPERATOR)

    def operand(self, i: int, hi: int, index: bool) -> tuple[Doc, int]:
        """An operand with its prefixes and what is behind it."""
        parts: list[Doc] = []
        while i < hi:
            piece = self.items[i]
            if piece.kind == "op" and piece.text not in OPENING:
                parts.append(self.token(i))
                i += 1
                if piece.text in (".", "...") and not (i < hi and self.items[i].kind == "name"):
                    return cat(*parts), i
                if i < hi and self._merge(piece, self.items[i]):
                    parts.append(Text(" "))
                continue
            if self.is_cast(i, hi):
                parts.append(self.brackets(i, index))
                i = self.beyond(i)
                continue
            break
        if i < hi:
            if self.has(i, "with") and i + 1 < hi and self.has(i + 1, "{"):
                doc, i = self.with_loop(i, hi)
            else:
                doc, i = self.primary(i, hi, index)
            parts.append(doc)
        return (parts[0] if len(parts) == 1 else Cat(tuple(parts))), i

    def _merge(self, left: Piece, right: Piece) -> bool:
        """Whether two operators side by side would be read as others."""
        return (
            right.kind == "op"
            and right.text not in OPENING
            and self.pieces.cutter.cut(left.text + right.text) != [left.text, right.text]
        )

    def primary(self, i: int, hi: int, index: bool) -> tuple[Doc, int]:
        """A name, literal or bracket, and the selections, fields and arguments behind it."""
        piece = self.items[i]
        if piece.kind == "string" and i + 1 < hi and self.items[i + 1].kind == "string":
            end = i
            while end < hi and self.items[end].kind == "string":
                end += 1
            return Group(Align(separated((self.token(j) for j in range(i, end)), Line()))), end
        if piece.kind == "name" and piece.text in self.pieces.quoting and i + 1 < hi and self.has(i + 1, "("):
            end = self.beyond(i + 1)
            return self.verbatim(i, end), end
        parts = [self.brackets(i, index) if piece.match > i else self.token(i)]
        named = piece.kind == "name"
        i = self.beyond(i)
        while i < hi:
            piece = self.items[i]
            if piece.kind != "op":
                break
            if piece.text == "::" and i + 1 < hi:
                parts += [self.token(i), self.token(i + 1)]
                i += 2
                continue
            if piece.text == "." and i + 1 < hi and self.items[i + 1].kind == "name" and not piece.breaks:
                parts += [self.token(i), self.token(i + 1)]
                i += 2
                named = False
                continue
            postfix = piece.text in ("(", "[") or (piece.text == "{" and named)
            if postfix and not self._apart(piece):
                parts.append(self.brackets(i, index, subscript=piece.text == "["))
                i = self.beyond(i)
                named = False
                continue
            if piece.text in ("++", "--") and (i + 1 >= hi or self.has(i + 1, ",", ";", ")")):
                parts.append(self.token(i))
                i += 1
            break
        return (parts[0] if len(parts) == 1 else Cat(tuple(parts))), i

    @staticmethod
    def _apart(piece: Piece) -> bool:
        return any(remark.kind == "directive" for remark in piece.before)

    def is_cast(self, i: int, hi: int) -> bool:
        """Whether `(..)` is a type in front of an operand."""
        piece = self.items[i]
        close = piece.match
        if piece.text != "(" or close < 0 or close + 1 >= hi:
            return False
        j = i + 1
        if self.has(j, "struct"):
            j += 1
        if self.items[j].kind != "name":
            return False
        base = self.items[j].text in BASE_TYPES or j > i + 1
        j += 1
        if self.has(j, "::"):
            j += 2
        if self.has(j, "["):
            j = self.beyond(j)
        if j != close:
            return False
        behind = self.items[close + 1]
        if behind.kind in _WRITTEN:
            return behind.text not in _STEPS
        return behind.text in OPENING or base

    def verbatim(self, lo: int, hi: int) -> Doc:
        """The text as it is, for arguments of macros that make strings of them."""
        start, end = self.items[lo].start, self.items[hi - 1].end
        lines = self.pieces.source.text[start:end].split("\n")
        first = Text(lines[0].rstrip()) if len(lines) > 1 else Text(lines[0])
        if lo not in self.taken:
            first = Cat((*(self.remark(r) for r in self.items[lo].before), first))  # type: ignore[assignment]
        after = [
            Suffix(r.text, r.column) if r.last else cat(" ", Block(r.text, r.column)) for r in self.items[hi - 1].after
        ]
        return Cat((first, *(d for line in lines[1:] for d in (Hard(), Text(line.strip()))), *after))

    # ------------------------------------------------------------ brackets

    def brackets(self, i: int, index: bool, subscript: bool = False) -> Doc:
        """A bracket with what is in it."""
        if self.has(i, "{"):
            if i and self.items[i - 1].kind == "name" and not self.has(i - 1, "return", "with"):
                return self.listed(i, ", ", index=False)
            return self.comprehension(i)
        close = self.items[i].match
        if self.has(i, "["):
            items = self.split(i + 1, close, ",")
            if (subscript or index) and all(self._atom(lo, hi) for lo, hi in items):
                return self.listed(i, ",", index=True)
            if self.has(i + 1, ":"):
                return cat(self.token(i), self.token(i + 1), self.expression(i + 2, close, True), self.token(close))
            if not subscript and len(items) > 1:
                return self.array(i, items)
        return self.listed(i, ", ", index=index or subscript)

    def _atom(self, lo: int, hi: int) -> bool:
        """An index that needs no room: a name, a number, a dot; an index vector of these; `d:shp` and `d>0:shp`."""
        if hi - lo == 1:
            piece = self.items[lo]
            return piece.kind in ("name", "number") or piece.text in _ATOMS
        if self.has(lo, "[") and self.items[lo].match == hi - 1:
            return all(self._atom(a, b) for a, b in self.split(lo + 1, hi - 1, ","))
        if hi - lo == 2 and self.has(lo, "-"):
            return self.items[lo + 1].kind == "number"
        return (
            hi - lo >= 3
            and any(self.has(j, ":") for j in range(lo, hi))
            and not any(self.has(j, "?") for j in range(lo, hi))
        )

    def listed(self, i: int, comma: str, index: bool) -> Doc:
        """Items with commas between."""
        close = self.items[i].match
        if close == i + 1:
            return cat(self.token(i), self.token(close))
        items = self.split(i + 1, close, ",")
        closing = self.token(close)
        docs = []
        for lo, hi in items:
            item = (
                self.expression(lo, hi, index)
                if comma != "," or self.has(lo, "[")
                else cat(*(self.token(j) for j in range(lo, hi)))
            )
            docs.append(cat(item, self.token(hi)) if hi < close else item)
        hug = len(items) == 1 and self.has(items[0][0], "with")
        return Listed(self.token(i), tuple(docs), closing, comma[1:], hug)

    def array(self, i: int, items: list[tuple[int, int]]) -> Doc:
        """An array's elements. Rows stay rows: where lines were broken between elements they stay broken, and rows that
        do not fit on one line stand below one another, their numbers in columns."""
        close = self.items[i].match
        broken = any(self.items[lo].breaks for lo, _ in items[1:])
        if all(self.has(lo, "[") and self.items[lo].match == hi - 1 for lo, hi in items):
            rows = self.table(items)
            docs = [cat(row, *([self.token(hi)] if hi < close else [])) for row, (_, hi) in zip(rows, items)]
            return Group(cat(self.token(i), Align(separated(docs, Hard() if broken else Line())), self.token(close)))
        docs = [cat(self.expression(lo, hi), *([self.token(hi)] if hi < close else [])) for lo, hi in items]
        opening, closing = self.token(i), self.token(close)
        if not broken:
            return Listed(opening, tuple(docs), closing)
        out: list[Doc] = []
        for (lo, _), doc in zip(items, docs):
            out += [Hard() if self.items[lo].breaks else Text(" "), doc] if out else [doc]
        return cat(opening, Align(Cat(tuple(out))), closing)

    def table(self, rows: list[tuple[int, int]]) -> list[Doc]:
        """Rows of an array; if all are numbers in equally many columns, these are aligned where the rows stand below
        one another."""
        plain = [self.expression(lo, hi) for lo, hi in rows]
        cells = [[self.number(a, b) for a, b in self.split(lo + 1, hi - 1, ",")] for lo, hi in rows]
        count = len(cells[0])
        if any(len(row) != count or "" in row for row in cells) or any(self.items[lo].before for lo, _ in rows):
            return plain
        widths = [max(len(row[k]) for row in cells) for k in range(count)]
        docs: list[Doc] = []
        for flat, row, (lo, hi) in zip(plain, cells, rows):
            padded = ", ".join(f"{text:>{width}}" for text, width in zip(row, widths))
            docs.append(Either(cat(self.token(lo), padded, self.token(hi - 1)), flat))
        return docs

    def number(self, lo: int, hi: int) -> str:
        """The text of a number without remarks, "" for anything else."""
        pieces = self.items[lo:hi]
        signed = len(pieces) == 1 or (len(pieces) == 2 and pieces[0].text == "-")
        if not signed or pieces[-1].kind != "number" or any(p.before or p.after for p in self.items[lo : hi + 1]):
            return ""
        return "".join(p.text for p in pieces)

    # ------------------------------------------------------------ what `withloops` and `statements` add

    def comprehension(self, i: int) -> Doc:
        """The comprehension that this brace opens."""
        raise NotImplementedError

    def with_loop(self, i: int, hi: int) -> tuple[Doc, int]:
        """The with-loop that begins here; gives where to go on."""
        raise NotImplementedError
