"""What the host does between launches is one piece of native code where one statement makes what the next one takes,
and what it has made and only puts together it makes where it ends up."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.session import Session
from tests.jit.test_device_programs import Both

SUMS = """
inline double[n] sums(double[n] a) { r = a; for (i = 1; i < n; i++) { r[i] = r[i - 1] * 0.5 + a[i]; } return r; }
inline double[n] there(double[n] r) { s = sums(r); for (j = n - 2; j >= 0; j--) { s[j] = s[j + 1] + s[j]; } return s; }
"""
V, W = np.cos(np.arange(50.0)), np.sin(np.arange(31.0))

# A function, and: how many pieces there are (0: it is native as a whole), how many arrays a call makes natively (None:
# that does not matter here), how many are on the device, launches.
CASES = {
    "parts of a whole": ("double[.] f(double[n] a, double[m] b) { return sums(a) ++ sums(b); }", 0, 1, 0, 0),
    "a chain": ("double[.] f(double[n] a, double[m] b) { return there(a) ++ sums(b) ++ there(b); }", 0, 1, 0, 0),
    "parts that a kernel computes with": (
        "double[.] f(double[n] a, double[m] b) { return 2.0 * tod(3) * (sums(a) ++ sums(b)); }",
        2,
        2,
        3,
        1,
    ),
    "a part that a kernel made": ("double[.] f(double[n] a, double[m] b) { return sums(a) ++ (2.0 * b); }", 1, 1, 3, 1),
    "a part that is needed by itself": (
        """double[.], double[.] f(double[n] a, double[m] b) { s = sums(a); return (s ++ sums(b), s * tod(2)); }""",
        2,
        2,
        4,
        2,
    ),
    "an element that Python looks at": (
        """double[.], double[.] f(double[n] a, double[m] b) { s = sums(a); k = toi(s[n - 1]) > 99 ? 1 : 2;
             r = s; for (i = k; i < n; i++) { r[i] = r[i - k] + 1.0; } return (r ++ sums(b), b * tod(k)); }""",
        2,
        None,
        2,
        1,
    ),
    "a number in between": (
        """double[.], double[.] f(double[n] a, double[m] b) { r = a; x = 0.0;
             for (i = 1; i < n; i++) { r[i] = r[i - 1] * 0.5 + a[i]; x = max(x, r[i]); }
             y = 2.0 * x;
             for (i = 1; i < n; i++) { r[i] = r[i - 1] + y; } return (r ++ sums(b), b * 3.0); }""",
        1,
        2,
        2,
        1,
    ),
    "a kernel in between": (
        """double[.] f(double[n] a, double[m] b) { s = sums(a); d = { [i] -> s[i] * s[n - 1 - i] | [i] < [n] };
             for (i = 1; i < n; i++) { d[i] = d[i - 1] * d[i]; } return d ++ sums(b); }""",
        2,
        None,
        2,
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_runs_at_one_go(name: str) -> None:
    text, pieces, made, there, launched = CASES[name]
    both = Both(SUMS + text)
    wanted, found = both.plain["f"](V, W), both.there["f"](V, W)
    assert np.allclose(np.hstack(wanted), np.hstack(found), rtol=1e-12)
    moved, programs = both.device.memory.transfers, both.programs()
    assert sum(p.text.count("rt.native(") for p in programs) == pieces
    assert sum(p.device for program in programs for p in program.runtime.placed) == launched
    assert moved.allocated + moved.reused == there
    before = both.engine.tools.context.allocations
    both.there["f"](V, W)
    assert made is None or both.engine.tools.context.allocations - before == made


def test_a_pragma_is_obeyed_all_the_same() -> None:
    both = Both(
        SUMS
        + """double[.] f(double[n] a, double[m] b) { s = sums(a);
        return with {
        #pragma gpukernel GridBlock(1, ShiftLB(Gen))
        ([0] <= [i] < [n]) : s[n - 1 - i]; } : genarray([n]); }"""
    )
    both.same("f", V, W)
    assert sum(p.device for p in both.program().runtime.placed) == 1


def test_a_check_between_them_ends_the_call() -> None:
    both = Both(
        SUMS
        + """double[.] f(double[n] a, int[m] k) { s = sums(a); r = s;
          for (i = 1; i < n; i++) { r[i] = r[i - 1] + s[k[i]]; } return r ++ s; }"""
    )
    k = np.arange(50, dtype=np.int32)
    both.same("f", V, k)
    k[7] = 50
    with pytest.raises(Exception, match="E0601") as found:
        both.there["f"](V, k)
    with pytest.raises(type(found.value)) as wanted:
        both.plain["f"](V, k)
    assert str(found.value) == str(wanted.value)


def test_what_is_shown_of_kernels_says_so_too() -> None:
    text = "use Array: all;\n" + SUMS + CASES["parts of a whole"][0]
    shown = Session(target="emulator").emit("kernel", "f", text)
    assert shown.endswith(
        "stays on the CPU: it only copies what the CPU has made for it, and the CPU may make that where it is to be\n"
    )
