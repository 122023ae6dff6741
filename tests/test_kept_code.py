"""Generated Python that is kept between runs of a program: the next run generates nothing, and means the same."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.interp.engine import Asking, Engine
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.kept_code import KeptCode, Loadable, variant_of
from sacpy.interp.world import World
from sacpy.jit.cache import Cache, native_folder
from sacpy.jit.run.worth import asks
from sacpy.lang.core import Block, CheckedProgram, Function, Program
from sacpy.lang.core_printer import print_block
from sacpy.lang.diagnostics import SacError
from sacpy.lang.files import noting
from sacpy.lang.kept_programs import KeptProgram, bytes_of, contents, packing_of
from sacpy.lang.source import Source
from sacpy.workspace import Workspace
from tests.test_programs import PROGRAMS, name_of
from tests.tools import ROOT

START = """
import sys
import sac_lang
status = sac_lang.main()
generated = [m for m in ("sacpy.interp.codegen", "sacpy.interp.wrappers") if m in sys.modules]
sys.stderr.write(f"{status} {generated}\\n")
"""
KINDS = """
use StdIO: all;
use Array: all;
use Math: all;
use String: all;

struct P { double[2] at; int n; };

int[*] grown(int[*] a) { return { iv -> a[iv] + 1 | iv < shape(a) }; }

int[.] checked(int[*] v) { return (:int[.]) v; }

int squares(int n)
{
  s = 0;
  for (i = 0; i < n; i++) { if (i % 3 == 1) { s += i * i; } }
  return s;
}

int main()
{
  p = P { [1.5, 2.5], 3 };
  p.at[0] = p.at[0] + 1.0;
  print(p.at);
  print(grown([[1, 2], [3, 4]]));
  print(grown(7));
  print(checked([1, 2, 3]));
  printf("%d %s %g\\n", squares(100), "texts", sqrt(2.0));
  print(with { ([0] <= iv < [0]) : [iv[0], 1, 2]; } : genarray([0]));
  print(sum({ [i, j] -> tod(i) * tod(j) | [i, j] < [20, 20] }));
  print(all([1, 2] == [1, 3]) ? reverse([1, 2, 3]) : [[1, 2], [3, 4]][1]);
  return 5;
}
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path / "cache"))


def started(program: Path, *flags: str, args: Sequence[str] = ()) -> tuple[str, str]:
    """What a program prints in a process of its own; its status and what generated Python in it."""
    done = subprocess.run(
        [sys.executable, "-c", START, "run", *flags, str(program), *args],
        cwd=program.parent, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.fixture
def kinds(tmp_path: Path) -> Path:
    program = tmp_path / "kinds.sac"
    program.write_text(KINDS)
    return program


@pytest.mark.parametrize("target", ["interp", "auto", "cpu"])
def test_a_second_run_generates_nothing(target: str, kinds: Path) -> None:
    first, (again, said) = started(kinds, "--target", target), started(kinds, "--target", target)
    assert first[0] == again and "6" in again
    assert said == "5 []\n"


def test_each_target_has_its_own(kinds: Path) -> None:
    flags = [("--target", "interp"), ("--target", "auto"), ("--target", "interp", "--strict-fp")]
    found = [started(kinds, *f) for f in (*flags, *flags)]
    assert len({printed for printed, _ in found}) == 1
    assert [said for _, said in found[3:]] == ["5 []\n"] * 3
    assert len({variant_of(target, strict) for target in ("auto", "interp") for strict in (True, False)}) == 4


def test_a_generator_that_has_changed_has_others(monkeypatch: pytest.MonkeyPatch) -> None:
    before = variant_of("auto", False)
    monkeypatch.setattr("sacpy.interp.kept_code.folder_digest", lambda *folder: "of a file that was written")
    assert variant_of("auto", False) != before
    monkeypatch.undo()
    monkeypatch.setattr("sacpy.interp.kept_code.MAGIC_NUMBER", b"of another Python")
    assert variant_of("auto", False) != before


def test_code_that_is_none_is_not_used(kinds: Path) -> None:
    first = started(kinds, "--target", "interp")
    cache = Cache(native_folder())
    assert cache.folder is not None
    (path,) = cache.folder.glob("program-*")
    whole = cache.read(path.stem)
    assert whole is not None
    for data in (b"", b"[", b"N", b"(\x02\0\0\0NN"):
        contents = marshal.loads(whole)
        contents["code"] = dict.fromkeys(contents["code"], data)
        cache.write(path.stem, marshal.dumps(contents))
        assert started(kinds, "--target", "interp")[0] == first[0]


def test_an_error_is_told_as_the_first_time(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        "use StdIO: all;\nuse Array: all;\n"
        "int at(int[.] v, int i)\n{\n  return v[i] + 1;\n}\n\n"
        "int[n] same(int[n] a, int[n] b) { return a + b; }\n\n"
        'int main(int n)\n{\n  printf("begin\\n");\n'
        "  print(n == 2 ? same([1], iota(n)) : [at([4, 5], n)]);\n  return 0;\n}\n"
    )
    errors = []
    for n in ("1", "5", "2", "5", "2", "1"):
        done = subprocess.run(
            [sys.executable, "-m", "sacpy", "run", "--target", "interp", str(program), n],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        errors.append((done.returncode, done.stdout, done.stderr))
    assert errors[1] == errors[3] and errors[2] == errors[4] and errors[0] == errors[5]
    assert "index [5] is out of range for the shape [2]" in errors[3][2] and "p.sac:5:10" in errors[3][2]
    assert "the function is int[n] same(int[n] a, int[n] b)" in errors[4][2]


# ---------------------------------------------------------------- in this process


def kept(program: Path, run: Callable[[CheckedProgram, KeptCode], Any]) -> tuple[KeptProgram, KeptCode]:
    """A program, and the code that was generated in a run of it, as the next run has them."""
    with noting() as files:
        whole, found = Workspace().load(program)
    code = KeptCode()
    run(whole, code)
    packed = code.packed(packing_of(files))
    assert packed is not None and code.packed(packing_of(files)) == packed
    made = contents(whole, found, files, {"it": packed})
    assert made is not None
    source = Source(str(program), program.read_text(encoding="utf-8"))
    again = KeptProgram(bytes_of(made), source, lambda: pytest.fail("it was made of its texts"))
    return again, KeptCode(again.code["it"], again.packing)


def interpreted(program: CheckedProgram, code: KeptCode, engine: Engine | None = None, stdin: bytes = b"") -> bytes:
    world = World.captured(stdin)
    evaluator = Evaluator(program, world, code=code, engine=engine)
    evaluator.call(program.main_key(), ())
    return world.out()


class Loud(KeptCode):
    """Says what it does not have."""

    def find(self, name: str, as_written: bool, again: Callable[[], Any]) -> Loadable | None:
        found = super().find(name, as_written, again)
        assert found is not None, name
        return found


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.stem in ("calculator", "lu", "standings")], ids=name_of)
def test_what_is_kept_runs_as_what_was_generated(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[bytes] = []
    stdin = (program.with_suffix(".stdin")).read_bytes() if program.with_suffix(".stdin").exists() else b""
    monkeypatch.chdir(program.parent)
    again, code = kept(program, lambda p, c: printed.append(interpreted(p, c, stdin=stdin)))
    code.__class__ = Loud
    assert interpreted(again, code, stdin=stdin) == printed[0] != b""
    assert code.packed(again.packing) is None


class Never:
    """A loop that goes on interpreted."""

    first = 1 << 62


class Asked:
    """An engine that is asked, and has nothing run natively."""

    asks = staticmethod(asks)

    def prepared(self, program: Program) -> Program:
        return program

    def wrap(self, evaluator: Evaluator, function: Function, interpreted: Callable[[], Any], put: Any = None) -> Any:
        return interpreted()

    def turn(self, evaluator: Evaluator, key: str, asking: Asking) -> Any:
        return Never()

    def stop(self) -> None: ...


def asked(code: KeptCode, monkeypatch: pytest.MonkeyPatch) -> list[Asking]:
    """Gathers the loops of what is found or added."""
    gathered: list[Asking] = []

    def gather(needs: Any) -> None:
        gathered.extend(need[1] for need in needs.values() if need[0] == "turn")

    find, add = code.find, code.add

    def finding(*where: Any) -> Loadable | None:
        found = find(*where)
        gather({} if found is None else found[2])
        return found

    monkeypatch.setattr(code, "find", finding)
    monkeypatch.setattr(code, "add", lambda *made: (gather(made[-1]), add(*made)))
    return gathered


@pytest.mark.parametrize("wanted", [False, True])
def test_loops_come_back_as_they_were(wanted: bool, kinds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept where somebody has wanted them, and generated again otherwise."""
    loops: list[Asking] = []

    def first(program: CheckedProgram, code: KeptCode) -> None:
        found = asked(code, monkeypatch)
        interpreted(program, code, Asked())
        loops.extend(found)
        for loop in loops:
            loop.wanted = wanted

    again, code = kept(kinds, first)
    generated: list[str] = []
    generate = Evaluator._generate
    monkeypatch.setattr(
        Evaluator, "_generate", lambda self, *what: (generated.append(what[1]), generate(self, *what))[1]
    )
    found = asked(code, monkeypatch)
    interpreted(again, code, Asked())
    assert generated == [] and len(found) == len(loops) > 3

    def written(asking: Asking) -> tuple[str, list[tuple[str, str]], bool, float | None]:
        text = print_block(Block((asking.statement,)))
        return text, list(asking.bases.items()), asking.is_loop, asking.work

    assert sorted(map(written, found), key=str) == sorted(map(written, loops), key=str)
    assert (generated == []) == wanted
    more = code.packed(again.packing)
    assert (more is None) == wanted, "what has been wanted now is kept from now on"


def test_what_lives_in_one_process_is_not_kept(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text("use Array: all; external int seven(); int main() { return seven() * 2; }")

    def run(program: CheckedProgram, code: KeptCode, seven: int = 7) -> int:
        evaluator = Evaluator(program, World.captured(), code=code, bindings=lambda head: lambda world: seven)
        (found,) = evaluator.call(program.main_key(), ())
        return int(found)

    again, code = kept(program, run)
    assert run(again, code, 8) == 16


def test_values_of_all_kinds_come_back(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        "use Array: all; use String: all; use Constants: all;\n"
        "double[.], char[.], string, float, bool[.,.], long[.] main() { return ("
        "[-0.0, 1e308 * 10.0, 0.1], ['a', 'b'], \"c\\n\\\"d\", 1.5f, [[true], [false]], [-9223372036854775807l, 3l]); }"
    )
    results: list[Any] = []

    def run(program: CheckedProgram, code: KeptCode) -> None:
        results.append(Evaluator(program, World.captured(), code=code).call(program.main_key(), ()))

    again, code = kept(program, run)
    run(again, code)
    for a, b in zip(*results, strict=True):
        assert type(a) is type(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)
        assert np.array_equal(a, b) and repr(a) == repr(b)


def test_what_fails_to_be_right_is_told_by_the_kept_code(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    program.write_text(
        "use Array: all; int[*] some(int n) { return n == 0 ? [1, 2] : [[1], [2]]; }\n"
        "int[.] f(int n) { return (:int[.]) some(n); } int main() { return sum(f(0)); }"
    )

    def run(program: CheckedProgram, code: KeptCode, n: int = 0) -> Any:
        evaluator = Evaluator(program, World.captured(), code=code)
        assert evaluator.call(program.main_key(), ()) == (3,)
        return partial(evaluator.call, "_MAIN::f/0", (n,))

    again, code = kept(program, run)
    with pytest.raises(SacError, match="E0617"):
        run(again, code, 1)()


GENERATED = """
import sys
from pathlib import Path
from sacpy.interp.evaluator import Evaluator
from sacpy.workspace import Workspace
for path in sys.argv[1:]:
    program, _ = Workspace().load(Path(path))
    evaluator = Evaluator(program, None)
    for key in program.user_keys([]):
        print(evaluator.source(key))
"""


def test_what_is_generated_again_is_the_same(kinds: Path) -> None:
    """In every process: names of sets come in no order of their own."""
    programs = [str(kinds), *(str(p) for p in PROGRAMS if p.stem in ("frontiers", "standings", "multigrid", "lu"))]
    command = [sys.executable, "-c", GENERATED, *programs]
    settings = [{**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed} for seed in ("1", "2", "3")]
    texts = {subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout for env in settings}
    (text,) = texts
    assert text.count("def ") > 30


def test_what_is_kept_as_written_is_not_generated_again() -> None:
    code = KeptCode()
    code._kept["f", True] = b"kept"
    code.later("f", lambda: pytest.fail("it is there"))
    assert code.is_complete
    made: Any = (object(),)
    code.later("g", lambda: made)
    assert not code.is_complete
    code.complete()
    assert code.is_complete and code._made == {("g", True): made}
