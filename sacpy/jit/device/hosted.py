"""Parts of a function that stay on the host: compiled for the CPU by the host target, as units of their own.

In: statements of a graph, or a call of a function of its unit. Out: a `Piece`, called with the values of the variables
that the statements use, which gives those that they set. Scalars are Python's, arrays NumPy's. A piece is compiled when
it is first called, or found in the cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sacpy.jit.fingerprint import platform_digest
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Call,
    Const,
    Function,
    Input,
    Let,
    Output,
    Stmt,
    Unit,
    Var,
    operands,
    statements,
)
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

    def __init__(self, unit: Unit, statements_: Sequence[Stmt], targets: Sequence[Var], tools: PieceContext) -> None:
        self._tools = tools
        self._function: NativeFunction | None = None
        self.outputs = tuple(targets)
        self.unit, self.inputs = _unit_of(unit, tuple(statements_), self.outputs)

    def __call__(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Runs it. Raises `NativeFailure`."""
        if self._function is None:
            self._function = _compiled(self.unit, self._tools)
        return self._function.call(values)


def _unit_of(unit: Unit, code: tuple[Stmt, ...], targets: tuple[Var, ...]) -> tuple[Unit, tuple[Var, ...]]:
    body = Block(code, targets)
    inputs = _inputs(body, targets)
    positions = {v.name: k for k, v in enumerate(inputs)}
    results: list[Atom] = list(targets)
    at = {v.name: k for k, v in enumerate(targets)}

    def extent(e: Atom) -> int | tuple[None, int]:
        if isinstance(e, Const):
            return int(e.value)
        if e.name not in at:
            at[e.name] = len(results)
            results.append(e)
        return None, at[e.name]

    outputs = []
    for k, v in enumerate(targets):
        if isinstance(v.type, ArrayType):
            outputs.append(Output("array", v.base, (k,), tuple(map(extent, v.type.extents))))
        else:
            outputs.append(Output("scalar", v.base, (k,)))
    root = Function("piece", inputs, Block(code, _in_order(results)), "")
    order = {a: k for k, a in enumerate(root.body.results)}

    def extents(o: Output) -> tuple[int | tuple[None, int], ...]:
        return tuple(e if isinstance(e, int) else (None, order[results[e[1]]]) for e in o.extents)

    outputs = [Output(o.kind, o.base, (order[v],), extents(o)) for o, v in zip(outputs, targets)]
    called = _called(unit, code)
    return Unit(
        (root, *called),
        tuple(Input("array" if isinstance(v.type, ArrayType) else "scalar", positions[v.name]) for v in inputs),
        tuple(outputs),
    ), inputs


def _in_order(results: Sequence[Atom]) -> tuple[Atom, ...]:
    """Scalars first, since the extents of an array stand before it."""
    return tuple(sorted(results, key=lambda a: isinstance(a.type, ArrayType)))


def _inputs(body: Block, targets: tuple[Var, ...]) -> tuple[Var, ...]:
    """The variables that a block takes from around it, scalars first."""
    names = free(body)
    found: dict[str, Var] = {}

    def see(a: Atom) -> None:
        if isinstance(a, Var):
            if a.name in names:
                found.setdefault(a.name, a)
            if isinstance(a.type, ArrayType):
                for e in a.type.extents:
                    see(e)

    def look(block: Block) -> None:
        for s in statements(block):
            if isinstance(s, Let):
                for a in (*operands(s.rhs), *s.targets, *inner_binders(s.rhs)):
                    see(a)
            else:
                see(s.condition)
        for inner in _all_blocks(block):
            for a in inner.results:
                see(a)

    look(body)
    set_here = bound(body)
    assert not names - set(found) - set_here, (names, found)
    return tuple(sorted(found.values(), key=lambda v: isinstance(v.type, ArrayType)))


def _all_blocks(block: Block) -> list[Block]:
    from sacpy.jit.ir.graph import blocks

    found = [block]
    for s in block.statements:
        if isinstance(s, Let):
            for inner in blocks(s.rhs):
                found += _all_blocks(inner)
    return found


def _called(unit: Unit, code: tuple[Stmt, ...]) -> tuple[Function, ...]:
    """The functions that statements call, directly or through others."""
    found: dict[str, Function] = {}
    waiting = [Block(code)]
    while waiting:
        for s in statements(waiting.pop()):
            if isinstance(s, Let) and isinstance(s.rhs, Call) and s.rhs.function not in found:
                f = found[s.rhs.function] = unit.function(s.rhs.function)
                waiting.append(f.body)
    return tuple(found.values())


def _compiled(unit: Unit, tools: PieceContext) -> NativeFunction:
    from sacpy.jit.host.compile import compile_object
    from sacpy.jit.host.lowering import lower
    from sacpy.jit.host.native import Signature, load
    from sacpy.jit.passes import placed

    options = tools.options
    if options.verify:
        from sacpy.jit.ir.graph_verify import verify

        verify(unit)
    name = hashlib.sha256(
        f"piece\n{platform_digest()}\n{options.key}\n{print_unit(unit)}\n{unit.inputs}\n{unit.outputs}".encode()
    ).hexdigest()[:40]
    code = tools.cache.read(name)
    if code is None:
        code = compile_object(lower(placed(unit, options), options), options)
        tools.cache.write(name, code)
    return load(code, Signature.of(unit), options, tools.context)
