"""Dependence: in which order the indices of a with-loop or the rounds of a loop may run, and what they may overwrite.

In: a with-loop, a loop or a block; an array; what is known of the ints of the function (`ints`). Out: the answers to
these questions, each stated in the function that answers it:

    may_share(w, array, ints)     may results of `w` take the memory of `array`, and if what holds when the code runs?
    may_assign(w, update, ints)   may cells of `w` be computed where an update puts them, in an array that `w` reads?
    leaves(w, array, code, ints)  does `w` leave alone what other code reads of the array that it modifies?
    own_cell(code, array, index)  does code read nothing of an array but its element at an index?
    independent(loop, ints)       may the rounds of a counting loop run in any order, or at once?
    filled_before_read(b, array)  does a block set every element of an array before it reads any?

Passes, the host and kernels ask these. "No" may mean that it is not known.

    with [n,n] disjoint                                        with a.1 = add! i, -1
        modarray u
        part [1,1] <= [i,j] < [m,m] step [2,2] width [1,1]
            .. load u[a.1,j] ..

Here only cells with odd indices change, and those that are read lie in rows with even ones. So do the pivot's row and
column in a step of an elimination lie outside of the block that changes. Where indices wrap around, as those of the
points of one colour may, a row may be that of `sub! a.1, n` too: it is an even one if n is even, which is known when
the code runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.analysis.access import accesses
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.overlap import ALWAYS, MOST, Conditions, Overlap, Test, tested
from sacpy.jit.analysis.versions import Use, follow
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import bound, setters, uses
from sacpy.nodes import Node, replace

if TYPE_CHECKING:
    from sacpy.withloop.linear import Number


# ---------------------------------------------------------------- may_share


def may_share(w: g.WithLoop, array: g.Var, ints: Ints, *, once: bool = False) -> Conditions | None:
    """What must hold so that results of a with-loop may be written into the memory of an array that it reads, in any
    order of its indices, cell i of the result where cell i of the array lies. None: nothing is known to be enough.

    For all partitions p, q, all indices i of p and j of q, and each access at e (an index, or its first few components)
    to the array in the body of p at i: e is not in cell j; or j = i, cells are scalars, e = i, and nobody else computes
    that cell. Operators of the with-loop read the array nowhere else, but as the source of the result itself.

    `once`: each cell is computed once, whatever partitions it is in, as kernels do it. Disjoint partitions see to that,
    and so does a single one.

    It is shown axis by axis: along one of the axes of the frame no index of q is that of e, by the bounds of all loops
    around it (`forms`), or by the gaps that steps leave; or for all axes at once, where extents are numbers. Where this
    fails, the inequality that is missing along an axis is the condition, if it says more than that there is little to
    do."""
    if any(_mentions(o, array) for o in w.operators):
        return None
    found = ALWAYS
    asked = Overlap(w, array, ints, once or w.disjoint or len(w.partitions) < 2)
    for p in w.partitions:
        for access in accesses(p.body, array.name):
            needed = asked.needed(access, p)
            if needed is None or len(found | needed) > MOST:
                return None
            found |= needed
    return found


def may_assign(w: g.WithLoop, update: g.Update, ints: Ints) -> bool:
    """Whether the cells of a with-loop may be computed one by one, in any order, where an update puts the result into
    an array, though bodies read that array.

    For all partitions p, q, all indices i of p and j of q, and each access at e to the array in the body of p at i: e
    does not begin with the update's index and j; or j = i, cells are scalars, and nobody else computes that cell.

    That is, whether a with-loop that modifies the array, with one index along each of the first axes, may share its
    memory."""
    known: dict[str, g.Op] = {}
    ends: list[g.Atom] = []
    for k, a in enumerate(update.index):
        end = g.integer(int(a.value) + 1) if isinstance(a, g.Const) else g.Var(f"behind axis {k}", g.INT)
        if isinstance(end, g.Var):
            known[end.name] = g.Op("add", (a, g.integer(1)), True)
        ends.append(end)
    front = tuple(g.Var(f"along axis {k}", g.INT) for k in range(len(ends)))
    ones = tuple(g.integer(1) for _ in ends)
    partitions = tuple(
        replace(
            p,
            lower=(*update.index, *p.lower),
            upper=(*ends, *p.upper),
            step=None if p.step is None else (*ones, *p.step),
            width=None if p.width is None else (*ones, *p.width),
            index=(*front, *p.index),
        )
        for p in w.partitions
    )
    frame = g.extents_of(update.array)[: len(front) + len(w.frame or ())]
    modified = g.WithLoop(frame, partitions, (g.Modarray(update.array),), disjoint=w.disjoint)
    return may_share(modified, update.array, ints.with_more(known)) == ALWAYS


def leaves(w: g.WithLoop, array: g.Var, code: Sequence[g.Block], ints: Ints) -> bool:
    """Whether a modarray leaves alone what other code reads of its array: for all partitions q, indices j of q, and
    each access at e in the code, e is not in cell j."""
    asked = Overlap(w, array, ints, False)
    return all(asked.outside(access, q) for b in code for access in accesses(b, array.name) for q in w.partitions)


def _mentions(o: g.Genarray | g.Modarray | g.Fold | g.Propagate, array: g.Var) -> bool:
    """Whether an operator reads an array apart from its cells, which a modarray of it keeps."""
    match o:
        case g.Genarray(default=default):
            return default == array
        case g.Fold():
            return array in (*o.neutrals, *(o.stop or ())) or uses(o.combine)[array.name] > 0
        case g.Propagate(initial=initial):
            return array in initial
    return False


# ---------------------------------------------------------------- own_cell


def own_cell(code: g.Block, array: g.Var, index: tuple[g.Atom, ...]) -> bool:
    """Whether each use of an array from outside of some code is a load of the one element at an index."""
    loads = sum(isinstance(s, g.Let) and s.rhs == g.Load(array, index) for s in g.statements(code))
    return uses(code)[array.name] == loads


# ---------------------------------------------------------------- independent


def independent(loop: g.For, ints: Ints) -> bool:
    """Whether the rounds of a counting loop may run in any order, or at once, with the carried arrays in one place
    each.

    For each carried array, for all rounds i and j other than i, each write at w in round i and each read or write at e
    in round j: w is not e. All that is carried are arrays, each version of which goes into the next one (`versions`),
    and of which each round replaces single elements.

    It is shown for each pair of accesses. Along an axis where they are c * i + r and c * j + s, with r and s from
    intervals, one of them has left what the other gets to if r - s < c (for j after i, c > 0) or s - r < c (for j
    before i); it may be another axis for the one than for the other. So blocks along an antidiagonal, each of which
    reads the last row of the one above and the last column of the one at its left, do not meet: rows show it for those
    above, columns for those below. Or one of the two lies outside of all that the other gets to, along any axis."""
    if loop.step != 1 or not loop.params or not all(isinstance(p.type, g.ArrayType) for p in loop.params):
        return False
    names = [p.name for p in loop.params]
    followed = follow(loop.body, names)
    if followed is None or followed.results != names:
        return False
    asked = _Rounds(loop, ints)
    return all(asked.keep_apart([u for u in followed.uses if u.array == p.name]) for p in loop.params)


class _Strip(Node):
    """Where an access of a round lies along an axis: at `pace` times the loop's counter and something between `low` and
    `high` (None: not known), which is `form`."""

    pace: int
    low: Number | None
    high: Number | None
    form: Number


class _Rounds:
    """The rounds of a loop, and what is asked of pairs of accesses in them."""

    def __init__(self, loop: g.For, ints: Ints) -> None:
        self.loop, self.forms = loop, ints.forms
        self.inside = {*bound(loop.body), loop.index.name}

    def keep_apart(self, used: Sequence[Use]) -> bool:
        """Whether no round gets to what another writes, of all uses of an array."""
        writes = [u.access for u in used if u.update is not None]
        if not writes or not all(access.element for access in writes):
            return False
        axes = range(min(len(u.access.index) for u in used))
        if any(all(u.access.index[k] == self.loop.index for u in used) for k in axes):
            return True
        strips: dict[tuple[g.Atom, ...], list[_Strip]] = {}
        for u in used:
            if u.access.index not in strips:
                strips[u.access.index] = [self._strip(a) for a in u.access.index]
        written = [strips[index] for index in dict.fromkeys(access.index for access in writes)]
        return all(self._never_meet(w, u) for w in written for u in strips.values())

    def _strip(self, a: g.Atom) -> _Strip:
        from sacpy.withloop.linear import Linear

        form = self.forms.form(a)
        pace = form.terms.get(self.loop.index.name, 0) if isinstance(form, Linear) else 0
        rest = form - Linear(0, {self.loop.index.name: pace}) if pace else form
        least = self.forms.bounds.least
        low, high = least(rest, self.inside), least(-rest, self.inside)
        return _Strip(pace, low, None if high is None else -high, form)

    def _never_meet(self, written: Sequence[_Strip], used: Sequence[_Strip]) -> bool:
        later = earlier = False
        never_negative = self.forms.bounds.never_negative
        for w, u in zip(written, used):
            if w.low is None or w.high is None:
                continue
            if w.pace == u.pace != 0 and u.low is not None and u.high is not None:
                room = abs(w.pace) - 1
                above, below = never_negative(room - (w.high - u.low)), never_negative(room - (u.high - w.low))
                later, earlier = later or (above if w.pace > 0 else below), earlier or (below if w.pace > 0 else above)
            elif (w.pace != u.pace or not w.pace) and self._outside(u, w):
                return True
            if later and earlier:
                return True
        return False

    def _outside(self, u: _Strip, w: _Strip) -> bool:
        """Whether an access lies outside of all that another writes, in all rounds."""
        from sacpy.withloop.lmads import Lmad

        assert w.low is not None and w.high is not None
        first, form = self.forms.form(self.loop.lower), self.forms.form
        rounds = ((form(self.loop.upper) - first, w.pace),) if w.pace else ()
        written = Lmad(first * w.pace + w.low, (*rounds, (w.high - w.low + 1, 1)))
        return self.forms.apart(u.form, (written,), self.inside)


# ---------------------------------------------------------------- filled_before_read


def filled_before_read(b: g.Block, array: g.Var) -> bool:
    """Whether a block sets every element of an array from outside of it before it reads it.

    For all elements e of the array and each read of e: a write of e comes before it. So it is if all that the block
    does with what it gets is to hand it to a with-loop that replaces all of it, or to loops that set every element,
    each in a round of its own, and read none but that, after they have set it."""
    if not isinstance(array.type, g.ArrayType) or uses(b)[array.name] != 1:
        return False
    if any(_replaces_all(s, array) for s in b.statements):
        return True
    found = _handed(b, array)
    return found is not None and fills(*found, setters(b.statements), {})


def _replaces_all(s: g.Stmt, array: g.Var) -> bool:
    return (
        isinstance(s, g.Let)
        and isinstance(s.rhs, g.WithLoop)
        and s.rhs.complete
        and g.Modarray(array) in s.rhs.operators
    )


def _handed(b: g.Block, array: g.Var) -> tuple[g.Let, int] | None:
    """The loop of a block that an array is handed to, and which of its carried variables it becomes there; None where
    that is not all that happens to the array."""
    if uses(b)[array.name] != 1:
        return None
    return next(
        (
            (s, s.rhs.initial.index(array))
            for s in b.statements
            if isinstance(s, g.Let) and isinstance(s.rhs, g.For) and array in s.rhs.initial
        ),
        None,
    )


def fills(s: g.Let, k: int, made: Mapping[str, g.Let], around: Mapping[g.Atom, g.Atom]) -> bool:
    """Whether a loop sets all elements, or rows, of the array that is its carried variable number `k`, one in each
    round, and reads none but that, after it has set it. `made`: what sets names around it; `around`: the extents that
    loops around it run over, by their counters."""
    r = s.rhs
    assert isinstance(r, g.For)
    p, extent = r.params[k], _extent_of(r, made)
    if extent is None:
        return False
    loops = {**around, r.index: extent}
    inner = _handed(r.body, p)
    if inner is not None:
        result = inner[0].targets[inner[1]]
        return r.body.results[k] == result and uses(r.body)[result.name] == 1 and fills(*inner, made, loops)
    return _sets_its_own(r.body, p, r.body.results[k], loops)


def _extent_of(r: g.For, made: Mapping[str, g.Let]) -> g.Atom | None:
    """The extent that a loop runs over from one end to the other, up or down."""
    if r.step == 1 and r.lower == g.integer(0):
        return r.upper
    last = made.get(r.lower.name) if isinstance(r.lower, g.Var) and r.step == -1 and r.upper == g.integer(-1) else None
    op = None if last is None else last.rhs
    return op.args[0] if isinstance(op, g.Op) and op == g.Op("add", (op.args[0], g.integer(-1)), True) else None


def _sets_its_own(b: g.Block, array: g.Var, result: g.Atom, loops: Mapping[g.Atom, g.Atom]) -> bool:
    """Whether a block sets the element, or row, that has the loops' counters as indices, for which they run over all of
    the array, and reads only that, afterwards."""
    update = next((s.rhs for s in b.statements if isinstance(s, g.Let) and s.targets[:1] == (result,)), None)
    if not isinstance(update, g.Update) or update.array != array or not isinstance(result, g.Var):
        return False
    if set(update.index) != loops.keys() or len(loops) != len(update.index):
        return False
    if tuple(loops[i] for i in update.index) != g.extents_of(array)[: len(loops)]:
        return False
    return uses(b)[array.name] == 1 and own_cell(g.Block(b.statements), result, update.index)


__all__ = [
    "ALWAYS",
    "Conditions",
    "Test",
    "filled_before_read",
    "fills",
    "independent",
    "leaves",
    "may_assign",
    "may_share",
    "own_cell",
    "tested",
]
