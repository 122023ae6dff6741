"""Regions: what becomes one, what does not, and that programs with regions do what they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy.commands.installation import library_effects
from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.fingerprint import callees
from sacpy.jit.run.outline import OutlinedProgram, Purity
from sacpy.lang.core import Call, Let, Program
from sacpy.lang.core_verify import verify
from sacpy.lang.diagnostics import SacError
from sacpy.lang.infer import Inferrer, inferrer_for
from sacpy.workspace import Workspace

CORPUS = Path(__file__).parents[1] / "corpus"
HEAD = "use Array: all; use StdIO: all; use String: all; "


def outlined(text: str) -> tuple[OutlinedProgram, str, list[str]]:
    """The program, the key of `main`, and its regions."""
    program, _ = Workspace().load_text(HEAD + text)
    made = OutlinedProgram(program)
    key = program.main_key()
    return made, key, made.regions(key)


def outcome(program: Program, key: str, given: bytes = b"") -> tuple[object, bytes]:
    """What running `main` gives, and what it prints."""
    world = World.captured(given)
    result: object
    try:
        result = Evaluator(program, world).call(key, ())
    except Exit as stop:
        result = stop.status
    except SacError as error:
        result = [d.code for d in error.diagnostics]
    return result, world.out()


def test_work_between_prints_becomes_functions() -> None:
    program, key, regions = outlined(
        "int main() { a = iota(10); b = a * a + 1; print(sum(b)); c = b * 2; print(sum(c + a)); return 0; }"
    )
    assert regions == [f"{key}@1", f"{key}@2"]
    calls = [s.rhs for s in program.function(key).body.statements if isinstance(s, Let) and isinstance(s.rhs, Call)]
    assert len(calls) == 4  # two regions, two prints
    assert outcome(program, key)[1] == outcome(program.program, key)[1]


def test_results_are_what_is_used_later() -> None:
    program, _, (region,) = outlined("int main() { a = iota(10); b = a * a; c = b + a; print(sum(c)); return 0; }")
    assert len(program.function(region).returns) == 1


def test_functions_without_effects_stay_whole() -> None:
    program, key, regions = outlined(
        "int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i; } return s; } int main() { return f(3); }"
    )
    assert regions == []
    assert program.function(key) is program.program.function(key)


@pytest.mark.parametrize(
    "body", ["print(1 + 2);", 's = "abc"; print(s); print(strlen(s));', "a = [1, 2, 3]; print(a); print(a[0]);"]
)
def test_too_little_work_stays_where_it_is(body: str) -> None:
    assert outlined(f"int main() {{ {body} return 0; }}")[2] == []


def test_loops_with_effects_have_regions_inside() -> None:
    program, key, regions = outlined(
        "int main() { a = iota(9); for (i = 0; i < 3; i++) { a = a * 2 + i; a = a - i * 3; print(sum(a)); } if (a[0] "
        "== 0) { b = a + a; print(sum(b * b)); } return 0; }"
    )
    assert len(regions) == 2
    assert outcome(program, key) == outcome(program.program, key)


PROGRAMS = [
    "control-flow",
    "io-in-loops",
    "evaluation-order",
    "output-before-an-error",
    "violation-at-run-time",
    "struct-control-flow",
    "lazy-operators",
    "kernel-kmeans",
    "several-results",
    "ranks-that-change",
    "wl-void",
    "input-scan",
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_regions_do_what_they_did(name: str) -> None:
    path = CORPUS / f"{name}.sac"
    program, _ = Workspace(search=[CORPUS]).load(path)
    given = path.with_suffix(".in")
    stdin = given.read_bytes() if given.exists() else b""
    made, key = OutlinedProgram(program), program.main_key()
    assert outcome(made, key, stdin) == outcome(program, key, stdin)
    for region in made.regions(key):
        function = made.function(region)
        assert verify(function, made) == []
        told = inferrer_for(made).infer(function)  # from what is known of the whole
        again = Inferrer(made).infer(function, [told.types[p.bind.name].shape for p in function.signature.params])
        assert (told.types, told.results) == (again.types, again.results)
    assert verify(made.function(key), made) == []


CALLS = 'print(cumsum([1.0, 2.0])); print(sum([1, 2])); print(sort([2, 1])); print(strlen("x"));'
USES = f"{HEAD} use Scan: all; use Sort: all;"


def reached(program: Program, key: str) -> set[str]:
    """All functions that a function leads to."""
    found: set[str] = set()
    left = [key]
    while left:
        key = left.pop()
        if key not in found:
            found.add(key)
            if program.signature(key).native is None:
                left += callees(program.function(key))
    return found


def test_of_the_library_is_believed_what_looking_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    program, _ = Workspace().load_text(f"{USES} int main() {{ {CALLS} return 0; }}")
    library = program.world.loader.read_library()
    if not library.pure:  # it has been changed since it was installed
        monkeypatch.setattr(library, "pure", library_effects(library))
    keys = reached(program, program.main_key())
    told, seen = Purity(program), Purity(program, ask=False)
    assert {k: told.function(k) for k in keys} == {k: seen.function(k) for k in keys}
    known = [k for k in keys if program.known_pure(k) is not None]
    assert len(known) > 20 and {program.known_pure(k) for k in known} == {True, False}


def test_nothing_is_believed_of_a_module_in_the_place_of_the_librarys(tmp_path: Path) -> None:
    own = "int width(int a) { print(a); return a; }"  # there is a function under this key, without effects
    (tmp_path / "Sort.sac").write_text(f"module Sort; use ScalarArith: all; use ScalarIO: all; export all; {own}")
    text = "use Sort: all; use ScalarIO: all; int main() { print(width(1)); return 0; }"
    program, _ = Workspace(search=[tmp_path]).load_text(text)
    (key,) = (k for k in reached(program, program.main_key()) if k.startswith("Sort::"))
    assert key == "Sort::width/0" and program.known_pure(key) is None and not Purity(program).function(key)


def test_of_a_type_of_the_programs_nothing_is_believed() -> None:
    text = "struct P { double x; }; int main() { p = [P { 1.0 }]; print(shape(take([1], p))); return 0; }"
    program, _ = Workspace().load_text(HEAD + text)
    keys = [k for k in reached(program, program.main_key()) if k.endswith("P>")]
    assert keys and all(program.known_pure(k) is None for k in keys)
