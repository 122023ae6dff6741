"""Parsing of declarations and of statements on one line: assignments, steps, calls; and what is wrong with the brackets
around them: those that close nothing, and those that close another block than the text says."""

from __future__ import annotations

from typing import NoReturn

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_cursor import Abandon
from sacpy.lang.parse_types import C_TYPES
from sacpy.lang.parse_withloops import WithLoopParser
from sacpy.lang.source import Span
from sacpy.lang.vocabulary import ASSIGNMENT, BASE_TYPES, CLOSER, RESERVED

C_JUMPS = frozenset(("break", "continue", "goto", "switch", "case"))  # what SaC has for them is in `advice/words.txt`


class AssignmentParser(WithLoopParser):
    """Declarations and simple statements."""

    # ------------------------------------------------------------ declarations

    def _declaration_ahead(self, i: int) -> bool:
        """Whether a local declaration starts at token i: a type and a name."""
        key, following = self.keys[i], self.keys[i + 1]
        if self.kinds[i] != "name":
            return False
        if key in RESERVED:
            return (key in BASE_TYPES and following != "(") or key == "struct"
        if key in C_JUMPS:
            return False
        if key in C_TYPES and self.kinds[i + 1] == "name":
            return True
        if self.kinds[i + 1] == "name":
            return following not in RESERVED and not self.infix[i + 1] and self.keys[i + 2] in (",", ";", "=", "[")
        if following in ("[", "::"):
            j = self.skip_type(i)
            return j > 0 and self.kinds[j] == "name" and self.keys[j] not in RESERVED and not self.infix[j]
        return False

    def _declaration(self) -> ast.Stmt:
        """vardecl = type Id {"," Id} ";" """
        start = self.pos
        type = self.type()
        names: list[tuple[str, Span]] = []
        while True:
            at = self.pos
            name = self.expect_name("a variable")
            self.locals.add(name)
            names.append((name, self.spans[at]))
            if self.keys[self.pos] == "=":
                return self._initialised(start, at)
            if self.keys[self.pos] == "[":
                self.refuse_declarator(start, at)
            if self.keys[self.pos] != ",":
                break
            self.pos += 1
        self.semicolon()
        return ast.VarDecl(type, tuple(names), self.span(start))

    def _initialised(self, start: int, name: int) -> ast.Stmt:
        """`int x = 5;`: reported, and read as the assignment it should be."""
        self.report_initialiser(start, name)
        self.pos = name
        statement = self._simple()
        while self.keys[self.pos] == ",":
            self.pos += 1
            self._simple()
        self.semicolon()
        return statement

    def report_initialiser(self, start: int, name: int) -> None:
        """`int x = 5`"""
        type, variable = self.spans[start].to(self.spans[name - 1]), self.keys[name]
        edit = Edit(type.to(self.spans[name]), variable) if name - start == 1 or self.keys[name - 1] == "]" else None
        help = f"leave the type out: `{variable} = ..;` makes the variable, and its type is that of the value"
        if name - start == 1 and self.keys[start] not in BASE_TYPES and self.keys[start] not in self.types:
            help += f"; two results are set by `{self.keys[start]}, {variable} = ..;`"
            edit = None
        self.report(
            "E0212", "a declaration cannot give a value", type, label="type of a declaration", edit=edit, help=help
        )

    def refuse_declarator(self, start: int, name: int) -> None:
        """`int a[10]`: in SaC the extents belong to the type."""
        type = self.spans[start].to(self.spans[name - 1])
        opening = self.pos
        closing = opening
        while self.keys[closing] not in ("]", ";", ",", ")", "{") and self.kinds[closing] != "end":
            closing += 1
        edit = None
        extents = "[..]"
        if self.keys[closing] == "]":
            extents = self.spans[opening].to(self.spans[closing]).text
            edit = Edit(
                type.to(self.spans[closing]), f"{type.text}{extents if extents != '[]' else '[.]'} {self.keys[name]}"
            )
        self.fail(
            "E0234", "extents stand behind the type, not behind the name",
            self.spans[opening].to(self.spans[min(closing, len(self.spans) - 1)]), label="belongs to the type",
            edit=edit,
            help=f"write `{type.text}{extents if extents != '[]' else '[.]'} {self.keys[name]}`",
        )  # fmt: skip

    def _report_late_declaration(self, start: int, outermost: bool) -> bool:
        """Whether a declaration that stands too late is reported as that; where it has an initialiser, that is what
        will be reported."""
        if self.keys[self.skip_type(start) + 1] == "=" or self._initialised_ahead(start):
            return False
        where = "before the function's first statement" if outermost else "at the head of the function's body"
        end = self._declaration_end(start)
        self.report(
            "E0213", "declarations stand only at the head of a function's body", label="too late",
            help=f"move it {where}, or leave it out: an assignment makes its variable",
            edit=self.without(start, end) if self.keys[end] == ";" else None,
        )  # fmt: skip
        self.reported_at = -1
        return True

    def _declaration_end(self, i: int) -> int:
        """The token that ends the declaration at token i."""
        while self.keys[i] not in (";", "{", "}") and self.kinds[i] != "end":
            i += 1
        return i

    def _initialised_ahead(self, i: int) -> bool:
        """Whether the declaration at token i is one of C, `int a[3] = ..`."""
        return "=" in self.keys[i : self._declaration_end(i)]

    def _skip_declaration(self, start: int) -> None:
        """Moves behind a declaration, whose names are variables from here on."""
        self.pos = self._declaration_end(start)
        self.locals.update(key for i, key in enumerate(self.keys[start : self.pos], start) if self.kinds[i] == "name")
        if self.keys[self.pos] == ";":
            self.pos += 1

    # ------------------------------------------------------------ simple statements

    def semicolon(self) -> None:
        """ ";" at the end of a statement; where it is surely missing, parsing goes on as if it were there"""
        key = self.keys[self.pos]
        if key == ";":
            self.pos += 1
            return
        if key == "," and self.ends_line(self.pos + 1):
            self.report(
                "E0202",
                "expected `;`, found `,`",
                label="expected `;`",
                help="a `;` ends every statement and declaration",
                edit=Edit(self.spans[self.pos], ";"),
            )
            self.pos += 1
            return
        self.refuse_assignment()
        if key in (")", "]"):
            self.close_nothing()
        sure = key == "return" or self.ends_line(self.pos)
        if not sure and self.starts_operand(self.pos):
            self.missing_operator("`;`")
        edit = Edit(self.behind(), ";") if sure else None
        self.report(
            "E0202",
            f"expected `;`, found {self.describe(self.pos)}",
            self.behind(),
            label="expected `;`",
            help="a `;` ends every statement and declaration",
            edit=edit,
        )
        if not sure:
            raise Abandon

    def _refuse_neighbour(self) -> None:
        """Two variables side by side, which several results are assigned to."""
        if self.kinds[self.pos] == "name" and self.keys[self.pos + 1] in ("=", ",") and not self.on_new_line(self.pos):
            self.fail(
                "E0201",
                f"expected `,` between two variables, found {self.describe(self.pos)}",
                self.behind(),
                label="expected `,`",
                help="several results are set by `a, b = f(..);`",
                edit=Edit(self.behind(), ","),
            )

    def close_nothing(self) -> NoReturn:
        """A bracket that closes nothing."""
        self.fail(
            "E0208",
            f"this `{self.keys[self.pos]}` closes nothing",
            label="not opened",
            help="remove it, or open it before",
            edit=Edit(self.spans[self.pos], ""),
        )

    def _stray(self) -> int | None:
        """The bracket before the end of this statement that closes nothing; that of a loop's head closes it."""
        i = self.pos
        while self.keys[i] not in (";", "{", "}", ")", "]") and self.kinds[i] != "end":
            closing = self.matching(i) if self.keys[i] in ("(", "[") else i
            i = max(closing, i) + 1
        if self.keys[i] not in (")", "]"):
            return None
        inner = 0
        for before in reversed(self.keys[:i]):
            if before in CLOSER.values():
                inner += 1
            elif before in CLOSER:
                if not inner:
                    return None if CLOSER[before] == self.keys[i] else i
                inner -= 1
        return i

    def refuse_unopened(self, end: int) -> None:
        """Fails where what ends with the brace at token `end` has one in it that closes another block than it does by
        the indentation of the text: one whose head has no brace behind it."""
        for closing, opening in self._closed_by_others(end):
            margin = self.indentation(closing)
            for i in range(closing - 1, opening, -1):
                key = self.keys[i]
                heads = key in ("for", "if", "else") or (key == "while" and self.on_new_line(i))
                if not heads or self.indentation(i) != margin:
                    continue
                last = self.matching(i + 1) if self.keys[i + 1] == "(" else i
                if last < 0 or self.keys[last + 1] == "{" or not self.on_new_line(last + 1):
                    break
                place = self.behind(last + 1)
                self.fail(
                    "E0201",
                    f"expected `{{` behind this `{key}`, whose block a `}}` closes",
                    place,
                    label="expected `{`",
                    labels=(Label(self.spans[closing], "by the indentation of the text, this closes it"),),
                    help="write the missing `{`",
                    edit=Edit(place, " {"),
                )

    def _closed_by_others(self, end: int) -> list[tuple[int, int]]:
        """In what ends with the brace at token `end` those that stand at other margins than the text of those that they
        close, and these."""
        pairs: list[tuple[int, int]] = []
        closed: list[int] = []
        for i in range(end, -1, -1):
            if self.keys[i] == "}":
                closed.append(i)
            elif self.keys[i] == "{" and closed:
                pairs.append((closed.pop(), i))
            if not closed:
                break
        return [(c, o) for c, o in sorted(pairs) if self.on_new_line(c) and self.indentation(c) != self.indentation(o)]

    def indentation(self, i: int) -> str:
        """What the line of a token begins with."""
        span = self.spans[i]
        text = span.source.line(span.line)
        return text[: len(text) - len(text.lstrip())]

    def _simple(self) -> ast.Stmt:
        """simple = target {"," target} "=" expr | target op "=" expr | target "++" | "++" target | call"""
        start = self.pos
        key = self.keys[start]
        if self.keys[start + 1] == "=" and self.kinds[start] == "name" and key not in RESERVED:
            self.pos += 2
            span = self.spans[start]
            return self._assigned(start, (ast.Target(key, (), span, span),), None)
        if key in ("++", "--") and self.keys[start + 1] != "(":
            self.pos += 1
            target = self._target(self.operand())
            return ast.Step(target, ast.QName(None, key, self.spans[start]), self.span(start))
        if key == "(":
            self._refuse_values(start)
        expr = self.expression()
        key = self.keys[self.pos]
        if key == "," and not (isinstance(expr, ast.Call) and self.ends_line(self.pos + 1)):
            return self._several_targets(start, expr)
        if isinstance(expr, ast.Name):
            self._refuse_neighbour()
        if key in ASSIGNMENT:
            if isinstance(expr, ast.Binary) and (end := self._step_end(start, expr)) is not None:
                return self._stepped(start, expr.left, end)
            operator = None if key == "=" else ast.QName(None, key[:-1], self.spans[self.pos])
            target = self._target(expr)
            self.pos += 1
            return self._assigned(start, (target,), operator)
        if key in ("++", "--"):
            return self._stepped(start, expr, self.pos + 1)
        self.check_effect(expr)
        return ast.CallStmt(expr, self.span(start))

    def _stepped(self, start: int, expr: ast.Expr, end: int) -> ast.Stmt:
        """target "++", up to the token `end`"""
        target = self._target(expr)
        self.pos = end
        return ast.Step(target, ast.QName(None, self.keys[end - 1], self.spans[end - 1]), self.span(start))

    def _step_end(self, start: int, expr: ast.Binary) -> int | None:
        """Of `i++` without a `;` before a line that assigns: the token behind it. What was read is `i ++ x`."""
        if expr.operator.name not in ("++", "--"):
            return None
        end = next(i for i in range(self.pos, start, -1) if self.spans[i] == expr.operator.span) + 1
        return end if self.on_new_line(end) else None

    def check_effect(self, expr: ast.Expr) -> None:
        """An expression that is a statement must do something."""
        if isinstance(expr, ast.Call | ast.With | ast.Tensor | ast.BadExpr):
            return
        if self.keys[self.pos] != ";" and not self.on_new_line(self.pos):
            return  # something else is wrong here, and will be reported
        help, edit = "assign it to a variable, or leave it out", None
        if isinstance(expr, ast.Binary) and expr.operator.name == "==" and isinstance(expr.left, ast.Name):
            help, edit = "`=` assigns, `==` compares", Edit(expr.operator.span, "=")
        elif self._is_last(self.pos):
            help, edit = "return it", Edit(Span(expr.span.source, expr.span.start, expr.span.start), "return ")
        self.report(
            "E0222", "this expression does nothing", expr.span, label="its value is not used", help=help, edit=edit
        )
        self.reported_at = -1

    def _refuse_values(self, start: int) -> None:
        """Fails where several values in parentheses are the last statement of a function."""
        end, i = self.matching(start), start + 1
        if end < 0 or not self._is_last(end + 1):
            return
        while i < end and self.keys[i] != ",":
            i = (self.matching(i) if self.keys[i] in CLOSER else i) + 1
        if i < end:
            span = self.spans[start].to(self.spans[end])
            edit = Edit(Span(span.source, span.start, span.start), "return ")
            self.fail(
                "E0222", "this expression does nothing", span, label="its values are not used", help="return them",
                edit=edit,
            )  # fmt: skip

    def _is_last(self, end: int) -> bool:
        """Whether the statement that the token `end` ends is the last one of a function with results."""
        return self.gives and self.level[end] == 1 and self.keys[end] == ";" and self.keys[end + 1] == "}"

    def _assigned(self, start: int, targets: tuple[ast.Target, ...], operator: ast.QName | None) -> ast.Stmt:
        """The right side of an assignment."""
        value = self.expression()
        for target in targets:
            self.locals.add(target.name)
        key = self.keys[self.pos]
        if key == "=":
            if isinstance(value, ast.Name):
                help = f"write two statements: `{value.name} = ..; {targets[0].name} = {value.name};`"
            else:
                help = "`==` compares; each assignment is a statement of its own"
            self.fail("E0216", "an assignment is not an expression", label="a second `=`", help=help)
        return ast.Assign(targets, operator, value, self.span(start))

    def _several_targets(self, start: int, first: ast.Expr) -> ast.Stmt:
        """target {"," target} "=" expr, from the first comma on"""
        if (stray := self._stray()) is not None:
            self.pos = stray  # some bracket before it has closed a call too early
            self.close_nothing()
        targets = [self._target(first)]
        while self.keys[self.pos] == ",":
            self.pos += 1
            targets.append(self._target(self.postfix(self.pos, self.primary())))
            self._refuse_neighbour()
        if self.keys[self.pos] in ASSIGNMENT and self.keys[self.pos] != "=":
            self.fail(
                "E0232",
                f"`{self.keys[self.pos]}` has one variable on its left side",
                label="with several variables",
                help="write one statement for each variable",
            )
        self.expect("=", "behind the variables")
        statement = self._assigned(start, tuple(targets), None)
        if self.keys[self.pos] == "," and not self.ends_line(self.pos + 1):
            self.fail(
                "E0232",
                "an assignment has one expression on its right side",
                label="a second one",
                help="write one assignment for each variable; only a call, a with-loop or a comprehension has several "
                "results",
            )
        return statement

    def _target(self, expr: ast.Expr) -> ast.Target:
        """target = Id {"[" indices "]" | "." Id}: an expression read, and now assigned to"""
        path: list[ast.IndexStep | ast.FieldStep] = []
        inner = expr
        while isinstance(inner, ast.Select | ast.Field):
            if isinstance(inner, ast.Select):
                path.append(
                    ast.IndexStep(
                        inner.indices, Span(inner.span.source, inner.array.span.end, inner.span.end, inner.span.macro)
                    )
                )
                inner = inner.array
            else:
                path.append(ast.FieldStep(inner.name, inner.name_span))
                inner = inner.value
        if isinstance(inner, ast.Name) and inner.name.module is None:
            self.locals.add(inner.name.name)
            return ast.Target(inner.name.name, tuple(reversed(path)), expr.span, inner.span)
        if isinstance(inner, ast.Unary) and inner.operator.name == "*":
            self.fail(
                "E0218",
                "SaC has no pointers",
                inner.operator.span,
                label="`*` before a variable",
                help="arrays are values: assign to `a[i]`, or return the new value",
            )
        if isinstance(inner, ast.Name):
            self.fail(
                "E0232",
                "what belongs to another module cannot be assigned",
                expr.span,
                label="qualified name",
                help="an object changes through the functions of its class",
            )
        if not isinstance(inner, ast.BadExpr):
            self.report(
                "E0232",
                "this cannot be assigned to",
                expr.span,
                label="not a variable",
                help="left of the sign stand variables, elements `a[i]` and fields `s.f`",
            )
        raise Abandon
