"""Random Python functions of the subset.

In: a seed. Out: the text of a typed function with loops, conditionals, jumps, updates, slices, comprehensions and calls
of NumPy, and arguments for it. Whole numbers are kept below 10^4, so that those of Python stay within 64 bits.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

HEAD = "def f(a: int, b: int, x: float, y: float, v: Double['n'], w: Double['m', 'k'], p: Int['l'])"
RESULTS = " -> tuple[int, int, float, float, Double[:], Double[:, :], Int[:]]:"
RETURN = "return a, b, x, y, v, w, p"


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.names = 0
        self.indices: list[str] = []

    def text(self) -> str:
        """The whole function."""
        self.lines = [HEAD + RESULTS]
        for name in "vwp":
            self.write(1, f"{name} = {name}.copy()")
        self.block(1, 3, self.random.randint(3, 7))
        self.write(1, RETURN)
        return "\n".join(self.lines) + "\n"

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    # ------------------------------------------------------------ expressions

    def whole(self, depth: int = 2) -> str:
        """A whole number."""
        e = (lambda: self.whole(depth - 1)) if depth else (lambda: self.atom())
        if depth == 0:
            return self.atom()
        kind = self.random.randrange(14)
        if kind < 4:
            return f"({e()} {self.pick('+', '-', '*')} {e()})"
        if kind == 4:
            return f"({e()} {self.pick('//', '%')} {self.pick('3', '-4', '7', f'(abs({e()}) + 1)')})"
        if kind == 5:
            return f"({e()} if {self.truth(depth - 1)} else {e()})"
        if kind == 6:
            return f"{self.pick('min', 'max')}({e()}, {e()})"
        if kind == 7:
            return f"abs({e()})"
        if kind == 8:
            return f"int({self.real(depth - 1)})"
        if kind == 9:
            return f"p[{self.index('p')}]"
        if kind == 10:
            return f"sum({self.bound('q', e())} for q in range({self.pick('3', 'len(p)')}))"
        if kind == 11:
            return f"({e()} {self.pick('&', '|', '^')} {e()})"
        return self.atom()

    def bound(self, name: str, expression: str) -> str:
        return f"({expression} + {name} * {self.random.randint(-3, 3)}) % 1000"

    def atom(self) -> str:
        return self.pick("a", "b", "len(v)", "w.shape[0]", str(self.random.randint(-9, 9)), *self.indices * 2)

    def real(self, depth: int = 2) -> str:
        """A real number."""
        if depth <= 0:
            return self.pick("x", "y", "0.5", "-1.25", "3.0")
        e = lambda: self.real(depth - 1)  # noqa: E731
        kind = self.random.randrange(13)
        if kind < 4:
            return f"({e()} {self.pick('+', '-', '*')} {e()})"
        if kind == 4:
            return f"({e()} / (abs({e()}) + 1.0))"
        if kind == 5:
            return f"({e()} {self.pick('+', '*', '-')} {self.whole(depth - 1)})"
        if kind == 6:
            return f"{self.pick('math.sin', 'math.cos', 'math.atan', 'abs', 'float')}({e()})"
        if kind == 7:
            return f"v[{self.index('v')}]"
        if kind == 8:
            return f"w[{self.index('w')}, {self.index('w', 1)}]"
        if kind == 9:
            return f"({e()} if {self.truth(depth - 1)} else {e()})"
        if kind == 10:
            return f"({e()} {self.pick('//', '%')} {self.pick('2.0', '-0.75', '3')})"
        return self.pick("x", "y", "np.sum(v)", "v.mean()", "np.max(w)", "w[0].min()")

    def index(self, name: str, axis: int = 0) -> str:
        """An index that is there."""
        extent = f"{name}.shape[{axis}]" if name == "w" else f"len({name})"
        return self.pick("0", "-1", f"({self.atom()}) % {extent}", f"({self.whole(1)}) % {extent}")

    def truth(self, depth: int = 1) -> str:
        """A condition."""
        if depth > 0 and self.random.randrange(4) == 0:
            return f"({self.truth(depth - 1)} {self.pick('and', 'or')} {self.truth(depth - 1)})"
        if self.random.randrange(5) == 0:
            return f"not ({self.truth(0)})"
        mark = self.pick("<", "<=", ">", ">=", "==", "!=")
        if self.random.randrange(4) == 0:
            return f"{self.whole(1)} {self.pick('<', '<=')} {self.whole(1)} {mark} {self.whole(1)}"
        return f"{self.whole(1)} {mark} {self.whole(1)}" if self.random.randrange(2) else f"x {mark} {self.real(1)}"

    def vector(self) -> str:
        """An array as long as v."""
        some = self.random.randrange(8)
        if some == 0:
            return f"np.roll(v, {self.random.randint(-3, 3)})"
        if some == 1:
            return f"np.where(v > {self.real(1)}, v, {self.real(1)})"
        if some == 2:
            return f"np.array([{self.real(1)} + i1 for i1 in range(len(v))])"
        if some == 3:
            return f"np.{self.pick('sin', 'floor', 'abs', 'sort')}(v)"
        if some == 4:
            return "v[::-1]"
        return f"v {self.pick('+', '-', '*')} {self.pick('v', self.real(1), 'v[::-1]', '2')}"

    def matrix(self) -> str:
        """An array of the shape of w."""
        return self.pick(
            f"w * {self.real(1)}", "w + w", f"np.roll(w, 1, axis={self.random.randrange(2)})", "w - w[0]", "w[::-1, :]",
            "np.minimum(w, 1.5)", f"w - w.sum(axis=1, keepdims=True) * {self.real(0)}", "w.T.T.copy()",
        )  # fmt: skip

    # ------------------------------------------------------------ statements

    def block(self, depth: int, deep: int, count: int) -> None:
        """Some statements."""
        for _ in range(count):
            self.statement(depth, deep)

    def statement(self, depth: int, deep: int) -> None:
        kind = self.random.randrange(20)
        if kind < 4:
            self.write(depth, f"{self.pick('a', 'b')} = ({self.whole()}) % 1009 - 300")
        elif kind < 7:
            self.write(depth, f"{self.pick('x', 'y')} = math.sin({self.real()}) * 4.0")
        elif kind == 7:
            self.write(depth, f"{self.pick('a', 'b')} {self.pick('+=', '-=')} ({self.whole(1)}) % 11")
        elif kind == 8:
            self.write(depth, f"v[{self.index('v')}] {self.pick('=', '+=', '-=')} math.cos({self.real(1)})")
        elif kind == 9:
            self.write(depth, f"w[{self.index('w')}, {self.index('w', 1)}] = math.sin({self.real(1)})")
        elif kind == 10:
            self.write(depth, f"p[{self.index('p')}] = ({self.whole()}) % 503")
        elif kind == 11:
            self.write(depth, f"v = np.sin({self.vector()})")
        elif kind == 12:
            self.write(depth, f"w = np.cos({self.matrix()})")
        elif kind == 13:
            row = f"w[{self.index('w')}] = {self.real(0)}"
            some = ("v[1:] = v[:-1] * 0.5", "w[:, 0] = x", "v[::2] = 0.25", "a, b = b, a", "x, y = y, x + 0.5")
            self.write(depth, self.pick(row, *some, "p = p[::-1].copy()"))
        elif deep and kind < 17:
            self.write(depth, f"if {self.truth()}:")
            self.inner(depth + 1, deep - 1)
            if self.random.randrange(2):
                self.write(depth, "else:")
                self.inner(depth + 1, deep - 1)
        elif deep and self.loops < 3:
            self.loop(depth, deep)
        else:
            self.write(depth, f"b = ({self.whole(1)}) % 77")

    def loop(self, depth: int, deep: int) -> None:
        """A loop; jumps may stand in it."""
        self.loops += 1
        self.names += 1
        if self.random.randrange(3) == 0:
            counter = f"c{self.names}"
            self.write(depth, f"{counter} = 0")
            self.write(depth, f"while {counter} < {self.random.randint(1, 6)} and {self.truth(0)}:")
            self.write(depth + 1, f"{counter} += 1")
        else:
            counter = f"i{self.names + 1}"
            over = self.pick(
                "range(5)", "range(len(v))", "range(a % 7)", "range(6, 0, -1)", f"range(1, {self.whole(1)} % 9, 2)"
            )
            self.write(depth, f"for {counter} in {over}:")
            self.indices.append(counter)
        self.inner(depth + 1, deep - 1)
        if counter in self.indices:
            self.indices.remove(counter)
        self.loops -= 1

    def inner(self, depth: int, deep: int) -> None:
        self.block(depth, deep, self.random.randint(1, 3))
        if self.random.randrange(4) == 0:
            jump = self.pick("break", "continue", RETURN) if self.loops else RETURN
            if self.random.randrange(2):
                self.write(depth, f"if {self.truth(0)}:")
                self.write(depth + 1, jump)
                self.block(depth, deep, 1)
            else:
                self.write(depth, jump)


def generated(seed: int) -> tuple[str, tuple[Any, ...]]:
    """The text of a function, and its arguments."""
    rng = np.random.default_rng(seed)
    given = (
        int(rng.integers(-20, 20)), int(rng.integers(-20, 20)), float(rng.normal()), float(rng.normal()),
        rng.normal(size=rng.integers(2, 6)), rng.normal(size=(rng.integers(1, 4), rng.integers(1, 4))),
        rng.integers(-9, 9, rng.integers(1, 5)),
    )  # fmt: skip
    return Writer(seed).text(), given
