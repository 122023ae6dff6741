"""Calls that have come to know their compiled code and go there directly: nobody can tell, but by the time they
take."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import sacpy
from sacpy.embedding.runner import Runner
from sacpy.jit.run import versions

SOURCE = """use Array: all;
double[.] same(double[n] a) { s = 0.0; for (i = 0; i < n; i++) { s += a[i] * s; } if (s > 1.0e300) { a[0] = s;
  } return a; }
double total(double[.] a) { return sum(a * a); }
double[.], int, double split(double[n] a) { s = 0.0; for (i = 0; i < n; i++) { s += a[i] * a[i]; } return (a + s, n, s);
  }
double at(double[.] a, int i) { s = 0.0; for (k = 0; k < 40; k++) { s += a[i + k]; } return s; }
"""


@pytest.fixture(autouse=True)
def on_a_busy_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """No version is given up because something else has kept the machine busy while it was called."""
    monkeypatch.setattr(versions, "SLOW", 1.0)


@pytest.fixture
def module() -> sacpy.Module:
    return sacpy.Session(target="cpu").compile(SOURCE)


def directly(f: Any, *args: Any) -> Any:
    """The result of a call once the function has been called often enough to be compiled; nearly all calls do not go
    the usual way then."""
    for _ in range(4000):
        f(*args)
    with patch.object(Runner, "run", autospec=True, side_effect=Runner.run) as usual:
        for _ in range(20):
            result = f(*args)
    assert usual.call_count < 5, "these went the usual way"
    return result


def test_results_are_the_same(module: sacpy.Module) -> None:
    a = np.arange(50.0)
    assert directly(module.total, a) == float((a * a).sum())
    more, n, s = directly(module.split, a)
    assert s == (a * a).sum() and np.array_equal(more, a + s) and n == 50


def test_no_result_is_an_argument_or_an_earlier_result(module: sacpy.Module) -> None:
    a = np.arange(50.0)
    one, two = directly(module.same, a), directly(module.same, a)
    one[:] = -1.0
    assert np.array_equal(a, np.arange(50.0)) and np.array_equal(two, a)


def test_other_shapes_and_types_go_elsewhere(module: sacpy.Module) -> None:
    directly(module.total, np.ones(50))
    assert module.total(np.ones(3)) == 3.0
    assert module.total([1.0, 2.0]) == 5.0
    with pytest.raises(sacpy.SacError):
        module.total(np.ones((5, 5)))


def test_errors_have_their_place(module: sacpy.Module) -> None:
    a = np.ones(50)
    assert directly(module.at, a, 3) == 40.0
    with pytest.raises(sacpy.SacError) as caught:
        module.at(a, 20)
    (d,) = caught.value.diagnostics
    assert d.code == "E0601"
    assert d.span is not None and SOURCE[d.span.start : d.span.end] == "a[i + k]"
    assert module.at(a, 10) == 40.0


def test_with_limits_everything_is_watched() -> None:
    module = sacpy.Session(target="cpu", limits=sacpy.Limits(seconds=60.0)).compile(SOURCE)
    with pytest.raises(AssertionError, match="usual way"):
        directly(module.total, np.ones(50))


def test_what_is_defined_anew_is_called() -> None:
    session = sacpy.Session(target="cpu")
    head = "use Array: all; double f(double[n] a) { s = 0.0; for (i = 0; i < n; i++) { s += a[i] * a[i]; } return s"
    first = session.define(f"{head}; }}").f
    a = np.ones(50)
    assert directly(first, a) == 50.0
    second = session.define(f"{head} + 1.0; }}").f
    assert second(a) == 51.0
    assert directly(second, a) == 51.0


LONG = """
import signal, sys, threading, sacpy

session = sacpy.Session(target="cpu")
module = session.compile(
    "use Array: all; int f(int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; } return s; }"
)
for _ in range(300):
    module.f(1000)
assert module._runner.direct
threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,)).start()
try:
    module.f(2000000000)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_long_call_after_brief_ones_is_interrupted() -> None:
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
