"""Parsing of types and type patterns."""

from __future__ import annotations

from abc import abstractmethod

from sacpy.lang import ast
from sacpy.lang.diagnostics import Edit
from sacpy.lang.parse_cursor import Cursor
from sacpy.lang.vocabulary import BASE_TYPES, RESERVED

C_TYPES = {"unsigned": "uint", "signed": "int", "const": "", "static": "", "register": "", "volatile": "", "auto": ""}


class TypeParser(Cursor):
    """Types; the grammar's lowest part."""

    @abstractmethod
    def free_expression(self) -> ast.Expr:
        """See `parse_expressions`."""

    def type(self) -> ast.TypeExpr:
        """type = ["struct"] [Id "::"] Id [ "[" [feature {"," feature}] "]" ]"""
        start = self.pos
        struct = self.keys[start] == "struct"
        if struct:
            self.pos += 1
        base = self._base_name()
        pattern = self._pattern() if self.keys[self.pos] == "[" else None
        return ast.TypeExpr(base, pattern, struct, self.span(start))

    def _base_name(self) -> ast.QName:
        """[Id "::"] Id, or a built-in type's name"""
        start = self.pos
        key = self.keys[start]
        if self.kinds[start] != "name" or (key in RESERVED and key not in BASE_TYPES):
            help = "`void` stands only for the missing result of a function" if key == "void" else ""
            self.fail("E0210", f"expected a type, found {self.describe(start)}", label="expected a type", help=help)
        if key in C_TYPES and self.kinds[start + 1] == "name":
            self._refuse_c_type()
        self.pos += 1
        if self.keys[self.pos] != "::":
            return ast.QName(None, key, self.spans[start])
        self.pos += 1
        name = self.expect_name("a type")
        return ast.QName(key, name, self.span(start))

    def _refuse_c_type(self) -> None:
        word = self.keys[self.pos]
        if C_TYPES[word] == "uint":
            following = self.keys[self.pos + 1]
            name = "u" + following if following in BASE_TYPES else "uint"
            edit = Edit(self.spans[self.pos].to(self.spans[self.pos + 1]), name) if following in BASE_TYPES else None
            self.fail(
                "E0210",
                "SaC has no `unsigned`",
                label="not a type",
                help=f"unsigned types are `ubyte`, `ushort`, `uint`, `ulong`, `ulonglong`: write `{name}`",
                edit=edit,
            )
        self.fail(
            "E0210",
            f"SaC has no `{word}`",
            label="not a type",
            help="every variable is a value: leave the word out",
            edit=Edit(self.spans[self.pos], ""),
        )

    def _pattern(self) -> tuple[ast.Feature, ...]:
        """ "[" [feature {"," feature}] "]" """
        opening = self.pos
        self.pos += 1
        if self.keys[self.pos] == "]":
            self.pos += 1
            return ()
        features = [self._feature()]
        while self.keys[self.pos] == ",":
            self.pos += 1
            positions = [f.name for f in features if isinstance(f, ast.PositionExtent)]
            new = self._position_ahead() and self.keys[self.pos] not in positions  # else `i<2 ? a : b`
            features.append(self._computed() if positions and not new else self._feature())
        self.close(opening, "`,` or ", operands=False)
        loose = [f for f in features if isinstance(f, ast.AnyShape | ast.SomeShape)]
        if len(loose) > 1:
            self.report(
                "E0211",
                "a type pattern holds at most one `*` or `+`",
                loose[1].span,
                label="one too many",
                help="name the parts instead, as in `int[o:outer,i:inner]`",
            )
        return tuple(features)

    def _position_ahead(self) -> bool:
        """Whether a feature begins with the name of a position, `i<`."""
        return self.kinds[self.pos] == "name" and self.keys[self.pos + 1] == "<"

    def _computed(self) -> ast.ComputedExtent:
        """expr, behind a feature with a position"""
        extent = self.free_expression()
        return ast.ComputedExtent(extent, extent.span)

    def _feature(self) -> ast.Feature:
        """feature = "." | "*" | "+" | num | id | num ":" id | id ":" id | id ">" num ":" id | id "<" expr; behind one
        of the last kind also expr"""
        start = self.pos
        if self._position_ahead() and self.keys[start] not in RESERVED:
            self.pos += 2
            self.locals.add(self.keys[start])
            return ast.PositionExtent(self.keys[start], self.free_expression(), self.span(start))
        kind, key = self.kinds[start], self.keys[start]
        self.pos += 1
        if key == ".":
            return ast.AnyExtent(self.spans[start])
        if key == "*":
            return ast.AnyShape(self.spans[start])
        if key == "+":
            return ast.SomeShape(self.spans[start])
        rank: int | str
        if kind == "number":
            rank = self._extent(start)
        elif kind == "name" and key not in RESERVED:
            rank = key
            self.locals.add(key)
        else:
            self.pos = start
            self.fail(
                "E0211",
                f"expected an extent in a type, found {self.describe(start)}",
                label="expected `.`, `*`, `+`, a number or a name",
                help="see type patterns: `int[3]`, `int[.]`, `int[n,m]`, `int[d:shp]`",
            )
        minimum = None
        if self.keys[self.pos] == ">" and kind == "name" and self.kinds[self.pos + 1] == "number":
            minimum = self._extent(self.pos + 1)
            self.pos += 2
        if self.keys[self.pos] == ":":
            self.pos += 1
            shape = self.expect_name("a shape")
            self.locals.add(shape)
            return ast.RankSlice(rank, shape, minimum, self.span(start))
        if minimum is not None:
            self.fail(
                "E0211",
                "a condition on a rank needs the shape's name behind it",
                self.span(start),
                label="no shape named",
                help=f"write `{key}>{minimum}:shp`",
            )
        if isinstance(rank, int):
            return ast.FixedExtent(rank, self.spans[start])
        return ast.NamedExtent(rank, self.spans[start])

    def _extent(self, i: int) -> int:
        """A number that can be an extent or a rank."""
        value = self.tokens[i].value
        if isinstance(value, tuple) and value[0] == "int" and isinstance(value[1], int):
            return value[1]
        self.fail(
            "E0211",
            f"an extent is a whole number, not {self.describe(i)}",
            self.spans[i],
            label="not an int",
            help="write a whole number, `.` for any extent, or a name",
        )
