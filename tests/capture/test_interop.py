"""Arrays of other libraries: the examples of the page on them, each where its library is installed, and that nothing is
copied on the way in."""

import contextlib
import importlib.util
import io
import linecache
import re
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.embedding.arguments import converter
from sacpy.lang.elaborate.usertypes import BUILTINS
from tests.tools import ROOT

PAGE = (ROOT / "docs" / "interop.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## (.*?)\n.*?```python\n(.*?)```\n```text\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
COMMON = PAGE[: PAGE.index("\n## ")].partition("```python\n")[2].partition("```")[0]
MODULES = {"pandas": "pandas", "Polars": "polars", "JAX": "jax", "PyTorch": "torch", "Dask": "dask", "xarray": "xarray"}
FRAMES = ("pandas", "polars")  # which copy an array when they take it
A = np.arange(6.0)


def needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def run(name: str, code: str, names: dict[str, Any]) -> str:
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), names)
    return printed.getvalue()


@pytest.mark.parametrize(("title", "code", "expected"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_an_example_prints_what_stands_below_it(title: str, code: str, expected: str) -> None:
    needs(MODULES[title])
    names: dict[str, Any] = {"__name__": "page"}
    run("<common>", COMMON, names)
    assert run(f"<{title}>", code, names) == expected


def test_every_library_has_its_example() -> None:
    assert [title for title, _, _ in EXAMPLES] == list(MODULES)


class OfInterface:
    """Somebody's array that has `__array_interface__` alone."""

    def __init__(self, array: Any) -> None:
        self.array, self.__array_interface__ = array, array.__array_interface__


class OfDlpack:
    """Somebody's array that speaks DLPack alone."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **named: Any) -> Any:
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def of_library(name: str) -> Any:
    module: Any = pytest.importorskip(name)
    return module.from_numpy(A) if name == "torch" else module.Series(A)


@pytest.mark.parametrize("make", [OfInterface, OfDlpack, "pandas", "polars", "torch"])
def test_memory_is_read_where_it_lies(make: Any) -> None:
    value = of_library(make) if isinstance(make, str) else make(A)
    taken = converter(BUILTINS["double"])(value)
    assert isinstance(taken, np.ndarray) and np.shares_memory(taken, value.to_numpy() if make in FRAMES else A)
    f = sacpy.Session(target="interp").compile("use Array: all; double[.] twice(double[.] a) { return a + a; }").twice
    assert f(value).tolist() == (A + A).tolist()


def test_arrays_of_others_are_refused_as_those_of_numpy_are() -> None:
    f = sacpy.Session(target="interp").compile("use Array: all; int f(int[.] a) { return sum(a); }").f
    assert f(OfDlpack(np.arange(4))) == f(OfInterface(np.arange(4, dtype=np.uint8))) == 6
    for value in (OfDlpack(A), OfInterface(A)):
        with pytest.raises(sacpy.SacError, match="an array of float64"):
            f(value)
    with pytest.raises(sacpy.SacError, match="does not fit"):
        f(OfDlpack(np.array([1 << 40])))
