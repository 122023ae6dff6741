"""Sources that make compiling take long: a limit strikes all the same, other sessions compile meanwhile, and neither
forks nor the end of the process wait."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import sacpy
from tests.tools import ROOT

HEAD = "use Array: all;\n"
LATE = 1.5  # seconds behind the limit: 0.3 on a machine that has other work too; a test is no measurement


def function(body: str, result: str = "x") -> str:
    return f"{HEAD}int f(int n) {{ x = n; {body} return {result}; }}"


def chained(count: int, calls: str) -> str:
    """Functions each of which calls the one before."""
    more = " ".join(
        f"int f{k}(int x) {{ y = x * 3 % {1009 + k}; return {calls.format(k - 1)}; }}" for k in range(1, count)
    )
    return f"{HEAD}int f0(int x) {{ return x * 7 % 1013; }} {more} int f(int n) {{ return f{count - 1}(n); }}"


def nested(opening: str, count: int, inner: str) -> str:
    return "".join(opening.format(k) for k in range(count)) + inner + " }" * count


PARTITIONS = " ".join(
    f"([{k % 17},{k % 13}] <= iv < [n - {k % 11}, n - {k % 7}]) : {k} + iv[0] * iv[1];" for k in range(200)
)
SOURCES: dict[str, Callable[[], str]] = {
    "an array of many names": lambda: function(
        " ".join(f"a{k} = x * {k} % 97;" for k in range(20_000))
        + f" v = [{', '.join(f'a{k}' for k in range(20_000))}];",
        "v[n % 20000]",
    ),
    "a literal": lambda: function(f"v = [{', '.join(str(k * 7919 % 1009) for k in range(60_000))}];", "v[n % 60000]"),
    "partitions that overlap": lambda: function(f"v = with {{ {PARTITIONS} }} : genarray([n,n], 0);", "sum(v)"),
    "conditionals": lambda: function(
        " ".join(
            f"if (x % {k % 7 + 2} == 0) {{ x = x + {k}; }} else {{ x = x * 3 % {1009 + k}; }}" for k in range(3000)
        )
    ),
    "conditionals inside one another": lambda: function(
        nested("if (x % 2 == {0} % 2) {{ x = x * 3 + {0};", 150, "x = x + 1;")
    ),
    "choices": lambda: function(
        " else ".join(f"if (x == {k}) {{ x = x * {k} % 17; }}" for k in range(150)) + " else { x = 0; }"
    ),
    "loops": lambda: function(
        " ".join(f"for (i = 0; i < n % {k + 2}; i++) {{ x = x * 3 % {1009 + k} + i; }}" for k in range(1000))
    ),
    "while loops": lambda: function(
        " ".join(f"while (x > {k % 50}) {{ x = x * 3 % {1009 + k} - {k}; }}" for k in range(500))
    ),
    "loops inside one another": lambda: function(
        nested("for (i{0} = 0; i{0} < n; i{0}++) {{", 60, "x = x * 3 % 1009;")
    ),
    "a sum of many terms": lambda: function(f"x = {' + '.join(f'x * {k} % {k + 3}' for k in range(150))};" * 20),
    "statements": lambda: function(" ".join(f"x = (x * {k + 3} + {k}) % {10007 + k};" for k in range(10_000))),
    "functions": lambda: chained(400, "f{0}(y) + y"),
    "functions that call twice": lambda: chained(40, "f{0}(y) + f{0}(y + 1)"),
    "functions with arrays that call twice": lambda: (
        HEAD
        + "int[.] f0(int[.] v) { return v + 1; } "
        + " ".join(f"int[.] f{k}(int[.] v) {{ return f{k - 1}(v * {k}) ++ f{k - 1}(v + {k}); }}" for k in range(1, 16))
        + " int f(int n) { return sum(f15(iota(n % 10 + 1))); }"
    ),
    "with-loops": lambda: function(
        " ".join(
            f"v{k} = {{ [i] -> i * x % {k + 2} | [i] < [n + {k}] }}; x = x + sum(v{k}) % 1009;" for k in range(400)
        )
    ),
    "with-loops that keep their arrays": lambda: function(
        " ".join(f"v{k} = {{ [i] -> i * x % {k + 2} | [i] < [n] }};" for k in range(400)),
        " + ".join(f"v{k}[n / 2]" for k in range(150)),
    ),
    "cells inside one another": lambda: function(
        "v = [x]; " + "v = { [i] -> sum({ [j] -> v[j % shape(v)[0]] * i + j | [j] < [n] }) | [i] < [n] }; " * 60,
        "sum(v)",
    ),
    "a stencil of many points": lambda: (
        HEAD
        + "int f(int n) { a = genarray([5,5,5,5,5,5], n); w = genarray([3,3,3,3,3,3], 2); return sum({ iv -> sum({ ov "
        "-> w[ov] * a[iv + ov] | ov < shape(w) }) | iv < shape(a) - shape(w) + 1 }); }"
    ),
    "products of small matrices": lambda: (
        HEAD
        + "int f(int n) { a = { [i,j] -> i * n + j | [i,j] < [8,8] }; b = a; "
        + "b = { [i,j] -> sum({ [k] -> a[i,k] * b[k,j] % 101 | [k] < [8] }) | [i,j] < [8,8] }; " * 60
        + "return sum(b); }"
    ),
    "arrays chosen": lambda: (
        HEAD
        + "int f(int n) { v = iota(n); "
        + " ".join(f"if (n > {k}) {{ v = v + {k}; }} else {{ v = v * 3; }}" for k in range(400))
        + " return sum(v); }"
    ),
    "functions that call each other": lambda: (
        HEAD
        + " ".join(
            f"int g{k}(int x) {{ return x <= 0 ? {k} : g{(k + 1) % 60}(x - 1) + g{(k * 7 + 3) % 60}(x - 2); }}"
            for k in range(60)
        )
        + " int f(int n) { return g0(n % 20); }"
    ),
}


def run(source: str, seconds: float) -> str:
    """What becomes of a source: "" if there is a result, or the code of the error."""
    session = sacpy.Session(target="cpu", limits=sacpy.Limits(seconds=seconds))
    try:
        session.compile(source).f(30)
    except sacpy.SacError as error:
        return error.diagnostics[0].code
    return ""


def works() -> None:
    """Another session compiles and runs."""
    session = sacpy.Session(target="cpu")
    start = session.compile(
        HEAD + f"int f(int n) {{ s = {time.monotonic_ns() % 1000003}; for (i = 0; i < n; i++) {{ s = (s * 31 + i) % "
        f"1000003; }} return s; }}"
    )
    assert start.f(200_000) == start.f(200_000)
    assert session.stats().units == 1


# each like another one
ALIKE = {
    "conditionals",
    "choices",
    "while loops",
    "statements",
    "functions",
    "functions with arrays that call twice",
    "with-loops that keep their arrays",
    "products of small matrices",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in ALIKE)) for name in SOURCES])
def test_a_limit_strikes_whatever_the_compiler_does(name: str) -> None:
    source = SOURCES[name]()
    begin = time.monotonic()
    assert run(source, 0.4) in ("", "E0704", "E0703", "E0700", "E0701", "E0104")
    assert time.monotonic() - begin < 0.4 + LATE
    works()


def test_other_sessions_compile_meanwhile() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run(SOURCES["statements"](), 2.0)))
    thread.start()
    for _ in range(5):
        works()
    assert thread.is_alive() or found[0] in ("", "E0704")
    thread.join()


ENDS = """
import os, sys, threading, time, sacpy
from tests.jit.test_hostile_compiling import SOURCES, run
thread = threading.Thread(target=lambda: run(SOURCES["partitions that overlap"](), 60.0), daemon=True)
thread.start()
time.sleep(0.7)
begin = time.monotonic()
if hasattr(os, "fork"):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
print(time.monotonic() - begin < 3.0, flush=True)
"""


def test_neither_forks_nor_the_end_of_the_process_wait() -> None:
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", ENDS],  # about forks
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    assert time.monotonic() - begin < 20.0
