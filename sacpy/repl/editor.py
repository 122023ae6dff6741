"""The line editor: everything between a key and a whole input, on a terminal.

In: an engine, which may still be on its way. Out: the texts that were handed over. Colours, keys, completion, history
and the signature line are modules of their own; here they are put together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.output import ColorDepth

from sacpy.base.terminal import has_color
from sacpy.repl.brackets import Brackets
from sacpy.repl.coloring import Coloring, style
from sacpy.repl.history import history
from sacpy.repl.keys import bindings
from sacpy.repl.parts import is_whole
from sacpy.repl.transcript import CONTINUED, PROMPT, inputs, is_transcript

if TYPE_CHECKING:
    from sacpy.repl.engine import Engine

KEYS = {"emacs": EditingMode.EMACS, "vi": EditingMode.VI}
MENU_LINES = 6


class Editor:
    """Reads inputs. `read` gives the next one; raises `KeyboardInterrupt` for Ctrl-C and `EOFError` for Ctrl-D."""

    def __init__(
        self,
        begin: Callable[[Callable[[], None]], None],
        engine: Callable[[], Engine],
        ready: Callable[[], Engine | None],
    ) -> None:
        """`begin` starts loading the engine, and calls what it is given when that is done, `engine` waits for it,
        `ready` gives it if it is there."""
        self._engine, self._ready = engine, ready
        self._session: PromptSession[str] = PromptSession(
            lambda: self._prompt("class:prompt", PROMPT),
            lexer=Coloring(),
            style=style(),
            include_default_pygments_style=False,
            color_depth=None if has_color(sys.stdout) else ColorDepth.MONOCHROME,
            history=history(),
            auto_suggest=AutoSuggestFromHistory(),
            enable_history_search=True,
            completer=_Completer(engine),
            complete_while_typing=False,
            reserve_space_for_menu=MENU_LINES,
            input_processors=[Brackets()],
            key_bindings=bindings(self._is_whole),
            multiline=True,
            enable_open_in_editor=True,
            tempfile_suffix=".sac",
            enable_suspend=True,
            prompt_continuation=lambda width, number, wrapped: self._prompt(
                "class:continued", " " * len(CONTINUED) if wrapped else CONTINUED
            ),
        )
        self._session.app.before_render += self._before_render
        self._session.app.after_render += lambda app: begin(app.invalidate)

    def read(self) -> str:
        """The next input."""
        engine = self._ready()
        if engine is not None:
            self._session.editing_mode = KEYS.get(engine.settings.values.get("keys", ""), EditingMode.EMACS)
        return self._session.prompt()

    def _prompt(self, style: str, text: str) -> StyleAndTextTuples:
        """A prompt; a pasted transcript has its own."""
        return [] if is_transcript(self._session.default_buffer.text) else [(style, text)]

    def _is_whole(self, text: str) -> bool:
        """Whether a text can be handed over."""
        self._session.app.erase_when_done = is_transcript(text)  # its inputs are shown again, each with its output
        last = inputs(text)[-1:] if is_transcript(text) else [text]
        try:
            return all(is_whole(one, self._engine()) for one in last)
        except Exception:  # the engine could not be loaded: who takes the text says so
            return True

    def _before_render(self, app: Application[str]) -> None:
        """Puts the signature of the function being called into the last line of the screen, and takes the line away
        where there is none."""
        self._session.bottom_toolbar = None if app.is_done else (self._hint() or None)

    def _hint(self) -> StyleAndTextTuples:
        engine = self._ready()
        buffer = self._session.default_buffer
        if engine is None or "(" not in buffer.text or self._session.app.layout.current_buffer is not buffer:
            return []
        from sacpy.repl.hints import hint

        found = hint(engine, buffer.text, buffer.cursor_position)
        if found is None:
            return []
        columns = self._session.app.output.get_size().columns
        more = f"  and {found.more} more" if found.more else ""
        return cut(
            [
                ("", found.before),
                ("class:hint.parameter", found.parameter),
                ("", found.after),
                ("class:hint.more", more),
            ],
            len(found.before),
            columns - 1,
        )


def cut(parts: StyleAndTextTuples, start: int, columns: int) -> StyleAndTextTuples:
    """As much of a line as fits, the column `start` within it."""
    total = sum(len(part[1]) for part in parts)
    if total <= columns:
        return parts
    skip = max(min(start - columns // 3, total - columns), 0)
    found: StyleAndTextTuples = []
    at = 0
    for style_, text, *_ in parts:
        piece = text[max(skip - at, 0) : max(skip + columns - at, 0)]
        found.append((style_, piece))
        at += len(text)
    return found


class _Completer(Completer):
    """`completion` for prompt_toolkit."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The candidates at the cursor."""
        from sacpy.repl.completion import complete

        try:
            found = complete(self._engine(), document.text, document.cursor_position)
        except Exception:  # a mistake here must not end the session
            return
        for candidate in found.candidates:
            yield Completion(candidate.text, found.start - document.cursor_position, display_meta=candidate.about)
