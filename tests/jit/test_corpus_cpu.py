"""Every program of `tests/corpus/` does natively what it does interpreted: all that can be compiled is, at its first
call."""

import shlex
from pathlib import Path

import pytest

from tests.jit.corpus import run_natively
from tests.tools import ROOT, first_directive, read_directives

CORPUS = ROOT / "tests" / "corpus"
PROGRAMS = sorted(path for path in CORPUS.rglob("*.sac") if path.with_suffix(".out").exists())
LONG = {"distribution"}


def name_of(path: Path) -> str:
    return path.relative_to(CORPUS).with_suffix("").as_posix()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "program", [pytest.param(p, marks=[pytest.mark.long] * (name_of(p) in LONG), id=name_of(p)) for p in PROGRAMS]
)
def test_program_prints_what_it_should(program: Path, tmp_path: Path) -> None:
    directives = read_directives(program)
    stdin = first_directive(directives, "stdin")
    flags = [flag.replace("{here}", str(program.parent)) for flag in shlex.split(first_directive(directives, "flags"))]
    status, out, err, _ = run_natively(
        program,
        shlex.split(first_directive(directives, "args")),
        (program.parent / stdin).read_bytes() if stdin else b"",
        flags,
        tmp_path,
    )
    assert out.decode("latin-1") == program.with_suffix(".out").read_text(encoding="latin-1"), err
    assert status == int(first_directive(directives, "expect-status", "0")), err
