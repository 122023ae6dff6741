"""With-loops that have a mapping keep a kernel of their own; without devices mappings mean nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy import Session
from sacpy.jit.ir.graph import Let, Unit, WithLoop, statements
from sacpy.jit.options import Options
from sacpy.jit.passes import mappings, optimise
from tests.jit.specialise_tools import Subject

MAP = "#pragma gpukernel GridBlock(1, SplitLast(64, Gen))"
GLOBAL = "#pragma gpumem global"
SHARED = "#pragma gpumem shared(a)"

PRODUCER = """double[.] f(double[n] a)
{
  b = with {
    %s
    ([0] <= [i] < [n]) : a[i] * 2.0;
  } : genarray([n], 0.0);
  return with { ([0] <= [i] < [n]) : b[i] + 1.0; } : genarray([n], 0.0);
}"""
SUM = """double f(double[n] a)
{
  b = with {
    ([0] <= [i] < [n]) %s
     : a[i] * 2.0;
  } : genarray([n], 0.0);
  return sum(b);
}"""
NEIGHBOURS = """double[.], double f(double[n] a)
{
  b = with {
    %s
    ([0] <= [i] < [n]) : exp(a[i]);
  } : genarray([n], 0.0);
  return (b, sum(b));
}"""
CELLS = """double[.,.] f(double[n] a)
{
  return with {
    %s
    ([0] <= [i] < [n]) : with { ([0] <= [j] < [n]) : a[i] * a[j]; } : genarray([n], 0.0);
  } : genarray([n]);
}"""
BORDER = """double[.] f(double[n] a)
{
  return with {
    %s
    ([0] <= [i] < [n]) : i == 0 ? a[n - 1] : a[i - 1];
  } : genarray([n], 0.0);
}"""
NESTED = """double[.] f(double[n] a)
{
  return with {
    ([0] <= [i] < [n]) {
      b = with {
        %s
        ([0] <= [j] < [n]) : a[j] * 2.0;
      } : genarray([n], 0.0);
    } : b[i] + 1.0;
  } : genarray([n], 0.0);
}"""


def optimised(text: str, pragma: str, device: bool = True) -> Unit:
    unit = Subject(text % f"\n{pragma}\n").unit((None,))
    return optimise(unit if device else mappings.run(unit), Options(verify=True))


def loops(unit: Unit) -> list[WithLoop]:
    return [
        s.rhs for f in unit.functions for s in statements(f.body) if isinstance(s, Let) and isinstance(s.rhs, WithLoop)
    ]


@pytest.mark.parametrize("text", [PRODUCER, SUM, NEIGHBOURS])
@pytest.mark.parametrize(
    ("pragma", "device", "left"), [(MAP, True, 2), (SHARED, True, 2), (MAP, False, 1), (GLOBAL, True, 1)]
)
def test_a_mapped_loop_is_not_computed_elsewhere(text: str, pragma: str, device: bool, left: int) -> None:
    assert len(loops(optimised(text, pragma, device))) == left


def test_a_mapping_keeps_the_index_space_that_it_is_about() -> None:
    (mapped,) = (w for w in loops(optimised(CELLS, MAP)) if w.pragmas)
    assert len(mapped.frame or ()) == 1
    assert [len(w.frame or ()) for w in loops(optimised(CELLS, MAP, False)) if w.partitions] == [2]
    assert [len(w.partitions) for w in loops(optimised(BORDER, MAP))] == [1]
    assert [len(w.partitions) for w in loops(optimised(BORDER, MAP, False))] == [2]


def test_inside_of_another_loop_there_is_no_kernel_to_keep() -> None:
    assert len(loops(optimised(NESTED, MAP))) == 1


@pytest.mark.parametrize("text", [PRODUCER, SUM, CELLS, BORDER, NESTED])
def test_results_are_the_interpreters(text: str) -> None:
    a = np.arange(300.0)
    program = "use Array: all; use Math: all;\n" + text % f"\n{MAP}\n"
    wanted, found = (Session(target=target).compile(program)["f"](a) for target in ("interp", "emulator"))
    assert np.array_equal(np.asarray(found), np.asarray(wanted))
