"""Patterns of what other languages write, and templates of what SaC writes for it.

A pattern is a text in pieces. A single small letter in it stands for an expression: `f`, `g`, `i`, `j` for a plain
name, `h` for any word, `l` for a string, `o` for what stands in no parentheses; `..` and `...` for anything up to what
comes next. A backslash makes a letter stand for itself, everything else does so. A pattern that begins
with an expression, or with `..`, takes what stands to the left of its first sign: `..` all of it, back to an
assignment, a bracket or a comma.

A template is SaC with the same letters. Small letters that the pattern lacks are names of its own; they are changed
where the text has them already. What is put in gets parentheses where it needs them. `..{i: v[j]}` is what `..` stands
for, with `v[j]` in place of the name that `i` stands for; behind a comma and a space there may be more such names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sacpy.lang.advice.pieces import (
    CLOSERS,
    OPENERS,
    WORDS,
    Piece,
    closing,
    is_expression,
    operand_end,
    pieces,
    primary_ends,
)
from sacpy.nodes import Node

PLAIN = frozenset("fgij")
WORD, STRING, OPEN = "h", "l", "o"
REST = ("..", "...")
_LEFT_ENDS = frozenset(("=", "(", "[", "{", ",", ";", "return", "}", "+=", "-=", "*=", "/="))
_TIGHT = frozenset(("(", ",", "[", "=", "return", "<", "<=", ":", "|", "{", ";", "?", "->"))
_TIGHT_BEHIND = frozenset((")", ",", "]", ";", ":", "|", "}", "?"))
_VARIABLE = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.])(?:[a-z]|\.\.\.?)(?!\w)')
_REPLACING = re.compile(rf"(?P<rest>\.\.\.?)\{{(?P<by>[a-z]: [^}}]*)\}}|{_VARIABLE.pattern}")
_SPARE = "ijkpqrtuw"

Captured = Mapping[str, tuple[int, int]]
"""Variable -> the indices of the first of its pieces and of the one behind the last."""


class Pattern(Node):
    """`text`: as the table has it; `items`: its pieces, those that stand for something as one-element tuples; `words`:
    the others."""

    text: str
    items: tuple[str | tuple[str], ...]

    @property
    def words(self) -> frozenset[str]:
        """What must occur in a text for the pattern to match."""
        return frozenset(item for item in self.items if isinstance(item, str))

    @property
    def weight(self) -> int:
        """How much of the pattern stands for itself."""
        return sum(isinstance(item, str) for item in self.items)

    @property
    def side_by_side(self) -> bool:
        """Whether two expressions stand side by side in it."""
        return any(not isinstance(a, str) and not isinstance(b, str) for a, b in pairwise(self.items))


def pattern(text: str) -> Pattern:
    """Reads a pattern."""
    items: list[str | tuple[str]] = []
    escaped = False
    for piece in pieces(text, comments=True):
        if piece.text == "\\" and not escaped:
            escaped = True
            continue
        variable = not escaped and (
            piece.text in REST or (len(piece.text) == 1 and piece.kind == "name" and piece.text.islower())
        )
        items.append((piece.text,) if variable else piece.text)
        escaped = False
    return Pattern(text, tuple(items))


def match(pattern: Pattern, found: Sequence[Piece], at: int) -> tuple[int, Captured] | None:
    """The index behind what the pattern matches from `at` on, and what its variables stand for."""
    captured: dict[str, tuple[int, int]] = {}
    end = _match(pattern.items, 0, found, at, captured)
    return None if end is None else (end, captured)


def _match(
    items: Sequence[str | tuple[str]], k: int, found: Sequence[Piece], at: int, captured: dict[str, tuple[int, int]]
) -> int | None:
    while k < len(items):
        item = items[k]
        if isinstance(item, str):
            if (
                at >= len(found)
                or found[at].text != item
                or (k and found[at].opens_line and item not in (")", "]", "}"))
            ):
                return None
            at, k = at + 1, k + 1
            continue
        for end in _ends(item[0], items, k, found, at):
            before = captured.get(item[0])
            if before is not None and [p.text for p in found[slice(*before)]] != [p.text for p in found[at:end]]:
                continue
            tried = captured | {item[0]: (at, end)}
            rest = _match(items, k + 1, found, end, tried)
            if rest is not None:
                captured.update(tried)
                return rest
        return None
    return at


def _ends(name: str, items: Sequence[str | tuple[str]], k: int, found: Sequence[Piece], at: int) -> Sequence[int]:
    """Where what a variable stands for may end, the nearest first."""
    if name in PLAIN or name == WORD:
        return (
            [at + 1]
            if at < len(found) and found[at].kind == "name" and (name == WORD or found[at].text not in WORDS)
            else []
        )
    if name == STRING:
        return [at + 1] if at < len(found) and found[at].kind == "string" else []
    if (
        name == OPEN
        and at < len(found)
        and found[at].text == "("
        and (
            len(items) == k + 1
            or (closing(found, at) + 1 < len(found) and found[closing(found, at) + 1].text == items[k + 1])
        )
    ):
        return []
    rest = name in REST
    first, last = k == 0, k == len(items) - 1
    if first and not rest:
        return primary_ends(found, at)
    if last and not rest:
        return [end] if (end := operand_end(found, at)) > at else []
    ends = _stretches(found, at, rest, first)
    return ends[-1:] if last else ends if rest else [end for end in ends if is_expression(found, at, end)]


def _stretches(found: Sequence[Piece], at: int, rest: bool, first: bool) -> list[int]:
    """Where a stretch of whole brackets from `at` on may end: on its line, before the next `;` or, but for `..`,
    comma."""
    ends = [at] if rest else []
    end = at
    while end < len(found) and not (found[end].opens_line and end > at):
        piece = found[end]
        if first and piece.text in _LEFT_ENDS:
            break
        if piece.kind == "sign" and (piece.text in CLOSERS or piece.text == ";" or (piece.text == "," and not rest)):
            break
        end = closing(found, end) + 1 if piece.kind == "sign" and piece.text in OPENERS else end + 1
        if not end:
            break
        ends.append(end)
    return ends


def starts(pattern: Pattern, found: Sequence[Piece], low: int, high: int) -> Sequence[int]:
    """Where a match may begin, from the piece `low` up to `high`."""
    first = pattern.items[0]
    if isinstance(first, str):
        return [i for i in range(low, high) if found[i].text == first]
    if first[0] in PLAIN:
        return [i for i in range(low, high) if found[i].kind == "name"]
    if first[0] in REST:
        return [i for i in range(low, high) if i == 0 or found[i].opens_line or found[i - 1].text in _LEFT_ENDS]
    return [i for i in range(low, high) if not (i and found[i - 1].text == "." and found[i].glued)]


def filled(template: str, text: str, found: Sequence[Piece], captured: Captured, shown: bool = False) -> str:
    """The template with what the variables stand for. `shown`: it is only to be looked at, so `..` in it stands for
    itself."""
    values = {
        name: text[found[a].start : found[b - 1].end] if b > a else ""
        for name, (a, b) in captured.items()
        if not (shown and name in REST)
    }
    simple = {name: b - a < 2 or operand_end(found, a) == b for name, (a, b) in captured.items()}
    taken = {p.text for a, b in captured.values() for p in found[a:b] if p.kind == "name"}
    own = [n for n in dict.fromkeys(m[0] for m in _VARIABLE.finditer(template)) if len(n) == 1 and n not in values]
    spare = (n for n in _SPARE if n not in taken and n not in own)
    renamed = {n: next(spare) if n in taken and not shown else n for n in own}

    def put(match: re.Match[str]) -> str:
        if match.re is _REPLACING and match["rest"]:
            by = dict(pair.split(": ", 1) for pair in re.split(r", (?=[a-z]: )", match["by"]))
            named = {values[name]: _VARIABLE.sub(put, one) for name, one in by.items()}
            return _with(text, found[slice(*captured[match["rest"]])], named)
        name = match[0]
        if name[0] == '"' or (name not in values and name not in renamed):
            return name
        if name in renamed:
            return renamed[name]
        if simple[name] or name in REST or _enclosed(template, match.start(), match.end()):
            return values[name]
        return f"({values[name]})"

    return _REPLACING.sub(put, template)


def _with(text: str, found: Sequence[Piece], named: Mapping[str, str]) -> str:
    """A stretch of a text with other things in place of some names."""
    made, at = "", found[0].start
    for before, piece in zip((None, *found), found):
        if piece.kind == "name" and piece.text in named and not (before and before.text == "." and piece.glued):
            made, at = made + text[at : piece.start] + named[piece.text], piece.end
    return made + text[at : found[-1].end]


def _enclosed(template: str, start: int, end: int) -> bool:
    """Whether what stands there is cut off from the rest, so that an expression of operators needs no parentheses."""
    before, behind = pieces(template, 0, start), pieces(template, end, comments=True)
    first = not before or before[-1].text in _TIGHT
    return first and (not behind or behind[0].text in _TIGHT_BEHIND)
