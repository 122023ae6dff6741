"""Numbers about a value, for `:info`.

In: a value. Out: text: its type, how many elements and bytes it has, and of numbers the least, the greatest and the
mean; of reals that are not finite, how many.
"""

from __future__ import annotations

import numpy as np

from sacpy.interp.values import Value
from sacpy.repl.outcomes import Variable

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def statistics(variable: Variable) -> str:
    """The lines about one value; of a struct one for each array that it lies in."""
    head = variable.type_text
    components = variable.type.components
    if len(components) == 1:
        return f"{head}: {_numbers(variable.values[0])}"
    return "\n".join(
        [head, *(f"  .{c.path}: {_numbers(value)}" for c, value in zip(components, variable.values, strict=True))]
    )


def _numbers(value: Value) -> str:
    if not isinstance(value, np.ndarray):
        return f"{len(value)} characters" if isinstance(value, bytes) else "a scalar"
    parts = [f"{value.size} element{'s' if value.size != 1 else ''}", size_text(value.nbytes)]
    if value.size and value.dtype.kind == "b":
        parts.append(f"{int(value.sum())} true")
    elif value.size and value.dtype.kind in "uif":
        finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
        if finite.size:
            parts += [f"least {finite.min():.8g}", f"greatest {finite.max():.8g}", f"mean {_mean(finite):.8g}"]
        if finite.size < value.size:
            parts.append(f"{value.size - finite.size} not finite")
    return ", ".join(parts)


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    with np.errstate(over="ignore"):
        return float(values.mean(dtype=np.float64))


def size_text(size: float) -> str:
    """A number of bytes, in the unit that keeps it short."""
    for unit in UNITS:
        if size < 1024 or unit == UNITS[-1]:
            break
        size /= 1024
    return f"{size:.3g} {unit}" if unit != UNITS[0] else f"{int(size)} {unit}"
