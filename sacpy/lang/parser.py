"""The parser: source text to tree.

In: a `Source`. Out: the tree, and diagnostics for what could not be understood; a tree is always given, without the
broken definitions and statements. Hand-written recursive descent; the grammar is in the docstrings of

- `parse_definitions` (files, interfaces, types) and `parse_functions`,
- `parse_statements` (blocks, control flow) and `parse_assignments` (declarations, simple statements),
- `parse_withloops` (with-loops and comprehensions), `parse_expressions` (operator precedence, casts), `parse_operands`,
  `parse_types`;
- `parse_cursor` holds the tokens, reports and recovers.

`parse_module` reads a file, `parse_expression` one expression, `parse_input` what somebody types at a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from sacpy.lang import ast
from sacpy.lang.deep import Room
from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.macro_definitions import Macro
from sacpy.lang.parse_cursor import Abandon, GiveUp
from sacpy.lang.parse_definitions import DefinitionParser
from sacpy.lang.parse_operands import Several
from sacpy.lang.parse_statements import Unclosed
from sacpy.lang.pragmas import MAPPING, word_of
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source
from sacpy.lang.tokens import Tokens
from sacpy.nodes import Node, field

T = TypeVar("T")

# Frames of the parser for one level of nesting are at most a handful for each of the thirteen levels of precedence;
# MAX_DEPTH of them must fit.
_FRAMES = 30_000


class Parsed(Node):
    """A file's tree; `included` are the files it includes."""

    module: ast.Module
    diagnostics: tuple[Diagnostic, ...]
    included: tuple[Path, ...]


class ParsedExpression(Node):
    """An expression's tree, None where it is broken."""

    expr: ast.Expr | None
    diagnostics: tuple[Diagnostic, ...]
    included: tuple[Path, ...]


class ParsedInput(Node):
    """What was typed: definitions, statements and expressions in their order. An expression with a `;` behind it is a
    `CallStmt`. `macros`: those defined now. `incomplete`: nothing is wrong but that it ends too early."""

    nodes: tuple[ast.Definition | ast.Stmt | ast.Expr, ...]
    diagnostics: tuple[Diagnostic, ...]
    included: tuple[Path, ...]
    macros: Mapping[str, Macro | None] = field(default_factory=dict)

    @property
    def incomplete(self) -> bool:
        """Whether another line may mend it."""
        errors = [d for d in self.diagnostics if d.severity == "error"]
        return bool(errors) and all(d.incomplete for d in errors)


class Parser(DefinitionParser):
    """The whole grammar."""

    prompt = False  # whether what is parsed was typed at a prompt

    def input(self) -> tuple[ast.Definition | ast.Stmt | ast.Expr, ...]:
        """{definition | stmt | expr}; the last `;` may be missing"""
        found: list[ast.Definition | ast.Stmt | ast.Expr] = []
        known = set(self.locals)
        while self.kinds[self.pos] != "end":
            start = self.pos
            if self.keys[start] == ";" or self.kinds[start] == "pragma":
                self.pos += 1
                continue
            try:
                if self.definition_ahead(start):
                    found.append(self.definition())
                    self.locals = set(known)
                else:
                    found.append(self._entered())
                    known |= self.locals
            except GiveUp:
                break
            except (Abandon, Unclosed):
                self.depth = self.stops = 0
                self.skip_statement(0)
                if self.pos == start:
                    self.pos += 1
        return tuple(found)

    def _entered(self) -> ast.Stmt | ast.Expr:
        """A statement, or an expression to be shown: one without a `;` behind it."""
        if self._declaration_ahead(self.pos):
            return self._declaration()
        statement = self.statement()
        if isinstance(statement, ast.CallStmt) and self.keys[self.pos - 1] != ";":
            return statement.call
        return statement

    def check_effect(self, expr: ast.Expr) -> None:
        """At a prompt an expression is shown; see `input`."""
        if not self.prompt:
            super().check_effect(expr)

    def semicolon(self) -> None:
        """At a prompt the last semicolon may be missing."""
        if not (self.prompt and self.kinds[self.pos] == "end"):
            super().semicolon()


def parse_module(
    source: Source,
    *,
    defines: Mapping[str, str] = {},
    include_path: Sequence[Path] = (),
    operators: Collection[str] = (),
) -> Parsed:
    """The tree of a file. `operators` are those of the modules it uses, which the lexer must know to cut runs of
    operator characters."""
    tokens = tokenize(source, defines=defines, include_path=include_path, operators=operators)
    return parse_tokens(tokens)


def parse_tokens(tokens: Tokens) -> Parsed:
    """The tree of a file that is already in tokens."""
    parser = Parser(tokens.tokens)
    module = _deep(lambda: parser.module(tokens.trivia))
    return Parsed(module, _all_diagnostics(tokens, parser), tokens.included)


def parse_expression(
    source: Source, *, defines: Mapping[str, str] = {}, include_path: Sequence[Path] = (),
    operators: Collection[str] = (), variables: Sequence[str] = (),
) -> ParsedExpression:  # fmt: skip
    """The tree of an expression, a `;` behind it allowed. `variables` are the names that are no types."""
    tokens = tokenize(source, defines=defines, include_path=include_path, operators=operators)
    parser = Parser(tokens.tokens, variables)
    expr: ast.Expr | None = None
    try:
        expr = _deep(parser.expression)
        if parser.keys[parser.pos] == ";":
            parser.pos += 1
        if parser.kinds[parser.pos] != "end":
            parser.semicolon()
            parser.fail(
                "E0201",
                f"expected the end of the expression, found {parser.describe(parser.pos)}",
                label="not part of it",
            )
    except (Abandon, GiveUp, Unclosed):
        pass
    return ParsedExpression(expr, _all_diagnostics(tokens, parser), tokens.included)


def parse_input(
    source: Source, *, defines: Mapping[str, str] = {}, include_path: Sequence[Path] = (),
    operators: Collection[str] = (), variables: Sequence[str] = (),
    macros: Mapping[str, Macro | None] | None = None,
) -> ParsedInput:  # fmt: skip
    """What is typed at a prompt: definitions, statements, expressions in any order. `variables` are the names already
    defined that are no types, `macros` those that earlier inputs have defined."""
    tokens = tokenize(source, defines=defines, include_path=include_path, operators=operators, macros=macros)
    parser = Parser(tokens.tokens, variables)
    parser.prompt = True
    nodes = _deep(parser.input)
    return ParsedInput(nodes, _all_diagnostics(tokens, parser), tokens.included, tokens.macros)


def _all_diagnostics(tokens: Tokens, parser: Parser) -> tuple[Diagnostic, ...]:
    """The lexer's diagnostics and the parser's. What the parser finds wrong behind text that could not be read is a
    consequence."""
    unread = [d for d in tokens.diagnostics if d.severity == "error"]
    found = parser.diagnostics
    if parser.keys.count("}") > parser.keys.count("{"):
        found = found[:1]  # a brace too many ends things early, and then nothing fits
    if unread:
        first = unread[0].span
        found = [d for d in found if d.span.source is first.source and d.span.start < first.start and not d.incomplete]
    if not unread and not found:
        found = _misplaced_pragmas(parser)
    return (*tokens.diagnostics, *found)


def _misplaced_pragmas(parser: Parser) -> list[Diagnostic]:
    """What there is to say of pragmas that lay out with-loops and stand elsewhere."""
    elsewhere = [
        parser.pragma(i) for i, kind in enumerate(parser.kinds) if kind == "pragma" and i not in parser.laid_out
    ]
    found = [p for p in elsewhere if word_of(p.text) in MAPPING]
    if not found:
        return []
    from sacpy.lang.check_mappings import misplaced

    return misplaced(found)


def _deep(parse: Callable[[], T]) -> T:
    """Calls `parse` with room on the stack for the deepest legal nesting."""
    try:
        with Room(_FRAMES):
            return parse()
    except Several as several:  # pragma: no cover
        raise AssertionError("several values outside results") from several
