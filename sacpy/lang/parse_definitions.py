"""Parsing of whole files: headers of modules and classes, interfaces, types, objects; `parse_functions` has the
functions."""

from __future__ import annotations

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_cursor import Abandon, GiveUp
from sacpy.lang.parse_functions import FunctionParser
from sacpy.lang.parse_statements import Unclosed
from sacpy.lang.source import Span
from sacpy.lang.vocabulary import INTERFACES


class DefinitionParser(FunctionParser):
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
        """("module" | "class") Id ["deprecated" Str] ";" """
        self.pos += 1
        name = self.expect_name(f"the {kind}")
        deprecated = None
        if self.keys[self.pos] == "deprecated":
            self.pos += 1
            if self.kinds[self.pos] != "string":
                self.fail(
                    "E0201",
                    f"expected a string behind `deprecated`, found {self.describe(self.pos)}",
                    label="expected a string",
                    help='say what to use instead: `module Old deprecated "use New";`',
                )
            deprecated = str(self.tokens[self.pos].value)
            self.pos += 1
        self.semicolon()
        return name, deprecated

    def _class_type(self) -> ast.TypeExpr | None:
        """("classtype" type | "external" "classtype") ";" """
        type = None
        if self.keys[self.pos] == "external" and self.keys[self.pos + 1] == "classtype":
            self.pos += 2
        elif self.keys[self.pos] == "classtype":
            self.pos += 1
            type = self.type()
        else:
            self.fail(
                "E0238",
                f"expected `classtype`, found {self.describe(self.pos)}",
                label="expected the type of the class",
                help="behind `class C;` stands `classtype double[.];` or `external classtype;`",
            )
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
            self.fail(
                "E0238",
                f"`{key}` stands only at the very beginning of a file",
                label="too late",
                help="move it before everything else; a file holds one module or class",
            )
        return self.function()

    # ------------------------------------------------------------ interfaces

    def _interface(self) -> ast.Interface:
        """("use" | "import") Id ":" symbols ";" | ("export" | "provide") ":"? symbols ";" """
        start = self.pos
        kind = self.keys[start]
        self.pos += 1
        module, module_span = "", self.spans[start]
        if kind in ("use", "import"):
            module_span = self.spans[self.pos]
            module = self.expect_name("a module")
            if self.keys[self.pos] != ":":
                self.fail(
                    "E0201", f"expected `:` behind the module's name, found {self.describe(self.pos)}", self.behind(),
                    label="expected `:`", help=f"write `{kind} {module}: all;` or `{kind} {module}: {{f, g}};`",
                    edit=Edit(self.behind(),
                        ": all") if self.keys[self.pos] == ";" or self.kinds[self.pos] == "end" else None,
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
            self.fail(
                "E0239",
                f"expected `all` or a list of symbols, found {self.describe(opening)}",
                label="expected `all` or `{`",
                help="write `all`, `all except {f, g}` or `{f, g}`",
            )
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
                self.fail(
                    "E0239",
                    f"expected a symbol, found {self.describe(start)}",
                    label="expected a name or an operator",
                    labels=(Label(self.spans[opening], "list opened here"),),
                    help="the list holds names and operators, as in `{sum, +, ++}`",
                )
        self.pos += 1
        return tuple(symbols)

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

    def _field_ahead(self, i: int) -> bool:
        """Whether a type and a name stand at token i."""
        behind = self.skip_type(i)
        return behind > 0 and self.kinds[behind] == "name"

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
                self.report(
                    "E0204",
                    "this brace is never closed",
                    self.spans[opening],
                    label="opened here",
                    help="write the missing `}`",
                )
                raise Abandon
            first = self.pos
            type = self.type()
            while True:
                at = self.pos
                fields.append((type, self.expect_name("a field"), self.spans[at]))
                if self.keys[self.pos] == "[":
                    self.refuse_declarator(first, at)
                if self.keys[self.pos] != "," or self._field_ahead(self.pos + 1):
                    break
                self.pos += 1
            if self.keys[self.pos] == ",":
                self.report(
                    "E0202",
                    "expected `;` between fields with types of their own, found `,`",
                    label="expected `;`",
                    help="a `,` stands between names of one type",
                    edit=Edit(self.spans[self.pos], ";"),
                )
                self.pos += 1
            else:
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
