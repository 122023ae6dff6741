"""Every program and module there is keeps its meaning when it is formatted, and formatting it again changes nothing."""

from pathlib import Path

import pytest

from sacpy.lang.ast_tools import same
from sacpy.lang.core_printer import print_function
from sacpy.lang.diagnostics import SacError
from sacpy.lang.formatter import WIDTH, format_text
from sacpy.lang.formatter.pieces import read
from sacpy.lang.modules import used_operators
from sacpy.lang.parser import parse_module
from sacpy.lang.source import Source
from sacpy.workspace import Workspace
from tests.tools import ROOT

FOLDERS = ("programs", "sacpy/stdlib", "tests/corpus", "tests/stdlib", "benchmarks")
FILES = [path.relative_to(ROOT) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.sac"))]


def text_of(path: Path) -> str:
    return (ROOT / path).read_bytes().decode("utf-8", "surrogateescape")


def formatted(path: Path) -> str:
    return format_text(text_of(path), str(ROOT / path))


def tree(path: Path, text: str) -> object:
    source = Source(str(ROOT / path), text)
    return parse_module(source, operators=used_operators(source, ())).module


@pytest.mark.parametrize("path", FILES, ids=str)
@pytest.mark.sample(3)
def test_formatting_keeps_the_tree_and_is_done_once(path: Path) -> None:
    try:
        new = formatted(path)
    except SacError as error:
        assert path.parts[0] == "tests" and "E0719" not in [d.code for d in error.diagnostics], str(error)
        pytest.skip("does not parse")
    assert format_text(new, str(ROOT / path)) == new
    assert same(tree(path, text_of(path)), tree(path, new))
    if path.parts[0] in ("programs", "sacpy"):
        assert too_wide(path, new) == []


def core(path: Path, text: str) -> list[str]:
    program, _ = Workspace().check_text(text, str(ROOT / path), (ROOT / path).parent)
    return [print_function(program.function(key)) for key in program.user_keys([])]


# whose trees are the same: some of them show that the core is what comes of the tree
PROGRAMS = [
    pytest.param(p, marks=[pytest.mark.long] * (at % 4 > 0), id=str(p))
    for at, p in enumerate(p for p in FILES if p.parts[0] == "programs")
]


@pytest.mark.parametrize("path", PROGRAMS)
def test_programs_have_the_same_core_afterwards(path: Path) -> None:
    assert core(path, formatted(path)) == core(path, text_of(path))


def too_wide(path: Path, text: str) -> list[str]:
    """Pieces of a text that do not fit into the width."""
    source = Source(str(path), text)
    words = [piece for piece in read(source).items if piece.kind != "string"]
    # `);` may follow a string that is as wide as the line
    return [piece.text for piece in words if source.position(piece.end)[1] > WIDTH + 3]
