"""Comprehensions of arrays: `{ [i,j] -> e | lb <= [i,j] < ub }`.

In: a parser that stands in one. Out: its parts. Each docstring is the piece of grammar that its function reads. And at
a `->` that stands in none: what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_operands import STOP_BAR, STOP_LESS
from sacpy.lang.source import Span

if TYPE_CHECKING:
    from sacpy.lang.parse_cursor import Cursor
    from sacpy.lang.parse_withloops import WithLoopParser


def tensor_part(parser: WithLoopParser) -> ast.TensorPart:
    """tpart = (iv | "[" [item {"," item}] "]") "->" expr ["|" range]"""
    start = parser.pos
    vector: str | None = None
    items: tuple[str | ast.Dot | ast.Dots, ...] = ()
    if parser.keys[start] == "[":
        items = index_items(parser)
    elif parser.kinds[start] == "name":
        vector = parser.expect_name("an index")
        parser.locals.add(vector)
    else:
        parser.fail(
            "E0230",
            f"expected the index of a comprehension, found {parser.describe(start)}",
            label="expected a name or `[i,j]`",
            help="a comprehension reads `{ [i,j] -> e | [i,j] < shp }`",
        )
    lhs_span = parser.span(start)
    if parser.keys[parser.pos] != "->":
        colon = parser.keys[parser.pos] == ":"
        parser.fail(
            "E0230",
            f"expected `->` in the comprehension, found {parser.describe(parser.pos)}",
            label="expected `->`",
            labels=(Label(lhs_span, "its index"),),
            help="a comprehension reads `{ iv -> e | iv < shp }`"
            + ("" if colon else "; a block of statements belongs to `if`, `while`, `do` or `for`"),
            edit=Edit(parser.spans[parser.pos], "->") if colon else None,
        )
    parser.pos += 1
    parser.stops = STOP_BAR
    value = parser.expression()
    range = None
    if parser.keys[parser.pos] == "|":
        parser.pos += 1
        names = tuple(item for item in items if isinstance(item, str))
        range = index_range(parser, vector, names)
    parser.stops = 0
    return ast.TensorPart(vector, items, value, range, parser.span(start), lhs_span)


def index_items(parser: WithLoopParser) -> tuple[str | ast.Dot | ast.Dots, ...]:
    """ "[" [(id | "." | "...") {"," (id | "." | "...")}] "]" """
    opening = parser.pos
    parser.pos += 1
    items: list[str | ast.Dot | ast.Dots] = []
    while parser.keys[parser.pos] != "]":
        key, span = parser.keys[parser.pos], parser.spans[parser.pos]
        if key in (".", "..."):
            if key == "..." and any(isinstance(item, ast.Dots) for item in items):
                parser.refuse_second_dots()
            parser.pos += 1
            items.append(ast.Dot(span) if key == "." else ast.Dots(span))
        else:
            if parser.kinds[parser.pos] != "name":
                parser.fail(
                    "E0230",
                    f"the index of a comprehension holds names and dots, not {parser.describe(parser.pos)}",
                    label="expected a name",
                    help="put the computation behind the `->`",
                )
            name = parser.expect_name("an index")
            parser.locals.add(name)
            items.append(name)
        if parser.keys[parser.pos] != ",":
            break
        parser.pos += 1
    if parser.infix[parser.pos]:
        parser.fail(
            "E0230",
            "the index of a comprehension holds names and dots, no computation",
            label="computed",
            help="put the computation behind the `->`",
        )
    parser.close(opening, "`,` or ", operands=False)
    return tuple(items)


def index_range(parser: WithLoopParser, vector: str | None, names: tuple[str, ...]) -> ast.TensorRange:
    """range = bound cmp idx [cmp bound] | idx cmp bound, then ["step" expr ["width" expr]]"""
    start = parser.pos
    bar = start - 1
    lower, upper, lower_inclusive, upper_inclusive = None, None, True, False
    parser.stops = STOP_LESS
    first = None if parser.keys[start] == "." else parser.expression()
    if first is None:
        parser.pos += 1
    parser.stops = 0
    if first is not None and _is_index(first, vector, names):
        upper_inclusive = parser._comparison(bar)
        upper = parser._bound(0)
    else:
        lower = first
        lower_inclusive = parser._comparison(bar)
        range_index(parser, start, vector, names)
        if parser.keys[parser.pos] in ("<", "<="):
            upper_inclusive = parser._comparison(bar)
            upper = parser._bound(0)
    step, width = parser._step_width()
    return ast.TensorRange(lower, lower_inclusive, upper, upper_inclusive, step, width, parser.span(start))


def range_index(parser: WithLoopParser, start: int, vector: str | None, names: tuple[str, ...]) -> None:
    """The index again, which must be the one on the left of `->`; the range begins at token `start`."""
    found: tuple[str | None, tuple[str, ...] | None] = (None, None)
    if parser.kinds[parser.pos] == "name" or (
        parser.keys[parser.pos] == "[" and parser.kinds[parser.pos + 1] == "name"
    ):
        found = parser._index()
    if found != ((vector, None) if vector else (None, names)):
        written = vector or f"[{','.join(names)}]"
        parser.fail(
            "E0230", f"the range of this comprehension must be one of its index `{written}`", parser.span(start),
            label=f"`{written}` expected",
            help=f"write `lb <= {written} < ub`, `{written} < ub` or `lb <= {written}`",
        )  # fmt: skip


def _is_index(expr: ast.Expr, vector: str | None, names: tuple[str, ...]) -> bool:
    """Whether an expression is just the index of the comprehension."""
    if vector is not None:
        return isinstance(expr, ast.Name) and str(expr.name) == vector
    return isinstance(expr, ast.ArrayLiteral) and [
        str(e.name) if isinstance(e, ast.Name) else None for e in expr.elements
    ] == list(names)


def refuse_arrow(parser: Cursor, start: int, opened: int) -> None:
    """At a `->` behind an operand that begins at token `start`: says what is wrong with it, if that can be told.
    `opened`: where the last brackets of the operand begin, if it has any."""
    keys = parser.keys
    index = opened or start * (keys[start] == "[")
    if index and _is_in_range(parser, index):
        parser.fail(
            "E0202",
            f"expected `;` between the partitions, found {parser.describe(index)}",
            parser.behind(index),
            label="expected `;`",
            help="the partitions of a comprehension are separated by `;`",
            edit=Edit(parser.behind(index), ";"),
        )
    end = _end(parser)
    if keys[start] == "[" or _has_range(keys[parser.pos : end], keys[start]):
        span, last = parser.spans[start], parser.behind(end)
        edit = Edit(parser.behind(start), " {")
        if keys[end] != "}" and last.source is span.source:
            whole = Span(span.source, span.start, last.end, span.macro)
            edit = Edit(whole, f"{{ {span.source.text[whole.start : whole.end]} }}")
        parser.fail(
            "E0230",
            "a comprehension stands in braces",
            span,
            label="expected `{`",
            help="a comprehension reads `{ iv -> e | iv < shp }`",
            edit=edit,
        )
    if parser.kinds[parser.pos + 1] == "name":
        parser.fail(
            "E0218",
            "SaC has no pointers",
            label="`->` reaches through a pointer",
            help="write `.` for the field of a struct",
            edit=Edit(parser.spans[parser.pos], "."),
        )


def _is_in_range(parser: Cursor, at: int) -> bool:
    """Whether the innermost bracket around a token opens a comprehension, whose range has begun."""
    depth = 0
    for k in range(at - 1, -1, -1):
        key = parser.keys[k]
        depth += (key in (")", "]", "}")) - (key in ("(", "[", "{"))
        if depth < 0:
            behind = parser.keys[k + 1 : at]
            if key != "{" or "->" not in behind or behind[-1] == ";":
                return False
            index, rest = behind[: behind.index("->")], behind[behind.index("->") :]
            return (len(index) == 1 or (index[:1] == ["["] and index.index("]") == len(index) - 1)) and "|" in rest
    return False


def _end(parser: Cursor) -> int:
    """The token before which the expression at hand ends at the latest."""
    depth, k = 0, parser.pos
    while k + 1 < len(parser.spans):  # the last is the end of the text; there are keys behind it
        key = parser.keys[k]
        depth += (key in ("(", "[")) - (key in (")", "]"))
        if depth < 0 or key in (";", "{", "}") or (key == "," and not depth):
            break
        k += 1
    return k


def _has_range(keys: Sequence[str], index: str) -> bool:
    """Whether there is a bar in what follows, and a range of this index."""
    ranges = ((index, "<"), (index, "<="), ("<=", index))
    return "|" in keys and any(pair in ranges for pair in pairwise(keys))
