"""How diagnostics look, as text and as JSON."""

import json
import textwrap
import time

import pytest

from sacpy.lang.diagnostics import Diagnostic, Edit, Frame, Label, SacError, render_text, to_json
from sacpy.lang.preprocessor import tokenize
from sacpy.lang.source import NOWHERE, Source, Span

TEXT = """\
int main()
{
\tx = f(a, bb, ccc);
  return g(x,
           y,
           z);
}
"""
SOURCE = Source("a.sac", TEXT)


def at(part: str, source: Source = SOURCE) -> Span:
    start = source.text.index(part)
    return Span(source, start, start + len(part))


def shown(*diagnostics: Diagnostic, width: int | None = None) -> str:
    return render_text(diagnostics, width=width)


def text(expected: str) -> str:
    return textwrap.dedent(expected).strip("\n")


def test_primary_place_with_label() -> None:
    assert shown(Diagnostic("E0401", "it is wrong", at("g(x"), "this")) == text("""
        error[E0401]: it is wrong
         --> a.sac:4:10
          |
        4 |   return g(x,
          |          ^^^ this
        """)


def test_adjacent_labels_hang_below() -> None:
    labels = (Label(at("f("), "in this call"), Label(at("a,"), "a double"))
    assert shown(Diagnostic("E0401", "types differ", at("bb"), "an int", labels)) == text("""
        error[E0401]: types differ
         --> a.sac:3:11
          |
        3 |     x = f(a, bb, ccc);
          |         ---- ^^ an int
          |         | a double
          |         in this call
        """)


def test_labels_on_one_line() -> None:
    labels = (Label(at("x = f").to(at("x = f")), "assigned"), Label(at("ccc"), "a double"))
    assert shown(Diagnostic("E0401", "types differ", at("bb"), "an int", labels)) == text("""
        error[E0401]: types differ
         --> a.sac:3:11
          |
        3 |     x = f(a, bb, ccc);
          |     -----    ^^  --- a double
          |     |        an int
          |     assigned
        """)


def test_overlapping_labels_get_rows_of_their_own() -> None:
    labels = (Label(at("f(a, bb, ccc)"), "in this call"),)
    assert shown(Diagnostic("E0401", "wrong", at("bb"), "here", labels)) == text("""
        error[E0401]: wrong
         --> a.sac:3:11
          |
        3 |     x = f(a, bb, ccc);
          |              ^^ here
          |         ------------- in this call
        """)


def test_other_lines_stand_in_order_with_gaps() -> None:
    labels = (Label(at("main"), "in here"), Label(at("return"), "and here"))
    assert shown(Diagnostic("E0401", "wrong", at("bb"), "this", labels)) == text("""
        error[E0401]: wrong
         --> a.sac:3:11
          |
        1 | int main()
          |     ---- in here
        ...
        3 |     x = f(a, bb, ccc);
          |              ^^ this
        4 |   return g(x,
          |   ------ and here
        """)


def test_other_files_follow() -> None:
    other = Source("lib/b.sac", "\n" * 99 + "int f(int x);\n")
    assert shown(
        Diagnostic("E0401", "wrong", at("bb"), "this", (Label(at("f(int", other), "declared here"),), help="change it")
    ) == text("""
        error[E0401]: wrong
           --> a.sac:3:11
            |
          3 |     x = f(a, bb, ccc);
            |              ^^ this
            |
           ::: lib/b.sac:100:5
            |
        100 | int f(int x);
            |     ----- declared here
            |
            = help: change it
        """)


def test_span_over_lines_shows_first_and_last() -> None:
    span = at("g(x,").to(at("z)"))
    assert shown(Diagnostic("W0401", "unused", span, "this call")) == text("""
        warning[W0401]: unused
         --> a.sac:4:10
          |
        4 |   return g(x,
          |          ^^^^
        ...
        6 |            z);
          |            ^^ this call
        """)


def test_notes_help_and_lines_in_them() -> None:
    assert shown(Diagnostic("N0001", "so it is", at("bb"), notes=("one\ntwo", "three"), help="do\nthat")) == text("""
        note[N0001]: so it is
         --> a.sac:3:11
          |
        3 |     x = f(a, bb, ccc);
          |              ^^
          |
          = note: one
                  two
          = note: three
          = help: do
                  that
        """)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (Edit(at("bb"), "tod(bb)"), ["3 |     x = f(a, tod(bb), ccc);", "  |              ~~~~~~~"]),
        (
            Edit(Span(SOURCE, at("bb").start, at("bb").start), "-"),
            ["3 |     x = f(a, -bb, ccc);", "  |              +"],
        ),
        (Edit(at("bb, "), ""), ["3 -     x = f(a, bb, ccc);", "3 +     x = f(a, ccc);"]),
        (Edit(at("{\n"), "{ int x;\n"), ["2 - {", "2 + { int x;", "3 +"]),
        (Edit(Span(SOURCE, len(TEXT), len(TEXT)), "}\n"), ["8 + }"]),
        (Edit(at("y,\n           z"), "y"), ["5 -            y,", "6 -            z);", "5 +            y);"]),
    ],
)
def test_edit_is_shown_as_it_will_be(edit: Edit, expected: list[str]) -> None:
    lines = shown(Diagnostic("E0401", "wrong", at("bb"), help="change it", edit=edit)).split("\n")
    assert lines[lines.index("  = help: change it") + 1 :] == expected


def test_macro_shows_use_and_definition() -> None:
    tokens = tokenize(Source("m.sac", "#define TWICE(x) x + x * y\n\nz = TWICE(1);\n")).tokens
    (span,) = [token.span for token in tokens if token.text == "y"]
    assert shown(Diagnostic("E0301", "unknown name `y`", span, "not found", help="define it")) == text("""
        error[E0301]: unknown name `y`
         --> m.sac:3:5
          |
        3 | z = TWICE(1);
          |     ^^^^^^^^ not found
          |
         ::: m.sac:1:26
          |
        1 | #define TWICE(x) x + x * y
          |                          - in the expansion of this macro
          |
          = help: define it
        """)


def test_wide_combining_and_odd_characters_are_aligned() -> None:
    source = Source("w.sac", "漢字e\u0301\x1b[2J\udcffx = y;\n")
    lines = shown(Diagnostic("E0401", "wrong", at("y", source), "this")).split("\n")
    assert lines[3] == "1 | 漢字e\u0301\ufffd[2J\ufffdx = y;"
    assert lines[4] == "  | " + " " * (4 + 1 + 1 + 3 + 1 + 4) + "^ this"
    "\n".join(lines).encode()


def test_tabs_are_expanded_to_stops() -> None:
    source = Source("t.sac", "a\tb\t\tc")
    lines = shown(Diagnostic("E0401", "wrong", at("c", source))).split("\n")
    assert lines[3:] == ["1 | a   b       c", "  |             ^"]


@pytest.mark.parametrize("where", [0, 50, 500, 990])
def test_long_lines_are_clipped_around_the_place(where: int) -> None:
    line = "a" * where + "@" + "b" * (1000 - where)
    lines = shown(Diagnostic("E0401", "wrong", at("@", Source("l.sac", line)), "this"), width=60).split("\n")
    assert all(len(line) <= 60 for line in lines[:4])
    assert lines[3][lines[4].index("^")] == "@"
    assert lines[3].endswith("...") == (where < 900)


def test_line_of_a_million_characters_is_quick() -> None:
    source = Source("l.sac", "é" * 500_000 + "@" + "é" * 500_000)
    started = time.process_time()
    render_text([Diagnostic("E0401", "wrong", at("@", source), "this")] * 30)
    assert time.process_time() - started < 1


def test_place_at_the_end_and_place_nowhere() -> None:
    end = len(TEXT)
    assert shown(Diagnostic("E0201", "it ends", Span(SOURCE, end, end), "here")).split("\n")[1:] == [
        " --> a.sac:8:1",
        "  |",
        "8 |",
        "  | ^ here",
    ]
    assert (
        shown(Diagnostic("E0701", "no such file", NOWHERE, help="name one"))
        == "error[E0701]: no such file\n  = help: name one"
    )


def test_file_that_is_gone_is_only_named() -> None:
    source = Source("/nowhere/gone.sac")
    assert shown(Diagnostic("E0401", "wrong", Span(source, 5, 6))) == "error[E0401]: wrong\n --> /nowhere/gone.sac"


def calls(*names: str) -> tuple[Frame, ...]:
    return tuple(Frame(name, at("f(a")) for name in names)


def stack_lines(frames: tuple[Frame, ...]) -> list[str]:
    lines = shown(Diagnostic("E0601", "wrong", at("bb"), stack=frames)).split("\n")
    return [line.removeprefix("  = ").replace(" at a.sac:3:6", "") for line in lines if line.startswith("  = ")]


def test_call_stack_is_innermost_first() -> None:
    assert "  = in f at a.sac:3:6" in shown(Diagnostic("E0601", "wrong", at("bb"), stack=calls("f"))).split("\n")
    assert stack_lines(calls("f", "g", "main")) == ["in f", "in g", "in main"]


def test_recursion_is_counted() -> None:
    assert stack_lines(calls(*["f"] * 20_000, "main")) == ["in f", "... this call 19999 more times", "in main"]
    assert stack_lines(calls(*["f", "g"] * 100, "main")) == [
        "in f",
        "in g",
        "... these 2 calls 99 more times",
        "in main",
    ]
    assert stack_lines(calls("f", "f", "main")) == ["in f", "in f", "in main"]


def test_long_stack_is_elided_in_the_middle() -> None:
    lines = stack_lines(calls(*(f"f{i}" for i in range(100))))
    assert lines == [
        *(f"in f{i}" for i in range(8)),
        "... 86 more lines of the call stack",
        *(f"in f{i}" for i in range(94, 100)),
    ]


def test_colours_only_add_escapes() -> None:
    diagnostic = Diagnostic(
        "E0401", "wrong", at("bb"), "this", (Label(at("ccc"), "that"),), ("why",), "do", Edit(at("bb"), "b"), calls("f")
    )
    coloured = render_text([diagnostic], color=True)
    assert "\x1b[1;31m^^\x1b[0m" in coloured
    plain = coloured
    for code in ("1;31", "1;34", "1", "32", "31", "0"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == render_text([diagnostic])


def test_several_are_separated_by_a_blank_line_and_none_is_nothing() -> None:
    one = Diagnostic("E0401", "wrong", at("bb"))
    assert shown(one, one) == shown(one) + "\n\n" + shown(one)
    assert shown() == ""
    assert str(SacError(one)) == shown(one)


def test_json_has_every_part() -> None:
    diagnostic = Diagnostic(
        "E0401",
        "wrong",
        at("g(x,").to(at("z)")),
        "this",
        (Label(at("ccc"), "that"),),
        ("why",),
        "do",
        Edit(at("bb"), "b", (Edit(at("ccc"), "c"),)),
        calls("f"),
        True,
    )
    place = {"file": "a.sac", "line": 3}
    assert json.loads(to_json([diagnostic])) == [
        {
            "code": "E0401", "severity": "error", "message": "wrong", "file": "a.sac", "line": 4, "column": 10,
            "endLine": 6, "endColumn": 14, "label": "this", "macro": None,
            "labels": [{**place, "column": 15, "endLine": 3, "endColumn": 18, "text": "that"}], "notes": ["why"],
            "help": "do",
            "edit": {
                **place, "column": 11, "endLine": 3, "endColumn": 13, "text": "b",
                "also": [{**place, "column": 15, "endLine": 3, "endColumn": 18, "text": "c"}],
            },
            "stack": [{"function": "f", **place, "column": 6}], "incomplete": True,
        }
    ]  # fmt: skip
    assert json.loads(to_json([])) == []


def test_a_change_in_several_places_is_shown_line_by_line() -> None:
    source = Source("a.sac", "use Array: all;\nx = pow(2, 3) + 1;\n")
    two, three, start = (Span(source, at, at + size) for at, size in ((24, 1), (27, 1), (0, 0)))
    edit = Edit(two, "2.0", (Edit(start, "use Math: all;\n"), Edit(three, "3.0")))
    assert edit.applied(source.text) == "use Math: all;\nuse Array: all;\nx = pow(2.0, 3.0) + 1;\n"
    assert render_text([Diagnostic("E0307", "unknown", two, help="do", edit=edit)]).split("\n")[-3:] == [
        "1 + use Math: all;",
        "2 | x = pow(2.0, 3.0) + 1;",
        "  |         ~~~  ~~~",
    ]


def test_json_names_the_macro() -> None:
    tokens = tokenize(Source("m.sac", "#define Y y\nY")).tokens
    (found,) = json.loads(to_json([Diagnostic("E0301", "unknown", tokens[0].span)]))
    assert (found["line"], found["column"], found["macro"]["line"], found["macro"]["column"]) == (2, 1, 1, 11)


def test_sentences_are_broken_to_the_width() -> None:
    source = Source("a.sac", "x = 1;")
    words = (
        "a sentence that is longer than forty columns are wide, with/a/path/that/is/longer/than/the/whole/width in it"
    )
    diagnostic = Diagnostic("E0205", words, Span(source, 0, 1), notes=(words,), help="short")
    lines = render_text([diagnostic], width=40, wrap=True).split("\n")
    assert lines[:3] == [
        "error[E0205]: a sentence that is longer",
        "  than forty columns are wide,",
        "  with/a/path/that/is/longer/than/the/whole/width",
    ]
    assert [line for line in lines if "short" in line] == ["  = help: short"]
    assert max(len(line) for line in lines if "/" not in line) <= 40
    assert (
        " ".join("\n".join(lines).split()).count("are wide, with/a/path/that/is/longer/than/the/whole/width in it") == 2
    )
    assert render_text([diagnostic], width=40).split("\n")[0] == f"error[E0205]: {words}"
