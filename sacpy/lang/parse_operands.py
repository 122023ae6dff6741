"""Parsing of operands: literals, names, calls, arrays, struct values, parentheses, and the indices and fields behind
them."""

from __future__ import annotations

from abc import abstractmethod
from typing import cast

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit
from sacpy.lang.parse_cursor import MAX_CHAIN
from sacpy.lang.parse_types import TypeParser
from sacpy.lang.types import SIGNED
from sacpy.lang.vocabulary import ASSIGNMENT, BASE_TYPES, OPERAND_WORDS, RESERVED

# What ends an expression at its outermost level, in `Cursor.stops`; brackets lift it.
STOP_BAR = 1  # `|`, in a comprehension's value
STOP_LESS = 2  # `<` and `<=` (and `>`, `>=`, to refuse them with a good word), in a generator's lower bound
STOP_BRACE = 4  # `{`, in the conditions before a function's body

GENERATOR_WORDS = frozenset({"step", "width"})
CONVERSIONS = {
    "byte": "tob", "short": "tos", "int": "toi", "long": "tol", "longlong": "toll", "ubyte": "toub", "ushort": "tous",
    "uint": "toui", "ulong": "toul", "ulonglong": "toull", "float": "tof", "double": "tod", "bool": "tobool",
    "char": "tochar",
}  # fmt: skip
TRUTH_VALUES = {"True": "true", "TRUE": "true", "False": "false", "FALSE": "false"}


class Several(Exception):
    """Not an error: carries the values of `(a, b)` where several results may stand."""

    def __init__(self, values: tuple[ast.Expr, ...]) -> None:
        self.values = values


class OperandParser(TypeParser):
    """What stands between the operators of an expression."""

    @abstractmethod
    def with_loop(self) -> ast.Expr:
        """See `parse_withloops`."""

    @abstractmethod
    def comprehension(self) -> ast.Expr:
        """See `parse_withloops`."""

    @abstractmethod
    def expression(self) -> ast.Expr:
        """See `parse_expressions`."""

    @abstractmethod
    def operator(self) -> ast.QName:
        """See `parse_expressions`."""

    # ------------------------------------------------------------ postfix

    def postfix(self, start: int, result: ast.Expr) -> ast.Expr:
        """postfix = primary {"[" [index {"," index}] "]" | "." Id}"""
        keys = self.keys
        length = opened = 0
        while True:
            key = keys[self.pos]
            if key == "[":
                opened = self.pos
                result = ast.Select(result, self.indices(), self.span(start))
            elif key == "." and self.kinds[self.pos + 1] == "name" and keys[self.pos + 1] not in GENERATOR_WORDS:
                self.pos += 2
                result = ast.Field(result, keys[self.pos - 1], self.spans[self.pos - 1], self.span(start))
            elif key == "->":
                from sacpy.lang.parse_comprehensions import refuse_arrow

                refuse_arrow(self, start, opened)
                return result
            else:
                return result
            length += 1
            if length > MAX_CHAIN:
                self.too_deep()

    def indices(self) -> tuple[ast.Expr, ...]:
        """ "[" [index {"," index}] "]", index = expr | "." | "..." """
        opening = self.pos
        self.pos += 1
        self.dots_at = self.pos
        return self._elements(opening, True)

    def _elements(self, opening: int, dots: bool) -> tuple[ast.Expr, ...]:
        """[element {"," element}] "]" """
        keys = self.keys
        elements: list[ast.Expr] = []
        if keys[self.pos] == "]":
            self.pos += 1
            return ()
        stops, self.stops = self.stops, 0
        while True:
            key = keys[self.pos]
            if key in (".", "...") and keys[self.pos + 1] in (",", "]"):
                if key == "..." and any(isinstance(e, ast.Dots) for e in elements):
                    self.refuse_second_dots()
                elements.append(self._dots(dots))
            else:
                elements.append(self.expression())
            if keys[self.pos] != ",":
                break
            self.pos += 1
        self.stops = stops
        self.close(opening, "`,` or ")
        return tuple(elements)

    def refuse_second_dots(self) -> None:
        """`...` twice in one index"""
        self.report(
            "E0219",
            "`...` stands at most once among indices",
            label="the second one",
            help="it keeps all the axes the other indices leave; write `.` for each axis that this one should keep",
        )

    def _dots(self, allowed: bool) -> ast.Expr:
        """ "." | "..." among indices"""
        key, span = self.keys[self.pos], self.spans[self.pos]
        if not allowed:
            self.fail(
                "E0219",
                f"`{key}` stands only for an axis of a selection",
                label="not an index",
                help="inside an array literal write a value; `a[., 1]` and `{ [., i] -> .. }` are where dots belong",
            )
        self.pos += 1
        return ast.Dot(span) if key == "." else ast.Dots(span)

    # ------------------------------------------------------------ primary

    def primary(self) -> ast.Expr:
        """primary = literal | name | call | struct | "(" expr ")" | array | comprehension | with-loop"""
        start = self.pos
        kind = self.kinds[start]
        if kind == "name":
            if self._placement():
                self.pos += 1
            return self._named()
        if kind == "number":
            return self._number()
        if kind == "string":
            return self._string()
        if kind == "char":
            self.pos += 1
            token = self.tokens[start]
            assert isinstance(token.value, int)
            return ast.Literal("char", token.value, token.text, token.span)
        key = self.keys[start]
        if key == "(":
            return self._parenthesis()
        if key == "[":
            return self._array()
        if key == "{":
            return self.comprehension()
        return self._no_expression()

    def _placement(self) -> bool:
        """Whether `local with ..`, `spawn f(..)` or `rspawn f(..)` stands here: where to compute something, which means
        nothing here."""
        key, following = self.keys[self.pos], self.keys[self.pos + 1]
        if key == "local":
            return following == "with"
        return (
            key in ("spawn", "rspawn") and self.kinds[self.pos + 1] == "name" and self.keys[self.pos + 2] in ("(", "::")
        )

    def _number(self) -> ast.Expr:
        token = self.tokens[self.pos]
        base, value = cast("tuple[str, int | float | bool]", token.value)
        if base in SIGNED and self._smallest(self.pos):
            self.report(
                "E0224", f"`{token.text}` is too large for {'an' if base == 'int' else 'a'} {base}",
                label=f"the largest {base} is {value - 1}",
                help=(f"write `{value}l` for a long; " if base == "int" else "")
                + f"`-{token.text}` is legal: the sign must stand right before the number",
            )  # fmt: skip
            value -= 1
        self.pos += 1
        return ast.Literal(base, value, token.text, token.span)

    def _smallest(self, i: int) -> bool:
        """Whether number i is one more than its type's largest value, so that it needs the minus before it."""
        value = self.tokens[i].value
        return (
            isinstance(value, tuple)
            and value[0] in SIGNED
            and isinstance(value[1], int)
            and value[1] >= 1 << (SIGNED[value[0]] - 1)
        )

    def _string(self) -> ast.Expr:
        """string {string}"""
        start = self.pos
        token = self.tokens[start]
        self.pos += 1
        if self.kinds[self.pos] != "string":
            return ast.StringLiteral(str(token.value), token.text, token.span)
        while self.kinds[self.pos] == "string":
            self.pos += 1
        parts = self.tokens[start : self.pos]
        return ast.StringLiteral(
            "".join(str(t.value) for t in parts), " ".join(t.text for t in parts), self.span(start)
        )

    def _named(self) -> ast.Expr:
        """[Id "::"] Id ["(" args ")" | "{" fields "}"] | "true" | "false" | with-loop"""
        start = self.pos
        key, following = self.keys[start], self.keys[start + 1]
        if key in RESERVED:
            return self._word()
        self.pos += 1
        if following == "::":
            return self._qualified(start)
        if following == "(":
            return ast.Call(ast.QName(None, key, self.spans[start]), self._arguments(), self.span(start))
        if following == "{" and not self.stops & STOP_BRACE:
            return self._struct(start, ast.QName(None, key, self.spans[start]))
        span = self.spans[start]
        if key in TRUTH_VALUES and key not in self.locals and key not in self.objects:
            self.report(
                "E0229",
                f"`{key}` is not a truth value in SaC",
                span,
                label="unknown",
                help=f"write `{TRUTH_VALUES[key]}`",
                edit=Edit(span, TRUTH_VALUES[key]),
            )
            return ast.BadExpr(span)
        return ast.Name(ast.QName(None, key, span), span)

    def _qualified(self, start: int) -> ast.Expr:
        """Id "::" Id ..., from the `::` on"""
        if self.kinds[start + 2] != "name":
            self.pos += 1
            self.fail(
                "E0201",
                f"expected a name behind `{self.keys[start]}::`, found {self.describe(self.pos)}",
                label="expected a name",
                help="write the name of a function or object of that module",
            )
        self.pos += 2
        name = ast.QName(self.keys[start], self.keys[start + 2], self.span(start))
        if self.keys[self.pos] == "(":
            return ast.Call(name, self._arguments(), self.span(start))
        if self.keys[self.pos] == "{" and not self.stops & STOP_BRACE:
            return self._struct(start, name)
        return ast.Name(name, name.span)

    def _word(self) -> ast.Expr:
        """A word of the language where an expression is expected."""
        key, span = self.keys[self.pos], self.spans[self.pos]
        if key == "with":
            return self.with_loop()
        if key in OPERAND_WORDS:
            self.pos += 1
            return ast.Literal("bool", key == "true", key, span)
        if key in BASE_TYPES:
            function = CONVERSIONS[key]
            if self.keys[self.pos + 1] == "(":
                self.fail(
                    "E0220",
                    f"`{key}` is a type and cannot be called",
                    label="a type",
                    help=f"write `{function}(..)` to convert",
                    edit=Edit(span, function),
                )
            self.fail(
                "E0220",
                f"expected an expression, found the type `{key}`",
                label="a type",
                help=f"`(({key}[2,3]) e)` asserts a shape, `{function}(e)` converts, `[:{key}]` is an empty vector",
            )
        return self._no_expression()

    def _no_expression(self) -> ast.Expr:
        """Nothing that begins an expression stands here."""
        key = self.keys[self.pos]
        help = ""
        if key in (".", "..."):
            help = "a dot stands for an axis in an index, or for a bound in a generator"
        elif key in ASSIGNMENT:
            help = "put the value, or the variable, before the sign"
        elif key in (",", ")", "]") and self.pos and self.keys[self.pos - 1] == ",":
            help = "leave the comma before it out, or write the missing value"
        elif key in ("}", "|", ")", "]", ";", ",") or self.kinds[self.pos] == "end":
            help = "write the missing value"
        span = self.behind() if self.kinds[self.pos] == "end" or self.on_new_line(self.pos) else None
        self.fail(
            "E0205",
            f"expected an expression, found {self.describe(self.pos)}",
            span,
            label="expected an expression",
            help=help,
        )

    def _arguments(self) -> tuple[ast.Expr, ...]:
        """ "(" [arg {"," arg}] ")", arg = expr | operator"""
        opening = self.pos
        keys = self.keys
        self.pos += 1
        if keys[self.pos] == ")":
            self.pos += 1
            return ()
        stops, self.stops = self.stops, 0
        args = [self._argument()]
        while keys[self.pos] == ",":
            self.pos += 1
            args.append(self._argument())
        self.stops = stops
        if keys[self.pos] == ")":
            self.pos += 1
        else:
            self.close(opening, "`,` or ")
        return tuple(args)

    def _argument(self) -> ast.Expr:
        """An expression; or an operator, for a parameter that is a function"""
        start = self.pos
        if (self.infix[start] or self.keys[start] in ("!", "~")) and self.keys[
            start + (3 if self.kinds[start] == "name" else 1)
        ] in (",", ")"):
            return ast.Name(self.operator(), self.span(start))
        return self.expression()

    def arguments(self) -> tuple[ast.Expr, ...]:
        """See `_arguments`; for the other parts of the grammar."""
        return self._arguments()

    def comprehension_ahead(self) -> bool:
        """Whether the brace at the position opens a comprehension and no block."""
        i = self.pos + 1
        if self.kinds[i] == "name":
            return self.keys[i + 1] == "->"
        if self.keys[i] != "[":
            return False
        while self.keys[i] not in ("]", ";", "}") and self.kinds[i] != "end":
            i += 1
        return self.keys[i + 1] == "->"

    def _struct(self, start: int, name: ast.QName) -> ast.Expr:
        """ "{" [expr {"," expr}] "}" | "{" "." Id "=" expr {"," "." Id "=" expr} "}" """
        opening = self.pos
        if self.comprehension_ahead():
            self.fail(
                "E0201",
                "expected `(` before the comprehension, found `{`",
                label="expected `(`",
                help=f"as an argument it stands in parentheses: `{name}({{ iv -> e | iv < shp }})`",
                edit=Edit(self.behind(), "("),
            )
        self.pos += 1
        stops, self.stops = self.stops, 0
        positional: list[ast.Expr] = []
        named: list[tuple[str, ast.Expr]] = []
        while self.keys[self.pos] != "}":
            if self.keys[self.pos] == "." and self.kinds[self.pos + 1] == "name" and self.keys[self.pos + 2] == "=":
                if positional:
                    self.fail(
                        "E0221",
                        "a struct's values are either all named or all in order",
                        label="named value",
                        help="name every value, or none",
                    )
                self.pos += 3
                named.append((self.keys[self.pos - 2], self.expression()))
            else:
                if named:
                    self.fail(
                        "E0221",
                        "a struct's values are either all named or all in order",
                        label="value without a name",
                        help="write `.field = ` before it, or name none",
                    )
                if self.keys[self.pos + 1] == "=" and self.kinds[self.pos] == "name":
                    span = self.spans[self.pos]
                    self.fail(
                        "E0221",
                        "a named value of a struct begins with a dot",
                        label="field",
                        help=f"write `.{self.keys[self.pos]} = ..`",
                        edit=Edit(span, "." + self.keys[self.pos]),
                    )
                positional.append(self.expression())
            if self.keys[self.pos] != ",":
                break
            self.pos += 1
        self.stops = stops
        self.close(opening, "`,` or ")
        return ast.StructLiteral(name, tuple(positional), tuple(named), self.span(start))

    def _parenthesis(self) -> ast.Expr:
        """ "(" expr ")"; several values where `results` allows them"""
        start = self.pos
        several = self.tuple_at == start
        self.pos += 1
        if several and self.keys[self.pos] == ")":
            self.pos += 1
            raise Several(())
        inner = self.free_expression()
        if several and self.keys[self.pos] == ",":
            values = [inner]
            while self.keys[self.pos] == ",":
                self.pos += 1
                values.append(self.free_expression())
            self.close(start, "`,` or ")
            raise Several(tuple(values))
        if self.keys[self.pos] == ")":
            self.pos += 1
        elif self.keys[self.pos] == ",":
            self.fail(
                "E0245",
                "a parenthesis holds one value",
                label="a second value",
                help="several values stand in brackets, `[a, b]`, or behind the `return` of a function of several "
                "results",
            )
        else:
            self.close(start)
        return ast.Paren(inner, self.span(start))

    def _array(self) -> ast.Expr:
        """ "[" [element {"," element}] "]" | "[" [":"] type "]" """
        start = self.pos
        dots = self.dots_at == start
        self.pos += 1
        key = self.keys[self.pos]
        if key == ":" or (key in BASE_TYPES and self.keys[self.pos + 1] != "(") or key == "struct":
            if key == ":":
                self.pos += 1
            type = self.type()
            self.close(start)
            return ast.EmptyArray(type, self.span(start))
        return ast.ArrayLiteral(self._elements(start, dots), self.span(start))
