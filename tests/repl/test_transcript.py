"""Sessions that were copied from somewhere."""

import pytest

from sacpy.repl.transcript import cleaned, inputs

SESSION = ">>> x = 3\n>>> int f(int a)\n... {\n...   return a;\n...\n... }\n>>> f(x)\nint 3\n\n>>> "


def test_inputs_of_a_session() -> None:
    assert inputs(SESSION) == ["x = 3", "int f(int a)\n{\n  return a;\n\n}", "f(x)"]


@pytest.mark.parametrize("text", ["x = 3", "x\n>>> y", "", "a >>> b", "... y", ">>>>"])
def test_a_text_that_does_not_begin_with_a_prompt_is_one_input(text: str) -> None:
    assert inputs(text) == [text]


def test_what_is_pasted_keeps_its_prompts_where_there_are_several_inputs() -> None:
    assert cleaned(SESSION) == ">>> x = 3\n>>> int f(int a)\n... {\n...   return a;\n... \n... }\n>>> f(x)"
    assert inputs(cleaned(SESSION)) == inputs(SESSION)


def test_one_input_is_bare() -> None:
    assert cleaned("  >>> f(x)\r\nint 3\r\n") == "f(x)"
    assert cleaned("a\r\n\tb\r\n") == "a\n    b"
    assert cleaned(">>> \n") == ""
