"""Why loops of a function that runs on a device are the CPU's.

In: the graph of such a function. Out: for each loop in which there is nothing to launch, where it stands, and what
keeps it from being a with-loop, which the device could take.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.analysis.scans import scan_of, why_in_order
from sacpy.jit.analysis.scatters import collapsed, scatters_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses
from sacpy.lang.source import NOWHERE, Span


def host_loops(unit: g.Unit, strict: bool) -> dict[Span, str]:
    """Loops outside of with-loops and without any in them, and the reason for each. Left out are scans that the device
    takes, of which a short rest is the CPU's. `strict`: those of reals keep their order."""
    found: dict[Span, str] = {}
    for f in unit.functions:
        made = {s.targets[0].name: s.rhs for s in _outside(f.body) if isinstance(s.rhs, g.Op)}
        known: set[int] = set()  # loops in others of which all is said
        for s in _outside(f.body):
            r = s.rhs
            if not isinstance(r, g.For | g.Loop) or s.span.source is NOWHERE.source or id(s) in known:
                continue
            if isinstance(r, g.For) and (why := _of_program(r, strict)) is not None:
                known |= {id(t) for t in _outside(r.body)}
                if why:
                    found.setdefault(s.span, why)
                continue
            if not _is_bare(r):
                continue
            inner = {t.targets[0].name: t.rhs for b in g.blocks(r) for t in _outside(b) if isinstance(t.rhs, g.Op)}
            if isinstance(r, g.For) and scan_of(r, made | inner, strict=False) is not None:
                if strict and scan_of(r, made | inner, strict=True) is None:
                    found.setdefault(s.span, "it is a scan, but one of reals, and their order is to stay")
            else:
                found.setdefault(s.span, _why(r))
    return found


def _of_program(r: g.For, strict: bool) -> str | None:
    """Why a loop that combines by index, or is a scan by the program's word, is the CPU's: "" where a device has taken
    its place, except for what is too small. None: it is no such loop."""
    if why := why_in_order(r, strict=strict):
        return f"it is a scan, but {why}"
    nest = collapsed(r)
    found = scatters_of(nest.params, nest.initial, nest.body, True, nest.index) if r.step == 1 else []
    if not found:
        return None
    kept = strict and any(not h.step.exact for h in found)
    return "it combines reals by index, and their order is to stay" if kept else ""


def _outside(block: g.Block) -> Iterator[g.Let]:
    """Statements that are in no with-loop's body, those in loops and branches included."""
    for s in block.statements:
        if isinstance(s, g.Let):
            yield s
            if not isinstance(s.rhs, g.WithLoop):
                for inner in g.blocks(s.rhs):
                    yield from _outside(inner)


def _is_bare(loop: g.For | g.Loop) -> bool:
    """Whether a loop has no loop in it, which would have a report of its own."""
    inner = (s for b in g.blocks(loop) for s in g.statements(b) if isinstance(s, g.Let))
    return not any(isinstance(s.rhs, g.For | g.Loop | g.WithLoop | g.Call) for s in inner)


def _why(loop: g.For | g.Loop) -> str:
    if isinstance(loop, g.Loop):
        return "how many rounds there are is known when the last one is done"
    lets = [s.rhs for s in g.statements(loop.body) if isinstance(s, g.Let)]
    for p in loop.params:
        if not isinstance(p.type, g.ArrayType):
            continue
        set_ = [u.index for u in lets if isinstance(u, g.Update) and u.array.name == p.name]
        read = [x.index for x in lets if isinstance(x, g.Load) and x.array == p]
        if set_ and any(loop.index not in at for at in set_):
            return (
                f"it sets elements of {_named(p)} wherever the data say, and what it makes of them is nothing that "
                "may be done in any order"
            )
        if any(at not in set_ for at in read):
            return (
                f"a round reads elements of {_named(p)} that an earlier one may have set, and what it makes of them is "
                "no scan that is known"
            )
    handed = [p for p in loop.params if isinstance(p.type, g.ScalarType) and uses(loop.body)[p.name]]
    if handed:
        return (
            f"a round needs {_named(handed[0])} as the one before leaves it, and what it makes of that is no scan or "
            "reduction that is known"
        )
    return "nothing is known of it that would let its rounds run at once"


def _named(v: g.Var) -> str:
    """A variable by the name that it has in the program."""
    return f"`{v.name.partition('.')[0]}`"
