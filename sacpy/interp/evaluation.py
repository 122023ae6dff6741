"""`sacpy eval`: the value of an expression, with the library in scope.

In: the text of an expression. Out: an `Evaluation`, to be run or to be looked at; and values as text: each element as
SaC writes it, but for the suffixes of numbers; the rows of a matrix on lines of their own; text and characters without
quotes where there is nothing else. Nothing is left out, however much there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from sacpy.interp.notation import SUFFIX, notation
from sacpy.interp.values import Value
from sacpy.interp.world import shown
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.interactive import expression_function, library_in_scope
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.elaborate.usertypes import BaseType, field_slice
from sacpy.lang.infer import infer
from sacpy.lang.modules import Loader
from sacpy.lang.parser import parse_expression, parse_input
from sacpy.lang.source import Source
from sacpy.nodes import Node, replace

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator

KEY = "expression"


class Evaluation(Node):
    """A program with an expression: the function of the key `KEY`, without parameters, and the types of its values."""

    program: ElaboratedProgram
    types: tuple[BaseType, ...]

    def text(self, evaluator: Evaluator) -> str:
        """Evaluates it. One line or several for each value; "" where it has none. Raises `SacError`."""
        parts = iter(evaluator.call(KEY, ()))
        return "".join(f"{value_text(type, tuple(islice(parts, len(type.components))))}\n" for type in self.types)


def evaluation(source: Source, loader: Loader) -> Evaluation:
    """The expression in a text, elaborated and checked. Raises `SacError`, with advice."""

    def problems(texts: Mapping[str, str]) -> Sequence[Diagnostic]:
        _evaluation(Source(source.name, texts.get(source.name, source.text)), loader)
        return ()

    try:
        return _evaluation(source, loader)
    except SacError as error:
        from sacpy.lang.advice import advised_error

        raise advised_error(error, problems) from None


def _evaluation(source: Source, loader: Loader) -> Evaluation:
    parsed = parse_expression(source, defines=loader.defines, include_path=tuple(loader.include_path))
    if any(d.severity == "error" for d in parsed.diagnostics) or parsed.expr is None:
        raise SacError(*_unlike_an_expression(source, parsed.diagnostics, loader))
    program = elaborate(library_in_scope(), loader)
    types = expression_function(program, parsed.expr, {}, KEY).results
    certain = [d for d in infer(program.function(KEY), [], program).diagnostics if d.severity == "error"]
    if certain:
        raise SacError(*certain)
    return Evaluation(program, types)


def _unlike_an_expression(source: Source, found: Sequence[Diagnostic], loader: Loader) -> Sequence[Diagnostic]:
    """What is wrong with a text that is no expression; of statements and definitions what is wrong with them, or where
    they belong."""
    typed = parse_input(source, defines=loader.defines, include_path=tuple(loader.include_path))
    wrong = [d for d in typed.diagnostics if d.severity == "error"]
    if wrong or not typed.nodes:
        return wrong or found
    return [
        replace(
            found[0],
            help="eval takes one expression; statements and definitions stand in a file that `sacpy run` takes, or "
            "are typed at the prompt",
            edit=None,
        ),
        *found[1:],
    ]


def value_text(type: BaseType, values: Sequence[Value]) -> str:
    """A value as text, without the end of the last line; of a struct its fields."""
    if type.is_struct:
        fields = ((name, field, field_slice(type, name)) for name, field, _ in type.fields)
        return "\n".join(
            f".{name} {value_text(field, values[found[2]])}" for name, field, found in fields if found is not None
        )
    if type.kind == "packed":
        from sacpy.interp.packed_rows import rows  # loaded where somebody has such an array

        found = [
            f"{''.join(f'{i}: ' for i in map(list, (at[:-1],)) if i)}{_array(row, type.core, 0)}"
            for at, row in rows(type, values)
        ]
        return "\n".join(found) or "[]"
    value, base = values[0], type.core
    if isinstance(value, np.ndarray):
        return _array(value, base, 0)
    if isinstance(value, bytes):
        return shown(value)
    if base == "char":
        return shown(bytes((int(value),)))
    return _element(value, base)


def _array(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], base: str, depth: int) -> str:
    """Rows below each other, the brackets of one depth too."""
    if array.ndim > 1 and array.size:
        between = f",{chr(10) * (array.ndim - 1)}{' ' * (depth + 1)}"
        return f"[{between.join(_array(row, base, depth + 1) for row in array)}]"
    if array.ndim == 1 and base == "char":
        return notation(array.tobytes(), base)
    return (
        notation(array, base)
        if array.ndim != 1
        else f"[{', '.join(_element(cell.item() if isinstance(cell, np.generic) else cell, base) for cell in array)}]"
    )


def _element(value: Value, base: str) -> str:
    text = notation(value, base)
    return text.removesuffix(SUFFIX[base]) if base in SUFFIX else text
