"""Reductions by index whose operands keep their order, as kernels: pieces with arrays of their own, put together in
levels. Every element as the interpreter has it, every access checked, blocks in any order; what leaves no room for
pieces stays on the host, with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

from sacpy.jit.emission import toolchain
from sacpy.jit.emission.assemble import FRONT_ENDS, cubin
from sacpy.jit.emission.emulator import ORDERS
from sacpy.jit.kernels import Launch, Refused, ordered
from sacpy.session import Session
from tests.jit.test_device_programs import Both
from tests.stdlib.data_parallel import DTYPES

HEAD = "use Histogram: all; use Structures: all;\n"
SIZES = (0, 1, 31, 33, 257, 1025)
VALUES = "{ [i] -> tod(i * 37 % 11) - 5.0 | [i] < [n] }"
SPECIAL = "{ [i] -> i % 500 == 3 ? 0.0 / 0.0 : i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : tod(i % 5) | [i] < [n] }"
CASES = {
    "sums": f"double[.] f(int[n] k) {{ return bincount(7, k, {VALUES}); }}",
    "floats": f"float[.] f(int[n] k) {{ return bincount(7, k, tof({VALUES})); }}",
    "less": f"""double[.] f(int[n] k) {{
        v = {VALUES};
        return with {{ ([0] <= [i] < [n]) : (k[i], v[i]); }} : into(tod(iota(7)), -);
    }}""",
    "most": f"double[.] f(int[n] k) {{ return scatter_max(genarray([7], -9.0), k, -{SPECIAL}); }}",
    "least": f"double[.] f(int[n] k) {{ return scatter_min(genarray([7], 9.0), k, {SPECIAL}); }}",
    "products": """int[.] f(int[n] k) {
        return with { ([0] <= [i] < [n]) : (k[i], 2 * i + 3); } : into(iota(7) + 1, *);
    }""",
    "halves": """double[.] f(int[n] k) {
        return with { ([0] <= [i] < [n]) : (k[i], i % 2 == 0 ? 0.5 : -2.0); } : into(tod(iota(7)) + 1.0, *);
    }""",
    "bytes": "byte[.] f(int[n] k) { return bincount(7, k, tob(k * 5)); }",
    "any": """bool[.] f(int[n] k) {
        return with { ([0] <= [i] < [n]) : (k[i], i % 9 == 2); } : into(genarray([7], false), |);
    }""",
    "plane": f"""double[.,.] f(int[n] k) {{
        v = {VALUES};
        a = genarray([7, 2], 0.5);
        return with {{ ([0, 0] <= [i, j] < [n, 3]) : ([k[i], j % 2], v[i] + tod(j)); }} : into(a, +);
    }}""",
    "steps": f"""double[.] f(int[n] k) {{
        v = {VALUES};
        return with {{ ([0, 1] <= [i, j] < [n, 9] step [3, 4] width [2, 1]) : (k[i], v[i]); }} : into(tod(iota(7)), +);
    }}""",
    "rows": """double[.,.] f(int[n] k) {
        return scatter_add(genarray([7, 4 + n % 2], 0.5), k, { [i, j] -> tod(i - j) | [i, j] < [n, 4 + n % 2] });
    }""",
    "no_columns": "double[.,.] f(int[n] k) { return scatter_add(genarray([7, 0], 0.5), k, genarray([n, 0], 0.5)); }",
    "complex": f"""complex[.] f(int[n] k) {{
        v = {VALUES};
        return with {{ ([0] <= [i] < [n]) : (k[i], toc(v[i], 1.0)); }} : into(genarray([7], toc(0.5, 0.0)), +);
    }}""",
    "means": f"""double[.], int[.] f(int[n] k) {{
        v = {VALUES};
        sum = genarray([7], 0.0);
        count = genarray([7], 0);
        for (i = 0; i < n; i++) {{
          sum[k[i]] = sum[k[i]] + v[i];
          count[k[i]] = count[k[i]] + 1;
        }}
        return (sum, count);
    }}""",
    "nested": """double[.] f(int[n] k) {
        h = genarray([7], 0.0);
        for (i = 0; i < n; i++) {
          for (j = 0; j < 3; j++) {
            h[(k[i] + j) % 7] = h[(k[i] + j) % 7] + tod(i % 4 - j);
          }
        }
        return h;
    }""",
}
OFTEN = ("most", "steps", "rows", "means")


def keys(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, 7, n).astype(np.int32)


@contextmanager
def small_pieces() -> Iterator[None]:
    """Pieces of a few indices, and several levels."""
    with patch.object(ordered, "LEAST", 3), patch.object(ordered, "R", 4), patch.object(ordered, "SHARE", 32):
        yield


def launches(both: Both) -> list[Launch]:
    return [
        launch
        for program in both.programs()
        for loop in program.runtime.loops
        for prepared in loop.prepared.values()
        for launch in prepared.plan.launches
    ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", [pytest.param(c, marks=() if c in OFTEN else pytest.mark.long) for c in CASES])
def test_an_element_is_what_the_interpreter_says(case: str) -> None:
    with small_pieces():
        both = Both(HEAD + CASES[case])
        for n in SIZES:
            wanted, found = both.plain.f(keys(n)), both.there.f(keys(n))
            for x, y in zip(wanted, found) if isinstance(wanted, tuple) else [(wanted, found)]:
                np.testing.assert_array_equal(x, y, err_msg=str(n))
                np.testing.assert_array_equal(np.signbit(x.real), np.signbit(y.real), err_msg=str(n))
    if case != "no_columns":
        assert any("pieces of" in reason for launch in launches(both) for reason in launch.reasons)
        assert sum(launch.purpose == "joined" for launch in launches(both)) > len(SIZES)
        assert all(not p.plan.stays for p in both.programs())


@pytest.mark.parametrize("case", [pytest.param("sums", marks=pytest.mark.long), "means"])
def test_sums_do_not_depend_on_the_order_of_blocks(case: str) -> None:
    text = HEAD + CASES[case].replace("- 5.0", "* 0.1")
    found = []
    for order in ORDERS:
        with patch.object(ordered, "LEAST", 2):
            found.append(Both(text, order=order).there.f(keys(700)))
    for other in found[1:]:
        for x, y in zip(found[0], other) if case == "means" else [(found[0], other)]:
            np.testing.assert_array_equal(x, y)


def test_pieces_are_grouped_by_extents_alone() -> None:
    assert ordered.cut(1, 5) == (1, 1)
    assert ordered.cut(1 << 20, 256) == (16384, 64)
    assert ordered.cut(1 << 30, 256)[0] <= ordered.MOST
    assert ordered.cut(1000, 1 << 20) == (1, 1000)
    with pytest.raises(Refused, match="1000000 values one after the other"):
        ordered.cut(1000000, 1 << 20)
    for total in (1, 15, 17, 1000, 123457):
        for cells in (1, 100, 5000):
            pieces, length = ordered.cut(total, cells)
            assert (pieces - 1) * length < total <= pieces * length


def test_arrays_that_are_too_large_stay_with_a_reason() -> None:
    with patch.object(ordered, "LONGEST", 100):
        both = Both(HEAD + CASES["sums"].replace("7, k", "7000, k"))
        both.same("f", keys(1000))
    assert any("room for 1 piece at most" in placed.reason for p in both.programs() for placed in p.runtime.placed)


def test_an_index_outside_of_the_array_is_an_error() -> None:
    both = Both(HEAD + CASES["rows"])
    k = keys(300)
    k[200] = 7
    with pytest.raises(Exception, match="out of"):
        both.there.f(k)


def test_what_is_combined_otherwise_stays_with_a_reason() -> None:
    both = Both(
        """double mix(double a, double b) { return a * 0.5 + b; }
        double[.] f(int[n] k, double[n] v, double[.] a) {
            return with { ([0] <= [i] < [n]) : (k[i], v[i]); } : into(cos(a), mix);
        }"""
    )
    k = keys(300)
    both.same("f", k, k * 0.5, np.zeros(7))
    (stays,) = both.program().plan.stays
    assert "a function that is none of" in stays.reason


@pytest.mark.long
@pytest.mark.parametrize("case", ["means", "rows"])
def test_kernels_of_pieces_are_assembled(case: str) -> None:
    with patch.object(ordered, "R", 4):
        both = Both(HEAD + CASES[case])
        both.same("f", keys(1025))
    back = "ptxas" if toolchain.program("ptxas") else None
    for kernel in {launch.kernel for launch in launches(both)}:
        for architecture in ("sm_80", "sm_90", "sm_100"):
            for front in FRONT_ENDS:
                assert cubin(kernel, architecture, front=front, back=back).code[:4] == b"\x7fELF"


@pytest.mark.long
@pytest.mark.parametrize("front", FRONT_ENDS)
@pytest.mark.parametrize("case", ["most", "rows", "means", "bytes"])
def test_as_ptx(case: str, front: str) -> None:
    from tests.ptx.driver import PtxCuda
    from tests.ptx.sessions import session

    with small_pieces():
        gpu = PtxCuda("sm_90", front)
        text = f"use Array: all; use Math: all;\n{HEAD}{CASES[case]}"
        found = session(gpu, verify=True).compile(text).f(keys(300))
        wanted = Session(target="interp").compile(text).f(keys(300))
    for x, y in zip(wanted, found) if isinstance(wanted, tuple) else [(wanted, found)]:
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(np.signbit(x), np.signbit(y))
    assert gpu.findings.lines() == []


@pytest.mark.parametrize("base", ["byte", "double"])
def test_with_strict_floating_point_sums_of_reals_stay(base: str) -> None:
    both = Both(
        f"""{base}[.] f(int[n] k, {base}[m] a, {base}[n] v) {{
            return with {{ ([0] <= [i] < [n]) : (k[i], v[i]); }} : into(a, +);
        }}""",
        strict=True,
    )
    k = keys(300)
    both.same("f", k, np.zeros(7, DTYPES[base]), (k % 3).astype(DTYPES[base]))
    assert [program.plan.stays == [] for program in both.programs()] == [True] * (base == "byte")
