"""What a run has found out, for the next one: what would have been worth it is made when the program has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.first.processes import settle
from sacpy.jit.kinds import Detail, is_wide
from sacpy.jit.run.dispatch import Site
from sacpy.jit.run.fork import may_fork
from tests.jit.test_turns import run

MERGE = """
use Array: all; use StdIO: all;
int[.] merge(int[n] a, int[m] b)
{
  c = genarray([n + m], 0);
  i = 0; j = 0;
  for (k = 0; k < n + m; k++) {
    if (j == m || (i < n && a[i] <= b[j])) { c[k] = a[i]; i++; } else { c[k] = b[j]; j++; }
  }
  return c;
}
int[.] sorted(int[n] v) { return n < 2 ? v : merge(sorted(take([n / 2], v)), sorted(drop([n / 2], v))); }
int main() { s = sorted({ [i] -> i * 7919 % 10007 | [i] < [10000] }); printf("%d\\n", s[5000]); return 0; }
"""


@pytest.mark.skipif(not may_fork(), reason="nothing is compiled by other processes here")
def test_what_a_run_began_to_compile_is_there_in_the_next_however_soon_the_first_one_ended(tmp_path: Path) -> None:
    program, cache = tmp_path / "sorting.sac", tmp_path / "cache"
    program.write_text(MERGE)
    command = [sys.executable, "-m", "sacpy", "run", "--stats", str(program)]
    environment = {"SACPY_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(__file__).parents[2])}

    def once() -> str:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == "5005\n"
        return done.stderr

    once()
    settle(cache)
    rows = [line.split() for line in once().splitlines()]
    interpreted = [int(row[2]) for row in rows if row[:2] == ["sorted", "interpreted"]]
    assert not interpreted or interpreted[0] < 1000, rows


def test_a_recursion_over_arrays_has_one_version_for_all_lengths() -> None:
    text = "use Array: all; int total(int[.] v) { n = shape(v)[0]; return n == 0 ? 0 : v[0] + total(drop([1], v)); }"
    found, engine = run(text, "total", np.arange(60, dtype=np.int32), eager=True)
    assert found == (sum(range(60)),)
    (site,) = [s for s in engine.sites if s.key.startswith("_MAIN::total/")]
    assert isinstance(site, Site) and site.detail is Detail.RANKS
    assert [(kind, is_wide(kind)) for kind in site.versions] == [(((None,),), False)]


def test_one_that_needs_a_length_gets_versions_for_that() -> None:
    text = (
        "use Array: all; int[*] cell(int[*] a, int[.] at) { return shape(at)[0] == 0 ? a : cell(sel(take([1], at), a), "
        "drop([1], at)); }"
    )
    found, engine = run(text, "cell", np.arange(24, dtype=np.int32).reshape(2, 3, 4), np.array([1, 2], np.int32))
    assert isinstance(found, tuple)
    np.testing.assert_array_equal(found[0], [20, 21, 22, 23])
    (site,) = [s for s in engine.sites if s.key.startswith("_MAIN::cell/")]
    forced = site.forced((np.arange(24, dtype=np.int32).reshape(2, 3, 4), np.array([1, 2], np.int32)))
    assert site.detail is Detail.EXTENTS and forced is not None
