"""What runs on the host although there is a device: with-loops that cannot run there, those that only put together what
the host has made, and which statements the host does at one go, so that arrays which only go from one to the next are
no results that are kept, and may be made where they end up.

In: a unit, and the judgement of the kernels' planner on single with-loops. Out: a reason for each with-loop that stays;
the runs of a block: numbers of statements that become one piece, which stands in the place of the last. What stands in
between and needs nothing of them stays before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.passes.mappings import stands

Judge = Callable[[g.Let], str]  # why the with-loop of a statement cannot run on the device; "": it can
PUTS_TOGETHER = "it only copies what the CPU has made for it, and the CPU may make that where it is to be"
COPIED = 8  # statements of a body that computes where an element lies, and loads it


class Residence:
    """Where the statements of a unit may run. `stays`: the with-loops that do not run on the device, as they were
    asked for, and why."""

    def __init__(self, unit: g.Unit, judge: Judge) -> None:
        self.stays: list[tuple[g.Let, str]] = []
        self._unit, self._judge = unit, judge
        self._reasons: dict[int, str] = {}
        self._may: dict[str, bool] = {}
        self._around: dict[int, tuple[g.Block, Counter[str]]] = {}
        for f in unit.functions:
            used = uses(f.body)
            self._around.update((id(s), (b, used)) for b in _blocks(f.body) for s in b.statements)

    def reason(self, let: g.Let) -> str:
        """Why a with-loop does not run on the device; "": it may."""
        known = self._reasons.get(id(let))
        if known is None:
            known = self._judge(let) or (PUTS_TOGETHER if self._puts_together(let) else "")
            self._reasons[id(let)] = known
            if known:
                self.stays.append((let, known))
        return known

    def _puts_together(self, let: g.Let) -> bool:
        """Whether a with-loop only copies what the host has made for it, in the same block. To send the result takes
        no longer than to send the parts."""
        assert isinstance(let.rhs, g.WithLoop)
        arrays = None if stands(let.rhs) else only_copied(let.rhs)
        if not arrays or id(let) not in self._around:
            return False
        (block, used), own = self._around[id(let)], uses(g.Block((let,)))
        makers = {
            t.name: s
            for s in block.statements[: next(k for k, s in enumerate(block.statements) if s is let)]
            if isinstance(s, g.Let) and isinstance(s.rhs, g.For | g.Loop | g.Call | g.WithLoop)
            for t in s.targets
        }
        return all(name in makers and own[name] == used[name] and not self.may(makers[name]) for name in arrays)

    def may(self, s: g.Stmt) -> bool:
        """Whether something in a statement may run on the device; what a with-loop does inside counts with that one."""
        if not isinstance(s, g.Let):
            return False
        if isinstance(s.rhs, g.WithLoop):
            return not self.reason(s)
        if isinstance(s.rhs, g.Call):
            name = s.rhs.function
            if name not in self._may:
                self._may[name] = False  # a recursive call alone is no reason
                self._may[name] = any(map(self.may, self._unit.function(name).body.statements))
            return self._may[name]
        return any(self.may(inner) for b in g.blocks(s.rhs) for inner in b.statements)


def _blocks(block: g.Block) -> Iterator[g.Block]:
    """A block, and those inside that are not the bodies of with-loops."""
    yield block
    for s in block.statements:
        if isinstance(s, g.Let) and not isinstance(s.rhs, g.WithLoop):
            for inner in g.blocks(s.rhs):
                yield from _blocks(inner)


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
