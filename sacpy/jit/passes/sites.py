"""Where arrays are read, and how often: what `fold_withloops` decides by.

In: a function. Out: for each array, the places that load an element of it, and whether it is used in any other way. A place is `once` if every element is loaded there at most once for each time the array is made: each index of the loops
between the array and the place has a component of the load's index to itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sacpy.jit.graph import (
    Block,
    Check,
    For,
    Function,
    Let,
    Load,
    Loop,
    Modarray,
    Op,
    Rhs,
    Update,
    Var,
    WithLoop,
    blocks,
    operands,
)

Names = frozenset[str]
_NONE: Names = frozenset()


@dataclass(slots=True)
class Uses:
    """Of one array. `depth`: how many loops are around its definition."""

    depth: int
    sites: int = 0
    once: bool = True
    otherwise: bool = False


@dataclass(slots=True)
class Sites:
    """`uses` by name; `replaced`: arrays that something is written into, so that a reader that comes later would keep the old contents alive."""

    uses: dict[str, Uses] = field(default_factory=dict)
    replaced: set[str] = field(default_factory=set)
    _loops: list[Names] = field(default_factory=list)
    _depends: dict[str, Names] = field(default_factory=dict)

    def block(self, b: Block) -> None:
        for s in b.statements:
            if not isinstance(s, Check):
                self._let(s)
        for a in b.results:
            self._other(a.name if isinstance(a, Var) else "")

    def _other(self, name: str) -> None:
        found = self.uses.get(name)
        if found is not None:
            found.otherwise = True

    def _let(self, s: Let) -> None:
        rhs = s.rhs
        if isinstance(rhs, Load):
            self._load(rhs)
        else:
            for a in operands(rhs):
                if isinstance(a, Var):
                    self._other(a.name)
        if isinstance(rhs, Update):
            self.replaced.add(rhs.array.name)
        elif isinstance(rhs, Loop | For):
            self.replaced.update(a.name for a in rhs.initial if isinstance(a, Var))
        elif isinstance(rhs, WithLoop):
            self.replaced.update(o.array.name for o in rhs.operators if isinstance(o, Modarray))
        self._inner(rhs)
        depends = self._dependencies(rhs)
        for t in s.targets:
            self._depends[t.name] = depends
            self.uses[t.name] = Uses(len(self._loops))

    def _dependencies(self, rhs: Rhs) -> Names:
        if isinstance(rhs, Op):
            found = _NONE
            for a in rhs.args:
                if isinstance(a, Var):
                    found |= self._depends.get(a.name, _NONE)
            return found
        return _NONE.union(*self._loops)  # might depend on anything

    def _inner(self, rhs: Rhs) -> None:
        match rhs:
            case Loop():
                self._within(_NONE | {"while"}, rhs.condition, rhs.body)
            case For():
                self._counted((rhs.index,), rhs.body)
            case WithLoop():
                for b in blocks(rhs):
                    if not any(b is p.body for p in rhs.partitions):
                        self._within(_NONE | {"combine"}, b)
                for p in rhs.partitions:
                    self._counted(p.index, p.body)
            case _:
                for b in blocks(rhs):
                    self.block(b)

    def _counted(self, index: tuple[Var, ...], body: Block) -> None:
        for i in index:
            self._depends[i.name] = frozenset({i.name})
        self._within(frozenset(i.name for i in index), body)

    def _within(self, loop: Names, *inner: Block) -> None:
        self._loops.append(loop)
        for b in inner:
            self.block(b)
        self._loops.pop()

    def _load(self, load: Load) -> None:
        found = self.uses.get(load.array.name)
        if found is None:
            return
        found.sites += 1
        around = _NONE.union(*self._loops[found.depth :])
        alone: set[str] = set()
        for i in load.index:
            mine = self._depends.get(i.name, _NONE) & around if isinstance(i, Var) else _NONE
            if len(mine) == 1:
                alone |= mine
        found.once = found.once and alone == around


def sites(function: Function) -> Sites:
    """The sites of all arrays that a function sets."""
    found = Sites()
    found.block(function.body)
    return found
