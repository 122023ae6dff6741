"""Code of chunks that is the same is there once, and what differs in anything stays apart."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sacpy.jit.host.lowering import lower
from sacpy.jit.llvm.legal import Module
from sacpy.jit.options import Options
from tests.jit.graph_text import unit as parsed
from tests.jit.native_tools import agree

RNG = np.random.default_rng(5)

TWICE = """
function f(int n, double[n] a, double[n] b)
    double[n] r = with [n] disjoint complete
        genarray double default 0.0
        part [0] <= [i] < [n]
            double x = load a[i]
            double y = mul x, {first}
            yield y
    double[n] s = with [n] disjoint complete
        genarray double default 0.0
        part [0] <= [j] < [n]
            double z = load b[j]
            double w = mul z, {second}
            yield w
    return n, r, s
"""


@pytest.mark.parametrize(("first", "second", "count"), [("2.0", "2.0", 1), ("2.0", "3.0", 2)])
def test_equal_partitions_are_one_function(first: str, second: str, count: int) -> None:
    u = parsed(TWICE.format(first=first, second=second))
    assert len(re.findall(r"define \S+ i32 @chunk", lower(u, Options()))) == count
    for n in (0, 1, 50, 30_000):
        agree(u, RNG.standard_normal(n), RNG.standard_normal(n))


PLANES = """
function f(int n, double[n,n] a, double[n,n] b)
    double[4,n,n] r = with [4,n,n] disjoint complete
        genarray double default 0.0
{parts}
    return 4, n, n, r
"""
PART = """
        part [{k},0,0] <= [k{k},i{k},j{k}] < [{k}+1,n,n]
            double x{k} = load {a}[i{k},j{k}]
            yield x{k}
"""


def test_planes_that_are_made_alike_are_one_function_but_for_the_first() -> None:
    """The first plane begins at 0, which its code knows."""
    parts = "".join(PART.format(k=k, a=a).replace(f"{k}+1", str(k + 1)) for k, a in enumerate("abab"))
    u = parsed(PLANES.format(parts=parts))
    assert len(re.findall(r"define \S+ i32 @chunk", lower(u, Options()))) == 2
    for n in (0, 1, 7, 300):
        agree(u, RNG.standard_normal((n, n)), RNG.standard_normal((n, n)))


def written(module: Module, name: str, note: str) -> str:
    return module.share(name, f"define void {name}() {{\n  store i32 1, ptr %p, !noalias {note}\n}}")


def test_names_of_functions_and_numbers_of_metadata_make_no_difference() -> None:
    module = Module()
    one, other = module.list_of((module.scope(),)), module.list_of((module.scope(),))
    assert one != other
    assert written(module, "@chunk.1", one) == "@chunk.1"
    assert written(module, "@chunk.2", other) == "@chunk.1"
    assert len(module.functions) == 1


def test_what_metadata_say_does() -> None:
    module = Module()
    first, second = module.scope(), module.scope()
    assert written(module, "@chunk.1", module.list_of((first,))) == "@chunk.1"
    assert written(module, "@chunk.2", module.list_of((first, second))) == "@chunk.2"
    assert len(module.functions) == 2
