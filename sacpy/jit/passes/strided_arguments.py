"""Arguments that are parts of dense arrays, read where they lie.

In: an optimised unit, and how arguments of its root lie in dense arrays (`host/strides`). Out: a unit that takes these
instead, and the extents of the parts as further arguments behind the others; its loads have the indices of the whole.

    function f(int n, double[n] a)            function f(int n, int e, int e.1, double[e,e.1] a)
        ..                             ->         ..
        x = load a[i]                             x = load a[i,0]

That is so where an argument is only read element by element; and where that saves something: where neighbours are not
neighbours in memory any more, loads are no vectors, and what is read more than once had better be copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sacpy.jit.analysis.sites import sites
from sacpy.jit.failures import Unsupported
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.parts import Layout
from sacpy.jit.ir.rewrite import Rewriter, loaded_only, names_of
from sacpy.nodes import replace

MORE = "is used in other ways than element by element"
AGAIN = "is read more than once, and its elements do not lie side by side"


def strided(unit: g.Unit, layouts: Mapping[int, Layout], count: int) -> g.Unit:
    """A unit that takes dense arrays for some of its `count` arguments. Raises `Unsupported` where one had better be
    copied."""
    root, inputs, params = unit.root, list[g.Input](), list[g.Var]()
    supply = names_of(root)
    parts: dict[str, _Part] = {}
    extra = count
    for p, i in zip(root.params, unit.inputs):
        layout = layouts.get(i.argument)
        if layout is None or i.kind == "element":
            inputs.append(i)
            params.append(p)
            continue
        if i.kind == "extent":
            inputs.append(g.Input("scalar", extra))
            params.append(p)
            extra += 1
            continue
        assert isinstance(p.type, g.ArrayType)
        if p.name not in loaded_only(root.body):
            raise Unsupported(f"{p.name} {MORE}")
        if not layout.is_dense_inside and not _is_read_once(root, p):
            raise Unsupported(f"{p.name} {AGAIN}")
        extents: list[g.Atom] = [supply.var("e", g.INT) for _ in layout.order]
        if layout.gap != 1:
            extents.append(g.integer(layout.gap) if layout.gap else supply.var("e", g.INT))
        new = g.Var(p.name, g.ArrayType(p.type.base, tuple(extents)))
        inputs += [g.Input("extent", i.argument, k) for k, e in enumerate(extents) if isinstance(e, g.Var)]
        params += [e for e in extents if isinstance(e, g.Var)]
        inputs.append(i)
        params.append(new)
        parts[p.name] = _Part(new, layout, p.type.extents, supply)
    before = [s for part in parts.values() for s in part.before]
    body = _Loads(parts, supply).block(root.body)
    body = replace(body, statements=(*before, *body.statements))
    root = replace(root, params=tuple(params), body=body)
    return replace(unit, functions=(root, *unit.functions[1:]), inputs=tuple(inputs))


def _is_read_once(f: g.Function, p: g.Var) -> bool:
    """Whether every element of a parameter is loaded at most once."""
    alias = g.Var("argument", p.type)
    body = Rewriter({p.name: alias}).block(f.body)
    made = replace(f, body=replace(body, statements=(g.Let((alias,), p), *body.statements)))
    use = sites(made).uses[alias.name]
    return use.each and len(use.sites) == 1


class _Part:
    """A parameter as a part of a dense array. `before`: what the indices of its axes that are turned need."""

    def __init__(self, array: g.Var, layout: Layout, extents: tuple[g.Atom, ...], supply: Names) -> None:
        self.array, self.layout = array, layout
        self.before: list[g.Let] = []
        self.last: dict[int, g.Atom] = {}
        for axis, turned in zip(layout.order, layout.turned):
            if turned:
                last = supply.var("last", g.INT)
                self.before.append(g.Let((last,), g.Op("sub", (extents[axis], g.integer(1)), True)))
                self.last[axis] = last


class _Loads(Rewriter):
    """Puts the indices of dense arrays into loads."""

    def __init__(self, parts: Mapping[str, _Part], supply: Names) -> None:
        super().__init__()
        self.parts, self.supply = parts, supply

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Load) or s.rhs.array.name not in self.parts:
            return super().statement(s)
        part, code, index = self.parts[s.rhs.array.name], list[g.Stmt](), list[g.Atom]()
        for axis, step in zip(part.layout.order, part.layout.steps):
            i = self.atom(s.rhs.index[axis])
            if axis in part.last:
                i = self.set(code, g.Op("sub", (part.last[axis], i), True))
            if step > 1:
                i = self.set(code, g.Op("mul", (i, g.integer(step)), True))
            index.append(i if step else g.integer(0))
        if part.layout.gap != 1:
            index.append(g.integer(0))
        return (*code, g.Let(self.binds(s.targets), g.Load(part.array, tuple(index)), s.span))

    def set(self, code: list[g.Stmt], op: g.Op) -> g.Var:
        """A new variable for an index."""
        new = self.supply.var("at", g.INT)
        code.append(g.Let((new,), op))
        return new
