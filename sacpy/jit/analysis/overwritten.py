"""What is read of an array while a part of it is made anew in its memory.

In: a block, an array, the place of a part in it. Out: `Old`: whether everybody who reads the array from a statement on
finds what was there: elsewhere than in the part, along some axis; or in an element that is only set later.

    v = view a[i]
    r = for j from 1 to m step 1 with s := v        in a[i]; round j sets a[i,j], and has read it before;
      x = load a[i,j]                               a[i,k] is set in a later round if k is j + 1
      u = update s[j] with ..
      next u
    b = update a[i] with r
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from sacpy.jit.analysis.access import Access
from sacpy.jit.analysis.forms import numbers, strides
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import Makers, only_loads
from sacpy.jit.analysis.projections import Projection, Shift
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound
from sacpy.withloop.linear import Number, name
from sacpy.withloop.lmads import Lmad, apart

Index = tuple[g.Atom, ...]
Form = Callable[[g.Atom], Number]  # an int as a sum of names


class Old:
    """`array`: as it is before the part is made; `names`: the arrays that become the part,
    `made`: the numbers of the statements that make them; `aliases`: the array and the
    views of it in the block, each with the index that it is at; `views`: those views; `last`: the number of the last
    statement that uses one of them."""

    def __init__(
        self,
        block: g.Block,
        array: g.Var,
        part: g.Var,
        at: Projection,
        ints: Ints,
        makers: Makers,
    ) -> None:
        self.makers = makers
        self.names = {part.name, *makers.chain(part.name).names}
        self.made = sorted(makers.makers[name] for name in self.names)
        self.block, self.array, self.at, self.forms = block, array, at, ints.forms
        self.form = ints.forms.form
        self.extents = list(map(self.form, g.extents_of(part)))
        self.aliases: dict[str, Index] = {array.name: ()}
        for s in block.statements:
            if isinstance(s, g.Let) and isinstance(s.rhs, g.View) and s.rhs.array.name in self.aliases:
                self.aliases[s.targets[0].name] = (*self.aliases[s.rhs.array.name], *s.rhs.index)
        self.views = frozenset(self.aliases) - {array.name}
        self.last = max((k for name in self.aliases for k in makers.users.get(name, ())), default=-1)

    def is_there(self, source: g.Var) -> bool:
        """Whether a view is that of the part, as it is before."""
        index = self.aliases.get(source.name)
        fixed = [a for a in self.at if not isinstance(a, Shift)]
        return (
            index is not None
            and source != self.array
            and len(index) == len(fixed)
            and all(not isinstance(a, Shift) and self.form(a) == self.form(b) for a, b in zip(self.at, index))
            and all(self.form(a.start) == 0 for a in self.at if isinstance(a, Shift))
        )

    def copies(self, s: g.Stmt) -> bool:
        """Whether a statement makes a copy of the part, as it is before."""
        return (
            isinstance(s, g.Let)
            and isinstance(s.rhs, g.WithLoop)
            and s.rhs.complete
            and all(map(self.is_copy, s.rhs.partitions))
        )

    def is_copy(self, p: g.Partition) -> bool:
        """Whether a partition of a with-loop that makes the part gives the elements that are there."""
        last = p.body.statements[-1] if p.body.statements else None
        if (
            not isinstance(last, g.Let)
            or not isinstance(last.rhs, g.Load)
            or last.rhs.array.name not in self.aliases
            or p.body.results != last.targets
            or len(p.index) != len(self.extents)
        ):
            return False
        index = self.in_part(self.whole_index(last.rhs.array.name, last.rhs.index))
        return len(index) == len(p.index) and all(index[k] == name(i.name) for k, i in enumerate(p.index))

    def stays_readable(self, first: int, point: int, *, starts_there: bool) -> bool:
        """Whether all that is read of the array by the statements from one number on, up to that of the point, is as it
        was. `starts_there`: the part begins with what is there."""
        setter = self.setter(first) if starts_there else -1
        for number, s in enumerate(self.block.statements):
            names = self.aliases.keys() & _names(s)
            if not names:
                continue
            if number < first or number == point:
                if not all(self.is_harmless(s, name, point == number) for name in names):
                    return False
            elif not self.reads_what_was(s, names, number in (first, setter) and starts_there, number == setter):
                return False
        return not any(isinstance(a, g.Var) and a.name in self.aliases for a in self.block.results)

    def is_harmless(self, s: g.Stmt, name: str, at_point: bool) -> bool:
        """Whether a statement keeps no reference to a view, and reads nothing at the point."""
        if at_point:
            if name != self.array.name or not isinstance(s, g.Let):
                return False
            return not isinstance(s.rhs, g.WithLoop) or all(
                self.block_reads(p.body, (name,), None) for p in s.rhs.partitions
            )
        if name == self.array.name or (isinstance(s, g.Let) and isinstance(s.rhs, g.View)):
            return True
        return only_loads(s, name)

    def setter(self, first: int) -> int:
        """The number of the statement that is the first to change the part, which begins with what is there."""
        if not self.copies(self.block.statements[first]):
            return first
        return min((n for n in self.made if n > first), default=-1)

    def reads_what_was(self, s: g.Stmt, names: set[str], unchanged: bool, sets: bool) -> bool:
        """Whether a statement between the part's first and the point reads what was there. `unchanged`: the part is
        still as it was; `sets`: this is what changes it."""
        if not isinstance(s, g.Let):
            return False
        if isinstance(s.rhs, g.View):
            return self.is_apart(self.whole_index(s.rhs.array.name, s.rhs.index))
        if isinstance(s.rhs, g.Load):
            return self.is_apart(self.whole_index(s.rhs.array.name, s.rhs.index))
        writer = self.writer(s) if sets else None
        mine = [a for a in g.operands(s.rhs) if isinstance(a, g.Var) and a.name in names]
        if isinstance(s.rhs, g.Call):  # another result than the part might be a view that it was given
            becomes = [self.makers.may_become(s.rhs, k) for k, t in enumerate(s.targets) if t.name in self.names]
            return all(t.name in self.names for t in s.targets if g.extents_of(t)) and all(
                a.name in self.views
                and (
                    self.is_apart(self.aliases[a.name])
                    or (unchanged and becomes == [a] and mine.count(a) == 1 and self.is_there(a))
                )
                for a in mine
            )
        if mine and not (unchanged and isinstance(s.rhs, g.For) and len(mine) == 1 and self.is_there(mine[0])):
            return False
        parts = s.rhs.partitions if isinstance(s.rhs, g.WithLoop) else ()
        copied = {id(p.body) for p in parts if unchanged and self.is_copy(p)}
        own = {id(p.body): _Cell(p) for p in parts} if self.sets_cells(s) else {}
        return all(
            id(b) in copied or self.block_reads(b, tuple(names), own.get(id(b), writer)) for b in g.blocks(s.rhs)
        )

    def sets_cells(self, s: g.Let) -> bool:
        """Whether a statement makes the part scalar by scalar, each once."""
        w = s.rhs
        if not isinstance(w, g.WithLoop) or len(w.operators) != 1 or s.targets[0].name not in self.names:
            return False
        (o,) = w.operators
        return isinstance(o, g.Genarray) and not o.cell and w.complete and (w.disjoint or len(w.partitions) == 1)

    def writer(self, s: g.Let) -> _Writer | None:
        """The loops that set the part's elements, if a statement is such."""
        if not isinstance(s.rhs, g.For):
            return None
        k = next((k for k, t in enumerate(s.targets) if t.name in self.names), None)
        return None if k is None else _Writer.of(s.rhs, k, self.form)

    def block_reads(self, b: g.Block, names: Sequence[str], writer: _Writer | _Cell | None) -> bool:
        """Whether what a block, inner ones included, reads of the array under some names is as it was."""
        if any(isinstance(a, g.Var) and a.name in names for a in b.results):
            return False
        for s in b.statements:
            if isinstance(s, g.Check):
                continue
            if isinstance(s.rhs, g.Load | g.View) and s.rhs.array.name in names:
                index = self.whole_index(s.rhs.array.name, s.rhs.index)
                if isinstance(s.rhs, g.View) and s.rhs.array.name in self.views:
                    return False  # it might be kept longer than there is something to see
                if not self.is_apart(index) and not (
                    isinstance(s.rhs, g.Load) and writer is not None and writer.comes_later(self.in_part(index), s)
                ):
                    return False
            elif any(isinstance(a, g.Var) and a.name in names for a in g.operands(s.rhs)):
                return False
            if not all(self.block_reads(inner, names, writer) for inner in g.blocks(s.rhs)):
                return False
        return True

    # ---- indices

    @cached_property
    def moving(self) -> set[str]:
        """The names that are set in the block: the indices of its loops move."""
        return bound(self.block)

    def whole_index(self, array: str, index: Index) -> Index:
        """The index in the whole array."""
        return (*self.aliases[array], *index)

    def is_apart(self, index: Index) -> bool:
        """Whether an index certainly lies outside of the part: along an axis, or, where extents are numbers, because
        of the addresses."""
        forms = self.forms
        place = [self.covered(a) for a in self.at]
        if any(
            forms.apart(self.form(b), (Lmad(first, ((n, 1),)),), self.moving) for (first, n), b in zip(place, index)
        ):
            return True
        extents = numbers(g.extents_of(self.array))
        if extents is None:
            return False
        whole = Lmad(0, ())
        for (first, n), by in zip(place, strides(extents)):
            whole = Lmad(whole.offset + first * by, (*whole.axes, (n, by)))
        read = forms.read(Access(index), extents, self.moving)
        return read is not None and apart(read, whole, forms.bounds)

    def covered(self, a: g.Atom | Shift) -> tuple[Number, Number]:
        """Where the part begins along an axis of the whole, and how many indices it has there."""
        return (self.form(a.start), self.extents[a.axis]) if isinstance(a, Shift) else (self.form(a), 1)

    def in_part(self, index: Index) -> dict[int, Number]:
        """The index in the part, by its axes, of an index in the whole; nothing where it is not known to be in the
        part along the axes that the part has no extent in."""
        found: dict[int, Number] = {}
        for a, b in zip(self.at, index):
            if isinstance(a, Shift):
                found[a.axis] = self.form(b) - self.form(a.start)
            elif self.form(a) != self.form(b):
                return {}
        return found


class _Cell:
    """The body of a partition that gives scalars, of which each index sets its own."""

    def __init__(self, p: g.Partition) -> None:
        self.index = [name(i.name) for i in p.index]

    def comes_later(self, index: Mapping[int, Number], load: g.Stmt) -> bool:
        """Whether an element of the part is set by the index that reads it, and so behind that."""
        return len(index) == len(self.index) and all(index.get(k) == i for k, i in enumerate(self.index))


class _Writer:
    """Loops that set each element of a carried array at most once, in order: `counters`, the outermost first, are the
    indices of its axes `axes`, plus `offsets`; `steps`: by how much they change. `before`: the statements of the
    innermost body in front of the update."""

    def __init__(self) -> None:
        self.counters: list[str] = []
        self.steps: list[int] = []
        self.axes: list[int] = []
        self.offsets: list[int] = []
        self.before: list[g.Stmt] = []

    @staticmethod
    def of(r: g.For, at: int, form: Form) -> _Writer | None:
        """The loops that change what a loop carries as its parameter of that number, if they are of this kind."""
        found = _Writer()
        while True:
            found.counters.append(r.index.name)
            found.steps.append(r.step)
            array = r.params[at]
            result = r.body.results[at]
            users = [
                (k, s)
                for k, s in enumerate(r.body.statements)
                if isinstance(s, g.Let)
                and any(isinstance(a, g.Var) and a == array for a in g.operands(s.rhs))
                and not (isinstance(s.rhs, g.Load))
            ]
            if len(users) != 1:
                return None
            number, s = users[0]
            if not isinstance(s, g.Let) or result not in s.targets:
                return None
            if isinstance(s.rhs, g.For) and array in s.rhs.initial:
                at = s.rhs.initial.index(array)
                if s.targets[at] != result:
                    return None
                r = s.rhs
                continue
            if not isinstance(s.rhs, g.Update) or s.rhs.array != array:
                return None
            found.before = list(r.body.statements[:number])
            return found if found.covers(s.rhs.index, form) else None

    def covers(self, index: Index, form: Form) -> bool:
        """Whether the components of an index are the counters, plus numbers."""
        left = dict(enumerate(map(form, index)))
        for counter in self.counters:
            found = next(
                ((k, n) for k, a in left.items() if isinstance(n := a - name(counter), int)),
                None,
            )
            if found is None:
                return False
            self.axes.append(found[0])
            self.offsets.append(found[1])
            del left[found[0]]
        return not left

    def comes_later(self, index: Mapping[int, Number], load: g.Stmt) -> bool:
        """Whether an element of the part that a statement of a round reads is only set behind that statement."""
        if not index:
            return False
        for counter, step, axis, offset in zip(self.counters, self.steps, self.axes, self.offsets):
            ahead = index[axis] - name(counter) - offset if axis in index else None
            if not isinstance(ahead, int):
                return False
            if ahead:
                return ahead * step > 0 and ahead % step == 0
        return any(s is load for s in self.before)


def _names(s: g.Stmt) -> set[str]:
    """The variables that a statement uses, inner blocks included."""
    if isinstance(s, g.Check):
        return set()
    found = {a.name for a in g.operands(s.rhs) if isinstance(a, g.Var)}
    for b in g.blocks(s.rhs):
        found |= {a.name for a in b.results if isinstance(a, g.Var)}
        for inner in b.statements:
            found |= _names(inner)
    return found
