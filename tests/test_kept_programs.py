"""What is kept of a program between runs: the next run says the same, with less to do; and what has changed since is
seen."""

import marshal
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from sacpy.base.plain import Unpacked
from sacpy.jit.cache import Cache
from sacpy.lang.core_printer import print_function
from sacpy.lang.files import noting
from sacpy.lang.kept_programs import KeptProgram, bytes_of, contents
from sacpy.lang.source import Source
from sacpy.workspace import Workspace
from tests.test_corpus import CORPUS
from tests.test_corpus import PROGRAMS as OF_CORPUS
from tests.test_programs import PROGRAMS, beside, name_of
from tests.tools import ROOT, Result, first_directive, read_directives, run_file

LOADED = ("sacpy.lang.parser", "sacpy.lang.preprocessor", "sacpy.lang.elaborate", "sacpy.lang.modules")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path / "cache"))


def kept(folder: Path) -> list[Path]:
    """What is kept of programs."""
    return sorted((folder / "cache" / "native").glob("program-*"))


def run(program: Path, *flags: str, args: Sequence[str] = (), stdin: bytes = b"") -> Result:
    return run_file(program, args, stdin, flags, program.parent, keeping=True)


@pytest.mark.parametrize("program", OF_CORPUS, ids=lambda path: path.relative_to(CORPUS).with_suffix("").as_posix())
@pytest.mark.sample(4)
def test_a_program_of_the_corpus_says_the_same_again(program: Path, tmp_path: Path) -> None:
    directives = read_directives(program)
    stdin = first_directive(directives, "stdin")
    given = (program.parent / stdin).read_bytes() if stdin else b""
    flags = [flag.replace("{here}", str(program.parent)) for flag in shlex.split(first_directive(directives, "flags"))]
    args = shlex.split(first_directive(directives, "args"))
    expected = program.with_suffix(".out").read_text(encoding="latin-1")
    for _ in range(2):
        result = run_file(program, args, given, flags, tmp_path, keeping=True)
        assert result.stdout.decode("latin-1") == expected, result.stderr
        assert result.status == int(first_directive(directives, "expect-status", "0")), result.stderr


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
@pytest.mark.sample(2)
def test_all_functions_come_back_as_they_were(program: Path) -> None:
    with noting() as files:
        whole, found = Workspace().load(program)
    given = contents(whole, found, files, {})
    assert given is not None

    def never() -> None:
        raise AssertionError("it was made of its texts")

    source = Source(str(program), program.read_text(encoding="utf-8"))
    program_again = KeptProgram(bytes_of(given), source, never)  # type: ignore[arg-type]
    assert repr(program_again.found) == repr(found)
    assert program_again.main_key() == whole.main_key()
    assert program_again.text() == whole.text()
    for key, instance in whole.instances.items():
        if instance.function is not None:
            assert print_function(program_again.function(key)) == print_function(instance.function)
            assert repr(program_again.function(key)) == repr(instance.function)  # places too
        elif instance.made is not None:
            assert repr(program_again.signature(key)) == repr(instance.made.signature)
    for outcome, value in program_again.inferrer.outcomes.items():
        assert whole.inferrer.outcomes[outcome] == value


@pytest.mark.parametrize("name", ["primes", "text_statistics"])
def test_a_program_that_is_known_loads_nothing_that_makes_programs(name: str, tmp_path: Path) -> None:
    program = ROOT / "programs" / f"{name}.sac"
    stdin = beside(program, ".stdin")
    script = (
        "import sys; sys.argv[0] = 'sacpy'; from sacpy import cli; status = cli.main(sys.argv[1:]); "
        "sys.stderr.write(' '.join(sys.modules)); sys.exit(status)"
    )
    loaded = ""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script, "run", "--target", "interp", str(program)],
            input=stdin.read_bytes() if stdin.exists() else b"",
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=True,
        )
        assert done.stdout == beside(program, ".expected").read_bytes()
        loaded = done.stderr.decode()
    assert not [m for m in loaded.split() if m.startswith(LOADED)]


@pytest.mark.parametrize(("parameters", "args"), [("", []), ("int n", ["1 + 2"])])
def test_a_program_that_tells_nothing_new_is_not_written_again(
    parameters: str, args: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "p.sac"
    program.write_text(f"use StdIO: all; use Array: all; int main({parameters}) {{ print(sum(iota(3))); return 0; }}\n")
    run(program, args=args)
    (only,) = kept(tmp_path)
    for _ in range(2):  # without an engine; and then generated for that
        run(program, args=args)
    before = only.stat().st_ino
    run(program, args=args)
    assert kept(tmp_path) == [only] and only.stat().st_ino == before


MAIN = "use StdIO: all;\nuse Other: all;\nint main() { print(value()); return 0; }\n"
OTHER = "module Other;\nexport all;\nint value() { return %d; }\n"


def test_a_module_that_has_changed_is_read_again(tmp_path: Path) -> None:
    program, other = tmp_path / "p.sac", tmp_path / "Other.sac"
    program.write_text(MAIN)
    for value in (1, 2, 2, 1):
        other.write_text(OTHER % value)
        assert run(program).stdout.split()[-1] == b"%d" % value


def test_a_module_that_now_stands_before_another_is_taken(tmp_path: Path) -> None:
    home, far = tmp_path / "home", tmp_path / "far"
    home.mkdir()
    far.mkdir()
    program = home / "p.sac"
    program.write_text(MAIN)
    (far / "Other.sac").write_text(OTHER % 1)
    flags = ("-L", str(far))
    for _ in range(2):
        assert run(program, *flags).stdout.split()[-1] == b"1"
    (home / "Other.sac").write_text(OTHER % 2)
    assert run(program, *flags).stdout.split()[-1] == b"2"
    (home / "Other.sac").unlink()
    assert run(program, *flags).stdout.split()[-1] == b"1"


def test_a_module_that_takes_the_place_of_the_librarys_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text('use StdIO: all;\nuse Math: all;\nint main() { printf("%g\\n", sqrt(9.0)); return 0; }\n')
    for _ in range(2):
        assert run(program).stdout == b"3\n"
    (tmp_path / "Math.sac").write_text("module Math;\nexport all;\ndouble sqrt(double a) { return 0.5; }\n")
    assert run(program).stdout == b"0.5\n"


def test_an_included_file_and_a_macro_of_the_command_line_belong_to_a_program(tmp_path: Path) -> None:
    program, header = tmp_path / "p.sac", tmp_path / "h.h"
    program.write_text('use StdIO: all;\n#include "h.h"\nint main() { printf("%d %d\\n", A, B); return 0; }\n')
    header.write_text("#define A 1\n")
    for _ in range(2):
        assert run(program, "-D", "B=5").stdout == b"1 5\n"
    assert run(program, "-D", "B=6").stdout == b"1 6\n"
    header.write_text("#define A 2\n")
    assert run(program, "-D", "B=5").stdout == b"2 5\n"
    header.unlink()
    assert [place.code for place in run(program, "-D", "B=5").diagnostics] == ["E0113"]


def test_a_program_that_holds_the_time_is_not_kept(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text("use StdIO: all;\nint main() { printf(__TIME__); return 0; }\n")
    run(program)
    run(program)
    assert kept(tmp_path) == []


def test_an_error_stands_where_it_stood(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        "use StdIO: all;\nuse Array: all;\nuse CommandLine: all;\n#define AT(a, i) a[i]\n"
        "int pick(int[.] a, int i) | i >= 0 { return AT(a, i); }\n"
        "int main() { print(pick([1, 2], argc() - 1)); return 0; }\n"
    )
    for args in ([], ["x"]):
        assert run(program, args=args).status == 0
    first = run(program, args=["x", "y"])
    assert first.status == 1 and kept(tmp_path)
    direct = run_file(program, ["x", "y"], cwd=tmp_path)
    assert first.stderr == direct.stderr and first.diagnostics == direct.diagnostics
    assert "AT(a, i)" in first.stderr


def test_warnings_and_errors_that_may_wait_are_told_again(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        "use StdIO: all;\nuse Array: all;\nuse CommandLine: all;\n"
        "int main() { print(1); if (argc() > 1) { print([1, 2] + [1, 2, 3]); } return 0; }\n"
    )
    direct = [run_file(program, args, cwd=tmp_path) for args in ([], ["x"])]
    assert direct[0].status == 0 and direct[0].stderr and direct[1].status == 1
    for _ in range(2):
        again = [run(program, args=args) for args in ([], ["x"])]
        assert again == direct


def test_what_no_run_has_needed_is_made_of_the_texts(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        "use StdIO: all;\nuse Array: all;\nuse CommandLine: all;\n"
        "int[.] twice(int[.] a) { return a ++ a; }\n"
        "int main(int n) { if (n == 1) { print(reverse(twice([3, 1]))); } "
        "if (n == 2) { print(where([true, false], [1, 2], [3, 4])); } print(n); return n; }\n"
    )
    for n in (0, 0, 1, 1, 2, 2, 0):
        args = [f"{n} + 0"]
        again, direct = run(program, args=args), run_file(program, args, cwd=tmp_path)
        assert again == direct and again.status == n, again.stderr


def test_a_program_that_is_nested_deep_is_kept(tmp_path: Path) -> None:
    program, depth = tmp_path / "p.sac", 400
    nested = "if (x >= 0) { x = x + 1; " * depth + "x = x * 2; " + "}" * depth
    program.write_text(f'use Array: all; use StdIO: all; int main() {{ x = 0; {nested} printf("%d", x); return 0; }}\n')
    for _ in range(2):
        assert run(program).stdout == b"%d" % (2 * depth)
    assert kept(tmp_path)[0].stat().st_size > 100 * depth


def test_what_can_be_read_but_once_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "p.sac"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=lambda: pipe.write_text('use StdIO: all;\nint main() { printf("7\\n"); return 0; }\n'), daemon=True
    )
    writer.start()
    assert run(pipe).stdout == b"7\n"
    writer.join(10)
    assert kept(tmp_path) == []


def test_a_program_runs_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    program, folder = tmp_path / "p.sac", tmp_path / "gone"
    program.write_text('use StdIO: all;\nint main() { printf("7\\n"); return 0; }\n')
    folder.mkdir()
    done = subprocess.run(
        ["sh", "-c", f'rmdir "{folder}"; "{sys.executable}" -m sacpy run "{program}"'],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"7\n"), done.stderr


@pytest.mark.parametrize("name", ["files", "idle_for", "code"])
def test_what_lacks_something_is_as_good_as_damaged(name: str, tmp_path: Path) -> None:
    """As another version of sacpy may have left it."""
    program = tmp_path / "p.sac"
    program.write_text("int main() { return 3; }")
    made = contents(*Workspace().load(program), {}, {})
    assert made is not None
    data = marshal.dumps({key: value for key, value in made.items() if key != name})
    with pytest.raises(Unpacked):
        KeptProgram(data, Source(str(program), program.read_text()), lambda: pytest.fail("it was read"))


def test_what_is_damaged_is_not_used(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text('use StdIO: all;\nint main() { printf("7\\n"); return 0; }\n')
    run(program)
    (path,) = kept(tmp_path)
    cache = Cache(path.parent)
    whole = cache.read(path.stem)
    assert whole is not None
    for data in (whole[:-3], b"[", b"N", b"i\0\0\0\0", b"\xff" * 40):
        cache.write(path.stem, data)
        assert run(program).stdout == b"7\n"
    path.write_bytes(path.read_bytes()[:-1])
    assert run(program).stdout == b"7\n"


def test_files_that_have_changed_are_said_to_have(tmp_path: Path) -> None:
    program, other = tmp_path / "p.sac", tmp_path / "Other.sac"
    program.write_text(MAIN)
    other.write_text(OTHER % 1)
    with noting() as files:
        whole, found = Workspace().load(program)
    given = contents(whole, found, files, {})
    assert given is not None and str(other) in files
    source = Source(str(program), MAIN)
    KeptProgram(bytes_of(given), source, lambda: whole)
    other.write_text(OTHER % 2)
    with pytest.raises(Unpacked, match="changed"):
        KeptProgram(bytes_of(given), source, lambda: whole)


def test_what_is_read_later_belongs_to_a_program_too(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text("use StdIO: all;\nint main() { print(1); return 0; }\n")
    with noting() as files:
        whole, found = Workspace().load(program)
    given = contents(whole, found, files, {})
    assert given is not None
    again = KeptProgram(bytes_of(given), Source(str(program), program.read_text()), lambda: whole)
    assert again.grown({"/later.sac": "digest"}, {}) is None, "it has not been needed"
    again.whole()
    grown = again.grown({"/later.sac": "digest"}, {})
    assert grown is not None
    assert grown["files"] == {**files, "/later.sac": "digest"}
    assert again.grown({str(program): "of another text"}, {}) is None, "its parts are of two texts"


def test_where_a_command_runs_counts_only_for_relative_paths(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder, number in zip(folders, (1, 2), strict=True):
        folder.mkdir()
        (folder / "p.sac").write_text(MAIN)
        (folder / "Other.sac").write_text(OTHER % number)
    for program, count, printed in (("p.sac", 2, [b"1", b"2"]), (str(folders[0] / "p.sac"), 3, [b"1", b"1"])):
        for _ in range(2):
            done = [
                subprocess.run([sys.executable, "-m", "sacpy", "run", program], cwd=folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True)
                for folder in folders
            ]  # fmt: skip
            assert [run.stdout.split()[-1] for run in done] == printed
        assert len(kept(tmp_path)) == count
