"""Parsing of functions: definitions and declarations."""

from __future__ import annotations

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_operands import STOP_BRACE
from sacpy.lang.parse_statements import StatementParser
from sacpy.lang.vocabulary import ASSIGNMENT, BASE_TYPES, CLOSER, RESERVED, STATEMENTS

FUNCTION_ATTRIBUTES = ("inline", "noinline", "external", "specialize", "thread")


class FunctionParser(StatementParser):
    """Functions."""

    def function(self) -> ast.FunDef:
        """function = {attribute} [typevars] rettypes name "(" params ")" ["|" expr {"," expr}] (body | ";") {pragma}"""
        start = self.pos
        self.locals = set()
        inlining, linkage = self._attributes()
        typevars = self._typevars()
        self._refuse_other(start)
        results, varresults = self._results()
        self.gives = bool(results)
        name_at = self.pos
        name = self._function_head_name(results, start)
        name_span = self.span(name_at)
        opening = self._open_parameters(start, name)
        params, varargs = self._parameters(opening)
        conditions = self._conditions()
        body = None
        if self.keys[self.pos] == "{":
            body = self.function_body()
        else:
            self._end_declaration(start, name)
        pragmas = self.pragmas()
        doc = self.tokens[start].doc
        return ast.FunDef(
            typevars,
            inlining,
            linkage,
            results,
            varresults,
            name,
            params,
            varargs,
            conditions,
            body,
            pragmas,
            doc,
            self.span(start),
            name_span,
        )

    def _attributes(self) -> tuple[str, str]:
        """{"inline" | "noinline" | "external" | "specialize"}; "thread" is read and means nothing here"""
        inlining = linkage = ""
        while (key := self.keys[self.pos]) in FUNCTION_ATTRIBUTES and self.keys[self.pos + 1] != "(":
            if key in ("inline", "noinline"):
                if linkage or (inlining and inlining != key):
                    self.report(
                        "E0240",
                        f"a function cannot be both `{linkage or inlining}` and `{key}`",
                        label="contradicts the word before",
                        help="keep one of the two",
                        edit=Edit(self.spans[self.pos], ""),
                    )
                inlining = key
            elif key != "thread":
                if inlining or (linkage and linkage != key):
                    self.report(
                        "E0240",
                        f"a function cannot be both `{linkage or inlining}` and `{key}`",
                        label="contradicts the word before",
                        help="keep one of the two",
                        edit=Edit(self.spans[self.pos], ""),
                    )
                linkage = key
            self.pos += 1
        return inlining, linkage

    def _typevars(self) -> tuple[ast.TypeVar, ...]:
        """["<" Id ":" kinds {"," Id ":" kinds} ">"], kinds = kind {"+" kind}"""
        if self.keys[self.pos] != "<":
            return ()
        found: list[ast.TypeVar] = []
        while True:
            self.pos += 1
            start = self.pos
            name = self.expect_name("a type variable")
            self.expect(":", "and the kind of the type variable", "type variables are written `<T: num>`")
            if self.kinds[self.pos] != "name":
                self.fail(
                    "E0201",
                    f"expected the kind of a type variable, found {self.describe(self.pos)}",
                    label="expected a kind",
                    help="kinds are num, int, signed, unsigned, real, builtin and any",
                )
            kind = self.keys[self.pos]
            self.pos += 1
            while self.keys[self.pos] == "+" and self.kinds[self.pos + 1] == "name":
                kind += f"+{self.keys[self.pos + 1]}"
                self.pos += 2
            found.append(ast.TypeVar(name, kind, self.span(start)))
            if self.keys[self.pos] != ",":
                break
        self.expect(">", "behind the type variables")
        return tuple(found)

    def _refuse_other(self, start: int) -> None:
        """Fails where no function can begin."""
        i = self.pos
        key, following = self.keys[i], self.keys[i + 1]
        if key in ("void", "struct", "...") or key in BASE_TYPES:
            return
        self.refuse_unopened(i - 1)
        if key == "}":
            self.fail(
                "E0208",
                "this `}` closes nothing",
                label="not opened",
                help="remove it, or look for a `}` too many before it",
            )
        if key == "{":
            self.fail(
                "E0209",
                "a block stands only behind the head of a function",
                label="no function's head before it",
                help="give the function a head, as in `int f(int x) { .. }`; a `;` behind the head makes it a "
                "declaration",
            )
        statement = key in STATEMENTS or self._looks_like_statement(i)
        if statement:
            notes: tuple[str, ...] = ()
            labels: tuple[Label, ...] = ()
            if i and self.keys[i - 1] == "}":
                labels = (Label(self.spans[i - 1], "the definition before it ends here"),)
                notes = ("a `}` too many ends a function early",)
            self.fail(
                "E0209",
                "a statement stands only inside a function",
                label="statement outside a function",
                labels=labels,
                notes=notes,
                help="put it into a function, for instance `int main() { .. return 0; }`",
            )
        if self.kinds[i] != "name" or key in RESERVED:
            self.fail(
                "E0209",
                f"expected a definition, found {self.describe(i)}",
                label="expected a definition",
                help="a file holds `use` and `import` lines, types, objects and functions",
            )
        if following == "(" and start == i:
            return  # the missing result type is reported with the head
        if self.kinds[i + 1] not in ("name", "op"):
            self.fail(
                "E0209",
                f"expected a definition, found {self.describe(i)}",
                label="expected a definition",
                help="a file holds `use` and `import` lines, types, objects and functions",
            )

    def _looks_like_statement(self, i: int) -> bool:
        """An assignment or a call where a definition should start."""
        if self.kinds[i] != "name":
            return False
        following = self.keys[i + 1]
        if following in ("++", "--"):
            return self.keys[i + 2] != "("  # `T ++(T a)` defines the operator
        if following in ASSIGNMENT:
            return True
        if following == "(":
            return not self.parameters_ahead(i + 1) or (self.keys[i + 2] == ")" and self.keys[i + 3] == ";")
        if following == "[":
            j = self.skip_type(i)
            return j < 0 or self.keys[j] in ASSIGNMENT
        return False

    def _results(self) -> tuple[tuple[ast.TypeExpr, ...], bool]:
        """rettypes = "void" | "..." | type {"," type} ["," "..."]"""
        if self.keys[self.pos] == "void":
            self.pos += 1
            return (), False
        if self.keys[self.pos] == "...":
            self.pos += 1
            return (), True
        if self.keys[self.pos + 1] == "(" and not self._parenthesised_name(self.pos + 1):
            return (), False  # no result type: `_function_head_name` tells
        results = [self.type()]
        while self.keys[self.pos] == ",":
            self.pos += 1
            if self.keys[self.pos] == "...":
                self.pos += 1
                return tuple(results), True
            results.append(self.type())
        return tuple(results), False

    def _parenthesised_name(self, i: int) -> bool:
        """Whether `(name)` or `(+)`, an old spelling of a function's name, stands at token i."""
        named = self.infix[i + 1] > 0 or (self.kinds[i + 1] == "name" and self.keys[i + 1] not in RESERVED)
        return self.keys[i] == "(" and named and self.keys[i + 2] == ")" and self.keys[i + 3] == "("

    def _function_head_name(self, results: tuple[ast.TypeExpr, ...], start: int) -> str:
        """The name of the function, which may be an operator; `(+)` is an old spelling."""
        at = self.pos
        key = self.keys[at]
        if self.infix[at] and self.kinds[at] == "op":
            return self._operator_name()
        if self._parenthesised_name(at):
            self.pos += 3
            return self.keys[at + 1]
        if self.kinds[at] == "name" and (key not in RESERVED or (key == "thread")):
            self.pos += 1
            if not results and (at == start or self.keys[at - 1] not in ("void", "...")):
                self.report(
                    "E0237",
                    f"the function `{key}` has no result type",
                    self.spans[at],
                    label="expected a type before it",
                    help="write the type of its result, or `void` if it has none",
                )
            return key
        if key in RESERVED:
            self.fail(
                "E0228",
                f"`{key}` is a word of the language and cannot be the name of a function",
                label="reserved word",
                help=f"choose another name, for instance `{key}_`",
            )
        self.fail(
            "E0201",
            f"expected the function's name, found {self.describe(at)}",
            label="expected a name",
            help="a definition begins with the types of its results and its name: `int f(..)`",
        )

    def _open_parameters(self, start: int, name: str) -> int:
        """ "(" behind the function's name"""
        key = self.keys[self.pos]
        if key == "(":
            self.pos += 1
            return self.pos - 1
        if key in ("=", ";", ",", "["):
            self.fail(
                "E0241", "SaC has no global variables", self.span(start), label="a variable outside all functions",
                help="pass it to the functions that need it; a constant can be a function, or `#define`d; for state "
                    "shared by the program see `objdef`",
            )  # fmt: skip
        self.fail(
            "E0201",
            f"expected `(` behind the name of the function `{name}`, found {self.describe(self.pos)}",
            self.behind(),
            label="expected `(`",
            help=f"its parameters stand in parentheses, which may be empty: `{name}()`",
        )

    def _parameters(self, opening: int) -> tuple[tuple[ast.Param, ...], bool]:
        """params = [param {"," param} ["," "..."] | "..."] ")" """
        params: list[ast.Param] = []
        if self.keys[self.pos] == "void" and self.keys[self.pos + 1] == ")":
            self.report(
                "E0242",
                "an empty list of parameters is written `()`",
                label="not a parameter",
                help="leave the `void` out",
                edit=Edit(self.spans[self.pos], ""),
            )
            self.pos += 1
        if self.keys[self.pos] == ")":
            self.pos += 1
            return (), False
        varargs = False
        while True:
            if self.keys[self.pos] == "...":
                self.pos += 1
                varargs = True
                break
            if self.keys[self.pos] == "{":
                self.close(opening, operands=False)
            params.append(self._parameter())
            if self.keys[self.pos] != ",":
                break
            self.pos += 1
        self.close(opening, "" if varargs else "`,` or ", operands=False)
        return tuple(params), varargs

    def _parameter(self) -> ast.Param:
        """param = type ["&"] Id | type Id "(" [type [Id] {"," type [Id]}] ")" """
        start = self.pos
        if self.kinds[start] == "name" and self.keys[start] not in RESERVED and self.keys[start + 1] in (",", ")"):
            self.fail(
                "E0243",
                "a parameter is a type and a name",
                label="one of the two is missing",
                help=f"write the type before it, or the name behind it, as in `int {self.keys[start]}`",
            )
        type = self.type()
        by_reference = self.keys[self.pos] == "&"
        if by_reference:
            self.pos += 1
        if self.keys[self.pos] in (",", ")"):
            self.fail(
                "E0243",
                "a parameter is a type and a name",
                self.span(start),
                label="the name is missing",
                help="write a name behind the type; it need not be used",
            )
        if self.keys[self.pos] == "*":
            self.fail(
                "E0218",
                "SaC has no pointers",
                label="`*` behind a type",
                help="an array parameter is written `int[.] a`, a parameter that the function changes `int &a`",
            )
        at = self.pos
        name = self.expect_name("a parameter")
        if self.keys[self.pos] == "(":
            return ast.Param(type, name, False, self.span(start), self._taken(by_reference, start))
        self.locals.add(name)
        if self.keys[self.pos] == "[":
            self.refuse_declarator(start, at)
        if self.keys[self.pos] == "=":
            self.fail(
                "E0243",
                "a parameter has no default value",
                label="default value",
                help="overload the function: a second instance without the parameter calls this one",
            )
        return ast.Param(type, name, by_reference, self.span(start))

    def _taken(self, by_reference: bool, start: int) -> tuple[ast.TypeExpr, ...]:
        """The types of the parameters of a parameter that is a function."""
        if by_reference:
            self.fail(
                "E0243",
                "a function is no reference parameter",
                self.span(start),
                label="`&` before a function",
                help="leave the `&` out: functions are given by name, and do not change",
            )
        opening = self.pos
        self.pos += 1
        types: list[ast.TypeExpr] = []
        while self.keys[self.pos] != ")":
            types.append(self.type())
            if self.kinds[self.pos] == "name" and self.keys[self.pos] not in RESERVED:
                self.pos += 1  # a name for the reader
            if self.keys[self.pos] != ",":
                break
            self.pos += 1
        self.close(opening, "`,` or ", operands=False)
        return tuple(types)

    def _conditions(self) -> tuple[ast.Expr, ...]:
        """["|" expr {"," expr}]"""
        if self.keys[self.pos] != "|":
            return ()
        self.pos += 1
        self._refuse_tuple(self.pos)
        self.stops = STOP_BRACE
        conditions = [self.expression()]
        while self.keys[self.pos] == ",":
            self.pos += 1
            conditions.append(self.expression())
        self.stops = 0
        return tuple(conditions)

    def _refuse_tuple(self, opening: int) -> None:
        """Refuses conditions of a function in parentheses."""
        end = self.matching(opening) if self.keys[opening] == "(" else -1
        if end < 0 or self.keys[end + 1] not in ("{", ";"):
            return
        at = opening + 1
        while at < end and self.keys[at] != ",":
            at = (self.matching(at) if self.keys[at] in CLOSER else at) + 1
        if at < end:
            both = self.tokens[opening].span, self.tokens[end].span
            self.fail(
                "E0245",
                "a parenthesis holds one value",
                self.tokens[at].span,
                label="a second value",
                help="conditions stand side by side, without parentheses",
                edit=Edit(both[0], "", (Edit(both[1], ""),)),
            )

    def _end_declaration(self, start: int, name: str) -> None:
        """ ";" behind a head without a body"""
        if self.keys[self.pos] == ";":
            self.pos += 1
            return
        if self.keys[self.pos] in (")", "]"):
            self.close_nothing()
        if self.keys[self.pos] == "->":
            self.fail(
                "E0244",
                "the result types stand before the function's name",
                label="not behind the head",
                help=f"write `int {name}(..) {{ .. }}`",
            )
        self.fail(
            "E0244", f"expected the body of `{name}` or `;`, found {self.describe(self.pos)}", self.behind(),
            label="expected `{` or `;`", labels=(Label(self.spans[start], "of this function"),),
            help="a definition has a block behind its head, a declaration a `;`",
            edit=None if self.definition_ahead(self.pos) or self.kinds[self.pos] == "end" else Edit(self.behind(),
                " {"),
        )  # fmt: skip

    def _operator_name(self) -> str:
        """An operator's name; one that nothing defines yet comes as several tokens without space between."""
        name = self.keys[self.pos]
        self.pos += 1
        while (
            self.kinds[self.pos] == "op"
            and (self.infix[self.pos] or self.keys[self.pos] in ("=", ".", ":"))
            and not self.tokens[self.pos].spaced
        ):
            name += self.keys[self.pos]
            self.pos += 1
        return name
