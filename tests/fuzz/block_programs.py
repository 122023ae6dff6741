"""Random functions rich in `++`, views, blocks and recursion, where arrays are made in others, and looked into by
several names.

In: a seed. Out: a function of SaC, which calls those of `HELPERS`, and arguments for it. What is generated knows how
long its arrays are, so that most programs run to their end; the compiler does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from sacpy.interp.values import DTYPES

HELPERS = """use Array: all;
inline double[n] sc(double[n] a) { r = a; for (i = 1; i < n; i++) { r[i] = r[i - 1] * 0.5 + a[i]; } return r; }
inline double[n] back(double[n] r) { for (j = n - 2; j >= 0; j--) { r[j] = 0.5 * r[j + 1] + r[j]; } return r; }
inline double[n,m] swept(double[n,m] t)
{
  for (i = 1; i < n; i++) { for (j = 1; j < m; j++) { t[i,j] = t[i,j] + 0.25 * t[i - 1,j - 1]; } }
  return t;
}
double[n] halves(double[n] a)
{
  if (n <= 2) { r = 2.0 * a; } else { h = n / 2; r = halves(take([h], a)) ++ halves(drop([h], a)); }
  return r;
}
double[n] turned(double[n] a)
{
  if (n <= 1) { r = a; } else { h = n / 2; r = turned(drop([h], a)) ++ sc(turned(take([h], a))); }
  return r;
}
double[n,m] quarters(double[n,m] a)
{
  if (n <= 1 || m <= 1) { r = a; }
  else {
    r = a; h = n / 2;
    t = quarters({ [i,j] -> a[i,j] + 1.0 | [i,j] < [h,m] });
    r = with { ([0,0] <= [i,j] < [h,m]) : t[i,j]; } : modarray(r);
    t = quarters({ [i,j] -> r[h + i,j] - r[i,j] | [i,j] < [n - h,m] });
    r = with { ([h,0] <= [i,j] < [n,m]) : t[i - h,j]; } : modarray(r);
  }
  return r;
}
double[n] some(double[n] a, int k)
{
  if (k <= 0) { r = a; } else if (k == 1) { r = sc(a); } else { r = some(back(a), k - 2); }
  return r;
}
noinline double[n] twice(double[n] a) { return 2.0 * a; }
noinline double[n] before(double[n] a) { return { [i] -> a[max(i - 1, 0)] + a[i] | [i] < [n] }; }
noinline double[n,m] raised(double[n,m] a) { return { [i,j] -> a[i,j] + 0.5 | [i,j] < [n,m] }; }
double[.] kept(double[n] a)
{
  r = take([0], a);
  for (i = 0; i < n; i++) { if (a[i] > 0.0) { r = r ++ [a[i]]; } }
  return r;
}
double[n], double[n] both(double[n] a, int k)
{
  if (k > 2) { r, s = both(sc(a), k - 1); } else { r = back(a); s = r; }
  return (r, s);
}
"""


@dataclass
class Writer:
    """Writes the body of a function. `k`: what that argument will be; `vectors`, `matrices`: names in scope with how
    large they are."""

    random: Random
    k: int
    vectors: dict[str, int]
    matrices: dict[str, tuple[int, int]]
    lines: list[str] = field(default_factory=list)
    count: int = 0
    depth: int = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def vector(self) -> str:
        return self.random.choice(list(self.vectors))

    def matrix(self) -> str:
        return self.random.choice(list(self.matrices))

    def number(self) -> str:
        return f"{self.random.randint(-9, 9) * 0.5}"

    # ---- expressions: a text, and how long it is

    def part(self) -> tuple[str, int]:
        """A vector, looked at in some way."""
        v = self.vector()
        n, k = self.vectors[v], self.random.randint(0, max(self.vectors[v], 1))
        k = min(k, n)
        match self.random.randint(0, 9):
            case 8 if self.k <= n:
                return (f"take([k], {v})", self.k) if self.random.random() < 0.5 else (f"drop([k], {v})", n - self.k)
            case 9:
                return f"take([{k}], kept({v}) ++ {v})", k
            case 0:
                return f"take([{k}], {v})", k
            case 1:
                return f"drop([{k}], {v})", n - k
            case 2:
                return f"reverse({v})", n
            case 3 if self.matrices:
                m = self.matrix()
                rows, columns = self.matrices[m]
                if rows and columns:
                    if self.random.random() < 0.5:
                        return f"{m}[{self.random.randrange(rows)}]", columns
                    at = self.random.randrange(columns)
                    return f"{{ [i] -> {m}[i,{at}] | [i] < [{rows}] }}", rows
            case 4:
                return f"{{ [i] -> {v}[2 * i] | [i] < [{n // 2}] }}", n // 2
        return v, n

    def made(self, depth: int = 2) -> tuple[str, int]:
        """A vector that loops or functions make."""
        text, n = self.part() if depth < 2 or self.random.random() < 0.7 else self.joined(depth - 1)
        match self.random.randint(0, 11):
            case 10:
                return f"twice({text})", n
            case 11:
                return f"before({text})", n
            case 0 | 1:
                return f"sc({text})", n
            case 2 | 3:
                return f"back({text})", n
            case 4:
                return f"halves({text})", n
            case 5:
                return f"turned({text})", n
            case 6:
                return f"some({text}, k + {self.random.randint(-3, 3)})", n
            case 7:
                return f"back(sc({text}))", n
            case 8 if depth > 1:
                other, m = self.made(depth - 1)
                return f"sc({text} ++ {other})", n + m
        return text, n

    def joined(self, depth: int = 2) -> tuple[str, int]:
        parts = [self.made(depth) for _ in range(self.random.randint(1, 3))]
        return " ++ ".join(text for text, _ in parts), sum(n for _, n in parts)

    # ---- statements

    def statement(self) -> None:
        kinds = [self.set, self.set, self.set, self.alias, self.update, self.choose, self.pair]
        if self.matrices:
            kinds += [self.row, self.row, self.rows, self.block, self.block, self.stack, self.parted]
        if self.depth < 2:
            kinds += [self.rounds]
        self.random.choice(kinds)()

    def set(self) -> None:
        text, n = self.joined()
        if n <= 40:
            v = self.fresh("v")
            self.line(f"{v} = {text};")
            self.vectors[v] = n

    def alias(self) -> None:
        v, w = self.vector(), self.fresh("v")
        self.line(f"{w} = {v};")
        self.vectors[w] = self.vectors[v]

    def update(self) -> None:
        v = self.vector()
        n = self.vectors[v]
        if n:
            at, to = self.random.randrange(n), self.random.randrange(n)
            by = "k" if self.random.random() < 0.2 else f"{to}"  # which may be too large
            self.line(f"{v}[{by}] = {v}[{at}] + {self.number()};")

    def choose(self) -> None:
        """The same name in two branches."""
        v = self.vector()
        n, w = self.vectors[v], self.fresh("v")
        ways = [v, f"sc({v})", f"halves({v})", f"reverse({v})", f"genarray([{n}], {self.number()})"]
        ways += [o for o, m in self.vectors.items() if m == n and o != v]
        a, b = self.random.choice(ways), self.random.choice(ways)
        self.line(f"if (k > {self.random.randint(0, 5)}) {{ {w} = {a}; }} else {{ {w} = {b}; }}")
        self.vectors[w] = n

    def pair(self) -> None:
        text, n = self.part()
        v, w = self.fresh("v"), self.fresh("v")
        self.line(f"{v}, {w} = both({text}, k);")
        self.vectors |= {v: n, w: n}

    def row(self) -> None:
        """A row that is replaced, by itself or by what others have."""
        m = self.matrix()
        rows, columns = self.matrices[m]
        if not rows:
            return
        i = self.random.randrange(rows)
        of = self.random.choice([f"{m}[{i}]", f"{m}[{i}]", f"{m}[{self.random.randrange(rows)}]"])
        by = self.random.choice(["sc", "back", "halves", "turned", "twice", "before", "reverse", ""])
        fits = [v for v, n in self.vectors.items() if n == columns]
        if fits and self.random.random() < 0.4:
            of = self.random.choice(fits)
        self.line(f"{m}[{i}] = {by}({of});" if by else f"{m}[{i}] = {of};")

    def rows(self) -> None:
        """Rows one after the other."""
        m = self.matrix()
        rows, columns = self.matrices[m]
        if rows < 2:
            return
        low, step = self.random.choice([(1, "i++"), (0, "i++"), (0, "i += 2"), (rows - 1, "i--")])
        end = "i >= 1" if step == "i--" else f"i < {rows}"
        of = self.random.choice(["i", "i", f"({rows} - 1 - i)", "max(i - 1, 0)"])
        ways = [f"sc({m}[{of}])", f"halves({m}[{of}])", f"back({m}[{of}] + {m}[i])", f"turned({m}[{of}])"]
        ways += [f"twice({m}[{of}])", f"before({m}[{of}])", f"twice(halves({m}[{of}]))"]
        if columns > 2:
            cut = self.random.randint(1, columns - 1)
            ways += [f"sc(take([{cut}], {m}[{of}])) ++ halves(drop([{cut}], {m}[i]))"] * 2
            ways += [f"back(drop([{cut}], {m}[{of}])) ++ sc(take([{cut}], {m}[{of}]))"]
        self.line(f"for (i = {low}; {end}; {step}) {{ {m}[i] = {self.random.choice(ways)}; }}")

    def block(self) -> None:
        """A block that is taken out, changed and put back, there or elsewhere, in its own order or another one."""
        m = self.matrix()
        rows, columns = self.matrices[m]
        if rows < 2 or columns < 2:
            return
        h, w = self.random.randint(1, rows), self.random.choice([columns, self.random.randint(1, columns)])
        r, c = self.random.randint(0, rows - h), self.random.randint(0, columns - w)
        r2, c2 = (r, c) if self.random.random() < 0.7 else (rows - h - r, columns - w - c)
        turn = h == w and self.random.random() < 0.3
        index = f"{r} + j, {c} + i" if turn and r + w <= rows and c + h <= columns else f"{r} + i, {c} + j"
        t, by = self.fresh("t"), self.random.choice(["swept", "swept", "quarters", "quarters", "raised"])
        self.line(f"{t} = {by}({{ [i,j] -> {m}[{index}] | [i,j] < [{h},{w}] }});")
        to = self.random.choice([m, m, m, self.fresh("m")])
        self.line(
            f"{to} = with {{ ([{r2},{c2}] <= [i,j] < [{r2 + h},{c2 + w}]) : {t}[i - {r2},j - {c2}]; }} : modarray({m});"
        )
        self.matrices[to] = (rows, columns)
        if self.random.random() < 0.2:
            self.matrices[t] = (h, w)

    def parted(self) -> None:
        """Rows that are made anew, while the others stay, move, or are computed."""
        m = self.matrix()
        rows, columns = self.matrices[m]
        if rows < 2 or not columns:
            return
        h, t = self.random.randint(1, rows - 1), self.fresh("t")
        low = self.random.choice([0, rows - h])
        made = self.random.choice([f"{m}[{low} + i,j]", "tod(i * j + k)", f"{m}[i,j] + 1.0"])
        by = self.random.choice(["swept", "quarters", "raised"])
        self.line(f"{t} = {by}({{ [i,j] -> {made} | [i,j] < [{h},{columns}] }});")
        first, last = (h, rows) if low == 0 else (0, rows - h)
        rest = self.random.choice(
            [f"{m}[{first + last - 1} - i,j]", f"0.5 * {m}[i,j]", f"{m}[{rows - 1} - i,j]", f"{t}[0,j] + {m}[i,j]"]
        )
        others = f" ([{first},0] <= [i,j] < [{last},{columns}]) : {rest};" if self.random.random() < 0.8 else ""
        part = f"([{low},0] <= [i,j] < [{low + h},{columns}]) : {t}[i - {low},j];"
        self.line(f"{m} = with {{ {part}{others} }} : modarray({m});")

    def stack(self) -> None:
        """Rows of two matrices, or of one and a vector."""
        m = self.matrix()
        rows, columns = self.matrices[m]
        others = [o for o, (_, k) in self.matrices.items() if k == columns]
        o = self.random.choice(others)
        if rows + self.matrices[o][0] > 16:
            return
        n = self.fresh("m")
        by = self.random.choice(["swept", "quarters", ""])
        cells = f"{{ [i] -> {self.random.choice(['sc', 'halves', 'turned'])}({o}[i]) | [i] < [{self.matrices[o][0]}] }}"
        second = self.random.choice([o, f"swept({o})", cells])
        if not columns or not self.matrices[o][0]:
            second = o
        self.line(f"{n} = {by}({m}) ++ {second};" if by else f"{n} = {m} ++ {second};")
        self.matrices[n] = (rows + self.matrices[o][0], columns)

    def rounds(self) -> None:
        """A loop around a few statements; what they set anew stays inside, and lengths stay what they are."""
        vectors, matrices = dict(self.vectors), dict(self.matrices)
        self.line(f"for (z{self.depth} = 0; z{self.depth} < {self.random.randint(0, 3)}; z{self.depth}++) {{")
        self.depth += 1
        for _ in range(self.random.randint(1, 4)):
            self.statement()
        v = self.random.choice(list(vectors))
        fits = [w for w, n in self.vectors.items() if n == vectors[v]]
        self.line(f"{v} = {self.random.choice(['', 'sc', 'halves', 'reverse'])}({self.random.choice(fits)});")
        self.depth -= 1
        self.line("}")
        self.vectors, self.matrices = vectors, matrices


TOGETHER = 8  # so many functions one after the other are of the same element type, and may stand in one program


def element(seed: int) -> str:
    """The element type of a seed's arrays."""
    return "float" if seed // TOGETHER % 4 == 3 else "double"


def function(seed: int, name: str = "f") -> tuple[str, tuple[Any, ...]]:
    """A function, and arguments for it."""
    random = Random(seed)
    n, m = random.choice([0, 1, 2, 3, 5, 8, 9, 13]), random.choice([1, 2, 3, 4, 7])
    rows, columns = random.choice([1, 2, 3, 4, 6, 8]), random.choice([1, 2, 3, 5, 8])
    k = random.randint(0, 5)
    w = Writer(random, k, {"a": n, "b": m}, {"c": (rows, columns)})
    for _ in range(random.choice([2, 2, 2, 3, 3, 4, 5, 6, 9])):
        w.statement()
    results = random.sample(list(w.vectors), min(len(w.vectors), random.randint(1, 3)))
    others = random.sample(list(w.matrices), min(len(w.matrices), random.randint(0, 2)))
    types = ["double[.]"] * len(results) + ["double[.,.]"] * len(others)
    names = ", ".join((*results, *others))
    given = f"({names})" if len(types) > 1 else names
    head = f"{', '.join(types)} {name}(double[.] a, double[.] b, double[.,.] c, int k)"
    text = "\n".join((head, "{", *w.lines, f"  return {given};", "}", ""))
    type = element(seed)
    numbers = np.cos(np.arange(float(n + m + rows * columns)) * random.choice([1.0, 0.5, 3.0])).astype(DTYPES[type])
    a, b, c = np.split(numbers, [n, n + m])
    return of_type(text, type), (a, b, c.reshape(rows, columns), k)


def of_type(text: str, type: str) -> str:
    """A text about doubles about reals of another type."""
    if type == "double":
        return text
    return re.sub(r"\b(\d+\.\d+)\b", r"\1f", text).replace("double", "float").replace("tod(", "tof(")


def helpers(seed: int) -> str:
    """What a seed's function calls."""
    return of_type(HELPERS, element(seed))


def generated(seed: int) -> tuple[str, tuple[Any, ...]]:
    """A program with a function `f`, and arguments for it."""
    text, args = function(seed)
    return helpers(seed) + text, args
