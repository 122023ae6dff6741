"""Programs of `tests/corpus/` and `programs/` do on the emulator what they do interpreted: every with-loop that can run
there does, and every access to memory is checked. A sample by default, all with `-m ''`."""

import shlex
from pathlib import Path

import pytest

from tests.jit.corpus import run_natively
from tests.jit.test_corpus_cpu import PROGRAMS as OF_CORPUS
from tests.test_programs import PROGRAMS, beside, name_of
from tests.tools import first_directive, read_directives

EVERY = 9  # one of so many is in the sample
DEAR = {"search"}  # ten seconds there


def sampled(programs: list[Path]) -> list[object]:
    return [
        pytest.param(p, marks=() if at % EVERY == 0 and name_of(p) not in DEAR else pytest.mark.long, id=name_of(p))
        for at, p in enumerate(programs)
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("program", sampled(OF_CORPUS))
def test_corpus(program: Path, tmp_path: Path) -> None:
    directives = read_directives(program)
    stdin = first_directive(directives, "stdin")
    flags = [flag.replace("{here}", str(program.parent)) for flag in shlex.split(first_directive(directives, "flags"))]
    status, out, err, _ = run_natively(
        program,
        shlex.split(first_directive(directives, "args")),
        (program.parent / stdin).read_bytes() if stdin else b"",
        flags,
        tmp_path,
        target="emulator",
    )
    assert out.decode("latin-1") == program.with_suffix(".out").read_text(encoding="latin-1"), err
    assert status == int(first_directive(directives, "expect-status", "0")), err


@pytest.mark.sample(2)
@pytest.mark.parametrize("program", sampled(PROGRAMS))
def test_programs(program: Path, tmp_path: Path) -> None:
    given = beside(program, ".stdin")
    status, out, err, _ = run_natively(
        program, stdin=given.read_bytes() if given.exists() else b"", cwd=tmp_path, target="emulator", strict_fp=True
    )
    assert (status, err) == (0, "")
    assert out.decode() == beside(program, ".expected").read_text(encoding="utf-8")
