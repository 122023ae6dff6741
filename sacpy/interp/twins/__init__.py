"""NumPy implementations of library functions, for the interpreter. The definition in SaC stays the meaning; a twin must
give the same on every argument that fits the function's pattern.

`TWINS` is keyed by "Module::name/arity". An entry is a factory: given the core base types of the parameters and how
many axes an element has of its own (1 for complex numbers, else 0), it makes the twin. A twin gets Python scalars and
arrays, all instances of an arity alike, and returns a Python scalar for rank 0, else a new C-contiguous array of the
right dtype; a tuple where the function has several results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.interp.twins import complexes, elementwise, maths, reductions, structure
from sacpy.interp.twins.tables import Factory, Twin
from sacpy.lang.types import REAL

if TYPE_CHECKING:
    from sacpy.lang.core import Signature

TWINS: dict[str, Factory] = elementwise.TWINS | maths.TWINS | reductions.TWINS | structure.TWINS | complexes.TWINS

CELLS = structure.CELLS | complexes.CELLS  # the twins that know elements with axes of their own
# those that add floating-point numbers in an order of their own
REORDERING = reductions.REORDERING | maths.REORDERING | complexes.REORDERING
RESULTS = {"MathArray::sincos/1": 2, "MathArray::modf/1": 2, "MathArray::frexp/1": 2, "Math::frexp/1": 2}


def find(signature: Signature, strict: bool = False) -> Twin | None:
    """The twin of a library function, if it has one. `strict`: only one that gives the same to the last bit."""
    name = f"{signature.name}/{len(signature.params)}"
    factory = TWINS.get(name)
    # a function of structs has more parameters and results than it was written with
    if factory is None or len(signature.results) != RESULTS.get(name, 1):
        return None
    bases = tuple(slot.base for slot in signature.params)
    cell = max((len(slot.cell) for slot in signature.params), default=0)
    if (cell and name not in CELLS) or (strict and name in REORDERING and bases[-1] in REAL):
        return None
    return factory(bases, cell)


__all__ = ["CELLS", "REORDERING", "RESULTS", "TWINS", "Factory", "Twin", "find"]
