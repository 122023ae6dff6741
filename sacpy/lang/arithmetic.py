"""The library's arithmetic: functions that are element-wise primitives under another name.

In: the head of a function. Out: the primitive, if it is one.
"""

from __future__ import annotations

from sacpy.lang.core import Signature

MODULES = ("ScalarArith", "ArrayArith")
OF_TWO = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "mod": "aplmod", "min": "min", "max": "max",
    "==": "eq", "!=": "neq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}  # fmt: skip
"""Functions of two arguments, by name."""


def arithmetic(signature: Signature, count: int) -> str | None:
    """The element-wise primitive that a function is when it is given so many arguments; None if it is none."""
    module, _, name = signature.name.partition("::")
    if module not in MODULES or any(slot.cell for slot in signature.params):
        return None
    return OF_TWO.get(name) if count == 2 else "neg" if name == "-" else None
