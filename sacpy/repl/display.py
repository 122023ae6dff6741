"""Values as the prompt shows them: the type with its shape, then the elements.

In: a base type and a value's components. Out: text: `int[3] [1, 2, 3]`, a matrix row by row, a struct field by field. Of a large array the ends of each axis are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sacpy.interp.notation import SUFFIX, notation
from sacpy.interp.values import Value, shape_of
from sacpy.lang.elaborate.usertypes import BaseType, field_slice

LARGE = 1000  # elements; of larger arrays the ends of each axis are shown
EDGE = 3
DIGITS = 8
WIDTH = 100
INDENT = "  "


def show(type: BaseType, values: Sequence[Value]) -> str:
    """A value on one or more lines, without the last line's end."""
    head = type_text(type, values)
    if not type.is_struct:
        return _after(head, _elements(values[0], type.core), values[0])
    lines = [head]
    for name, field, _ in type.fields:
        found = field_slice(type, name)
        assert found is not None
        lines += [INDENT + line for line in f".{name} {show(field, values[found[2]])}".split("\n")]
    return "\n".join(lines)


def type_text(type: BaseType, values: Sequence[Value]) -> str:
    """The type with the actual shape: `double[3,4]`; a typedef's or struct's own axes are left out."""
    shape = shape_of(values[0]) if values else ()
    outer = shape[: len(shape) - len(type.components[0].cell)] if type.components and not type.any_cell else shape if type.kind == "builtin" else ()
    return type.shown + (f"[{','.join(map(str, outer))}]" if outer else "")


def _after(head: str, text: str, value: Value) -> str:
    """The elements behind the type, or on lines of their own where they need several."""
    several = "\n" in text or (isinstance(value, np.ndarray) and value.ndim > 1)
    return f"{head}\n{text}" if several else f"{head} {text}"


def _elements(value: Value, base: str) -> str:
    if not isinstance(value, np.ndarray):
        return notation(value, base).removesuffix(SUFFIX[base]) if base in SUFFIX else notation(value, base)
    if base == "char" and value.ndim == 1 and value.size <= LARGE:
        return notation(value.tobytes(), base)
    if value.size == 0:
        return "[]"
    texts = _texts(value, base)
    width = max(map(len, texts.values()))
    return np.array2string(
        value, separator=", ", threshold=LARGE, edgeitems=EDGE, max_line_width=WIDTH, formatter={"all": lambda element: texts[_key(element)].rjust(width)}
    )


def _texts(array: np.ndarray[Any, Any], base: str) -> dict[object, str]:
    """The text of each element that is shown."""
    for axis in range(array.ndim if array.size > LARGE else 0):
        if array.shape[axis] > 2 * EDGE:
            array = np.take(array, [*range(EDGE), *range(-EDGE, 0)], axis)
    return {_key(element): _text(element, base) for element in array.ravel()}


def _key(element: Any) -> object:
    """What tells two elements apart that compare equal: 0.0 and -0.0; and makes NaN equal to itself."""
    return repr(element)


def _text(element: Any, base: str) -> str:
    """An element as SaC writes it; reals with so many digits that columns stay narrow, integers without their suffix (the type has been named)."""
    if isinstance(element, np.floating):
        text = f"{float(element):.{DIGITS}g}"
        return text if not text.lstrip("-").isdigit() else text + ".0"
    if isinstance(element, np.integer) and base != "char":
        return str(int(element))
    return notation(element.item() if isinstance(element, np.generic) else element, base)
