"""Functions as tests: `test_*` without parameters, which give true or nothing; with parameters, for many arguments.

In: an elaborated program and the key of a function. Out: an outcome. Arguments come from the parameters' types
(`arguments`), those that the function's conditions refuse do not count, and a failing case is made smaller (`choices`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random

import numpy as np

from sacpy.base.terminal import has_color
from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.runtime.calls import shown
from sacpy.interp.values import Value
from sacpy.interp.world import World
from sacpy.lang.core import Signature
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.nodes import Node
from sacpy.testing.arguments import arguments, shown_arguments, unmade
from sacpy.testing.cases import Outcome
from sacpy.testing.choices import Choices, TooMany, shrunk
from sacpy.workspace import Workspace

PATIENCE = 20  # attempts for each case that is wanted
INTERRUPTED = "E0702"


class Properties(Node):
    """How many cases a property is tried with, and where randomness begins."""

    cases: int = 100
    seed: int = 0


class Run(Node):
    """One call of a test: what is wrong, what it printed, whether its arguments were refused."""

    error: SacError | None
    output: str
    refused: bool = False


def wrong_head(signature: Signature) -> Diagnostic | None:
    """Why a function can be no test; None where it can."""
    if any(slot.base != "bool" for slot in signature.results):
        given = ", ".join(s.text for s in signature.results)
        return Diagnostic(
            "E0770",
            f"{shown(signature)} gives {given}, but a test gives bool or nothing",
            signature.span,
            help="give true where all is well, or call functions of Assert and give nothing (void)",
        )
    slot = unmade(signature)
    if slot is not None:
        return Diagnostic(
            "E0771",
            f"{shown(signature)} has the parameter {slot.bind.source} of type {slot.text}, of which no values can be "
            "made",
            signature.span,
            help="let parameters of tests be numbers, bool, char, string, and types and structs that are made of them",
        )
    return None


def tried(program: ElaboratedProgram, key: str, workspace: Workspace, properties: Properties) -> Outcome:
    """What comes of a test function."""
    try:
        signature = program.signature(key)
        wrong = wrong_head(signature)
        if wrong is not None:
            return _said("error", SacError(wrong))
        if signature.params:
            return _property(program, signature, workspace, properties)
        run = Calls(program, signature, workspace).run(())
    except SacError as error:
        return _said("error", error)
    if run.error is not None:
        return _said("failed", run.error, output=run.output)
    return Outcome(output=run.output, seen=run.output)


def _property(
    program: ElaboratedProgram, signature: Signature, workspace: Workspace, properties: Properties
) -> Outcome:
    """A function with parameters, for many arguments."""
    random, calls = Random(f"{properties.seed} {signature.name}"), Calls(program, signature, workspace)
    count, attempts = 0, 0
    while count < properties.cases and attempts < PATIENCE * properties.cases:
        attempts += 1
        choices = Choices(random=random)
        try:
            run = calls.run(arguments(signature, choices))
        except TooMany:
            continue
        count += not run.refused
        if run.error is not None:
            return _smallest(signature, calls, choices.drawn, count)
    if count == 0:
        return _said(
            "error",
            SacError(
                Diagnostic(
                    "E0772",
                    f"none of {attempts} cases satisfies the conditions and patterns of {shown(signature)}",
                    signature.span,
                    help="ask for less in the head, or make the arguments in the test, from simpler parameters",
                )
            ),
        )
    return Outcome(seen=count)


def _smallest(signature: Signature, calls: Calls, drawn: Sequence[int], count: int) -> Outcome:
    """The outcome of a failing case, made smaller."""

    def run_of(numbers: Sequence[int]) -> tuple[Choices, tuple[Value, ...], Run]:
        choices = Choices(numbers)
        values = arguments(signature, choices)
        return choices, values, calls.run(values)

    def fails(numbers: Sequence[int]) -> Sequence[int] | None:
        try:
            choices, _, run = run_of(numbers)
        except TooMany:
            return None
        return choices.drawn if run.error is not None else None

    _, values, run = run_of(shrunk(drawn, fails))
    if run.error is None:
        return Outcome(
            "failed", "it fails for some arguments, and not again", f"{shown(signature)} fails for some arguments, and "
            "not for the same ones a second time: what it gives depends on something else"
        )  # fmt: skip
    text = f"case {count} fails; the simplest that fails is\n\n{_indented(shown_arguments(signature, values))}"
    return _said("failed", run.error, text, run.output)


class Calls:
    """Calls a test, each time in a world of its own; what has been generated for one call serves the next."""

    def __init__(self, program: ElaboratedProgram, signature: Signature, workspace: Workspace) -> None:
        self._program = program
        self._signature = signature
        self._workspace = workspace
        self._watchdog = Watchdog()
        self._evaluator: Evaluator | None = None

    def run(self, values: Sequence[Value]) -> Run:
        """Calls it with these arguments. Raises `KeyboardInterrupt`."""
        signature, world = self._signature, World.captured(b"", (b"test",))
        evaluator = self._in(world)
        error, refused = None, False
        try:
            arguments = [_copied(v) for v in values]
            results = self._workspace.guard(self._watchdog, lambda: evaluator.call(signature.key, arguments))
            if not all(np.all(result) for result in results[: len(signature.results)]):
                error = SacError(
                    Diagnostic(
                        "E0773",
                        f"{shown(signature)} gives false",
                        signature.span,
                        help="functions of Assert tell what the values are: equal(f(x), y);",
                    )
                )
        except SacError as found:
            if found.diagnostics[0].code == INTERRUPTED:
                raise KeyboardInterrupt from None
            refused = bool(signature.params) and _is_refusal(found.diagnostics[0], self._program, signature)
            error = None if refused else found
        except Exit as stop:
            error = SacError(
                Diagnostic(
                    "E0774",
                    f"{shown(signature)} ends the program, with status {stop.status}",
                    signature.span,
                    help="test what is called before the program is ended",
                )
            )
        output = (world.out() + world.err()).decode("utf-8", "backslashreplace")
        world.finish()
        return Run(error, output, refused)

    def _in(self, world: World) -> Evaluator:
        """What evaluates, in another world and with global objects as they are in the beginning."""
        if self._evaluator is None:
            self._evaluator = self._workspace.evaluator(self._program, world)
        self._evaluator.begin_in(world)
        return self._evaluator


def _copied(value: Value) -> Value:
    """Programs may overwrite what they are given."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _is_refusal(found: Diagnostic, program: ElaboratedProgram, signature: Signature) -> bool:
    """Whether an error says that the test itself does not take its arguments."""
    if len(found.stack) > 1:
        return False
    on_entry = (c.text for c in program.function(signature.key).conditions if not c.on_exit)
    return (found.code == "E0615" and found.message.startswith("this call")) or (
        found.code == "E0616" and any(f"the condition {text} of" in found.message for text in on_entry)
    )


def _said(status: str, error: SacError, before: str = "", output: str = "") -> Outcome:
    """The outcome that an error is."""
    text = render_text(error.diagnostics, color=has_color(sys.stdout))
    first = error.diagnostics[0]
    return Outcome(
        "error" if status == "error" else "failed",
        f"{first.code}: {first.message}",
        f"{before}\n{text}" if before else text,
        output,
        (first.code, first.message, output),
    )


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n"))


__all__ = ["Properties", "tried", "wrong_head"]
