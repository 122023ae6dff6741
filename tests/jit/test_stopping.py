"""What ends native code before its time: Ctrl-C, limits on time and memory, recursion without end; and that everything goes on working behind it."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sacpy
from sacpy.interp import memory
from tests.tools import ROOT

ENDLESS = """use StdIO: all; use TermFile: all; use Array: all;
int spin(int n) { s = 0; for (i = 0; i < n; i++) { for (j = 0; j < n; j++) { s = (s * 31 + i + j) % 1000003; } } return s; }
int main() { n = spin(100); fprintf(stderr, "started %d\\n", n); n = spin(_hideValue_SxA_(0, 100000000)); printf("%d\\n", n); return 0; }
"""
STRAIGHT = """use StdIO: all; use TermFile: all; use Array: all; use Math: all;
double creep(int n) { x = 1.0; for (i = 0; i < n; i++) { x = sin(x) / 1.1 + tod(i % 7); } return x; }
int main() { x = creep(100); fprintf(stderr, "started %g\\n", x); x = creep(_hideValue_SxA_(0, 2000000000)); printf("%g\\n", x); return 0; }
"""
WITH_LOOP = """use StdIO: all; use TermFile: all; use Array: all;
double much(int n) { return with { ([0, 0] <= [i, j] < [n, n]) : tod(i) / (tod(j) + 1.5); } : fold(+, 0.0); }
int main() { x = much(10); fprintf(stderr, "started %g\\n", x); x = much(_hideValue_SxA_(0, 2000000000)); printf("%g\\n", x); return 0; }
"""


@pytest.mark.parametrize("text", [ENDLESS, STRAIGHT, WITH_LOOP], ids=["loop", "innermost loop", "with-loop"])
def test_ctrl_c_ends_a_program_that_runs_natively(text: str, tmp_path: Path) -> None:
    path = tmp_path / "program.sac"
    path.write_text(text)
    process = subprocess.Popen([sys.executable, "-m", "sacpy", "run", "--target", "cpu", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("started")
    time.sleep(0.5)  # it is in the second call by now
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 10  # a row of 2 000 000 000 points is not left before its end
    assert out == ""
    assert "E0702" in err and "Traceback" not in err
    assert process.returncode in (1, 130)


@pytest.mark.parametrize(("text", "name"), [(ENDLESS, "spin"), (STRAIGHT, "creep"), (WITH_LOOP, "much")], ids=["loop", "innermost loop", "with-loop"])
def test_the_time_limit_ends_native_code_and_the_session_goes_on(text: str, name: str) -> None:
    session = sacpy.Session(target="cpu", limits=sacpy.Limits(seconds=1.0))
    module = session.compile(text)
    start = time.monotonic()
    with pytest.raises(sacpy.SacError) as caught:
        module.main()
    assert caught.value.diagnostics[0].code == "E0704"
    assert time.monotonic() - start < 10
    assert module[name](1000) == module[name](1000)


def test_an_array_that_is_too_large_is_refused() -> None:
    session = sacpy.Session(target="cpu", limits=sacpy.Limits(memory=100_000_000))
    module = session.compile("use Array: all; double f(int n) { a = { [i] -> tod(i) | [i] < [n] }; for (k = 0; k < 3; k++) { a = modarray(a, [k], 1.0); } return sum(a); } int main() { return 0; }")
    assert module.f(1000) == sum(range(1000)) - 3 + 3
    with pytest.raises(sacpy.SacError) as caught:
        module.f(50_000_000)
    assert caught.value.diagnostics[0].code == "E0703"
    assert module.f(1000) == sum(range(1000))


def test_a_recursion_without_end_is_the_same_error_as_interpreted() -> None:
    text = "use Array: all; int f(int n) { return n < 0 ? 0 : 1 + f(n + 1); } int main() { return 0; }"
    errors = []
    for target in ("interp", "cpu"):
        with pytest.raises(sacpy.SacError) as caught:
            sacpy.Session(target=target, limits=sacpy.Limits(depth=5000)).compile(text).f(0)
        errors.append([(d.code, d.message, d.span.line) for d in caught.value.diagnostics])
    assert errors[0] == errors[1]


def test_a_recursion_that_the_interpreter_has_no_room_for_runs_natively() -> None:
    text = "use Array: all; int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); } int main() { return 0; }"
    assert sacpy.Session(target="cpu").compile(text).f(300_000) == 300_000


def test_sessions_in_several_threads_run_natively_at_the_same_time() -> None:
    text = "use Array: all; double f(double[.] v, int n) { for (k = 0; k < n; k++) { v = v * 0.5 + 1.0; } return sum(v); } int main() { return 0; }"
    shared = sacpy.Session(target="cpu").compile(text)
    wanted = sacpy.Session(target="interp").compile(text).f(np.ones(1000), 50)
    found: list[float] = []

    def work(own: bool) -> None:
        module = sacpy.Session(target="cpu").compile(text) if own else shared
        found.extend(module.f(np.ones(1000), 50) for _ in range(20))

    threads = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 120
    assert np.allclose(found, wanted)


def test_embedding_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    module = sacpy.Session(target="cpu").compile(ENDLESS)
    module.spin(1000)
    assert (signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)) == before


def test_many_processes_share_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "program.sac"
    path.write_text("use StdIO: all; use Array: all; int f(int n) { s = 0; for (i = 0; i < n; i++) { s += i % 3; } return s; } int main() { printf(\"%d\\n\", f(100000)); return 0; }")
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "sacpy", "run", "--target", "cpu", "--stats", str(path)]
    together = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment) for _ in range(3)]
    for process in together:
        out, err = process.communicate(timeout=100)
        assert out == "99999\n", err
    again = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert "(cache)" in again.stderr
    for file in (tmp_path / "cache" / "native").iterdir():
        file.write_bytes(file.read_bytes()[:-7])
    damaged = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert (damaged.returncode, damaged.stdout) == (0, "99999\n")
    assert "(cache)" not in damaged.stderr


@pytest.mark.parametrize("rounds", [0, 1, 65535, 65536, 65537, 131072, 200001])
def test_loops_that_look_at_the_stop_flag_now_and_then_run_each_round_once(rounds: int) -> None:
    text = """use Array: all;
int up(int n) { c = 0; for (i = 0; i < n; i++) { c = c * 3 + i; } return c; }
int down(int n) { c = 0; for (i = n; i > 0; i--) { c = c * 3 + i; } return c; }
int by(int n, int from) { c = 0; for (i = from; i < n; i += 7) { c = c * 3 + i; } return c; }
"""
    native, interpreted = (sacpy.Session(target=target) for target in ("cpu", "interp"))
    for call in (f"up({rounds})", f"down({rounds})", f"by({7 * rounds}, 0)", f"by({7 * rounds + 3}, 5)", f"up({-rounds})"):
        values = []
        for session in (native, interpreted):
            session.define(text)
            values.append(session.eval(call))
        assert values[0] == values[1], call


def test_what_is_set_apart_is_never_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by who looks while it is being set apart."""
    size, seen = [1000], []

    def occupied() -> int:
        monkeypatch.setattr(memory, "_occupied", lambda: size[0])
        seen.append(memory.resident())
        monkeypatch.setattr(memory, "_occupied", occupied)
        return size[0]

    monkeypatch.setattr(memory, "_apart", memory._Apart())
    monkeypatch.setattr(memory, "_occupied", occupied)
    with memory.apart():
        size[0] += 5000
    assert memory.resident() == 1000
    assert set(seen) == {1000}


def test_the_compilers_own_memory_is_not_the_programs() -> None:
    text = "use Array: all; double f(int n) { a = { [i,j] -> 1.0 / tod(1 + i + j) | [i,j] < [n,n] }; return sum(a) + maxval(a); }"
    code = f"import sacpy; s = sacpy.Session(target='cpu', limits=sacpy.Limits(memory=8_000_000)); m = s.compile({text!r}); print(m.f(300) > 0, [r.where for r in s.stats().rows])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env={**os.environ, "SACPY_CACHE_DIR": ""}, check=False)
    assert done.stdout == "True ['native']\n", done.stderr


def test_memory_that_is_kept_for_later_gives_way_to_what_is_needed() -> None:
    """Arrays of ever new sizes, which no kept block fits."""
    text = """use Array: all;
double f(int n)
{
  s = 0.0;
  for (k = 1; k < 60; k++) {
    a = { [i] -> tod(i * k) | [i] < [n + k * n / 2] };
    a[5] = s;
    for (q = 0; q < 3; q++) { a = { [i] -> a[shape(a)[0] - 1 - i] + 1.0 | [i] < [shape(a)[0]] }; }
    s = s + a[3];
  }
  return s;
}"""
    code = f"import sacpy; s = sacpy.Session(target='cpu', limits=sacpy.Limits(memory=100_000_000)); m = s.compile({text!r}); print(m.f(80000) > 0, [r.where for r in s.stats().rows])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "True ['native']\n", done.stderr
