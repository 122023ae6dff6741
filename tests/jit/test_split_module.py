"""Modules in several texts: they are the same program, and are translated at the same time."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sacpy import Session
from sacpy.jit.host import compile as compiling
from sacpy.jit.host import compilers, objects, split_module
from sacpy.jit.host.split_module import split
from sacpy.jit.host.translate import Task, translated
from sacpy.jit.options import Options

PROGRAM = """
use Array: all; use Math: all;
inline double[.] scaled(double[.] a) { return { [i] -> exp(a[i]) * 2.0 | [i] < shape(a) }; }
double[.], double, double run(double[.] a, int n)
{
  b = scaled(a);
  for (k = 0; k < n; k++) {
    b = with { ([1] <= [i] < shape(b) - 1) : (b[i - 1] + b[i + 1]) * 0.5; } : modarray(b);
    a = { [i] -> 0.5 * a[i] + b[i] | [i] < shape(a) };
  }
  m = with { ([0] <= [i] < shape(b)) : abs(b[i] - a[i]); } : fold(max, 0.0);
  s = with { ([0] <= [i] < shape(b)) : b[i] * a[i]; } : fold(+, 0.0);
  return (modarray(a, [0], with { ([2] <= [i] < [5]) : 1.0; } : fold(+, m)), m, s);
}
"""


@pytest.fixture(autouse=True)
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path))


@pytest.fixture
def finely(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """However little there is to do, a module is split, into three; gives how many texts there were each time."""
    seen: list[int] = []

    def counted(text: str, most: int) -> list[str]:
        seen.append(len(texts := split(text, 3)))
        return texts

    monkeypatch.setattr(compiling, "WHOLE", 0)
    monkeypatch.setattr(split_module, "SHARE", 20)
    monkeypatch.setattr(split_module, "split", counted)
    return seen


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of the program."""
    found: list[str] = []
    made = compiling.compile_object
    monkeypatch.setattr(compiling, "compile_object", lambda ir, options: found.append(ir) or made(ir, options))
    Session(target="cpu").compile(PROGRAM).run(np.linspace(0, 1, 3000), 4)
    return found[0]


def function_names(text: str, head: str) -> list[str]:
    return re.findall(rf"^{head}[^@\n]*@([\w.$-]+|\"[^\"]*\")\(", text, re.MULTILINE)


@pytest.mark.parametrize("links", ["sacpy", "llvm"])
def test_a_program_in_several_objects_gives_the_same(
    finely: list[int], links: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if links == "llvm":
        monkeypatch.setattr(objects, "suits", lambda: False)
    a = np.linspace(-1, 1, 3000)
    found = Session(target="cpu").compile(PROGRAM).run(a, 4)
    assert finely == [3]
    wanted = Session(target="interp").compile(PROGRAM).run(a, 4)
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-13)


def test_bundles_are_kept_and_loaded(finely: list[int]) -> None:
    results = []
    for _ in range(2):
        results.append(Session(target="cpu").compile(PROGRAM).run(np.linspace(-1, 1, 3000), 4))
    assert finely == [3]  # the second time it was in the cache
    for x, y in zip(*results):
        np.testing.assert_array_equal(x, y)


def test_each_function_lies_in_one_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_module, "SHARE", 20)
    texts = split(text, 3)
    assert len(texts) == 3
    copied = {name for name in function_names(text, "define") if name.startswith("sacpy.")}
    defined = [name for part in texts for name in function_names(part, "define") if name not in copied]
    assert sorted(defined) == sorted(set(function_names(text, "define")) - copied)
    assert {"sacpy_entry"} | {n for n in defined if n.startswith("f.")} <= set(function_names(texts[0], "define"))
    for part in texts:
        translated(Task(part, verify=True))
        called = set(re.findall(r"@(chunk\.\d+|fill\.\d+|join\.\d+)", part))
        assert called <= {*function_names(part, "define"), *function_names(part, "declare hidden")}


def test_what_vectors_are_computed_by_is_known_in_each_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_module, "SHARE", 20)
    kept = [line for line in text.splitlines() if line.startswith(("@llvm.compiler.used", "attributes #"))]
    assert kept
    for part in split(text, 3):
        assert [line for line in part.splitlines() if line in kept] == kept


def test_little_work_and_work_in_one_function_are_not_split(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert split(text, 1) == [text]
    assert split("", 4) == [""]
    whole = len(re.findall("^define", text, re.MULTILINE))
    monkeypatch.setattr(split_module, "SHARE", 10**6)
    assert whole > 3 and split(text, 4) == [text]
    monkeypatch.setattr(split_module, "SHARE", 400)
    line = "  %a = add i32 1, 2\n"
    large = f"define internal i32 @chunk.1(ptr %frame, ptr noalias %env) noinline {{\n{line * 1000}  ret i32 0\n}}\n"
    small = f"define i32 @sacpy_entry(ptr %a) {{\n{line * 300}  ret i32 0\n}}\n"
    assert split(small + large, 4) == [small + large]
    assert len(split(small + large + large.replace("chunk.1", "chunk.2"), 4)) == 3


SMALL = "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n"


@pytest.mark.parametrize(("processors", "parts"), [(1, 1), (2, 2), (3, 3), (64, 4)])
def test_there_are_as_many_parts_as_processors_and_no_more_than_are_of_use(
    text: str, monkeypatch: pytest.MonkeyPatch, processors: int, parts: int
) -> None:
    counts: list[int] = []
    monkeypatch.setattr(compiling, "WHOLE", 0)
    monkeypatch.setattr(compiling, "_free", lambda: processors)
    monkeypatch.setattr(split_module, "split", lambda ir, most: counts.append(most) or [ir])
    compiling.compile_object(text, Options())
    assert counts == [parts]


def test_whoever_is_interrupted_ends_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Endless:
        def result(self) -> bytes:
            raise KeyboardInterrupt

        def end(self) -> None:
            ended.append(self)

    monkeypatch.setattr(compilers, "begun", lambda task: Endless())
    with pytest.raises(KeyboardInterrupt):
        compiling._made_beside([Task(SMALL)] * 4)
    assert len(ended) == 3


def lost(task: Task) -> None:
    raise compilers.CompilerLost("it has ended")


class Lost:
    def result(self) -> bytes:
        raise compilers.CompilerLost("it took too long")

    def end(self) -> None:
        raise AssertionError("it has ended")


@pytest.mark.parametrize("begun", [lost, lambda task: None, lambda task: Lost()])
def test_where_no_process_is_free_or_one_is_lost_this_one_does_it(
    begun: Callable[[Task], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilers, "begun", begun)
    codes = compiling._made_beside([Task(SMALL.replace("@f", f"@{name}")) for name in ("first", "second", "third")])
    for code, name in zip(codes, (b"first", b"second", b"third")):
        assert name in code


def test_an_error_of_llvm_is_the_callers_and_the_process_goes_on() -> None:
    pool = compilers._Pool(1)
    translation = pool.begun(Task("nonsense"))
    assert translation is not None and pool.begun(Task(SMALL)) is None  # there is no other
    with pytest.raises(RuntimeError, match="expected top-level entity"):
        translation.result()
    assert pool.translated(Task(SMALL))[:4] == b"\x7fELF"
    assert len(pool._all) == 1  # by the same one
    pool.end()
