"""Pragmas that ask for a kernel get one, however little the with-loop does and whatever passes could make of it; where
there is none to lay out, that is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.weigh import Policy
from sacpy.jit.run.on_demand import OnDemand
from sacpy.lang.diagnostics import SacError
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES

MAP = "\n#pragma gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))\n"
ARRAY = np.arange(20, dtype=np.int32)
LAID_OUT: dict[str, tuple[str, tuple[Any, ...], int]] = {
    "few known cells": (
        "int[.] f(int n) { return with {MAP ([0] <= iv < [9]) : iv[0] + n; } : genarray([9], 0); }",
        (3,),
        1,
    ),
    "cells of which one is used": (
        "int f(int n) { a = with {MAP ([0] <= iv < [9]) : iv[0] + n; } : genarray([9], 0); return a[3]; }",
        (3,),
        1,
    ),
    "a fold over few indices": (
        "int f(int n) { return with {MAP ([0] <= iv < [9]) : iv[0] + n; } : fold(+, 0); }",
        (3,),
        1,
    ),
    "a fold that could be unrolled": (
        "int f(int n) { return with {MAP ([0] <= iv < [40]) : iv[0] + n; } : fold(+, 0); }",
        (3,),
        1,
    ),
    "a part of an array": (
        "int[.] f(int[.] a) { return with {MAP ([0] <= iv < [9]) : iv[0]; } : modarray(a); }",
        (ARRAY,),
        1,
    ),
    "the same everywhere": (
        "int f(int k) { a = with {MAP ([0] <= iv < [100]) : 7; } : genarray([100], 0); return a[k]; }",
        (4,),
        1,
    ),
    "a copy": (
        "int[.] f(int[.] a) { return with {MAP ([0] <= iv < shape(a)) : a[iv]; } : genarray(shape(a), 0); }",
        (ARRAY,),
        1,
    ),
    "what another one reads": (
        "int[.] f(int n) { a = with {MAP ([0] <= iv < [n]) : iv[0] * 3; } : genarray([n], 0); return a + 1; }",
        (30,),
        1,
    ),
    "the same twice": (
        "int f(int n) { a = with {MAP ([0] <= iv < [n]) : iv[0]; } : genarray([n], 0); b = with "
        "{MAP ([0] <= iv < [n]) : iv[0]; } : genarray([n], 0); return sum(a) + sum(b); }",
        (30,),
        2,
    ),
    "every round of a loop": (
        "int[.] f(int n) { a = [1,2,3]; for (k = 0; k < n; k++) { a = with {MAP ([0] <= iv < "
        "[3]) : a[iv] * 3 + k; } : genarray([3], 0); } return a; }",
        (30,),
        1,
    ),
    "a branch": (
        "int f(int n) { if (n > 3) { s = with {MAP ([0] <= iv < [n]) : iv[0]; } : fold(+, 0); } "
        "else { s = 1; } return s; }",
        (30,),
        1,
    ),
    "a sum in halves": (
        "int f(int n) { return with {\n#pragma gpufold halving\n([0] <= [i] < [40]) : i + n; } : fold(+, 0); }",
        (3,),
        1,
    ),
    "what an earlier partition covers too": (
        "int[.] f(int n) { return with { ([0] <= iv < [5]) : 1; #pragma gpukernel GridBlock(1, "
        "SplitLast(32, Gen))\n([0] <= iv < [n]) : 2; } : genarray([n], 0); }",
        (30,),
        1,
    ),
}


def session(always: bool) -> Session:
    """On the emulator, every access checked."""
    made = Session(target="emulator")
    engine = OnDemand("emulator", eager=True, defects=True, verify=True, cache=Cache(None))
    engine.engine.tools.device = Device(Hardware(EmulatorMachine(DEVICES["sm_90"], check=True)), Policy(always=always))
    made._workspace.use(engine)
    return made


@pytest.mark.parametrize("always", [True, pytest.param(False, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", LAID_OUT)
def test_what_has_a_mapping_is_laid_out_by_it(name: str, always: bool) -> None:
    text, args, count = LAID_OUT[name]
    text = "use Array: all;\n" + text.replace("MAP", MAP)
    there = session(always)
    found = there.define(text).f(*args)
    assert np.array_equal(found, Session(target="interp").define(text).f(*args))
    assert str(there.explain()).count("the pragma says so") == count


@pytest.mark.parametrize("always", [True, False])
def test_what_is_to_be_staged_is(always: bool) -> None:
    there = session(always)
    text = (
        "use Array: all; int[.] f(int[.] a) { return with {\n#pragma gpumem shared(a)\n([1] <= "
        "[i] < shape(a) - 1) : a[i - 1] + a[i + 1]; } : genarray(shape(a), 0); }"
    )
    assert np.array_equal(there.define(text).f(ARRAY)[1:-1], ARRAY[:-2] + ARRAY[2:])
    assert "bytes of shared memory: a by tiles of 34" in str(there.explain())


def test_a_mapping_in_a_body_is_told_where_it_stands_and_by_explain() -> None:
    inner = "with {MAP ([0] <= iv < [n]) : iv[0] * 3; } : fold(+, 0)".replace("MAP", MAP)
    there = session(True)
    module = there.define(
        "use Array: all; int g(int n) { return INNER; } int[.] f(int n) { return { [i] -> g(n + "
        "i) | [i] < [50] }; }".replace("INNER", inner)
    )
    assert module.f(30)[2] == 3 * 32 * 31 // 2
    assert "its pragmas lay out nothing: it is computed in the body of another with-loop" in str(there.explain())
    assert module.g(30) == 3 * 30 * 29 // 2
    assert "the pragma says so" in str(there.explain("g"))


def test_a_mapping_of_what_no_kernel_does_is_refused() -> None:
    text = "int[.] f(int[.,.] a) { return with {MAP ([0] <= iv < [20]) : a[iv]; } : fold(+, genarray([20], 0)); }"
    with pytest.raises(SacError) as caught:
        session(True).define("use Array: all;\n" + text.replace("MAP", MAP)).f(np.ones((20, 20), np.int32))
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.span.text) == (
        "E0812",
        "this with-loop cannot run on a GPU: it folds arrays",
        "gpukernel",
    )


def test_a_way_to_fold_that_cannot_be_is_refused() -> None:
    text = """
        use Array: all;
        struct Map { int a; int b; };
        struct Map after(struct Map f, struct Map g) { return Map{f.a * g.a, f.a * g.b + f.b}; }
        int ordered(int n)
        {
          m = with {
            #pragma gpufold strided(4)
            ([0] <= [i] < [n]) : Map{i + 1, i};
          } : fold(after, Map{1, 0});
          return m.a + m.b;
        }
        int[.] ends(int[.,.] a)
        {
          return with {
            #pragma gpufold shuffle
            ([0] <= [i] < [20]) : with { ([0] <= [j] < [20]) : a[i,j]; } : foldfix(+, 0, 7);
          } : genarray([20], 0);
        }
        int[.] many(int[.,.] a)
        {
          return with {
            #pragma gpufold runs(4)
            ([0] <= [i] < [2]) : sum(a[i]);
          } : genarray([2], 0);
        }
        int both(int[.] a)
        {
          return with {
            #pragma gpukernel GridBlock(1, SplitLast(48, ShiftLB(Gen)))
            #pragma gpufold shuffle
            ([0] <= iv < shape(a)) : a[iv];
          } : fold(+, 0);
        }"""
    module = session(True).define(text)
    calls: list[tuple[Any, Any, str]] = [
        (module.ordered, 5, "strided(4)"),
        (module.ends, np.ones((20, 20), np.int32), "shuffle"),
        (module.many, np.ones((2, 5000), np.int32), "runs(4)"),
        (module.both, np.ones(200, np.int32), "shuffle"),
    ]
    for function, arg, at in calls:
        with pytest.raises(SacError) as caught:
            function(arg)
        assert [(d.code, d.span.text) for d in caught.value.diagnostics] == [("E0820", at)]
    assert module.many(np.ones((2, 4096), np.int32)).tolist() == [4096, 4096]


def test_staging_of_what_is_read_elsewhere_is_refused() -> None:
    text = (
        "int[.] f(int[.,.] a) { return with {\n#pragma gpumem shared(a)\n([0] <= [i] < [20]) : "
        "with { ([0] <= [j] < [20]) : a[19 - i,j]; } : foldfix(+, 0, 7); } : genarray([20], 0); }"
    )
    with pytest.raises(SacError) as caught:
        session(True).define("use Array: all;\n" + text).f(np.ones((20, 20), np.int32))
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.text) == ("E0819", "a")
