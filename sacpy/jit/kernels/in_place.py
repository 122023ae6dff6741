"""Results of modarray, and of reductions by index, in the memory of their source.

In: a with-loop; a launch of it. Out: which results may lie where their source lies, and if what holds; the launch when
some of them do.

Each array that a kernel is given is memory which it reaches in no other way: only so may compilers move loads over
stores, and read what nobody writes through a cache that sees no stores. A kernel with a source and, in the same memory,
a result would break that. So it is given the result alone, and reads of it what it
would have read of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.depends import Conditions, may_share
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.ir.graph import Atom, Load, Modarray, Propagate, Var, WithLoop
from sacpy.jit.ir.kernel import BlockFor, BlockIf, BlockStmt, ForAll, If, LastBlock, SeqFor, ThreadStmt, While
from sacpy.jit.ir.kernel import Let as Set
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.kernels.launches import Launch
from sacpy.jit.kernels.nests import results_of
from sacpy.nodes import Node, replace


class InPlace(Node):
    """Where a result may lie: in the memory of `source`, if `needed` holds when the launches are planned."""

    source: Var
    needed: Conditions


def candidates(w: WithLoop, targets: Sequence[Var], ints: Ints) -> dict[str, InPlace]:
    """The results of modarrays that may take the memory of their source where nobody needs that any more. Each cell is
    computed once, in whatever order (`analysis/depends`). A source serves one result. Arrays that are combined with by
    index may lie where they lay if nothing else in the with-loop looks at them."""
    found: dict[str, InPlace] = {}
    for operator, own in zip(w.operators, results_of(w, targets)):
        if isinstance(operator, Modarray) and not any(operator.array == p.source for p in found.values()):
            needed = may_share(w, operator.array, ints, once=True)
            if needed is not None:
                found[own[0].name] = InPlace(operator.array, needed)
        elif isinstance(operator, Propagate) and operator.word in ("into", "distribute"):
            counters = _counters(w, operator)
            for source, target in zip(operator.initial, own):
                if isinstance(source, Var) and source not in counters and _is_alone(w, source):
                    found[target.name] = InPlace(source, frozenset())
    return found


def _counters(w: WithLoop, o: Propagate) -> tuple[Atom, ...]:
    """What counters are before, which is asked for after values are put."""
    from sacpy.jit.analysis.distribution import distribution_of  # where there are some

    found = distribution_of(o.params, w.partitions[0].body) if o.word == "distribute" else None
    return () if found is None else (o.initial[found.counter],)


def _is_alone(w: WithLoop, source: Var) -> bool:
    """Whether a with-loop takes an array to hand it on once, and for nothing else."""
    taken = [a for o in w.operators if isinstance(o, Propagate) for a in o.initial]
    return taken.count(source) == 1 and not any(uses(p.body)[source.name] for p in w.partitions)


def settled(launch: Launch, taken: Mapping[str, str]) -> Launch:
    """The launch where some results, by name, lie in the memory of these sources."""
    kernel = launch.kernel
    written = {w.array.name: w.array for w in kernel.writes}
    moved = {source: written[target] for target, source in taken.items() if target in written}
    if not moved:
        return launch
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
        case BlockFor() | LastBlock():
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
