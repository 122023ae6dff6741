"""`:step`, `:next`, `:into`, `:out`, `:continue`, `:break`, `:where`, `:up`, `:down`, `:locals`, `:why`: runs that
stand still, and what is to be seen there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.interp.values import shape_of
from sacpy.repl.commands.command import Command, Obey, refused
from sacpy.repl.engine import Engine

if TYPE_CHECKING:
    from sacpy.interp.debugger import Mode
    from sacpy.repl.debugging import Debugging

_LINE = re.compile(r"(.+):(\d+)")
_ELEMENT = re.compile(r"(\w+)\s*(\[.*\])?\s*;?", re.DOTALL)


def _of(engine: Engine) -> Debugging:
    from sacpy.repl.debugging import debugging_of  # loads what most sessions never need

    return debugging_of(engine)


def _step(engine: Engine, text: str) -> str:
    return "\n".join(_of(engine).step(engine.expression(text, ":step")))


def _going(mode: Mode) -> Obey:
    return lambda engine, text: "\n".join(_of(engine).go(mode))


def _looking(look: Callable[[Debugging], list[str]]) -> Obey:
    return lambda engine, text: "\n".join(look(_of(engine)))


def _break(engine: Engine, text: str) -> str:
    """Sets a breakpoint, takes it away where there is one, or lists them all."""
    points = _of(engine).breakpoints
    wanted, _, condition = (part.strip() for part in text.partition(" if "))
    line = _LINE.fullmatch(wanted)
    if not wanted:
        places: list[tuple[str, str | tuple[str, int]]] = [(name, name) for name in sorted(points.functions)]
        for name, numbers in points.lines.items():
            places += [(f"{name.strip('<>')}:{n}", (name, n)) for n in sorted(numbers)]
        rules = points.rules
        return "\n".join(f"{p} if {rules[k].condition}" if k in rules else p for p, k in places) or "no breakpoints"
    from sacpy.interp.debugger import Rule, normal

    where = f"{wanted} if {condition}" if condition else wanted
    if line is not None:
        name = normal(f"<{line[1]}>" if line[1].startswith("input ") else str(Path(line[1])))
        number, numbers = int(line[2]), points.lines.setdefault(name, set())
        points.rules.pop((name, number), None)
        if number in numbers and not condition:
            numbers.discard(number)
            return f"no breakpoint at {wanted} any more"
        numbers.add(number)
        if condition:
            points.rules[name, number] = Rule(condition)
        return f"inputs stop at {where}"
    points.rules.pop(wanted, None)
    if wanted in points.functions and not condition:
        points.functions.discard(wanted)
        return f"no breakpoint at {wanted} any more"
    own = {n for s in engine.program.world.scopes.values() if not s.info.library for n in s.info.functions}
    if wanted.rpartition("::")[2] not in own:
        raise refused(
            "E0749",
            f"{wanted} is no function that was defined here",
            wanted,
            "unknown function",
            "inputs stop in functions of your own, by name, or at a line: :break FILE:LINE; the library's are stepped "
            "over",
        )
    points.functions.add(wanted)
    if condition:
        points.rules[wanted] = Rule(condition)
    return f"inputs stop at {where}"


def _why(engine: Engine, text: str) -> str:
    match = _ELEMENT.fullmatch(text.strip())
    here = None if match is None or engine.debugging is None else engine.debugging.variable(match[1])
    variable = engine.variables.get(match[1]) if match is not None else None
    values = (here[1],) if here is not None else () if variable is None else variable.values
    if match is None or len(values) != 1:
        raise refused(
            "E0739",
            ":why wants a named value, or an element of one",
            text,
            "",
            "give the value a name first: v = f(3), then :why v[2]",
        )
    index: tuple[int, ...] = ()
    shape = shape_of(values[0])
    if match[2] is not None:
        (found,) = engine.values_of(match[2], ":why")
        index = tuple(int(i) for i in found.values[0])
    if len(index) != len(shape) or not all(0 <= i < n for i, n in zip(index, shape, strict=True)):
        raise refused(
            "E0739",
            f"{match[1]} has the shape [{','.join(map(str, shape))}], and an element the index of one",
            text,
            "",
            "write all components of its index: :why v[1, 2]",
        )
    debugging = _of(engine)
    return "\n".join(debugging.why(match[1], index) if here is None else debugging.why_here(match[1], index))


STEP = Command(
    ":step EXPR",
    "run an expression statement by statement, with the values that change",
    "expression",
    _step,
    details="It is interpreted, whatever the target is: compiled code keeps no variables to look at. :next, :into, "
    ":out and :continue go on; :where, :locals, :up and :down show what there is.",
)
NEXT = Command(
    ":next", "go on to the next statement of this function, or cell of this with-loop", "", _going("next"), ("n",)
)
INTO = Command(":into", "go on to the next statement, in a function that is called or a cell too", "", _going("into"))
OUT = Command(":out", "go on until this function, or these cells, are left", "", _going("out"))
CONTINUE = Command(":continue", "go on to the next breakpoint, or to the end", "", _going("continue"))
BREAK = Command(
    ":break [FUNCTION|FILE:LINE] [if CONDITION]",
    "let inputs stop at a function or a line, or no more; alone, list them",
    "name",
    _break,
    details="While there are breakpoints, inputs are interpreted. A line of an input is called as messages call it: "
    ":break input 3:2. A condition is an expression of the variables there: :break f if n == 0.",
)
WHERE = Command(
    ":where", "the calls that are being executed, or led to the last error", "", _looking(lambda d: d.where())
)
UP = Command(":up", "look at the caller", "", _looking(lambda d: d.move(-1)))
DOWN = Command(":down", "look at what was called from here", "", _looking(lambda d: d.move(1)))
LOCALS = Command(
    ":locals",
    "the variables where the run stands, or where the last error came about",
    "",
    _looking(lambda d: d.locals()),
    details="Behind an error the input runs again for that, interpreted, and prints, reads and writes nothing.",
)
HERE = Command(
    ":here EXPR",
    "the value of an expression of the variables where the run stands, or of :up and :down",
    "expression",
    lambda engine, text: "\n".join(_of(engine).here(text.rstrip().rstrip(";"))),
    ("p",),
    details="It may call functions, reads and writes nothing outside, and changes nothing of the run.",
)
WHY = Command(
    ":why NAME[INDEX]",
    "the statement, or the cell of a with-loop, that made an element of a value",
    "name",
    _why,
    details="The inputs that have led to the value run again for that, interpreted, and print, read and write nothing. "
    "Where a run stands still, or behind an error that is looked at, it may be a variable of the function there.",
)
DEBUGGING = (STEP, NEXT, INTO, OUT, CONTINUE, BREAK, WHERE, UP, DOWN, LOCALS, HERE, WHY)
