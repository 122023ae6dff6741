"""Nodes as plain data: what was packed comes back as it was, and nothing else does."""

import marshal
import math
import pickle
from typing import Any

import pytest

from sacpy.base.plain import Packing, Unpacked
from sacpy.jit.ir import graph
from sacpy.lang import ast, modules, source
from sacpy.lang.source import Source, Span
from sacpy.nodes import Node, Record

PROGRAM = """use Array: all;

double[n,m] blurred(double[n,m] a, int k) {
  b = with {
    ([1, 1] <= [i, j] < [n - 1, m - 1]) : (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.25;
  } : modarray(a);
  for (r = 0; r < k; r++) {
    b = { [i, j] -> b[i, j] > 1e300 ? 0.0 : b[i, j] * 2.0 };
  }
  return b;
}

int main() { return 0; }
"""


class Pair(Node):
    left: Any
    right: Any = None


class Note(Record):
    text: str


PACKING = Packing(Pair, Note)


def same(a: Any, b: Any) -> bool:
    """Whether two trees agree in every field, those included that comparisons leave out; sources by their names."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Source):
        return bool(a.name == b.name)
    if isinstance(a, Node | Record):
        return all(same(getattr(a, n), getattr(b, n)) for n in type(a)._specs)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return bool(a == b) and str(a) == str(b)


def test_every_module_of_the_library_is_what_it_was(tmp_path: Any) -> None:
    packing = modules.packing()
    names = sorted(p.stem for p in source.STDLIB.glob("*.sac"))
    assert len(names) > 60
    for name in names:
        info = modules.parse_file(source.STDLIB / f"{name}.sac", (source.STDLIB / "include",), library=True)
        assert same(packing.unpacked(packing.packed(info)), info), name


@pytest.mark.parametrize("value", [
    0, -(2**80), True, 1.5, -0.0, math.inf, "", "\udcff\u00e9", b"\x00", None, (), [], {}, (1, True, 1.0, "1"),
    [1, [2]],
    {"a": (1,), "b": [2]},
    Pair(1), Pair(Pair(0.0), (Pair(-0.0), Note("a"))), tuple(range(300)),
])  # fmt: skip
def test_values_of_all_sorts(value: Any) -> None:
    assert same(PACKING.unpacked(PACKING.packed(value)), value)


def test_a_nan_stays_one() -> None:
    assert math.isnan(PACKING.unpacked(PACKING.packed(math.nan)))


def test_what_is_one_object_stays_one_and_what_is_not_only_where_that_is_wanted() -> None:
    one, note = Pair(1), Note("n")
    both = (one, one, Pair(1), note, note, Note("n"))
    a, b, c, d, e, f = PACKING.unpacked(PACKING.packed(both))
    assert a is b and a is not c and d is e and d is not f
    a, b, c, d, e, f = Packing(Pair, Note, merged=True).unpacked(Packing(Pair, Note, merged=True).packed(both))
    assert a is b and a is c and d is e and d is not f


def test_other_classes_are_refused() -> None:
    with pytest.raises(TypeError, match="Span is not known"):
        PACKING.packed(Pair(Span(Source("f"), 0, 1)))
    with pytest.raises(TypeError, match="object is not known"):
        PACKING.packed(object())
    with pytest.raises(Unpacked):
        PACKING.unpacked(Packing(graph).packed(graph.TRUE))


@pytest.mark.parametrize("data", [
    b"", b"garbage", marshal.dumps(7), marshal.dumps(((), (), ())), marshal.dumps((("Pair",), (1,), ((5, 0),))),
    marshal.dumps((("Pair",), (1,), ((0, 7),))), marshal.dumps((("Pair",), (1,), ((0, 0, 0, 0),))),
    marshal.dumps((("Note",), (("text", "x"),), ((0, 0),))), marshal.dumps((("__import__",), ("os",), ((0, 0),))),
    pickle.dumps(Pair(1)),
])  # fmt: skip
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Unpacked):
        PACKING.unpacked(data)


def test_a_graph_is_what_it_was_with_the_text_of_its_source(emulated_unit: Any) -> None:
    from sacpy.jit.run.device_compiler import packing

    again = packing().unpacked(packing().packed(emulated_unit))
    assert same(again, emulated_unit)
    spans = [s.span for f in again.functions for s in graph.statements(f.body) if s.span.source.name == "<own>"]
    assert spans and all(s.source.text.startswith("use Array") for s in spans)


@pytest.fixture
def emulated_unit() -> graph.Unit:
    from sacpy.jit.options import Options
    from sacpy.jit.run.compiler import Clock, optimised, specialised
    from sacpy.jit.specialise import Specialiser
    from sacpy.workspace import Workspace

    program, _ = Workspace().load_text(PROGRAM, "<own>")
    key = program.key(program.main.own("blurred")[0], ())
    options = Options()
    unit = specialised(Specialiser(program), program, key, ((None, None), ()), options, Clock())
    return optimised(unit, options, Clock(), device=True)


def test_nodes_of_syntax_are_known_by_their_names() -> None:
    assert isinstance(modules.packing().unpacked(modules.packing().packed(ast.Pragma("x", source.NOWHERE))), ast.Pragma)
