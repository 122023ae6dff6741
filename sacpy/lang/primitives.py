"""The primitives of core: their names, arities and kinds. One row per primitive here (base types), one in `infer`
(shapes), one in `interp/primitives` (evaluation); a test checks that no layer lacks one.

A program may call a primitive directly, as `_add_SxV_(a, b)`: `parse` splits such a name into the operation and the
rank each argument must have (S scalar, V vector, A any).
"""

from __future__ import annotations

from sacpy.lang import reals
from sacpy.lang.types import BITS, BUILTIN, KINDS, REAL, WORDS
from sacpy.nodes import Node


class Primitive(Node):
    """`args` has a kind per argument: "T" (all such arguments share one base type out of `over`), or a base type's
    name. `result` likewise; "T" is that shared type. `structural` primitives also take typedefs and structs as T, and
    heed `cell`."""

    op: str
    args: tuple[str, ...]
    result: str
    over: tuple[str, ...] = BUILTIN
    structural: bool = False


CONVERSIONS = {
    "tob": "byte", "tos": "short", "toi": "int", "tol": "long", "toll": "longlong", "toub": "ubyte", "tous": "ushort",
    "toui": "uint", "toul": "ulong", "toull": "ulonglong", "tof": "float", "tod": "double", "tobool": "bool",
    "toc": "char",
}  # fmt: skip


def _rows() -> dict[str, Primitive]:
    rows: list[Primitive] = []
    num, ints = KINDS["num"], KINDS["int"]
    # Element-wise, two arguments: scalars and arrays in every mix; two arrays must have equal shapes.
    rows += [Primitive(op, ("T", "T"), "T", num) for op in ("add", "sub", "mul", "div")]
    rows += [Primitive(op, ("T", "T"), "T", num) for op in ("min", "max")]
    # C's remainder; floored, x where the divisor is 0
    rows += [Primitive(op, ("T", "T"), "T", ints) for op in ("mod", "aplmod")]
    rows += [Primitive(op, ("T", "T"), "T", ints) for op in ("bitand", "bitor", "bitxor", "shl", "shr")]
    rows += [Primitive(op, ("bool", "bool"), "bool") for op in ("and", "or")]
    rows += [Primitive(op, ("T", "T"), "bool", BUILTIN) for op in ("eq", "neq", "lt", "le", "gt", "ge")]
    # Element-wise, one argument.
    rows += [
        Primitive("neg", ("T",), "T", num),
        Primitive("abs", ("T",), "T", num),
        Primitive("reciproc", ("T",), "T", REAL),
    ]
    rows += [Primitive("not", ("bool",), "bool"), Primitive("bitnot", ("T",), "T", ints)]
    rows += [Primitive(op, ("T",), base, BUILTIN) for op, base in CONVERSIONS.items()]
    # The bits of a real as an unsigned integer of its width, all NaN alike (quiet, positive), and back.
    rows += [Primitive(f"bits_of_{real}", ("T",), word, (real,)) for real, word in WORDS.items()]
    rows += [Primitive(f"{real}_of_bits", ("T",), real, (word,)) for real, word in WORDS.items()]
    rows += [Primitive(op, ("T",), "T", REAL) for op in reals.UNARY]
    rows += [Primitive(op, ("T",), "bool", REAL) for op in ("isnan", "isinf", "isfinite")]
    rows += [Primitive(op, ("T", "T"), "T", REAL) for op in reals.BINARY]
    # Structure. `sel(iv, a)` selects an element or a sub-array; `modarray(a, iv, v)` replaces one; `cat`, `take`,
    # `drop` work on the first axis (take and drop of a negative count: from the end).
    rows += [
        Primitive("dim", ("T",), "int", BUILTIN, True),
        # Whether code is for a device, which has many threads: for choosing among ways to the same result.
        Primitive("device", ("T",), "bool", BUILTIN, True),
        Primitive("shape", ("T",), "int", BUILTIN, True),
        Primitive("sel", ("int", "T"), "T", BUILTIN, True),
        Primitive("modarray", ("T", "int", "T"), "T", BUILTIN, True),
        Primitive("reshape", ("int", "T"), "T", BUILTIN, True),
        Primitive("cat", ("T", "T"), "T", BUILTIN, True),
        Primitive("take", ("int", "T"), "T", BUILTIN, True),
        Primitive("drop", ("int", "T"), "T", BUILTIN, True),
        Primitive("mask", ("bool", "T", "T"), "T", BUILTIN),
        Primitive("all", ("bool",), "bool"),
        Primitive("any", ("bool",), "bool"),
        # Scalar zero and one of the argument's base type, whatever its shape.
        Primitive("zero", ("T",), "T"),
        Primitive("one", ("T",), "T"),
        # Smallest and largest value of the base type of the argument (-inf and inf are not: -DBL_MAX and DBL_MAX).
        Primitive("minval", ("T",), "T"),
        Primitive("maxval", ("T",), "T"),
        # The second argument, of which an optimiser should know nothing (value, shape, rank).
        Primitive("hideValue", ("int", "T"), "T", BUILTIN, True),
        Primitive("hideShape", ("int", "T"), "T", BUILTIN, True),
        Primitive("hideDim", ("int", "T"), "T", BUILTIN, True),
        # Made by elaboration only. `ravel`: a scalar as a vector of one, a vector as it is. `like`: the first argument,
        # which must have the second's shape (attrs: whose shape it is, for the message). `slice`: attrs = (spec,), a
        # string over "i" (an int index, one further argument each, in order), "." (keep one axis), "*" (keep the
        # remaining axes); args = (array, index...).
        Primitive("ravel", ("int",), "int"),
        Primitive("like", ("T", "T"), "T", BUILTIN, True),
        Primitive("slice", ("T", "..."), "T", BUILTIN, True),
        # `place`: attrs = (spec,) as above over the left side of a comprehension: the argument's first axes are those
        # of the indices ("i"), the value's own axes go where "." and "*" stand.
        Primitive("place", ("T",), "T", BUILTIN, True),
        # `require`: the first argument, where the third holds. attrs = (code, message, help): what is wrong where it
        # does not; `{0}` and `{1}` in the message are the first two arguments.
        Primitive("require", ("int", "int", "bool"), "int", structural=True),
        # Where an element lies whose number is the first argument, in rows that lie one behind the other, each longer
        # than the one before it by the third (a constant; shorter, where it is negative); the shortest has as many
        # elements as the second says, and there are as many rows as the last says: its row, and its place in the row.
        Primitive("row", ("int", "int", "int", "int"), "int", structural=True),
        Primitive("column", ("int", "int", "int", "int"), "int", structural=True),
    ]
    return {row.op: row for row in rows}


PRIMITIVES = _rows()

INTERNAL = ("ravel", "like", "slice", "place", "require", "row", "column")
_FORMS = {"S", "V", "A"}


def parse(name: str) -> tuple[str, str] | None:
    """Operation and form of a primitive's name as a program writes it: `_add_SxV_` is ("add", "SV"), `_dim_A_` is
    ("dim", "A"). None if there is no such primitive."""
    if len(name) < 3 or name[0] != "_" or name[-1] != "_":
        return None
    op, _, form = name[1:-1].rpartition("_")
    letters = form.split("x")
    if (
        op in PRIMITIVES
        and op not in INTERNAL
        and all(x in _FORMS for x in letters)
        and len(letters) == len(PRIMITIVES[op].args)
    ):
        return op, "".join(letters)
    return None


__all__ = ["BITS", "PRIMITIVES", "Primitive", "parse"]
