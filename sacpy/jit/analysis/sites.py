"""Where arrays are read, and how often: what `passes/fold_withloops` decides by.

In: a function. Out: for each array, the sites that load an element of it, and whether it is used in any other way. A
site is a block and the index of a cell that is loaded in it, however often; results of one with-loop have it in common.
It is `once` if every cell is loaded there at most once for each time the array is made: each index of the loops between
the array and the site has a component of the load's index to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.nodes import Node, Record, field

Names = frozenset[str]
Site = tuple[int, tuple[g.Atom, ...]]
_NONE: Names = frozenset()


class Uses(Record):
    """Of one array. `depth`: how many loops are around its definition; `rank`: how many components of an index choose
    the cell; `nested`: it is made in the body of a with-loop; `sites`: by their blocks, each with how many cells it
    loads, as a share of those that there are, where it is loaded `once`: a partition with a step leaves some out;
    `serial`: in one of them right in the rounds of a loop in order; as vectors run those that become with-loops;
    `once`: every cell at most once in each of them; `each`: every element; `numbered`: elements of cells are named by
    numbers alone; `made`, `last`: where the array is made and last loaded."""

    depth: int
    rank: int | None
    made: int
    nested: bool = False
    sites: dict[Site, float] = field(default_factory=dict)
    serial: bool = False
    once: bool = True
    each: bool = True
    numbered: bool = True
    otherwise: bool = False
    last: int = 0


class _Replaced(Node):
    """Where something is written into an array: the places from which and up to which, and by what."""

    place: int
    end: int
    rhs: g.Rhs


class Sites(Record):
    """`uses` by name; `along`: the last indices of with-loops, over which the innermost loops run; `replaced`: where
    something is written into an array, so that a reader that comes later would keep the old contents alive. Places are
    numbers, in the order of the text."""

    ints: Ints
    uses: dict[str, Uses] = field(default_factory=dict)
    replaced: dict[str, list[_Replaced]] = field(default_factory=dict)
    along: set[str] = field(default_factory=set)
    indices: set[str] = field(default_factory=set)  # of all loops
    _place: int = 0
    _loops: list[Names] = field(default_factory=list)
    _shares: list[float] = field(default_factory=list)  # of their indices, those that they run over
    _serial: list[bool] = field(default_factory=list)  # whether their rounds are run one by one
    _depends: dict[str, Names] = field(default_factory=dict)
    _bodies: int = 0  # of with-loops around the place

    def block(self, b: g.Block) -> None:
        for s in b.statements:
            self._place += 1
            if not isinstance(s, g.Check):
                self._let(s, b)
        for a in b.results:
            self._other(a.name if isinstance(a, g.Var) else "")

    def replaced_between(self, bodies: Sequence[g.Block], use: Uses) -> bool:
        """Whether something is written into one of the arrays that bodies use between the making of an array and its
        last load: but for a loop that loads it itself, and leaves alone what they load."""
        between = [(name, r) for name, all_ in self.replaced.items() for r in all_ if use.made < r.place < use.last]
        names = set().union(*map(free, bodies)) if between else ()
        return any(
            name in names and not (use.last <= r.end and _leaves(r.rhs, name, bodies, self.ints)) for name, r in between
        )

    def is_regular(self, use: Uses) -> bool:
        """Whether all sites load at sums of indices, and of what no loop changes."""
        return all(self._is_sum(a) for _, index in use.sites for a in index)

    def _is_sum(self, a: g.Atom) -> bool:
        form = self.ints.forms.form(a)
        return isinstance(form, int) or all(n in self.indices or not self._depends.get(n) for n in form.terms)

    def _other(self, name: str) -> None:
        found = self.uses.get(name)
        if found is not None:
            found.otherwise = True

    def _let(self, s: g.Let, b: g.Block) -> None:
        rhs = s.rhs
        if isinstance(rhs, g.Load):
            self._load(rhs, b)
        else:
            for a in g.operands(rhs):
                if isinstance(a, g.Var):
                    self._other(a.name)
        written: tuple[g.Atom, ...] = ()
        if rhs.__class__ is g.Op or rhs.__class__ is g.Load:
            pass
        elif isinstance(rhs, g.Update):
            written = (rhs.array,)
        elif isinstance(rhs, g.Loop | g.For):
            written = rhs.initial
        elif isinstance(rhs, g.WithLoop):
            written = tuple(o.array for o in rhs.operators if isinstance(o, g.Modarray))
        made = self._place
        self._inner(rhs)
        for a in written:
            if isinstance(a, g.Var):
                self.replaced.setdefault(a.name, []).append(_Replaced(made, self._place, rhs))
        depends = self._dependencies(rhs)
        rank = len(rhs.frame) if isinstance(rhs, g.WithLoop) and rhs.frame is not None else None
        for t in s.targets:
            self._depends[t.name] = depends
            self.uses[t.name] = Uses(len(self._loops), rank, made, self._bodies > 0)

    def _dependencies(self, rhs: g.Rhs) -> Names:
        if isinstance(rhs, g.Op):
            found = _NONE
            for a in rhs.args:
                if isinstance(a, g.Var):
                    found |= self._depends.get(a.name, _NONE)
            return found
        return _NONE.union(*self._loops)  # might depend on anything

    def _inner(self, rhs: g.Rhs) -> None:
        match rhs:
            case g.Loop():
                self._within(_NONE | {"while"}, rhs.condition, rhs.body, serial=True)
            case g.For():
                self._counted((rhs.index,), rhs.body, serial=True)
            case g.WithLoop():
                self._bodies += 1
                for b in g.blocks(rhs):
                    if not any(b is p.body for p in rhs.partitions):
                        self._within(_NONE | {"combine"}, b)
                for p in rhs.partitions:
                    self.along.update(i.name for i in p.index[-1:])
                    self._counted(tuple(i for k, i in enumerate(p.index) if not _is_single(p, k)), p.body, _share(p))
                self._bodies -= 1
            case _:
                for b in g.blocks(rhs):
                    self.block(b)

    def _counted(self, index: tuple[g.Var, ...], body: g.Block, share: float = 1.0, serial: bool = False) -> None:
        for i in index:
            self._depends[i.name] = frozenset({i.name})
            self.indices.add(i.name)
        self._within(frozenset(i.name for i in index), body, share=share, serial=serial)

    def _within(self, loop: Names, *inner: g.Block, share: float = 1.0, serial: bool = False) -> None:
        self._loops.append(loop)
        self._shares.append(share)
        self._serial.append(serial)
        for b in inner:
            self.block(b)
        self._loops.pop()
        self._shares.pop()
        self._serial.pop()

    def _load(self, load: g.Load, b: g.Block) -> None:
        found = self.uses.get(load.array.name)
        if found is None:
            return
        found.last = self._place
        found.numbered = found.numbered and all(isinstance(a, g.Const) for a in load.index[found.rank or 0 :])
        found.sites[id(b), load.index[: found.rank]] = prod(self._shares[found.depth :])
        around = _NONE.union(*self._loops[found.depth :])
        found.serial = found.serial or any(self._serial[found.depth :][-1:])
        found.once = found.once and self._alone(load.index[: found.rank], around) == around
        found.each = found.each and self._alone(load.index, around) == around

    def _alone(self, index: tuple[g.Atom, ...], around: Names) -> Names:
        """Those of the loops' indices that have a component to themselves."""
        alone: set[str] = set()
        for i in index:
            mine = self._depends.get(i.name, _NONE) & around if isinstance(i, g.Var) else _NONE
            if len(mine) == 1:
                alone |= mine
        return frozenset(alone)


def _share(p: g.Partition) -> float:
    """How many of the indices between its bounds a partition has."""
    strides = [g.stride(p, k) for k in range(p.rank)]
    return prod(width / step if step and width else 1.0 for step, width in strides)


def _leaves(rhs: g.Rhs, name: str, bodies: Sequence[g.Block], ints: Ints) -> bool:
    """Whether a with-loop certainly replaces no element that bodies load of an array. So it may be replaced in place
    although they are computed meanwhile."""
    from sacpy.jit.analysis.depends import leaves

    replaced = [o.array for o in rhs.operators if isinstance(o, g.Modarray)] if isinstance(rhs, g.WithLoop) else []
    return isinstance(rhs, g.WithLoop) and all(leaves(rhs, a, bodies, ints) for a in replaced if a.name == name)


def _is_single(p: g.Partition, axis: int) -> bool:
    """Whether a partition is known to have one index along an axis, so that nothing is repeated there."""
    lower, upper = p.lower[axis], p.upper[axis]
    return isinstance(lower, g.Const) and isinstance(upper, g.Const) and upper.value - lower.value <= 1


def sites(function: g.Function) -> Sites:
    """The sites of all arrays that a function sets."""
    found = Sites(Ints(function))
    found.block(function.body)
    return found
