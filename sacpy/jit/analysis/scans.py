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
from typing import TYPE_CHECKING

from sacpy.jit.analysis.combine import step_of
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import needed_for, setters, uses
from sacpy.lang.types import BITS, REAL
from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.jit.ir.associative import Combine

_ON_REALS = frozenset(["add", "mul"])
_ON_INTEGERS = _ON_REALS | {"min", "max", "bitand", "bitor", "bitxor"}


class Scan(Node):
    """`array`: the carried vector; `accumulator`: the carried scalar, None where results are read back from the vector.
    `form`: "plain", "reset" or "affine"; `code`: the operation, of an affine one "add"; `negative`: of the values'
    negatives. `values`: the block that gives a round's element; it reads of the vector its own element at most, as does
    `post`, which gives what is written, of the result, which is there under the name of `seen`."""

    loop: g.For
    array: g.Var
    accumulator: g.Var | None
    form: str
    code: str
    negative: bool
    exclusive: bool
    values: g.Block
    seen: g.Var
    post: g.Block

    @property
    def base(self) -> str:
        """The base type of results before `post`."""
        return (self.accumulator or self.array).base

    @property
    def reads_array(self) -> bool:
        """Whether values come from the vector itself."""
        return uses(self.values)[self.array.name] > 0 or uses(self.post)[self.array.name] > 0


class Chain(Node):
    """A scan by any associative function of several scalars: `function`, with its neutral elements. `values`: what the
    accumulators are after a round, `next` by name; `post`: what goes into each of the arrays, of these and of what they
    were before."""

    loop: g.For
    arrays: tuple[g.Var, ...]
    accumulators: tuple[g.Var, ...]
    function: Combine
    values: g.Block
    post: g.Block

    @property
    def exact(self) -> bool:
        """Whether results are the same however the elements are grouped."""
        return not any(a.base in REAL for a in self.accumulators)


def chain_of(r: g.For, *, strict: bool) -> Chain | None:
    """The scan by any function that a loop is."""
    f = r.combine
    arrays = tuple(p for p in r.params if isinstance(p.type, g.ArrayType))
    scalars = tuple(p for p in r.params if not isinstance(p.type, g.ArrayType))
    if (
        f is None
        or r.step != 1
        or not all(isinstance(s, g.Let) for b in (r.body, f.block) for s in g.statements(b))
        or not all(is_straight(b) for b in (r.body, f.block))
        or [p.base for p in scalars] != [v.base for v in f.left]
        or [p.base for p in scalars] != [c.base for c in f.neutrals]
        or (strict and any(p.base in REAL for p in scalars))
    ):
        return None
    lets = setters(r.body.statements)
    after = dict(zip(r.params, r.body.results))
    updates = [_made(after[a], lets) for a in arrays]
    written: list[g.Atom] = []
    for array, s in zip(arrays, updates):
        if s is None or not isinstance(s.rhs, g.Update) or s.rhs.array != array or s.rhs.index != (r.index,):
            return None
        written.append(s.rhs.value)
    next_ = tuple(after[p] for p in scalars)
    names = {a.name for a in next_ if isinstance(a, g.Var)}
    values = g.Block(needed_for(next_, r.body), next_)
    post = g.Block(needed_for(written, r.body, names), tuple(written))
    if any(uses(b)[a.name] for a in arrays for b in (values, post)):
        return None
    return Chain(r, arrays, scalars, f, values, post)


def why_in_order(r: g.For, *, strict: bool) -> str:
    """Why the rounds of a loop that the program calls a scan run one after the other; "": they need not, or it calls it
    none."""
    if not r.associative or scan_of(r, {}, strict=strict) or chain_of(r, strict=strict):
        return ""
    if strict and (scan_of(r, {}, strict=False) or chain_of(r, strict=False)):
        return "one of reals, and their order is to stay"
    if not all(isinstance(s, g.Let) for s in g.statements(r.body)):
        return "its values, or its function, may fail, and which one does first is to stay"
    if not is_straight(r.body):
        return "its values, or its function, have loops or calls in them"
    if r.combine is None:
        return "its function takes something from around it"
    return "its rounds do more than to combine values"


class _Round(Node):
    """What a round makes of the result before. `gone`: the statements that the elements do without; `more`: those that
    they take instead."""

    form: str
    code: str
    negative: bool
    elements: tuple[g.Atom, ...]
    before: g.Var
    gone: tuple[g.Let, ...]
    more: tuple[g.Let, ...] = ()


def scan_of(r: g.For, made: Mapping[str, g.Op], *, strict: bool) -> Scan | None:
    """The scan that a loop is. `made`: operations without overflow that variables were set to; `strict`: those on reals
    keep their order."""
    arrays = [p for p in r.params if isinstance(p.type, g.ArrayType)]
    scalars = [p for p in r.params if not isinstance(p.type, g.ArrayType)]
    if (
        r.step not in ((1, -1) if scalars else (1,))
        or len(arrays) != 1
        or len(scalars) > 1
        or not all(isinstance(s, g.Let) for s in g.statements(r.body))
    ):
        return None
    (array,) = arrays
    lets = setters(r.body.statements)
    update = _made(r.body.results[r.params.index(array)], lets)
    if (
        update is None
        or not isinstance(update.rhs, g.Update)
        or update.rhs.array != array
        or update.rhs.index != (r.index,)
    ):
        return None
    total = r.body.results[r.params.index(scalars[0])] if scalars else update.rhs.value
    found = _Rounds(r, lets, made, array, scalars[0] if scalars else None, strict).of(total)
    if found is None or not isinstance(total, g.Var):
        return None
    read = [] if scalars else [lets[found.before.name]]
    rest = tuple(s for s in r.body.statements if s not in (update, *found.gone, *read))
    steps = g.Block((*rest, *found.more))
    values = g.Block(needed_for(found.elements, steps), found.elements)
    ends = (total.name, found.before.name)
    post = g.Block(needed_for((update.rhs.value,), r.body, ends), (update.rhs.value,))
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
        r: g.For,
        lets: Mapping[str, g.Let],
        made: Mapping[str, g.Op],
        array: g.Var,
        accumulator: g.Var | None,
        strict: bool,
    ) -> None:
        self.r, self.lets, self.made, self.array, self.accumulator = r, lets, made, array, accumulator
        self.regroups = not strict
        self.base = base = (accumulator or array).base
        self.codes = _ON_INTEGERS if base in BITS else _ON_REALS if base in REAL and not strict else frozenset()

    def of(self, total: g.Atom) -> _Round | None:
        """The form of a round's result."""
        return self.affine(total) or self.plain(total) or self.reset(total)

    def op(self, a: g.Atom, code: str) -> tuple[g.Let, g.Op] | None:
        """The operation that gives an atom, if it is this one."""
        s = _made(a, self.lets)
        return (s, s.rhs) if s is not None and isinstance(s.rhs, g.Op) and s.rhs.code == code else None

    def is_before(self, a: g.Atom) -> bool:
        """Whether an atom is the result of the round before: the accumulator, or the vector's element before that of
        the round."""
        if self.accumulator is not None:
            return a == self.accumulator
        s = _made(a, self.lets)
        load = None if s is None else s.rhs
        return (
            isinstance(load, g.Load) and load.array == self.array and _is_before(load.index[0], self.r.index, self.made)
        )

    def plain(self, total: g.Atom) -> _Round | None:
        """The result before combined with a value: one of reals in an order of its own, unless it is an extreme."""
        step = step_of(total, self.lets, self.is_before)
        if step is None or step.base != self.base or not (step.sticky or step.code in self.codes):
            return None
        return _Round("plain", step.code, step.negative, (step.value,), step.old, step.lets)

    def affine(self, total: g.Atom) -> _Round | None:
        found = self.op(total, "add") if "mul" in self.codes else None
        if found is None or (self.base in REAL and not self.r.associative):
            return None
        s, op = found
        for product, b in (op.args, op.args[::-1]):
            scaled = self.op(product, "mul")
            before = None if scaled is None else next((a for a in scaled[1].args if self.is_before(a)), None)
            if scaled is not None and isinstance(before, g.Var) and b != before:
                x, y = scaled[1].args
                return _Round("affine", "add", False, (y if x == before else x, b), before, (s, scaled[0]))
        return None

    def reset(self, total: g.Atom) -> _Round | None:
        """A value of the round's own where a flag says so, else the result before combined with one."""
        s = _made(total, self.lets)
        if s is None:
            return None
        if isinstance(s.rhs, g.Op) and s.rhs.code == "select":
            flag, own, other = s.rhs.args
            lets, inner = self.lets, list[g.Let]()
        elif isinstance(s.rhs, g.If) and not s.rhs.then.statements and len(s.targets) == 1:
            inner = [i for i in s.rhs.otherwise.statements if isinstance(i, g.Let) and isinstance(i.rhs, g.Op)]
            if len(inner) != len(s.rhs.otherwise.statements):
                return None
            flag, own, other = s.rhs.condition, s.rhs.then.results[0], s.rhs.otherwise.results[0]
            lets = {**self.lets, **{i.targets[0].name: i for i in inner}}
        else:
            return None
        rounds = _Rounds(self.r, lets, self.made, self.array, self.accumulator, not self.regroups)
        found = rounds.plain(other)
        if found is None or found.negative:
            return None
        more = tuple(i for i in inner if i not in found.gone)
        element = own
        if found.elements != (own,):
            element = s.targets[0]
            more = (*more, g.Let((element,), g.Op("select", (flag, own, *found.elements)), s.span))
        return _Round("reset", found.code, False, (flag, element), found.before, (s, *found.gone), more)


def _made(a: g.Atom, lets: Mapping[str, g.Let]) -> g.Let | None:
    """The statement of a round that sets an atom."""
    return lets.get(a.name) if isinstance(a, g.Var) else None


def _is_before(a: g.Atom, index: g.Var, made: Mapping[str, g.Op]) -> bool:
    """Whether an atom is the index less one."""
    op = made.get(a.name) if isinstance(a, g.Var) else None
    if op is None or op.code not in ("add", "sub"):
        return False
    distance = 1 if op.code == "sub" else -1
    x, y = op.args
    if op.code == "add" and isinstance(x, g.Const):
        x, y = y, x
    return x == index and isinstance(y, g.Const) and y.value == distance
