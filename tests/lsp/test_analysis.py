"""What is known of a text, without the protocol."""

from pathlib import Path

import pytest

from sacpy.lang.diagnostics import SacError
from sacpy.lsp.analysis import Analysis, Settings, analyse
from sacpy.lsp.completion import call_at, complete
from sacpy.lsp.hints import hints
from sacpy.lsp.knowledge import hover
from sacpy.lsp.ranking import USUAL, ranked
from sacpy.workspace import Workspace
from tests.tools import ROOT

SETTINGS = Settings()
BROKEN = sorted((ROOT / "tests/errors").glob("*.sac"))
RIGHT = sorted((ROOT / "programs").glob("*.sac"))


def read(text: str) -> Analysis:
    return analyse(text, ROOT / "programs/unsaved.sac", SETTINGS)


@pytest.mark.parametrize("path", [*BROKEN[::4], *RIGHT[::9]], ids=lambda path: path.name)
def test_an_editor_is_told_what_check_says(path: Path) -> None:
    try:
        found = Workspace().check(path)[1]
    except SacError as error:
        found = list(error.diagnostics)
    told = analyse(path.read_text(encoding="utf-8"), path, SETTINGS).diagnostics
    assert [(d.code, d.message, d.span.start, d.span.end) for d in told] == [
        (d.code, d.message, d.span.start, d.span.end) for d in found
    ]


@pytest.mark.parametrize("path", RIGHT[::9], ids=lambda path: path.name)
def test_every_name_of_a_program_can_be_asked_about(path: Path) -> None:
    analysis = analyse(path.read_text(encoding="utf-8"), path, SETTINGS)
    assert len(analysis.occurrences) > 30
    silent = [
        (o.span.text, o.span.line, o.symbol.kind) for o in analysis.occurrences if hover(analysis, o.span.start) is None
    ]
    assert silent == []


@pytest.mark.parametrize("path", RIGHT[::9], ids=lambda path: path.name)
def test_half_a_program_is_no_problem(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for end in range(0, len(text), max(len(text) // 6, 1)):
        analysis = analyse(text[:end], path, SETTINGS)
        hints(analysis)
        hover(analysis, end)


def labels(text: str, strategy: str = "auto", device: str = "sm_90") -> list[str]:
    return [h.label for h in hints(read(text), strategy, device) if h.kind == "mapping"]


def test_mappings_are_those_of_the_strategy_that_was_asked_for() -> None:
    text = (
        "use Array: all; int main() { a = with { ([0,0] <= iv < [500,700]) : 1; } : genarray([500,700], 0); return "
        "a[0,0]; }"
    )
    found = {labels(text, strategy)[0] for strategy in ("auto", "jing", "foldall")}
    assert len(found) == 3 and all(label.startswith("350000 indices: GridBlock(") for label in found)


def test_spaces_of_rank_0_empty_ones_and_huge_ones() -> None:
    loop = "use Array: all; int main() {{ a = with {{ {} : 1; }} : fold(+, 0); return a; }}"
    assert labels(loop.format("([:int] <= iv < [:int])"))[0].startswith("1 index")
    assert labels(loop.format("([5] <= iv < [3])")) == ["0 indices"]
    assert labels(loop.format("([0,0,0] <= iv < [100000,100000,100000])")) == ["1000000000000000 indices"]


def types(text: str) -> dict[str, str]:
    analysis = read(text)
    return {analysis.source.text[: h.offset].split()[-1]: h.label for h in hints(analysis) if h.kind == "type"}


def test_types_have_the_names_that_the_program_gives_them() -> None:
    text = """use Structures: all;
struct Pair { double left, right; };
struct Pair pair(double x) { return Pair{x, x}; }
int main() {
  z = toc(1.0, 2.0);
  v = reshape([1], z ++ z);
  p = pair(3.0);
  q = [p, p];
  e = [:double[0,3]];
  s = tochar("text");
  return 0;
}
"""
    found = types(text)
    assert (found["z"], found["p"], found["q"], found["e"], found["s"]) == (
        ": complex",
        ": struct Pair",
        ": struct Pair[2]",
        ": double[0,0,3]",
        ": char[.]",
    )


CALLS = {
    "f(": ("", "f", 0),
    "x = f(a, g(b, ": ("", "g", 1),
    "x = M::f(a, [1, 2], ": ("M", "f", 2),
    "f({ [i] -> a[i, j] | [i] < [3] }, ": ("", "f", 1),
    "f(a, (b, c), ": ("", "f", 2),
}


@pytest.mark.parametrize("text", CALLS, ids=str)
def test_the_call_that_is_open(text: str) -> None:
    found = call_at(text)
    assert found is not None and (found.module, found.name, found.argument) == CALLS[text]


def test_no_call_is_open_behind_it_nor_in_the_next_statement() -> None:
    assert call_at("f(a)") is None
    assert call_at("f(a;\n b, ") is None
    assert call_at("if (a, ") is None


COMPLETED = """use Structures: all;
use StdIO: all;
use Math: all;

double helper(double x) { return x; }

int main()
{
  count = 3;
  heat = [1.0, 2.0];
  flag = true;
  temp = 1.5;
  size = shape(heat);
  PLACE
  return 0;
}
"""


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("s", ["size", "shape", "sum", "sqrt"]),
        ("x = s", ["size", "shape", "sum"]),
        ("temp = t", ["temp", "tod"]),
        ("if (", ["flag", "all", "any"]),
        ("y = heat[", ["size", "count"]),
        ("z = helper(", ["heat", "temp", "helper", "tod"]),
        ("return ", ["size", "count"]),
        ("", ["heat", "size", "temp", "flag", "count"]),
        ("wh", ["while", "where"]),
    ],
)
def test_the_likeliest_is_offered_first(typed: str, first: list[str]) -> None:
    analysis = read(COMPLETED.replace("PLACE", ""))
    before = COMPLETED[: COMPLETED.index("PLACE")] + typed
    found = ranked(analysis, complete(analysis, before, len(before)), before, len(before))
    word = "" if typed[-1:] in "( [" else typed.rpartition(" ")[2]
    assert [c.text for c in found if c.text.startswith(word)][: len(first)] == first


def test_what_is_usual_is_there() -> None:
    analysis = read(
        "use Structures: all;\nuse StdIO: all;\nuse Numerical: all;\nuse System: all;\nint main() { return 0; }\n"
    )
    assert analysis.scope is not None
    assert set(USUAL) - analysis.scope.names("functions") == set()


def test_a_very_long_sum_is_no_problem() -> None:
    text = f"use Array: all; int main() {{ a = 1; b = {' + '.join(['a'] * 3000)}; return b; }}"
    analysis = read(text)
    assert len([o for o in analysis.occurrences if o.symbol.name == "a"]) == 3001
    assert hints(analysis)


def test_packed_arrays_have_one_type() -> None:
    text = "int f(int[i<n, i+1] a) { t = { [i,j] -> i | [i,j] < [n, i+1] }; r = a[0]; return t[0,0] + r[0]; }"
    analysis = read(f"use Array: all;\n{text}")
    said = [hover(analysis, analysis.source.text.index(name)) for name in ("a) {", "t = ", "r = ")]
    assert [s and s[0].split("\n")[1] for s in said] == ["a: int[i<n,i + 1]", "t: int[i<n, i + 1]", "r: int[1]"]
