"""A program's layout does not matter: mangled blanks and line breaks give the same text again, as far as the author's
breaks are not kept on purpose."""

import random
from pathlib import Path

import pytest

from sacpy.lang.formatter import format_text
from sacpy.lang.formatter.pieces import read
from sacpy.lang.formatter.verify import difference
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import Source
from tests.tools import ROOT

PROGRAMS = sorted((ROOT / "programs").glob("*.sac"))


def mangled(text: str, chance: random.Random) -> str:
    """The text with other blanks, and a line break here and there, between its tokens."""
    source = Source("mangled.sac", text)
    out, at = [], 0
    for piece in read(source).items:
        gap = text[at : piece.start]
        plain = not piece.before and "\n" not in gap and at > 0
        if (
            plain
            and not gap
            and piece.kind == "op"
            and chance.random() < 0.3
            and text[at - 1] not in "+-*/%<>=!&|^~@$?.:"
            and piece.text in ("(", ")", "[", "]", ",", ";")
        ):
            gap = " "
        elif plain and gap and chance.random() < 0.5:
            gap = chance.choice(("  ", "\t", "\n", "   \n  "))
        out += [gap, text[piece.start : piece.end]]
        at = piece.end
    return "".join(out)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_mangled_programs_mean_the_same_and_settle_at_once(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    ugly = mangled(text, random.Random(path.name))
    nice = format_text(ugly, str(path))
    assert format_text(nice, str(path)) == nice
    old, new = Source(str(path), text), Source(str(path), nice)
    assert difference(read(old), read(new), tokenize(old), tokenize(new)) is None


def test_a_difference_is_seen_wherever_it_is() -> None:
    text = "#define A 1\nint f() { return A + 2; } // two\n"
    for changed in (
        text.replace("+", "-"),
        text.replace("two", "three"),
        text.replace("A 1", "A 3"),
        text + ";",
        text.replace("// two", ""),
    ):
        old, new = Source("a.sac", text), Source("a.sac", changed)
        assert difference(read(old), read(new), tokenize(old), tokenize(new)) is not None
        assert difference(read(new), read(old), tokenize(new), tokenize(old)) is not None
