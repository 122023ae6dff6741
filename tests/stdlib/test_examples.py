"""Every function of the library is documented, and every example in its documentation prints what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy.documents.examples import fits, run_examples, split_code, wrong_examples
from sacpy.documents.library import Example, Library, split_comment
from sacpy.lang.modules import Loader
from sacpy.lang.source import STDLIB

LIBRARY = Library()


def loader() -> Loader:
    """A loader that shares the parsed library with the others."""
    LIBRARY.info("Array")
    return Loader(library=LIBRARY.loader.library)


@pytest.mark.parametrize("module", LIBRARY.modules)
def test_examples_print_what_they_should(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    comments = [comment for entry in LIBRARY.own(module) for comment in entry.examples]
    assert wrong_examples(module, comments, loader()) == []


@pytest.mark.parametrize("module", LIBRARY.modules)
def test_functions_are_documented_with_an_example(module: str) -> None:
    entries = LIBRARY.own(module)
    assert [e.name for e in entries if not e.overloads[0].text] == []
    assert [e.name for e in entries if not e.examples] == []
    assert LIBRARY.about(module)


def test_examples_that_are_wrong_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    comments = [
        [Example("sum([1, 2])", ("4",))],
        [Example('puts("a");', ("b",))],
        [Example("no_such_function(1)", ("1",))],
    ]
    assert len(wrong_examples("ArrayReduce", comments[:2], loader())) == 2
    assert "E0307" in wrong_examples("ArrayReduce", comments[2:], loader())[0]


def test_an_example_shows_values_in_the_notation_of_sac() -> None:
    code = '2ul, 1.5f, \'x\', "a\\n\\"", [[1, 2], [3, 4]], genarray([0, 3], 1), true, nil()'
    output = run_examples("List", [[Example(code)]], Loader())
    assert output == [[['2ul, 1.5f, \'x\', "a\\n\\"", [[1, 2], [3, 4]], reshape([0, 3], []), true, <list>']]]


def test_statements_and_expressions_of_an_example_are_told_apart() -> None:
    assert split_code('x = 1; y = ";"; x, y') == ('x = 1; y = ";";', "x, y")
    assert split_code("{ iv -> 1; iv -> 2 }") == ("", "{ iv -> 1; iv -> 2 }")
    assert split_code("flush();") == ("flush();", "")


def test_a_comment_is_split_into_text_and_examples() -> None:
    text, examples = split_comment("Adds.\n>>> add(1, 2)\n3\n\nMore.\n<<< 4 5\n>>> read();\n>>> last")
    assert text == "Adds.\n\nMore."
    assert examples == (Example("add(1, 2)", ("3",)), Example("read();", (), ("4 5",)), Example("last"))


def test_dots_in_the_output_stand_for_anything() -> None:
    assert fits(["17.5 s"], ["... s"])
    assert not fits(["17.5 s", "more"], ["... s"])


def test_all_library_files_are_modules_of_their_name() -> None:
    assert {LIBRARY.info(m).name for m in LIBRARY.modules} == {p.stem for p in STDLIB.glob("*.sac")}
