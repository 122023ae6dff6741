"""Where a pragma ends, and what those of a with-loop ask for.

sac2c reads a pragma by its grammar, not by its line: macros put several, and the definition behind them, on one line.
So does this: the words known take their operands; whatever follows belongs to the program. An unknown word takes the
whole line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.lang.source import Span
from sacpy.lang.tokens import Token, Written

if TYPE_CHECKING:
    from sacpy.lang.core import WithLoop

MAPPING = frozenset(
    (
        "gpukernel",
        "gpuparam",
        "gpumem",
        "gpufold",
        "commutative",
        "noncommutative",
        "gpublock",
        "force",
        "gputhreads",
        "gpueach",
    )
)  # may be broken anywhere between tokens, over several lines
_NO_OPERAND = frozenset(("safe", "nocuda", "commutative", "noncommutative", "force"))
_COUNTED = frozenset(("gpublock", "gputhreads", "gpueach"))  # a number in parentheses, on the same line
_OPERANDS = frozenset(
    [
        "linkname",
        "linkobj",
        "linkwith",
        "linksign",
        "refcounting",
        "effect",
        "header",
        "copyfun",
        "freefun",
        "ctype",
        "sacarg",
        "wlcomp",
        "gpukernel",
        "gpumem",
        "gpufold",
    ]
)
# take no arguments: a parenthesis behind them, on the next line say, is the generator's
_PLAIN = frozenset(("Gen", "global", "interleaved", "halving", "shuffle"))
_FOREIGN = frozenset("<>=;{}:.")  # in no operand: they belong to the program behind a pragma that is not closed
_CLOSING = {"(": ")", "[": "]"}
STAGE = ("force", "gputhreads", "gpueach")
_KERNEL = ("gpukernel", "gpufold", "gpublock", *STAGE)


def word_of(text: str) -> str:
    """The word of a pragma, by its text: `gpublock` of `gpublock(256)`."""
    return text.lstrip().partition("(")[0].partition(" ")[0].strip()


def asks(text: str) -> bool:
    """Whether a pragma, by its text, asks for a kernel: with a mapping, with arrays to be staged in shared memory, with
    a way to put together what threads fold, or as a block's program or a stage of one."""
    return text.startswith(_KERNEL) or (text.startswith("gpumem") and "shared" in text)


def read(tokens: Sequence[Token], at: int, start: int, whole: bool = False) -> tuple[Token, int]:
    """The pragma whose word `pragma` is `tokens[at]`, and where the tokens behind it begin. `start` is the offset of
    its `#`; `whole`: an unknown one reaches to the end of the tokens, otherwise only over its word."""
    end = at + 1
    word = tokens[end].text if end < len(tokens) else ""
    if word in _NO_OPERAND:
        end += 1
    elif word in _OPERANDS:
        end = _operands(tokens, end + 1)
    elif word in _COUNTED:
        end += 1
        if end < len(tokens) and tokens[end].text == "(" and tokens[end].span.line == tokens[end - 1].span.line:
            end = _group(tokens, end)
    elif word == "gpuparam":
        end = _parameter(tokens, end + 1)
    elif whole:
        end = len(tokens)
    else:
        end = min(end + 1, len(tokens))
    parts = tokens[at + 1 : end]
    text, words = "", []
    for i, token in enumerate(parts):
        text += " " if i and token.spaced else ""
        words.append((len(text), token.span))
        text += token.text
    first, last = tokens[at].span, tokens[end - 1].span
    stop = last.end if last.source is first.source else first.end
    return Token(
        "pragma",
        "#pragma " + text,
        Span(first.source, min(start, first.start), max(stop, first.end), first.macro),
        Written(text, tuple(words)),
        True,
    ), end


def _operands(tokens: Sequence[Token], at: int) -> int:
    """operands = operand {"," operand}"""
    at = _operand(tokens, at)
    while at < len(tokens) and tokens[at].text == "," and at + 1 < len(tokens):
        at = _operand(tokens, at + 1)
    return at


def _parameter(tokens: Sequence[Token], at: int) -> int:
    """parameter = name "=" operands"""
    if at + 1 < len(tokens) and tokens[at].kind == "name" and tokens[at + 1].text == "=":
        return _operands(tokens, at + 2)
    return at


def _operand(tokens: Sequence[Token], at: int) -> int:
    """operand = string {string} | number | "[" ... "]" | name {"::" name} ["(" ... ")"]"""
    if at >= len(tokens):
        return at
    kind = tokens[at].kind
    if kind == "string":
        while at < len(tokens) and tokens[at].kind == "string":
            at += 1
        return at
    if kind == "number":
        return at + 1
    if tokens[at].text == "[":
        return _group(tokens, at)
    if kind == "name":
        at += 1
        while at + 1 < len(tokens) and tokens[at].text == "::" and tokens[at + 1].kind == "name":
            at += 2
        has_group = at < len(tokens) and tokens[at].text == "(" and tokens[at - 1].text not in _PLAIN
        return _group(tokens, at) if has_group else at
    return at


def _group(tokens: Sequence[Token], at: int) -> int:
    """Past the bracket that closes `tokens[at]`. Where none does, the pragma ends in front of the line that cannot
    belong to it, the bracket's own line if that begins with it."""
    opening = tokens[at].text
    depth = 0
    for i in range(at, len(tokens)):
        if not _FOREIGN.isdisjoint(tokens[i].text) and tokens[i].kind == "op":
            start = _line_start(tokens, i)
            return start if start >= at else at + 1
        depth += (tokens[i].text == opening) - (tokens[i].text == _CLOSING[opening])
        if depth == 0:
            return i + 1
    return len(tokens)


def _line_start(tokens: Sequence[Token], at: int) -> int:
    """The first token on the line of `tokens[at]`."""
    line = tokens[at].span.line
    while at > 0 and tokens[at - 1].span.line == line and tokens[at - 1].span.source is tokens[at].span.source:
        at -= 1
    return at


def laid_out(loop: WithLoop) -> bool:
    """Whether a pragma asks for a kernel."""
    return any(map(asks, _texts(loop)))


def is_program(loop: WithLoop) -> bool:
    """Whether its cells, or some of them, are programs of a block."""
    return any(text.startswith("gpublock") for text in _texts(loop))


def _texts(loop: WithLoop) -> list[str]:
    return [p.text for pragmas in (loop.pragmas, *(q.pragmas for q in loop.partitions)) for p in pragmas]


def order_of_fold(loop: WithLoop) -> bool | None:
    """What the pragmas say of the order of the with-loop's folds."""
    if not loop.pragmas:
        return None
    from sacpy.withloop.pragmas import order_of

    return order_of(p.text for p in loop.pragmas)
