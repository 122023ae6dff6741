"""Local simplification in one walk: constants, algebra, copies, decided conditions, selections composed, common
subexpressions.

    a = view m[i]                        b = load m[i,j]
    b = load a[j]               ->       check le 0, j
    check le 0, j
    check le 0, j

Passes that go over a function in this way hold a `Simplifier` and take over what they do another way; what is known
of ints (`ranges`) does the same, and decides operations that this one cannot.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

from sacpy.jit.ir.graph import (
    FALSE,
    TRUE,
    ArrayType,
    Atom,
    Block,
    Check,
    Cons,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    If,
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Operator,
    Partition,
    Propagate,
    Reshape,
    Rhs,
    ScalarType,
    Stmt,
    Unit,
    Update,
    Var,
    View,
    WithLoop,
    extents_of,
    integer,
    is_nested,
)
from sacpy.jit.ir.operations import TRANSCENDENTAL
from sacpy.jit.passes import algebra
from sacpy.jit.passes.cse import key_of
from sacpy.jit.passes.mappings import stands
from sacpy.jit.passes.units import per_function
from sacpy.jit.passes.walker import Walker
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import replace

SPECULATED = 8  # operations in the branches of a conditional up to which both are evaluated, and one result is selected


class Simplifier(Walker):
    """Simplifies a function. `available`: variables by the expression they hold."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.available: dict[Hashable, Var | None] = {}
        self.bodies = 0  # of with-loops around the place of the walk

    # ---- what holds

    def check(self, s: Check, condition: Atom) -> None:
        if condition == TRUE:
            return
        super().check(s, condition)
        self.assume(condition, True)

    def assume(self, condition: Atom, holds: bool) -> None:
        """Notes that a condition holds, or does not, until the scope ends."""
        if not isinstance(condition, Var):
            return
        self.note(self.env, condition.name, TRUE if holds else FALSE)
        rhs = self.definitions.get(condition.name)
        if not isinstance(rhs, Op):
            return
        if rhs.code == ("and" if holds else "or"):
            for a in rhs.args:
                self.assume(a, holds)
        elif rhs.code == "not":
            self.assume(rhs.args[0], not holds)
        elif rhs.code == "eq" and holds and rhs.args[0].base in ("int", "bool", "char"):
            a, b = rhs.args
            if (
                isinstance(a, Var)
                and isinstance(b, Var)
                and a.name not in self.definitions
                and b.name in self.definitions
            ):
                a, b = b, a  # what was given rather than what is computed
            if isinstance(a, Var):
                self.note(self.env, a.name, self.atom(b))

    # ---- statements

    def let(self, s: Let) -> None:
        rhs = s.rhs
        if is_nested(rhs):
            if isinstance(rhs, If):
                condition = self.atom(rhs.condition)
                if isinstance(condition, Const):
                    self.splice(s.targets, rhs.then if condition.value else rhs.otherwise)
                    return
            elif isinstance(rhs, Loop | For):
                s = self._without_constant_params(s, rhs)
        super().let(s)

    def splice(self, targets: tuple[Var, ...], b: Block) -> None:
        """Puts a block's statements here, and lets its results stand for the targets."""
        for s in b.statements:
            self.step(s)
        for target, result in zip(targets, self.atoms(b.results)):
            self.alias(target, result)

    def _without_constant_params(self, s: Let, rhs: Loop | For) -> Let:
        """Carried variables that never change are their initial values."""
        keep = []
        for k, (p, result) in enumerate(zip(rhs.params, rhs.body.results)):
            if result == p:
                self.alias(p, self.atom(rhs.initial[k]))
                self.alias(s.targets[k], self.atom(rhs.initial[k]))
            else:
                keep.append(k)
        if len(keep) == len(rhs.params):
            return s
        body = replace(rhs.body, results=tuple(rhs.body.results[k] for k in keep))
        new = replace(
            rhs, params=tuple(rhs.params[k] for k in keep), initial=tuple(rhs.initial[k] for k in keep), body=body
        )
        return Let(tuple(s.targets[k] for k in keep), new, s.span)

    def rhs(self, r: Rhs) -> Rhs:
        if is_nested(r) and isinstance(r, If):
            c = self.atom(r.condition)
            return If(
                c,
                self.inside(r.then, lambda: self.assume(c, True)),
                self.inside(r.otherwise, lambda: self.assume(c, False)),
            )
        if not isinstance(r, WithLoop):
            return super().rhs(r)
        self.bodies += 1
        try:
            return super().rhs(r)
        finally:
            self.bodies -= 1

    def laid_out(self, w: WithLoop, around: int = 0) -> bool:
        """Whether a with-loop is to have a kernel of its own, as a pragma says: then it stays one, however little it
        does. `around`: 1 while it is itself being walked."""
        return self.bodies == around and stands(w)

    # ---- definitions

    def define(self, targets: tuple[Var, ...], rhs: Rhs, span: Span = NOWHERE) -> None:
        if isinstance(rhs, Op):  # most are
            self._define_op(targets, rhs, span)
            return
        match rhs:
            case Var() | Const():
                self.alias(targets[0], rhs)
            case Load() | View() | Reshape() | Cons():
                self._define_selection(targets, rhs, span)
            case Update():
                self._define_update(targets, rhs, span)
            case If():
                self._define_if(targets, rhs, span)
            case For():
                if self.runs_never(rhs.lower, rhs.upper, rhs.step):
                    self.aliases(targets, rhs.initial)
                else:
                    super().define(targets, rhs, span)
            case WithLoop():
                self._define_with_loop(targets, rhs, span)
            case _:
                super().define(targets, rhs, span)

    def aliases(self, targets: tuple[Var, ...], atoms: tuple[Atom, ...]) -> None:
        """Lets atoms stand for variables."""
        for t, a in zip(targets, atoms):
            self.alias(t, a)

    def _define_op(self, targets: tuple[Var, ...], op: Op, span: Span) -> None:
        found: Atom | Op = op
        while isinstance(found, Op):
            simpler = self.simpler(found)
            if simpler is None:
                self._define_once(targets, found, span)
                return
            found = simpler
        self.alias(targets[0], found)

    def simpler(self, op: Op) -> Atom | Op | None:
        """What an operation may be replaced with."""
        return algebra.simplified(op, self.definition)

    def _define_once(self, targets: tuple[Var, ...], rhs: Rhs, span: Span) -> None:
        """Unless it has been computed already."""
        key = key_of(rhs)
        known = self.available.get(key)
        if known is not None:
            self.alias(targets[0], self.atom(known))
            return
        super().define(targets, rhs, span)
        self.note(self.available, key, self.env.get(targets[0].name, targets[0]))

    def anew(self, rhs: Rhs | None) -> None:
        """Has an expression computed again from here on, since more is known of its value than where it was first."""
        if rhs is not None:
            self.note(self.available, key_of(rhs), None)

    # ---- selections

    def _define_selection(self, targets: tuple[Var, ...], rhs: Load | View | Reshape | Cons, span: Span) -> None:
        while True:
            simpler = self._composed(rhs)
            if simpler is None:
                self._define_once(targets, rhs, span)
                return
            if isinstance(simpler, Var | Const):
                self.alias(targets[0], simpler)
                return
            rhs = simpler

    def _composed(self, rhs: Load | View | Reshape | Cons) -> Atom | Load | View | Reshape | None:
        if isinstance(rhs, Cons):
            return None
        array = self.definition(rhs.array)
        match rhs, array:
            case Reshape(), Reshape():
                return Reshape(array.array, rhs.extents)
            case Reshape(), _:
                assert isinstance(rhs.array.type, ArrayType)
                return rhs.array if rhs.extents == rhs.array.type.extents else None
            case ((Load() | View()), View()):
                return replace(rhs, array=array.array, index=(*array.index, *rhs.index))
            case Load(), Reshape():
                return self._through_reshape(rhs, array)
            case Load(), Cons():
                return _element(array, rhs.index)
            case ((Load() | View()), Update()):
                return self.past_update(rhs, array)
        return None

    def _through_reshape(self, load: Load, reshape: Reshape) -> Load | None:
        """An element of a vector in another shape; an element of an array that only got or lost axes of extent 1."""
        inner = reshape.array.type
        assert isinstance(inner, ArrayType)
        ones = [(e, i) for e, i in zip(reshape.extents, load.index) if e != integer(1)]
        if tuple(e for e, _ in ones) == tuple(e for e in inner.extents if e != integer(1)):
            rest = iter(ones)
            return Load(reshape.array, tuple(integer(0) if e == integer(1) else next(rest)[1] for e in inner.extents))
        if inner.rank != 1:
            return None
        position: Atom = load.index[0]
        for extent, i in zip(reshape.extents[1:], load.index[1:]):
            position = self.emit("at", Op("add", (self.emit("at", Op("mul", (position, extent), True)), i), True))
        return Load(reshape.array, (position,))

    def past_update(self, rhs: Load | View, update: Update) -> Atom | Load | View | None:
        """The element that an update set, or one that it certainly left alone."""
        if rhs.index == update.index:
            return update.value
        if (
            len(rhs.index) >= len(update.index)
            and rhs.index[: len(update.index)] == update.index
            and isinstance(update.value, Var)
        ):
            return replace(rhs, array=update.value, index=rhs.index[len(update.index) :])
        if any(self.differ(a, b) for a, b in zip(rhs.index, update.index)):
            return replace(rhs, array=update.array)
        return None

    def differ(self, a: Atom, b: Atom) -> bool:
        """Whether two integers are certainly different."""
        return isinstance(a, Const) and isinstance(b, Const) and a != b

    def _define_update(self, targets: tuple[Var, ...], update: Update, span: Span) -> None:
        """A part that is replaced with single elements is so element by element, and no array is made of them."""
        cells = self.definition(update.value)
        if not isinstance(cells, Cons) or not cells.elements:
            super().define(targets, update, span)
            return
        *before, last = zip(product(*(range(e) for e in cells.extents)), cells.elements)
        array = update.array
        for place, element in before:
            changed = self.supply.var(targets[0].name, targets[0].type)
            super().define((changed,), Update(array, (*update.index, *map(integer, place)), element), span)
            array = self.var(changed)
        super().define(targets, Update(array, (*update.index, *map(integer, last[0])), last[1]), span)

    # ---- conditionals

    def _define_if(self, targets: tuple[Var, ...], r: If, span: Span) -> None:
        keep = [k for k, (a, b) in enumerate(zip(r.then.results, r.otherwise.results)) if a != b]
        if len(keep) < len(targets):
            for k in sorted(set(range(len(targets))) - set(keep)):
                self.alias(targets[k], r.then.results[k])
            targets = tuple(targets[k] for k in keep)
            r = If(r.condition, *(replace(b, results=tuple(b.results[k] for k in keep)) for b in (r.then, r.otherwise)))
        if not targets and not _checks(r.then) and not _checks(r.otherwise):
            return
        if not _speculable(r):
            super().define(targets, r, span)
            return
        for b in (r.then, r.otherwise):
            for s in b.statements:
                self.step(speculated(s))
        for t, then, otherwise in zip(targets, self.atoms(r.then.results), self.atoms(r.otherwise.results)):
            self.define((t,), Op("select", (r.condition, then, otherwise)), span)

    # ---- loops

    def runs_never(self, lower: Atom, upper: Atom, step: int = 1) -> bool:
        """Whether nothing lies between two bounds."""
        if isinstance(lower, Const) and isinstance(upper, Const):
            return lower.value >= upper.value if step > 0 else lower.value <= upper.value
        return lower == upper

    def _define_with_loop(self, targets: tuple[Var, ...], w: WithLoop, span: Span) -> None:
        kept = [p for p in w.partitions if not any(self.runs_never(lo, up) for lo, up in zip(p.lower, p.upper))]
        if len(w.partitions) > 1 and any(isinstance(o, Fold) for o in w.operators):
            kept = list(w.partitions)  # an empty one adds its neutral, which programs may have chosen badly
        if w.frame is not None and all(isinstance(o, Genarray | Modarray) for o in w.operators):
            kept = _visible(kept, w.frame)
        if len(kept) < len(w.partitions):
            w = replace(w, partitions=tuple(kept))
        if not kept and not any(isinstance(o, Genarray) for o in w.operators):
            initial: list[Atom] = []
            for o in w.operators:
                initial += (
                    (o.array,)
                    if isinstance(o, Modarray)
                    else o.neutrals
                    if isinstance(o, Fold)
                    else o.initial
                    if isinstance(o, Propagate)
                    else ()
                )
            self.aliases(targets, tuple(initial))
            return
        if any(isinstance(o, Modarray) for o in w.operators):
            w = replace(w, operators=tuple(self.filled(o, w) if isinstance(o, Modarray) else o for o in w.operators))
        if len(targets) == 1 and not self.laid_out(w) and (source := self.copied_array(w)) is not None:
            self.alias(targets[0], source)
            return
        super().define(targets, w, span)

    def filled(self, o: Modarray, w: WithLoop) -> Operator:
        """Replacing cells of an array that is full of one scalar as making one, which fills what is not replaced
        only."""
        made = self.definition(o.array)
        if isinstance(made, WithLoop) and not made.partitions and w.frame is not None and len(made.operators) == 1:
            (fill,) = made.operators
            if isinstance(fill, Genarray) and isinstance(fill.default.type, ScalarType):
                return Genarray(fill.base, extents_of(o.array)[len(w.frame) :], fill.default)
        return o

    def copied_array(self, w: WithLoop) -> Var | None:
        """The array that a with-loop copies, element by element."""
        if (
            w.frame is None
            or len(w.partitions) != 1
            or not isinstance(w.operators[0], Genarray)
            or not whole(w.partitions[0], w.frame)
        ):
            return None
        value = w.partitions[0].body.results[0]
        rhs = self.definition(value)
        if isinstance(rhs, Cons):
            loads = [self.definition(e) for e in rhs.elements]
            first = loads[0] if loads else None
            if not isinstance(first, Load):
                return None
            cells = product(*(range(e) for e in rhs.extents))
            frame = first.index[: len(w.frame)]
            if any(x != Load(first.array, (*frame, *map(integer, c))) for x, c in zip(loads, cells)):
                return None
            rhs = View(first.array, frame)
        if not isinstance(rhs, Load | View) or rhs.index != w.partitions[0].index:
            return None
        source = self.var(rhs.array)
        return source if extents_of(source) == (*w.frame, *w.operators[0].cell) else None


def whole(p: Partition, frame: tuple[Atom, ...]) -> bool:
    """Whether a partition covers all of a frame."""
    return p.step is None and p.upper == frame and all(a == integer(0) for a in p.lower)


def _visible(partitions: list[Partition], frame: tuple[Atom, ...]) -> list[Partition]:
    """Those that are not behind one that covers everything."""
    for k, p in enumerate(partitions):
        if whole(p, frame):
            return partitions[: k + 1]
    return partitions


def _element(c: Cons, index: tuple[Atom, ...]) -> Atom | None:
    position = 0
    for extent, i in zip(c.extents, index):
        if not isinstance(i, Const):
            return None
        position = position * extent + int(i.value)
    return c.elements[position] if 0 <= position < len(c.elements) else None


def _checks(b: Block) -> bool:
    return any(isinstance(s, Check) or not isinstance(s.rhs, Op) for s in b.statements)


def speculated(s: Stmt) -> Stmt:
    """An operation that is evaluated where it was not: it may wrap there."""
    return (
        replace(s, rhs=replace(s.rhs, exact=False))
        if isinstance(s, Let) and isinstance(s.rhs, Op) and s.rhs.exact
        else s
    )


def _speculable(r: If) -> bool:
    """Whether both branches may be evaluated: few cheap operations, which are total, and scalar results."""
    found: list[Stmt] = [*r.then.statements, *r.otherwise.statements]
    if len(found) > SPECULATED or any(not isinstance(a.type, ScalarType) for a in r.then.results):
        return False
    return all(isinstance(s, Let) and isinstance(s.rhs, Op) and s.rhs.code not in TRANSCENDENTAL for s in found)


def simplify(function: Function) -> Function:
    """A function, simplified."""
    return Simplifier(function).function(function)


def run(unit: Unit) -> Unit:
    """A unit, simplified."""
    return per_function(unit, simplify)
