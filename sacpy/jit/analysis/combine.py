"""How values are combined: one normal form of sums, products, extremes and the like, whoever writes them.

In: statements, loops, with-loops. Out: what they combine, or None.

    step        new = old op value               what one statement, or a few, do to a carried value or an element
    fold        one step for each accumulator    the function of a fold
    cell        parallel axes, then a fold       the body of a partition: before, the fold over the reduced axes, after
    nest        parallel axes x reduced axes     loops in any order that combine elements of one array with terms

A step has an operation, in whichever order its operands stand, written as one (`add p, x`; `sub p, x` is the sum with
the negative), or as a choice: `x < p ? x : p`, or `p >= x || p != p ? p : x`, in which NaN stays once it came. Who asks
keeps the statements as they are: what they give for NaN and for zeros of both signs differs from one form to the other.

A nest is what a sum for each element is when it is written as loops: of an update at the loops' counters, of rows
(`c[i] = c[i] + x * b[k]`), of whole arrays (`c = c + x * b[k]`), of some of an array's elements. The loops whose
counters are no index of the element are those that reduce it; the order of the others does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import bound, free, needed_for, uses
from sacpy.lang.types import REAL, SIGNED
from sacpy.nodes import Node, replace

CODES = frozenset(["add", "mul", "min", "max", "bitand", "bitor", "bitxor", "and", "or"])
_RELATIONS = {"lt": "min", "le": "min", "gt": "max", "ge": "max"}  # what is chosen of two if the first one is taken
_OTHER = {"min": "max", "max": "min"}

# ---------------------------------------------------------------- a step


class Step(Node):
    """`old` is combined with `value` by the operation `code`. `lets`: the statements that do that, the last of which
    sets the new value. `negative`: what is combined is the negative of the value; `sticky`: an extreme in which NaN
    stays once it came, so that those of reals may be grouped in any way."""

    code: str
    old: g.Var
    value: g.Atom
    lets: tuple[g.Let, ...]
    negative: bool = False
    sticky: bool = False

    @property
    def base(self) -> str:
        return self.old.base

    @property
    def new(self) -> g.Var:
        """The new value."""
        return self.lets[-1].targets[0]

    @property
    def extreme(self) -> bool:
        """Whether it is an extreme of reals."""
        return self.code in ("min", "max") and self.base in REAL

    @property
    def exact(self) -> bool:
        """Whether it gives the same, whichever way operands are grouped."""
        return self.base not in REAL or self.sticky

    def alone(self, count: Mapping[str, int]) -> bool:
        """Whether nobody else uses the old value, or the new one, or what is computed on the way. `count`: all uses."""
        names = [a.name for s in self.lets for a in g.operands(s.rhs) if isinstance(a, g.Var)]
        inside = (self.old.name, *(s.targets[0].name for s in self.lets[:-1]))
        return count[self.new.name] == 1 and all(names.count(name) == count[name] for name in inside)


Lets = Mapping[str, g.Let]


def lets_of(many: Iterable[g.Stmt]) -> dict[str, g.Let]:
    """The statements that set one variable, by its name."""
    return {s.targets[0].name: s for s in many if isinstance(s, g.Let) and len(s.targets) == 1}


def step_of(new: g.Atom, lets: Lets, is_old: Callable[[g.Atom], bool]) -> Step | None:
    """The step that gives `new`. `is_old`: which operand is the old value."""
    s = lets.get(new.name) if isinstance(new, g.Var) else None
    if s is None or not isinstance(s.rhs, g.Op):
        return None
    op = s.rhs
    if op.code == "select":
        return _choice(s, op, lets, is_old)
    if op.code in CODES:
        for old, value in (op.args, op.args[::-1]):
            if isinstance(old, g.Var) and value != old and is_old(old):
                return Step(op.code, old, value, (s,))
    if op.code == "sub" and s.targets[0].base in (*REAL, *SIGNED):
        old, value = op.args
        if isinstance(old, g.Var) and value != old and is_old(old):
            return Step("add", old, value, (s,), negative=True)
    return None


def _choice(s: g.Let, op: g.Op, lets: Lets, is_old: Callable[[g.Atom], bool]) -> Step | None:
    """An extreme that is written as a choice."""
    condition, first, second = op.args
    test = _op(condition, lets)
    for old, value in ((first, second), (second, first)):
        if test is None or not isinstance(old, g.Var) or value == old or not is_old(old):
            continue
        compared, rhs = test
        if rhs.code in _RELATIONS and set(rhs.args) == {old, value}:
            code = _RELATIONS[rhs.code] if rhs.args == (first, second) else _OTHER[_RELATIONS[rhs.code]]
            return Step(code, old, value, (compared, s))
        for relation, nan in (rhs.args, rhs.args[::-1]) if rhs.code == "or" and first == old else ():
            a, b = _op(relation, lets), _op(nan, lets)
            if a is None or b is None or b[1] != g.Op("neq", (old, old)) or a[1].code not in ("le", "ge"):
                continue
            if set(a[1].args) == {old, value}:
                code = _RELATIONS[a[1].code]
                code = code if a[1].args[0] == old else _OTHER[code]
                return Step(code, old, value, (a[0], b[0], compared, s), sticky=True)
    return None


def _op(a: g.Atom, lets: Lets) -> tuple[g.Let, g.Op] | None:
    """The operation that sets an atom."""
    s = lets.get(a.name) if isinstance(a, g.Var) else None
    return (s, s.rhs) if s is not None and isinstance(s.rhs, g.Op) else None


def steps_of(body: g.Block, params: Sequence[g.Var], results: Sequence[g.Atom]) -> list[Step] | None:
    """What the rounds of a loop do with some of its carried variables, if these are scalars, and all that becomes of
    each is a step whose value depends on none of them."""
    if not params or not all(isinstance(p.type, g.ScalarType) for p in params):
        return None
    count, lets = uses(body), lets_of(body.statements)
    found: list[Step] = []
    for p, result in zip(params, results):
        step = step_of(result, lets, lambda a, p=p: a == p)  # type: ignore[misc]
        if step is None or not step.alone(count):
            return None
        found.append(step)
    return found  # none uses a variable of another, since each is used by its own step alone


def without(body: g.Block, steps: Sequence[Step]) -> tuple[g.Stmt, ...]:
    """The statements of a block without those of its steps."""
    mine = {let.targets for step in steps for let in step.lets}
    return tuple(s for s in body.statements if not (isinstance(s, g.Let) and s.targets in mine))


def function_of(step: Step, old: g.Atom, value: g.Var) -> list[g.Let]:
    """The statements of a step for other operands, which set the same variables. A sum with the negative becomes a sum,
    a choice of the lesser one the minimum that it is. Otherwise extremes stay as they are written: for NaN, and for
    zeros of both signs, the order of their operands matters."""
    *before, last = step.lets
    assert isinstance(last.rhs, g.Op)
    op = last.rhs
    if before and before[0].rhs.code in ("lt", "gt"):  # type: ignore[union-attr]
        before, op = [], g.Op(step.code, op.args[1:])
    elif step.code not in ("min", "max"):
        op = g.Op(step.code, (step.old, step.value))
    env = {step.old: old, step.value: value}
    return [
        g.Let(s.targets, replace(rhs, args=tuple(env.get(a, a) for a in rhs.args)), s.span)
        for s, rhs in ((*((s, s.rhs) for s in before), (last, op)))
        if isinstance(rhs, g.Op)
    ]


# ---------------------------------------------------------------- the function of a fold


def steps_of_fold(fold: g.Fold) -> tuple[Step, ...] | None:
    """The steps that a fold's function consists of: each accumulator with its value."""
    lets = lets_of(fold.combine.statements)
    found: list[Step] = []
    for result, accumulator, value in zip(fold.combine.results, fold.accumulators, fold.values):
        step = step_of(result, lets, lambda a, p=accumulator: a == p)  # type: ignore[misc]
        if step is None or step.negative or step.value != value or not isinstance(value.type, g.ScalarType):
            return None
        found.append(step)
    taken = sum(len(step.lets) for step in found)
    return tuple(found) if taken == len(fold.combine.statements) else None


# ---------------------------------------------------------------- cells that are folds


class Cell(Node):
    """The body of a partition, whose axes are the parallel ones, as `before`, a fold, and `after`. The fold's one
    partition has the reduced axes. `targets`: what the fold sets; all are scalars."""

    partition: g.Partition
    before: tuple[g.Stmt, ...]
    fold: g.WithLoop
    targets: tuple[g.Var, ...]
    after: g.Block

    @property
    def inner(self) -> g.Partition:
        """What is folded."""
        return self.fold.partitions[0]

    @property
    def later(self) -> tuple[g.Block, ...]:
        """What comes after `before`."""
        return self.inner.body, self.after

    @property
    def folds(self) -> tuple[g.Fold, ...]:
        return tuple(o for o in self.fold.operators if isinstance(o, g.Fold))


def cell_of(p: g.Partition) -> Cell | None:
    """The body of a partition, if the first loop in it is a fold of scalars that sees all of its one partition."""
    for at, s in enumerate(p.body.statements):
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.WithLoop):
            continue
        w = s.rhs
        if (
            len(w.partitions) != 1
            or not w.partitions[0].rank
            or not w.operators
            or not all(
                isinstance(o, g.Fold) and o.stop is None and not any(g.extents_of(a) for a in o.neutrals)
                for o in w.operators
            )
        ):
            return None
        after = g.Block(p.body.statements[at + 1 :], p.body.results)
        return Cell(p, p.body.statements[:at], w, s.targets, after)
    return None


# ---------------------------------------------------------------- nests


class Axis(Node):
    """A loop from `lower` to before `upper`."""

    index: g.Var
    lower: g.Atom
    upper: g.Atom


class Nest(Node):
    """Elements of an array, `step.old` at the indices of `parallel` (one for each axis of it), are each combined with
    terms. `array`: as it was; `reduced`: the loops that an element sees, outermost first; `before`: what computes their
    bounds; `body`: what computes `step.value`; `inside`: whether the loops that reduce an element stand in those over
    elements."""

    array: g.Var
    parallel: tuple[Axis, ...]
    reduced: tuple[Axis, ...]
    before: tuple[g.Stmt, ...]
    body: tuple[g.Stmt, ...]
    step: Step
    inside: bool


class _Element(Node):
    """What a round does to an array: `new` is what becomes of its element at `index`. `axes`: those of its indices that
    a with-loop runs over; `statements`: those of the round, the with-loop's among them."""

    index: tuple[g.Atom, ...]
    axes: tuple[Axis, ...]
    statements: tuple[g.Stmt, ...]
    new: g.Atom


def nest_of(r: g.For) -> Nest | None:
    """The nest that a loop is, if that is all it does."""
    loops, around = loops_in(r)
    if not all(r.step == 1 and len(r.params) == 1 and g.extents_of(r.params[0]) for r in loops):
        return None
    r = loops[-1]
    (array,), given = r.params, loops[0].initial[0]
    element = _element(r.body, array)
    if element is None or not isinstance(given, g.Var):
        return None
    lets = lets_of(element.statements)
    load = g.Load(array, element.index)
    step = step_of(element.new, lets, lambda a: isinstance(a, g.Var) and a.name in lets and lets[a.name].rhs == load)
    if step is None or not step.alone(uses(g.Block(element.statements, (element.new,)))):
        return None
    gone = {step.old.name, *(s.targets[0].name for s in step.lets)}
    body = (
        *around,
        *(s for s in element.statements if not (isinstance(s, g.Let) and any(t.name in gone for t in s.targets))),
    )
    parameters = {p.name for loop in loops for p in loop.params}
    if not all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op | g.Load | g.Var | g.Const) for s in body) or (
        parameters & free(g.Block(body))
    ):
        return None
    axes = {loop.index: Axis(loop.index, loop.lower, loop.upper) for loop in loops}
    reduced = tuple(a for i, a in axes.items() if i not in element.index)
    by_index = axes | {a.index: a for a in element.axes}
    if not reduced or len(set(element.index)) != len(element.index) or not all(i in by_index for i in element.index):
        return None
    parallel = tuple(by_index[i] for i in element.index)  # type: ignore[index]
    before = needed_for((b for a in reduced for b in (a.lower, a.upper)), g.Block(body))
    if not _is_box(loops[0], parallel, reduced, before):
        return None
    body = tuple(s for s in body if s not in before)
    counters = [*axes, *(a.index for a in element.axes)]
    order = [*(a.index for a in parallel), *(a.index for a in reduced)]
    return Nest(given, parallel, reduced, before, body, step, counters == order)


def loops_in(r: g.For) -> tuple[tuple[g.For, ...], tuple[g.Stmt, ...]]:
    """A loop and those in it, one in the other, as far as each does all that its round does to the arrays; and what
    stands around the innermost one."""
    loops, around = [r], list[g.Stmt]()
    while (inner := _inner_loop(loops[-1])) is not None:
        around += loops[-1].body.statements[:-1]
        loops.append(inner)
    return tuple(loops), tuple(around)


def _inner_loop(r: g.For) -> g.For | None:
    """The loop that is all that becomes of the arrays in a round."""
    last = r.body.statements[-1] if r.body.statements else None
    if (
        isinstance(last, g.Let)
        and isinstance(last.rhs, g.For)
        and last.rhs.initial == r.params
        and r.body.results == last.targets
    ):
        inside = free(last.rhs.body)
        return None if any(p.name in inside for p in r.params) else last.rhs
    return None


def _element(body: g.Block, array: g.Var) -> _Element | None:
    """What a round does to an array, of which it gives a new version."""
    (result,) = body.results
    s = next((s for s in body.statements if isinstance(s, g.Let) and s.targets == (result,)), None)
    if s is None:
        return None
    others = tuple(x for x in body.statements if x is not s)
    if isinstance(s.rhs, g.WithLoop):
        return _of_cells(s.rhs, array, (), others)
    if not isinstance(s.rhs, g.Update) or s.rhs.array != array:
        return None
    index, value = s.rhs.index, s.rhs.value
    if len(index) == len(g.extents_of(array)):
        return _Element(index, (), others, value)
    row = next((x for x in others if isinstance(x, g.Let) and x.targets == (value,)), None)
    if row is None or not isinstance(row.rhs, g.WithLoop) or uses(body)[row.targets[0].name] != 1:
        return None
    return _of_cells(row.rhs, array, index, tuple(x for x in others if x is not row))


def _of_cells(w: g.WithLoop, array: g.Var, front: tuple[g.Atom, ...], others: tuple[g.Stmt, ...]) -> _Element | None:
    """The same where a with-loop computes the elements behind some indices."""
    if len(w.partitions) != 1 or len(w.operators) != 1 or w.frame != g.extents_of(array)[len(front) :]:
        return None
    (p,), (operator,) = w.partitions, w.operators
    changes = isinstance(operator, g.Modarray) and operator.array == array and not front
    makes = isinstance(operator, g.Genarray) and not operator.cell and w.complete
    if p.step is not None or not (changes or makes) or isinstance(p.body.results[0].type, g.ArrayType):
        return None
    axes = tuple(map(Axis, p.index, p.lower, p.upper))
    return _Element((*front, *p.index), axes, (*others, *p.body.statements), p.body.results[0])


def _is_box(outermost: g.For, parallel: Sequence[Axis], reduced: Sequence[Axis], before: Sequence[g.Stmt]) -> bool:
    """Whether the elements are a box that lies in the array, or above it, and each sees its own rounds: the loops that
    reduce it may begin and end where its indices say, by operations, which are `before`."""
    inside = bound(outermost.body) | {outermost.index.name}
    if any(isinstance(a.upper, g.Var) and a.upper.name in inside for a in parallel):
        return False
    if not all(isinstance(a.lower, g.Const) and a.lower.value >= 0 for a in parallel):
        return False
    bounds = g.Block(tuple(before), tuple(b for a in reduced for b in (a.lower, a.upper)))
    return all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op) for s in before) and not (
        free(bounds) & inside - {a.index.name for a in parallel}
    )


def loops_of(w: g.WithLoop) -> tuple[g.Fold, g.Partition] | None:
    """A fold that is the same as loops in order, one for each axis of its partition."""
    if len(w.operators) != 1 or len(w.partitions) != 1:
        return None
    (fold,), (p,) = w.operators, w.partitions
    return (fold, p) if isinstance(fold, g.Fold) and fold.stop is None and p.step is None and p.rank > 0 else None


def in_order(
    p: g.Partition, params: tuple[g.Var, ...], initial: tuple[g.Atom, ...], body: g.Block, names: Names
) -> g.For:
    """The loops over a partition's indices, one in the other, the last axis innermost. `params`: what the rounds of the
    innermost one carry; `body`: one of these."""
    for index, lower, upper in reversed(list(zip(p.index, p.lower, p.upper))[1:]):
        outer, targets = (tuple(names.var(v.name, v.type) for v in params) for _ in range(2))
        body = g.Block((g.Let(targets, g.For(index, lower, upper, 1, params, outer, body), p.span),), targets)
        params = outer
    return g.For(p.index[0], p.lower[0], p.upper[0], 1, params, initial, body)


def round_of(fold: g.Fold, p: g.Partition) -> g.Block:
    """What a round of such loops does: a term, and the fold's function."""
    taken = tuple(g.Let((v,), a) for v, a in zip(fold.values, p.body.results))
    return g.Block((*p.body.statements, *taken, *fold.combine.statements), fold.combine.results)
