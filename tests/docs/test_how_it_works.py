"""Every output in `docs/how-it-works.md` is what sacpy gives today, and every file that it names exists."""

import re

import pytest

from tests.docs.stages import DOCUMENT, updated
from tests.tools import ROOT

TEXT = DOCUMENT.read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`((?:lang|interp|jit|withloop|stdlib|repl|notebook|lsp|embedding|sacpy|tests|docs|programs)/[\w./-]+)`", TEXT)))


def test_outputs() -> None:
    assert updated(TEXT) == TEXT, "if the new outputs are right: python -m tests.docs.stages"


@pytest.mark.parametrize("name", FILES)
def test_files_exist(name: str) -> None:
    assert (ROOT / "sacpy" / name).exists() or (ROOT / name).exists()


def test_files_were_read() -> None:
    assert len(FILES) > 20
