"""Statements of a block that the host does at one go, so that arrays which only go from one to the next are no results
that are kept, and may be made where they end up.

In: a block, which of its statements are native and which may stand in native code, how often each variable of the
function is used. Out: the runs: numbers of statements that become one piece, which stands in the place of the last.
What stands in between and needs nothing of them stays before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses

COPIED = 8  # statements of a body that computes where an element lies, and loads it


def only_copied(w: g.WithLoop) -> set[str] | None:
    """The arrays whose elements a with-loop puts together, where it computes nothing else; else None."""
    if not all(isinstance(o, g.Genarray) for o in w.operators):
        return None
    found: set[str] = set()
    for p in w.partitions:
        made: dict[str, g.Rhs] = {}
        for s in p.body.statements:
            if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Op | g.Load | g.View):
                return None
            made[s.targets[0].name] = s.rhs
        if len(made) > COPIED:
            return None
        for a in p.body.results:
            value = a if isinstance(a, g.Const) else made.get(a.name)
            if isinstance(value, g.Load | g.View):
                found.add(value.array.name)
            elif not isinstance(value, g.Const):
                return None
        if any(isinstance(r, g.Load | g.View) and r.array.name not in found for r in made.values()):
            return None  # an index that comes from an array
    return found


def runs(
    block: g.Block, natives: Collection[int], movable: Callable[[g.Stmt], bool], used: Counter[str]
) -> list[tuple[int, ...]]:
    """The runs of a block, of at least two statements each. `natives`: the numbers of those that are native;
    `movable`: whether another one may stand in a piece, too; `used`: how often each variable is used in the function.
    """
    makers = {t.name: k for k in natives for t in _targets(block.statements[k]) if isinstance(t.type, g.ArrayType)}
    found: dict[int, set[int]] = {}
    for k in sorted(natives):
        for name, count in uses(g.Block((block.statements[k],))).items():
            first = makers.get(name, k)
            if first >= k or count < used[name]:  # somebody else needs it, too
                continue
            joined = _closed(block, found.get(first, {first}) | found.get(k, {k}), found, natives, movable)
            found.update(dict.fromkeys(joined, joined))
    return sorted({tuple(sorted(run)) for run in found.values()})


def _closed(
    block: g.Block,
    members: set[int],
    found: Mapping[int, set[int]],
    natives: Collection[int],
    movable: Callable[[g.Stmt], bool],
) -> set[int]:
    """The statements with all in between that need one of them, and the runs of these; nothing where one of them has
    to be elsewhere."""
    made: set[str] = set()
    for k in range(min(members), max(members) + 1):
        s = block.statements[k]
        if k not in members:
            if made.isdisjoint(uses(g.Block((s,)))):
                continue
            if k in natives:
                return _closed(block, members | found.get(k, {k}), found, natives, movable)
            if not movable(s):
                return set()
            members.add(k)
        made.update(t.name for t in _targets(s))
    return members


def outputs(members: tuple[g.Stmt, ...], used: Counter[str]) -> tuple[g.Var, ...]:
    """What others use of what statements set."""
    inside = uses(g.Block(members))
    return tuple(t for s in members for t in _targets(s) if used[t.name] > inside[t.name])


def _targets(s: g.Stmt) -> tuple[g.Var, ...]:
    return s.targets if isinstance(s, g.Let) else ()
