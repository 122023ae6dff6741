"""`sacpy bench --roofline`: with-loops against what the machine can."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sacpy import cli
from sacpy.benching.machine import rates, tick
from sacpy.benching.roofline import Roofline, data, lines, roofline
from sacpy.benching.subjects import Subject
from sacpy.interp.world import World
from sacpy.jit.reports.watching import watching
from sacpy.workspace import Workspace

PROGRAM = """use Array: all; use StdIO: all;
double[n] shifted(double[n] v)
{ return { [i] -> v[i + 1] * 2.0 + 1.0 | [0] <= [i] < [n - 1]; [i] -> 0.0 | [i] < [n] }; }
double[m,n] product(double[m,k] a, double[k,n] b)
{ return { [i,j] -> with { ([0] <= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0.0) | [i,j] < [m,n] }; }
float[n] halves(float[n] v) { return { [i] -> v[i] * 0.5f | [0] <= [i] < [n] step [2]; [i] -> v[i] | [i] < [n] }; }
double[n] printed(double[n] v, int k) { print(k); for (i = 0; i < k; i++) { v = shifted(v); } print(k); return v; }
"""


def counted(tmp_path: Path, text: str, seconds: float = 0.01) -> Roofline:
    """The with-loops of a call."""
    file = tmp_path / "p.sac"
    file.write_text(PROGRAM)
    found = roofline(Subject(file, text, Workspace(target="cpu", threads=1)), seconds)
    assert isinstance(found, Roofline)
    return found


def test_bytes_and_operations_are_counted(tmp_path: Path) -> None:
    found = counted(tmp_path, "shifted(tod(iota(100001)))")
    (loop,) = found.loops
    assert data(found)[0]["bytes"] == loop.bytes
    assert (loop.place, loop.makes, loop.runs, loop.guessed) == ("p.sac:3", "genarray", 1, False)
    assert (loop.bytes, loop.operations) == (8 * 100000 + 8 * 100001, 200000)
    assert 0 < loop.seconds < 0.1 and loop.limit == "memory" and 0 < loop.share < 20


@pytest.mark.long
def test_of_each_array_no_more_is_read_than_it_has(tmp_path: Path) -> None:
    (loop,) = counted(tmp_path, "product(genarray([200, 100], 1.0), genarray([100, 300], 2.0))").loops
    assert loop.bytes == 8 * (200 * 100 + 100 * 300 + 200 * 300)
    assert loop.operations == 2 * 200 * 100 * 300 and loop.limit == "arithmetic"


@pytest.mark.long
def test_parts_that_stay_interpreted_do_not_hide_the_rest(tmp_path: Path) -> None:
    found = counted(tmp_path, "printed(tod(iota(20001)), 3)", 0.2)
    assert sum(x.runs for x in found.loops) == 3 and {x.place for x in found.loops} == {"p.sac:3"}
    assert found.seconds > sum(x.seconds for x in found.loops)
    assert lines(found)[-1].startswith("outside of with-loops: ")


def test_a_step_counts_the_indices_that_there_are(tmp_path: Path) -> None:
    found = counted(tmp_path, "halves(genarray([100000], 1.0f))")
    assert sum(x.operations for x in found.loops) == 50000 / 2  # a float is half a double
    assert {x.guessed for x in found.loops} == {False}


def test_what_is_measured_of_the_machine_can_be() -> None:
    small, large = rates(1, 30_000, False), rates(1, 3e7, False)
    assert 1e8 < large.bytes < 1e13 and 1e8 < small.operations < 1e13
    assert small.bytes > large.bytes / 2  # a cache is no slower than memory
    assert 1e-11 < tick() < 1e-7


def test_watched_code_gives_the_same_results(tmp_path: Path) -> None:
    file = tmp_path / "p.sac"
    file.write_text(PROGRAM + "double[.,.] all() { return product(genarray([7, 3], 1.5), genarray([3, 5], 2.0)); }\n")
    space = Workspace(target="cpu")
    engine, watches = watching("cpu", eager=True)
    space.use(engine)
    program, _ = space.load(file)
    key = next(k for k in program.user_keys([]) if program.signature(k).name.endswith("::all"))
    (found,) = space.evaluator(program, World.captured()).call(key, ())
    assert np.array_equal(found, np.full((7, 5), 9.0)) and len(watches.watches) >= 1


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.sac"
    file.write_text(PROGRAM)
    words = ["bench", str(file), "shifted(tod(iota(50001)))", "--time", "0.01", "--roofline"]
    assert cli.main([*words, "--target", "interp,cpu", "--threads", "1"]) == 0
    out = capsys.readouterr().out
    assert "with-loops of shifted(tod(iota(50001))), interp\n  it is interpreted\n" in out
    assert re.search(r"  p\.sac:3, genarray: [\d.]+ us, \d+%; 800 kB, [\d.]+ .B/s of [\d.]+ .B/s; 100 kop, ", out)


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.sac"
    file.write_text(PROGRAM)
    words = ["bench", str(file), "shifted([1.0])", "--time", "0.01", "--roofline", "--json", "--target", "interp"]
    assert cli.main(words) == 0
    assert json.loads(capsys.readouterr().out)["benchmarks"][0]["with_loops"] == "it is interpreted"
