"""Statements that leave a block early, turned into conditionals and flags: SaC has neither break nor continue, and one
return at the end.

In: the body of a Python function, as Python's tree. Out: a body in which `return` stands only where nothing follows,
and without `break` and `continue`. What follows a conditional that always leaves moves into its other branch; where it
leaves only sometimes, or from within a loop, a flag guards what follows, and ends the loop. A loop that may be left has
the name of its flag in `until`.
"""

from __future__ import annotations

import ast as py
from collections.abc import Iterable, Sequence

from sacpy.capture.places import Places, refusal
from sacpy.nodes import Record

ALWAYS, NEVER, SOMETIMES = "always", "never", "sometimes"  # whether a block's end is reached


class Flag(py.stmt):
    """Sets a variable of the turning itself: to True or False, or (`value` None) to some value of its type, which is
    never used."""

    _fields = ()

    def __init__(self, name: str, value: bool | None, at: py.AST) -> None:
        super().__init__()
        self.name = name
        self.value = value
        py.copy_location(self, at)


class _Region(Record):
    """What may be left: a loop, or the function. `stop`, `skip`: its flags; `stops`, `skips`: whether something sets
    them, `guarded`: whether something tests the latter."""

    is_loop: bool
    stop: str
    skip: str
    stops: bool = False
    skips: bool = False
    guarded: bool = False


class _Unstructured(Exception):
    """The function needs flags for its returns."""


class Turned(Record):
    """A body without jumps. `result`: the variable that holds what is returned early, "" if there is none."""

    body: list[py.stmt]
    result: str


def turned(function: py.FunctionDef, places: Places) -> Turned:
    """The body of a function without jumps. Raises `SacError` for those that cannot be turned."""
    names = {n.id for n in py.walk(function) if isinstance(n, py.Name)} | {a.arg for a in function.args.args}
    try:
        body, _ = _Turner(places, names, False).block(function.body, _Region(False, "", ""))
        return Turned(body, "")
    except _Unstructured:
        turner = _Turner(places, names, True)
        region = _Region(False, turner.returned, "")
        body, _ = turner.block(function.body, region)
        first = function.body[0]
        start: list[py.stmt] = [Flag(turner.returned, False, first), Flag(turner.result, None, first)]
        last = py.copy_location(py.Return(_name(turner.result, function.body[-1])), function.body[-1])
        return Turned([*start, *body, last], turner.result)


def _name(name: str, at: py.AST) -> py.Name:
    return py.copy_location(py.Name(name, py.Load()), at)


def _not(name: str, at: py.AST) -> py.expr:
    return py.copy_location(py.UnaryOp(py.Not(), _name(name, at)), at)


def leaves(statements: Iterable[py.stmt], *, within_loop: bool = False) -> bool:
    """Whether statements may leave the block they stand in. `within_loop`: only `return` leaves it."""
    for statement in statements:
        match statement:
            case py.Return():
                return True
            case py.Break() | py.Continue():
                if not within_loop:
                    return True
            case py.If(_, body, orelse):
                if leaves([*body, *orelse], within_loop=within_loop):
                    return True
            case py.While(_, body) | py.For(_, _, body):
                if leaves(body, within_loop=True):
                    return True
    return False


def without(statements: Iterable[py.stmt], flag: str) -> list[py.stmt]:
    """The statements without those that set a flag which nothing tests."""
    kept = [s for s in statements if not (isinstance(s, Flag) and s.name == flag)]
    for statement in kept:
        if isinstance(statement, py.If):
            statement.body, statement.orelse = without(statement.body, flag), without(statement.orelse, flag)
    return kept


class _Turner:
    def __init__(self, places: Places, names: set[str], flagged: bool) -> None:
        self.places = places
        self.names = names
        self.flagged = flagged
        self.returned = self.fresh("returned") if flagged else ""
        self.result = self.fresh("result") if flagged else ""

    def fresh(self, stem: str) -> str:
        """A name that the function does not use."""
        name, number = stem, 1
        while name in self.names:
            number += 1
            name = f"{stem}{number}"
        self.names.add(name)
        return name

    def block(self, statements: Sequence[py.stmt], region: _Region) -> tuple[list[py.stmt], str]:
        """The statements of a block, and whether its end is reached."""
        done: list[py.stmt] = []
        for i, statement in enumerate(statements):
            rest = statements[i + 1 :]
            match statement:
                case py.Return():
                    return [*done, *self._return(statement, region)], NEVER
                case py.Break():
                    region.stops = True
                    return [*done, Flag(region.stop, True, statement)], NEVER
                case py.Continue():
                    region.skips = True
                    return [*done, Flag(region.skip, True, statement)], NEVER
                case py.If() if leaves([statement]):
                    more, end = self._if(statement, rest, region)
                    return [*done, *more], end
                case py.If():  # there may be loops in it
                    ways = [self.block(way, region)[0] for way in (statement.body, statement.orelse)]
                    done.append(py.copy_location(py.If(statement.test, *ways), statement))
                case py.While() | py.For():
                    done += self._loop(statement, region)
                    if leaves(statement.body, within_loop=True):
                        if not self.flagged:
                            raise _Unstructured
                        if not rest and not region.is_loop:
                            return done, SOMETIMES
                        more, end = self.block(rest, region)
                        region.stops = True
                        then: list[py.stmt] = [Flag(region.stop, True, statement)] if region.is_loop else []
                        test = _name(self.returned, statement)
                        guard = py.If(test, then, more) if then else py.If(_not(self.returned, statement), more, [])
                        return [*done, py.copy_location(guard, statement)], SOMETIMES
                case _:
                    done.append(statement)
        return done, ALWAYS

    def _return(self, statement: py.Return, region: _Region) -> list[py.stmt]:
        if not self.flagged:
            if region.is_loop:
                raise _Unstructured
            return [statement]
        value = statement.value
        if value is None:
            message = "a function that returns nothing cannot do so early"
            raise refusal(self.places.span(statement), message, "put what follows into the other branch")
        target = py.copy_location(py.Name(self.result, py.Store()), statement)
        done: list[py.stmt] = [py.copy_location(py.Assign([target], value), statement)]
        done.append(Flag(self.returned, True, statement))
        if region.is_loop:
            region.stops = True
            done.append(Flag(region.stop, True, statement))
        return done

    def _if(self, statement: py.If, rest: Sequence[py.stmt], region: _Region) -> tuple[list[py.stmt], str]:
        def made(body: list[py.stmt], orelse: list[py.stmt]) -> py.stmt:
            return py.copy_location(py.If(statement.test, body, orelse), statement)

        body, end = self.block(statement.body, region)
        if end == NEVER:  # what follows is what the other branch goes on with
            orelse, other = self.block([*statement.orelse, *rest], region)
            return [made(body, orelse)], NEVER if other == NEVER else SOMETIMES
        orelse, other = self.block(statement.orelse, region)
        if other == NEVER:
            body, end = self.block([*statement.body, *rest], region)
            return [made(body, orelse)], NEVER if end == NEVER else SOMETIMES
        if not rest:
            return [made(body, orelse)], SOMETIMES
        if not region.is_loop and not self.flagged:
            raise _Unstructured
        more, end = self.block(rest, region)
        for flag, needed in ((region.skip, region.skips), (region.stop, region.stops or not region.is_loop)):
            if needed:
                region.guarded |= flag == region.skip
                more = [py.copy_location(py.If(_not(flag, statement), more, []), statement)]
        return [made(body, orelse), *more], SOMETIMES

    def _loop(self, loop: py.While | py.For, outer: _Region) -> list[py.stmt]:
        """A loop, with its flags set before it."""
        if loop.orelse:
            help = "set a variable before 'break', and test it behind the loop"
            raise refusal(self.places.span(loop.orelse[0]), "'else' of a loop is not taken", help)
        region = _Region(True, self.fresh("stop"), self.fresh("skip"))
        body, _ = self.block(loop.body, region)
        body = [Flag(region.skip, False, loop), *body] if region.guarded else without(body, region.skip)
        made: py.While | py.For = (
            py.While(loop.test, body, []) if isinstance(loop, py.While) else py.For(loop.target, loop.iter, body, [])
        )
        py.copy_location(made, loop)
        if not region.stops:
            return [made]
        made.until = region.stop  # type: ignore[union-attr]
        return [Flag(region.stop, False, loop), made]
