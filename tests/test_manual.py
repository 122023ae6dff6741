"""`sacpy doc`: codes, words of SaC and of other languages, modules in groups, searching, the pager."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pexpect
import pytest

from sacpy import cli
from sacpy.documents.library import Library
from sacpy.documents.manual import describe, findings, search
from sacpy.documents.pages import address, page, section, sections

LIBRARY = Library()


def doc(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status and output of `sacpy doc`."""
    status = cli.main(["doc", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("name", ["E0506", "e0506"])
def test_a_code(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, name)
    assert status == 0 and out.startswith("E0506: index out of bounds\n\nThe index is known,")
    assert "\n    int main() { a = [1, 2, 3]; return a[3]; }\n" in out and "`" not in out


def test_every_code_is_explained() -> None:
    assert all(describe(LIBRARY, one.names[0]) for one in sections("errors"))


def test_a_word_of_the_language() -> None:
    text = describe(LIBRARY, "foldfix") or ""
    assert text.startswith("fold, foldfix   words of the language\n\n") and "[with]" not in text
    assert (describe(LIBRARY, "with") or "").startswith("with   a word of the language\n")


def test_a_word_that_is_a_function_too() -> None:
    text = describe(LIBRARY, "genarray") or ""
    assert text.index("a word of the language") < text.index("genarray   in ArrayBasics")


def test_a_word_of_another_language() -> None:
    text = describe(LIBRARY, "tabulate") or ""
    assert text.startswith("tabulate   of R\n") and "in SaC  bincount(u)" in text


def test_a_module_that_gathers_others_lists_their_functions_in_groups() -> None:
    text = describe(LIBRARY, "Array") or ""
    groups = [line.partition(":")[0] for line in text.split("\n") if line and line[0] != " " and ": " in line]
    assert groups[:3] == ["ScalarArith", "ArrayArith", "ArrayBasics"]
    assert (
        text.index("ArrayReduce:") < text.index("\n    sum") < text.index("ArrayTransform:") < text.index("\n    take")
    )
    nested = describe(LIBRARY, "Structures") or ""
    assert nested.count("ArrayReduce:") == 1


def test_several_words_are_looked_for_in_all_texts(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, "rotate", "axis")
    assert status == 0 and out.startswith("rotate   in ArrayTransform")
    assert doc(capsys, "rotate axis")[1] == out


def test_where_nothing_mentions_all_words_most_of_them_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, "rotate xyzzy axis")
    first, *others = out.splitlines()
    assert status == 0 and first == "nothing mentions rotate and xyzzy and axis together; some of these words:"
    assert "\n".join(others) + "\n" == doc(capsys, "rotate axis")[1]
    assert search(LIBRARY, ["rotate", "axis", "rotate"]) == search(LIBRARY, ["rotate", "axis"])


def test_words_are_found_in_other_forms() -> None:
    assert [f.name for f in search(LIBRARY, ["running", "sum"])] == ["cumsum"]
    assert search(LIBRARY, ["nearest", "neighbours"])[0].lacks == ("neighbours",)
    assert {f.name for f in search(LIBRARY, ["descending", "sorting"])} >= {"argsort"}


def test_what_is_found_most_plainly_comes_first() -> None:
    assert search(LIBRARY, ["transpose"])[0].name == "transpose"
    assert {f.name for f in search(LIBRARY, ["bounds"])} >= {"E0506"}
    assert search(LIBRARY, ["Transpose"]) == search(LIBRARY, ["transpose"])


def test_a_name_can_be_looked_for_though_it_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, "--find", "take")
    assert status == 0 and len(out.splitlines()) > 3 and "for T: any type" not in out


def test_nothing_found(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, "plugh", "xyzzy")
    assert status == 1 and out == "nothing mentions plugh and xyzzy\n"
    assert findings([], ["a"]) == "nothing mentions a\n"


def test_an_unknown_name_brings_what_mentions_it(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = doc(capsys, "lexicographic")
    assert status == 1 and "there is nothing called lexicographic" in err


def test_addresses_have_the_line_of_the_section() -> None:
    link = address("E0307")
    assert link is not None and link.startswith("file://")
    line = int(link.partition("#L")[2])
    assert page("errors").read_text(encoding="utf-8").split("\n")[line - 1].startswith("## E0307: ")
    assert address("E9999") is None and section("nothing") is None


def spawn(*words: str, pager: str, columns: int = 60) -> str:
    """What `sacpy doc` shows on a terminal of ten lines."""
    environment = {**os.environ, "PAGER": pager, "TERM": "xterm"}
    for size in ("COLUMNS", "LINES"):  # of somebody else's terminal
        environment.pop(size, None)
    child = pexpect.spawn(
        sys.executable, ["-m", "sacpy", "doc", *words], env=environment, dimensions=(10, columns), encoding="utf-8"
    )
    child.expect(pexpect.EOF, timeout=60)
    assert isinstance(child.before, str)
    return child.before.replace("\r\n", "\n")


def test_long_texts_go_through_a_pager(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(pager.stat().st_mode | stat.S_IXUSR)
    assert spawn("with", pager=str(pager)).startswith("PAGED\nwith   a word")
    assert "PAGED" not in spawn("E0506", pager=str(pager), columns=100)


def test_lines_are_broken_to_the_screen_and_a_missing_pager_is_no_matter() -> None:
    out = spawn("with", pager="/no/such/pager")
    assert max(map(len, out.split("\n"))) <= 72 and "A with-loop: for each index of an index set an expression," in out
