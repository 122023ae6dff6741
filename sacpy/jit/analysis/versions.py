"""Versions of arrays: what an array of a block becomes, by updates, in branches and in loops.

In: a block, and the names of arrays from outside of it. Out: `Followed`: each read and each update of them, whatever
name the version has by then, and which array each result of the block is a version of.

    u = update a[i] with x                a, then u, then t, then v, then b: versions of one array, of which each is
    b = for j .. with t := u              made of the one before, and nobody looks at that again: all may lie in one
      y = load t[j,i]                     place. Written is [i], [j,i]; read is [j,i].
      v = update t[j,i] with y
      next v
    next b

Nothing is said of an array of which an older version is looked at after there is a newer one, or that goes by two
names at a time (a view, an alias of which the other name is used again), or goes elsewhere (into calls, into what is no
update).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.analysis.access import Access, accesses
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.nodes import Node, Record, field


class Use(Node):
    """A read of an array, or an update of it at an index. `array`: the name that it had outside."""

    array: str
    access: Access
    update: g.Update | None = None


class Followed(Record):
    """`now`: under which name each array, known by the name it had outside, can be found; `uses`: in the order of the
    text; `results`: for each result of the block which array it is, None for others; `in_loops`: those that loops and
    with-loops carry or read."""

    now: dict[str, str]
    old: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    results: list[str | None] = field(default_factory=list)
    in_loops: set[str] = field(default_factory=set)

    def _is_ours(self, name: str) -> bool:
        return name in self.old or name in self.now.values()

    def _array(self, a: g.Atom) -> str | None:
        """The array that has its newest version under a name."""
        return self._named(a.name) if isinstance(a, g.Var) else None

    def _named(self, name: str) -> str | None:
        return next((array for array, now in self.now.items() if now == name), None)

    def _move(self, array: str, name: str) -> None:
        """From now on the array goes by another name, and the old one must not be used."""
        self.old.add(self.now[array])
        self.now[array] = name

    # ---- statements

    def _ends(self, b: g.Block) -> list[str | None] | None:
        """Follows arrays through a block: which array each of its results is; None where that is not known."""
        if not all(map(self._statement, b.statements)):
            return None
        if any(isinstance(a, g.Var) and a.name in self.old for a in b.results):
            return None
        found = list(map(self._array, b.results))
        arrays = [array for array in found if array is not None]
        return found if len(arrays) == len(set(arrays)) else None

    def _statement(self, s: g.Stmt) -> bool:
        if isinstance(s, g.Check):
            return True
        mine = [a.name for a in g.operands(s.rhs) if isinstance(a, g.Var) and self._is_ours(a.name)]
        match s.rhs:
            case g.Load(array=array, index=index) if mine:
                found = self._array(array)
                if found is not None:
                    self.uses.append(Use(found, Access(index, True)))
                return found is not None
            case g.Var() as same if mine:
                found = self._array(same)
                if found is not None:
                    self._move(found, s.targets[0].name)
                return found is not None
            case g.Update() as update if mine:
                return self._update(s.targets[0], update)
            case g.If(then=then, otherwise=otherwise):
                return self._branches(s.targets, (then, otherwise))
            case g.Loop(params=params, initial=initial, condition=condition, body=body):
                return self._rounds(s.targets, params, initial, body, condition)
            case g.For(params=params, initial=initial, body=body):
                return self._rounds(s.targets, params, initial, body)
            case g.WithLoop() as w if not mine:
                return self._cells(w)
        return not mine and not any(self._is_ours(name) for b in g.blocks(s.rhs) for name in free(b))

    def _update(self, target: g.Var, r: g.Update) -> bool:
        """An array that is the value is read as a whole."""
        if isinstance(r.value, g.Var) and self._is_ours(r.value.name):
            whole = self._array(r.value)
            if whole is None:
                return False
            self.uses.append(Use(whole, Access(())))
        if not self._is_ours(r.array.name):
            return True
        array = self._array(r.array)
        if array is None or r.value == r.array:
            return False
        self.uses.append(Use(array, Access(r.index, not g.extents_of(r.value)), r))
        self._move(array, target.name)
        return True

    def _branches(self, targets: Sequence[g.Var], both: Sequence[g.Block]) -> bool:
        before, old = dict(self.now), set(self.old)
        ends: list[list[str | None]] = []
        for b in both:
            self.now, self.old = dict(before), set(old)
            found = self._ends(b)
            if found is None or not {array for array, now in self.now.items() if now != before[array]} <= set(found):
                return False
            ends.append(found)
        if ends[0] != ends[1]:
            return False
        self.now, self.old = before, old
        for t, array in zip(targets, ends[0]):
            if array is not None:
                self._move(array, t.name)
        return True

    def _rounds(
        self,
        targets: Sequence[g.Var],
        params: Sequence[g.Var],
        initial: Sequence[g.Atom],
        body: g.Block,
        condition: g.Block | None = None,
    ) -> bool:
        """A loop: it may carry arrays on, each once, and each in its place."""
        carried = list(map(self._array, initial))
        arrays = [array for array in carried if array is not None]
        if any(isinstance(a, g.Var) and a.name in self.old for a in initial) or len(arrays) != len(set(arrays)):
            return False
        self.in_loops.update(arrays)
        before = len(self.uses)
        for p, array in zip(params, carried):
            if array is not None:
                self._move(array, p.name)
        if condition is not None and self._ends(condition) != [None] * len(condition.results):
            return False
        if self._ends(body) != carried:
            return False
        self.in_loops.update(u.array for u in self.uses[before:])
        for t, array in zip(targets, carried):
            if array is not None:
                self._move(array, t.name)
        return True

    def _cells(self, w: g.WithLoop) -> bool:
        """A with-loop that reads arrays in its bodies."""
        for b in g.blocks(w):
            for name in free(b):
                if self._is_ours(name):
                    array = self._named(name)
                    if array is None:
                        return False
                    self.in_loops.add(array)
                    self.uses += [Use(array, access) for access in accesses(b, name)]
        return True


def follow(b: g.Block, names: Iterable[str]) -> Followed | None:
    """What becomes of arrays in a block; None where that is not known."""
    found = Followed({name: name for name in names})
    ends = found._ends(b)
    if ends is None:
        return None
    found.results = ends
    return found


def handed_on(loop: g.For | g.Loop, at: int) -> bool:
    """Whether an array that a loop carries can stay in one place: every round updates it, or hands it on, and looks at
    no other version of it."""
    name = loop.params[at].name
    if isinstance(loop, g.Loop):
        test = follow(loop.condition, (name,))
        if test is None or test.now[name] != name or name in test.results:
            return False
    body = follow(loop.body, (name,))
    return body is not None and body.results[at] == name


def is_updated(body: g.Block, name: str) -> bool:
    """Whether a loop's body updates (directly, in a branch, or in an inner loop) the array that it carries under a
    name."""
    return _updated(body, {name})


def _updated(body: g.Block, names: set[str]) -> bool:
    """The same for an array that goes by several names: aliases, those in branches and of inner loops."""
    for s in body.statements:
        if not isinstance(s, g.Let):
            continue
        match s.rhs:
            case g.Update(array=g.Var(name=name)) if name in names:
                return True
            case g.Var(name=name) if name in names:
                names.add(s.targets[0].name)
            case g.If(then=then, otherwise=otherwise):
                if _updated(then, names) or _updated(otherwise, names):
                    return True
            case g.Loop(params=params, initial=initial, body=inner) | g.For(params=params, initial=initial, body=inner):
                names |= {p.name for p, a in zip(params, initial) if isinstance(a, g.Var) and a.name in names}
                if _updated(inner, names):
                    return True
            case g.WithLoop(operators=operators):
                if any(isinstance(o, g.Modarray) and o.array.name in names for o in operators):
                    return True
    return False
