"""Results of modarray in the memory of their source.

In: a with-loop; a launch of it. Out: which results may lie where their source lies; the launch when some of them do.

Each array that a kernel is given is memory which it reaches in no other way: only so may compilers move loads over
stores, and read what nobody writes through a cache that sees no stores. A kernel with a source and, in the same memory,
a result would break that. So it is given the result alone, and reads of it what it
would have read of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.ir.graph import Let, Load, Modarray, Partition, Var, WithLoop, operands, statements
from sacpy.jit.ir.kernel import BlockFor, BlockIf, BlockStmt, ForAll, If, SeqFor, ThreadStmt, While
from sacpy.jit.ir.kernel import Let as Set
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.kernels.launches import Launch
from sacpy.jit.kernels.nests import results_of
from sacpy.nodes import replace


def candidates(w: WithLoop, targets: Sequence[Var]) -> dict[str, str]:
    """The results of modarrays, each with the source whose memory it may take where nobody needs that any more: the
    bodies read nothing of it but the very cell that they write. A source serves one result."""
    found: dict[str, str] = {}
    for operator, own in zip(w.operators, results_of(w, targets)):
        if (
            isinstance(operator, Modarray)
            and operator.array.name not in found.values()
            and _reads_own_cell(w, operator.array)
        ):
            found[own[0].name] = operator.array.name
    return found


def _reads_own_cell(w: WithLoop, source: Var) -> bool:
    others = [
        a
        for o in w.operators
        if not (isinstance(o, Modarray) and o.array == source)
        for a in operands(WithLoop(w.frame, (), (o,)))
    ]
    return source not in others and all(_own_cell_only(p, source) for p in w.partitions)


def _own_cell_only(p: Partition, source: Var) -> bool:
    reads = sum(
        isinstance(s, Let) and isinstance(s.rhs, Load) and s.rhs.array == source and s.rhs.index == p.index
        for s in statements(p.body)
    )
    return uses(p.body)[source.name] == reads


def settled(launch: Launch, taken: Mapping[str, str]) -> Launch | None:
    """The launch where some results, by name, lie in the memory of these sources. None where nothing is left to do, as
    it would copy cells onto themselves."""
    kernel = launch.kernel
    written = {w.array.name: w.array for w in kernel.writes}
    moved = {source: written[target] for target, source in taken.items() if target in written}
    if not moved:
        return launch
    if launch.purpose == "copy":
        return None
    kept = [n for n, p in enumerate(kernel.params) if p.name not in moved]
    new = replace(
        kernel,
        name=f"{kernel.name}.in_place",
        params=tuple(kernel.params[n] for n in kept),
        body=tuple(_block(s, moved) for s in kernel.body),
    )
    return replace(launch, kernel=new, arguments=tuple(launch.arguments[n] for n in kept))


def _block(s: BlockStmt, moved: Mapping[str, Var]) -> BlockStmt:
    match s:
        case ForAll():
            return replace(s, body=_code(s.body, moved))
        case BlockFor():
            return replace(s, body=tuple(_block(inner, moved) for inner in s.body))
        case BlockIf():
            return replace(s, then=tuple(_block(inner, moved) for inner in s.then))
    return s


def _code(code: Sequence[ThreadStmt], moved: Mapping[str, Var]) -> tuple[ThreadStmt, ...]:
    return tuple(_statement(s, moved) for s in code)


def _statement(s: ThreadStmt, moved: Mapping[str, Var]) -> ThreadStmt:
    match s:
        case Set(rhs=Load() as load) if load.array.name in moved:
            return replace(s, rhs=replace(load, array=moved[load.array.name]))
        case If():
            return replace(s, then=_code(s.then, moved), otherwise=_code(s.otherwise, moved))
        case SeqFor():
            return replace(s, body=_code(s.body, moved))
        case While():
            return replace(s, condition=_code(s.condition, moved), body=_code(s.body, moved))
    return s
