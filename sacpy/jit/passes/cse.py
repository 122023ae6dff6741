"""Common subexpressions: what has been computed already is not computed again.

    x = add i, 1                 x = add i, 1
    y = add i, 1         ->      z = mul x, x
    z = mul x, y

`Available` is the table of what has been computed in the block at hand and around it; the simplifier asks it about
every statement, as each rule that fires may make two expressions equal.
"""

from __future__ import annotations

from collections.abc import Hashable

from sacpy.jit.ir import graph as g
from sacpy.jit.passes.algebra import COMMUTATIVE


def _key(atom: g.Atom) -> Hashable:
    return (atom.base, atom.key) if isinstance(atom, g.Const) else atom.name


def key_of(rhs: g.Rhs) -> Hashable | None:
    """Equal for expressions that have equal values wherever both may be evaluated; None for those that are not looked
    up."""
    match rhs:
        case g.Op(code=code, args=args):
            keys = [_key(a) for a in args]
            if code in COMMUTATIVE:
                keys.sort(key=str)
            return (code, *keys)
        case g.Load() | g.View():
            return ("load", rhs.array.name, *map(_key, rhs.index))
        case g.Reshape():
            return ("reshape", rhs.array.name, *map(_key, rhs.extents))
        case g.Cons():
            return ("cons", rhs.base, rhs.extents, *map(_key, rhs.elements))
    return None
