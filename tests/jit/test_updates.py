"""Updates of a few elements of a large array, in functions that are called often: no copy each time, whatever the
target."""

from __future__ import annotations

import pytest

import sacpy
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.run.engine import Engine
from tests.tools import loaded

HEAP = """use Array: all; use StdIO: all;
int[n] push(int[n] h, int size, int v)
{
  i = size; h[i] = v;
  while (i > 0 && h[(i - 1) / 2] > h[i]) { p = (i - 1) / 2; t = h[p]; h[p] = h[i]; h[i] = t; i = p; }
  return h;
}
int main()
{
  h = genarray([4000000], 0); s = 1;
  for (k = 0; k < 5000; k++) { s = (s * 1103 + 12345) % 1000003; h = push(h, k, s);
    if (k % 2500 == 0) { printf("%d\\n", h[0]); } }
  return h[17] % 200;
}
"""
LATE = HEAP.replace("h[i] = v;", "h[i] = v; h[h[i] % 100 + i] = v;", 1)  # what may fail after an update


@pytest.mark.parametrize("target", ["auto", "cpu"])
@pytest.mark.parametrize("text", [HEAP, LATE], ids=["given over", "late check"])
def test_a_heap_that_is_pushed_to_from_interpreted_code_is_not_copied_each_time(text: str, target: str) -> None:
    engine = Engine(target, cache=Cache(None))
    program = loaded(text)
    (result,) = Evaluator(program, World.captured(), engine=engine).call(program.main_key(), ())
    assert result == sacpy.Session(target="interp").compile(text).main()
    assert engine.copied < 100 * 4 * 4000000  # of 5000 calls


def test_a_version_that_copies_but_is_faster_stays() -> None:
    text = """use Array: all; int[n] sorted(int[n] v) { for (i = 1; i < n; i++) { x = v[i]; j = i - 1;
  while (j >= 0 && v[j] > x) { v[j + 1] = v[j]; j--; } v[j + 1] = x; } return v; }"""
    session = sacpy.Session(target="cpu")
    module = session.compile(text)
    for _ in range(50):
        assert module.sorted([7, 1, 9] * 200)[0] == 1
    assert [r.where for r in session.stats().rows if r.function == "sorted" and r.calls > 40] == ["native"]
