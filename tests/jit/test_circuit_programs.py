"""Programs print the same without array short-circuiting; with it they run in `test_programs_cpu` and
`test_corpus_cpu`."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.jit.corpus import run_natively
from tests.jit.test_corpus_cpu import PROGRAMS as CORPUS
from tests.test_programs import PROGRAMS, beside, name_of
from tests.tools import first_directive, read_directives

SAMPLE = {"needleman_wunsch", "time_warping"}


@pytest.mark.parametrize(
    "program",
    [pytest.param(p, marks=[] if p.stem in SAMPLE else pytest.mark.long, id=name_of(p)) for p in PROGRAMS],
)
def test_a_program_prints_the_same_without_circuits(program: Path, tmp_path: Path) -> None:
    given = beside(program, ".stdin")
    stdin = given.read_bytes() if given.exists() else b""
    status, out, err, _ = run_natively(program, stdin=stdin, cwd=tmp_path, short_circuit=False)
    assert (status, err) == (0, "")
    assert out.decode() == beside(program, ".expected").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("program", CORPUS, ids=lambda path: path.stem)
def test_the_corpus_prints_the_same_bit_by_bit(program: Path, tmp_path: Path) -> None:
    directives = read_directives(program)
    stdin = first_directive(directives, "stdin")
    found = [
        run_natively(
            program,
            shlex.split(first_directive(directives, "args")),
            (program.parent / stdin).read_bytes() if stdin else b"",
            [f.replace("{here}", str(program.parent)) for f in shlex.split(first_directive(directives, "flags"))],
            tmp_path,
            strict_fp=True,
            short_circuit=on,
        )[:3]
        for on in (True, False)
    ]
    assert found[0] == found[1]
