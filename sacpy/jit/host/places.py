"""Where the arrays of a block are made: those that are part of a result at once in their place there, small ones that
only their block looks at on the stack.

In: a block, and the places of its results, as far as these are known. Out: places of other arrays of the block.

    c = array of 0.0, 0.0, 0.0                     c    in the place of the cell
    s = for j from 0 to 3 step 1 with t := c       s    in the same place: t is the place all along
      u = update t[j] with x
      next u
    yield s

What becomes another array, by an update or by rounds of updates, shares its place if nobody else needs it
(`analysis/makers`). What is made only to be copied into a part of a larger array is made there
(`analysis/circuits`): `openings` sees to it that the larger one is there by then.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from sacpy.jit.analysis.circuits import NOTHING, Outside, Plan, circuits
from sacpy.jit.analysis.makers import NOWHERE, Makers, only_loads
from sacpy.jit.host.memory import BORROWED, Array
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import ArrayType, Atom, Block, Call, Const, Let, Type, Var
from sacpy.jit.llvm.legal import memory_type, size_of
from sacpy.nodes import replace

if TYPE_CHECKING:
    from sacpy.jit.host.growing import Kept
    from sacpy.jit.host.openings import Openings

LARGEST = 512  # bytes of an array on the stack
MOST = 4096  # bytes of such arrays in one LLVM function


def placed(
    w: Writer, block: Block, owned: Collection[str], into: dict[str, Array]
) -> tuple[dict[str, Array], Openings | None]:
    """The places of the arrays that a block makes, and what has to be done for those that are made in others, if there
    are any. `owned`: arrays from outside that the block takes over; `into`: the places of results that have one."""
    plan, known = NOTHING, w.unit.known or NOWHERE
    if w.unit.options.short_circuit:
        if w.inside.outside is None:
            w.inside.outside = Outside.of(w.inside.function, w.inside.taken, known)
        plan = circuits(block, owned, w.unit.uses.of, w.facts.ints, w.inside.outside)
        if plan.openings and w.unit.options.verify:
            from sacpy.jit.analysis.plan_verify import verify_plan

            verify_plan(block, plan)
    makers = Makers(block, owned, w.unit.uses.of, known)
    into, ahead = fitting(w, block, makers, into, plan) if into else (into, {})
    found = places(w, block, makers, into, plan)
    if plan.refusals and w.inside.scratch is not None:
        from sacpy.jit.host.scratch import scratch

        found = {**found, **scratch(w, makers, block, plan, {*found, *plan.placed})}
    rows: dict[int, Kept] = {}
    if w.unit.known is not None and any(isinstance(s, Let) and isinstance(s.rhs, Call) for s in block.statements):
        from sacpy.jit.host.lending import lent_rows

        rows = lent_rows(block, makers, {*found, *plan.placed}, known, w.facts.ints)
    if not plan.openings and not ahead and not rows:
        return found, None
    from sacpy.jit.host.openings import Openings

    return found, Openings(w, block, plan, dict(found), ahead, rows)


def fitting(
    w: Writer, block: Block, makers: Makers, into: dict[str, Array], plan: Plan
) -> tuple[dict[str, Array], dict[int, tuple[int, ...]]]:
    """Those places of results that are certainly as large as these when they are made there; and by the number of a
    statement, the checks that have to come before it so that it is certain. What is there already is copied."""
    types = {t.name: t.type for s in block.statements if isinstance(s, Let) for t in s.targets if t.name in into}
    found = {name: place for name, place in into.items() if name in types}
    unlike = {name: more for name, place in found.items() if (more := _unlike(w, types[name], place))}
    early: dict[int, tuple[int, ...]] = {}
    if unlike:
        from sacpy.jit.analysis.ahead import Ahead

        told = Ahead(block)
        for name, extents in unlike.items():
            names = {name, *(makers.chain(name).names if name in makers.makers else ())}
            first = min(told.set_by[n] for n in names)
            first = min([first, *(o.first for o in plan.openings.values() if o.circuits[0].whole.name in names)])
            checks = [told.equal(a, partial(_is, w, other), first) for a, other in extents]
            if None in checks:
                del found[name]
            else:
                early[first] = tuple(sorted({*early.get(first, ()), *(n for c in checks if c for n in c)}))
    return found, early


def _unlike(w: Writer, type_: Type, place: Array) -> list[tuple[Atom, str]]:
    """The extents of an array that are not known to be those of a place, with these."""
    assert isinstance(type_, ArrayType)
    return [(a, other) for a, other in zip(type_.extents, place.extents, strict=True) if not _is(w, other, a)]


def _is(w: Writer, extent: str, a: Atom) -> bool:
    """Whether an atom that is known is an extent of a place."""
    return (isinstance(a, Const) or a.name in w.env) and w.wide(a) == extent


def places(w: Writer, block: Block, makers: Makers, into: dict[str, Array], plan: Plan) -> dict[str, Array]:
    """The places of the arrays that a block makes, as far as they are known from the start. `plan`: which arrays are
    made in others."""
    if not makers.makers:
        return into
    found = dict(into)
    for name, place in into.items():
        for other in makers.chain(name).names if name in makers.makers else ():
            found[other] = replace(place)
    taken = found.keys() | plan.placed
    for names, size in on_stack(makers, block, taken, MOST - w.on_stack):
        w.on_stack += size
        v = makers.target(names[0])
        assert isinstance(v.type, ArrayType)
        data = w.code.slot(f"[{size // size_of(v.base)} x {memory_type(v.base)}]")
        for name in names:
            found[name] = Array(data, BORROWED, v.base, w.wides(v.type.extents))
    return found


def on_stack(makers: Makers, block: Block, taken: Container[str], left: int) -> list[tuple[tuple[str, ...], int]]:
    """The arrays of a block that lie on the stack: those that share a place, and its bytes. `taken`: those that have a
    place; `left`: how many bytes there may be."""
    results = {a.name for a in block.results if isinstance(a, Var)}
    found: list[tuple[tuple[str, ...], int]] = []
    placed: set[str] = set()
    for name in reversed(makers.makers):
        size = _stack_size(makers.target(name))
        if name in taken or name in placed or name in results or not 0 < size <= LARGEST or size > left:
            continue
        if not all(only_loads(block.statements[k], name) for k in makers.users.get(name, ())):
            continue
        chain = makers.chain(name)
        names = (name, *chain.names)
        if any(map(makers.may_be_seen, names)):
            continue
        if chain.own and not any(other in taken or other in placed for other in names):
            left -= size
            placed |= set(names)
            found.append((names, size))
    return found


def _stack_size(v: Var) -> int:
    """The bytes of an array of constant extents; 0 where they are not constant."""
    assert isinstance(v.type, ArrayType)
    extents = [int(e.value) for e in v.type.extents if isinstance(e, Const)]
    return prod(extents) * size_of(v.base) if len(extents) == v.type.rank else 0
