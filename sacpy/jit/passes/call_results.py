"""What calls give that their arguments tell.

    function f(int n, double[n] a)                    int k, double[n] r = call f(n, a)
        ..                                            w = with [n]
        return n, u                           ->
    int k, double[k] r = call f(n, a)
    w = with [k]

A scalar result that the function computes of its parameters by a few operations is computed of the arguments instead:
mostly extents. So it is known before the call, and the memory of what is made of its results can be there by then; and
whoever reads them knows how long they are. The call is as it was: it may fail.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.analysis.told import Told, told
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.jit.ir.rewrite import Rewriter, callees, names_of, uses
from sacpy.lang.source import Span
from sacpy.nodes import replace


def run(unit: g.Unit) -> g.Unit:
    """A unit in which what arguments tell is computed of them; itself if there is nothing of the kind."""
    called = set[str]().union(*map(callees, unit.functions))
    known = {f.name: (f, found) for f in unit.functions if f.name in called and (found := told(f))}
    if not known:
        return unit
    new = tuple(_Replacing(f, known).changed() for f in unit.functions)
    return unit if all(a is b for a, b in zip(new, unit.functions)) else replace(unit, functions=new)


class _Replacing(Rewriter):
    def __init__(self, function: g.Function, known: dict[str, tuple[g.Function, Told]]) -> None:
        super().__init__()
        self.source, self.known, self.found = function, known, False
        self.used = uses(function.body)
        self.supply: Names | None = None

    def changed(self) -> g.Function:
        """The function with what arguments tell; itself if nobody uses such."""
        new = self.function(self.source)
        return new if self.found else self.source

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        known = self.known.get(s.rhs.function) if isinstance(s, g.Let) and isinstance(s.rhs, g.Call) else None
        if known is None or not isinstance(s, g.Let) or not isinstance(s.rhs, g.Call):
            return super().statement(s)
        callee, results = known
        call = g.Call(s.rhs.function, self.atoms(s.rhs.args))
        inside = Rewriter({p.name: a for p, a in zip(callee.params, call.args)})
        extents = {a for r in callee.body.results for a in g.extents_of(r)}
        ahead: list[g.Stmt] = []
        targets: list[g.Var] = []
        for k, t in enumerate(s.targets):
            targets.append(self.bind(t))
            if k in results and self.used[t.name]:
                for op in results[k]:
                    if op.targets[0].name not in inside.env:
                        inside.env[op.targets[0].name] = self.new(ahead, t.name, inside.rhs(op.rhs), s.span)
                result = callee.body.results[k]
                self.env[t.name] = now = inside.atom(result)
                if results[k] and result in extents:
                    self.bound(ahead, now, g.WIDEST_EXTENT if callee.wide else g.LARGEST_EXTENT, s.span)
                self.found = True
        return (*ahead, g.Let(tuple(targets), call, s.span))

    def new(self, code: list[g.Stmt], stem: str, rhs: g.Rhs, span: Span) -> g.Var:
        """Sets a new scalar to the result of an operation."""
        assert isinstance(rhs, g.Op)
        self.supply = self.supply or names_of(self.source)
        made = self.supply.var(stem, g.ScalarType(op_base(rhs.code, rhs.args)))
        code.append(g.Let((made,), rhs, span))
        return made

    def bound(self, code: list[g.Stmt], extent: g.Atom, largest: int, span: Span) -> None:
        """Checks an extent that is made: the function, which does so too, comes later."""
        for code_, sides, what in (
            ("le", (g.integer(0), extent), "an extent is not negative"),
            ("le", (extent, g.integer(largest)), g.TOO_LARGE),
        ):
            code.append(g.Check(self.new(code, "fits", g.Op(code_, sides), span), what, span))
