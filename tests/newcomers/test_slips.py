"""Slips of one character: told where they are made, and without another language being blamed."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.workspace import Workspace

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").glob("*.sac"))
ELSEWHERE = 0.03  # of the slips: those that are told neither on their line nor on the next one
NO_TEXT = re.compile(
    r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL | re.MULTILINE
)
SLIPS = {  # what is found in the code, and what stands there then
    "no )": (r"\)", ""),
    "no ]": (r"\]", ""),
    "no ;": (r";", ""),
    "no { behind a head": (r"(?<=\)) \{(?=\n)|(?<=else) \{(?=\n)", ""),
    "no ->": (r"->", ""),
    "a comma for a semicolon": (r";(?=\n)", ","),
    "a comparison for an assignment": (r"(?<=[\w\])] )=(?= )", "=="),
    "an assignment for a comparison": (r"==", "="),
}


def places(text: str, slip: str) -> list[tuple[int, int]]:
    """Where a slip may be made: in the code, not in comments, strings or lines of the preprocessor."""
    code = NO_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return [m.span() for m in re.finditer(SLIPS[slip][0], code)]


def first(workspace: Workspace, text: str) -> Diagnostic | None:
    """The first thing that is said of a program."""
    try:
        workspace.load_text(text)
    except SacError as error:
        return error.diagnostics[0]
    return None


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_where_it_is(slip: str) -> None:
    workspace, generator = Workspace(), random.Random(slip)
    blamed, elsewhere, told = [], [], 0
    for program in generator.sample(PROGRAMS, 10):
        text = program.read_text()
        found = places(text, slip)
        for start, end in generator.sample(found, min(2, len(found))):
            said = first(workspace, text[:start] + SLIPS[slip][1] + text[end:])
            if said is None:  # it is another program, which is right too
                continue
            line = text.count("\n", 0, start) + 1
            told += 1
            if said.code == "E0214":
                blamed.append((program.name, line, said.message))
            if said.span.line not in (line, line + 1):
                elsewhere.append((program.name, line, said.message))
    assert told >= 14
    assert not blamed
    assert len(elsewhere) <= ELSEWHERE * told, elsewhere
