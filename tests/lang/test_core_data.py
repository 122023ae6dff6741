"""Functions of core as plain data."""

from __future__ import annotations

import pytest

from sacpy.base.plain import Unpacked
from sacpy.lang.core_data import packed, unpacked
from sacpy.lang.core_printer import print_function
from sacpy.workspace import Workspace

TEXT = """use Array: all;
inline int, double[*] f(int[n,m] a, double[+] b, double[d:shp] c, int[.,3] e) | n > 0
{
  x = with {
#pragma gpukernel GridBlock(1, Gen)
 ([0,0] <= iv < [n,m]) : a[iv] + 3; } : genarray([n,m], -1);
  s = 0;
  for (i = 0; i < n; i++) { if (x[i,0] > 1) { s += sum(e[i]); } }
  do { s = s - 7; } while (s > 0);
  return (s, b * -0.0);
}
int main() { return 0; }
"""


def test_a_function_comes_back_as_it_was() -> None:
    program, _ = Workspace().load_text(TEXT)
    function = program.function(program.key(program.main.own("f")[0], ()))
    again = unpacked(packed(function))
    assert print_function(again) == print_function(function)
    assert again.signature.params[2].pattern is not None
    assert again.signature.span.source.name == function.signature.span.source.name
    assert packed(again) == packed(function)


def test_bytes_of_something_else_are_refused() -> None:
    with pytest.raises(Unpacked):
        unpacked(b"nonsense")
