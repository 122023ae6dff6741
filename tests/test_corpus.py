"""Every program of `tests/corpus/` prints what its `.out` file says and exits with the status it announces.

Directives in a program's comments: `expect-status: 3` (0 otherwise), `args: ...` (the program's command line),
`stdin: FILE` (beside the program), `flags: ...` (options of `sacpy run`). Programs in folders are programs too when a
`.out` file stands beside them; the other files there are their modules.
"""

import shlex
from pathlib import Path

import pytest

from tests.tools import ROOT, first_directive, read_directives, run_file

CORPUS = ROOT / "tests" / "corpus"
PROGRAMS = sorted(path for path in CORPUS.rglob("*.sac") if path.with_suffix(".out").exists())


def test_corpus_is_complete() -> None:
    assert len(PROGRAMS) >= 80
    for out in CORPUS.rglob("*.out"):
        assert out.with_suffix(".sac").exists(), f"{out.name} belongs to no program"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.relative_to(CORPUS).with_suffix("").as_posix())
def test_program_prints_what_it_should(program: Path, tmp_path: Path) -> None:
    directives = read_directives(program)
    stdin = first_directive(directives, "stdin")
    flags = [flag.replace("{here}", str(program.parent)) for flag in shlex.split(first_directive(directives, "flags"))]
    result = run_file(
        program,
        args=shlex.split(first_directive(directives, "args")),
        stdin=(program.parent / stdin).read_bytes() if stdin else b"",
        flags=flags,
        cwd=tmp_path,
    )
    assert result.stdout.decode("latin-1") == program.with_suffix(".out").read_text(encoding="latin-1"), result.stderr
    assert result.status == int(first_directive(directives, "expect-status", "0")), result.stderr
    assert "Traceback" not in result.stderr
