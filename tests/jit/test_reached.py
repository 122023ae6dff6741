"""Which elements the code of many threads reads, against one index after the other by Python; and where they meet."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sacpy.jit.analysis.reached import reads_of, settled
from sacpy.jit.ir import graph as g
from sacpy.jit.kernels.crossing import Crossing, Touched, apart
from sacpy.lang import constants

V = g.Var("v", g.ArrayType("int", (g.integer(64),)))
X = g.Var("x", g.INT)
CODES = ["add", "sub", "mul", "min", "max", "bitand", "bitor", "bitxor", "div", "mod", "shl", "shr"]


def expression(chance: random.Random) -> tuple[list[g.Stmt], g.Atom]:
    """Some operations on the index and small numbers."""
    lets: list[g.Stmt] = []
    atoms: list[g.Atom] = [X, *map(g.integer, (1, 2, 3, 7, 8))]
    for n in range(chance.randint(1, 6)):
        t = g.Var(f"t{n}", g.INT)
        lets.append(g.Let((t,), g.Op(chance.choice(CODES), (chance.choice(atoms), chance.choice(atoms)))))
        atoms.append(t)
    return lets, atoms[-1]


def value(lets: list[g.Stmt], x: int) -> int | None:
    """What the last of them is at an index; None where an operation refuses its operands."""
    env: dict[str, Any] = {"x": x}
    for s in lets:
        assert isinstance(s, g.Let) and isinstance(s.rhs, g.Op)
        a, b = (int(o.value) if isinstance(o, g.Const) else env[o.name] for o in s.rhs.args)
        if a is None or b is None:
            env[s.targets[0].name] = None
            continue
        try:
            env[s.targets[0].name] = constants.binary(s.rhs.code, "int", a, b)
        except constants.Undefined:
            env[s.targets[0].name] = None
    last = lets[-1]
    assert isinstance(last, g.Let)
    return env[last.targets[0].name]


def test_what_is_read_is_what_python_says() -> None:
    chance = random.Random(9)
    known = 0
    for _ in range(300):
        lets, at = expression(chance)
        code = g.Block((*lets, g.Let((g.Var("e", g.INT),), g.Load(V, (at,)))))
        (read,) = reads_of(code, {"x": np.arange(40)}, 40, {"v": (64,)})
        if read.cells is None:
            continue
        known += 1
        for x in range(40):
            wanted = value(lets, x)
            assert wanted is None or read.cells[x].tolist() == [wanted], (lets, x)
    assert known > 150


def test_settled_code_gives_the_same() -> None:
    chance = random.Random(10)
    changed = 0
    for _ in range(300):
        lets, at = expression(chance)
        new = settled(g.Block(tuple(lets), (at,)), {"x": np.arange(40)}, 40)
        changed += list(new.statements) != lets
        assert all(value(list(new.statements), x) == v for x in range(40) if (v := value(lets, x)) is not None)
    assert changed > 20


@pytest.mark.parametrize(("limit", "left"), [(40, 0), (39, 1)])
def test_a_check_goes_if_it_holds_at_all_indices(limit: int, left: int) -> None:
    ok = g.Var("ok", g.BOOL)
    code = g.Block((g.Let((ok,), g.Op("lt", (X, g.integer(limit)))), g.Check(ok, "it is small")))
    assert sum(isinstance(s, g.Check) for s in settled(code, {"x": np.arange(40)}, 40).statements) == left


def test_the_indices_of_a_loop_are_all_read_and_those_of_elements_any() -> None:
    i, t, e = g.Var("i", g.INT), g.Var("t", g.INT), g.Var("e", g.INT)
    body = g.Block((g.Let((t,), g.Op("add", (X, i))), g.Let((e,), g.Load(V, (t,)))))
    loop = g.For(i, g.integer(0), g.integer(6), 2, (), (), body)
    (read,) = reads_of(g.Block((g.Let((), loop),)), {"x": np.arange(3)}, 3, {"v": (64,)})
    assert read.cells is not None and read.cells.tolist() == [[0, 2, 4], [1, 3, 5], [2, 4, 6]]
    twice = g.Block((g.Let((t,), g.Load(V, (X,))), g.Let((e,), g.Load(V, (t,)))))
    first, second = reads_of(twice, {"x": np.arange(3)}, 3, {"v": (64,)})
    assert first.cells is not None and second.cells is None


def test_threads_meet_where_one_reads_what_another_has_written() -> None:
    threads = np.arange(4)
    own, next_ = threads[:, None], (threads[:, None] + 1) % 4
    met = Crossing({"a": 4, "b": 4})
    met.note((), [Touched("a", threads, own)])
    assert not met.needs([Touched("a", threads, own)], [Touched("b", threads, next_)])
    assert met.needs([Touched("a", threads, next_)], ()) and met.needs([Touched("a", threads, None)], ())
    assert met.needs((), [Touched("a", threads, next_)])
    met.meet()
    met.note([Touched("a", threads, next_)], ())
    assert not met.needs([Touched("a", threads, own)], ()) and met.needs((), [Touched("a", threads, own)])
    pairs = np.array([[0, 1], [0, 1], [2, 3], [2, 3]])
    writes = [Touched("a", threads // 2, own)]
    assert apart(4, [Touched("a", threads // 2, pairs)], writes)
    assert not apart(4, [Touched("a", threads // 2, next_)], writes)
