"""Changes are proposed only where they mend what they are proposed for, and nothing is tried without need."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sacpy.lang.advice import advised
from sacpy.lang.advice.vetting import MOST
from sacpy.lang.diagnostics import Diagnostic, Edit, SacError
from sacpy.lang.source import Source, Span
from sacpy.workspace import Workspace

HEAD = "use Array: all;\nuse StdIO: all;\nint main()\n{\n"


def checked(body: str, uses: str = "") -> list[Diagnostic]:
    try:
        return Workspace().check_text(f"{uses}{HEAD}{body}\n  return 0;\n}}\n", "a.sac", None)[1]
    except SacError as error:
        return list(error.diagnostics)


def test_a_change_that_mends_nothing_is_not_proposed() -> None:
    (found,) = checked("  v = [1]; x = v->a;")
    assert found.code == "E0218" and found.edit is None and found.help == "write `.` for the field of a struct"


def test_each_of_two_mistakes_has_its_change() -> None:
    body = "  v = [1.0, 2.0];\n  x = len(v);\n  y = [1, 2.0];"
    first, second = checked(body)
    assert first.edit is not None and second.edit is not None
    text = first.span.source.text
    both = "\n".join(
        a if a != b else c
        for a, b, c in zip(*(t.split("\n") for t in (first.edit.applied(text), text, second.edit.applied(text))))
    )
    assert Workspace().check_text(both, "a.sac", None)[1] == []


def test_a_change_with_another_mistake_beside_it() -> None:
    (found,) = checked("  x = unheard(1) + 2")
    assert found.code == "E0202" and found.edit is not None  # the semicolon is right, though something else is wrong


def test_what_a_change_lays_bare_is_mended_with_it() -> None:
    (found,) = checked("  x = sqrt(2);")
    assert found.edit is not None and [part.text for part in found.edit.parts] == ["use Math: all;\n", "2.0"]


def test_a_module_beside_the_program_is_mended_where_it_is(tmp_path: Path) -> None:
    module = "module Mine;\nuse Array: all;\nexport all;\nint size_of(int[.] v)\n{\n  return len(v);\n}\n"
    (tmp_path / "Mine.sac").write_text(module)
    program = tmp_path / "program.sac"
    program.write_text("use Mine: all;\nint main()\n{\n  return size_of([1]);\n}\n")
    (found,) = Workspace().check(program)[1]
    assert found.span.source.name.endswith("Mine.sac") and found.edit is not None
    (tmp_path / "Mine.sac").write_text(found.edit.applied(module))
    assert Workspace().check(program)[1] == []


def test_a_module_gets_its_use_line_behind_its_head(tmp_path: Path) -> None:
    module = "module Mine;\nexport all;\nint total(int[.] v)\n{\n  return sum(v);\n}\n"
    (tmp_path / "Mine.sac").write_text(module)
    (found,) = Workspace().check(tmp_path / "Mine.sac")[1]
    assert found.edit is not None and found.edit.applied(module).startswith(
        "module Mine;\nuse Array: all;\nexport all;\n"
    )


def test_what_stands_in_a_macro_is_not_changed() -> None:
    (found,) = checked("  v = [1]; x = SIZE(v);", "#define SIZE(a) len(a)\n")
    assert found.code == "E0307" and found.edit is None


def test_what_follows_from_a_misspelt_word_is_not_said() -> None:
    text = "int f(int x)\n{\n  retrun x;\n}\nint main()\n{\n  return f(0);\n}\n"
    (found,) = Workspace().check_text(text, "a.sac", None)[1]
    assert found.code == "E0246" and found.edit is not None and found.edit.text == "return"


def test_an_indented_block_is_told_once() -> None:
    text = "def f(x):\n    y = x\n    return y\n\nint main()\n{\n  return 0;\n}\n"
    try:
        found = Workspace().check_text(text, "a.sac", None)[1]
    except SacError as error:
        found = list(error.diagnostics)
    assert [d.code for d in found] == ["E0214"] and "int f(int x) { return x; }" in found[0].help


def test_the_work_is_bounded() -> None:
    source = Source("a.sac", "x" * 100)
    wrong = [
        Diagnostic("E0305", "no", Span(source, i, i + 1), edit=Edit(Span(source, i, i + 1), "y")) for i in range(60)
    ]
    calls: list[Mapping[str, str]] = []

    def check(texts: Mapping[str, str]) -> Sequence[Diagnostic]:
        calls.append(texts)
        return wrong

    assert all(d.edit is None for d in advised(wrong, check))
    assert len(calls) <= MOST


def test_many_right_changes_are_tried_at_once() -> None:
    source = Source("a.sac", "x" * 100)
    wrong = [
        Diagnostic("E0305", "no", Span(source, i, i + 1), edit=Edit(Span(source, i, i + 1), "y")) for i in range(60)
    ]
    calls: list[Mapping[str, str]] = []

    def check(texts: Mapping[str, str]) -> Sequence[Diagnostic]:
        calls.append(texts)
        return ()

    assert all(d.edit is not None for d in advised(wrong, check)) and len(calls) == 1


def test_nothing_is_loaded_where_nothing_is_wrong() -> None:
    script = (
        "import sys, sacpy; assert sacpy.Session().eval('1 + 1') == 2\n"
        "print([m for m in sys.modules if m.startswith(('sacpy.lang.advice.', 'sacpy.lang.elaborate.refusals'))])\n"
        "try: sacpy.Session().eval('len([1])')\nexcept sacpy.SacError: pass\n"
        "print('sacpy.lang.advice.table' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["[]", "True"]


def test_a_function_that_takes_arrays_in_another_module_is_found_there() -> None:
    (found,) = checked("  v = [1.0]; print(exp(v));", "use Math: all;\n")
    assert found.code == "E0501" and found.help == "MathArray has one that does: add 'use MathArray: all;'"
    assert found.edit is not None
    assert Workspace().check_text(found.edit.applied(found.span.source.text), "a.sac", None)[1] == []


@pytest.mark.parametrize(
    ("text", "code", "help"),
    [
        # operators come with modules too
        (
            'use String: all; int main() { return 1 + strlen("a"); }',
            "E0403",
            "Array has one that does: add 'use Array: all;'",
        ),
        # the module that is proposed first, or the one whose function takes the arguments
        (
            "use StdIO: all; int main() { print(tolower('A')); return 0; }",
            "E0307",
            "it is in the library: add 'use Char: all;'",
        ),
        (
            'use StdIO: all; int main() { print(tolower("A")); return 0; }',
            "E0307",
            "it is in the library: add 'use String: all;'",
        ),
    ],
)
def test_the_module_is_found_that_mends_the_program(text: str, code: str, help: str) -> None:
    found, *_ = Workspace().check_text(text, "a.sac", None)[1]
    assert (found.code, found.help) == (code, help) and found.edit is not None
    assert Workspace().check_text(found.edit.applied(text), "a.sac", None)[1] == []


def test_braces_of_the_program_are_part_of_what_is_said() -> None:
    (found,) = checked("  v = ({ [i] -> i | [i] < [3] })[-1];")
    assert found.code == "E0506" and found.help.startswith("`({ [i] -> i | [i] < [3] })[-1]` of Python is `")
    assert found.edit is not None
    assert Workspace().check_text(found.edit.applied(found.span.source.text), "a.sac", None)[1] == []


def test_a_change_of_two_places_needs_no_module() -> None:
    """`^` on bools: one of the changes that are tried has two places, and no `use` line."""
    (found,) = checked("  a = true; b = false; c = a ^ b;")
    assert found.code == "E0403" and found.edit is not None
    assert Workspace().check_text(found.edit.applied(found.span.source.text), "a.sac", None)[1] == []
