"""What was typed, kept on disk.

In: inputs. Out: a history for the prompt, the newest first. It is shared by all prompts of a user; an input that
repeats the one before is kept once, the inputs of a pasted transcript one by one. A disk that cannot be written is no
error: then the history ends with the session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from sacpy.base import kept
from sacpy.repl.transcript import inputs

KEPT = 5000


class _Kept(FileHistory):
    """A file with the inputs."""

    def load_history_strings(self) -> Iterable[str]:
        """The newest inputs, the newest first."""
        try:
            return list(islice(super().load_history_strings(), KEPT))
        except OSError:
            return []

    def append_string(self, string: str) -> None:
        """Takes up the inputs in a text."""
        for one in inputs(string):
            if self._loaded_strings[:1] != [one]:
                super().append_string(one)

    def store_string(self, string: str) -> None:
        """Writes an input to the file."""
        with suppress(OSError):
            super().store_string(string)


def history() -> History:
    """The user's history."""
    path = history_file()
    return _Kept(str(path)) if path is not None else InMemoryHistory()


def history_file() -> Path | None:
    """Where the history is kept: in the user's folder for such things; None where that cannot be made, or others may
    write it."""
    import platformdirs

    folder = Path(platformdirs.user_state_dir("sacpy", appauthor=False))
    try:
        kept.make_folder(folder)
        if kept.distrust(folder, "XDG_STATE_HOME"):
            return None
        with open(folder / "history", "ab", opener=lambda path, flags: os.open(path, flags, 0o600)):
            return folder / "history"
    except OSError:
        return None
