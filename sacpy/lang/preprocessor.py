"""The preprocessor's directives: which tokens of a program's files reach the parser.

In: a `Source`, names defined from outside, and the folders to look for included files in. Out: `Tokens`, ready for the
parser. `scanner` reads the text, `macros` replaces names, `conditionals` decides `#if`, `lexer` gives the tokens that
are left their values; this module obeys the directives between them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

from sacpy.base.collection import without_collection
from sacpy.base.spelling import closest
from sacpy.lang import lexer, pragmas
from sacpy.lang.conditionals import evaluate
from sacpy.lang.diagnostics import Diagnostic, Edit, Label, SacError
from sacpy.lang.macro_definitions import Macro, define
from sacpy.lang.macros import PREDEFINED, Budget, Expander, Overflow
from sacpy.lang.operators import Cutter, defined
from sacpy.lang.scanner import scan, scan_line
from sacpy.lang.source import Source, Span
from sacpy.lang.tokens import Token, Tokens

EXPANSION = 200_000  # tokens that macros may produce, and 4 more for each character of the file
REPORTS = 30
DIRECTIVE = 200_000  # characters
COMMAND_LINE = "<command line>"
CONFINED: ContextVar[bool] = ContextVar("CONFINED", default=False)
"""Whether only files beside the including one, and in the folders for included files, may be read: for programs that
nobody vouches for."""
_WORD = re.compile(r"\s*([a-z]+)")


def tokenize(
    source: Source,
    *,
    defines: Mapping[str, str] | None = None,
    include_path: Sequence[Path] = (),
    operators: Collection[str] = (),
    macros: Mapping[str, Macro | None] | None = None,
) -> Tokens:
    """The tokens of a text after preprocessing. Never raises: what is wrong is in `diagnostics`. `operators` are user
    operators that other modules define (see `defined_operators`). `macros` are those of an earlier text that this one
    goes on from (`Tokens.macros`)."""
    with without_collection():
        state = _Preprocessor(include_path, len(source.text), macros or {})
        ready: list[Token] = []
        with suppress(_TooMany):
            tokens = state.run(source, defines or {})
            lexer.finish(tokens, Cutter(defined(tokens) | set(operators)), state.report, ready)
        end = len(source.text)
        ready.append(Token("end", "", Span(source, end, end)))
        found = sorted(
            state.diagnostics, key=lambda diagnostic: diagnostic.span.start if diagnostic.span.source is source else -1
        )
        return Tokens(ready, found, tuple(state.trivia), tuple(state.included), state.macros)


def defined_operators(source: Source, *, include_path: Sequence[Path] = ()) -> set[str]:
    """The operators of its own that a module's file defines, or names in its lists."""
    state = _Preprocessor(include_path, len(source.text))
    with suppress(_TooMany):
        state.run(source, {})
    return defined(state.tokens)


class _TooMany(Exception):
    """So many errors that there is no sense in reading on."""


class _Condition:
    """An `#if` that is open. `taken`: one of its parts has been chosen already, or none may be because the whole stands
    in a part left out."""

    def __init__(self, directive: Token, taken: bool) -> None:
        self.directive, self.taken = directive, taken
        self.otherwise: Token | None = None


class _File:
    """The reader of one file's tokens. Obeys directives as it meets them."""

    def __init__(self, tokens: list[Token], obey: Callable[[Token, _File], None]) -> None:
        self.tokens, self._obey = tokens, obey
        self.at = 0
        self.conditions: list[_Condition] = []

    def peek(self) -> Token | None:
        if self.at < len(self.tokens) and self.tokens[self.at].kind != "directive":
            return self.tokens[self.at]
        return None

    def next(self) -> Token | None:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.kind != "directive":
                return token
            self._obey(token, self)
        return None


class _Reports:
    """What has been found."""

    def __init__(self) -> None:
        self.taken: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()

    def report(self, diagnostic: Diagnostic) -> None:
        """Takes a diagnostic. Beyond a number nothing is to be learnt from further ones: warnings are dropped, errors
        end the reading."""
        self._counts[diagnostic.severity] += 1
        if self._counts[diagnostic.severity] <= REPORTS:
            self.taken.append(diagnostic)
        elif diagnostic.severity == "error":
            raise _TooMany


class _Preprocessor:
    """It refers to nothing that refers to it: what it has read is gone with it, and is much."""

    def __init__(self, include_path: Sequence[Path], size: int, macros: Mapping[str, Macro | None] = {}) -> None:
        self.include_path = tuple(include_path)
        reports = _Reports()
        self.diagnostics, self.report = reports.taken, reports.report
        self.trivia: list[tuple[int, str]] = []
        self.included: dict[Path, None] = {}
        self.tokens: list[Token] = []
        self.macros: dict[str, Macro | None] = dict.fromkeys(PREDEFINED) | dict(macros)
        self._expander = Expander(self.macros, self.report, Budget(EXPANSION + 4 * size))
        self._scanned: dict[Path, list[Token]] = {}
        self._nesting: list[Path] = []
        self._once: set[str] = set()
        self._includes = 0

    def run(self, source: Source, defines: Mapping[str, str]) -> list[Token]:
        """The tokens that reach the parser, operators not yet cut and literals without values."""
        try:
            for name, value in defines.items():
                line = Source(COMMAND_LINE, f"#define {name} {value}".replace("\n", " "))
                self._file(scan(line).tokens)
            tokens, self.trivia = scan(source)
            self._file(tokens)
        except SacError as error:  # nothing sensible can be made of what follows
            for diagnostic in error.diagnostics:
                self.report(diagnostic)
        return self.tokens

    def _file(self, tokens: list[Token]) -> None:
        file = _File(tokens, self._obey)
        out, macros, end = self.tokens, self.macros, len(tokens)
        append = out.append
        at = 0
        while at < end:
            token = tokens[at]
            at += 1
            kind = token.kind
            if kind == "name" and token.text in macros:
                file.at = at
                out += self._expander.expand(token, file)
                at = file.at
            elif kind == "directive":
                file.at = at
                self._obey(token, file)
                at = file.at
            else:
                append(token)
        for condition in reversed(file.conditions):
            self._unclosed(condition)

    def _unclosed(self, condition: _Condition) -> None:
        word = (scan_line(condition.directive) or [condition.directive])[0].text
        source = condition.directive.span.source
        end = len(source.text)
        edit = Edit(Span(source, end, end), "#endif\n" if source.text.endswith("\n") else "\n#endif\n")
        self.report(
            Diagnostic(
                "E0114",
                f"`#{word}` without `#endif`",
                condition.directive.span,
                "opened here",
                help="close it with a line `#endif`",
                edit=edit,
                incomplete=True,
            )
        )

    # Directives. Each gets its token, its line's tokens, and the file that it stands in.

    def _obey(self, directive: Token, file: _File) -> None:
        if len(directive.text) > DIRECTIVE:
            self.report(
                Diagnostic(
                    "E0111",
                    "this directive is too long",
                    Span(directive.span.source, directive.span.start, directive.span.start + 1),
                    f"more than {DIRECTIVE} characters",
                    help="take it apart",
                )
            )
            return
        line = scan_line(directive) if directive.text else []
        if not line or line[0].kind == "number":  # a lone `#`, or a line mark of another preprocessor
            return
        word = line[0]
        if word.text == "pragma":
            self._pragma(directive, line)
            return
        obey = _DIRECTIVES.get(word.text)
        if obey is None:
            near = closest(word.text, [*_DIRECTIVES, "pragma"])
            self.report(
                Diagnostic(
                    "E0110",
                    f"unknown directive `#{word.text[:40]}`",
                    word.span,
                    "not a directive",
                    help=f"did you mean `#{near[0]}`?"
                    if near
                    else "the directives are those of C: #include, #define, #if, #pragma, ...",
                    edit=Edit(word.span, near[0]) if near else None,
                )
            )
            return
        try:
            obey(self, directive, line, file)
        except Overflow:
            raise
        except SacError as error:
            for diagnostic in error.diagnostics:
                self.report(diagnostic)

    def _ignore(self, directive: Token, line: list[Token], file: _File) -> None:
        """`#line` and `#ident` change nothing: places are those of the files as they are."""

    def _pragma(self, directive: Token, line: list[Token]) -> None:
        if len(line) > 1 and line[1].text == "once":
            self._once.add(directive.span.source.name)
            return
        # may go on in the next lines: left to the lexer, which sees them
        if len(line) > 1 and line[1].text in pragmas.MAPPING:
            start = directive.span
            self.tokens += [
                Token("op", "#", Span(start.source, start.start, start.start + 1, start.macro), spaced=True),
                *line,
            ]
            return
        token, taken = pragmas.read(line, 0, directive.span.start, whole=True)
        self.tokens.append(token)
        self.tokens += line[taken:]

    def _include(self, directive: Token, line: list[Token], file: _File) -> None:
        from sacpy.lang.includes import include

        include(self, directive, line)

    def _define(self, directive: Token, line: list[Token], file: _File) -> None:
        macro = define(line[1:], directive)
        before = self.macros.get(macro.name)
        if before is not None and not before.same(macro):
            self.report(
                Diagnostic(
                    "W0123",
                    f"macro `{macro.name}` is defined again, and differently",
                    macro.span,
                    "holds from here on",
                    (Label(before.span, "first defined here"),),
                    help=f"write `#undef {macro.name}` before it where that is meant",
                )
            )
        self.macros[macro.name] = macro

    def _name(self, directive: Token, line: list[Token]) -> Token:
        """The name that an #undef, #ifdef or #ifndef is about."""
        if len(line) < 2 or line[1].kind != "name":
            span = line[1].span if len(line) > 1 else directive.span
            raise SacError(
                Diagnostic(
                    "E0111",
                    f"`#{line[0].text}` without a name",
                    span,
                    "a macro's name belongs here",
                    help=f"write `#{line[0].text} NAME`",
                )
            )
        return line[1]

    def _undef(self, directive: Token, line: list[Token], file: _File) -> None:
        self.macros.pop(self._name(directive, line).text, None)

    def _error(self, directive: Token, line: list[Token], file: _File) -> None:
        text = directive.text.strip().removeprefix(line[0].text).strip()
        if line[0].text == "error":
            self.report(
                Diagnostic(
                    "E0117",
                    f"#error: {text}",
                    directive.span,
                    "the program stops itself here",
                    help="see the conditions around this line",
                )
            )
        else:
            self.report(Diagnostic("W0118", f"#warning: {text}", directive.span))

    # Conditions.

    def _holds(self, directive: Token, line: list[Token]) -> bool:
        word = line[0].text
        if word not in ("if", "elif"):
            return (self._name(directive, line).text in self.macros) == (word in ("ifdef", "elifdef"))
        return evaluate(self._expander.expand_all(self._answered(line[1:])), directive) != 0

    def _answered(self, line: list[Token]) -> list[Token]:
        """The line with `defined X` and `defined(X)` replaced by 1 or 0."""
        out: list[Token] = []
        at = 0
        while at < len(line):
            token = line[at]
            at += 1
            if token.text == "defined" and token.kind == "name":
                texts = [t.text for t in line[at : at + 3]]
                size = 3 if len(texts) == 3 and texts[0] == "(" and texts[2] == ")" else 1
                if at + size > len(line) or line[at + size // 2].kind != "name":
                    raise SacError(
                        Diagnostic(
                            "E0116",
                            "`defined` without a name",
                            token.span,
                            "which macro?",
                            help="write `defined(NAME)`",
                        )
                    )
                known = line[at + size // 2].text in self.macros
                out.append(Token("number", "1" if known else "0", token.span))
                at += size
            else:
                out.append(token)
        return out

    def _if(self, directive: Token, line: list[Token], file: _File) -> None:
        condition = _Condition(directive, True)
        file.conditions.append(condition)
        try:
            condition.taken = self._holds(directive, line)
        except SacError:  # not known to hold or not: all its parts are left out
            self._skip(file)
            raise
        if not condition.taken:
            self._skip(file)

    def _elif(self, directive: Token, line: list[Token], file: _File) -> None:
        """Met behind a part that was taken."""
        if self._continues(directive, line, file):
            self._skip(file)

    def _else(self, directive: Token, line: list[Token], file: _File) -> None:
        if self._continues(directive, line, file):
            file.conditions[-1].otherwise = directive
            self._skip(file)

    def _endif(self, directive: Token, line: list[Token], file: _File) -> None:
        if file.conditions:
            file.conditions.pop()
        else:
            self._astray(directive, line, ())

    def _continues(self, directive: Token, line: list[Token], file: _File) -> bool:
        """Whether an `#elif` or `#else` belongs to an open `#if`; reports where not."""
        if not file.conditions:
            self._astray(directive, line, ())
        elif (otherwise := file.conditions[-1].otherwise) is not None:
            self._astray(directive, line, (Label(otherwise.span, "the `#else` stands here"),))
            return False
        return bool(file.conditions)

    def _astray(self, directive: Token, line: list[Token], labels: tuple[Label, ...]) -> None:
        why = "behind `#else`" if labels else "without `#if`"
        self.report(
            Diagnostic(
                "E0115",
                f"`#{line[0].text}` {why}",
                directive.span,
                "belongs to nothing",
                labels,
                help="remove it" if labels else "remove it, or add the `#if` it is to end",
            )
        )

    def _skip(self, file: _File) -> None:
        """Leaves out tokens up to the part that holds, or past the `#endif`."""
        condition = file.conditions[-1]
        depth = 0
        while file.at < len(file.tokens):
            token = file.tokens[file.at]
            file.at += 1
            if token.kind != "directive":
                continue
            match = _WORD.match(token.text)
            word = match.group(1) if match else ""
            if word in ("if", "ifdef", "ifndef"):
                depth += 1
            elif word == "endif":
                if depth == 0:
                    file.conditions.pop()
                    return
                depth -= 1
            elif depth == 0 and word in ("else", "elif", "elifdef", "elifndef"):
                line = scan_line(token)
                if not self._continues(token, line, file):
                    continue
                if word == "else":
                    condition.otherwise = token
                if not condition.taken and (word == "else" or self._tried(token, line)):
                    condition.taken = True
                    return

    def _tried(self, directive: Token, line: list[Token]) -> bool:
        try:
            return self._holds(directive, line)
        except Overflow:
            raise
        except SacError as error:
            for diagnostic in error.diagnostics:
                self.report(diagnostic)
            return False

    # Included files.


_DIRECTIVES: dict[str, Callable[[_Preprocessor, Token, list[Token], _File], None]] = {
    **dict.fromkeys(("if", "ifdef", "ifndef"), _Preprocessor._if),
    **dict.fromkeys(("elif", "elifdef", "elifndef"), _Preprocessor._elif),
    **dict.fromkeys(("error", "warning"), _Preprocessor._error),
    **dict.fromkeys(("line", "ident"), _Preprocessor._ignore),
    "include": _Preprocessor._include,
    "define": _Preprocessor._define,
    "undef": _Preprocessor._undef,
    "else": _Preprocessor._else,
    "endif": _Preprocessor._endif,
}
