"""Loops as loops of Python.

In: a loop of core. Out: lines: `for` over a range where the loop counts, else `while`; and where somebody may go on
elsewhere (`engine.Turn`), lines that ask on the way.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from sacpy.interp.codegen_withloop import Asked
from sacpy.interp.counting import Counter, counter
from sacpy.interp.emitter import Ex, Line
from sacpy.interp.ownership import around
from sacpy.lang.core import Loop, Var

if TYPE_CHECKING:
    from sacpy.interp.codegen import Codegen


def write_loop(gen: Codegen, s: Loop) -> None:
    """A loop of core, which the engine may leave in the middle where it asks."""
    live = gen.ownership.live_after[id(s)]
    rest = around(s, set(live))
    targets = [c.target for c in s.carried]
    gen.assign(targets, [c.initial for c in s.carried], rest, s.span)
    gen.flush()
    asked = gen.asked(s)
    if asked is None:
        rounds(gen, s, rest, None)
        return
    outer = gen.indent
    gen.emit("while True:", s.span)
    gen.emit(" try:", s.span)
    gen.indent += 2
    gen.loops += 2
    rounds(gen, s, rest, asked)
    gen.emit("break", s.span)
    gen.loops -= 2
    gen.indent = outer + 1
    gen.left(targets, s.span)
    gen.emit(" if _left.over: break", s.span)
    gen.indent = outer


def rounds(gen: Codegen, s: Loop, rest: set[str], asked: Asked | None) -> None:
    """The rounds of a loop, from the present values of what it carries on."""
    counted = counter(s)
    if counted is not None and all(
        gen.shape(a).rank == 0 for a in (Var(counted.carried.target.name, s.span), counted.bound)
    ):
        counted_loop(gen, s, counted, rest, asked)
        return
    targets = [c.target for c in s.carried]
    condition_saved = gen.capture()
    gen.block(s.condition)
    test = gen.truth(s.test, gen.use(s.test), s.test.span)
    gen.flush()
    condition, _ = gen.release(condition_saved)
    look: list[Line] = []
    if asked is not None:
        count, ahead = gen.fresh("count"), gen.fresh("ahead")
        gen.emit(f"{count}, {ahead} = 0, {asked.name}.first", s.span)
        look_saved = gen.capture()
        gen.emit(f"if {count} == {ahead}: {ahead} = {count} + {asked.name}({count}, -1, {asked.values})", s.test.span)
        gen.emit(f"{count} += 1", s.test.span)
        look, _ = gen.release(look_saved)
    saved = gen.capture()
    gen.loops += 1
    with gen.known.where(s.test, True) if not s.body_first else nullcontext():
        gen.block(s.body)
        gen.assign(targets, [c.update for c in s.carried], rest, s.span)
    gen.loops -= 1
    body, _ = gen.release(saved)
    leave = Line(gen.indent + 1, f"if not {test}: break", s.span)
    if s.body_first:
        gen.emit("while True:", s.span)
        gen.lines += [*look, *body, *condition, leave]
    elif condition:
        gen.emit("while True:", s.span)
        gen.lines += [*look, *condition, leave, *body]
    else:
        gen.emit(f"while {test}:", s.test.span)
        gen.lines += [*look, *body] or [Line(gen.indent + 1, "pass", s.span)]


def counted_loop(gen: Codegen, s: Loop, counted: Counter, rest: set[str], asked: Asked | None) -> None:
    """A loop over a range; behind it the counter is where the test failed."""
    target, span = counted.carried.target, s.test.span
    name = gen.name(target.name)
    gen.block(counted.ahead)
    last = gen.stable(counted.bound).text
    bound = counted.end(last)
    start = gen.fresh("from")
    gen.emit(f"{start} = {name}", span)
    others = [c for c in s.carried if c is not counted.carried]
    forth = "+" if counted.step > 0 else "-"
    ahead = ""
    if asked is not None:
        ahead = gen.fresh("ahead")
        gen.emit(f"{ahead} = {start} {forth} {asked.name}.first", span)
    saved = gen.capture()
    gen.loops += 1
    gen.virtual[target.name] = Ex(name, "int", 0, True)
    if asked is not None:
        done, left = (
            (f"{name} - {start}", f"{bound} - {name}")
            if counted.step > 0
            else (f"{start} - {name}", f"{name} - ({bound})")
        )
        gen.emit(f"if {name} == {ahead}: {ahead} = {name} {forth} {asked.name}({done}, {left}, {asked.values})", span)
    with gen.known.inside(target.name, counted.interval(gen.known)):
        gen.block(counted.body)
        gen.assign([c.target for c in others], [c.update for c in others], rest, s.span)
    del gen.virtual[target.name]
    gen.loops -= 1
    body, _ = gen.release(saved)
    gen.emit(f"for {name} in {counted.range(start, last)}:", span)
    gen.lines += body or [Line(gen.indent + 1, "pass", s.span)]
    if target.name in gen.ownership.live_after[id(s)]:
        gen.emit(f"{name} = {bound} if {start} {'<' if counted.step > 0 else '>'} {bound} else {start}", span)
