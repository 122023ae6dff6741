"""What the tests that run whole SaC programs share: running a file, and reading the directives in its comments.

A directive is a comment line `// name: value`. `read_directives` returns them in order; a test driver knows the names it wants.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT = 60.0

_RENDERED = re.compile(r"^error\[(E\d{4})\]", re.MULTILINE)
_POINTER = re.compile(r"^\s*-+> ?[^\n]*?:(\d+):(\d+)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^\s*//\s*([a-z][a-z-]*):\s?(.*)$")


@dataclass(frozen=True)
class Place:
    """A diagnostic as a test sees it: where it points (line and column from 1), its code, and all of its text."""

    code: str
    line: int
    column: int
    text: str
    edit: tuple[int, int, int, int, str] | None = None
    """Start line and column, end line and column (exclusive, all from 1), replacement."""


@dataclass(frozen=True)
class Result:
    """What a run of a program left behind."""

    status: int
    stdout: bytes
    stderr: str
    diagnostics: tuple[Place, ...] = field(default=())


def _sacpy(arguments: Sequence[str], stdin: bytes, cwd: Path | None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "sacpy", *arguments], input=stdin, capture_output=True, timeout=TIME_LIMIT, cwd=cwd or ROOT, check=False
    )


def run_file(path: Path, args: Sequence[str] = (), stdin: bytes = b"", flags: Sequence[str] = (), cwd: Path | None = None) -> Result:
    """Run a SaC program as the command line does. `args` are the program's own, `flags` are options of `sacpy run`."""
    done = _sacpy(["run", *flags, str(path), *args], stdin, cwd)
    return Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def check_file(path: Path, flags: Sequence[str] = ()) -> Result:
    """Check a SaC program without running it; the result carries the diagnostics."""
    done = _sacpy(["check", "--json", *flags, str(path)], b"", None)
    return Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), tuple(_places(done.stdout)))


def run_broken_file(path: Path, flags: Sequence[str] = ()) -> Result:
    """Run a SaC program that is expected to fail; the result carries the diagnostics as standard error shows them."""
    result = run_file(path, flags=flags)
    return Result(result.status, result.stdout, result.stderr, tuple(_rendered_places(result.stderr)))


def _rendered_places(text: str) -> Iterator[Place]:
    """The errors in rendered diagnostics: `error[E0213]: ...` and the `--> file:line:column` below it."""
    starts = [match.start() for match in _RENDERED.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        block = text[start:end]
        code, place = _RENDERED.match(block), _POINTER.search(block)
        if code and place:
            yield Place(code[1], int(place[1]), int(place[2]), block)


def _places(text: bytes) -> Iterator[Place]:
    """The diagnostics in the JSON array that `text` ends in; warnings and notes are left out."""
    start = text.find(b"[")
    for item in json.loads(text[start:]) if start >= 0 else []:
        if item["code"].startswith("E"):
            yield place_of(item)


def place_of(item: dict) -> Place:
    """A diagnostic from its JSON object."""
    texts = [item["message"], item.get("label", ""), item.get("help", ""), *item.get("notes", ()), *(label["text"] for label in item.get("labels", ()))]
    edit = item.get("edit")
    change = None
    if edit:
        span = edit["span"]
        change = (span["start"]["line"], span["start"]["column"], span["end"]["line"], span["end"]["column"], edit["text"])
    start = item["span"]["start"]
    return Place(item["code"], start["line"], start["column"], "\n".join(text for text in texts if text), change)


def apply_edit(text: str, edit: tuple[int, int, int, int, str]) -> str:
    """The program with the edit that a diagnostic suggests."""
    lines = text.splitlines(keepends=True)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    start_line, start_column, end_line, end_column, replacement = edit
    start = offsets[start_line - 1] + start_column - 1
    end = offsets[end_line - 1] + end_column - 1
    return text[:start] + replacement + text[end:]


def read_directives(path: Path) -> list[tuple[str, str]]:
    """The `// name: value` comment lines of a program, in order."""
    found = (_DIRECTIVE.match(line) for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    return [(match[1], match[2].strip()) for match in found if match]


def first_directive(directives: Sequence[tuple[str, str]], name: str, default: str = "") -> str:
    """The value of the first directive of that name."""
    return next((value for key, value in directives if key == name), default)
