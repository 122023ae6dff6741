"""The expressions of `#if`: whole numbers of 64 bits, as in C.

In: the tokens behind `#if`, macros already replaced and `defined` answered. Out: a number; SacError where it is no such
expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from sacpy.lang import literals
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.operators import Cutter
from sacpy.lang.tokens import Token

NESTED_LIMIT = 100
LENGTH_LIMIT = 10_000
_LEVELS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_BINARY: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: _shifted(a, b),
    ">>": lambda a, b: _shifted(a, -b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
_CUTTER = Cutter(())
_WORDS = {"true": 1}


def evaluate(tokens: Sequence[Token], directive: Token) -> int:
    """The value of an expression; names that are no macros count as 0."""
    return _Expression(tokens, directive).value()


class _Expression:
    def __init__(self, tokens: Sequence[Token], directive: Token) -> None:
        self._directive = directive
        if len(tokens) > LENGTH_LIMIT:
            raise SacError(
                Diagnostic(
                    "E0116",
                    "the expression is too long",
                    directive.span,
                    f"more than {LENGTH_LIMIT} tokens",
                    help="take it apart, with macros for its parts",
                )
            )
        self._tokens: list[Token] = []
        for token in tokens:
            self._tokens += (
                [token._replace(text=text) for text in _CUTTER.cut(token.text)] if token.kind == "op" else [token]
            )
        self._at = 0
        self._depth = 0
        self._counts = True  # false while the untaken side of `&&`, `||` or `?:` is read

    def value(self) -> int:
        """expression = conditional"""
        if not self._tokens:
            self._fail("an expression is missing")
        found = self._conditional()
        if self._at < len(self._tokens):
            self._fail("the expression should end before this")
        return found

    def _fail(self, label: str) -> NoReturn:
        token = self._tokens[min(self._at, len(self._tokens) - 1)] if self._tokens else self._directive
        raise SacError(
            Diagnostic(
                "E0116",
                "this is not an expression that `#if` can decide",
                token.span,
                label,
                help="use whole numbers, macros, `defined(NAME)` and C's operators",
            )
        )

    def _text(self) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at].kind == "op":
            return self._tokens[self._at].text
        return ""

    def _take(self, text: str) -> None:
        if self._text() != text:
            if self._at >= len(self._tokens):
                self._at = len(self._tokens) - 1
            self._fail(f"`{text}` expected")
        self._at += 1

    def _conditional(self) -> int:
        """conditional = binary ["?" conditional ":" conditional]"""
        self._depth += 1
        if self._depth > NESTED_LIMIT:
            self._fail("nested too deep")
        chosen = self._binary(1)
        if self._text() == "?":
            self._at += 1
            counts = self._counts
            self._counts = counts and chosen != 0
            yes = self._conditional()
            self._take(":")
            self._counts = counts and chosen == 0
            no = self._conditional()
            self._counts = counts
            chosen = yes if chosen else no
        self._depth -= 1
        return chosen

    def _binary(self, level: int) -> int:
        """binary = unary {operator unary}, by precedence"""
        left = self._unary()
        while (of := _LEVELS.get(self._text(), 0)) >= level:
            operator = self._text()
            place = self._at
            self._at += 1
            counts = self._counts
            if operator in ("&&", "||"):
                self._counts = counts and (left != 0) == (operator == "&&")
            right = self._binary(of + 1)
            self._counts = counts
            left = self._apply(operator, left, right, place)
        return left

    def _apply(self, operator: str, left: int, right: int, place: int) -> int:
        if operator in ("&&", "||"):
            return int(bool(left) and bool(right)) if operator == "&&" else int(bool(left) or bool(right))
        if operator in ("/", "%"):
            if right == 0:
                if self._counts:
                    self._at = place
                    self._fail("division by zero")
                return 0
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return _wrap(quotient if operator == "/" else left - quotient * right)
        return _wrap(_BINARY[operator](left, right))

    def _unary(self) -> int:
        """unary = {"!" | "-" | "+" | "~"} (number | char | name | "(" conditional ")")"""
        before: list[str] = []
        while self._text() in ("!", "-", "+", "~", "--", "++"):
            before += self._text()
            self._at += 1
        found = self._primary()
        for operator in reversed(before):
            found = (
                int(found == 0)
                if operator == "!"
                else _wrap(-found)
                if operator == "-"
                else ~found
                if operator == "~"
                else found
            )
        return found

    def _primary(self) -> int:
        if self._at >= len(self._tokens):
            self._at = len(self._tokens) - 1
            self._fail("an operand is missing behind this")
        token = self._tokens[self._at]
        if self._text() == "(":
            self._at += 1
            found = self._conditional()
            self._take(")")
            return found
        if token.kind == "number":
            number = literals.number(token.text)
            if isinstance(number, literals.Flaw) or isinstance(number[1], float):
                # C's `#if` reads large whole numbers too.
                if not token.text.isdigit() or len(token.text) > 40:
                    self._fail("not a whole number")
                number = "long", int(token.text)
            self._at += 1
            return _wrap(int(number[1]))
        if token.kind == "char":
            self._at += 1
            return literals.char(token.text)[0]
        if token.kind in ("name", "painted"):
            self._at += 1
            return _WORDS.get(token.text, 0)
        self._fail("no operand of such an expression")


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _shifted(value: int, places: int) -> int:
    """Shifted to the left, or to the right by a negative count, as gcc has it."""
    if places < 0:
        return value >> min(-places, 63)
    return value << places if places < 64 else 0
