"""`sacpy doc`, and the pages in `docs/library`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy import cli
from sacpy.documents.library import Library, Pages, first_sentence, main
from sacpy.documents.manual import describe, unknown
from sacpy.lang.diagnostics import SacError

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Library()


def doc(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status and output of `sacpy doc`."""
    status = cli.main(["doc", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_committed_pages_are_current() -> None:
    folder = ROOT / "docs" / "library"
    committed = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    assert committed == Pages(LIBRARY).all, "run `make docs`"


def test_pages_are_written_and_old_ones_removed(tmp_path: Path) -> None:
    (tmp_path / "Gone.md").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    assert main([str(tmp_path)]) == 0
    assert not (tmp_path / "Gone.md").exists()
    assert (tmp_path / "notes.txt").exists()
    assert "## `take`" in (tmp_path / "ArrayTransform.md").read_text()


def test_doc_shows_a_function_with_head_text_example_and_modules(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, "rsum")
    assert status == 0
    for part in (
        "rsum   in ArrayReduce",
        "T[i:ishp] rsum(int r, T[r:rshp,i:ishp] a)   for T: any number type",
        "The sums along the first r axes",
        ">>> rsum(1, [[1, 2], [3, 4]])\n        [4, 6]",
        "Also through Array",
    ):
        assert part in out


def test_doc_shows_a_function_in_every_module_that_defines_it() -> None:
    text = describe(LIBRARY, "take")
    assert text is not None
    assert "take   in ArrayTransform" in text
    assert "take   in List" in text


def test_doc_shows_one_module_s_function() -> None:
    text = describe(LIBRARY, "List::take")
    assert text is not None
    assert "ArrayTransform\n" not in text


def test_doc_shows_operators_and_types() -> None:
    assert "in ArrayTransform" in (describe(LIBRARY, "++^") or "")
    assert "typedef double[2] complex;   in ComplexBasics" in (describe(LIBRARY, "complex") or "")
    assert "ulong s0l;" in (describe(LIBRARY, "State256") or "")


def test_doc_shows_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys, "StdIO")
    assert status == 0
    assert "Hands on functions of ArrayIO" in out
    _, out, _ = doc(capsys, "List")
    assert "    hd      The first element." in out


def test_doc_without_a_name_lists_the_modules(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = doc(capsys)
    assert status == 0
    assert {line.split()[0] for line in out.splitlines()} >= {"Array", "Xoshiro"}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("taek", "take"), ("Aray", "Array"), ("List::hed", "hd"), ("Lst::hd", "hd"), ("quaternoin", "quaternion")],
)
def test_unknown_names_bring_near_ones(wrong: str, right: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = doc(capsys, wrong)
    assert status == 1
    assert err.startswith(f"error[E0718]: there is nothing called {wrong} in the library")
    assert right in err or "::" in wrong


def test_unknown_names_that_are_like_none_bring_none() -> None:
    assert unknown(LIBRARY, "xyzzyxyzzy") == "there is nothing called xyzzyxyzzy in the library"


def test_doc_knows_the_modules_beside_a_program(tmp_path: Path) -> None:
    (tmp_path / "Mine.sac").write_text(
        "// Things of mine. More.\nmodule Mine;\nexport all;\n\n/* Twice x. */\n"
        "int twice(int x) { return _add_SxS_(x, x); }\n"
    )
    (tmp_path / "program.sac").write_text("int main() { return 0; }\n")
    library = Library((tmp_path,))
    assert "program" not in library.modules
    assert "Things of mine." in (describe(library, "Mine") or "")
    assert "int twice(int x)\n        Twice x." in (describe(library, "twice") or "")


def test_the_first_sentence_ends_at_a_full_stop_or_question_mark() -> None:
    assert first_sentence("Is it? Yes.") == "Is it?"
    assert first_sentence("The number 2.5 is\nhere. More.") == "The number 2.5 is here."
    assert first_sentence("No end") == "No end"


def test_a_module_with_mistakes_spoils_only_its_own_documentation(tmp_path: Path) -> None:
    (tmp_path / "Bad.sac").write_text("module Bad;\nexport all;\nint f( { return 1; }\n")
    library = Library((tmp_path,))
    assert describe(library, "take") is not None
    with pytest.raises(SacError):
        describe(library, "Bad")
