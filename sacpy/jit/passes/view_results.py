"""Results that are parts of arrays which code has made, in some order: given with these, and not copied.

In: an optimised unit. Out: a unit whose root gives these arrays instead, with where in them the results lie
(`ir/parts`): whoever calls it makes views. So what `reverse`, `transpose`, `take`, `drop` and steps leave to be done at
the end is not done at all.

    b = for ..                                   b = for ..
    r = with [m,n] disjoint complete      ->     k = sub! n, 1
        part [0,0] <= [i,j] < [m,n]
            k = sub! n, 1; l = sub! k, j
            x = load b[l,i]
            yield x
    return m, n, r                               return m, n, b, n, m, k

    the part of b: along its first axis from k on in steps of -1 what is axis 1 of r, along its second axis axis 0

That is so where the array is made in the root and handed to nobody else: then no two results share memory, and none
shares any with an argument. No element may be in a part twice, since a caller may write to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import NOWHERE, Makers, arrays_of
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.parts import Extent, Part
from sacpy.jit.ir.rewrite import copied, names_of, uses
from sacpy.jit.passes import dead_code
from sacpy.jit.passes.layouts import layout_of
from sacpy.nodes import replace

NONE = "no result is a part of an array that is made for it alone"
SUMS = ("add", "sub", "neg", "mul")  # what starts are made of, at indices that there may not be


def viewed(unit: g.Unit) -> g.Unit:
    """A unit that gives the arrays that results are parts of. Raises `Unsupported` where there is none."""
    root = unit.root
    finder = _Finder(root)
    results, before, outputs = list(root.body.results), list(root.body.statements), list[g.Output]()
    for o in unit.outputs:
        found = finder.part(o) if o.kind == "array" and o.part is None else None
        if found is None:
            outputs.append(o)
            continue
        array, starts, axes = found
        before += starts.statements
        results[o.positions[0]] = array
        whole = tuple(_added(results, g.extents_of(array)))
        firsts = _added(results, starts.results)
        part: Part = whole, tuple((at, axis, step) for at, (axis, step) in zip(firsts, axes, strict=True))
        outputs.append(replace(o, part=part))
    if tuple(outputs) == unit.outputs:
        raise Unsupported(NONE)
    root = replace(root, body=g.Block(tuple(before), tuple(results)))
    return dead_code.run(replace(unit, functions=(root, *unit.functions[1:]), outputs=tuple(outputs)))


def _added(results: list[g.Atom], atoms: Sequence[g.Atom]) -> Iterator[Extent]:
    """Ints as they are told to the caller, among the results where they are no numbers."""
    for a in atoms:
        if isinstance(a, g.Const):
            yield int(a.value)
        else:
            results.append(a)
            yield None, len(results) - 1


class _Finder:
    """Finds the parts that results are."""

    def __init__(self, root: g.Function) -> None:
        self.body, self.supply, self.forms = root.body, names_of(root), Ints(root).forms
        self.makers = Makers(root.body, (), arrays_of, NOWHERE)
        self.made = {t.name: s for s in root.body.statements if isinstance(s, g.Let) for t in s.targets}
        self.uses: Mapping[str, int] = uses(root.body)

    def part(self, o: g.Output) -> tuple[g.Var, g.Block, list[tuple[int | None, int]]] | None:
        """The array that a result is a part of; a block that computes the first index along each of its axes; and for
        each of these the axis of the result, with the step. None where it is not, or had better be copied."""
        result = self.body.results[o.positions[0]]
        s = self.made.get(result.name) if isinstance(result, g.Var) else None
        p = None if s is None or self.uses[s.targets[0].name] != 1 else layout_of(s)
        if s is None or p is None:
            return None
        *ops, last = p.body.statements
        assert isinstance(last, g.Let) and isinstance(last.rhs, g.Load)
        if not all(isinstance(op, g.Let) and isinstance(op.rhs, g.Op) and op.rhs.code in SUMS for op in ops):
            return None
        array, index = last.rhs.array, last.rhs.index
        if array.name not in self.makers.makers or array in self.body.results:
            return None
        if max(self.makers.users[array.name]) != self.body.statements.index(s):
            return None  # it may be handed on
        axes = [self.axis(a, p) for a in index]
        moving = [axis for axis in axes if axis is not None and axis[0] is not None]
        if None in axes or len({axis for axis, _ in moving}) != p.rank:
            return None  # an axis of the result that nothing runs along has the same elements many times
        first: dict[str, g.Atom] = {i.name: g.integer(0) for i in p.index}
        starts = copied(g.Block(tuple(ops), index), first, self.supply)
        return array, starts, [axis for axis in axes if axis is not None]

    def axis(self, a: g.Atom, p: g.Partition) -> tuple[int | None, int] | None:
        """The axis of a partition that an index runs along, and in which steps; None where it is no such index."""
        form, numbers = self.forms.form(a), {i.name: k for k, i in enumerate(p.index)}
        terms = {} if isinstance(form, int) else form.terms
        inner = {t.name for s in p.body.statements if isinstance(s, g.Let) for t in s.targets}
        along = [name for name in terms if name in numbers]
        if len(along) > 1 or not inner.isdisjoint(terms):
            return None
        return (numbers[along[0]], terms[along[0]]) if along else (None, 0)


__all__ = ["viewed"]
