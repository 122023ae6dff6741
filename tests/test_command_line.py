"""The command line, used wrongly or in odd surroundings: a message, an exit status, and never a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sacpy.cli import main


def refused(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--verison",), "there is no option --verison"),
        (("-x", "a.sac"), "there is no option -x"),
        (("-DX=1", "a.sac"), "sacpy run -DX=1 .. FILE.sac"),
        (("--memory", "1G", "a.sac"), "sacpy run --memory .. FILE.sac"),
        (("-",), "there is no option -"),
        (("chek", "a.sac"), "did you mean sacpy check?"),
        (("run", "--foo", "a.sac"), "sacpy run: error: there is no option --foo"),
        (("check", "a.sac", "b.sac"), "sacpy check: error: 'b.sac' is one argument too many"),
        (("run",), "sacpy run: error: the following arguments are required: file"),
        (("eval", "--target", "abacus", "1"), "usage: sacpy eval "),
    ],
)
def test_a_wrong_command_line_is_told_what_is_wrong(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(*arguments) == 2
    assert said in capsys.readouterr().err


def test_help_shows_what_runs_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused("--help") == 0
    assert "sacpy FILE.sac [ARGS]" in capsys.readouterr().out


def test_a_file_that_is_not_there_brings_the_one_that_is_meant(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "smooth.sac").write_text("int main() { return 0; }")
    monkeypatch.chdir(tmp_path)
    for word in ("smooth", "smoth.sac"):
        assert main([word]) == 1
        assert "did you mean smooth.sac?" in capsys.readouterr().err
    assert main(["missing.sac"]) == 1
    assert "check the file's name" in capsys.readouterr().err


def test_a_program_gets_all_that_stands_behind_it(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "args.sac"
    program.write_text('use StdIO: all; use CommandLine: all; use Array: all;\nint main() { for (i = 1; i < argc(); i++) { printf("[%s]", argv(i)); } return X; }')
    assert main(["run", "-D", "X=7", str(program), "--", "-x", "a b", "--help", ""]) == 7
    assert capfd.readouterr().out == "[--][-x][a b][--help][]"


def test_a_file_that_is_no_text_gives_one_diagnostic(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "binary.sac"
    program.write_bytes(bytes((i * 149 + i // 7) % 256 for i in range(3000)))
    assert main(["check", "--json", str(program)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [d["code"] for d in found if d["message"] == "bytes that are not UTF-8 text"] == ["E0108"]
    assert found[-1]["message"] == "bytes that are not UTF-8 text"


def test_documentation_is_found_beside_folders_that_look_like_modules(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.sac").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["doc", "iota"]) == 0
    assert "iota" in capsys.readouterr().out


def test_the_prompt_ends_where_standard_input_is_closed() -> None:
    done = subprocess.run(["/bin/sh", "-c", '"$0" -m sacpy <&-', sys.executable], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("function", ["print(1)", "1 + 2", "iota(3)"])
def test_a_program_that_uses_nothing_is_told_which_module_it_needs(function: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "bare.sac"
    program.write_text(f"int main() {{ x = {function}; return 0; }}")
    assert main(["check", str(program)]) == 1
    assert "it is in the library: add 'use " in capsys.readouterr().err


def test_a_header_of_c_is_told_the_module(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "c.sac"
    program.write_text('#include <stdio.h>\nint main() { printf("hi\\n"); return 0; }')
    assert main(["check", str(program)]) == 1
    assert "`use StdIO: all;`" in capsys.readouterr().err


def test_a_module_is_not_run_but_used(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    module = tmp_path / "Shapes.sac"
    module.write_text("module Shapes;\nexport all;\nint sides() { return 4; }\n")
    assert main([str(module)]) == 1
    assert "run a program that uses it: 'use Shapes: all;'" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "said"), [("Math::snh", "Math::sinh"), ("Math::nosuch", "sacpy doc Math lists"), ("Maths::sin", "there is nothing called Maths::sin")])
def test_what_documentation_does_not_know_is_looked_for_in_its_module(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doc", name]) == 1
    assert said in capsys.readouterr().err
