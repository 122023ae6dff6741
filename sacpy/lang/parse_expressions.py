"""Parsing of expressions: operator precedence by climbing, everything else by recursive descent.

One ambiguity is decided here. `(name)[i]` is a cast of an array to the type `name`, or a selection from the variable
`name`; which types exist is known only when modules are. The rule (`cast_ahead`): built-in types, `struct S` and types
this file defines make a cast; any other name makes one where an operand follows that cannot continue an expression,
unless a variable, parameter or object of that name is known by then. `(name) - x` is a difference, unless the name is
such a type or qualified.
"""

from __future__ import annotations

from typing import cast

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit, Label
from sacpy.lang.parse_cursor import MAX_CHAIN, MAX_DEPTH
from sacpy.lang.parse_operands import GENERATOR_WORDS, STOP_BAR, STOP_BRACE, STOP_LESS, OperandParser, Several
from sacpy.lang.vocabulary import BASE_TYPES

COMPARISONS = ("<", "<=", ">", ">=")


class ExpressionParser(OperandParser):
    """Operators, casts and conditionals."""

    def expression(self) -> ast.Expr:
        """expr = binary ["?" expr ":" expr]"""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep()
        start = self.pos
        result = self.binary(1)
        if self.keys[self.pos] == "?":
            result = self._conditional(start, result)
        self.depth -= 1
        return result

    def free_expression(self) -> ast.Expr:
        """An expression inside brackets, where nothing but the bracket ends it."""
        stops, self.stops = self.stops, 0
        result = self.expression()
        self.stops = stops
        return result

    def results(self, ends: str) -> tuple[ast.Expr, ...]:
        """expr | "(" expr {"," expr} ")" before the token `ends`"""
        stops, self.stops = self.stops, 0
        depth = self.depth
        self.tuple_at = self.pos if self.keys[self.pos] == "(" else -1
        try:
            values: tuple[ast.Expr, ...] = (self.expression(),)
        except Several as several:
            values = several.values
            if self.keys[self.pos] != ends and not (ends == ";" and self.keys[self.pos] == ","):
                over = ends == ";" and self.ends_line(self.pos)
                self.fail(
                    "E0201",
                    f"expected `{ends}` behind several results, found {self.describe(self.pos)}",
                    self.behind() if over else None,
                    label=f"expected `{ends}`",
                    help="several results are no value to compute with",
                    edit=Edit(self.behind(), ends) if over else None,
                )
        self.stops, self.depth = stops, depth
        return values

    def _conditional(self, start: int, condition: ast.Expr) -> ast.Expr:
        """binary "?" expr ":" expr, from the question mark on"""
        question = self.pos
        self.pos += 1
        stops = self.stops
        self.stops = stops & ~STOP_LESS
        then = self.expression()
        self.stops = stops
        if self.keys[self.pos] != ":":
            self.refuse_assignment()
            self.fail(
                "E0207", f"expected `:` and the other value of `?`, found {self.describe(self.pos)}",
                label="expected `:`", labels=(Label(self.spans[question], "this `?`"),),
                help="a conditional expression has two values: `condition ? a : b`",
            )  # fmt: skip
        self.pos += 1
        otherwise = self.expression()
        return ast.Conditional(condition, then, otherwise, self.span(start))

    def binary(self, minimum: int) -> ast.Expr:
        """binary = operand {operator operand}, operators of at least the precedence `minimum`, all left-associative"""
        start = self.pos
        left = self.operand()
        infix, keys = self.infix, self.keys
        length = 0
        while (precedence := infix[self.pos]) >= minimum:
            key = keys[self.pos]
            if self.stops and (
                (key == "|" and self.stops & STOP_BAR) or (key in COMPARISONS and self.stops & STOP_LESS)
            ):
                break
            if key in ("++", "--") and not self._operand_follows(self.pos + 1):
                break
            if keys[self.pos + 1] == "=" and key in ("==", "!=", "<", ">") and not self.tokens[self.pos + 1].spaced:
                self._refuse_comparison()
            length += 1
            if length > MAX_CHAIN:
                self.too_deep()
            operator = self.operator()
            right = self.binary(precedence + 1)
            if key == "&&" or key == "||":
                left = ast.Logical(key, left, right, self.span(start))
            else:
                left = ast.Binary(operator, left, right, self.span(start))
        return left

    def _operand_follows(self, i: int) -> bool:
        """Whether token i begins an operand, so that the `++` before it is a concatenation and no increment."""
        return self.starts_operand(i) or self.infix[i] > 0

    def _refuse_comparison(self) -> None:
        key = self.keys[self.pos]
        right = {"<": "<=", ">": ">="}.get(key, key)
        span = self.spans[self.pos].to(self.spans[self.pos + 1])
        self.fail(
            "E0217",
            f"there is no operator `{key}=`",
            span,
            label="unknown operator",
            help=f"SaC compares with `{right}`",
            edit=Edit(span, right),
        )

    def operator(self) -> ast.QName:
        """[Id "::"] operator"""
        start = self.pos
        if self.kinds[start] == "name":
            self.pos += 3
            return ast.QName(self.keys[start], self.keys[start + 2], self.span(start))
        self.pos += 1
        return ast.QName(None, self.keys[start], self.spans[start])

    def operand(self) -> ast.Expr:
        """operand = "(" type ")" operand | operator operand | postfix"""
        start = self.pos
        if self.infix[start]:
            return self._prefix()
        if self.keys[start] == "(" and self.cast_ahead(start):
            return self._cast()
        return self.postfix(start, self.primary())

    def _cast(self) -> ast.Expr:
        """ "(" type ")" operand"""
        start = self.pos
        self.pos += 2 if self.keys[start + 1] == ":" else 1
        type = self.type()
        self.close(start)
        self.deeper()
        operand = self.operand()
        self.depth -= 1
        return ast.Cast(type, operand, self.span(start))

    def _prefix(self) -> ast.Expr:
        """operator operand | operator "(" args ")" """
        start = self.pos
        operator = self.operator()
        if self.keys[self.pos] == "(" and not self.cast_ahead(self.pos):
            return self._prefix_call(start, operator)
        if (
            operator.name == "-"
            and not operator.module
            and self.kinds[self.pos] == "number"
            and self._smallest(self.pos)
        ):
            return self._smallest_literal(start)
        if operator.name == "&" and "&" not in self.operators and self.kinds[self.pos] == "name":
            self.pos = start
            self.fail(
                "E0218", "SaC has no addresses", self.spans[start], label="`&` before an argument",
                edit=Edit(self.spans[start], ""),
                help="leave the `&` out: a reference parameter is marked in the function's head, the call passes the "
                    "variable",
            )  # fmt: skip
        self.deeper()
        operand = self.operand()
        self.depth -= 1
        return ast.Unary(operator, operand, self.span(start))

    def _prefix_call(self, start: int, operator: ast.QName) -> ast.Expr:
        """`+(a, b)` is a call and so is `-(a)[0]`, where the index belongs to the result; `-(a)` is kept as a prefix
        operator."""
        opening = self.pos
        args = self._arguments()
        if (
            len(args) == 1
            and self.keys[self.pos] != "["
            and not (self.keys[self.pos] == "." and self.kinds[self.pos + 1] == "name")
        ):
            return ast.Unary(operator, ast.Paren(args[0], self.span(opening)), self.span(start))
        return self.postfix(start, ast.Call(operator, args, self.span(start)))

    def _smallest_literal(self, start: int) -> ast.Expr:
        """`-2147483648`: the sign belongs to the literal."""
        token = self.tokens[self.pos]
        base, value = cast("tuple[str, int]", token.value)
        self.pos += 1
        return ast.Literal(base, -value, "-" + token.text, self.span(start))

    def cast_ahead(self, i: int) -> bool:
        """Whether the parenthesis at token i holds the type of a cast; see the head of this module."""
        keys, kinds = self.keys, self.kinds
        if kinds[i + 1] != "name" and keys[i + 1] != ":":
            return False
        first = i + 2 if keys[i + 1] == ":" else i + 1
        name = keys[first]
        if name in BASE_TYPES or name == "struct":
            return keys[first + 1] != "("
        closing = self.skip_type(first)
        if closing < 0 or keys[closing] != ")":
            return False
        after = closing + 1
        if keys[after] == "{" and self.stops & STOP_BRACE:
            return False
        qualified = keys[first + 1] == "::"
        if qualified:
            name = ""
        variable = name in self.locals or name in self.objects
        if self.starts_operand(after):
            if kinds[after] == "name" and keys[after] in GENERATOR_WORDS:
                return name in self.types
            return name in self.types or not variable
        if variable:
            return False
        return (
            keys[after] in ("!", "~")
            or (qualified and keys[after] == "-")
            or (name in self.types and self.infix[after] > 0)
        )
