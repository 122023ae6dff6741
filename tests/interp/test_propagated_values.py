"""Propagated scalars: the next value is an expression, used once or more than once, alone or beside other operators."""

import math

import pytest

import sacpy

TEXT = """use Array: all; use Math: all;
double alone(int n) { s = 0.5; s = with { ([0] <= [i] < [n]) : s + tod(i); } : propagate(s); return s; }
double called(int n) { s = 0.5; r = with { ([0] <= [i] < [n]) : sin(s + tod(i)); } : propagate(s); return r; }
double bound(int n) { s = 0.5; s = with { ([0] <= [i] < [n]) { t = sin(s + tod(i)); } : t; } : propagate(s); return s; }
double[.], double beside(int n) {
  s = 1.0;
  a, s = with { ([0] <= [i] < [n]) : (s * 2.0, s + tod(i)); } : (genarray([n], 0.0), propagate(s));
  return (a, s);
}
double[.], double shared(int n) {
  s = 1.0;
  a, s = with { ([0] <= [i] < [n]) { t = s + tod(i); } : (t, t); } : (genarray([n], 0.0), propagate(s));
  return (a, s);
}
double, double both(int n) {
  s = 1.0;
  f, s = with { ([0] <= [i] < [n]) { t = s + tod(i); } : (t * 2.0, t); } : (fold(+, 0.0), propagate(s));
  return (f, s);
}
"""


@pytest.mark.parametrize("target", ["interp", "cpu", "emulator"])
def test_propagated_scalars(target: str) -> None:
    module = sacpy.Session(target=target).compile(TEXT)
    s = r = 0.5
    sums = [1.0]
    for i in range(5):
        s, r = s + i, math.sin(r + i)
        sums.append(sums[-1] + i)
    assert module.alone(5) == s
    assert module.called(5) == pytest.approx(r)
    assert module.bound(5) == pytest.approx(r)
    a, s = module.beside(5)
    assert (a.tolist(), s) == ([2 * x for x in sums[:-1]], sums[-1])
    a, s = module.shared(5)
    assert (a.tolist(), s) == (sums[1:], sums[-1])
    assert module.both(5) == (2 * sum(sums[1:]), sums[-1])
    assert module.alone(0) == 0.5
