"""What beginners write: the message is at the right place, names the cause, and what it proposes passes the check."""

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sacpy.lang.advice.vetting import changed
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.workspace import Workspace

FILE = Path(__file__).with_name("inputs.txt")
USES = "use StdIO: all;\nuse Array: all;\n\n"
MAIN = "\n\nint main()\n{\n  return 0;\n}\n"
HEAD = f"""{USES}int main()
{{
  v = [1.0, 4.0, 9.0];
  m = [[1.0, 2.0], [3.0, 4.0]];
  n = 3;
  b = true;
  s = "text";
"""
TAIL = "\n  return 0;\n}\n"


class Input(NamedTuple):
    """A program, the place of the message in it, the message, and what else the table says."""

    text: str
    place: tuple[int, int]
    message: str
    remarks: tuple[tuple[str, str], ...]

    def said(self, word: str) -> list[str]:
        return [text for name, text in self.remarks if name == word]


def inputs() -> Iterator[tuple[str, Input]]:
    for block in FILE.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith("# ") and line != "#"]
        if not lines:
            continue
        written = "\n".join(line for line in lines if not line.startswith("~ "))
        first, *others = [line[2:] for line in lines if line.startswith("~ ")]
        head, tail = (HEAD, TAIL) if written[0] == " " else (USES, "\n" if "main(" in written else MAIN)
        start, end = written.index("«"), written.index("»") - 1
        text = head + written.replace("«", "").replace("»", "") + tail
        remarks = tuple((line.partition(" ")[0], line.partition(" ")[2]) for line in others)
        yield written.strip(), Input(text, (len(head) + start, len(head) + end), first, remarks)


INPUTS = dict(inputs())


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    made = Workspace()
    made.preload()
    return made


def errors(workspace: Workspace, text: str) -> list[Diagnostic]:
    try:
        found = workspace.check_text(text, "input.sac", None)[1]
    except SacError as error:
        found = list(error.diagnostics)
    return [d for d in found if d.severity == "error"]


@pytest.mark.parametrize("name", INPUTS)
def test_input(workspace: Workspace, name: str) -> None:
    wanted = INPUTS[name]
    first, *others = errors(workspace, wanted.text)
    assert f"{first.code} {first.message}" == wanted.message
    assert (first.span.start, min(first.span.end, wanted.place[1])) == wanted.place
    assert [f"{d.code} {d.message}" for d in others] == [m for text in wanted.said("and") for m in text.split("; ")]
    proposed = [d.edit for d in (first, *others) if d.edit is not None]
    if first.edit is None:
        assert [first.help] == wanted.said("help")
    else:
        before, after = (t.split("\n") for t in (wanted.text, first.edit.applied(wanted.text)))
        changes = list(difflib.ndiff(before, after))
        assert [line[2:].strip() for line in changes if line[0] == "+"] == wanted.said("becomes")
        assert wanted.said("becomes") or [line[2:].strip() for line in changes if line[0] == "-"] == wanted.said(
            "loses"
        )
    for text in changed(proposed).values():
        assert errors(workspace, text) == []


def test_there_are_more_than_130() -> None:
    assert len(INPUTS) > 130


def test_most_have_a_change() -> None:
    assert sum(bool(wanted.said("becomes")) for wanted in INPUTS.values()) > len(INPUTS) // 2
