"""Counting loops that are scans: each round combines one value with the result of the round before, and writes it to
its own element.

In: a counting loop. Out: a `Scan`, or None.

    for i from 1 to n with s := x              for i from 0 to n with s := x, sum := 0.0
      v = load b[i]                              v = load b[i]
      p = load s[i - 1]                          t = add sum, v
      t = add p, v                               s.1 = update s[i] with sum
      s.1 = update s[i] with t                   next s.1, t
      next s.1

On the left the result of the round before is read back (which makes it an inclusive scan); on the right it is carried
along, and what is written comes before the round's own value (exclusive).
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir.graph import ArrayType, Atom, Block, Const, For, Let, Load, Op, Update, Var
from sacpy.jit.ir.rewrite import uses
from sacpy.lang.types import BITS, REAL
from sacpy.nodes import Node

_ON_REALS = frozenset(["add", "sub", "mul"])
_ON_INTEGERS = _ON_REALS | {"min", "max", "bitand", "bitor", "bitxor"}


class Scan(Node):
    """`array`: the carried vector; `accumulator`: the carried scalar, None where results are read back from the vector.
    `code`: the operation; `negative`: of the values' negatives. `values`: the block that gives a round's value; it
    reads of the vector its own element at most."""

    loop: For
    array: Var
    accumulator: Var | None
    code: str
    negative: bool
    exclusive: bool
    values: Block

    @property
    def base(self) -> str:
        return self.array.base

    @property
    def reads_array(self) -> bool:
        """Whether values come from the vector itself."""
        return uses(self.values)[self.array.name] > 0


def scan_of(r: For, made: Mapping[str, Op], *, strict: bool) -> Scan | None:
    """The scan that a loop is. `made`: operations without overflow that variables were set to; `strict`: those on reals
    keep their order."""
    arrays = [p for p in r.params if isinstance(p.type, ArrayType)]
    scalars = [p for p in r.params if not isinstance(p.type, ArrayType)]
    if (
        r.step != 1
        or len(arrays) != 1
        or len(scalars) > 1
        or not is_straight(r.body)
        or not all(isinstance(s, Let) for s in r.body.statements)
    ):
        return None
    (array,) = arrays
    codes = _ON_INTEGERS if array.base in BITS else _ON_REALS if array.base in REAL and not strict else frozenset()
    lets = {s.targets[0].name: s for s in r.body.statements if isinstance(s, Let)}
    update = _made(r.body.results[r.params.index(array)], lets)
    if (
        update is None
        or not isinstance(update.rhs, Update)
        or update.rhs.array != array
        or update.rhs.index != (r.index,)
    ):
        return None
    total = r.body.results[r.params.index(scalars[0])] if scalars else update.rhs.value
    combined = _made(total, lets)
    if (
        combined is None
        or not isinstance(combined.rhs, Op)
        or combined.rhs.code not in codes
        or array.base not in {a.base for a in combined.rhs.args}
    ):
        return None
    before = _before(combined.rhs, scalars[0] if scalars else None, array, r.index, lets, made)
    if before is None or update.rhs.value not in (total, before):
        return None
    a, b = combined.rhs.args
    if combined.rhs.code == "sub" and a != before:
        return None
    from sacpy.jit.analysis.depends import own_cell

    read = [] if scalars else [lets[before.name]]
    rest = tuple(s for s in r.body.statements if s not in (update, combined, *read))
    values = Block(rest, (b if a == before else a,))
    left = uses(values)
    if any(left[v.name] for v in (*update.targets, *combined.targets, before)) or not own_cell(
        values, array, (r.index,)
    ):
        return None
    return Scan(
        r,
        array,
        scalars[0] if scalars else None,
        "add" if combined.rhs.code == "sub" else combined.rhs.code,
        combined.rhs.code == "sub",
        update.rhs.value == before,
        values,
    )


def _made(a: Atom, lets: Mapping[str, Let]) -> Let | None:
    """The statement of a round that sets an atom."""
    return lets.get(a.name) if isinstance(a, Var) else None


def _before(
    op: Op, accumulator: Var | None, array: Var, index: Var, lets: Mapping[str, Let], made: Mapping[str, Op]
) -> Var | None:
    """The operand that is the result of the round before: the accumulator, or the vector's element before that of the
    round."""
    for a in op.args:
        if accumulator is not None and a == accumulator:
            return accumulator
        s = _made(a, lets)
        if (
            accumulator is None
            and s is not None
            and isinstance(a, Var)
            and isinstance(s.rhs, Load)
            and s.rhs.array == array
            and _is_before(s.rhs.index[0], index, made)
        ):
            return a
    return None


def _is_before(a: Atom, index: Var, made: Mapping[str, Op]) -> bool:
    """Whether an atom is the index less one."""
    op = made.get(a.name) if isinstance(a, Var) else None
    if op is None or op.code not in ("add", "sub"):
        return False
    distance = 1 if op.code == "sub" else -1
    x, y = op.args
    if op.code == "add" and isinstance(x, Const):
        x, y = y, x
    return x == index and isinstance(y, Const) and y.value == distance
