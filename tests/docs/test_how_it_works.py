"""Every output in `docs/how-it-works.md` is what sacpy gives today, and every file that it names exists."""

import re

import pytest

from sacpy import jit
from tests.docs.stages import DOCUMENT, updated
from tests.tools import ROOT

TEXT = DOCUMENT.read_text(encoding="utf-8")
FILES = sorted(
    set(
        re.findall(
            r"`((?:lang|interp|jit|withloop|stdlib|repl|notebook|lsp|embedding|sacpy|tests|docs|programs)/[\w./-]+)`",
            TEXT,
        )
    )
)


def test_outputs() -> None:
    assert updated(TEXT) == TEXT, "if the new outputs are right: python -m tests.docs.stages"


@pytest.mark.parametrize("name", FILES)
def test_files_exist(name: str) -> None:
    assert (ROOT / "sacpy" / name).exists() or (ROOT / name).exists()


def test_files_were_read() -> None:
    assert len(FILES) > 20


def test_every_room_is_named() -> None:
    rooms = [
        path.parent.relative_to(ROOT / "sacpy")
        for path in (ROOT / "sacpy").glob("**/__init__.py")
        if path.parent != ROOT / "sacpy"
    ]
    assert len(rooms) > 15
    assert [str(room) for room in rooms if f"{room}/" not in TEXT] == []


def test_the_compilers_files_are_sorted() -> None:
    files = {path.stem for path in (ROOT / "sacpy/jit").glob("*.py") if path.stem != "__init__"}
    assert set(re.findall(r"`(\w+)`", str(jit.__doc__))) == files | {
        path.parent.name for path in (ROOT / "sacpy/jit").glob("*/__init__.py")
    }
