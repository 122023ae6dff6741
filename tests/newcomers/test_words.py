"""The table of what other languages write: every row is found, says what SaC has, and what it proposes passes the
check."""

import re

import pytest

from sacpy.lang.advice.patterns import filled, match, pattern
from sacpy.lang.advice.pieces import pieces
from sacpy.lang.advice.table import read, rows
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.workspace import Workspace
from tests.newcomers.samples import SAMPLES, sample

ROWS = {f"{row.section}: {row.pattern.text}": row for row in rows()}


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    made = Workspace()
    made.preload()
    return made


def errors(workspace: Workspace, text: str) -> list[Diagnostic]:
    try:
        found = workspace.check_text(text, "sample.sac", None)[1]
    except SacError as error:
        found = list(error.diagnostics)
    return [d for d in found if d.severity == "error"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ROWS)
def test_row(workspace: Workspace, name: str) -> None:
    row, text = ROWS[name], sample(ROWS[name])
    found = errors(workspace, text)
    assert found, "nothing is wrong with it"
    (first,) = [d for d in found if " SaC" in d.help or "SaC has" in d.message][:1] or [None]
    assert first is not None, [(d.code, d.message, d.help) for d in found]
    shown = [t for t in row.templates if t.kind == "shown"]
    if len(shown) == len(row.templates):
        assert first.help.count("`") >= 2 and first.edit is None
        return
    assert first.edit is not None, (first.message, first.help)
    assert errors(workspace, first.edit.applied(text)) == []


def test_there_are_more_than_two_hundred_words_of_five_languages() -> None:
    words = {row.word for row in rows()}
    languages = {language for row in rows() for language in row.languages}
    assert len(words) > 300 and {"NumPy", "Julia", "APL", "C", "MATLAB"} <= languages


def test_no_row_stands_twice() -> None:
    assert len(ROWS) == len(rows())


def test_templates_have_the_letters_of_their_patterns() -> None:
    for row in rows():
        own = {item[0] for item in row.pattern.items if not isinstance(item, str)}
        for template in row.templates:
            if template.kind != "shown":
                text = re.sub(r'"[^"]*"', "", template.text)
                bound = set(re.findall(r"\w", "".join(re.findall(r"\{ \[([\w, ]+)\] ->", text))))
                used = set(re.findall(r"(?<![\w.])([a-z])(?![\w(])", text))
                assert used <= own | bound, (row.pattern.text, template.text)


def test_samples_are_of_rows() -> None:
    assert set(SAMPLES) - {row.pattern.text for row in rows()} == set()


@pytest.mark.parametrize("line", ["len(v)", "len(v)   Python\n  ** shape(v)", "len(v)   Python\n  => a\nsize(v)   C"])
def test_what_is_no_row_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a row"):
        read(f"[functions]\n{line}\n")


@pytest.mark.parametrize(
    ("written", "text", "template", "wanted"),
    [
        ("len(v)", "len(a + b)", "shape(v)[0]", "shape(a + b)[0]"),
        ("x ** y", "(a + b) ** -c", "pow(x, y)", "pow((a + b), -c)"),
        ("x @ y", "f(i)[2] @ i", "{ [i] -> x[i] * y }", "{ [j] -> f(i)[2][j] * i }"),
        ("dot(v, w)", "dot(a + b, c)", "sum(v * w)", "sum((a + b) * c)"),
        (".. if b else ...", "p + 1 if c else q", "b ? .. : ...", "c ? p + 1 : q"),
        ("v[n:k]", "v[1:i + 2]", "tile([k - n], [n], v)", "tile([(i + 2) - 1], [1], v)"),
        ("print o", "print (x)", "print(o)", None),
        (
            "[.. for i in v]",
            "[x * s.x + g(x) for x in a + b]",
            "{ [j] -> ..{i: v[j]} }",
            "{ [j] -> (a + b)[j] * s.x + g((a + b)[j]) }",
        ),
        ("[.. for i in v]", "[x * j for x in a]", "{ [j] -> ..{i: v[j]} }", "{ [i] -> a[i] * j }"),
        (
            "[.. for i, j in zip(v, w)]",
            "[y - x for x, y in zip(p, q)]",
            "{ [k] -> ..{i: v[k], j: w[k]} }",
            "{ [k] -> q[k] - p[k] }",
        ),
        ("[n k]", "[a b]", "[n, k]", "[a, b]"),
        ("len(v)", "len(a b)", "shape(v)[0]", None),
        ("f(x, y)", "return(a, b)", "g(x)", None),
    ],
)
def test_patterns_and_templates(written: str, text: str, template: str, wanted: str | None) -> None:
    found = pieces(text)
    matched = match(pattern(written), found, 0)
    assert (
        None if matched is None or matched[0] != len(found) else filled(template, text, found, matched[1])
    ) == wanted
