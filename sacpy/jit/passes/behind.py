"""Maps around scans: what a with-loop computes of the results of a scan is computed where these are written, and the
array of results is not made.

    double[n] s.1, double t = for i ..             double[n] w, double t = for i ..
                 with s := v, p := 0.0                          with s := v, p := 0.0
      x = load s[i]; q = add p, x                    x = load s[i]; q = add p, x
      u = update s[i] with q             ->          y = sqrt q
      next u, q                                      u = update s[i] with y
    w = with [n] genarray                            next u, q
      part [0] <= [j] < [n]
        y = sqrt (load s.1[j])
        yield y

The with-loop has one partition, as long as the scan is, loads each result at its own index, and nobody else uses them.
In the same way a with-loop that makes the vector which a scan begins with, for it alone, is computed where the scan
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sacpy.jit.analysis.depends import own_cell
from sacpy.jit.analysis.scans import scan_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import Reader, Rewriter, has_only, inner_binders, names_of, uses
from sacpy.nodes import replace

BACK = 8  # statements before a map among which its scan may be


class _Joiner(Rewriter):
    """Joins the maps of a function to scans; `supply`: names that are new in it."""

    def __init__(self, supply: Names) -> None:
        super().__init__()
        self.supply = supply

    def block(self, b: g.Block) -> g.Block:
        new = super().block(b)
        count = uses(new)
        kept: list[g.Stmt] = []
        for s in new.statements:
            if isinstance(s, g.Let) and _is_map(s):
                kept += self.behind(kept, s, count)
            elif isinstance(s, g.Let) and isinstance(s.rhs, g.For):
                kept += self.ahead(kept, s, s.rhs, count)
            else:
                kept.append(s)
        return replace(new, statements=tuple(kept)) if kept != list(new.statements) else new

    def behind(self, before: list[g.Stmt], s: g.Let, count: Mapping[str, int]) -> list[g.Stmt]:
        """What takes the place of a map: its scan, which is taken out of the list, with the map in it; or the map."""
        w = s.rhs
        assert isinstance(w, g.WithLoop)
        mine = uses(g.Block((s,)))
        between: set[str] = set()
        for k in range(len(before) - 1, max(len(before) - BACK, 0) - 1, -1):
            first = before[k]
            if (
                isinstance(first, g.Let)
                and isinstance(first.rhs, g.For)
                and between.isdisjoint(t.name for t in first.targets)
            ):
                arrays = [t for t in first.targets if isinstance(t.type, g.ArrayType)]
                other = any(mine[t.name] for t in first.targets if t not in arrays)
                if len(arrays) == 1 and not other and count[arrays[0].name] == mine[arrays[0].name] > 0:
                    joined = self.joined(first, first.rhs, arrays[0], s, w)
                    if joined is not None:
                        del before[k]
                        return joined
            between |= uses(g.Block((first,))).keys() | _extents(first)
        return [s]

    def ahead(self, before: list[g.Stmt], s: g.Let, r: g.For, count: Mapping[str, int]) -> list[g.Stmt]:
        """What takes the place of a loop: where it is a scan, and a map makes its vector, the loop with that in it."""
        scan = scan_of(r, {}, strict=False)
        if scan is None or scan.accumulator is None or not isinstance(scan.array.type, g.ArrayType):
            return [s]
        at = r.params.index(scan.array)
        given = r.initial[at]
        first = next((b for b in before if isinstance(b, g.Let) and b.targets == (given,) and _is_map(b)), None)
        if not isinstance(given, g.Var) or not isinstance(first, g.Let) or count[given.name] != 1:
            return [s]
        w = first.rhs
        assert isinstance(w, g.WithLoop)
        (p,) = w.partitions
        if not (_as_long(r, p) or (r.step == -1 and self.is_whole_down(before, r, p))):
            return [s]
        body = _Reader({p.index[0].name: r.index}, {}, self.supply).block(p.body)
        element = _Reader({}, {scan.array.name: body.results[0]}, None).block(r.body)
        start = self.supply.var("start", given.type)
        empty = g.Let((start,), replace(w, partitions=(), complete=False), first.span)
        initial = tuple(start if q == scan.array else a for q, a in zip(r.params, r.initial))
        loop = replace(r, initial=initial, body=g.Block((*body.statements, *element.statements), element.results))
        if scan_of(loop, {}, strict=False) is None:
            return [s]
        before.remove(first)
        return [empty, g.Let(s.targets, loop, s.span)]

    def is_whole_down(self, before: list[g.Stmt], r: g.For, p: g.Partition) -> bool:
        """Whether a loop runs down from the last index of a partition that begins at 0."""
        last = next((t.rhs for t in before if isinstance(t, g.Let) and t.targets == (r.lower,)), None)
        return (
            isinstance(last, g.Op)
            and last == g.Op("add", (p.upper[0], g.integer(-1)), True)
            and r.upper == g.integer(-1)
        )

    def joined(self, first: g.Let, r: g.For, array: g.Var, s: g.Let, w: g.WithLoop) -> list[g.Stmt] | None:
        """A scan with a map in it, if that is one of its results."""
        scan = scan_of(r, {}, strict=False)
        (p,) = w.partitions
        assert isinstance(array.type, g.ArrayType)
        if scan is None or scan.accumulator is None or not _as_long(r, p) or w.frame != array.type.extents:
            return None
        if not own_cell(p.body, array, p.index):
            return None
        at = r.params.index(scan.array)
        given, written = (
            r.initial[at],
            next(t.rhs for t in r.body.statements if isinstance(t, g.Let) and _updates(t, scan.array)),
        )
        (target,), (made,) = s.targets, w.operators
        assert isinstance(given, g.Var) and isinstance(made, g.Genarray) and isinstance(written, g.Update)
        before: list[g.Stmt] = []
        held, start = scan.array, given
        if made.base != scan.array.base:
            held, start = (self.supply.var(stem, g.ArrayType(made.base, w.frame or ())) for stem in ("held", "start"))
            before.append(g.Let((start,), g.WithLoop(w.frame, (), (made,), disjoint=True), s.span))
        read = _Reader({p.index[0].name: r.index}, {array.name: written.value}, self.supply)
        if held is scan.array:
            read.instead[given.name] = (held, p.index)  # its element is there still
        body = read.block(p.body)
        new = self.supply.var("u", held.type)
        own: list[g.Stmt] = []
        for t in r.body.statements:
            own += (
                [*body.statements, g.Let((new,), g.Update(held, (r.index,), body.results[0]))]
                if _updates(t, scan.array)
                else [t]
            )
        params = tuple(held if q == scan.array else q for q in r.params)
        results = tuple(new if q == scan.array else a for q, a in zip(r.params, r.body.results))
        inside = g.Block(tuple(own), results)
        if held is not scan.array:
            inside = _Reader({}, {}, None, {scan.array.name: (given, None)}).block(inside)
        initial = tuple(start if q == scan.array else a for q, a in zip(r.params, r.initial))
        loop = replace(r, params=params, initial=initial, body=inside)
        if scan_of(loop, {}, strict=False) is None:
            return None
        targets = tuple(target if t == array else t for t in first.targets)
        return [*before, g.Let(targets, loop, s.span)]


class _Reader(Reader):
    """The same, where elements of other arrays (at an index, if one is given) are read from another one `instead`."""

    def __init__(
        self,
        env: dict[str, g.Atom],
        made: dict[str, g.Atom],
        names: Names | None,
        instead: dict[str, tuple[g.Var, tuple[g.Atom, ...] | None]] | None = None,
    ) -> None:
        super().__init__(env, made, names)
        self.instead = instead or {}

    def rhs(self, r: g.Rhs) -> g.Rhs:
        if isinstance(r, g.Load) and r.array.name in self.instead:
            array, index = self.instead[r.array.name]
            if index in (None, r.index):
                return g.Load(array, self.atoms(r.index))
        return super().rhs(r)


def _extents(s: g.Stmt) -> set[str]:
    """The scalars that say how large the arrays are that a statement sets."""
    lets = (t for t in g.statements(g.Block((s,))) if isinstance(t, g.Let))
    atoms = (e for t in lets for v in (*t.targets, *inner_binders(t.rhs)) for e in g.extents_of(v))
    return {e.name for e in atoms if isinstance(e, g.Var)}


def _is_map(s: g.Let) -> bool:
    """Whether a statement makes a vector by one partition that covers it, with a straight body."""
    w = s.rhs
    if not isinstance(w, g.WithLoop) or len(w.partitions) != 1 or len(w.operators) != 1:
        return False
    (p,), (o,) = w.partitions, w.operators
    if not isinstance(o, g.Genarray) or o.cell or p.rank != 1 or p.step is not None or not w.complete:
        return False
    return p.lower == (g.integer(0),) and has_only(p.body, g.Op, g.Load, g.If, g.Var)


def _as_long(r: g.For, p: g.Partition) -> bool:
    """Whether a loop has the indices of a partition that begins at 0."""
    return r.step == 1 and (r.lower, r.upper) == (p.lower[0], p.upper[0])


def _updates(s: g.Stmt, array: g.Var) -> bool:
    return isinstance(s, g.Let) and isinstance(s.rhs, g.Update) and s.rhs.array == array


def behind(function: g.Function) -> g.Function:
    """A function with the maps around its scans in these."""
    return _Joiner(names_of(function)).function(function)
