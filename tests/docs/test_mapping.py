"""`docs/mapping.md`: its pictures are those that are drawn, its examples say what they say, its links lead somewhere.

`python -m tests.docs.test_mapping` brings the outputs up to date.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

from sacpy import cli
from sacpy.lang.diagnostics import render_text
from sacpy.workspace import Workspace
from tests.docs.mapping_pictures import FOLDER, pictures
from tests.docs.readme import CONSOLE, FILE, output
from tests.tools import ROOT

DOCUMENT = ROOT / "docs/mapping.md"
EXPLAIN = re.compile(r"^<!-- explain: (.*?) -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REFUSED = re.compile(r"^```sac\n(int\[\*\] f.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def explained(text: str) -> str:
    """The document with the outputs of `sacpy explain` as they are now; those that differ by times only stay."""

    def output(match: re.Match[str]) -> str:
        now = _explain(folder, match[1].split())
        return (
            match[0]
            if without_times(now) == without_times(match[2])
            else f"<!-- explain: {match[1]} -->\n```text\n{now}```"
        )

    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILE.findall(text):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        return EXPLAIN.sub(output, text)


def drawn(text: str) -> str:
    """The document with the outputs of its other commands as they are now."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILE.findall(text):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        return CONSOLE.sub(
            lambda m: f"```console\n$ sacpy {m[1]}\n{output(folder, '-m', 'sacpy', *m[1].split())}```", text
        )


def _explain(folder: str, arguments: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.chdir(folder):
        assert cli.main(["explain", *arguments[1:], arguments[0]]) == 0
    return out.getvalue()


def without_times(text: str) -> list[str]:
    """The lines without what differs from computer to computer: seconds, what the assembler says, if there is one; and
    what other tests have moved."""
    lines = [re.sub(r"in [\d.]+ s", "in .. s", line) for line in text.splitlines() if "register" not in line]
    return [line for line in lines if not line.startswith("to the emulated")]


def test_pictures() -> None:
    found = pictures()
    assert sorted(p.name for p in FOLDER.iterdir()) == sorted(found)
    assert [name for name, text in found.items() if (FOLDER / name).read_text(encoding="utf-8") != text] == [], (
        "if the new pictures are right: python -m tests.docs.mapping_pictures"
    )
    used = re.findall(r"\(mapping/(\w+\.svg)\)", DOCUMENT.read_text(encoding="utf-8"))
    assert set(used) == set(found)


def test_commands() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert CONSOLE.search(text)
    assert drawn(text) == text, "if the new outputs are right: python -m tests.docs.test_mapping"


def test_explanations() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert EXPLAIN.search(text)
    assert without_times(explained(text)) == without_times(text), (
        "if the new outputs are right: python -m tests.docs.test_mapping"
    )


def test_the_refused_pragma() -> None:
    ((program, said),) = REFUSED.findall(DOCUMENT.read_text(encoding="utf-8"))
    _, found = Workspace().check_text("use Array: all;\n" + program, "f.sac")
    assert said.rstrip("\n").split("\n") == [line for line in render_text(found).split("\n") if "-->" not in line]


def test_links_to_sections() -> None:
    for file, anchor in re.findall(r"\((\w+\.md)#([\w-]+)\)", DOCUMENT.read_text(encoding="utf-8")):
        headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings]


if __name__ == "__main__":
    DOCUMENT.write_text(explained(drawn(DOCUMENT.read_text(encoding="utf-8"))), encoding="utf-8")
