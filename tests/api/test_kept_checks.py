"""A text that has been loaded before and was right is not checked again; whatever has changed is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sacpy
from sacpy.jit.cache import Cache, native_folder
from sacpy.lang.diagnostics import render_text
from sacpy.lang.elaborate.program import ElaboratedProgram

TEXT = """use Array: all;
#include "sizes.h"
#warning in the text
int[.] f(int[.] v) { return v + SIZE; }
int[2] pair(int a) { return [a, a]; }
int g(int n) { return n < 2 ? n : g(n - 1) + g(n - 2); }
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """As many as there have been checks."""
    seen: list[None] = []
    check = ElaboratedProgram.check

    def counting(program: ElaboratedProgram, *args: object) -> object:
        seen.append(None)
        return check(program, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ElaboratedProgram, "check", counting)
    return seen


def of(target: str = "interp", **settings: object) -> sacpy.Session:
    return sacpy.Session(target=target, world=sacpy.World(files=True), **settings)  # type: ignore[arg-type]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "sizes.h").write_text("#define SIZE 3\n")
    path = tmp_path / "p.sac"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_a_right_text_is_checked_once(target: str, program: Path, checks: list[None]) -> None:
    first, second = (of(target).load(program) for _ in range(2))
    assert len(checks) == 1
    for module in (first, second):
        assert np.array_equal(module.f([1, 2]), [4, 5]) and module.g(10) == 55
        assert [d.code for d in module.warnings] == ["W0118"]
        assert render_text(module.warnings) == render_text(first.warnings)
    assert dir(first) == dir(second) and str(second.pair.__signature__) == str(first.pair.__signature__)
    with pytest.raises(sacpy.SacError, match="range"):
        of(target).compile("use Array: all; int f(int[.] v) { return v[7]; }").f([1])


def test_strings_too(checks: list[None]) -> None:
    text = "use Array: all; int f(int n) { return sum(iota(n)); }"
    assert [of().compile(text).f(5) for _ in range(3)] == [10] * 3
    assert len(checks) == 1
    assert of().compile(text, "another name").f(5) == 10 and of().compile(text + " ").f(5) == 10
    assert len(checks) == 3


def test_what_is_wrong_is_told_each_time(checks: list[None]) -> None:
    told = []
    for _ in range(2):
        with pytest.raises(sacpy.SacError) as error:
            of().compile("use Array: all; int f(int[3] v) { return v[4]; }")
        told.append(str(error.value))
    assert told[0] == told[1] and len(checks) >= 2


def macro(program: Path) -> None:
    (program.parent / "sizes.h").write_text("#define SIZE 4\n")


def text(program: Path) -> None:
    program.write_text(TEXT.replace("v + SIZE", "v + SIZE + 1"))


def library(program: Path) -> None:
    """A module of the user's own takes the place of the library's."""
    (program.parent / "Array.sac").write_text(
        "module Array; export all; int[.] +(int[.] v, int n) { return with { } : genarray(_shape_A_(v), n + 1); } "
        "int +(int a, int b) { return _add_SxS_(a, b); } int -(int a, int b) { return _sub_SxS_(a, b); } "
        "bool <(int a, int b) { return _lt_SxS_(a, b); }"
    )


@pytest.mark.parametrize("change", [macro, text, library])
def test_what_has_changed_is_seen(change: Callable[[Path], None], program: Path, checks: list[None]) -> None:
    assert np.array_equal(of().load(program).f([1, 2]), [4, 5])
    change(program)
    found = of().load(program).f([1, 2])
    assert not np.array_equal(found, [4, 5]) and len(checks) == 2


def test_settings_make_other_texts(checks: list[None]) -> None:
    text = "int f() { return SIZE; }"
    assert [of(defines={"SIZE": n}).compile(text).f() for n in ("1", "2", "1")] == [1, 2, 1]
    assert len(checks) == 2


def test_modules_beside_a_program_are_checked_each_time(program: Path, checks: list[None]) -> None:
    (program.parent / "Own.sac").write_text("module Own; export all; int seven() { return 7; }")
    program.write_text("use Own: all; int f() { return seven(); }")
    assert [of().load(program).f() for _ in range(2)] == [7, 7] and len(checks) == 2
    (program.parent / "Own.sac").write_text("module Own; export all; int seven() { return nothing; }")
    with pytest.raises(sacpy.SacError, match="nothing"):
        of().load(program)


def test_what_is_damaged_is_not_used(program: Path, checks: list[None]) -> None:
    of().load(program)
    cache = Cache(native_folder())
    assert cache.folder is not None
    (path,) = cache.folder.glob("program-*")
    whole = cache.read(path.stem)
    assert whole is not None
    for number, data in enumerate((whole[:-3], b"[", b"N", b"(\x02\0\0\0NN", b"\xff" * 40)):
        cache.write(path.stem, data)
        assert np.array_equal(of().load(program).f([1, 2]), [4, 5])
        assert len(checks) == 2 + number


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(sacpy.SacError, match=r"nothing\.sac"):
        of().load(tmp_path / "nothing.sac")


def test_who_may_include_less_is_told_so(program: Path) -> None:
    of().load(program)
    with pytest.raises(sacpy.SacError, match="E0750"):
        sacpy.Session(target="interp").compile(TEXT.replace("sizes.h", "/etc/hostname"))
    secret = f'#include "{program.parent / "sizes.h"}"\nint f() {{ return SIZE; }}'
    assert of().compile(secret).f() == 3
    with pytest.raises(sacpy.SacError, match="E0750"):
        sacpy.Session(target="interp").compile(secret)
