"""The site without its generator: every page has its place, every link leads somewhere, every example runs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sacpy.cli import main
from tests.tools import ROOT
from website import gallery, links
from website.check import problems
from website.navigation import GENERATED, HOME, SECTIONS, pages
from website.playground import play
from website.playground.build import examples, words
from website.runnable import Piece, apart, runnable


def test_every_page_has_its_place() -> None:
    listed = [page for section in SECTIONS.values() for page in section]
    assert len(set(listed)) == len(listed)
    there = {p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert there <= set(pages()), "website/navigation.py says where a page stands"
    assert all((ROOT / page).is_file() for page in pages())


def test_every_link_leads_somewhere() -> None:
    assert list(links.lost([HOME, *pages()])) == []


def test_what_leads_nowhere_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "ROOT", tmp_path)
    links.anchors.cache_clear()
    (tmp_path / "a.md").write_text(
        "# One `two`(x)\n\n## Twice\n\n## Twice\n\n"
        "[](b.md) [](c.md#so) [](#one-twox) [](#twice-1) [](#twice-2) `[](no.md)`\n"
        "```\n[](no.md)\n```\n[](https://elsewhere) [](d.md) [text](a.md 'title')"
    )
    (tmp_path / "c.md").write_text("# So\n")
    (tmp_path / "d.md").write_text("")
    assert list(links.lost(["a.md", "c.md"])) == [
        "a.md: b.md is not there",
        "a.md: #twice-2 has no such heading",
        "a.md: d.md is not on the site",
    ]
    links.anchors.cache_clear()


def test_built_pages_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="#top"></a><a href="#no"></a><a href="b.html#in"></a><a href="b.html#out"></a>'
        '<a href="c.html"></a><img src="https://elsewhere/x.png"><a href="https://elsewhere"></a>'
        '<a href="playground/index.html#e=heat"></a><script src="gone.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="in">')
    found = ["a.html: #no has no such place", "a.html: b.html#out has no such place", "a.html: c.html is not there"]
    more = ["a.html loads https://elsewhere/x.png from elsewhere", "a.html: gone.js is not there"]
    assert sorted(problems(tmp_path, playground=False)) == sorted([*found, *more])
    assert "a.html: playground/index.html#e=heat is not there" in problems(tmp_path, playground=True)


# ---------------------------------------------------------------- what runs in the playground


def events(text: str, stdin: str = "") -> list[dict[str, Any]]:
    """What the playground sends for a text."""
    found: list[dict[str, Any]] = []
    play.run(text, stdin, found.append)
    return found


def said(found: list[dict[str, Any]], *kinds: str) -> str:
    """The texts of events."""
    return "".join(e["text"] for e in found if e["type"] in kinds)


def wrong(piece: Piece) -> str:
    """What is wrong with a piece of a page, a mistake that is not meant or one that does not come; else ""."""
    found = events(piece.text)
    text = said(found, "said")
    if not piece.code:
        return text if "error[" in text else ""
    return (
        "" if (piece.code.strip("?") in text and text) else f"{piece.code} is not said of {piece.text!r}, but {text!r}"
    )


def test_the_home_page_runs() -> None:
    (piece,) = runnable("index.md", (ROOT / HOME).read_text("utf-8"))
    assert "Shape    : <  5,  5>" in said(events(piece.text), "text") and not wrong(piece)


@pytest.mark.long
@pytest.mark.parametrize("page", [HOME, *pages()])
def test_what_pages_offer_runs(page: str) -> None:
    assert [p for p in map(wrong, runnable(page, (ROOT / page).read_text("utf-8"))) if p] == []


def shown(page: str) -> str:
    """The one piece of SaC on a page."""
    (piece,) = re.findall(r"^```sac\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)
    return str(piece)


def test_examples_of_pages_that_have_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = events(f"{shown('docs/benchmarks.md')}\nbench_blur(1000)\n")
    assert found[0]["data"]["text/plain"] == "double 499500.0"
    assert not said(events(shown("docs/compiler.md").replace("[300,300]", "[30,30]")), "said")
    file = tmp_path / "differences.sac"
    file.write_text(shown("docs/testing.md"))
    assert main(["test", str(file)]) == 0
    assert "3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "inputs"),
    [
        ("a, b", ["a", "b"]),
        ("x = 1; x, f(x, 2)", ["x = 1;", "x", "f(x, 2)"]),
        ("a, b = f(1)", ["a, b = f(1)"]),
        ("a == 1, b != 2", ["a == 1", "b != 2"]),
        ('"a, b", [1, 2]', ['"a, b"', "[1, 2]"]),
        ("m = with { (. <= [i] <= .) : i; } : (fold(+, 0), fold(*, 1))",) * 2,
    ],
)  # fmt: skip
def test_values_side_by_side_are_taken_apart(typed: str, inputs: list[str] | str) -> None:
    assert apart(typed) == ([inputs] if isinstance(inputs, str) else inputs)


def cells() -> Iterator[Any]:
    """The cells that the page offers."""
    for example in examples():
        if example["group"] == "Cells":
            yield pytest.param(example["text"], id=example["name"])


@pytest.mark.parametrize("text", list(cells()))
def test_cells_of_the_playground(text: str) -> None:
    found = events(text)
    assert found[-1]["type"] == "done"
    assert ("error[" in said(found, "said")) == text.startswith("// Mistakes")
    assert any(e["type"] in ("show", "text") for e in found)


def test_examples_have_names_of_their_own() -> None:
    names = [example["name"] for example in examples()]
    assert len(set(names)) == len(names) and set(gallery.names()) <= set(names)


def test_programs_and_cells_are_told_apart() -> None:
    assert play.is_program("int f() { return 1; }\nint main() { return f(); }")
    assert not play.is_program("int main() { return 1; }\n:plot iota(3)")
    assert not play.is_program("int main() { return 1; }\nmain()")
    assert not play.is_program("int f() { return 1; }")
    assert not play.is_program("")


def test_a_program() -> None:
    text = """
        use StdIO: all;
        use TermFile: all;
        use Array: all;
        int main() { n, x = scanf("%d"); printf("got %d\\n", x + 1); return 3; }
    """
    found = events(text, "41")
    assert said(found, "text") == "got 42\n" and found[-1]["status"] == 3


def test_places_count_as_browsers_do() -> None:
    found = events('s = "\U0001d54a"; x = iota(3)[7];\n')
    (place,) = next(e for e in found if e["type"] == "said")["places"]
    # the letter before is one character, and two units
    assert (place["code"], place["line"], place["column"], place["endColumn"]) == ("E0506", 1, 14, 24)
    checked: list[dict[str, Any]] = []
    play.check("int main()\n{\n  return y;\n}\n", checked.append)
    assert [(p["line"], p["column"]) for p in checked[0]["places"]] == [(3, 9)]
    play.check("a = iota(3);\n:plot a\n", checked.append)
    assert checked[1]["places"] == []


def test_output_is_whole_characters_and_clears() -> None:
    sent: list[dict[str, Any]] = []
    stream = play.Printed(sent.append, "out")
    for byte in "é●x\x1b[2Jy".encode():
        stream.write(bytes([byte]))
        stream.flush()
    assert [e.get("text", e["type"]) for e in sent if e.get("text") != ""][:3] == ["é", "●", "x"]
    stream.write(b"a\x1b[2Jb")
    stream.flush()
    assert sent[-2:] == [{"type": "clear"}, {"type": "text", "stream": "out", "text": "b"}]


def test_too_much_output_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "OUTPUT", 20_000)
    found = events('use StdIO: all; int main() { while (true) { printf("many words\\n"); } return 0; }')
    assert "E07" in said(found, "said") and len(said(found, "text")) <= 20_000


def test_what_a_browser_has_not_is_refused() -> None:
    assert "E0751" in said(events('use Process: all;\nsystem("ls")'), "said")


@pytest.mark.parametrize(
    "data",
    [
        b"P2\n# a remark\n2 2 255\n0 255 128 64\n", b"P5 2 2 255\n\x00\xff\x80\x40", b"P3 1 1 15 0 7 15",
        b"P6\n1 1\n65535\n\x00\x00\x80\x00\xff\xff",
    ],
)  # fmt: skip
def test_portable_pictures(data: bytes) -> None:
    from sacpy.interp.png import decode

    picture = decode(play.portable(data) or b"")
    expected = {2: [[0, 255], [128, 64]], 5: [[0, 255], [128, 64]]}.get(data[1] - 48)
    if expected is not None:
        assert picture[:, :, 0].tolist() == picture[:, :, 2].tolist() == expected
    else:
        assert picture.shape == (1, 1, 3) and picture[0, 0].tolist() in ([0, 119, 255], [0, 128, 255])


@pytest.mark.parametrize("data", [b"", b"P2", b"P5 2 2 255\n\x00", b"P2 x", b"P7 1 1 1 1", b"P2 2 2 0 1 1 1 1"])
def test_what_is_no_picture(data: bytes) -> None:
    assert play.portable(data) is None


def test_links_to_programs_unpack() -> None:
    packed = gallery.link("x = 1;\n● ü\n").removeprefix("#z=")
    text = zlib.decompress(urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15).decode()
    assert text == '{"text": "x = 1;\\n● ü\\n"}'


def test_the_editor_knows_the_languages_words() -> None:
    known = words()
    assert {"int", "double", "void"} <= set(known["types"]) and {"use", "return", "with"} <= set(known["keywords"])


@pytest.mark.long
def test_the_gallery(tmp_path: Path) -> None:
    page = gallery.page(tmp_path)
    assert page.count("<svg") + page.count("![") >= len(gallery.names()) > 8
    assert all((tmp_path / name).stat().st_size > 500 for name in links.links(page) if name.endswith(".png"))


# ---------------------------------------------------------------- the generator


GENERATOR = all(importlib.util.find_spec(name) for name in ("sphinx", "myst_parser", "furo"))
without = pytest.mark.skipif(not GENERATOR, reason="the generator is not installed: pip install 'sac-lang[site]'")


@pytest.mark.long
@without
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "website", "--no-playground", "--out", str(tmp_path / "site")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    made = {p.relative_to(tmp_path / "site").as_posix() for p in (tmp_path / "site").rglob("*.html")}
    assert {page.removesuffix(".md") + ".html" for page in [*pages(), *GENERATED]} <= made


@pytest.mark.long
@without
def test_a_link_to_nowhere_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# A\n\n[somewhere](index.md#nowhere)\n\n```sac\nint x = 'unfinished\n```\n")
    options = ["-q", "-W", "-b", "html", "-c", str(ROOT / "website"), str(tmp_path), str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "nowhere" in done.stderr and "Lexing" not in done.stderr
