"""Parsing of with-loops and tensor comprehensions."""

from __future__ import annotations

from abc import abstractmethod

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_expressions import ExpressionParser
from sacpy.lang.parse_operands import STOP_LESS
from sacpy.lang.tokens import Written

OPERATORS = frozenset({"genarray", "modarray", "fold", "foldfix", "propagate", "scan", "exscan", "into"})


class WithLoopParser(ExpressionParser):
    """With-loops and comprehensions."""

    @abstractmethod
    def block(self) -> tuple[ast.Stmt, ...]:
        """See `parse_statements`."""

    def with_loop(self) -> ast.Expr:
        """with = "with" "{" {pragma} {part} "}" ":" ops"""
        start = self.pos
        self.pos += 1
        opening = self.pos
        if self.keys[opening] != "{":
            help = "the partitions stand in braces: `with { (lb <= iv < ub) : e; } : genarray(shp)`"
            self.fail(
                "E0225", f"expected `{{` behind `with`, found {self.describe(opening)}", label="expected `{`", help=help
            )
        self.pos += 1
        self.deeper()
        pragmas = self._own_pragmas()
        parts: list[ast.Part] = []
        while self.keys[self.pos] == "(" or (self.kinds[self.pos] == "pragma"):
            parts.append(self._part(self._own_pragmas()))
        self._close_parts(opening)
        self._colon(start)
        stops, self.stops = self.stops, 0
        operators = self._operators()
        self.stops = stops
        self.depth -= 1
        return ast.With(pragmas, tuple(parts), operators, self.span(start))

    def _close_parts(self, opening: int) -> None:
        if self.keys[self.pos] == "}":
            self.pos += 1
            return
        opened = Label(self.spans[opening], "the with-loop's braces open here")
        if self.keys[self.pos] == ":":
            self.fail(
                "E0204",
                "the braces of this with-loop are not closed",
                self.behind(),
                label="expected `}`",
                labels=(opened,),
                help="write `}` before the `:`",
                edit=Edit(self.behind(), " }"),
            )
        self.fail(
            "E0226",
            f"expected a partition or `}}`, found {self.describe(self.pos)}",
            label="expected `(`",
            labels=(opened,),
            help="a partition begins with its generator in parentheses: `(lb <= iv < ub) : e;`",
        )

    def _colon(self, start: int) -> None:
        if self.keys[self.pos] == ":":
            self.pos += 1
            return
        edit = Edit(self.behind(), " :") if self.keys[self.pos] in OPERATORS or self.keys[self.pos] == "(" else None
        self.fail(
            "E0225", f"expected `:` and what the with-loop makes, found {self.describe(self.pos)}", self.behind(),
            label="expected `:`", labels=(Label(self.spans[start], "of this with-loop"),),
            help="an operator follows the braces, as in `with {..} : genarray(shp)`", edit=edit,
        )  # fmt: skip

    def pragmas(self) -> tuple[ast.Pragma, ...]:
        """{pragma}"""
        found: list[ast.Pragma] = []
        while self.kinds[self.pos] == "pragma":
            found.append(self.pragma(self.pos))
            self.pos += 1
        return tuple(found)

    def pragma(self, at: int) -> ast.Pragma:
        """The pragma that token `at` is."""
        written = self.tokens[at].value
        assert isinstance(written, Written)
        return ast.Pragma(written.text, self.spans[at], written.words)

    def _own_pragmas(self) -> tuple[ast.Pragma, ...]:
        """{pragma}, where the pragmas that lay out a with-loop belong"""
        start = self.pos
        found = self.pragmas()
        self.laid_out.update(range(start, self.pos))
        return found

    def _part(self, pragmas: tuple[ast.Pragma, ...]) -> ast.Part:
        """part = {pragma} "(" gen ")" {pragma} ["{" stmts "}"] [":" ("void" | results)] ";" """
        start = self.pos
        stops, self.stops = self.stops, 0
        self.expect("(", "before the generator")
        generator = self._generator(start)
        self.close(start)
        pragmas += self._own_pragmas()
        body = self.block() if self.keys[self.pos] == "{" else ()
        results: tuple[ast.Expr, ...] | None = None
        if self.keys[self.pos] == ":":
            self.pos += 1
            if self.keys[self.pos] == "void":
                self.pos += 1
            else:
                results = self.results(";")
        elif self.starts_operand(self.pos) and not (self.keys[self.pos] == "(" and self.on_new_line(self.pos)):
            self.report(
                "E0201",
                f"expected `:` before the value of the partition, found {self.describe(self.pos)}",
                self.behind(),
                label="expected `:`",
                help="a partition gives its value behind a `:`, as in `(lb <= iv < ub) : e;`",
                edit=Edit(self.behind(), " :"),
            )
            results = self.results(";")
        if self.keys[self.pos] == ";":
            self.pos += 1
        else:
            self.refuse_assignment()
            edit = Edit(self.behind(), ";") if self.keys[self.pos] in ("}", "(") or self.on_new_line(self.pos) else None
            if edit is None and self.starts_operand(self.pos):
                self.missing_operator("`;`")
            self.report(
                "E0202",
                f"expected `;` at the end of the partition, found {self.describe(self.pos)}",
                self.behind(),
                label="expected `;`",
                help="every partition ends with `;`",
                edit=edit,
            )
            if edit is None:
                self.skip_statement(self.level[start])
        self.stops = stops
        return ast.Part(generator, pragmas, body, results, self.span(start))

    def _generator(self, opening: int) -> ast.Generator:
        """gen = bound ("<" | "<=") idx ("<" | "<=") bound ["step" expr ["width" expr]]"""
        start = self.pos
        lower = self._bound(STOP_LESS)
        lower_inclusive = self._comparison(opening)
        index_start = self.pos
        vector, scalars = self._index()
        index_span = self.span(index_start)
        upper_inclusive = self._comparison(opening)
        upper = self._bound(0)
        step, width = self._step_width()
        return ast.Generator(
            lower, lower_inclusive, vector, scalars, upper_inclusive, upper, step, width, self.span(start), index_span
        )

    def _bound(self, stop: int) -> ast.Expr | None:
        """bound = "." | expr"""
        if self.keys[self.pos] == ".":
            self.pos += 1
            return None
        stops, self.stops = self.stops, self.stops | stop
        bound = self.expression()
        self.stops = stops
        return bound

    def _comparison(self, opening: int) -> bool:
        """ "<" | "<="; True for the latter"""
        key = self.keys[self.pos]
        if key in ("<", "<="):
            self.pos += 1
            return key == "<="
        help = "a generator reads `lb <= iv < ub`, `. <= iv <= .` or `lb <= [i,j] < ub`"
        edit = None
        if key == "=" and self.keys[self.pos + 1] == "<":
            span = self.spans[self.pos].to(self.spans[self.pos + 1])
            edit = Edit(span, "<=")
        if key in (">", ">="):
            help = "write it the other way round: " + help
        self.fail(
            "E0226",
            f"expected `<` or `<=` in the generator, found {self.describe(self.pos)}",
            label="expected `<` or `<=`",
            labels=(Label(self.spans[opening], "generator"),),
            help=help,
            edit=edit,
        )

    def _index(self) -> tuple[str | None, tuple[str, ...] | None]:
        """idx = iv | "[" [i {"," j}] "]" | iv "=" "[" [i {"," j}] "]" """
        if self.keys[self.pos] == "[":
            return None, self._index_names()
        if self.kinds[self.pos] != "name":
            self.fail(
                "E0226",
                f"expected the index of the generator, found {self.describe(self.pos)}",
                label="expected a name or `[i,j]`",
                help="a generator reads `lb <= iv < ub` or `lb <= [i,j] < ub`",
            )
        vector = self.expect_name("an index")
        self.locals.add(vector)
        if self.keys[self.pos] == "=" and self.keys[self.pos + 1] == "[":
            self.pos += 1
            return vector, self._index_names()
        return vector, None

    def _index_names(self) -> tuple[str, ...]:
        """ "[" [i {"," j}] "]" """
        opening = self.pos
        self.pos += 1
        names: list[str] = []
        while self.keys[self.pos] != "]":
            if self.kinds[self.pos] != "name":
                self.fail(
                    "E0226",
                    f"expected the name of an index, found {self.describe(self.pos)}",
                    label="expected a name",
                    help="between the bounds stands the index: `lb <= iv < ub` or `lb <= [i,j] < ub`",
                )
            names.append(self.expect_name("an index"))
            if self.keys[self.pos] != ",":
                break
            self.pos += 1
        self.close(opening, "`,` or ", operands=False)
        self.locals.update(names)
        return tuple(names)

    def _step_width(self) -> tuple[ast.Expr | None, ast.Expr | None]:
        """["step" expr ["width" expr]]"""
        step = width = None
        if self.keys[self.pos] == "step":
            self.pos += 1
            step = self.expression()
        if self.keys[self.pos] == "width":
            if step is None:
                self.report(
                    "E0226",
                    "a width needs a step",
                    label="`width` without `step`",
                    help="write `step s width w`; the width is how many of each s indices are taken",
                )
            self.pos += 1
            width = self.expression()
        return step, width

    # ------------------------------------------------------------ operators

    def _operators(self) -> tuple[ast.WithOp, ...]:
        """ops = "void" | op | "(" op {"," op} ")" """
        key = self.keys[self.pos]
        if key == "void":
            self.pos += 1
            return ()
        if key != "(":
            return (self._with_operator(),)
        opening = self.pos
        self.pos += 1
        operators = [self._with_operator()]
        while self.keys[self.pos] == ",":
            self.pos += 1
            operators.append(self._with_operator())
        self.close(opening, "`,` or ")
        return tuple(operators)

    def _with_operator(self) -> ast.WithOp:
        """op = "genarray" "(" expr ["," expr] ")" | "modarray" "(" expr ")" | "propagate" "(" expr ")" | fold | scan |
        into"""
        start = self.pos
        key = self.keys[start]
        if key not in OPERATORS:
            self.fail(
                "E0227",
                f"expected what the with-loop makes, found {self.describe(start)}",
                label="expected an operator",
                help="the operators are `genarray`, `modarray`, `fold`, `foldfix`, `scan`, `exscan`, `into`, "
                "`propagate`, and `void` for none",
            )
        self.pos += 1
        opening = self.expect("(", f"behind `{key}`")
        if key in ("fold", "foldfix"):
            return self._fold(start, opening, key)
        if key in ("scan", "exscan"):
            return self._scan(start, opening, key)
        if key == "into":
            return self._into(start, opening)
        first = self.expression()
        default = None
        if self.keys[self.pos] == "," and key == "genarray":
            self.pos += 1
            default = self.expression()
        if self.keys[self.pos] == ",":
            help = (
                "write `genarray(shape)` or `genarray(shape, default)`"
                if key == "genarray"
                else "`genarray(shape, default)` is the only one with a default"
            )
            self.fail(
                "E0227",
                f"`{key}` takes {'at most two arguments' if key == 'genarray' else 'one argument'}",
                label="one too many",
                help=help,
            )
        self.close(opening, "`,` or " if key == "genarray" and default is None else "")
        if key == "genarray":
            return ast.GenarrayOp(first, default, self.span(start))
        if key == "modarray":
            return ast.ModarrayOp(first, self.span(start))
        return ast.PropagateOp(first, self.span(start))

    def _fold(self, start: int, opening: int, key: str) -> ast.WithOp:
        """ "fold" "(" f ["(" args ")"] "," expr ")" | "foldfix" "(" f ["(" args ")"] "," expr "," expr ")" """
        function = self._function_name()
        args = self.arguments() if self.keys[self.pos] == "(" else ()
        form = "`fold(f, neutral)`" if key == "fold" else "`foldfix(f, neutral, stop)`"
        if self.keys[self.pos] != ",":
            self.fail(
                "E0227",
                f"`{key}` needs the neutral element of its function",
                label="expected `,`",
                help=f"write {form}, as in `fold(+, 0)`",
            )
        self.pos += 1
        neutral = self.expression()
        stop = None
        if key == "foldfix":
            if self.keys[self.pos] != ",":
                self.fail(
                    "E0227",
                    "`foldfix` needs the value it stops at",
                    label="expected `,`",
                    help=f"write {form}, as in `foldfix(&, true, false)`",
                )
            self.pos += 1
            stop = self.expression()
        self.close(opening)
        return ast.FoldOp(function, args, neutral, stop, self.span(start))

    def _scan(self, start: int, opening: int, key: str) -> ast.WithOp:
        """("scan" | "exscan") "(" f ["(" args ")"] "," expr ")" """
        function = self._function_name()
        args = self.arguments() if self.keys[self.pos] == "(" else ()
        if self.keys[self.pos] != ",":
            self.fail(
                "E0227",
                f"`{key}` needs the neutral element of its function",
                label="expected `,`",
                help=f"write `{key}(f, neutral)`, as in `{key}(+, 0)`",
            )
        self.pos += 1
        neutral = self.expression()
        self.close(opening)
        return ast.ScanOp(function, args, neutral, key == "exscan", self.span(start))

    def _into(self, start: int, opening: int) -> ast.WithOp:
        """ "into" "(" expr "," f ["(" args ")"] ")" """
        array = self.expression()
        if self.keys[self.pos] != ",":
            self.fail(
                "E0227",
                "`into` needs the function that combines what is there with what comes",
                label="expected `,`",
                help="write `into(array, f)`, as in `into(count, +)`",
            )
        self.pos += 1
        function = self._function_name()
        args = self.arguments() if self.keys[self.pos] == "(" else ()
        self.close(opening)
        return ast.IntoOp(array, function, args, self.span(start))

    def _function_name(self) -> ast.QName:
        """[Id "::"] (Id | operator)"""
        start = self.pos
        if self.infix[start]:
            return self.operator()
        if self.kinds[start] != "name":
            self.fail(
                "E0227",
                f"expected the function to fold with, found {self.describe(start)}",
                label="expected a function",
                help="its name goes first, as in `fold(+, 0)` or `fold(max, minint())`",
            )
        name = self.expect_name("a function")
        if self.keys[self.pos] != "::":
            return ast.QName(None, name, self.spans[start])
        self.pos += 1
        return ast.QName(name, self.expect_name("a function"), self.span(start))

    # ------------------------------------------------------------ comprehensions

    def comprehension(self) -> ast.Expr:
        """tc = "{" tpart {";" tpart} [";"] "}" """
        from sacpy.lang.parse_comprehensions import tensor_part

        start = self.pos
        self.pos += 1
        self.deeper()
        stops, self.stops = self.stops, 0
        parts = [tensor_part(self)]
        while self.keys[self.pos] == ";":
            self.pos += 1
            if self.keys[self.pos] == "}":
                break
            parts.append(tensor_part(self))
        self.stops = stops
        self.close(start, "`;` or ")
        self.depth -= 1
        return ast.Tensor(tuple(parts), self.span(start))
