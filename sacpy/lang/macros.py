"""Macros: what a `#define` says, and how a use of it is replaced.

In: the tokens of a definition; a use with the tokens that follow it. Out: the replacement, macros in it replaced as C
says: arguments are expanded before they are put in, save beside `#` and `##`; the result is read again together with
what follows; a macro's name inside its own expansion is never expanded again, wherever it ends up (its token gets the
kind "painted").
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from sacpy.lang.diagnostics import Diagnostic, Label, SacError
from sacpy.lang.files import note_change
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.scanner import scan_text
from sacpy.lang.source import Span
from sacpy.lang.tokens import Token
from sacpy.nodes import Record

NESTED_LIMIT = 100  # macro calls within macro calls' arguments
PREDEFINED = ("__FILE__", "__LINE__", "__DATE__", "__TIME__")


class Overflow(SacError):
    """Macros or included files without end: reading stops."""


class Reader(Protocol):
    """The tokens behind a use, in the file."""

    def peek(self) -> Token | None:
        """The next token, unless a directive or the end comes first."""

    def next(self) -> Token | None:
        """The next token, directives obeyed; None at the end."""


class _Nothing:
    """What stands behind an argument: no more tokens."""

    def peek(self) -> Token | None:
        return None

    def next(self) -> Token | None:
        return None


class _Level(Record):
    """A replacement that is being read again; its macro is not expanded meanwhile."""

    macro: str
    tokens: Sequence[Token]
    at: int = 0


class Budget:
    """How much more may be produced by macros. Raises Overflow when it is used up, so that no program can make us run
    for ever."""

    def __init__(self, amount: int) -> None:
        self.amount = amount

    def spend(self, amount: int, macro: Macro, use: Span) -> None:
        self.amount -= amount
        if self.amount < 0:
            raise Overflow(
                Diagnostic(
                    "E0122",
                    f"the macros of this file expand to too much text, at last `{macro.name}`",
                    use,
                    "while expanding this",
                    (Label(macro.span, "defined here"),),
                    help="look for macros that double their argument again and again",
                )
            )


class Expander:
    """Replaces macros. `macros` is the table that directives change while a file is read."""

    def __init__(self, macros: dict[str, Macro | None], report: Callable[[Diagnostic], None], budget: Budget) -> None:
        self.macros, self._report, self._budget = macros, report, budget

    def expand(self, name: Token, reader: Reader) -> list[Token]:
        """The replacement of a macro's use in a file; `name` has been read."""
        return self._run([name], reader, None, 0, frozenset())

    def expand_all(
        self, tokens: Sequence[Token], use: Span | None = None, nesting: int = 0, disabled: frozenset[str] = frozenset()
    ) -> list[Token]:
        """The tokens of a whole list, such as an argument, with macros replaced."""
        if not any(token.kind == "name" and token.text in self.macros for token in tokens):
            return list(tokens)
        return self._run(tokens, _Nothing(), use, nesting, disabled)

    def _run(
        self, tokens: Sequence[Token], reader: Reader, use: Span | None, nesting: int, disabled: frozenset[str]
    ) -> list[Token]:
        out: list[Token] = []
        stack = [_Level("", tokens)]
        active = set(disabled)
        macros = self.macros
        while stack:
            level = stack[-1]
            if level.at == len(level.tokens):
                stack.pop()
                if level.macro not in disabled:
                    active.discard(level.macro)
                continue
            token = level.tokens[level.at]
            level.at += 1
            if token.kind != "name" or token.text not in macros:
                out.append(token)
                continue
            if token.text in active:
                out.append(token._replace(kind="painted"))
                continue
            replacement = self._use(token, stack, active, disabled, reader, use, nesting)
            if replacement is None:
                out.append(token)
                continue
            if replacement:
                first = replacement[0]
                replacement[0] = first._replace(spaced=token.spaced, doc=token.doc)
            stack.append(_Level(token.text, replacement))
            active.add(token.text)
        return out

    def _use(
        self,
        name: Token,
        stack: list[_Level],
        active: set[str],
        disabled: frozenset[str],
        reader: Reader,
        use: Span | None,
        nesting: int,
    ) -> list[Token] | None:
        """The tokens that replace a use, not yet read again; None where a macro with parameters stands without
        parentheses."""
        macro = self.macros[name.text]
        span = use or Span(name.span.source, name.span.start, name.span.end)
        if macro is None:
            return [_predefined(name.text, span)._replace(span=name.span)]
        if macro.params is None:
            self._budget.spend(len(macro.body) + 1, macro, span)
            return self._substitute(macro, {}, {}, span)
        # Look for the parenthesis, in the levels below and then in the file.
        while stack and stack[-1].at == len(stack[-1].tokens):
            level = stack.pop()
            if level.macro not in disabled:
                active.discard(level.macro)
        following = stack[-1].tokens[stack[-1].at] if stack else reader.peek()
        if following is None or following.text != "(" or following.kind != "op":
            return None
        if nesting >= NESTED_LIMIT:
            raise Overflow(
                Diagnostic(
                    "E0122",
                    "macro calls stand too deep within one another",
                    span,
                    f"more than {NESTED_LIMIT} calls deep",
                    help="take the expression apart",
                )
            )
        arguments, close = self._arguments(name, macro, stack, active, disabled, reader)
        if use is None:
            span = span.to(close.span) if close.span.macro is None else span
        counted = self._counted(name, macro, arguments, span)
        if counted is None:
            return []
        if nesting:
            self._budget.spend(sum(map(len, arguments)), macro, span)
        raw = dict(zip(macro.params, counted, strict=True))
        below = frozenset(active)
        expanded: dict[str, list[Token]] = {}
        for param, tokens in raw.items():
            if param in macro.expanded:
                expanded[param] = self.expand_all(tokens, None, nesting + 1, below)
        self._budget.spend(len(macro.body) + sum(map(len, expanded.values())) + 1, macro, span)
        return self._substitute(macro, raw, expanded, span)

    def _arguments(
        self, name: Token, macro: Macro, stack: list[_Level], active: set[str], disabled: frozenset[str], reader: Reader
    ) -> tuple[list[list[Token]], Token]:
        arguments: list[list[Token]] = [[]]
        depth = 0
        opened: Token | None = None
        while True:
            token: Token | None
            if stack:
                level = stack[-1]
                if level.at == len(level.tokens):
                    stack.pop()
                    if level.macro not in disabled:
                        active.discard(level.macro)
                    continue
                token = level.tokens[level.at]
                level.at += 1
            else:
                token = reader.next()
            if token is None:
                at = opened.span if opened is not None else name.span
                raise SacError(
                    Diagnostic(
                        "E0120",
                        f"the call of macro `{name.text}` has no end",
                        at,
                        "this parenthesis is never closed",
                        (Label(macro.span, "the macro is defined here"),),
                        help="close the arguments with `)`",
                        incomplete=isinstance(reader, _Nothing) is False,
                    )
                )
            text = token.text
            if token.kind == "name" and text in active:
                token = token._replace(kind="painted")
            elif token.kind == "op":
                if text == "(":
                    depth += 1
                    if depth == 1:
                        opened = token
                        continue
                elif text == ")":
                    depth -= 1
                    if depth == 0:
                        return arguments, token
                elif (
                    text == ","
                    and depth == 1
                    and not (macro.variadic and macro.params and len(arguments) >= len(macro.params))
                ):
                    arguments.append([])
                    continue
            arguments[-1].append(token)

    def _counted(self, name: Token, macro: Macro, arguments: list[list[Token]], span: Span) -> list[list[Token]] | None:
        """As many arguments as there are parameters, or None after a report."""
        params = macro.params or ()
        if not params and arguments == [[]]:
            return []
        if macro.variadic and len(arguments) == len(params) - 1:
            return [*arguments, []]
        if len(arguments) == len(params):
            return arguments
        wanted = f"at least {len(params) - 1}" if macro.variadic else str(len(params))
        plural = "" if wanted in ("1", "at least 1") else "s"
        bracketed = len(arguments) > len(params) and any(
            token.text in ("[", "{") for argument in arguments for token in argument
        )
        extra = (
            ("a comma within `[ ]` or `{ }` separates macro arguments too: put such an argument in parentheses",)
            if bracketed
            else ()
        )
        self._report(
            Diagnostic(
                "E0119",
                f"macro `{name.text}` takes {wanted} argument{plural}, but is given {len(arguments)}",
                span,
                f"{len(arguments)} given",
                (Label(macro.span, f"defined as {macro.name}({', '.join(params)})"),),
                extra,
                "call it with the parameters of its definition",
            )
        )
        return None

    def _substitute(
        self, macro: Macro, raw: dict[str, list[Token]], expanded: dict[str, list[Token]], use: Span
    ) -> list[Token]:
        """The body with arguments put in."""
        out: list[Token] = []
        body = macro.body
        at = 0
        while at < len(body):
            token = body[at]
            after = body[at + 1] if at + 1 < len(body) else None
            if (
                token.text == "#"
                and token.kind == "op"
                and macro.params is not None
                and after is not None
                and after.text in raw
            ):
                piece = [self._string(raw[after.text], token, macro, use)]
                at += 1
            elif token.text == "##" and token.kind == "op" and after is not None:
                self._paste(out, token, after, body[at - 1], raw, macro, use)
                at += 2
                continue
            elif token.text in raw and token.kind == "name":
                joined = after is not None and after.text == "##"
                piece = list(raw[token.text] if joined else expanded[token.text])
                if not piece and joined:
                    piece = [Token("op", "", self._placed(token, use))]  # an empty place to paste to
                if piece:
                    piece[0] = piece[0]._replace(spaced=token.spaced)
            else:
                piece = [token._replace(span=self._placed(token, use))]
            out += piece
            at += 1
        return [token for token in out if token.text] if any(not token.text for token in out) else out

    @staticmethod
    def _placed(token: Token, use: Span) -> Span:
        return Span(use.source, use.start, use.end, token.span)

    def _string(self, tokens: Sequence[Token], mark: Token, macro: Macro, use: Span) -> Token:
        parts: list[str] = []
        for i, token in enumerate(tokens):
            text = token.text
            if token.kind in ("string", "char"):
                text = text.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(" " + text if token.spaced and i else text)
        text = "".join(parts)
        self._budget.spend(len(text) // 8, macro, use)
        return Token("string", f'"{text}"', self._placed(mark, use), None, mark.spaced)

    def _paste(
        self,
        out: list[Token],
        mark: Token,
        after: Token,
        before: Token,
        raw: dict[str, list[Token]],
        macro: Macro,
        use: Span,
    ) -> None:
        """Joins the last token of `out` with the first of what stands behind `##`."""
        right = list(raw[after.text]) if after.text in raw else [after._replace(span=self._placed(after, use))]
        if not right:
            # `, ## __VA_ARGS__` without such arguments drops the comma.
            if macro.variadic and macro.params and after.text == macro.params[-1] and out and out[-1].text == ",":
                out.pop()
            return
        if not out or not out[-1].text:
            if out:
                out.pop()
            out += right
            return
        left = out[-1]
        if left.text == "," and macro.variadic and macro.params and after.text == macro.params[-1]:
            out += right
            return
        text = left.text + right[0].text
        self._budget.spend(len(text) // 8, macro, use)
        made = scan_text(text)
        if len(made) != 1 or made[0].kind == "bad":
            self._report(
                Diagnostic(
                    "E0121",
                    f"`{left.text[:40]}` and `{right[0].text[:40]}` joined by `##` are not one token",
                    use,
                    f"in this use of `{macro.name}`",
                    (Label(mark.span, "joined here"),),
                    help="leave out the `##`, or a blank where it stands",
                )
            )
            out += right
            return
        out[-1] = made[0]._replace(span=self._placed(mark, use), spaced=left.spaced)
        out += right[1:]


def _predefined(name: str, use: Span) -> Token:
    """What a macro that nobody defines stands for."""
    if name == "__LINE__":
        return Token("number", str(use.line), use)
    if name == "__FILE__":
        return Token("string", '"' + use.source.name.replace("\\", "\\\\").replace('"', '\\"') + '"', use)
    note_change(name)
    return Token("string", time.strftime('"%b %d %Y"' if name == "__DATE__" else '"%H:%M:%S"'), use)
