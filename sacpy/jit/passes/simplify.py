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

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.operations import ROUTINES
from sacpy.jit.ir.rewrite import bound, has_only, rights
from sacpy.jit.passes import algebra
from sacpy.jit.passes.cse import key_of
from sacpy.jit.passes.mappings import forced, is_program, stands
from sacpy.jit.passes.units import on_functions
from sacpy.jit.passes.walker import Walker
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import replace

SPECULATED = 8  # operations in the branches of a conditional up to which both are evaluated, and one result is selected


class Simplifier(Walker):
    """Simplifies a function. `available`: variables by the expression they hold."""

    def __init__(self, function: g.Function) -> None:
        super().__init__(function)
        self.available: dict[Hashable, g.Var | None] = {}
        self.bodies = 0  # of with-loops around the place of the walk
        self.speculated = SPECULATED

    # ---- what holds

    def check(self, s: g.Check, condition: g.Atom) -> None:
        if condition == g.TRUE:
            return
        super().check(s, condition)
        self.assume(condition, True)

    def assume(self, condition: g.Atom, holds: bool) -> None:
        """Notes that a condition holds, or does not, until the scope ends."""
        if not isinstance(condition, g.Var):
            return
        self.note(self.env, condition.name, g.TRUE if holds else g.FALSE)
        rhs = self.definitions.get(condition.name)
        if isinstance(rhs, g.If) and len(rhs.then.results) == 1:
            for taken, (a,), (other,) in (
                (True, rhs.then.results, rhs.otherwise.results),
                (False, rhs.otherwise.results, rhs.then.results),
            ):
                if other == (g.FALSE if holds else g.TRUE):
                    self.assume(rhs.condition, taken)
                    self.assume(a, holds)
        if not isinstance(rhs, g.Op):
            return
        if rhs.code == ("and" if holds else "or"):
            for a in rhs.args:
                self.assume(a, holds)
        elif rhs.code == "not":
            self.assume(rhs.args[0], not holds)
        elif rhs.code == "eq" and holds and rhs.args[0].base in ("int", "bool", "char"):
            a, b = rhs.args
            if (
                isinstance(a, g.Var)
                and isinstance(b, g.Var)
                and a.name not in self.definitions
                and b.name in self.definitions
            ):
                a, b = b, a  # what was given rather than what is computed
            if isinstance(a, g.Var):
                self.note(self.env, a.name, self.atom(b))

    # ---- statements

    def let(self, s: g.Let) -> None:
        rhs = s.rhs
        if g.is_nested(rhs):
            if isinstance(rhs, g.If):
                condition = self.atom(rhs.condition)
                if isinstance(condition, g.Const):
                    self.splice(s.targets, rhs.then if condition.value else rhs.otherwise)
                    return
            elif isinstance(rhs, g.Loop | g.For):
                s = self._without_constant_params(s, rhs)
        super().let(s)

    def splice(self, targets: tuple[g.Var, ...], b: g.Block) -> None:
        """Puts a block's statements here, and lets its results stand for the targets."""
        for s in b.statements:
            self.step(s)
        for target, result in zip(targets, self.atoms(b.results)):
            self.alias(target, result)

    def _without_constant_params(self, s: g.Let, rhs: g.Loop | g.For) -> g.Let:
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
        return g.Let(tuple(s.targets[k] for k in keep), new, s.span)

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if g.is_nested(r) and isinstance(r, g.If):
            c = self.atom(r.condition)
            return g.If(
                c,
                self.inside(r.then, lambda: self.assume(c, True)),
                self.inside(r.otherwise, lambda: self.assume(c, False)),
            )
        if not isinstance(r, g.WithLoop):
            return super().rhs(r)
        inner = not is_program(r)
        self.bodies += inner
        try:
            return super().rhs(r)
        finally:
            self.bodies -= inner

    def laid_out(self, w: g.WithLoop, around: int = 0) -> bool:
        """Whether a with-loop is to have a kernel of its own, as a pragma says: then it stays one, however little it
        does. `around`: 1 while it is itself being walked."""
        return forced(w) or (self.bodies == around * (not is_program(w)) and stands(w))

    # ---- definitions

    def define(self, targets: tuple[g.Var, ...], rhs: g.Rhs, span: Span = NOWHERE) -> None:
        if isinstance(rhs, g.Op):  # most are
            self._define_op(targets, rhs, span)
            return
        match rhs:
            case g.Var() | g.Const():
                self.alias(targets[0], rhs)
            case g.Load() | g.View() | g.Reshape() | g.Cons():
                self._define_selection(targets, rhs, span)
            case g.Update():
                self._define_update(targets, rhs, span)
            case g.If():
                self._define_if(targets, rhs, span)
            case g.Loop():
                self._define_rounds(targets, rhs, span)
            case g.For():
                if self.runs_never(rhs.lower, rhs.upper, rhs.step):
                    self.aliases(targets, rhs.initial)
                else:
                    self._define_rounds(targets, rhs, span)
            case g.WithLoop():
                self._define_with_loop(targets, rhs, span)
            case _:
                super().define(targets, rhs, span)

    def _define_rounds(self, targets: tuple[g.Var, ...], r: g.For | g.Loop, span: Span) -> None:
        super().define(targets, r, span)

    def aliases(self, targets: tuple[g.Var, ...], atoms: tuple[g.Atom, ...]) -> None:
        """Lets atoms stand for variables."""
        for t, a in zip(targets, atoms):
            self.alias(t, a)

    def _define_op(self, targets: tuple[g.Var, ...], op: g.Op, span: Span) -> None:
        found: g.Atom | g.Op = op
        while isinstance(found, g.Op):
            simpler = self.simpler(found)
            if simpler is None:
                self._define_once(targets, found, span)
                return
            found = simpler
        self.alias(targets[0], found)

    def simpler(self, op: g.Op) -> g.Atom | g.Op | None:
        """What an operation may be replaced with."""
        return algebra.simplified(op, self.definition)

    def _define_once(self, targets: tuple[g.Var, ...], rhs: g.Rhs, span: Span) -> None:
        """Unless it has been computed already."""
        key = key_of(rhs)
        known = self.available.get(key)
        if known is not None:
            self.alias(targets[0], self.atom(known))
            return
        super().define(targets, rhs, span)
        self.note(self.available, key, self.env.get(targets[0].name, targets[0]))

    def anew(self, rhs: g.Rhs | None) -> None:
        """Has an expression computed again from here on, since more is known of its value than where it was first."""
        if rhs is not None:
            self.note(self.available, key_of(rhs), None)

    # ---- selections

    def _define_selection(
        self, targets: tuple[g.Var, ...], rhs: g.Load | g.View | g.Reshape | g.Cons, span: Span
    ) -> None:
        while True:
            simpler = self._composed(rhs)
            if simpler is None:
                self._define_once(targets, rhs, span)
                return
            if isinstance(simpler, g.Var | g.Const):
                self.alias(targets[0], simpler)
                return
            rhs = simpler

    def _composed(self, rhs: g.Load | g.View | g.Reshape | g.Cons) -> g.Atom | g.Load | g.View | g.Reshape | None:
        if isinstance(rhs, g.Cons):
            return None
        array = self.definition(rhs.array)
        match rhs, array:
            case g.Reshape(), g.Reshape():
                return g.Reshape(array.array, rhs.extents)
            case g.Reshape(), _:
                assert isinstance(rhs.array.type, g.ArrayType)
                return rhs.array if rhs.extents == rhs.array.type.extents else None
            case ((g.Load() | g.View()), g.View()):
                return replace(rhs, array=array.array, index=(*array.index, *rhs.index))
            case g.Load(), g.Reshape():
                return self._through_reshape(rhs, array)
            case g.Load(), g.Cons():
                return _element(array, rhs.index)
            case ((g.Load() | g.View()), g.Update()):
                return self.past_update(rhs, array)
        return None

    def _through_reshape(self, load: g.Load, reshape: g.Reshape) -> g.Load | None:
        """An element of a vector in another shape; an element of an array that only got or lost axes of extent 1."""
        inner = reshape.array.type
        assert isinstance(inner, g.ArrayType)
        ones = [(e, i) for e, i in zip(reshape.extents, load.index) if e != g.integer(1)]
        if tuple(e for e, _ in ones) == tuple(e for e in inner.extents if e != g.integer(1)):
            rest = iter(ones)
            return g.Load(
                reshape.array, tuple(g.integer(0) if e == g.integer(1) else next(rest)[1] for e in inner.extents)
            )
        if inner.rank != 1:
            return None
        position: g.Atom = load.index[0]
        for extent, i in zip(reshape.extents[1:], load.index[1:]):
            position = self.op("at", "add", self.op("at", "mul", position, extent, exact=True), i, exact=True)
        return g.Load(reshape.array, (position,))

    def past_update(self, rhs: g.Load | g.View, update: g.Update) -> g.Atom | g.Load | g.View | None:
        """The element that an update set, or one that it certainly left alone."""
        if rhs.index == update.index:
            return update.value
        if (
            len(rhs.index) >= len(update.index)
            and rhs.index[: len(update.index)] == update.index
            and isinstance(update.value, g.Var)
        ):
            return replace(rhs, array=update.value, index=rhs.index[len(update.index) :])
        if any(self.differ(a, b) for a, b in zip(rhs.index, update.index)):
            return replace(rhs, array=update.array)
        return None

    def differ(self, a: g.Atom, b: g.Atom) -> bool:
        """Whether two integers are certainly different."""
        return isinstance(a, g.Const) and isinstance(b, g.Const) and a != b

    def _define_update(self, targets: tuple[g.Var, ...], update: g.Update, span: Span) -> None:
        """A part that is replaced with single elements is so element by element, and no array is made of them."""
        cells = self.definition(update.value)
        if not isinstance(cells, g.Cons) or not cells.elements:
            super().define(targets, update, span)
            return
        *before, last = zip(product(*(range(e) for e in cells.extents)), cells.elements)
        array = update.array
        for place, element in before:
            changed = self.supply.var(targets[0].name, targets[0].type)
            super().define((changed,), g.Update(array, (*update.index, *map(g.integer, place)), element), span)
            array = self.var(changed)
        super().define(targets, g.Update(array, (*update.index, *map(g.integer, last[0])), last[1]), span)

    # ---- conditionals

    def _define_if(self, targets: tuple[g.Var, ...], r: g.If, span: Span) -> None:
        keep = [k for k, (a, b) in enumerate(zip(r.then.results, r.otherwise.results)) if a != b]
        if len(keep) < len(targets):
            for k in sorted(set(range(len(targets))) - set(keep)):
                self.alias(targets[k], r.then.results[k])
            targets = tuple(targets[k] for k in keep)
            r = g.If(
                r.condition, *(replace(b, results=tuple(b.results[k] for k in keep)) for b in (r.then, r.otherwise))
            )
        if not targets and not _checks(r.then) and not _checks(r.otherwise):
            return
        if not self._speculable(r):
            super().define(targets, r, span)
            return
        for b in (r.then, r.otherwise):
            for s in b.statements:
                self.step(speculated(s))
        for t, then, otherwise in zip(targets, self.atoms(r.then.results), self.atoms(r.otherwise.results)):
            self.define((t,), g.Op("select", (r.condition, then, otherwise)), span)

    def _speculable(self, r: g.If) -> bool:
        """Whether both branches may be evaluated: few cheap operations, which are total, elements that are there, and
        scalar results."""
        both = g.Block((*r.then.statements, *r.otherwise.statements))
        if len(both.statements) > self.speculated or any(map(g.extents_of, r.then.results)):
            return False
        return (
            has_only(both, g.Op, g.Load)
            and all(op.code not in ROUTINES for op in rights(both, g.Op))
            and all(map(self.is_there, rights(both, g.Load)))
        )

    def is_there(self, load: g.Load) -> bool:
        """Whether an element that is loaded under a condition may be loaded without."""
        return False

    # ---- loops

    def runs_never(self, lower: g.Atom, upper: g.Atom, step: int = 1) -> bool:
        """Whether nothing lies between two bounds."""
        if isinstance(lower, g.Const) and isinstance(upper, g.Const):
            return lower.value >= upper.value if step > 0 else lower.value <= upper.value
        return lower == upper

    def _define_with_loop(self, targets: tuple[g.Var, ...], w: g.WithLoop, span: Span) -> None:
        kept = [p for p in w.partitions if not any(self.runs_never(lo, up) for lo, up in zip(p.lower, p.upper))]
        if len(w.partitions) > 1 and any(isinstance(o, g.Fold) for o in w.operators):
            kept = list(w.partitions)  # an empty one adds its neutral, which programs may have chosen badly
        if w.frame is not None and all(isinstance(o, g.Genarray | g.Modarray) for o in w.operators):
            kept = _visible(kept, w.frame)
        if len(kept) < len(w.partitions):
            w = replace(w, partitions=tuple(kept))
        if not kept and not any(isinstance(o, g.Genarray) for o in w.operators):
            initial: list[g.Atom] = []
            for o in w.operators:
                initial += (
                    (o.array,)
                    if isinstance(o, g.Modarray)
                    else o.neutrals
                    if isinstance(o, g.Fold)
                    else o.initial
                    if isinstance(o, g.Propagate)
                    else ()
                )
            self.aliases(targets, tuple(initial))
            return
        if any(isinstance(o, g.Modarray) for o in w.operators):
            w = replace(w, operators=tuple(self.filled(o, w) if isinstance(o, g.Modarray) else o for o in w.operators))
        if len(targets) == 1 and not self.laid_out(w) and (source := self.copied_array(w)) is not None:
            self.alias(targets[0], source)
        elif len(targets) == 1 and key_of(w) is not None:
            self._define_once(targets, w, span)
        else:
            super().define(targets, w, span)

    def filled(self, o: g.Modarray, w: g.WithLoop) -> g.Operator:
        """Replacing cells of an array that is full of one scalar as making one, which fills what is not replaced
        only."""
        made = self.definition(o.array)
        if isinstance(made, g.WithLoop) and not made.partitions and w.frame is not None and len(made.operators) == 1:
            (fill,) = made.operators
            if isinstance(fill, g.Genarray) and isinstance(fill.default.type, g.ScalarType):
                return g.Genarray(fill.base, g.extents_of(o.array)[len(w.frame) :], fill.default)
        return o

    def copied_array(self, w: g.WithLoop) -> g.Var | None:
        """The array that a with-loop copies, element by element."""
        if (
            w.frame is None
            or len(w.partitions) != 1
            or not isinstance(w.operators[0], g.Genarray)
            or not whole(w.partitions[0], w.frame)
        ):
            return None
        value = w.partitions[0].body.results[0]
        rhs = self.definition(value)
        if isinstance(rhs, g.Cons):
            loads = [self.definition(e) for e in rhs.elements]
            first = loads[0] if loads else None
            if not isinstance(first, g.Load):
                return None
            cells = product(*(range(e) for e in rhs.extents))
            frame = first.index[: len(w.frame)]
            if any(x != g.Load(first.array, (*frame, *map(g.integer, c))) for x, c in zip(loads, cells)):
                return None
            rhs = g.View(first.array, frame)
        if not isinstance(rhs, g.Load | g.View) or rhs.index != w.partitions[0].index:
            return None
        source = self.var(rhs.array)
        if source.name in bound(w.partitions[0].body):  # another one for each index
            return None
        return source if g.extents_of(source) == (*w.frame, *w.operators[0].cell) else None


def whole(p: g.Partition, frame: tuple[g.Atom, ...]) -> bool:
    """Whether a partition covers all of a frame."""
    return p.step is None and p.upper == frame and all(a == g.integer(0) for a in p.lower)


def _visible(partitions: list[g.Partition], frame: tuple[g.Atom, ...]) -> list[g.Partition]:
    """Those that are not behind one that covers everything."""
    for k, p in enumerate(partitions):
        if whole(p, frame):
            return partitions[: k + 1]
    return partitions


def _element(c: g.Cons, index: tuple[g.Atom, ...]) -> g.Atom | None:
    position = 0
    for extent, i in zip(c.extents, index):
        if not isinstance(i, g.Const):
            return None
        position = position * extent + int(i.value)
    return c.elements[position] if 0 <= position < len(c.elements) else None


def _checks(b: g.Block) -> bool:
    return any(isinstance(s, g.Check) or not isinstance(s.rhs, g.Op) for s in b.statements)


def speculated(s: g.Stmt) -> g.Stmt:
    """An operation that is evaluated where it was not: it may wrap there."""
    return (
        replace(s, rhs=replace(s.rhs, exact=False))
        if isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.exact
        else s
    )


@on_functions
def run(function: g.Function) -> g.Function:
    """A unit, simplified."""
    return Simplifier(function).function(function)
