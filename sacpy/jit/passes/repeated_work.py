"""What computing the cells of an array where they are loaded takes, and what of it is done again.

In: the body of a with-loop, and where its array is loaded. Out: work, by the costs of `analysis/costs`, and the
statements that stand for it.
"""

from __future__ import annotations

from collections import Counter

from sacpy.jit.analysis.costs import cost
from sacpy.jit.analysis.sites import Site
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free, with_extents
from sacpy.nodes import Node

CHEAP = 3.0  # work per element that may be multiplied
Needed = tuple[tuple[g.Stmt, ...], ...]  # of a body: the statements that each of its results needs


class Producer(Node):
    """An array that is folded: operator number `operator` of `loop`, whose values are result number `position` of the
    bodies. `first`: the first result of the loop, by which it is known."""

    first: str
    loop: g.WithLoop
    operator: g.Genarray | g.Modarray
    position: int

    @property
    def rank(self) -> int:
        """Of a cell."""
        o = self.operator
        return len(g.extents_of(o.array)) - len(self.loop.frame or ()) if isinstance(o, g.Modarray) else len(o.cell)

    @property
    def base(self) -> str:
        return self.operator.array.base if isinstance(self.operator, g.Modarray) else self.operator.base


def work_of(body: g.Block, position: int, needed: tuple[g.Stmt, ...], numbered: bool) -> tuple[float, float]:
    """The work for a cell that must be done for any element of it, and the work for each element. `needed`: what the
    cell needs; `numbered`: the elements that are loaded are known, so that of a cell that is put together from elements
    the others need not be computed."""
    setter = setter_of(body, position)
    if isinstance(setter, g.Cons) and numbered and setter.elements:
        every = needed_by_result(
            g.Block(tuple(s for s in needed if not (isinstance(s, g.Let) and s.rhs is setter)), setter.elements)
        )
        count = Counter(id(s) for mine in every for s in mine)
        return tuple(
            max(cost(g.Block(tuple(s for s in mine if (count[id(s)] > 1) == common))) for mine in every)
            for common in (True, False)
        )  # type: ignore[return-value]
    if isinstance(setter, g.WithLoop) and isinstance(body.results[position].type, g.ArrayType):
        others = g.Block(tuple(s for s in needed if not (isinstance(s, g.Let) and s.rhs is setter)))
        return cost(others), max((cost(p.body) for p in setter.partitions), default=0.0)
    return cost(g.Block(needed)), 0.0


def of_indices(needed: tuple[g.Stmt, ...]) -> bool:
    """Whether code only compares and combines indices, and divides them by numbers alone."""
    return all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and is_quick(s.rhs) for s in needed)


def is_quick(op: g.Op) -> bool:
    """Whether an operation is one of ints and bools that takes next to no time."""
    return all(a.base in ("int", "bool") for a in op.args) and (
        op.code not in ("div", "mod", "aplmod") or isinstance(op.args[1], g.Const)
    )


def along_last(p: g.Partition) -> g.Block:
    """What in a partition's body depends on the last index."""
    moving, found = {i.name for i in p.index[-1:]}, []
    for s in p.body.statements:
        if not moving.isdisjoint(free(g.Block((s,)))):
            found.append(s)
            moving.update(t.name for t in (() if isinstance(s, g.Check) else s.targets))
    return g.Block(tuple(found))


def needed_by_result(body: g.Block) -> Needed:
    """What each result of a body needs; all need the checks."""
    if len(body.results) == 1:
        return (body.statements,)
    everyone = range(len(body.results))
    users: dict[str, set[int]] = {}
    for k in everyone:
        for a in with_extents((body.results[k],)):
            if isinstance(a, g.Var):
                users.setdefault(a.name, set()).add(k)
    needed: list[list[g.Stmt]] = [[] for _ in everyone]
    for s in reversed(body.statements):
        mine = (
            set(everyone)
            if isinstance(s, g.Check) or not s.targets
            else set().union(*(users.get(t.name, ()) for t in s.targets))
        )
        for name in free(g.Block((s,))) if mine else ():
            users.setdefault(name, set()).update(mine)
        for k in mine:
            needed[k].append(s)
    return tuple(tuple(reversed(n)) for n in needed)


def not_repeated(found: dict[str, Producer], needed: list[Needed], sites: dict[str, set[Site]]) -> dict[str, Producer]:
    """Those of several arrays of one with-loop that may be folded without doing again what they share, with each other
    or with what is not folded: every site would have a copy of it, and so would the with-loop, were something left of
    it."""
    while found:
        wasted = [repeated(n, found, sites) for n in needed]
        spent = {name for name in found if any(work[name] > CHEAP * len(found) for work in wasted)}
        if not spent:
            break
        found = {name: p for name, p in found.items() if name not in spent}
    return found


def repeated(needed: Needed, found: dict[str, Producer], sites: dict[str, set[Site]]) -> dict[str, float]:
    """For each of some results the work it needs, times the copies that others need elsewhere."""
    folded = {p.position: sites[name] for name, p in found.items()}
    copies: dict[int, set[Site | None]] = {}
    for k, mine in enumerate(needed):
        for s in mine:
            copies.setdefault(id(s), set()).update(folded.get(k, {None}))
    return {
        name: sum(
            cost(g.Block((s,))) * (len(copies[id(s)]) - len(sites[name]))
            for s in needed[p.position]
            if len(copies[id(s)]) > len(sites[name])
        )
        for name, p in found.items()
    }


def setter_of(body: g.Block, position: int) -> g.Rhs | None:
    """What sets a result of a body; None if it comes from outside."""
    value = body.results[position]
    for s in body.statements:
        if isinstance(s, g.Let) and value in s.targets:
            return s.rhs
    return None
