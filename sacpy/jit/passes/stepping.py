"""With-loops that hand values from index to index, as counting loops: what is known of those (that they are scans, or
add to elements wherever the data say) holds for them too.

    double[n] s, double t = with [n]                        double[n] z = with [n] genarray double default 0.0
        genarray double default 0.0                         s, t = for i from 0 to n with w := z, a := 0.0
        propagate a := 0.0                                    x = load v[i]
        part [0] <= [i] < [n]                      ->         b = add a, x
          x = load v[i]                                       u = update w[i] with b
          b = add a, x                                        next u, b
          yield b, b

That is done with one dense partition along one axis; with `into`, along several axes too. It comes late, so that arrays
which such a with-loop reads have been fused into it. Values handed on that do not need one another go to loops of their
own, each with the array that needs it, at most one: so a scan of structs is a scan for each field, where their function
does not mix these.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.analysis.combine import in_order
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import Rewriter, needed_for, rights, uses
from sacpy.jit.passes.units import on_functions, wherever
from sacpy.jit.passes.walker import Walker
from sacpy.nodes import Node, replace

if TYPE_CHECKING:
    from sacpy.jit.ir.associative import Combine
    from sacpy.jit.ir.names import Names


WORDS = ("propagate", "scan", "into", "distribute")


class _Stepper(Walker):
    """`words`: of operators whose with-loops become loops."""

    def __init__(self, function: g.Function, words: Container[str]) -> None:
        super().__init__(function)
        self.words = words

    def let(self, s: g.Let) -> None:
        if isinstance(s.rhs, g.WithLoop) and "into" in self.words and combines(s.rhs) and len(s.rhs.partitions) > 1:
            for one in each_partition(s, s.rhs, self.supply):
                self.let(one)
            return
        super().let(s)
        last = self.out[-1]
        assert isinstance(last, g.Let)
        if isinstance(last.rhs, g.WithLoop) and _steps(last.rhs, self.words):
            self.out.pop()
            self.loop(last, last.rhs)

    def loop(self, s: g.Let, w: g.WithLoop) -> None:
        """Emits the arrays as they are without any index, and a loop over them for each part of what is handed on. A
        scan whose parts are not all of a kind that is known stays whole, with its function."""
        parts = _parts(w)
        handed = [o for o in w.operators if isinstance(o, g.Propagate)]
        function = _function(handed)
        if function is not None and all(_is_known(self.rounds(w, part, handed)) for part in parts):
            function = None
        if function is not None:
            parts = [sorted((c for part in parts for c in part), key=lambda c: c.at)]
        if w.partitions[0].rank > 1:
            self.define(s.targets, nested(w, self.supply), s.span)
            return
        for part in parts:
            initial: list[g.Atom] = []
            for c in part:
                if isinstance(c.operator, g.Genarray):
                    start = self.supply.var("start", g.ArrayType(c.operator.base, w.frame or ()))
                    self.define((start,), g.WithLoop(w.frame, (), (c.operator,), disjoint=True), s.span)
                    initial.append(start)
                elif c.initial is not None:
                    initial.append(c.initial)
            loop = replace(self.rounds(w, part, handed), initial=tuple(initial), combine=function)
            if any(o.down for o in handed):
                loop = self.downwards(loop)
            if len(parts) > 1:  # other parts bind the same names
                loop = _renamed(loop, self.supply)
            self.define(tuple(s.targets[c.at] for c in part), loop, s.span)

    def downwards(self, r: g.For) -> g.For:
        """A loop that begins with the last round."""
        first, end = (self.emit("end", g.Op("sub", (a, g.integer(1)), exact=True)) for a in (r.upper, r.lower))
        return replace(r, lower=first, upper=end, step=-1)

    def rounds(self, w: g.WithLoop, part: Sequence[_Column], handed: Sequence[g.Propagate]) -> g.For:
        """The loop over a part, which begins with its own parameters."""
        (p,) = w.partitions
        params: list[g.Var] = []
        updates: list[g.Stmt] = []
        results: list[g.Atom] = []
        for c in part:
            if isinstance(c.operator, g.Genarray):
                type_ = g.ArrayType(c.operator.base, w.frame or ())
                held, new = (self.supply.var(stem, type_) for stem in ("held", "new"))
                params.append(held)
                updates.append(g.Let((new,), g.Update(held, p.index, p.body.results[c.at]), p.span))
                results.append(new)
            elif c.param is not None:
                params.append(c.param)
                results.append(p.body.results[c.at])
        kept = p.body.statements
        if len(part) < len(p.body.results):
            kept = needed_for([p.body.results[c.at] for c in part], p.body)
        body = g.Block((*kept, *updates), tuple(results))
        lower, upper = p.lower[0], p.upper[0]
        associative = all(o.word == "scan" for o in handed)
        return g.For(p.index[0], lower, upper, 1, tuple(params), tuple(params), body, associative=associative)


def nested(w: g.WithLoop, supply: Names) -> g.For:
    """A with-loop that combines by index and does nothing else, as a loop for each axis."""
    (p,) = w.partitions
    handed = [o for o in w.operators if isinstance(o, g.Propagate)]
    params, initial = (tuple(a for o in handed for a in many) for many in zip(*((o.params, o.initial) for o in handed)))
    return in_order(p, params, initial, p.body, supply)


def _renamed(r: g.For, supply: Names) -> g.For:
    """The same loop with names of its own."""
    found = Rewriter({}, supply).rhs(r)
    assert isinstance(found, g.For)
    return found


def _function(handed: Sequence[g.Propagate]) -> Combine | None:
    """The function of a scan, if its neutral elements are known."""
    if len(handed) != 1 or handed[0].combine is None:
        return None
    neutrals = tuple(a for a in handed[0].initial if isinstance(a, g.Const))
    return replace(handed[0].combine, neutrals=neutrals) if len(neutrals) == len(handed[0].initial) else None


def _is_known(r: g.For) -> bool:
    """Whether a loop is a scan of a kind that is known, or sets nothing that anybody sees."""
    from sacpy.jit.analysis.scans import scan_of

    return not any(g.extents_of(p) for p in r.params) or scan_of(r, {}, strict=False) is not None


class _Column(Node):
    """A result of a with-loop: the number of it, its operator, and for what is handed on its parameter."""

    at: int
    operator: g.Genarray | g.Propagate
    param: g.Var | None = None
    initial: g.Atom | None = None


def _parts(w: g.WithLoop) -> list[list[_Column]]:
    """The results of a with-loop in parts, none of which needs what another one hands on; all in one where there are
    checks, or arrays beside those of results."""
    from sacpy.jit.analysis.straight import is_straight  # where values are handed on, which is rare

    (p,) = w.partitions
    columns: list[_Column] = []
    for o in w.operators:
        if isinstance(o, g.Genarray):
            columns.append(_Column(len(columns), o))
        elif isinstance(o, g.Propagate):
            for param, start in zip(o.params, o.initial):
                columns.append(_Column(len(columns), o, param, start))
    checks = any(isinstance(t, g.Check) for t in g.statements(p.body))
    if checks or not is_straight(p.body) or not all(map(_is_scalar, columns)):
        return [columns]
    handed = {c.param.name: c.at for c in columns if c.param is not None}
    parts = [{c.at} for c in columns]
    for c in columns:
        result = (p.body.results[c.at],)
        names = uses(g.Block(needed_for(result, p.body), result))
        needed = {at for name, at in handed.items() if names[name]}
        if c.param is None and not needed:
            needed = {min(handed.values())}
        touched = [part for part in parts if part & (needed | {c.at})]
        parts = [part for part in parts if part not in touched] + [set().union(*touched)]
    return [[columns[at] for at in sorted(part)] for part in sorted(parts, key=min)]


def _is_scalar(c: _Column) -> bool:
    return c.param is None or isinstance(c.param.type, g.ScalarType)


def combines(w: g.WithLoop) -> bool:
    """Whether a with-loop combines by index, and does nothing else."""
    return bool(w.operators) and all(isinstance(o, g.Propagate) and o.word == "into" for o in w.operators)


def combines_densely(w: g.WithLoop) -> bool:
    """Whether it does so over one space without gaps."""
    return combines(w) and len(w.partitions) == 1 and w.partitions[0].rank > 0 and w.partitions[0].step is None


def each_partition(s: g.Let, w: g.WithLoop, supply: Names) -> Iterator[g.Let]:
    """A with-loop that combines by index as one for each partition, in their order."""
    handed = [o for o in w.operators if isinstance(o, g.Propagate)]
    for n, p in enumerate(w.partitions):
        targets = s.targets
        if n < len(w.partitions) - 1:
            targets = tuple(supply.var(t.name, t.type) for t in s.targets)
        one = replace(w, partitions=(p,), operators=tuple(handed))
        yield g.Let(targets, Rewriter({}, supply).rhs(one), s.span)
        rest = iter(targets)
        handed = [replace(o, initial=tuple(next(rest) for _ in o.initial)) for o in handed]


def _steps(w: g.WithLoop, words: Container[str]) -> bool:
    """Whether a with-loop hands values on, is along one axis, and has at most one array in each part; or, along several
    axes, combines with elements and makes no array."""
    handed = [o for o in w.operators if isinstance(o, g.Propagate)]
    arrays = [o for o in w.operators if isinstance(o, g.Genarray)]
    if (
        not handed
        or not all(o.word in words for o in handed)
        or len(arrays) + len(handed) < len(w.operators)
        or any(o.cell for o in arrays)
    ):
        return False
    if len(w.partitions) != 1 or w.partitions[0].rank == 0 or w.partitions[0].step is not None:
        return False
    if w.partitions[0].rank > 1:
        return combines_densely(w)
    return (
        len(arrays) < 2
        or _function(handed) is not None
        or all(sum(c.param is None for c in part) < 2 for part in _parts(w))
    )


def scans_as_loops(function: g.Function) -> g.Function:
    """A function with its scans as counting loops; itself if it has none."""
    words = ("scan",)
    found = any(_steps(w, words) for w in rights(function.body, g.WithLoop))
    return _Stepper(function, words).function(function) if found else function


@wherever(lambda r: isinstance(r, g.WithLoop) and (_steps(r, WORDS) or combines(r)))
def run(function: g.Function) -> g.Function:
    """A unit with such with-loops as counting loops."""
    return _Stepper(function, WORDS).function(function)


def around(function: g.Function) -> g.Function:
    """A function with the maps around its scans in these."""
    if not any(rights(function.body, g.For)) or not any(rights(function.body, g.WithLoop)):
        return function
    from sacpy.jit.passes.behind import behind  # few functions have both

    return behind(function)


run_around = on_functions(around)


@on_functions
def run_exact_scans(function: g.Function) -> g.Function:
    """A unit with those scans as with-loops whose results do not depend on how they are grouped."""
    from sacpy.jit.passes.device_scans import scans_as_withloops  # where there is a device

    return scans_as_withloops(function, regroup=False)


@on_functions
def run_scans(function: g.Function) -> g.Function:
    """A unit with all of its scans as with-loops."""
    from sacpy.jit.passes.device_scans import scans_as_withloops

    return scans_as_withloops(function, regroup=True)
