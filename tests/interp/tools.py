"""Running SaC text through the evaluator, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.runtime.calls import Copies
from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, SacError
from tests.tools import loaded

HEAD = "use Array: all; use StdIO: all; "


@dataclass(frozen=True)
class Run:
    """What a program gave: the result of `main`, what it printed, how many arrays were copied for updates."""

    value: Any
    out: str
    copies: int


def run(text: str, *, head: str = HEAD, always_copy: bool = False, depth_limit: int = 100_000) -> Run:
    """Runs `main` of a program. Raises `SacError`."""
    program = loaded(head + text)
    world = World.captured()
    evaluator = Evaluator(program, world, always_copy=always_copy, depth_limit=depth_limit)
    before = Copies.count
    results = evaluator.call(program.main_key(), ())
    return Run(
        results[0] if results else None,
        world.out.decode("latin-1") if isinstance(world.out, bytes) else world.out().decode("latin-1"),
        Copies.count - before,
    )


def main(body: str, **options: Any) -> Run:
    """Runs a program whose `main` has this body."""
    return run("int main() { " + body + " }", **options)


def failure(text: str, **options: Any) -> Diagnostic:
    """The one diagnostic that running a program ends with."""
    try:
        run(text, **options)
    except SacError as error:
        (diagnostic,) = error.diagnostics
        return diagnostic
    raise AssertionError("the program ran without an error")
