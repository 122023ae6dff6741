"""Products of vectors and matrices."""

from __future__ import annotations

import ast as py

from sacpy.capture.frame import Frame, Val
from sacpy.capture.kinds import array
from sacpy.capture.numbers import common, converted
from sacpy.capture.places import DIFFER

_NAMES = {(1, 1): ("inner_product", 0), (2, 1): ("matrix_vector", 1), (1, 2): ("vector_matrix", 1),
          (2, 2): ("matrix_product", 2)}  # fmt: skip


def product(frame: Frame, node: py.AST, a: Val, b: Val) -> Val:
    """`a @ b`, of one or two axes each."""
    base = common(frame, node, a, b)
    found = _NAMES.get((a.kind.rank or 0, b.kind.rank or 0))
    if found is None or base == "bool":
        message = f"'@' takes numbers with one or two axes, not {a.kind} and {b.kind}"
        raise frame.refused(node, message, "", DIFFER)
    name, rank = found
    args = [converted(frame, v, base).expr for v in (a, b)]
    return Val(frame.support(name, args, frame.span(node)), array(base, rank))
