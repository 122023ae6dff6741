"""By how much a round of a loop changes the ints that it carries.

In: a counting loop, simplified: what is subtracted is added, and numbers come last. Out: of the ints to which all ways
through its body add numbers, or nothing: the least and the greatest of these.

    for k from 0 to n step 1 with int j := 0        j grows by 0 or 1 in each round: in round k it is at most k
      int m = if c
        int a = add j, 1
        give a
      else
        give j
      next m
"""

from __future__ import annotations

from sacpy.jit.ir import graph as g

Change = tuple[int, int]  # the least and the greatest
_Known = dict[str, tuple[str, int, int]]  # by name: which of the carried ints it was, and what has been added


def changes(r: g.For) -> dict[str, Change]:
    """The changes of carried ints, by the names of these."""
    known: _Known = {p.name: (p.name, 0, 0) for p in r.params if p.type == g.INT}
    if known:
        _follow(r.body, known)
    found: dict[str, Change] = {}
    for p, a in zip(r.params, r.body.results):
        of, low, high = known.get(a.name, ("", 0, 0)) if isinstance(a, g.Var) else ("", 0, 0)
        if of == p.name:
            found[p.name] = low, high
    return found


def _follow(b: g.Block, known: _Known) -> None:
    for s in b.statements:
        if not isinstance(s, g.Let):
            continue
        match s.rhs:
            case g.Op(code="add", args=(g.Var() as a, g.Const() as c)) if a.name in known:
                of, low, high = known[a.name]
                known[s.targets[0].name] = of, low + int(c.value), high + int(c.value)
            case g.Op(code="select", args=(_, a, b_)):
                _join(s.targets[0], a, b_, known)
            case g.If(then=then, otherwise=otherwise):
                _follow(then, known)
                _follow(otherwise, known)
                for t, a, b_ in zip(s.targets, then.results, otherwise.results):
                    _join(t, a, b_, known)


def _join(target: g.Var, a: g.Atom, b: g.Atom, known: _Known) -> None:
    """A variable that is one of two."""
    both = [known.get(x.name) if isinstance(x, g.Var) else None for x in (a, b)]
    if both[0] is not None and both[1] is not None and both[0][0] == both[1][0]:
        (of, low, high), (_, low_, high_) = both[0], both[1]
        known[target.name] = of, min(low, low_), max(high, high_)
