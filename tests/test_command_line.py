"""The command line, used wrongly or in odd surroundings: a message, an exit status, and never a traceback."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sacpy.cli import main
from sacpy.commands.options import parse
from sacpy.commands.settings import plain_run
from tests.tools import ROOT


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
        (("eval", "1", "2"), "sacpy eval: error: '2' is one argument too many"),
        (("check", "."), "sacpy check: error: there is no .sac file in ."),
        (("run",), "sacpy run: error: the following arguments are required: file"),
        (("eval", "--target", "abacus", "1"), "usage: sacpy eval "),
    ],
)
def test_a_wrong_command_line_is_told_what_is_wrong(
    arguments: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(*arguments) == 2
    assert said in capsys.readouterr().err


def test_help_shows_what_runs_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused("--help") == 0
    assert "sacpy FILE.sac [ARGS]" in capsys.readouterr().out


def test_a_file_that_is_not_there_brings_the_one_that_is_meant(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "smooth.sac").write_text("int main() { return 0; }")
    monkeypatch.chdir(tmp_path)
    for word in ("smooth", "smoth.sac"):
        assert main([word]) == 1
        assert "did you mean smooth.sac?" in capsys.readouterr().err
    assert main(["missing.sac"]) == 1
    assert "check the file's name" in capsys.readouterr().err


def test_a_program_gets_all_that_stands_behind_it(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "args.sac"
    program.write_text(
        "use StdIO: all; use CommandLine: all; use Array: all;\n"
        'int main() { for (i = 1; i < argc(); i++) { printf("[%s]", argv(i)); } return X; }'
    )
    assert main(["run", "-D", "X=7", str(program), "--", "-x", "a b", "--help", ""]) == 7
    assert capfd.readouterr().out == "[--][-x][a b][--help][]"


@pytest.mark.parametrize("command", ["run", "profile", "explain"])
@pytest.mark.parametrize("option", ["--target", "--stats", "--threads=2"])
def test_an_option_behind_a_program_that_reads_no_words_is_misplaced(
    command: str, option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "plain.sac"
    program.write_text("int main() { return 0; }")
    assert refused(command, str(program), option, "cpu") == 2
    assert f"options come first: sacpy {command} {option} .. plain.sac" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "use System: all; int main() { return argc(); }",
        'use GetOpt: all; int main() { c = getopt("x"); return 2; }',
        "use String: all; int main(string[.] words) { return 2; }",
        "module M; use CommandLine: all; export all; int words() { return argc(); }",
    ],
)
def test_a_program_that_reads_its_words_gets_options_too(text: str, tmp_path: Path) -> None:
    if text.startswith("module"):
        (tmp_path / "M.sac").write_text(text)
        text = "use M: all; int main() { return words(); }"
    program = tmp_path / "reads.sac"
    program.write_text(text)
    assert main([str(program), "--stats"]) == 2


def test_a_file_that_is_no_text_gives_one_diagnostic(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "binary.sac"
    program.write_bytes(bytes((i * 149 + i // 7) % 256 for i in range(3000)))
    assert main(["check", "--json", str(program)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [d["code"] for d in found if d["message"] == "bytes that are not UTF-8 text"] == ["E0108"]
    assert found[-1]["message"] == "bytes that are not UTF-8 text"


def test_documentation_is_found_beside_folders_that_look_like_modules(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.sac").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["doc", "iota"]) == 0
    assert "iota" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("1+1", "2"),
        ("tol(7)", "7"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1 < 2", "true"),
        ('"Grüße ☃"', "Grüße ☃"),
        ("'x'", "x"),
        ("iota(3)", "[0, 1, 2]"),
        ("iota(0)", "[]"),
        ("reshape([0, 2], [:int])", "reshape([0, 2], [])"),
        ("reshape([2, 2, 2], iota(8))", "[[[0, 1],\n  [2, 3]],\n\n [[4, 5],\n  [6, 7]]]"),
        ('["a", "ü"]', '["a", "ü"]'),
        ("toc(1.0, 2.0)", "[1.0, 2.0]"),
        ("iota(3);", "[0, 1, 2]"),
        ("print(3)", "Dimension:  0\nShape    : < >\n 3"),
    ],
)
def test_eval_prints_the_value(expression: str, printed: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", expression]) == 0
    assert capfd.readouterr().out.rstrip("\n") == printed


def test_eval_says_what_is_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "iota(3)[7]"]) == 1
    out, err = capfd.readouterr()
    assert (out, "E0506" in err) == ("", True)
    long = "sum({ [i] -> sin(tod(i)) | [i] < [10000000] })"
    assert main(["eval", "--target", "interp", "--seconds", "0.2", long]) == 1
    assert "E0704" in capfd.readouterr().err
    assert main(["eval", 'RuntimeError::error(3, "over")']) == 3


def test_eval_knows_macros_and_stages(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "-DN=4", "N * N"]) == 0
    assert capfd.readouterr().out == "16\n"
    assert main(["eval", "--emit", "core", "1 + 1"]) == 0
    assert capfd.readouterr().out.startswith("// expression()\nint expression()")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 3; x + 1", "eval takes one expression; statements and definitions stand in a file"),
        ("int f(int x) { return x; }", "eval takes one expression"),
        ("return 3", "eval takes one expression"),
        ("var x = 3", "leave the type out"),
        ("v = [1, 2, 3]; v[1:3]", "`v[1:3]` is Python, not SaC"),
        ("for i in v", "in SaC: `for (j = 0; j < shape(v)[0]; j++)"),
        ("1 +", "write the missing value"),
    ],
)
def test_what_is_no_expression_is_explained_as_what_it_is(
    text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", text]) == 1
    assert words in capsys.readouterr().err


def test_check_takes_folders_and_several_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/Shapes.sac").write_text("module Shapes;\nexport all;\nint sides() { return fourr; }\n")
    (tmp_path / "sub/uses.sac").write_text("use Shapes: all;\nint main() { return sides(); }")
    (tmp_path / "good.sac").write_text("int main() { return 0; }")
    (tmp_path / "wrong.sac").write_text("int main() { return x; }")
    assert main(["check", str(tmp_path / "good.sac")]) == 0
    assert capsys.readouterr().err == ""
    assert main(["check", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.count("fourr is not defined") == 1 and said.count("x is not defined") == 1  # of a module once
    assert said.endswith("\n4 files, 3 with mistakes\n")
    assert main(["check", "--json", str(tmp_path / "sub"), str(tmp_path / "wrong.sac")]) == 1
    found = json.loads(capsys.readouterr().out)
    names = sorted(Path(d["span"]["file"] if "span" in d else d["file"]).name for d in found)
    assert names == ["Shapes.sac", "wrong.sac"]
    assert main(["check", str(tmp_path / "good.sac"), str(tmp_path / "good.sac"), str(tmp_path / "missing.sac")]) == 1
    assert capsys.readouterr().err.endswith("2 files, 1 with mistakes\n")


def test_the_prompt_ends_where_standard_input_is_closed() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m sacpy <&-', sys.executable], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("function", ["print(1)", "1 + 2", "iota(3)"])
def test_a_program_that_uses_nothing_is_told_which_module_it_needs(
    function: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Math::snh", "Math::sinh"),
        ("Math::nosuch", "sacpy doc Math lists"),
        ("Maths::sin", "there is nothing called Maths::sin"),
    ],
)
def test_what_documentation_does_not_know_is_looked_for_in_its_module(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doc", name]) == 1
    assert said in capsys.readouterr().err


STRUCK = """
import os, signal, sys

class Striking:
    def find_spec(self, name, path=None, target=None):
        if name == WHEN:
            os.kill(os.getpid(), signal.SIGINT)

WHEN = sys.argv.pop(1)
sys.meta_path.insert(0, Striking())
import sac_lang
sys.exit(sac_lang.main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are interrupted in another way there")
@pytest.mark.parametrize("command", ["run", "eval", "check"])
@pytest.mark.parametrize("module", ["sacpy.cli", "sacpy.commands.settings", "sacpy.lang.parser", "numpy", "datetime"])
def test_ctrl_c_while_modules_are_loaded_ends_the_command_without_a_word(
    module: str, command: str, tmp_path: Path
) -> None:
    program = tmp_path / "p.sac"
    program.write_text("int main() { return 0; }")
    what = "1" if command == "eval" else str(program)
    arguments = [sys.executable, "-c", STRUCK, module, command, what]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    loaded = command != "check" or module not in ("numpy", "datetime")
    assert (done.returncode, done.stdout, done.stderr) == (130 if loaded else 0, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="processes are interrupted in another way there")
def test_ctrl_c_is_the_programs_once_it_runs_and_stays_ignored_in_the_background(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text("use StdIO: all; int main() { print(1); while (true) { print(1); } return 0; }")
    command = [sys.executable, "-m", "sacpy", "run", str(program)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.startswith(b"error[E0702]: the run was interrupted")
    ignored = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{STRUCK}"
    command = [sys.executable, "-c", ignored, "sacpy.cli", "eval", "1"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "1\n"


ELSE = "import sac_lang, sys; status = sac_lang.main(); sys.stderr.write('after '); sys.exit(status)"


@pytest.mark.parametrize(("way", "said"), [(("-m", "sacpy"), "registered "), (("-c", ELSE), "after registered ")])
def test_the_process_ends_with_the_command_where_nothing_else_is_in_it(
    way: tuple[str, str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, sys; atexit.register(lambda: sys.stderr.write('registered '))"
    )
    (tmp_path / "p.sac").write_text("use StdIO: all; use Array: all; int main() { print(iota(100000)); return 7; }")
    done = subprocess.run(
        [sys.executable, *way, "run", str(tmp_path / "p.sac")],
        env={**os.environ, "PYTHONUNBUFFERED": "", "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, said)
    assert done.stdout.endswith("99998 99999 > \n") and len(done.stdout) > 500_000


@pytest.mark.skipif(sys.platform != "linux", reason="it names a library as Linux does")
def test_what_a_library_in_c_has_written_is_not_lost(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        'use String: all; use ScalarArith: all;\nexternal int puts(string text);\n#pragma linkobj "libc.so.6"\n'
        'int main() { return puts("from C") < 0 ? 1 : 0; }'
    )
    done = subprocess.run(
        [sys.executable, "-m", "sacpy", "run", str(program)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},  # C's would be neither
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "from C\n", "")


@pytest.mark.parametrize(
    "words", [["a.sac"], ["run", "a.sac"], ["d/a.sac", "-x", "run"], ["run", "./a.sac", "--target", "b.sac", ""]]
)
def test_a_plain_run_is_what_the_options_say(words: list[str]) -> None:
    plain = plain_run(words)
    assert plain is not None and vars(plain) == vars(parse(words))


@pytest.mark.parametrize(
    "words", [[], ["run"], ["run", "--stats", "a.sac"], ["-i", "a.sac"], ["check", "a.sac"], ["program"], ["--x.sac"]]
)
def test_other_command_lines_are_no_plain_runs(words: list[str]) -> None:
    assert plain_run(words) is None
