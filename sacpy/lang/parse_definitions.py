"""Parsing of whole files: headers of modules and classes, interfaces, types, objects, functions."""

from __future__ import annotations

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_cursor import ASSIGNMENT, BASE_TYPES, INTERFACES, RESERVED, STATEMENTS, Abandon, GiveUp
from sacpy.lang.parse_expressions import STOP_BRACE
from sacpy.lang.parse_statements import StatementParser, Unclosed
from sacpy.lang.source import Span

FUNCTION_ATTRIBUTES = ("inline", "noinline", "external", "specialize", "thread")


class DefinitionParser(StatementParser):
    """Definitions and whole files."""

    def module(self, trivia: tuple[tuple[int, str], ...]) -> ast.Module:
        """file = {pragma} [module | class] {definition}"""
        kind, name = "program", ""
        deprecated: str | None = None
        classtype: ast.TypeExpr | None = None
        pragmas = self.pragmas()
        if self.keys[self.pos] in ("module", "class"):
            try:
                kind = self.keys[self.pos]
                name, deprecated = self._header(kind)
                if kind == "class":
                    classtype = self._class_type()
                    pragmas += self.pragmas()
            except Abandon:
                self.skip_definition()
        definitions = self._definitions()
        return ast.Module(kind, name, deprecated, classtype, definitions, pragmas, trivia, self.span(0))

    def _header(self, kind: str) -> tuple[str, str | None]:
        """ ("module" | "class") Id ["deprecated" Str] ";" """
        self.pos += 1
        name = self.expect_name(f"the {kind}")
        deprecated = None
        if self.keys[self.pos] == "deprecated":
            self.pos += 1
            if self.kinds[self.pos] != "string":
                self.fail("E0201", f"expected a string behind `deprecated`, found {self.describe(self.pos)}", label="expected a string", help='say what to use instead: `module Old deprecated "use New";`')
            deprecated = str(self.tokens[self.pos].value)
            self.pos += 1
        self.semicolon()
        return name, deprecated

    def _class_type(self) -> ast.TypeExpr | None:
        """ ("classtype" type | "external" "classtype") ";" """
        type = None
        if self.keys[self.pos] == "external" and self.keys[self.pos + 1] == "classtype":
            self.pos += 2
        elif self.keys[self.pos] == "classtype":
            self.pos += 1
            type = self.type()
        else:
            self.fail("E0238", f"expected `classtype`, found {self.describe(self.pos)}", label="expected the type of the class", help="behind `class C;` stands `classtype double[.];` or `external classtype;`")
        self.semicolon()
        return type

    def _definitions(self) -> tuple[ast.Definition, ...]:
        """{definition}, going on behind a broken one"""
        found: list[ast.Definition] = []
        try:
            self._collect(found)
        except GiveUp:
            self.pos = len(self.tokens) - 1
        return tuple(found)

    def _collect(self, found: list[ast.Definition]) -> None:
        while self.kinds[self.pos] != "end":
            start = self.pos
            if self.keys[start] == ";" or self.kinds[start] == "pragma":
                self.pos += 1
                continue
            try:
                found.append(self.definition())
            except Unclosed:
                self.depth = self.stops = 0
            except Abandon:
                self.depth = self.stops = 0
                if self.pos == start:
                    self.pos += 1
                self.skip_definition()

    def definition(self) -> ast.Definition:
        """definition = interface | typedef | struct | objdef | function"""
        key = self.keys[self.pos]
        if key in INTERFACES:
            return self._interface()
        if key == "typedef" or (key == "external" and self.keys[self.pos + 1] == "typedef"):
            return self._typedef()
        if key == "struct" and self.keys[self.pos + 2] == "{":
            return self._struct_definition()
        if key == "objdef":
            return self._object()
        if key in ("module", "class") and self.kinds[self.pos + 1] == "name":
            self.fail("E0238", f"`{key}` stands only at the very beginning of a file", label="too late", help="move it before everything else; a file holds one module or class")
        return self._function()

    # ------------------------------------------------------------ interfaces

    def _interface(self) -> ast.Interface:
        """ ("use" | "import") Id ":" symbols ";" | ("export" | "provide") ":"? symbols ";" """
        start = self.pos
        kind = self.keys[start]
        self.pos += 1
        module, module_span = "", self.spans[start]
        if kind in ("use", "import"):
            module_span = self.spans[self.pos]
            module = self.expect_name("a module")
            if self.keys[self.pos] != ":":
                self.fail(
                    "E0201", f"expected `:` behind the module's name, found {self.describe(self.pos)}", self.behind(), label="expected `:`", help=f"write `{kind} {module}: all;` or `{kind} {module}: {{f, g}};`",
                    edit=Edit(self.behind(), ": all") if self.keys[self.pos] == ";" else None,
                )  # fmt: skip
            self.pos += 1
        every = self.keys[self.pos] == "all"
        symbols: tuple[tuple[str, Span], ...] = ()
        if every:
            self.pos += 1
            if self.keys[self.pos] == "except":
                self.pos += 1
                symbols = self._symbols()
        else:
            symbols = self._symbols()
        self.semicolon()
        return ast.Interface(kind, module, every, symbols, self.span(start), module_span)

    def _symbols(self) -> tuple[tuple[str, Span], ...]:
        """ "{" [symbol {"," symbol}] "}", a symbol being any name or operator"""
        opening = self.pos
        if self.keys[opening] != "{":
            self.fail("E0239", f"expected `all` or a list of symbols, found {self.describe(opening)}", label="expected `all` or `{`", help="write `all`, `all except {f, g}` or `{f, g}`")
        self.pos += 1
        symbols: list[tuple[str, Span]] = []
        while self.keys[self.pos] != "}":
            start = self.pos
            if self.kinds[start] == "name":
                self.pos += 1
                symbols.append((self.keys[start], self.spans[start]))
            elif self.infix[start]:
                symbols.append((self._operator_name(), self.span(start)))
            elif self.keys[start] == ",":
                self.pos += 1
            else:
                self.fail("E0239", f"expected a symbol, found {self.describe(start)}", label="expected a name or an operator", labels=(Label(self.spans[opening], "list opened here"),), help="the list holds names and operators, as in `{sum, +, ++}`")
        self.pos += 1
        return tuple(symbols)

    def _operator_name(self) -> str:
        """An operator's name; one that nothing defines yet comes as several tokens without space between."""
        name = self.keys[self.pos]
        self.pos += 1
        while self.kinds[self.pos] == "op" and (self.infix[self.pos] or self.keys[self.pos] in ("=", ".", ":")) and not self.tokens[self.pos].spaced:
            name += self.keys[self.pos]
            self.pos += 1
        return name

    # ------------------------------------------------------------ types and objects

    def _typedef(self) -> ast.TypeDef:
        """ "typedef" type Id ";" | "external" "typedef" Id ";" {pragma}"""
        start = self.pos
        external = self.keys[start] == "external"
        self.pos += 2 if external else 1
        type = None if external else self.type()
        name = self.expect_name("the type")
        if self.keys[self.pos] == "[" and type is not None:
            self.refuse_declarator(start + 1, self.pos - 1)
        self.types.add(name)
        self.semicolon()
        return ast.TypeDef(name, type, self.pragmas(), self.span(start))

    def _struct_definition(self) -> ast.StructDef:
        """ "struct" Id "{" {type Id {"," Id} ";"} "}" [";"]"""
        start = self.pos
        self.pos += 1
        name = self.expect_name("the struct")
        self.types.add(name)
        opening = self.pos
        self.pos += 1
        fields: list[tuple[ast.TypeExpr, str, Span]] = []
        while self.keys[self.pos] != "}":
            if self.kinds[self.pos] == "end":
                self.report("E0204", "this brace is never closed", self.spans[opening], label="opened here", help="write the missing `}`")
                raise Abandon
            first = self.pos
            type = self.type()
            while True:
                at = self.pos
                fields.append((type, self.expect_name("a field"), self.spans[at]))
                if self.keys[self.pos] == "[":
                    self.refuse_declarator(first, at)
                if self.keys[self.pos] != ",":
                    break
                self.pos += 1
            self.semicolon()
        self.pos += 1
        if self.keys[self.pos] == ";":
            self.pos += 1
        return ast.StructDef(name, tuple(fields), self.span(start))

    def _object(self) -> ast.ObjDef:
        """ "objdef" type Id "=" expr ";" """
        start = self.pos
        self.pos += 1
        type = self.type()
        name = self.expect_name("the object")
        self.expect("=", "and the object's first value", "an object is made by a call: `objdef C c = create();`")
        value = self.expression()
        self.semicolon()
        return ast.ObjDef(type, name, value, self.span(start))

    # ------------------------------------------------------------ functions

    def _function(self) -> ast.FunDef:
        """function = {attribute} [typevars] rettypes name "(" params ")" ["|" expr {"," expr}] (body | ";") {pragma}"""
        start = self.pos
        self.locals = set()
        inlining, linkage = self._attributes()
        typevars = self._typevars()
        self._refuse_other(start)
        results, varresults = self._results()
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
        return ast.FunDef(typevars, inlining, linkage, results, varresults, name, params, varargs, conditions, body, pragmas, doc, self.span(start), name_span)

    def _attributes(self) -> tuple[str, str]:
        """{"inline" | "noinline" | "external" | "specialize"}; "thread" is read and means nothing here"""
        inlining = linkage = ""
        while (key := self.keys[self.pos]) in FUNCTION_ATTRIBUTES and self.keys[self.pos + 1] != "(":
            if key in ("inline", "noinline"):
                if linkage or (inlining and inlining != key):
                    self.report("E0240", f"a function cannot be both `{linkage or inlining}` and `{key}`", label="contradicts the word before", help="keep one of the two", edit=Edit(self.spans[self.pos], ""))
                inlining = key
            elif key != "thread":
                if inlining or (linkage and linkage != key):
                    self.report("E0240", f"a function cannot be both `{linkage or inlining}` and `{key}`", label="contradicts the word before", help="keep one of the two", edit=Edit(self.spans[self.pos], ""))
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
                self.fail("E0201", f"expected the kind of a type variable, found {self.describe(self.pos)}", label="expected a kind", help="kinds are num, int, signed, unsigned, real, builtin and any")
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
        if key == "}":
            self.fail("E0208", "this `}` closes nothing", label="not opened", help="remove it, or look for a `}` too many before it")
        if key == "{":
            self.fail("E0209", "a block stands only behind the head of a function", label="no function's head before it", help="give the function a head, as in `int f(int x) { .. }`; a `;` behind the head makes it a declaration")
        statement = key in STATEMENTS or self._looks_like_statement(i)
        if statement:
            notes: tuple[str, ...] = ()
            labels: tuple[Label, ...] = ()
            if i and self.keys[i - 1] == "}":
                labels = (Label(self.spans[i - 1], "the definition before it ends here"),)
                notes = ("a `}` too many ends a function early",)
            self.fail("E0209", "a statement stands only inside a function", label="statement outside a function", labels=labels, notes=notes, help="put it into a function, for instance `int main() { .. return 0; }`")
        if self.kinds[i] != "name" or key in RESERVED:
            self.fail("E0209", f"expected a definition, found {self.describe(i)}", label="expected a definition", help="a file holds `use` and `import` lines, types, objects and functions")
        if following == "(" and start == i:
            return  # the missing result type is reported with the head
        if self.kinds[i + 1] not in ("name", "op"):
            self.fail("E0209", f"expected a definition, found {self.describe(i)}", label="expected a definition", help="a file holds `use` and `import` lines, types, objects and functions")

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
        if self.keys[self.pos + 1] == "(" and not (self.infix[self.pos + 2] and self.keys[self.pos + 3] == ")"):
            return (), False  # no result type: `_function_head_name` tells
        results = [self.type()]
        while self.keys[self.pos] == ",":
            self.pos += 1
            if self.keys[self.pos] == "...":
                self.pos += 1
                return tuple(results), True
            results.append(self.type())
        return tuple(results), False

    def _function_head_name(self, results: tuple[ast.TypeExpr, ...], start: int) -> str:
        """The name of the function, which may be an operator; `(+)` is an old spelling."""
        at = self.pos
        key = self.keys[at]
        if self.infix[at] and self.kinds[at] == "op":
            return self._operator_name()
        if key == "(" and self.infix[at + 1] and self.keys[at + 2] == ")" and self.keys[at + 3] == "(":
            self.pos += 3
            return self.keys[at + 1]
        if self.kinds[at] == "name" and (key not in RESERVED or (key == "thread")):
            self.pos += 1
            if not results and (at == start or self.keys[at - 1] not in ("void", "...")):
                self.report("E0237", f"the function `{key}` has no result type", self.spans[at], label="expected a type before it", help="write the type of its result, or `void` if it has none")
            return key
        if key in RESERVED:
            self.fail("E0228", f"`{key}` is a word of the language and cannot be the name of a function", label="reserved word", help=f"choose another name, for instance `{key}_`")
        self.fail("E0201", f"expected the function's name, found {self.describe(at)}", label="expected a name", help="a definition begins with the types of its results and its name: `int f(..)`")

    def _open_parameters(self, start: int, name: str) -> int:
        """ "(" behind the function's name"""
        key = self.keys[self.pos]
        if key == "(":
            self.pos += 1
            return self.pos - 1
        if key in ("=", ";", ",", "["):
            self.fail(
                "E0241", "SaC has no global variables", self.span(start), label="a variable outside all functions",
                help="pass it to the functions that need it; a constant can be a function, or `#define`d; for state shared by the program see `objdef`",
            )  # fmt: skip
        self.fail("E0201", f"expected `(` behind the name of the function `{name}`, found {self.describe(self.pos)}", self.behind(), label="expected `(`", help=f"its parameters stand in parentheses, which may be empty: `{name}()`")

    def _parameters(self, opening: int) -> tuple[tuple[ast.Param, ...], bool]:
        """params = [param {"," param} ["," "..."] | "..."] ")" """
        params: list[ast.Param] = []
        if self.keys[self.pos] == "void" and self.keys[self.pos + 1] == ")":
            self.report("E0242", "an empty list of parameters is written `()`", label="not a parameter", help="leave the `void` out", edit=Edit(self.spans[self.pos], ""))
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
            params.append(self._parameter())
            if self.keys[self.pos] != ",":
                break
            self.pos += 1
        self.close(opening, "" if varargs else "`,` or ", operands=False)
        return tuple(params), varargs

    def _parameter(self) -> ast.Param:
        """param = type ["&"] Id"""
        start = self.pos
        if self.kinds[start] == "name" and self.keys[start] not in RESERVED and self.keys[start + 1] in (",", ")"):
            self.fail("E0243", "a parameter is a type and a name", label="one of the two is missing", help=f"write the type before it, or the name behind it, as in `int {self.keys[start]}`")
        type = self.type()
        by_reference = self.keys[self.pos] == "&"
        if by_reference:
            self.pos += 1
        if self.keys[self.pos] in (",", ")"):
            self.fail("E0243", "a parameter is a type and a name", self.span(start), label="the name is missing", help="write a name behind the type; it need not be used")
        if self.keys[self.pos] == "*":
            self.fail("E0218", "SaC has no pointers", label="`*` behind a type", help="an array parameter is written `int[.] a`, a parameter that the function changes `int &a`")
        at = self.pos
        name = self.expect_name("a parameter")
        self.locals.add(name)
        if self.keys[self.pos] == "[":
            self.refuse_declarator(start, at)
        if self.keys[self.pos] == "=":
            self.fail("E0243", "a parameter has no default value", label="default value", help="overload the function: a second instance without the parameter calls this one")
        return ast.Param(type, name, by_reference, self.span(start))

    def _conditions(self) -> tuple[ast.Expr, ...]:
        """["|" expr {"," expr}]"""
        if self.keys[self.pos] != "|":
            return ()
        self.pos += 1
        self.stops = STOP_BRACE
        conditions = [self.expression()]
        while self.keys[self.pos] == ",":
            self.pos += 1
            conditions.append(self.expression())
        self.stops = 0
        return tuple(conditions)

    def _end_declaration(self, start: int, name: str) -> None:
        """ ";" behind a head without a body"""
        if self.keys[self.pos] == ";":
            self.pos += 1
            return
        if self.keys[self.pos] == "->":
            self.fail("E0244", "the result types stand before the function's name", label="not behind the head", help=f"write `int {name}(..) {{ .. }}`")
        self.fail(
            "E0244", f"expected the body of `{name}` or `;`, found {self.describe(self.pos)}", self.behind(), label="expected `{` or `;`", labels=(Label(self.spans[start], "of this function"),),
            help="a definition has a block behind its head, a declaration a `;`", edit=None if self.definition_ahead(self.pos) or self.kinds[self.pos] == "end" else Edit(self.behind(), " {"),
        )  # fmt: skip
