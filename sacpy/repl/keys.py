"""What the keys do that a line editor does not do by itself: Enter, Tab, brackets, pasting.

In: whether a text is a whole input. Out: key bindings. Enter hands over a whole input and begins an indented line in
one that is not; two blank lines at the end hand it over as it is; Alt-Enter always begins a line.
"""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit.application.current import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, get_common_complete_suffix
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import (
    Condition,
    emacs_insert_mode,
    has_completions,
    has_focus,
    is_searching,
    vi_insert_mode,
    vi_navigation_mode,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from sacpy.repl.cursor import CLOSERS, pieces
from sacpy.repl.transcript import cleaned

INDENT = "  "

_editing = has_focus(DEFAULT_BUFFER) & ~is_searching
_inserting = _editing & (vi_insert_mode | emacs_insert_mode)


@Condition
def _in_indentation() -> bool:
    """Whether there is only white space before the cursor in its line."""
    return not get_app().current_buffer.document.current_line_before_cursor.strip()


@Condition
def _some_indentation() -> bool:
    before = get_app().current_buffer.document.current_line_before_cursor
    return bool(before) and not before.strip()


@Condition
def _chosen() -> bool:
    """Whether a candidate of the menu is selected."""
    state = get_app().current_buffer.complete_state
    return state is not None and state.current_completion is not None


def bindings(is_whole: Callable[[str], bool]) -> KeyBindings:
    """The bindings. `is_whole` says whether a text can be handed over."""
    keys = KeyBindings()

    @keys.add("enter", filter=_inserting | (_editing & vi_navigation_mode))
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        between = buffer.document.char_before_cursor == "{" and buffer.document.current_char == "}"
        if not between and (not buffer.text.strip() or _given_up(buffer) or is_whole(buffer.text)):
            buffer.cursor_position = len(buffer.text)  # what follows is shown below the text, not in it
            buffer.validate_and_handle()
        else:
            begin_line(buffer)

    @keys.add("enter", filter=_editing & _chosen)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("escape", "enter", filter=_inserting)
    def _(event: KeyPressEvent) -> None:
        begin_line(event.current_buffer)

    @keys.add("tab", filter=_inserting & _in_indentation & ~has_completions)
    def _(event: KeyPressEvent) -> None:
        column = event.current_buffer.document.cursor_position_col
        event.current_buffer.insert_text(" " * (len(INDENT) - column % len(INDENT)))

    @keys.add("tab", filter=_inserting & ~(_in_indentation & ~has_completions))
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.complete_next()
        else:
            complete(buffer)

    @keys.add("s-tab", filter=_inserting & has_completions)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.complete_previous()

    @keys.add("backspace", filter=_inserting & _some_indentation)
    def _(event: KeyPressEvent) -> None:
        column = event.current_buffer.document.cursor_position_col
        event.current_buffer.delete_before_cursor((column - 1) % len(INDENT) + 1)

    for closer in sorted(CLOSERS):

        @keys.add(closer, filter=_inserting & _some_indentation)
        def _(event: KeyPressEvent) -> None:
            close(event.current_buffer, event.data)

    @keys.add(Keys.BracketedPaste, filter=_editing)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(cleaned(event.data))

    return keys


def _given_up(buffer: Buffer) -> bool:
    """Whether the cursor stands on the second of two blank lines at the end of the text."""
    lines = buffer.text.split("\n")
    return len(lines) > 2 and not lines[-1].strip() and not lines[-2].strip() and buffer.document.on_last_line


def complete(buffer: Buffer) -> None:
    """Puts in the only candidate, or what all begin with and a menu of them. At once, so that what is typed right
    behind Tab goes behind it."""
    found = list(buffer.completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
    if len(found) == 1:
        buffer.apply_completion(found[0])
    elif found:
        buffer.insert_text(get_common_complete_suffix(buffer.document, found))
        buffer.start_completion()


def begin_line(buffer: Buffer) -> None:
    """Breaks the line at the cursor. The new one is indented as the last that is not blank, deeper if that leaves a
    bracket open; a closing bracket behind the cursor goes to a line of its own where the opening one is right before
    it."""
    document = buffer.document
    line = document.current_line_before_cursor
    indent = line[: len(line) - len(line.lstrip())]
    opened = bool(pieces(line).open_brackets())
    after = document.current_line_after_cursor.lstrip()
    buffer.insert_text("\n" + indent + (INDENT if opened else ""))
    if opened and after[:1] in CLOSERS and after:
        buffer.insert_text("\n" + indent, move_cursor=False)


def close(buffer: Buffer, bracket: str) -> None:
    """A closing bracket that begins its line stands below the line of the one it closes."""
    before = buffer.document.text_before_cursor
    found = pieces(before)
    stack = found.open_brackets()
    if stack and found.unfinished is None:
        start = found.found[stack[-1]].start
        line = before[before.rfind("\n", 0, start) + 1 : start + 1]
        buffer.delete_before_cursor(buffer.document.cursor_position_col)
        buffer.insert_text(line[: len(line) - len(line.lstrip())])
    buffer.insert_text(bracket)
