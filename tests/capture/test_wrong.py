"""Wrong functions: one message each, on the line that says so, with what to write; the texts are kept."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import sacpy
from tests.capture.wrong import WRONG

HERE = Path(__file__).resolve().parent
FILE = HERE / "wrong.py"
GOLDEN = HERE / "wrong.txt"
LINES = FILE.read_text(encoding="utf-8").splitlines()


@cache
def said(name: str) -> sacpy.SacError:
    function, arguments = WRONG[name]
    with pytest.raises(sacpy.SacError) as caught:
        sacpy.Captured(function, target="interp")(*arguments)
    return caught.value


def expected(name: str) -> tuple[int, str]:
    """The line and the code that a comment within the function says."""
    start = next(i for i, line in enumerate(LINES) if line.startswith(f"def {name}("))
    at = next(i for i, line in enumerate(LINES[start:], start) if "# E0" in line)
    return at + 1, LINES[at].rpartition("# ")[2]


def in_file(found: sacpy.Diagnostic) -> int:
    """The line of the function: where the message points, or the call that led there."""
    spans = [found.span, *[label.span for label in found.labels], *[frame.span for frame in found.stack]]
    return next((s.line for s in spans if s.source.name == str(FILE)), 0)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_function_gets_one_message_on_its_line(name: str) -> None:
    error = said(name)
    (found,) = error.diagnostics
    assert (in_file(found), found.code) == expected(name)


def text(error: sacpy.SacError) -> str:
    plain = str(error).replace(str(HERE) + os.sep, "").replace(str(HERE.parents[1]) + os.sep, "")
    return re.sub(r"(support\.sac):[\d:]+", r"\1", plain)


def test_the_messages_are_the_kept_ones() -> None:
    found = "".join(f"---- {name}\n{text(said(name))}\n\n" for name in WRONG)
    if os.environ.get("SACPY_KEEP_MESSAGES"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_there_are_sixty() -> None:
    assert len(WRONG) >= 60


def test_most_messages_say_what_to_write() -> None:
    helped: list[Any] = [name for name in WRONG if any(d.help for d in said(name).diagnostics)]
    assert len(helped) > 0.75 * len(WRONG)
