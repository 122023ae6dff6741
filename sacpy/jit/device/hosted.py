"""Parts of a function that stay on the host: compiled for the CPU by the host target, as units of their own.

In: statements of a graph, or a call of a function of its unit. Out: a `Piece`, called with the values of the variables
that the statements use, which gives those that they set. Scalars are Python's, arrays NumPy's. A piece is compiled when
it is first called, or found in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.base.digests import new_digest
from sacpy.jit.fingerprint import platform_digest
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.graph_printer import print_unit
from sacpy.jit.ir.rewrite import bound, free, inner_binders

if TYPE_CHECKING:
    from sacpy.jit.cache import Cache
    from sacpy.jit.host.native import Context, NativeFunction
    from sacpy.jit.options import Options


class PieceContext(Protocol):
    """What compiling a piece takes (`run/contract` has it)."""

    @property
    def options(self) -> Options: ...

    @property
    def cache(self) -> Cache: ...

    @property
    def context(self) -> Context: ...


class Piece:
    """`inputs`: the variables that it takes; `outputs`: those that it gives, in the order of the results of a call."""

    def __init__(
        self, unit: g.Unit, statements_: Sequence[g.Stmt], targets: Sequence[g.Var], tools: PieceContext
    ) -> None:
        self._tools = tools
        self._function: NativeFunction | None = None
        self.outputs = tuple(targets)
        self.unit, self.inputs = _unit_of(unit, tuple(statements_), self.outputs)

    def __call__(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Runs it. Raises `NativeFailure`."""
        if self._function is None:
            self._function = _compiled(self.unit, self._tools)
        return self._function.call(values)


def _unit_of(unit: g.Unit, code: tuple[g.Stmt, ...], targets: tuple[g.Var, ...]) -> tuple[g.Unit, tuple[g.Var, ...]]:
    body = g.Block(code, targets)
    inputs = _inputs(body, targets)
    positions = {v.name: k for k, v in enumerate(inputs)}
    results: list[g.Atom] = list(targets)
    at = {v.name: k for k, v in enumerate(targets)}

    def extent(e: g.Atom) -> int | tuple[None, int]:
        if isinstance(e, g.Const):
            return int(e.value)
        if e.name not in at:
            at[e.name] = len(results)
            results.append(e)
        return None, at[e.name]

    outputs = []
    for k, v in enumerate(targets):
        if isinstance(v.type, g.ArrayType):
            outputs.append(g.Output("array", v.base, (k,), tuple(map(extent, v.type.extents))))
        else:
            outputs.append(g.Output("scalar", v.base, (k,)))
    root = g.Function("piece", inputs, g.Block(code, _in_order(results)), "")
    order = {a: k for k, a in enumerate(root.body.results)}

    def extents(o: g.Output) -> tuple[int | tuple[None, int], ...]:
        return tuple(e if isinstance(e, int) else (None, order[results[e[1]]]) for e in o.extents)

    outputs = [g.Output(o.kind, o.base, (order[v],), extents(o)) for o, v in zip(outputs, targets)]
    called = _called(unit, code)
    return g.Unit(
        (root, *called),
        tuple(g.Input("array" if isinstance(v.type, g.ArrayType) else "scalar", positions[v.name]) for v in inputs),
        tuple(outputs),
    ), inputs


def _in_order(results: Sequence[g.Atom]) -> tuple[g.Atom, ...]:
    """Scalars first, since the extents of an array stand before it."""
    return tuple(sorted(results, key=lambda a: isinstance(a.type, g.ArrayType)))


def _inputs(body: g.Block, targets: tuple[g.Var, ...]) -> tuple[g.Var, ...]:
    """The variables that a block takes from around it, scalars first."""
    names = free(body)
    found: dict[str, g.Var] = {}

    def see(a: g.Atom) -> None:
        if isinstance(a, g.Var):
            if a.name in names:
                found.setdefault(a.name, a)
            if isinstance(a.type, g.ArrayType):
                for e in a.type.extents:
                    see(e)

    def look(block: g.Block) -> None:
        for s in g.statements(block):
            if isinstance(s, g.Let):
                for a in (*g.operands(s.rhs), *s.targets, *inner_binders(s.rhs)):
                    see(a)
            else:
                see(s.condition)
        for inner in _all_blocks(block):
            for a in inner.results:
                see(a)

    look(body)
    set_here = bound(body)
    assert not names - set(found) - set_here, (names, found)
    return tuple(sorted(found.values(), key=lambda v: isinstance(v.type, g.ArrayType)))


def _all_blocks(block: g.Block) -> list[g.Block]:
    from sacpy.jit.ir.graph import blocks

    found = [block]
    for s in block.statements:
        if isinstance(s, g.Let):
            for inner in blocks(s.rhs):
                found += _all_blocks(inner)
    return found


def _called(unit: g.Unit, code: tuple[g.Stmt, ...]) -> tuple[g.Function, ...]:
    """The functions that statements call, directly or through others."""
    found: dict[str, g.Function] = {}
    waiting = [g.Block(code)]
    while waiting:
        for s in g.statements(waiting.pop()):
            if isinstance(s, g.Let) and isinstance(s.rhs, g.Call) and s.rhs.function not in found:
                f = found[s.rhs.function] = unit.function(s.rhs.function)
                waiting.append(f.body)
    return tuple(found.values())


def _compiled(unit: g.Unit, tools: PieceContext) -> NativeFunction:
    from sacpy.jit.host.compile import compile_object
    from sacpy.jit.host.lowering import lower
    from sacpy.jit.host.native import load
    from sacpy.jit.host.signature import Signature
    from sacpy.jit.passes import placed

    options = tools.options
    if options.verify:
        from sacpy.jit.ir.graph_verify import verify

        verify(unit)
    name = new_digest(
        f"piece\n{platform_digest()}\n{options.key}\n{print_unit(unit)}\n{unit.inputs}\n{unit.outputs}".encode()
    ).hexdigest()[:40]
    code = tools.cache.read(name)
    if code is None:
        code = compile_object(lower(placed(unit, options), options), options)
        tools.cache.write(name, code)
    return load(code, Signature.of(unit), options, tools.context)
