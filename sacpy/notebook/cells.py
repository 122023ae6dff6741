"""A cell of a notebook: statements, definitions and expressions, and lines that are commands of the prompt, in any
order.

In: a cell's text. Out: values as bundles to whoever shows them, output to the engine's world, and an `Outcome` with
everything there is to say. What stands before a mistake is done, what stands behind it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.source import NOWHERE
from sacpy.notebook.display import Bundle, bundle, display_for
from sacpy.repl.commands import cut, obey
from sacpy.repl.engine import Engine, Outcome, Variable
from sacpy.repl.parts import parts

COLUMNS = 100  # of messages; pages wrap what is wider


@dataclass(slots=True)
class Cells:
    """Runs cells one after the other. `result` gets the values of expressions, `show` the pictures that were asked
    for."""

    engine: Engine
    result: Callable[[Bundle], None]
    show: Callable[[Bundle], None]

    def __post_init__(self) -> None:
        self.engine.present = self._present

    def run(self, text: str, name: str = "") -> Outcome:
        """Obeys a cell; Ctrl-C stops it, and names stay. `name`: how messages call it."""
        said: list[Diagnostic] = []
        try:
            for part in parts(text, self.engine):
                outcome = self._command(part.text) if part.command else self.engine.enter(part.text, name)
                said += outcome.diagnostics
                if outcome.failed or outcome.status is not None:
                    return Outcome(tuple(said), outcome.status)
        except KeyboardInterrupt:  # while no program ran: those deal with it by themselves
            said.append(Diagnostic("E0702", "the run was interrupted", NOWHERE))
        except Exception as error:  # a page must have an answer, or it waits for ever
            help = "this is a defect of sacpy, not of your program: report it with the cell"
            said.append(
                Diagnostic("E0799", f"sacpy itself failed: {type(error).__name__}: {error}", NOWHERE, help=help)
            )
        finally:
            self.engine.world.flush()
        return Outcome(tuple(said))

    def _command(self, text: str) -> Outcome:
        word, rest = cut(text)
        display = display_for(word, rest)
        if display is None:
            shown, outcome = obey(self.engine, text)
            if shown:
                self.engine.world.stdout.write(shown.rstrip("\n").encode("utf-8", "surrogateescape") + b"\n")
            return outcome
        try:
            for found in display(self.engine, rest):
                self.engine.world.flush()
                self.show(found)
        except SacError as error:
            return Outcome(error.diagnostics)
        return Outcome()

    def _present(self, variable: Variable) -> None:
        self.engine.world.flush()
        self.result(bundle(variable))


def remarks(outcome: Outcome, *, color: bool) -> str:
    """The warnings of an outcome as text; "" without any."""
    found = [d for d in outcome.diagnostics if d.severity == "warning"]
    return render_text(found, color=color, width=COLUMNS).rstrip("\n") + "\n" if found else ""


def report(outcome: Outcome, *, color: bool) -> str:
    """What is wrong as text."""
    return render_text([d for d in outcome.diagnostics if d.severity == "error"], color=color, width=COLUMNS).rstrip(
        "\n"
    )
