"""A prompt in a terminal, for the tests of this folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.repl.terminal import READY, Terminal


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Opens terminals as `Terminal` does, their history in the test's folder, and waits for the first prompt; closes
    them at the end."""
    opened: list[Terminal] = []

    def open(*arguments: str, **settings: object) -> Terminal:
        opened.append(Terminal(tmp_path, arguments=arguments, **settings))  # type: ignore[arg-type]
        if not arguments:
            opened[-1].wait(READY)
        return opened[-1]

    yield open
    for terminal in opened:
        terminal.kill()
