"""Which functions can make their results in a place that their callers give them.

In: a unit. Out: `Destinations`: the results, by the name of a function and their numbers.

    function f(int n, double[n] a)          r lies in a place of n elements that the caller knows of before the call:
        r = if t                            whoever calls f for a part of a larger array gives it that part
          v = with [n] ..
          give v
        else
          s = call f(h, b)                  in the first h elements of the same place
          w = with [n] ..
          give w
        return n, r

A result is made in its place where it is made anew, in one branch at least: what takes the memory of an array that dies
had better stay there. How long it is has to be told by the arguments. Of functions that call one another nothing is
believed before it is shown of those that do not. What becomes of a parameter can be made where that lies (`becoming`).
"""

from __future__ import annotations

from sacpy.jit.analysis.becoming import find_over
from sacpy.jit.analysis.makers import Destinations, makes
from sacpy.jit.analysis.told import told
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import callees


def destinations(unit: g.Unit) -> Destinations:
    """Which results of the functions that a unit calls can be made in a given place."""
    called = set[str]().union(*map(callees, unit.functions))
    open_ = {f.name: (f, frozenset(_told_arrays(f))) for f in unit.functions if f.name in called}
    found = Destinations({name: frozenset() for name in open_}, {name: known for name, (_, known) in open_.items()})
    for table, every in ((found.some, False), (found.all, True)):
        while True:
            new = {
                name: frozenset(k for k in known if makes(f.body, f.body.results[k], table, every=every))
                for name, (f, known) in open_.items()
            }
            if new == table:
                break
            table.update(new)
    while any(find_over(f, known, found) for f, known in open_.values()):
        pass
    return found


def _told_arrays(f: g.Function) -> list[int]:
    """The array results of a function whose extents its arguments tell."""
    known = {f.body.results[k] for k in told(f)}
    return [
        k
        for k, a in enumerate(f.body.results)
        if isinstance(a.type, g.ArrayType) and all(isinstance(e, g.Const) or e in known for e in a.type.extents)
    ]
