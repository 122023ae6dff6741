"""Parsing of blocks and of the statements that hold them; `parse_assignments` has the others."""

from __future__ import annotations

from typing import NoReturn

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_assignments import C_JUMPS, AssignmentParser
from sacpy.lang.parse_cursor import Abandon
from sacpy.lang.vocabulary import ASSIGNMENT, BASE_TYPES, CLOSER, DEFINES, RESERVED
from sacpy.nodes import replace


class Unclosed(Exception):
    """A definition begins where a block should have ended: the block's brace was never closed (and that is
    reported)."""


class StatementParser(AssignmentParser):
    """Statements and blocks."""

    def block(self) -> tuple[ast.Stmt, ...]:
        """ "{" {stmt} "}" """
        opening = self.pos
        self.pos += 1
        self.deeper()
        stops, self.stops = self.stops, 0
        statements = self._statements(opening, False)
        self.stops = stops
        self.depth -= 1
        return statements

    def function_body(self) -> tuple[ast.Stmt, ...]:
        """ "{" {vardecl} {stmt} ["return" ..] "}" """
        opening = self.pos
        self.pos += 1
        return self._statements(opening, True)

    def _statements(self, opening: int, outermost: bool) -> tuple[ast.Stmt, ...]:
        """{stmt} "}", going on behind a broken statement"""
        level = self.level[opening] + 1
        found: list[ast.Stmt] = []
        head = outermost
        while True:
            key = self.keys[self.pos]
            if key == "}":
                self.pos += 1
                return tuple(found)
            if self.kinds[self.pos] == "end":
                self._report_unclosed(opening)
                raise Unclosed
            start, depth = self.pos, self.depth
            try:
                if self._may_define(start) and self.definition_ahead(start):
                    self._misplaced_definition(opening)
                elif key == ";" or self.kinds[start] == "pragma":
                    self.pos += 1
                else:
                    declares = self._declaration_ahead(start)
                    if declares and not head and self._report_late_declaration(start, outermost):
                        self._skip_declaration(start)
                        continue
                    head = head and declares
                    statement = self._declaration() if declares else self.statement()
                    found.append(statement)
                    if isinstance(statement, ast.Return):
                        self._check_return(start, outermost)
            except Abandon:
                self.depth, self.stops = depth, 0
                self.skip_statement(level)
                if self.pos == start:
                    self.pos += 1

    def _may_define(self, i: int) -> bool:
        """A quick look whether `definition_ahead` is worth asking."""
        key = self.keys[i]
        if key in RESERVED:
            return key in DEFINES or key in BASE_TYPES or key in ("struct", "void")
        return self.kinds[i + 1] == "name" or self.keys[i + 1] in ("[", "::")

    def _misplaced_definition(self, opening: int) -> None:
        """A definition starts inside a block: a brace is missing before it, or it is nested."""
        braces = self.keys.count("{") - self.keys.count("}")
        if braces > 0:
            self._report_unclosed(opening)
            raise Unclosed
        self.fail(
            "E0235",
            "a definition stands only outside all functions",
            label="begins here",
            help="functions do not nest: move it before or behind this function",
        )

    def _report_unclosed(self, opening: int) -> None:
        """Reports the brace that is not closed: by indentation, if that tells, else the innermost one still open."""
        outer = opening
        while self.level[outer] and outer:
            outer -= 1
        culprit = self._badly_indented(outer, opening)
        span = self.spans[culprit]
        self.diagnostics = [
            d for d in self.diagnostics if d.span.source is not span.source or d.span.start < span.start
        ]
        here = "the end of the input" if self.kinds[self.pos] == "end" else "the next definition"
        by_indentation = "; by the indentation of the text, this is the brace that lacks it"
        self.reported_at = -1
        self.report(
            "E0204", "this brace is never closed", span, label="opened here",
            labels=(Label(self.behind(), f"{here} is reached"),),
            help="write the missing `}`" + by_indentation * (culprit != opening),
        )  # fmt: skip

    def _badly_indented(self, first: int, otherwise: int) -> int:
        """The first brace from token `first` on whose closing brace stands at the margin of another line's text."""
        opened: list[int] = []
        for i in range(first, self.pos):
            if self.keys[i] == "{":
                opened.append(i)
            elif self.keys[i] == "}" and opened:
                opening = opened.pop()
                if self.on_new_line(i) and self.indentation(opening) != self.indentation(i):
                    return opening
        return opened[-1] if opened else otherwise

    def _check_return(self, start: int, outermost: bool) -> None:
        """A return is the last statement of a function's body."""
        if (outermost and self.keys[self.pos] == "}") or self.kinds[self.pos] == "end":
            return
        help = (
            "assign the result to a variable in each branch, and return it at the end"
            if not outermost
            else "remove the statements behind it, or move the return to the end"
        )
        span = self.spans[start]
        self.reported_at = -1
        self.report(
            "E0215", "`return` stands only at the end of a function's body", span, label="not at the end", help=help
        )

    # ------------------------------------------------------------ statements

    def statement(self) -> ast.Stmt:
        """stmt = if | while | do | for | return | simple ";" """
        key = self.keys[self.pos]
        if key == "if":
            return self._if()
        if key == "for":
            return self._for()
        if key == "while":
            return self._while()
        if key == "return":
            return self._return()
        if key == "do":
            return self._do()
        if self.kinds[self.pos] == "name":
            self._refuse_foreign(key)
        elif key == "{" and not self.comprehension_ahead():
            self.fail(
                "E0231",
                "a block stands only behind `if`, `else`, `while`, `do` and `for`",
                label="bare block",
                help="remove the braces: SaC has no scopes inside a function",
            )
        statement = self._simple()
        self.semicolon()
        return statement

    def _refuse_foreign(self, key: str) -> None:
        """Words that begin a statement in C, and an `else` without its `if`."""
        following = self.keys[self.pos + 1]
        if (
            key in C_JUMPS
            and (following in (";", "(", ":") or self.kinds[self.pos + 1] in ("name", "number", "char"))
            and key not in self.locals
            and not (following == "(" and key != "switch")
        ):
            self._refuse_statement(key)
        if (key == "then" and self.kinds[self.pos - 1] == "op") or (
            key in ("elif", "elsif", "elseif") and following == "("
        ):
            self._refuse_statement(key)
        if key == "else":
            self.refuse_unopened(self.pos - 1)
            self.fail(
                "E0233",
                "this `else` belongs to no `if`",
                label="no `if` before it",
                help="look at the braces before it; `if (c) { .. } else { .. }` has no `;` before the `else`",
            )

    def _refuse_statement(self, word: str) -> NoReturn:
        """A statement that SaC does not have."""
        self.fail(
            "E0214",
            f"SaC has no `{word}`",
            label="not in SaC",
            help="SaC's statements are assignments, calls, `if`, `while`, `do`, `for` and `return`",
        )

    def _condition(self, word: int) -> ast.Expr:
        """ "(" expr ")" behind `if` or `while`"""
        if self.keys[self.pos] != "(":
            key = self.keys[word]
            self.fail(
                "E0201",
                f"expected `(` behind `{key}`, found {self.describe(self.pos)}",
                label="expected `(`",
                help=f"the condition stands in parentheses: `{key} (c) {{ .. }}`",
            )
        opening = self.pos
        if self._ends_at_block(opening):
            return ast.BadExpr(self.spans[opening])
        self.pos += 1
        depth, stops = self.depth, self.stops
        try:
            condition = self.free_expression()
            self.close(opening, condition=True)
        except Abandon:
            # The statement's shape is still clear where the parentheses match; its body may hold more.
            self.pos = self._behind_brackets(opening)
            self.depth, self.stops = depth, stops
            return ast.BadExpr(self.spans[opening])
        return condition

    def _for_head(self) -> tuple[tuple[ast.Stmt, ...], ast.Expr, tuple[ast.Stmt, ...]]:
        """ "(" [simple {"," simple}] ";" expr ";" [simple {"," simple}] ")\""""
        opening = self.expect("(", "behind `for`")
        if self._ends_at_block(opening):
            return (), ast.BadExpr(self.spans[opening]), ()
        depth, stops, self.stops = self.depth, self.stops, 0
        init: tuple[ast.Stmt, ...] = ()
        update: tuple[ast.Stmt, ...] = ()
        condition: ast.Expr = ast.BadExpr(self.spans[opening])
        try:
            init = self._simples(";")
            self._for_semicolon(opening)
            condition = self._for_condition()
            self._for_semicolon(opening)
            update = self._simples(")")
            self.close(opening)
        except Abandon:
            self.pos = self._behind_brackets(opening)
            if self.keys[self.pos] != "{" and not self.on_new_line(self.pos):
                raise
            self.depth = depth
        self.stops = stops
        return init, condition, update

    def _behind_brackets(self, opening: int) -> int:
        """The index behind the bracket that closes the one at `opening`, or the failure again."""
        closing = self.matching(opening)
        if closing < self.pos:
            raise Abandon
        return closing + 1

    def _ends_at_block(self, opening: int) -> bool:
        """Whether the parenthesis of a head is still open where the block begins: that is reported, and parsing goes on
        with the block, which would be read as a comprehension or a struct otherwise."""
        if self.matching(opening) >= 0:
            return False
        awaited: list[str] = []
        i, semicolons = opening, 2 if self.keys[opening - 1] == "for" else 0
        while self.kinds[i] != "end" and semicolons >= 0:
            key = self.keys[i]
            if key == "{" and self.keys[i - 1] != "with" and self._block_follows(i):
                break
            if key == "{":
                i = self.matching(i)
            elif key in CLOSER:
                awaited.append(CLOSER[key])
            elif key in CLOSER.values() and awaited.pop() != key:
                return False
            if i < 0 or not awaited:
                return False
            semicolons -= key == ";"
            i += 1
        before, self.pos = self.pos, i
        if self.keys[i] != "{" or self.comprehension_ahead():
            self.pos = before
            return False
        closing = "".join(reversed(awaited))
        self.report(
            "E0203", f"expected `{closing}`, found `{{`", self.behind(), label=f"expected `{closing}`",
            labels=(Label(self.spans[opening], "opened here"),),
            help=f"write `{closing}` here, or look for a mistake between the `(` and this place",
            edit=Edit(self.behind(), closing),
        )  # fmt: skip
        return True

    def _block_follows(self, opening: int) -> bool:
        """Whether a brace opens a block, as its line break or the assignment behind it says."""
        return self.on_new_line(opening + 1) or not ASSIGNMENT.isdisjoint(self.keys[opening + 2 : opening + 3])

    def _for_condition(self) -> ast.Expr:
        """expr, which cannot be left out"""
        if self.keys[self.pos] != ";":
            return self.expression()
        edit = Edit(self.spans[self.pos], " true;")
        self.fail(
            "E0236",
            "a `for` loop needs a condition",
            label="condition missing",
            help="write the condition of another round; for a loop without end write `true`",
            edit=edit,
        )

    def _for_semicolon(self, opening: int) -> None:
        if self.keys[self.pos] == ";":
            self.pos += 1
            return
        self.refuse_assignment()
        edit = self._semicolons(opening) if self.keys[self.pos] == "," else None
        self.fail(
            "E0202", f"expected `;` in the head of the `for` loop, found {self.describe(self.pos)}", self.behind(),
            label="expected `;`", labels=(Label(self.spans[opening], "head of the loop"),),
            help="a loop reads `for (i = 0; i < n; i++)`", edit=edit,
        )  # fmt: skip

    def _semicolons(self, opening: int) -> Edit | None:
        """The change of the commas from here on that stand where a loop's head needs its semicolons."""
        closing = self.matching(opening)
        level = [i for i in range(self.pos, closing) if self.keys[i] == ","]
        wanted = 2 - self.keys[opening:closing].count(";")
        if not 0 < wanted <= len(level):
            return None
        edits = [Edit(self.spans[i], ";") for i in level[:wanted]]
        return replace(edits[0], also=tuple(edits[1:]))

    def _simples(self, end: str) -> tuple[ast.Stmt, ...]:
        """[simple {"," simple}] before the token `end`"""
        if self.keys[self.pos] == end:
            return ()
        found: list[ast.Stmt] = []
        while True:
            start = self.pos
            if self._declaration_ahead(start):
                after = self.skip_type(start)
                self.report_initialiser(start, after)
                self.pos = after
            found.append(self._simple())
            if self.keys[self.pos] != "," or (end == ";" and not self._sets_ahead(self.pos + 1)):
                return tuple(found)
            self.pos += 1

    def _sets_ahead(self, i: int) -> bool:
        """Whether what stands at token i, up to the next comma or the end of this part of a loop's head, sets
        something."""
        while self.keys[i] not in (",", ";", ")", "{", "}") and self.kinds[i] != "end":
            if self.keys[i] in ASSIGNMENT or self.keys[i] in ("++", "--"):
                return True
            closing = self.matching(i) if self.keys[i] in ("(", "[") else i
            i = max(closing, i) + 1
        return False

    def _body(self) -> tuple[ast.Stmt, ...]:
        """block | ";" | stmt"""
        key = self.keys[self.pos]
        if key == "{":
            if not self.comprehension_ahead():
                return self.block()
        elif key == ";":
            self.pos += 1
            return ()
        if key == "}" or self.kinds[self.pos] == "end":
            self.fail(
                "E0201",
                f"expected a statement or a block, found {self.describe(self.pos)}",
                self.behind(),
                label="expected a statement",
                help="write `{}` for nothing",
            )
        start = self.pos
        self.deeper()
        if self._declaration_ahead(start):
            if self._report_late_declaration(start, False):
                raise Abandon
            statement = self._declaration()
        else:
            statement = self.statement()
        self.depth -= 1
        if isinstance(statement, ast.Return):
            self._check_return(start, False)
        return (statement,)

    def _if(self) -> ast.Stmt:
        """ "if" "(" expr ")" body ["else" body]"""
        start = self.pos
        self.pos += 1
        condition = self._condition(start)
        then = self._body()
        otherwise: tuple[ast.Stmt, ...] = ()
        if self.keys[self.pos] == "else":
            self.pos += 1
            otherwise = self._body()
        return ast.If(condition, then, otherwise, self.span(start))

    def _while(self) -> ast.Stmt:
        """ "while" "(" expr ")" body"""
        start = self.pos
        self.pos += 1
        condition = self._condition(start)
        body = self._body()
        return ast.While(condition, body, self.span(start))

    def _do(self) -> ast.Stmt:
        """ "do" body "while" "(" expr ")" ";" """
        start = self.pos
        self.pos += 1
        body = self._body()
        if self.keys[self.pos] != "while":
            self.refuse_unopened(self.pos - 1)
            self.fail(
                "E0201",
                f"expected `while` behind the body of `do`, found {self.describe(self.pos)}",
                self.behind(),
                label="expected `while`",
                labels=(Label(self.spans[start], "this `do`"),),
                help="write `do { .. } while (c);`",
            )
        word = self.pos
        self.pos += 1
        condition = self._condition(word)
        self.semicolon()
        return ast.DoWhile(body, condition, self.span(start))

    def _for(self) -> ast.Stmt:
        """ "for" "(" [simple {"," simple}] ";" expr ";" [simple {"," simple}] ")" body"""
        start = self.pos
        self.pos += 1
        init, condition, update = self._for_head()
        body = self._body()
        return ast.For(init, condition, update, body, self.span(start))

    def _return(self) -> ast.Stmt:
        """ "return" [expr | "(" [expr {"," expr}] ")"] ";" """
        start = self.pos
        self.pos += 1
        values: tuple[ast.Expr, ...] = ()
        if self.keys[self.pos] != ";" and self.keys[self.pos] != "}":
            values = self.results(";")
            if self.keys[self.pos] == "," and not self.ends_line(self.pos + 1):
                self.fail(
                    "E0232",
                    "several results stand in parentheses",
                    label="a second result",
                    help="write `return (a, b);`",
                )
        self.semicolon()
        return ast.Return(values, self.span(start))
