"""Memory that the rounds of a loop share: of what each round makes only to copy it into another array.

In: a block of a loop's rounds, and what of it is made elsewhere than where it ends up. Out: places for that, which are
there from the first round that needs them to the end of the outermost loop.

    for i from 0 to n step 1 with b := a
      v = view b[i]
      t = call f(m, v)                reads what it would overwrite: made aside, in the same memory in every round
      u = update b[i] with t

So n rounds need one array, and not n. A round whose array is larger than those before gets larger memory. Loops whose
rounds are spread over threads have none of this kind, nor have the threads' own loops that of others.
"""

from __future__ import annotations

from collections.abc import Container

from sacpy.jit.analysis.circuits import Plan
from sacpy.jit.analysis.makers import NOWHERE, Makers, only_loads
from sacpy.jit.host import layout
from sacpy.jit.host.lending import hands_back_nothing
from sacpy.jit.host.memory import BORROWED, Array, new_block, release
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import size_of


def staged(makers: Makers, block: g.Block, plan: Plan, taken: Container[str]) -> list[tuple[str, ...]]:
    """The arrays of a block that are copied into others, and at most read besides, and whose extents are known before
    it: those that share a place, the last one first. `taken`: those that have a place."""
    if not plan.refusals:
        return []
    results = {a.name for a in block.results if isinstance(a, g.Var)}
    inside = {t.name for s in block.statements if isinstance(s, g.Let) for t in s.targets}
    found: list[tuple[str, ...]] = []
    for name in dict.fromkeys(r.part.name for r in plan.refusals):
        if name in taken or name in results or name not in makers.makers or not makers.can_place(name):
            continue
        users = [block.statements[k] for k in makers.users[name]]
        if not all(only_loads(s, name) or hands_back_nothing(s, taken, makers.known or NOWHERE) for s in users):
            continue
        if any(isinstance(e, g.Var) and e.name in inside for e in g.extents_of(makers.target(name))):
            continue
        chain = makers.chain(name)
        names = (name, *chain.names)
        if chain.own and not any(map(makers.may_be_seen, names)) and not any(n in taken for n in chain.names):
            found.append(names)
    return found


def scratch(w: Writer, makers: Makers, block: g.Block, plan: Plan, taken: Container[str]) -> dict[str, Array]:
    """The places of such arrays, where a block is about to be written; none outside of loops."""
    found: dict[str, Array] = {}
    if w.inside.scratch is not None:
        for names in staged(makers, block, plan, taken):
            found.update(dict.fromkeys(names, _room(w, makers.target(names[0]), w.inside.scratch)))
    return found


def _room(w: Writer, v: g.Var, slots: list[str]) -> Array:
    """Memory for an array: what a round before has left, if that is large enough."""
    code, extents = w.code, w.wides(g.extents_of(v))
    slot = code.slot("ptr")
    code.slots.append(f"  store ptr null, ptr {slot}")
    slots.append(slot)
    code.module.declare("sacpy_times", "declare i64 @sacpy_times(i64, i64)")
    bytes_ = str(size_of(v.base))
    for extent in extents:
        bytes_ = code.op(f"call i64 @sacpy_times(i64 {bytes_}, i64 {extent})")
    there, fits, new, done = (code.label(name) for name in ("there", "fits", "new", "scratch"))
    old = code.load("ptr", slot)
    code.branch(code.op(f"icmp eq ptr {old}, null"), new, there)
    code.place(there)
    size = code.op(f"sub i64 {code.load('i64', code.offset('i64', old, str(layout.BYTES)))}, {layout.HEADER_BYTES}")
    code.branch(code.op(f"icmp sle i64 {bytes_}, {size}"), done, fits)
    code.place(fits)
    release(code, Array(old, old, v.base, extents))
    code.store("ptr", "null", slot)
    code.jump(new)
    code.place(new)
    header = new_block(code, v.base, extents)
    w.unless(code.op(f"icmp ne ptr {header}, null"), layout.OUT_OF_MEMORY)
    code.store("ptr", header, slot)
    code.jump(done)
    code.place(done)
    data = code.op(f"getelementptr inbounds i8, ptr {code.load('ptr', slot)}, i64 {layout.HEADER_BYTES}")
    return Array(data, BORROWED, v.base, extents)


__all__ = ["scratch", "staged"]
