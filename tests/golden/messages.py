"""The texts of sacpy's messages, one per code.

In: the examples of `docs/errors.md`, and for what takes several files the folders beside this file: `CODE/main.sac`
with the modules it uses. Out: per code, the text as it is now. `CODE.txt` holds what it was;
`python -m tests.golden.messages` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from sacpy.lang.diagnostics import SacError, render_text
from sacpy.lang.source import STDLIB
from sacpy.workspace import Workspace
from tests.docs.error_examples import DOCUMENT, examples, rendering

HERE = Path(__file__).parent
FOLDERS = {folder.name: folder for folder in sorted(HERE.glob("[EWN]0*")) if folder.is_dir()}
EXAMPLES = {
    code: (label, text)
    for code, label, text in examples(DOCUMENT.read_text(encoding="utf-8"))
    if label in ("sac", "gpu", "emulator", "sacpy")
}
MACHINE = {"E0701", "E0703"}  # the texts tell how deep the stack was, how much memory the machine has


def codes() -> list[str]:
    """The codes that have a text here."""
    return sorted({*FOLDERS, *EXAMPLES} - MACHINE)


def message(code: str) -> str:
    """The text of a code's message."""
    if code in FOLDERS:
        return _shortened(_checked(FOLDERS[code]))
    label, text = EXAMPLES[code]
    found = rendering(label, text, code)
    assert found is not None, f"the example of {code} in docs/errors.md does not give it"
    return _shortened(found)


def _checked(folder: Path) -> str:
    try:
        _, found = Workspace().check(folder / "main.sac")
    except SacError as error:
        found = list(error.diagnostics)
    return render_text([d for d in found if d.code == folder.name]) + "\n"


def _shortened(text: str) -> str:
    """Without what depends on where sacpy is installed."""
    text = text.replace(str(STDLIB), "LIBRARY")
    for folder in FOLDERS.values():
        text = text.replace(f"{folder}/", "").replace(str(folder), "FOLDER")
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip("\n").split("\n"))


if __name__ == "__main__":
    for name in codes():
        (HERE / f"{name}.txt").write_text(message(name), encoding="utf-8")
