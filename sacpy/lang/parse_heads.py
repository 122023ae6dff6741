"""Parsing of what stands in parentheses behind `if`, `while` and `for`, before the block."""

from __future__ import annotations

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_assignments import AssignmentParser
from sacpy.lang.parse_cursor import Abandon
from sacpy.lang.vocabulary import ASSIGNMENT, CLOSER
from sacpy.nodes import replace


class HeadParser(AssignmentParser):
    """Conditions, and the heads of `for` loops."""

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
            if key == "{" and self.keys[i - 1] != "with" and self.on_new_line(i + 1):
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
