"""The prompt itself: on a terminal with history and editing; with input from a pipe or file, no prompt and an exit status that tells whether all went well.

In: settings. Out: the exit status. Ctrl-C at the prompt drops the line, while something runs it stops that; names stay. Ctrl-D ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sacpy.interp.streams import RawFile
from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.source import NOWHERE
from sacpy.repl.commands import is_command, obey
from sacpy.repl.engine import Engine, Outcome
from sacpy.workspace import Workspace

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

PROMPT = ">>> "
CONTINUED = "... "


class _Tail:
    """Standard output that remembers how it ended: a prompt must begin on a line of its own."""

    def __init__(self, raw: RawFile) -> None:
        self.raw = raw
        self.at_start = True

    def write(self, data: bytes, /) -> int | None:
        """Writes."""
        if data:
            self.at_start = bytes(data).endswith(b"\n")
        return self.raw.write(data)

    def __getattr__(self, name: str) -> object:
        return getattr(self.raw, name)


def run(workspace: Workspace) -> int:
    """Talks to whoever sits at standard input, until it ends. Gives the exit status."""
    if sys.stdin is None:  # closed: there is nothing to read
        return 0
    world = World.system((b"sacpy",))
    try:
        if sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty():
            return _terminal(Engine(workspace, world), world)
        return _pipe(Engine(workspace, world), sys.stdin)
    finally:
        world.finish()


def _take(engine: Engine, text: str) -> Outcome:
    """Obeys a command or an input, and says what there is to say."""
    if is_command(text):
        shown, outcome = obey(engine, text)
        if shown:
            engine.world.stdout.write(f"{shown}\n".encode())
            engine.world.flush()
    else:
        outcome = engine.enter(text)
    said = [d for d in outcome.diagnostics if d.severity != "note"]
    if said:
        sys.stderr.write(render_text(said, color=sys.stderr.isatty()).rstrip("\n") + "\n")
        sys.stderr.flush()
    return outcome


# ---------------------------------------------------------------- from a pipe


def _pipe(engine: Engine, lines: Iterable[str]) -> int:
    failed = False
    text = ""
    for line in (*lines, None):
        if line is not None:
            text += line
            if not is_command(text) and engine.incomplete(text):
                continue
        if not text.strip():
            text = ""
            continue
        outcome = _take(engine, text)
        failed |= outcome.failed
        if outcome.status is not None:
            return outcome.status or int(failed)
        text = ""
    return int(failed)


# ---------------------------------------------------------------- on a terminal


def _terminal(engine: Engine, world: World) -> int:
    from sacpy import __version__

    session = _session(engine)
    tail = _Tail(world.stdout.raw)
    world.stdout.raw = cast(RawFile, tail)
    print(f"sacpy {__version__}; :help lists the commands, Ctrl-D leaves")
    while True:
        try:
            text = session.prompt(PROMPT)
            if not text.strip():
                continue
            outcome = _take(engine, text)
        except KeyboardInterrupt:
            print("interrupted")
            continue
        except EOFError:
            return 0
        finally:
            world.flush()
            if not tail.at_start:
                tail.write(b"\n")
        if outcome.status is not None:
            return outcome.status


def _session(engine: Engine) -> PromptSession[str]:
    """Line editing: Enter hands a complete text over and begins another line in one that is not; a second Enter hands it over as it is."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory, History, InMemoryHistory
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    except ModuleNotFoundError as error:
        raise SacError(Diagnostic("E0735", f"the prompt needs {error.name}, which is not installed", NOWHERE, help="pip install prompt-toolkit; sacpy doctor says what else is missing")) from None

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        text = event.current_buffer.text
        if is_command(text) or text.endswith("\n") or not engine.incomplete(text):
            event.current_buffer.validate_and_handle()
        else:
            event.current_buffer.insert_text("\n")

    path = _history_file()
    history: History = FileHistory(str(path)) if path is not None else InMemoryHistory()
    return PromptSession(history=history, key_bindings=keys, multiline=True, prompt_continuation=CONTINUED)


def _history_file() -> Path | None:
    """Where the history is kept: in the user's folder for such things; None where that cannot be made."""
    import platformdirs

    folder = Path(platformdirs.user_state_dir("sacpy", appauthor=False))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "history", "ab"):
            return folder / "history"
    except OSError:
        return None
