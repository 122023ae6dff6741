"""The prompt itself: on a terminal with an editor; on a dumb one with plain lines; with input from a pipe or file, no
prompt and an exit status that tells whether all went well.

In: settings, and what is to be done before the first input. Out: the exit status. Ctrl-C at the prompt clears the
input, while something runs it stops that; names stay. Ctrl-D ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sacpy.base.terminal import has_color, has_escapes, is_terminal
from sacpy.repl.later import Later
from sacpy.repl.transcript import CONTINUED, PROMPT, inputs

if TYPE_CHECKING:
    from sacpy.commands.progress import Progress
    from sacpy.repl.editor import Editor
    from sacpy.repl.engine import Engine
    from sacpy.repl.outcomes import Outcome
    from sacpy.workspace import Workspace

INTERRUPTED = "E0702"
LOOK = ":locals shows the variables there: the input runs again for that, interpreted"
OWN_SCREEN = ("edit", "sh")  # commands that hand the terminal over to another program
First = Callable[["Engine"], "Outcome"]


def run(
    workspace: Callable[[], Workspace],
    first: First | None = None,
    loaded: Callable[[], None] = lambda: None,
    debug: bool = False,
) -> int:
    """Talks to whoever sits at standard input, until it ends. Gives the exit status. `workspace` makes the settings;
    `first` is done before the first input; `loaded` is called when everything has been loaded; `debug`: a defect of
    sacpy ends the session with its traceback."""
    if sys.stdin is None:  # closed: there is nothing to read
        return 0
    on_terminal = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    talker = Later(lambda: _talker(workspace, loaded, debug, on_terminal))
    try:
        if not on_terminal:
            return _pipe(talker.get(), sys.stdin, first)
        if has_escapes(sys.stdout):
            return _terminal(talker, first)
        return _dumb(talker.get(), first)
    finally:
        if talker.ready is not None:
            talker.ready.engine.world.finish()


@dataclass(frozen=True, slots=True)
class Talker:
    """An engine, and the sign of life while it works."""

    engine: Engine
    progress: Progress
    debug: bool
    told: set[str] = field(default_factory=set)  # what is said once in a session

    def take(self, text: str, remarks: bool) -> Outcome:
        """Obeys a text part by part up to the first that fails, and says what there is to say; `remarks`: also about
        what went well. Gives what came of the last."""
        from sacpy.repl.outcomes import Outcome
        from sacpy.repl.parts import parts

        name, outcome = "", Outcome()
        for part in parts(text, self.engine):
            if not part.command:
                name = name or self.engine.next_name()
            outcome = self._command(part.text, remarks) if part.command else self._input(part.text, name, remarks)
            if outcome.failed or outcome.status is not None:
                break
        return outcome

    def _input(self, text: str, name: str, remarks: bool) -> Outcome:
        with self.progress.watching():
            outcome = self.engine.enter(text, name)
        self._said(outcome, remarks)
        if remarks and outcome.failed and LOOK not in self.told and self._kept_nothing(outcome):
            self.told.add(LOOK)
            self.engine.world.stdout.write(f"{self.engine.page.faint(LOOK)}\n".encode())
            self.engine.world.flush()
        return outcome

    def _kept_nothing(self, outcome: Outcome) -> bool:
        """Whether an input has failed within functions, of which some may be compiled."""
        engine, within = self.engine, len(outcome.diagnostics[-1].stack) > 1
        return within and engine.failed is not None and engine.workspace.target != "interp"

    def _command(self, text: str, remarks: bool) -> Outcome:
        from sacpy.repl.commands import cut, obey

        engine = self.engine
        with nullcontext() if cut(text)[0] in OWN_SCREEN else self.progress.watching():
            shown, outcome = obey(engine, text)
            if shown:
                engine.world.stdout.write(f"{shown}\n".encode(errors="surrogateescape"))
                engine.world.flush()
        return self._said(outcome, remarks)

    def take_all(self, text: str) -> int | None:
        """Obeys a text that somebody typed, each input of a pasted session below its prompt. Gives the status to leave
        with."""
        every = inputs(text)
        for one in every:
            if every != [text]:
                print(PROMPT + one.replace("\n", "\n" + CONTINUED), flush=True)
            outcome = self.survived(one)
            self.progress.end_line()
            if outcome.status is not None:
                return outcome.status
        return None

    def survived(self, text: str) -> Outcome:
        """Obeys an input. A defect of sacpy's own is said and does not end the session: the names in it may be the work
        of hours."""
        from sacpy.lang.diagnostics import Diagnostic
        from sacpy.lang.source import NOWHERE
        from sacpy.repl.outcomes import Outcome

        try:
            return self.take(text, remarks=True)
        except Exception as error:
            if self.debug:
                raise
            message = f"sacpy itself failed: {type(error).__name__}: {error}"
            help = (
                "this is a defect of sacpy, not of your input; all names are as they were. sacpy repl --debug "
                "shows more"
            )
            return self._said(Outcome((Diagnostic("E0799", message, NOWHERE, help=help),)), remarks=True)

    def begin(self, first: First | None, remarks: bool) -> Outcome | None:
        """Does what comes before the first input."""
        if first is None:
            return None
        with self.progress.watching():
            outcome = first(self.engine)
        return self._said(outcome, remarks)

    def _said(self, outcome: Outcome, remarks: bool) -> Outcome:
        """Writes what there is to say about an input."""
        from sacpy.lang.diagnostics import render_text

        stdout, page = self.engine.world.stdout, self.engine.page
        for remark in outcome.remarks if remarks else ():
            stdout.write(f"{page.faint(remark)}\n".encode(errors="surrogateescape"))
        stdout.flush()
        said = [d for d in outcome.diagnostics if d.severity != "note"]
        if said:
            if any(d.code == INTERRUPTED for d in said):
                self.progress.clear_line()
            self.progress.end_line()
            on_terminal = is_terminal(sys.stderr)
            sys.stderr.write(
                render_text(
                    said, color=has_color(sys.stderr), width=page.columns if on_terminal else None, wrap=on_terminal
                ).rstrip("\n")
                + "\n"
            )
            sys.stderr.flush()
        return outcome


def _talker(workspace: Callable[[], Workspace], loaded: Callable[[], None], debug: bool, colours: bool) -> Talker:
    """Loads the colours, the front end and the library."""
    if colours:
        import sacpy.repl.highlighting  # noqa: F401  (the first key needs it)
    from sacpy.commands.progress import Progress
    from sacpy.interp.world import World
    from sacpy.repl.engine import Engine

    world = World.system((b"sacpy",))
    engine = Engine(workspace(), world)
    engine.type_of("1 + 1")  # loads what every input needs
    loaded()
    return Talker(engine, Progress(world), debug)


# ---------------------------------------------------------------- from a pipe, and on a terminal that has no cursor


def _pipe(talker: Talker, lines: Iterable[str], first: First | None) -> int:
    began = talker.begin(first, remarks=False)
    if began is not None and began.status is not None:
        return began.status
    from sacpy.repl.parts import is_remark, is_whole

    failed = began is not None and began.failed
    text = ""
    for line in (*lines, None):
        text += line or ""
        if line is not None and (is_remark(text) or not is_whole(text, talker.engine)):
            continue  # a comment belongs to what stands below it
        if not text.strip():
            continue
        outcome = talker.take(text, remarks=False)
        failed |= outcome.failed
        if outcome.status is not None:
            return outcome.status or int(failed)
        text = ""
    return int(failed)


def _dumb(talker: Talker, first: First | None) -> int:
    print(_greeting())
    began = talker.begin(first, remarks=True)
    if began is not None and began.status is not None:
        return began.status
    while True:
        with suppress(KeyboardInterrupt):  # Ctrl-C while one is being dealt with
            return _converse_plainly(talker)


def _converse_plainly(talker: Talker) -> int:
    from sacpy.repl.parts import is_whole

    text, line = "", "\n"
    while True:
        try:
            print(CONTINUED if text else PROMPT, end="", flush=True)
            line = sys.stdin.readline()
            text += line
            if line and (not text.strip() or not is_whole(text, talker.engine)):
                text = text if text.strip() else ""
                continue
            status = talker.take_all(text)
            text = ""
        except KeyboardInterrupt:
            text, status = "", None
            print()
        if status is not None:
            return status
        if not line:
            return 0


# ---------------------------------------------------------------- on a terminal


def _terminal(talker: Later[Talker], first: First | None) -> int:
    try:
        from sacpy.repl.editor import Editor
    except ModuleNotFoundError as error:
        from sacpy.lang.diagnostics import Diagnostic, SacError
        from sacpy.lang.source import NOWHERE

        raise SacError(
            Diagnostic(
                "E0735",
                f"the prompt needs {error.name}, which is not installed",
                NOWHERE,
                help="pip install prompt-toolkit; sacpy doctor says what else is missing",
            )
        ) from None
    print(_greeting())
    if first is not None:
        began = talker.get().begin(first, remarks=True)
        if began is not None and began.status is not None:
            return began.status
    editor = Editor(
        talker.begin, lambda: talker.get().engine, lambda: talker.ready.engine if talker.ready is not None else None
    )
    while True:
        with suppress(KeyboardInterrupt):  # Ctrl-C while one is being dealt with
            return _converse(editor, talker)


def _converse(editor: Editor, talker: Later[Talker]) -> int:
    while True:
        try:
            text = editor.read()
            status = talker.get().take_all(text) if text.strip() else None
            if status is not None:
                return status
        except KeyboardInterrupt:  # at the prompt, or where nothing runs that deals with it
            if talker.ready is not None:
                talker.ready.progress.stop()
                talker.ready.progress.end_line()
        except EOFError:
            return 0


def _greeting() -> str:
    from sacpy import __version__

    return f"sacpy {__version__}; :help lists the commands, Ctrl-D leaves"
