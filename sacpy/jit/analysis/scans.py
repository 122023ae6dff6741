"""Counting loops that are scans: each round combines its own values with the result of the round before, and writes
that to its own element.

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
from sacpy.jit.ir.graph import ArrayType, Atom, Block, Const, For, If, Let, Load, Op, Update, Var, statements
from sacpy.jit.ir.rewrite import needed_for, uses
from sacpy.lang.types import BITS, REAL
from sacpy.nodes import Node

_ON_REALS = frozenset(["add", "sub", "mul"])
_ON_INTEGERS = _ON_REALS | {"min", "max", "bitand", "bitor", "bitxor"}


class Scan(Node):
    """`array`: the carried vector; `accumulator`: the carried scalar, None where results are read back from the vector.
    `form`: "plain", "reset" or "affine"; `code`: the operation, of an affine one "add"; `negative`: of the values'
    negatives. `values`: the block that gives a round's element; it reads of the vector its own element at most, as does
    `post`, which gives what is written, of the result, which is there under the name of `seen`."""

    loop: For
    array: Var
    accumulator: Var | None
    form: str
    code: str
    negative: bool
    exclusive: bool
    values: Block
    seen: Var
    post: Block

    @property
    def base(self) -> str:
        """The base type of results before `post`."""
        return (self.accumulator or self.array).base

    @property
    def reads_array(self) -> bool:
        """Whether values come from the vector itself."""
        return uses(self.values)[self.array.name] > 0 or uses(self.post)[self.array.name] > 0


class _Round(Node):
    """What a round makes of the result before. `gone`: the statements that the elements do without; `more`: those that
    they take instead."""

    form: str
    code: str
    negative: bool
    elements: tuple[Atom, ...]
    before: Var
    gone: tuple[Let, ...]
    more: tuple[Let, ...] = ()


def scan_of(r: For, made: Mapping[str, Op], *, strict: bool) -> Scan | None:
    """The scan that a loop is. `made`: operations without overflow that variables were set to; `strict`: those on reals
    keep their order."""
    arrays = [p for p in r.params if isinstance(p.type, ArrayType)]
    scalars = [p for p in r.params if not isinstance(p.type, ArrayType)]
    if (
        r.step not in ((1, -1) if scalars else (1,))
        or len(arrays) != 1
        or len(scalars) > 1
        or not all(isinstance(s, Let) for s in statements(r.body))
    ):
        return None
    (array,) = arrays
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
    found = _Rounds(r, lets, made, array, scalars[0] if scalars else None, strict).of(total)
    if found is None or not isinstance(total, Var):
        return None
    read = [] if scalars else [lets[found.before.name]]
    rest = tuple(s for s in r.body.statements if s not in (update, *found.gone, *read))
    steps = Block((*rest, *found.more))
    values = Block(needed_for(found.elements, steps), found.elements)
    ends = (total.name, found.before.name)
    post = Block(needed_for((update.rhs.value,), r.body, ends), (update.rhs.value,))
    gone = {found.before.name, *(t.name for s in (update, *found.gone) for t in s.targets)}
    set_anew = {t.name for s in found.more for t in s.targets}
    if any(uses(values)[name] for name in gone - set_anew) or any(uses(post)[name] for name in gone - set(ends)):
        return None
    seen = [v for v in (total, found.before) if uses(post)[v.name]]  # what is written comes of one of them
    if len(seen) != 1 or (not scalars and post.statements):
        return None
    from sacpy.jit.analysis.depends import own_cell

    if not all(is_straight(b) and own_cell(b, array, (r.index,)) for b in (values, post)):
        return None
    return Scan(
        r,
        array,
        scalars[0] if scalars else None,
        found.form,
        found.code,
        found.negative,
        seen[0] == found.before,
        values,
        seen[0],
        post,
    )


class _Rounds:
    """The forms that a round's result may have."""

    def __init__(
        self,
        r: For,
        lets: Mapping[str, Let],
        made: Mapping[str, Op],
        array: Var,
        accumulator: Var | None,
        strict: bool,
    ) -> None:
        self.r, self.lets, self.made, self.array, self.accumulator = r, lets, made, array, accumulator
        self.regroups = not strict
        self.base = base = (accumulator or array).base
        self.codes = _ON_INTEGERS if base in BITS else _ON_REALS if base in REAL and not strict else frozenset()

    def of(self, total: Atom) -> _Round | None:
        """The form of a round's result."""
        return self.extreme(total) or self.affine(total) or self.plain(total) or self.reset(total)

    def op(self, a: Atom, *codes: str) -> tuple[Let, Op] | None:
        """The operation that gives an atom, if it has one of these codes, or if none are given."""
        s = _made(a, self.lets)
        if s is None or not isinstance(s.rhs, Op) or (codes and s.rhs.code not in codes):
            return None
        return s, s.rhs

    def before(self, op: Op) -> Var | None:
        """The operand of an operation that is the result of the round before."""
        return _before(op, self.accumulator, self.array, self.r.index, self.lets, self.made)

    def plain(self, total: Atom) -> _Round | None:
        found = self.op(total, *self.codes) if self.codes else None
        if found is None or self.base not in {a.base for a in found[1].args}:
            return None
        s, op = found
        before = self.before(op)
        if before is None or (op.code == "sub" and op.args[0] != before):
            return None
        a, b = op.args
        negative = op.code == "sub"
        return _Round("plain", "add" if negative else op.code, negative, (b if a == before else a,), before, (s,))

    def extreme(self, total: Atom) -> _Round | None:
        """`s >= x || s != s ? s : x`: the larger one, or NaN if one is; or the smaller one."""
        found = self.op(total, "select") if self.base in REAL else None
        before = self.before(found[1]) if found is not None else None
        if found is None or before is None:
            return None
        s, op = found
        test, then, x = op.args
        either = self.op(test, "or")
        if then != before or either is None:
            return None
        for relation, nan in (either[1].args, either[1].args[::-1]):
            compared, unequal = self.op(relation, "le", "ge"), self.op(nan, "neq")
            if compared is None or unequal is None or unequal[1].args != (before, before):
                continue
            args = compared[1].args
            larger = "ge" if args == (before, x) else "le" if args == (x, before) else ""
            if larger:
                code = "max" if compared[1].code == larger else "min"
                return _Round("plain", code, False, (x,), before, (s, either[0], compared[0], unequal[0]))
        return None

    def affine(self, total: Atom) -> _Round | None:
        found = self.op(total, "add") if "mul" in self.codes else None
        if found is None or (self.base in REAL and not self.r.associative):
            return None
        s, op = found
        for product, b in (op.args, op.args[::-1]):
            scaled = self.op(product, "mul")
            before = self.before(scaled[1]) if scaled is not None else None
            if scaled is not None and before is not None and b != before:
                x, y = scaled[1].args
                return _Round("affine", "add", False, (y if x == before else x, b), before, (s, scaled[0]))
        return None

    def reset(self, total: Atom) -> _Round | None:
        """A value of the round's own where a flag says so, else the result before combined with one."""
        s = _made(total, self.lets)
        if s is None:
            return None
        if isinstance(s.rhs, Op) and s.rhs.code == "select":
            flag, own, other = s.rhs.args
            lets, inner = self.lets, list[Let]()
        elif isinstance(s.rhs, If) and not s.rhs.then.statements and len(s.targets) == 1:
            inner = [i for i in s.rhs.otherwise.statements if isinstance(i, Let) and isinstance(i.rhs, Op)]
            if len(inner) != len(s.rhs.otherwise.statements):
                return None
            flag, own, other = s.rhs.condition, s.rhs.then.results[0], s.rhs.otherwise.results[0]
            lets = {**self.lets, **{i.targets[0].name: i for i in inner}}
        else:
            return None
        rounds = _Rounds(self.r, lets, self.made, self.array, self.accumulator, not self.regroups)
        found = rounds.extreme(other) or rounds.plain(other)
        if found is None or found.negative:
            return None
        value = Let(s.targets, Op("select", (flag, own, *found.elements)), s.span)
        more = (*(i for i in inner if i not in found.gone), value)
        return _Round("reset", found.code, False, (flag, s.targets[0]), found.before, (s, *found.gone), more)


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
