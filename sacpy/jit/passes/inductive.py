"""What holds in every round of a loop for the ints that it carries, by induction.

    loop int lo := 0, int hi := n               lo >= 0, hi >= 0, hi <= n, lo <= hi
        while lt lo, hi
        round                                   hence 0 <= mid < n: its checks go
            mid = div (add lo, hi), 2

In: a loop, and what is known where it stands. Out: sums of its carried ints, and of what is around it, that are never
negative. Candidates are what the program itself compares, and that ints do not pass zero, nor what they or others
begin with; those that do not hold at first are dropped. Then a copy of the body is walked with all that are left, and
those are dropped that do not hold behind it, until all do (C. Flanagan, K. R. M. Leino: Houdini, an annotation
assistant, FME 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sacpy.jit.analysis.costs import size
from sacpy.jit.analysis.facts import Sum
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import Rewriter, bound

if TYPE_CHECKING:
    from sacpy.jit.passes.ranges import Ranges

CANDIDATES = 16  # of a loop at most
CASES = 16  # of results that are chosen by conditions, looked at one by one
WALKS = 4  # copies of bodies walked in all: as many statements as the function has, this many times

Rounds = g.Loop | g.For
Choice = tuple[g.Atom, g.Atom, g.Atom]  # a condition, and what is chosen where it holds, and where not
Enter = Callable[[Any], object]  # notes what is known in the body of a loop anyhow, and walks its condition


class _Marked(Names):
    """Names that nothing else in a function has: what is known of what they name must not be mixed up with it."""

    def fresh(self, stem: str) -> str:
        stem = stem.partition(".")[0].partition("~")[0]
        self.taken[stem] = self.taken.get(stem, 0) + 1
        return f"{stem}~{self.taken[stem]}"


class Induction:
    """Finds what holds in every round. `known`: what is known at the place of the walk."""

    def __init__(self, known: Ranges) -> None:
        self.known = known
        self.left = WALKS * size(known.walk.source.body)  # statements that may still be walked
        self.names = _Marked()
        self.trying = False  # whether a copy is walked: in there, loops are not looked at, which would take too long
        self.found: dict[str, tuple[Sum, ...]] = {}  # by the first of the carried variables

    def of(self, r: Rounds, params: tuple[g.Var, ...], initial: tuple[g.Atom, ...], enter: Enter) -> tuple[Sum, ...]:
        """What is never negative in a round of a loop: `r` as it was before the walk, `params` and `initial` as they
        are in it."""
        first = {p.name: self.known.value(a) for p, a in zip(params, initial) if p.type == g.INT}
        if params:
            self.found[params[0].name] = ()
        if not first or self.trying or not _asks(r):
            return ()
        self._know(r, params)
        found: tuple[Sum, ...] = ()
        for s in self._candidates(r, params, first):
            if len(found) < CANDIDATES and s not in found and self.known.facts.holds(_with(s, first)):
                found += (s,)
        cost = size(r.body) + 1
        while found:
            if cost > self.left:
                return ()
            self.left -= cost
            kept = self._kept(r, params, found, enter)
            if kept == found:
                break
            found = kept
        self.found[params[0].name] = found
        return found

    def _know(self, r: Rounds, params: tuple[g.Var, ...]) -> None:
        """Takes the carried ints as variables, the counter first: what is known of both is looked up at the younger
        one."""
        counter = (self.known.walk.bind(r.index),) if isinstance(r, g.For) else ()
        for v in (*counter, *params):
            if v.type == g.INT:
                self.known.form(v)

    def behind(self, r: Rounds, targets: tuple[g.Var, ...]) -> None:
        """Notes what holds of the results of a loop that has been walked."""
        found = self.found.get(r.params[0].name) if r.params else None
        if found:
            now = {p.name: self.known.form(t) for p, t in zip(r.params, targets) if p.type == g.INT}
            for s in found:
                self.known.learn(_with(s, now))

    # ---- candidates

    def _candidates(self, r: Rounds, params: tuple[g.Var, ...], first: dict[str, Sum]) -> Iterator[Sum]:
        known, walk = self.known, self.known.walk
        carried = {p.name: now for p, now in zip(r.params, params)}
        inside = bound(g.Block((g.Let((), r),))) - carried.keys()

        def form(a: g.Atom) -> Sum | None:
            if isinstance(a, g.Var) and a.name in inside:
                return None
            return known.form(carried[a.name] if isinstance(a, g.Var) and a.name in carried else walk.atom(a))

        for name, s in first.items():
            now = Sum(0, {name: 1})
            yield now
            for other in (s, *first.values()):
                yield now - other
                yield other - now
        blocks = (r.condition, r.body) if isinstance(r, g.Loop) else (r.body,)
        for let in (s for b in blocks for s in g.statements(b)):
            if isinstance(let, g.Let) and isinstance(let.rhs, g.Op) and let.rhs.code in ("lt", "le"):
                low, high = (form(a) if a.base == "int" else None for a in let.rhs.args)
                if low is not None and high is not None and (low.terms.keys() | high.terms.keys()) & first.keys():
                    strict = let.rhs.code == "lt"
                    yield (high - low).offset(-strict)
                    yield (high - low).offset(1 - strict)

    # ---- one step

    def _kept(self, r: Rounds, params: tuple[g.Var, ...], found: tuple[Sum, ...], enter: Enter) -> tuple[Sum, ...]:
        """Those that hold behind a round, if all hold in front of it."""
        known, walk = self.known, self.known.walk
        copy = Rewriter({}, self.names).rhs(r)
        assert isinstance(copy, g.Loop | g.For)
        renamed = {p.name: Sum(0, {new.name: 1}) for p, new in zip(params, copy.params) if p.type == g.INT}

        def work() -> tuple[Sum, ...]:
            walk.binds(copy.params)
            self._know(copy, copy.params)
            for s in found:
                known.learn(_with(s, renamed))
            enter(copy)
            for statement in copy.body.statements:
                walk.step(statement)
            results = {p.name: a for p, a in zip(params, walk.atoms(copy.body.results)) if p.type == g.INT}
            return self._left(found, results, _choices(walk.out), [CASES])

        supply, out = walk.supply, walk.out
        vars(walk)["supply"], walk.out, self.trying = self.names, [], True
        try:
            kept: tuple[Sum, ...] = walk.scoped(work)
        finally:
            vars(walk)["supply"], walk.out, self.trying = supply, out, False
        return kept

    def _left(
        self, found: tuple[Sum, ...], results: dict[str, g.Atom], choices: dict[str, Choice], cases: list[int]
    ) -> tuple[Sum, ...]:
        """Those that hold for the results, in each case in which conditions choose these. `cases`: how many more are
        looked at."""
        known, walk = self.known, self.known.walk
        chosen = {name: c for name, a in results.items() if isinstance(a, g.Var) and (c := choices.get(a.name))}
        if not chosen or not cases[0] or not found:
            now = {name: known.value(a) for name, a in results.items()}
            return tuple(s for s in found if known.facts.holds(_with(s, now)))
        cases[0] -= 1
        condition = next(iter(chosen.values()))[0]
        for holds in (True, False):
            arms = {name: c[1 if holds else 2] for name, c in chosen.items() if c[0] == condition}

            def case(
                found: tuple[Sum, ...] = found, results: dict[str, g.Atom] = results | arms, holds: bool = holds
            ) -> tuple[Sum, ...]:
                walk.assume(condition, holds)
                return self._left(found, results, choices, cases)

            found = walk.scoped(case)
        return found


def _asks(r: Rounds) -> bool:
    """Whether a body checks what is computed from the ints that it carries, which is what all this is for."""
    from_them = {p.name for p in r.params if p.type == g.INT}
    for s in g.statements(r.body):
        if isinstance(s, g.Check):
            if isinstance(s.condition, g.Var) and s.condition.name in from_them:
                return True
        elif isinstance(s.rhs, g.Op | g.If | g.For | g.Loop):
            atoms = (*g.operands(s.rhs), *(a for b in g.blocks(s.rhs) for a in b.results))
            if any(isinstance(a, g.Var) and a.name in from_them for a in atoms):
                from_them.update(t.name for t in s.targets)
                if isinstance(s.rhs, g.For | g.Loop):
                    from_them.update(p.name for p in s.rhs.params)
    return False


def _choices(statements: list[g.Stmt]) -> dict[str, Choice]:
    """What is one of two, as a condition says."""
    found: dict[str, Choice] = {}
    for s in g.statements(g.Block(tuple(statements))):
        if isinstance(s, g.Let) and isinstance(s.rhs, g.If):
            for t, a, b in zip(s.targets, s.rhs.then.results, s.rhs.otherwise.results):
                found[t.name] = s.rhs.condition, a, b
        elif isinstance(s, g.Let) and isinstance(s.rhs, g.Op) and s.rhs.code == "select":
            condition, a, b = s.rhs.args
            found[s.targets[0].name] = condition, a, b
    return found


def _with(s: Sum, now: dict[str, Sum]) -> Sum:
    """A sum with sums in the place of variables."""
    total = Sum(s.constant, {name: c for name, c in s.terms.items() if name not in now})
    for name, c in s.terms.items():
        if name in now:
            total = total.plus(now[name], c)
    return total
