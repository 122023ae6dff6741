"""How the loops of a unit run, as text: `--emit schedule`.

In: a unit, and the schedules that were written for it. Out: its functions with their with-loops and counting loops,
each with its loops from the outside in: the axis, the tag (see `loops`), and why.

    function blur(int v_n, double[v_n] v)
        w = with [v_n]                  no cell is in two partitions: those that share rows run together
            [1] <= [i] < [t.1]
                i  threads by 64            one axis: a chunk has whole cache lines
                i  serial                   neither loops nor calls inside, so LLVM makes vectors of it
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.graph_printer import print_function
from sacpy.jit.schedule.counting import WAITING
from sacpy.jit.schedule.loops import Group, LoopNest, Part, Rounds, Rows, Schedule, Written, name_of, size_of
from sacpy.nodes import replace

INDENT = "    "
COLUMN = 44


def schedule_text(unit: g.Unit, written: Written) -> str:
    """The loops of a unit. `written`: their schedules, by the function and what they set first."""
    lines: list[str] = []
    for f in unit.functions:
        lines.append(print_function(replace(f, body=g.Block(()))).splitlines()[0])
        lines += _block(f.name, f.body, written, 1)
    return "\n".join(lines) + "\n"


def _block(function: str, b: g.Block, written: Written, depth: int) -> Iterator[str]:
    for s in b.statements:
        if not isinstance(s, g.Let):
            continue
        found = written.get((function, s.targets[0].name), ()) if s.targets else ()
        for schedule in found:
            yield from _loop(s, schedule, depth)
        for inner in g.blocks(s.rhs):
            yield from _block(function, inner, written, depth + 1 if found else depth)


def _loop(s: g.Let, schedule: Schedule | Rounds, depth: int) -> Iterator[str]:
    names = ", ".join(t.name for t in s.targets)
    if isinstance(schedule, Rounds):
        size = f" of {schedule.size}" if schedule.tag == "stretch" else f" by {schedule.size}" * (schedule.size > 1)
        why = f"{schedule.why}; {WAITING}" if schedule.lanes else schedule.why
        yield _line(depth, f"{names} = for {schedule.loop.index.name}", f"{schedule.tag}{size}: {why}")
        return
    frame = "" if schedule.w.frame is None else " [" + ",".join(map(_atom, schedule.w.frame)) + "]"
    yield _line(depth, f"{names} = with{frame}", schedule.why)
    for group in schedule.groups:
        yield from _group(group, depth + 1)


def _group(group: Group, depth: int) -> Iterator[str]:
    if group.threads is not None:
        p, t = group.partitions[0], group.threads
        if isinstance(group.part, LoopNest):
            yield INDENT * depth + _bounds(p)
            depth += 1
        size = (
            " of blocks"
            if t.cut
            else f" by {t.multiple}, {t.least} or more"
            if t.least
            else f" by {t.multiple}" * (t.multiple > 1)
        )
        yield _line(depth, f"{p.index[0].name}  threads{size}", t.why)
        yield from _part(group.part, depth, isinstance(group.part, LoopNest))
        if group.short is not None:
            yield _line(depth, "short, in place", "a call takes longer than some elements")
            yield from _part(group.short, depth + 1, True)
    else:
        yield from _part(group.part, depth, False)
    if group.again is not None:
        yield _line(depth, "again, in order", "if it may matter to an extreme of reals that came out")
        yield from _part(group.again, depth + 1, True)


def _part(part: Part, depth: int, bounds_told: bool) -> Iterator[str]:
    if isinstance(part, Rows):
        p = part.partitions[0]
        turns = f" {part.turns}" if part.turns else ""
        what = f"mesh{turns}" if part.loop.tag == "mesh" else f"rows{turns} < {_atom(p.upper[part.loop.axis])}"
        names = ", ".join(dict.fromkeys(q.index[part.loop.axis].name for q in part.partitions))
        yield _line(depth, f"{names}  {what}", part.loop.why)
        for inner in part.parts:
            yield from _part(inner, depth + 1, False)
        return
    if not bounds_told:
        yield INDENT * depth + _bounds(part.partition)
        depth += 1
    yield from _nest(part, depth)


def _nest(nest: LoopNest, depth: int) -> Iterator[str]:
    done: set[int] = set()
    for loop in nest.loops:
        if nest.tiles is None and nest.before and loop.axis not in done:
            done.add(loop.axis)
            names = [t.name for s in nest.before[loop.axis] if isinstance(s, g.Let) for t in s.targets]
            checks = sum(isinstance(s, g.Check) for s in nest.before[loop.axis])
            if names or checks:
                what = [*names, *([f"{checks} check{'s' * (checks != 1)}"] if checks else [])]
                yield _line(depth, f"once: {', '.join(what)}", "it does not depend on the axes behind")
        size = f" {size_of(loop)}" if size_of(loop) else ""
        yield _line(depth, f"{name_of(nest, loop)}  {loop.tag}{size}", loop.why)
    for product, few in zip(nest.products, nest.few):
        t = product.tiles
        yield _line(depth + 1, f"{product.target.name}  tiles {t.rows} x {t.vectors * t.lanes}", "for a strip of rows")
        yield _line(depth + 1, f"{product.target.name}  row by row", "where there are too few for tiles")
        yield from _nest(few, depth + 2)
    if nest.earlier:
        yield _line(depth, "not where another was", "earlier partitions win")
    if nest.noted:
        yield _line(depth, "checks noted", "a way out of the loop would keep LLVM from making vectors")


def _bounds(p: g.Partition) -> str:
    lower, index, upper = ("[" + ",".join(map(_atom, atoms)) + "]" for atoms in (p.lower, p.index, p.upper))
    steps = "" if p.step is None else " step [" + ",".join(map(_atom, p.step)) + "]"
    widths = "" if p.width is None else " width [" + ",".join(map(_atom, p.width)) + "]"
    return f"{lower} <= {index} < {upper}{steps}{widths}"


def _atom(a: g.Atom) -> str:
    return a.name if isinstance(a, g.Var) else str(a.value)


def _line(depth: int, text: str, why: str) -> str:
    return f"{INDENT * depth + text:<{COLUMN}}  {why}".rstrip()
