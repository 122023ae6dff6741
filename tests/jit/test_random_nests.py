"""Random nests of loops that combine elements, rows and whole arrays: as folds they give the same, whichever of them
that is said to be possible of (`analysis/combine`)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.passes import accumulating
from tests.jit.graph_evaluator import evaluate
from tests.jit.graph_text import unit
from tests.jit.native_tools import agree_on

HEAD = "function f(int n, int m, double[n,m] a, int s, double[s,s] u, int lo, int hi)\n"
TERMS = ("mul x, y", "sub x, y", "min x, y", "exp x")
STEPS = (
    *(
        f"double g = {op}"
        for op in ("add z, t", "sub z, t", "sub t, z", "min t, z", "max z, t", "mul z, t", "add z, z")
    ),
    "bool c = le z, t; double g = select c, z, t",
    "bool c = lt t, z; double g = select c, z, t",
    "bool c = ge z, t; bool o = neq z, z; bool e = or o, c; double g = select e, z, t",
)
SHAPES = ((4, 5, 0, 3), (5, 4, 1, 4), (3, 3, 2, 1), (0, 3, 0, 0), (3, 0, 0, 0))


class Nest:
    """The text of one nest. `axes`: the counters so far; `array`: the newest version of the array."""

    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)
        self.lines: list[str] = []
        self.axes: list[str] = []
        self.array = "a"

    def text(self) -> str:
        """Loops in any order around an update of an element, of a row, or of some of an array."""
        rnd = self.rnd
        names = rnd.sample("ijkh", rnd.choice((2, 3, 3, 4)))
        cells = names[len(names) - rnd.choice((0, 0, 1, 2)) :] if len(names) > 2 else []
        loops = names[: len(names) - len(cells)]
        for name in loops:
            self.loop(name)
        self.inside(cells)
        for depth, name in reversed([*enumerate(loops)][1:]):
            self.add(f"next r{name}", depth)
        return HEAD + "\n".join(self.lines) + f"\n    return n, m, r{loops[0]}\n"

    def add(self, line: str, depth: int) -> None:
        self.lines.append("    " * (depth + 1) + line)

    def loop(self, name: str) -> None:
        depth, rnd = len(self.axes), self.rnd
        lower = rnd.choice(["0", "0", "0", "1", "lo", *self.axes])
        upper = rnd.choice(["n", "m", "n", "m", "hi", "4", *self.axes])
        if upper in self.axes and rnd.random() < 0.5:
            self.add(f"int e{name} = add {upper}, 1", depth)
            upper = f"e{name}"
        step = 2 if rnd.random() < 0.05 else 1
        rounds = f"for {name} from {lower} to {upper} step {step}"
        self.add(f"double[n,m] r{name} = {rounds} with double[n,m] p{name} := {self.array}", depth)
        self.axes.append(name)
        self.array = f"p{name}"

    def inside(self, cells: list[str]) -> None:
        rnd, depth, every = self.rnd, len(self.axes), [*self.axes, *cells]
        array = self.array

        def index() -> str:
            return f"{rnd.choice(every)},{rnd.choice(every)}"

        front = self.axes if len(cells) == 1 else every
        at = (
            ",".join((*rnd.sample(front, 2 - len(cells)), *cells))
            if len(cells) < 2 and len(front) > 1
            else ",".join(cells)
        )
        if at.count(",") != 1:
            at = f"0,{at}" if at else index()
        code = [
            f"double x = load u[{index()}]",
            f"double y = load {'u' if rnd.random() < 0.93 else array}[{index()}]",
            f"double t = {rnd.choice(TERMS)}",
            f"double z = load {array}[{at if rnd.random() < 0.9 else index()}]",
            *rnd.choice(STEPS).split("; "),
        ]
        if not cells:
            code.append(f"double[n,m] w = update {array}[{at}] with g")
        elif len(cells) == 1:
            head = ["double[m] row = with [m] disjoint complete", "    genarray double default 0.0"]
            body = [f"    part [0] <= [{cells[0]}] < [m]", *(f"        {line}" for line in (*code, "yield g"))]
            code = [*head, *body, f"double[n,m] w = update {array}[{at.split(',')[0]}] with row"]
        else:
            whole = rnd.random() < 0.6
            low, high = (
                ("[0,0]", "[n,m]") if whole else (rnd.choice(("[1,0]", "[1,1]")), rnd.choice(("[n,m]", "[n,2]")))
            )
            makes = whole and rnd.random() < 0.5
            head = [
                f"double[n,m] w = with [n,m] disjoint{' complete' if whole else ''}",
                "    genarray double default 0.0" if makes else f"    modarray {array}",
                f"    part {low} <= [{','.join(cells)}] < {high}",
            ]
            code = [*head, *(f"        {line}" for line in (*code, "yield g"))]
        for line in (*code, "next w"):
            self.add(line, depth)


def arguments(seed: int) -> list[list[Any]]:
    rng = np.random.default_rng(seed)
    odd = (np.nan, 0.0, -0.0)
    found: list[list[Any]] = []
    for n, m, lo, hi in SHAPES:
        a = np.where(rng.random((n, m)) < 0.1, rng.choice(odd), rng.standard_normal((n, m)))
        found.append([a, rng.standard_normal((9, 9)), lo, hi])
    return found


def compared(seeds: range) -> int:
    """How many of some nests become folds, all of which give the same."""
    changed = 0
    for seed in seeds:
        text = Nest(seed).text()
        before = unit(text)
        verify(before)
        after = accumulating.run(before)
        if after == before:
            continue
        verify(after)
        changed += 1
        for args in arguments(seed):
            try:
                expected = evaluate(before, [x.copy() if isinstance(x, np.ndarray) else x for x in args])
            except AssertionError:
                continue  # an index lies outside: checks in front would have ended this
            assert repr(evaluate(after, args)) == repr(expected), text
            if seed % 40 == 0:
                agree_on(after, [args])
    return changed


def test_nests_that_become_folds_give_the_same() -> None:
    assert compared(range(150)) > 3


@pytest.mark.long
def test_many_nests_that_become_folds_give_the_same() -> None:
    assert compared(range(1000, 9000)) > 200
