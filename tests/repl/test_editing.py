"""Editing at the prompt, in one terminal for all tests: each begins and ends at an empty prompt."""

import time
from collections.abc import Iterator

import pytest

from tests.repl.terminal import CTRL_C, CTRL_R, ENTER, ESCAPE, LEFT, READY, RIGHT, TAB, UP, Terminal

BACKSPACE = "\x7f"
SOON = 0.3  # seconds in which a prompt comes back


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("session")
    for name in ("alpha.sac", "alphabet.txt", "beta.sac"):
        (folder / name).write_text("")
    terminal = Terminal(folder, folder=folder)
    terminal.wait(READY)
    terminal.enter("struct Point { double[2] at; int colour; };")
    terminal.enter("points = iota(3); point = Point{[1.0, 2.0], 7};")
    yield terminal
    terminal.kill()


@pytest.fixture
def terminal(shared: Terminal) -> Iterator[Terminal]:
    shared.clear()
    yield shared
    shared.cancel()


def paste(terminal: Terminal, text: str) -> None:
    terminal.type(f"\x1b[200~{text}\x1b[201~")


def shows(terminal: Terminal, typed: str) -> None:
    """Waits until these are the lines being edited."""
    terminal.until(lambda: terminal.typed == typed, f"the input {typed!r}")


# ---------------------------------------------------------------- lines


def test_enter_goes_on_until_the_definition_is_whole_and_lines_indent_themselves(terminal: Terminal) -> None:
    terminal.type("int f(int a)\r{\rif (a > 0) {\ra = [1,\r2][0];\r}\rreturn a;\r}")
    shows(terminal, "int f(int a)\n{\n  if (a > 0) {\n    a = [1,\n      2][0];\n  }\n  return a;\n}")
    terminal.type(ENTER)
    terminal.wait(r"}\n>>>\Z")
    assert terminal.enter("f(3)") == "int 1"


def test_enter_between_brackets_puts_the_closing_one_on_a_line_of_its_own(terminal: Terminal) -> None:
    terminal.type("x = {}" + LEFT + "\r1")
    shows(terminal, "x = {\n  1\n}")


def test_backspace_takes_an_indentation_away_at_once(terminal: Terminal) -> None:
    terminal.type("[\r[\r" + BACKSPACE + "x")
    shows(terminal, "[\n  [\n  x")


def test_tab_indents_where_a_line_begins(terminal: Terminal) -> None:
    terminal.type(TAB + "x")
    shows(terminal, "  x")


def test_two_blank_lines_hand_over_what_is_not_whole(terminal: Terminal) -> None:
    terminal.type("1 +\r\r\r")
    terminal.wait(r"E0205[\s\S]*>>>\Z")


def test_a_mistake_further_up_does_not_hand_over_what_is_still_open(terminal: Terminal) -> None:
    terminal.type("int f()\r{\rx = ;\ry(")
    shows(terminal, "int f()\n{\n  x = ;\n  y(")


def test_alt_enter_begins_a_line_in_a_whole_text(terminal: Terminal) -> None:
    terminal.type("a = 1;" + ESCAPE + ENTER + "b = 2;")
    shows(terminal, "a = 1;\nb = 2;")


def test_ctrl_c_clears_the_input(terminal: Terminal) -> None:
    terminal.type("not\rdone(")
    terminal.wait(r"done\(")
    terminal.type(CTRL_C)
    terminal.wait(r"done\(\n>>>\Z")
    assert terminal.enter("1 + 1") == "int 2"


def test_what_is_printed_without_a_line_end_gets_one(terminal: Terminal) -> None:
    assert terminal.enter('printf("open")') == "open"


# ---------------------------------------------------------------- pasting


def test_pasted_lines_come_as_they_are(terminal: Terminal) -> None:
    paste(terminal, "int g(int a)\r\n{\r\n\treturn a;\r\n}\r\n")
    shows(terminal, "int g(int a)\n{\n    return a;\n}")


def test_pasted_lines_without_semicolons_are_obeyed_one_by_one(terminal: Terminal) -> None:
    paste(terminal, "aa = 1\nbb = 2\naa + bb\n:type aa\nbb\n")
    shows(terminal, "aa = 1\nbb = 2\naa + bb\n:type aa\nbb")
    terminal.type(ENTER)
    terminal.wait(r"\.\.\. bb\nint 3\nint\nint 2\n>>>\Z")


def test_a_pasted_definition_and_a_use_of_it(terminal: Terminal) -> None:
    paste(terminal, "int thrice(int a)\n{\n  return 3 * a;\n}\nthrice(7)\nthrice(8)")
    terminal.wait(r"thrice\(8\)\Z")
    terminal.type(ENTER)
    terminal.wait(r"int 21\nint 24\n>>>\Z")


def test_a_mistake_among_pasted_lines_is_shown_with_its_line_and_ends_them(terminal: Terminal) -> None:
    paste(terminal, "before = 1\nwrong = before +\n  nowhere\nbehind = 3")
    terminal.wait(r"behind = 3\Z")
    terminal.type(ENTER)
    terminal.wait(r"E0305\]: nowhere is not defined\n --> <input \d+>:3:3\n[\s\S]*\n>>>\Z")
    assert terminal.enter("before") == "int 1"
    assert "E0305" in terminal.enter("behind")


def test_lines_of_alt_enter_need_no_semicolons(terminal: Terminal) -> None:
    terminal.type("aa = 5" + ESCAPE + ENTER + "aa + 1" + ENTER)
    terminal.wait(r"int 6\n>>>\Z")


def test_a_command_goes_on_while_a_bracket_is_open(terminal: Terminal) -> None:
    terminal.type(":type [1," + ENTER + "2]")
    shows(terminal, ":type [1,\n  2]")
    terminal.type(ENTER)
    terminal.wait(r"int\[2\]\n>>>\Z")


def test_questions_behind_a_name(terminal: Terminal) -> None:
    assert "The axes in reverse order." in terminal.enter("transpose?")
    assert "inline <T: any> T[d:tshp] transpose(T[d:shp] a)" in terminal.enter("transpose??")
    assert ":help [NAME]" in terminal.enter("??")


def test_an_exclamation_mark_runs_a_command_of_the_system(terminal: Terminal) -> None:
    assert terminal.enter("!ls *.sac") == "alpha.sac  beta.sac"
    assert terminal.enter("!sh -c 'exit 3'") == "it ended with status 3"
    terminal.enter("yes = true;")
    assert terminal.enter("!yes") == "bool false"
    terminal.type("!cat" + ENTER)
    time.sleep(0.3)
    terminal.interrupt()
    terminal.wait(r"\n>>>\Z")
    assert terminal.enter("points[2]") == "int 2"


def test_a_pasted_transcript_is_obeyed_input_by_input(terminal: Terminal) -> None:
    paste(
        terminal,
        ">>> n = 20\n>>> int h(int a)\n... {\n...   return a + n0(a);\n... }\n>>> int n0(int a) { return 1; }\n"
        ">>> h(n) * 2\nint 99\n",
    )
    terminal.wait(
        r">>> n = 20\n>>> int h\(int a\)\n\.\.\. {\n\.\.\.   return a \+ n0\(a\);\n\.\.\. }\n>>> int n0\(int a\) { "
        r"return 1; }\n>>> h\(n\) \* 2\Z"
    )
    terminal.type(ENTER)
    terminal.wait(r"\n>>> h\(n\) \* 2\nint 42\n>>>\Z")
    assert "int 99" not in terminal.text and terminal.text.count("n = 20") == 1
    terminal.type(UP)
    shows(terminal, "h(n) * 2")


def test_a_transcript_of_one_input_loses_its_prompt(terminal: Terminal) -> None:
    paste(terminal, ">>> 1 + 1\nint 2\n")
    shows(terminal, "1 + 1")


# ---------------------------------------------------------------- history


def test_up_finds_what_began_as_typed_and_ctrl_r_what_has_it_within(terminal: Terminal) -> None:
    terminal.enter("first_value = 11;")
    terminal.enter("second_value = 22;")
    terminal.type("fir" + UP)
    shows(terminal, "first_value = 11;")
    terminal.cancel()
    terminal.type(CTRL_R + "ond_v")
    terminal.wait(r">>> second_value = 22;")
    terminal.type(ENTER)
    shows(terminal, "second_value = 22;")


def test_the_rest_of_an_earlier_input_is_suggested(terminal: Terminal) -> None:
    terminal.enter("suggested_name = 33;")
    terminal.type("sugg")
    shows(terminal, "suggested_name = 33;")
    assert terminal.screen.buffer[terminal.screen.cursor.y][9].fg == "brightblack"
    terminal.type(RIGHT + "1")
    shows(terminal, "suggested_name = 33;1")
    assert terminal.screen.buffer[terminal.screen.cursor.y][9].fg != "brightblack"


# ---------------------------------------------------------------- completion and hints


def test_tab_completes_and_lists_types_and_signatures(terminal: Terminal) -> None:
    terminal.type("poi" + TAB)
    terminal.wait(r">>> point.*\n +point +struct Point\n +points +int\[3\]")
    terminal.type(TAB + TAB + ENTER + "+1")
    shows(terminal, "points+1")


def test_tab_completes_fields(terminal: Terminal) -> None:
    terminal.type("point." + TAB)
    terminal.wait(r"at +double\[2\]\n +colour +int")
    terminal.type("c" + TAB)
    shows(terminal, "point.colour")


def test_tab_completes_modules_with_what_they_are_for(terminal: Terminal) -> None:
    terminal.type("use Str" + TAB)
    terminal.wait(r"String +Strings: immutable rows of characters")


def test_tab_completes_commands_and_file_names(terminal: Terminal) -> None:
    terminal.type(":loa" + TAB + " al" + TAB)
    shows(terminal, ":load alpha.sac")


def test_the_signature_of_the_call_is_on_the_last_line_with_the_parameter_marked(terminal: Terminal) -> None:
    terminal.type("take([1], ")
    last = terminal.screen.lines - 1
    terminal.until(lambda: "take(int[o] v, T[o:oshp,i:ishp] a)" in terminal.screen.display[last], "the signature")
    marked = "".join(cell.data for _, cell in sorted(terminal.screen.buffer[last].items()) if cell.underscore)
    assert marked == "T[o:oshp,i:ishp] a"
    terminal.type("points)")
    terminal.until(lambda: not terminal.screen.display[last].strip(), "an empty last line")


def test_the_bracket_that_matches_is_marked(terminal: Terminal) -> None:
    terminal.type("sum((points))")
    shows(terminal, "sum((points))")
    terminal.until(lambda: terminal.screen.buffer[terminal.screen.cursor.y][7].underscore, "a marked bracket")
    assert not terminal.screen.buffer[terminal.screen.cursor.y][8].underscore


def test_colours_tell_words_apart(terminal: Terminal) -> None:
    terminal.type('int x = 42; // "no string"')
    shows(terminal, 'int x = 42; // "no string"')
    row = terminal.screen.buffer[terminal.screen.cursor.y]
    assert [row[x].fg for x in (4, 8, 12, 17, 21)] == ["cyan", "default", "brown", "brightblack", "brightblack"]


# ---------------------------------------------------------------- keys


def test_the_keys_of_vi(terminal: Terminal) -> None:
    terminal.enter(":set keys vi")
    terminal.type("one two" + ESCAPE)
    time.sleep(0.1)  # an Escape is told from Alt by what does not follow it
    terminal.type("bxi")
    shows(terminal, "one wo")
    terminal.cancel()
    terminal.enter(":set keys emacs")
    terminal.type("one two" + "\x01" + "\x0b" + "x")
    shows(terminal, "x")


# ---------------------------------------------------------------- interrupts


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ('printf("on\\n"); while (true) { points = points; }', r"\non\n"),
        ('printf("on\\n"); while (true) { print(iota(10000)); }', r"\non\n[\s\S]*9999"),
        ('printf("on\\n"); print(iota(5000000))', r"\non\n[\s\S]* 9 "),
    ],
    ids=["a loop", "a loop that prints", "a long print"],
)
def test_ctrl_c_comes_back_to_the_prompt_with_all_names(terminal: Terminal, text: str, sign: str) -> None:
    terminal.type(text + ENTER)
    terminal.wait(sign)
    start = time.perf_counter()
    terminal.interrupt()
    terminal.wait(r"E0702[\s\S]*\n>>>\Z")
    taken = time.perf_counter() - start
    assert terminal.enter("points") == "int[3] [0, 1, 2]"
    assert taken < SOON
