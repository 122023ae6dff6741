"""NPY, CSV and `:read`: NumPy's files and tables of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.interp.errors import Fault
from sacpy.interp.natives.npy import array_of, table_of
from sacpy.interp.world import World
from sacpy.repl.commands import obey
from sacpy.repl.engine import Engine
from sacpy.workspace import Workspace
from tests.tools import run_file

ARRAYS = [
    np.arange(6, dtype=np.int32).reshape(2, 3), np.array(7, np.int32), np.zeros((0, 3), np.float64),
    np.array([np.nan, -0.0, np.inf]), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(3, dtype=">i8"),
    np.array([True, False]), np.zeros((1,) * 7, np.uint8), np.arange(4, dtype=np.float32)[::2],
]  # fmt: skip


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_what_numpy_saves_is_read(array: np.ndarray[Any, Any], version: tuple[int, int], tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    found = array_of((tmp_path / "a.npy").read_bytes(), "a.npy")
    np.testing.assert_array_equal(found, array)
    assert (found.shape, found.dtype) == (array.shape, array.dtype.newbyteorder("="))


def test_what_is_written_numpy_loads(tmp_path: Path) -> None:
    program = tmp_path / "p.sac"
    text = 'use NPY: all; use Array: all; int main() { writeNPY("a.npy", tof([[1.5, -2.0]])); writeNPY("b.npy", 3); '
    program.write_text(text + 'return readNPYInt("b.npy"); }')
    result = run_file(program, cwd=tmp_path)
    assert (result.status, result.stderr) == (3, "")
    found = np.load(tmp_path / "a.npy")
    assert (found.dtype, found.tolist()) == (np.float32, [[1.5, -2.0]])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it does not begin as one"),
        (b"\x93NUMPY\x09\x00\x00\x00", "it has version 9 of the format"),
        (b"\x93NUMPY\x01\x00\x02\x00{}", "its head cannot be understood"),
        (b"\x93NUMPY\x01\x00\x02\x00{(", "its head cannot be understood"),
    ],
)
def test_other_files_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(Fault, match=said):
        array_of(data, "f")


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros(3, np.complex128), "its elements are of type complex128"),
        (np.zeros(3, np.float16), "its elements are of type float16"),
        (np.zeros(3, "U4"), "its elements are of type <U4"),
        (np.zeros(3, [("x", "i4")]), "its elements are records"),
    ],
)
def test_elements_that_sac_does_not_have(array: np.ndarray[Any, Any], said: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(Fault, match=said):
        array_of((tmp_path / "a.npy").read_bytes(), "a.npy")


def test_a_file_that_ends_too_early_and_one_that_lies_about_its_size(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(100))
    data = (tmp_path / "a.npy").read_bytes()
    with pytest.raises(Fault, match="it ends after 792 of 800 bytes"):
        array_of(data[:-8], "a.npy")
    with pytest.raises(Fault) as found:
        array_of(data.replace(b"(100,), }" + b" " * 12, b"(10000000000000,), }".ljust(21)), "a.npy")
    assert found.value.code == "E0703"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", np.zeros((0, 0))),
        ("1,2\n3,4\n", [[1, 2], [3, 4]]),
        ("x;y\n1;2.5\n", [[1, 2.5]]),
        ("a\tb\r\n-1e3\t\r\n", [[-1000, np.nan]]),
        ('"a, b",c\n1,inf\n\n', [[1, np.inf]]),
        ("7", [[7]]),
    ],
)
def test_tables(text: str, rows: Any) -> None:
    np.testing.assert_array_equal(table_of(text.encode(), "f"), rows)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"1,2\n3\n", "row 2 has 1 columns, and the first has 2"),
        (b"1,2\n3,x\n", "column 2 of row 2 is 'x'"),
        (b"\xff\xfe1", "it is no text in UTF-8"),
    ],
)
def test_what_is_no_table(data: bytes, said: str) -> None:
    with pytest.raises(Fault, match=said):
        table_of(data, "f")


def test_read_at_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("grid.npy", np.arange(6).reshape(2, 3))
    Path("t.csv").write_text("x,y\n1,2\n")
    engine = Engine(Workspace(), World.captured())
    assert obey(engine, ":read grid.npy")[1].remarks == ("grid  long[2,3]",)
    assert obey(engine, ":read t.csv as table")[1].remarks == ("table  double[1,2]",)
    assert engine.variables["grid"].values[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert [d.code for d in obey(engine, ":read grid.npy as while")[1].diagnostics] == ["E0740"]
    assert [d.code for d in obey(engine, ":read gone.npy")[1].diagnostics] == ["E0664"]
    assert [d.code for d in obey(engine, ":read gone.csv")[1].diagnostics] == ["E0664"]


def test_sessions_without_files_read_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.arange(3))
    Path("t.csv").write_text("1\n")
    engine = Engine(Workspace(), World.captured(allowed=False))
    for command in (":read a.npy", ":read t.csv"):
        assert [d.code for d in obey(engine, command)[1].diagnostics] == ["E0750"]
    assert [d.code for d in engine.enter('NPY::writeNPY("b.npy", 1);').diagnostics] == ["E0750"]
    assert not Path("b.npy").exists()


def test_the_type_of_the_elements_must_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.arange(3))
    engine = Engine(Workspace(), World.captured())
    (found,) = engine.enter('NPY::readNPYInt("a.npy")').diagnostics
    assert (found.code, found.message) == ("E0667", "a.npy has elements of type long, not int")
    assert found.help == "readNPYLong reads it"
