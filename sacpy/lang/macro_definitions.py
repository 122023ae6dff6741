"""What a `#define` says.

In: the tokens behind it. Out: a `Macro`; or what is wrong with the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import Span
from sacpy.lang.tokens import Token
from sacpy.nodes import Node


class Macro(Node):
    """`params` is None for a macro used without parentheses; a variadic one's last parameter takes all remaining
    arguments. `span` is the name in the definition. The arguments of the parameters `expanded` are expanded before they
    are put in."""

    name: str
    params: tuple[str, ...] | None
    variadic: bool
    body: tuple[Token, ...]
    span: Span
    expanded: frozenset[str] = frozenset()

    def same(self, other: Macro) -> bool:
        """Whether a second definition may repeat this one silently."""
        return (self.params, self.variadic) == (other.params, other.variadic) and [t.text for t in self.body] == [
            t.text for t in other.body
        ]


def define(line: Sequence[Token], directive: Token) -> Macro:
    """The macro that the tokens behind `#define` define. Raises SacError."""

    def wrong(message: str, at: Span, label: str, help: str) -> SacError:
        return SacError(Diagnostic("E0112", message, at, label, help=help))

    if not line or line[0].kind != "name":
        raise wrong(
            "`#define` without a name",
            line[0].span if line else directive.span,
            "a name belongs here",
            "write `#define NAME replacement`",
        )
    name = line[0]
    if name.text == "defined":
        raise wrong(
            "`defined` cannot be a macro", name.span, "has a meaning of its own in `#if`", "choose another name"
        )
    params: tuple[str, ...] | None = None
    variadic = False
    body = list(line[1:])
    if body and body[0].text == "(" and not body[0].spaced:
        close = next((i for i, token in enumerate(body) if token.text == ")"), None)
        if close is None:
            raise wrong(
                f"the parameters of macro `{name.text}` have no end",
                body[0].span,
                "opened here",
                "close the list with `)` on the same line",
            )
        params, variadic = _parameters(body[1:close], wrong)
        body = body[close + 1 :]
    if body and "##" in (body[0].text, body[-1].text):
        raise wrong(
            f"`##` at an end of macro `{name.text}`",
            (body[0] if body[0].text == "##" else body[-1]).span,
            "nothing to join with",
            "put a token on either side of `##`",
        )
    if params is not None:
        for i, token in enumerate(body):
            after = body[i + 1] if i + 1 < len(body) else token
            if (
                token.text == "#"
                and token.kind == "op"
                and after.text not in params
                and after.text not in ("pragma", "#")
            ):
                raise wrong(
                    f"`#` in macro `{name.text}` is not followed by a parameter",
                    token.span,
                    "makes a string of a parameter",
                    f"the parameters are: {', '.join(params) or 'none'}",
                )
    return Macro(name.text, params, variadic, tuple(body), name.span, _expanded(params or (), body))


def _parameters(
    tokens: Sequence[Token], wrong: Callable[[str, Span, str, str], SacError]
) -> tuple[tuple[str, ...], bool]:
    names: dict[str, None] = {}
    for i, token in enumerate(tokens):
        last = i == len(tokens) - 1
        if i % 2 == 0 and token.text == "..." and last:
            return (*names, "__VA_ARGS__"), True
        if i % 2 == 1 and token.text == "..." and last:
            return tuple(names), True
        if (token.kind != "name" or token.text in names) if i % 2 == 0 else (token.text != "," or last):
            raise wrong(
                "a macro's parameters are names, each once, with commas between",
                token.span,
                "unexpected here",
                "write `#define NAME(a, b) ...`, or `(a, ...)` for any number",
            )
        if i % 2 == 0:
            names[token.text] = None
    return tuple(names), False


def _expanded(params: Sequence[str], body: Sequence[Token]) -> frozenset[str]:
    """The parameters that stand in a body other than beside `#` and `##`: their arguments are expanded first."""
    found: set[str] = set()
    for i, token in enumerate(body):
        if token.kind == "name" and token.text in params:
            beside = [body[i - 1].text if i else "", body[i + 1].text if i + 1 < len(body) else ""]
            if beside[0] not in ("#", "##") and beside[1] != "##":
                found.add(token.text)
    return frozenset(found)
