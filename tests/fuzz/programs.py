"""Random SaC programs that are well typed, with arguments for them.

In: a seed. Out: a `Case`: the text of a module with a function `run`, and values to call it with. The same seed gives the same case. Every expression is made for a base type and an actual shape, so programs run; now and then an index or divisor is left unguarded, so that some fail, and have to fail alike everywhere.
Shapes are small and often odd: empty axes, extent 1, rank 0 to 5. Numbers come from the edges of their types. Partitions overlap, leave gaps, have steps and widths.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.lang.types import BITS, BUILTIN, REAL, SIGNED

Shape = tuple[int, ...]
SUFFIX = {"byte": "b", "short": "s", "int": "", "long": "l", "longlong": "ll", "ubyte": "ub", "ushort": "us", "uint": "ui", "ulong": "ul", "ulonglong": "ull"}
CONVERSION = {
    "byte": "tob", "int": "toi", "long": "tol", "longlong": "toll", "ubyte": "toub", "ushort": "tous", "uint": "toui", "ulong": "toul", "ulonglong": "toull", "float": "tof", "double": "tod",
}  # fmt: skip
COMMON = ("int", "int", "double", "double", "double", "float", "bool", "long")
EXTENTS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7)


@dataclass(frozen=True)
class Case:
    """A program and a call of its function `run`."""

    seed: int
    source: str
    args: tuple[Any, ...]


@dataclass(frozen=True)
class Name:
    """A variable in scope."""

    text: str
    base: str
    shape: Shape


@dataclass(frozen=True)
class Index:
    """A scalar index in scope that runs from `low` to below `high`."""

    text: str
    low: int
    high: int


def case(seed: int, size: int = 4) -> Case:
    """The case of a seed; `size` bounds the depth of expressions."""
    return _Generator(seed, size).case()


def brackets(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def literal(base: str, value: Any) -> str:
    """A value as SaC writes it."""
    if base == "bool":
        return "true" if value else "false"
    if base == "char":
        return f"'{chr(value)}'" if chr(value).isalnum() else f"'\\{value:o}'"
    if base in REAL:
        value = float(value)
        if value != value:
            return "(0f/0f)" if base == "float" else "(0.0/0.0)"
        if value in (float("inf"), float("-inf")):
            sign = "-" if value < 0 else ""
            return f"({sign}1f/0f)" if base == "float" else f"({sign}1.0/0.0)"
        text = repr(value) + ("f" if base == "float" else "")
    else:
        text = f"{value}{SUFFIX[base]}"
    return f"({text})" if text.startswith("-") else text


class _Generator:
    def __init__(self, seed: int, size: int) -> None:
        self.seed, self.size = seed, size
        self.r = random.Random(seed)
        self.names: list[Name] = []
        self.indices: list[Index] = []
        self.count = 0
        self.functions: list[str] = []
        self.callable: list[tuple[str, list[tuple[str, Shape]], tuple[str, Shape]]] = []
        self.lines: list[str] = []
        self.budget = 60
        self.inside = 0  # with-loop bodies around

    # ---- the whole

    def case(self) -> Case:
        args = []
        params = []
        for k in range(self.r.randint(1, 4)):
            base = self.base()
            shape = self.shape()
            params.append(f"{self.declared(base, shape)} p{k}")
            args.append(self.value(base, shape))
            self.names.append(Name(f"p{k}", base, shape))
        for _ in range(self.r.randint(0, 2)):
            self.helper()
        body = self.statements(self.r.randint(1, 5))
        results = [self.r.choice(self.names) for _ in range(self.r.randint(1, 3))] if self.r.random() < 0.4 else [self.names[-1]]
        heads = ", ".join(self.declared(n.base, n.shape) for n in results)
        back = results[0].text if len(results) == 1 else f"({', '.join(n.text for n in results)})"
        head = f"{heads} run({', '.join(params)})"
        text = "use Array: all;\nuse Math: all;\nuse MathArray: all;\n\n" + "".join(self.functions) + head + "\n{\n" + "".join(f"  {line}\n" for line in body) + f"  return {back};\n}}\n"
        return Case(self.seed, text, tuple(args))

    def helper(self) -> None:
        """A function of its own; sometimes recursive."""
        outer = self.names, self.indices
        self.names, self.indices = [], []
        name = self.fresh("f")
        params = [(self.base(), self.shape(2)) for _ in range(self.r.randint(1, 3))]
        self.names = [Name(f"x{k}", base, shape) for k, (base, shape) in enumerate(params)]
        result = (self.base(), self.shape(2))
        inline = "inline " if self.r.random() < 0.5 else ""
        if self.r.random() < 0.3:
            body = self.recursion(name, params, result)
            params = [("int", ()), *params]
            inline = ""
        else:
            body = "".join(f"  {line}\n" for line in self.statements(self.r.randint(0, 2)))
            body += f"  return {self.expression(*result, self.size - 1)};\n"
        head = ", ".join(f"{self.declared(b, s)} x{k}" for k, (b, s) in enumerate(params))
        self.functions.append(f"{inline}{self.declared(*result)} {name}({head})\n{{\n{body}}}\n\n")
        self.callable.append((name, params, result))
        self.names, self.indices = outer

    def recursion(self, name: str, params: list[tuple[str, Shape]], result: tuple[str, Shape]) -> str:
        """A body that calls itself `x0` times."""
        self.names = [Name(f"x{k + 1}", base, shape) for k, (base, shape) in enumerate(params)]
        base, shape = result
        basis = self.expression(base, shape, 2)
        passed = ", ".join(self.expression(b, s, 1) for b, s in params)
        self.names.append(Name("again", base, shape))
        step = self.expression(base, shape, 2)
        return f"  if (x0 <= 0) {{\n    r = {basis};\n  }} else {{\n    again = {name}(x0 - 1, {passed});\n    r = {step};\n  }}\n  return r;\n"

    # ---- choices

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def base(self) -> str:
        return self.r.choice(COMMON) if self.r.random() < 0.8 else self.r.choice(BUILTIN)

    def shape(self, most: int = 5) -> Shape:
        rank = min(self.r.choice((0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5)), most)
        shape = tuple(self.r.choice(EXTENTS) for _ in range(rank))
        while prod(shape) > 300:
            shape = shape[:-1]
        return shape

    def declared(self, base: str, shape: Shape) -> str:
        """A type that fits: of the shape, of the rank, or of any."""
        if not shape:
            return base
        kind = self.r.random()
        if kind < 0.2:
            return f"{base}{brackets(shape)}"
        if kind < 0.25:
            return f"{base}[*]"
        if kind < 0.3:
            return f"{base}[+]"
        return f"{base}[{','.join('.' for _ in shape)}]"

    def number(self, base: str) -> Any:
        if base == "bool":
            return self.r.random() < 0.5
        if base == "char":
            return self.r.randint(32, 126)
        if base in REAL:
            edges = [0.0, -0.0, 1.0, -1.5, 0.1, 3.0, 1e30, -1e-30, float("inf"), float("nan")]
            value = self.r.choice(edges) if self.r.random() < 0.3 else self.r.uniform(-8, 8)
            return float(np.float32(value)) if base == "float" else value
        bits = BITS[base]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if base in SIGNED else (0, (1 << bits) - 1)
        return self.r.choice([low, high, low + 1, high - 1, 0, 1]) if self.r.random() < 0.15 else self.r.randint(max(low, -9), min(high, 9))

    def value(self, base: str, shape: Shape) -> Any:
        """An argument, as Python passes it."""
        if not shape:
            return chr(self.number(base)) if base == "char" else self.number(base)
        items = [self.number(base) for _ in range(prod(shape))]
        with np.errstate(all="ignore"):
            return np.array(items, dtype_of(base)).reshape(shape)

    def constant(self, base: str, shape: Shape) -> str:
        if not shape:
            value = self.number(base)
            if base in SIGNED and value == -(1 << BITS[base] - 1):
                value += 1
            return literal(base, value)
        if prod(shape) <= 6 and prod(shape) > 0 and self.r.random() < 0.6:
            return f"[{', '.join(self.constant(base, shape[1:]) for _ in range(shape[0]))}]"
        return f"genarray({brackets(shape)}, {self.constant(base, ())})"

    # ---- statements

    def statements(self, count: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement()]

    def statement(self) -> list[str]:
        kinds: list[tuple[float, Callable[[], list[str]]]] = [(6, self.assignment), (1, self.condition), (1.2, self.loop), (1, self.update), (0.6, self.several)]
        return self.r.choices([k for _, k in kinds], [w for w, _ in kinds])[0]()

    def assignment(self) -> list[str]:
        base, shape = self.base(), self.shape()
        text = self.expression(base, shape, self.size)
        name = self.fresh("v")
        self.names.append(Name(name, base, shape))
        return [f"{name} = {text};"]

    def condition(self) -> list[str]:
        base, shape = self.base(), self.shape(3)
        test = self.expression("bool", (), 2)
        name = self.fresh("v")
        branches = []
        for _ in range(2):
            before = list(self.names)
            extra = self.assignment() if self.r.random() < 0.4 else []
            branches.append([*extra, f"{name} = {self.expression(base, shape, 2)};"])
            self.names = before
        self.names.append(Name(name, base, shape))
        return [f"if ({test}) {{ {' '.join(branches[0])} }} else {{ {' '.join(branches[1])} }}"]

    def loop(self) -> list[str]:
        """A loop that carries one or two values, and perhaps updates an array."""
        carried = [(self.fresh("c"), self.base(), self.shape(2)) for _ in range(self.r.randint(1, 2))]
        lines = [f"{n} = {self.expression(b, s, 1)};" for n, b, s in carried]
        counter = self.fresh("k")
        rounds = self.r.randint(0, 4)
        before, indices = list(self.names), list(self.indices)
        self.names += [Name(n, b, s) for n, b, s in carried]
        self.indices = [*self.indices, Index(counter, 0, rounds)] if rounds else self.indices
        body = []
        for n, b, s in carried:
            if s and prod(s) > 0 and self.r.random() < 0.5:
                body.append(f"{n}[{', '.join(self.inside_index(e) for e in s)}] = {self.expression(b, (), 2)};")
            else:
                body.append(f"{n} = {self.expression(b, s, 2)};")
        self.names, self.indices = before, indices
        self.names += [Name(n, b, s) for n, b, s in carried]
        kind = self.r.random()
        text = " ".join(body)
        if kind < 0.6:
            return [*lines, f"for ({counter} = 0; {counter} < {rounds}; {counter}++) {{ {text} }}"]
        if kind < 0.8:
            return [*lines, f"{counter} = 0;", f"while ({counter} < {rounds}) {{ {text} {counter} += 1; }}"]
        if rounds == 0:
            return lines
        return [*lines, f"{counter} = 0;", f"do {{ {text} {counter} += 1; }} while ({counter} < {rounds});"]

    def update(self) -> list[str]:
        arrays = [n for n in self.names if n.shape and prod(n.shape) > 0]
        if not arrays:
            return self.assignment()
        old = self.r.choice(arrays)
        name = self.fresh("u")
        depth = self.r.randint(1, len(old.shape))
        index = ", ".join(self.inside_index(e) for e in old.shape[:depth])
        value = self.expression(old.base, old.shape[depth:], 2)
        self.names.append(Name(name, old.base, old.shape))
        return [f"{name} = {old.text};", f"{name}[{index}] = {value};"]

    def several(self) -> list[str]:
        """A with-loop of several operators."""
        shape = self.shape(3)
        one, two = self.base(), self.r.choice(("int", "double"))
        names = self.fresh("w"), self.fresh("w")
        parts = self.partitions(shape, lambda: f"({self.expression(one, (), 2)}, {self.expression(two, (), 1)})", bounded=True)
        self.names += [Name(names[0], one, shape), Name(names[1], two, ())]
        return [f"{names[0]}, {names[1]} = with {{ {parts} }} : (genarray({brackets(shape)}, {self.constant(one, ())}), fold(+, {literal(two, 0)}));"]

    # ---- expressions

    def expression(self, base: str, shape: Shape, depth: int) -> str:
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.leaf(base, shape)
        if self.r.random() < 0.12:
            return self.leaf(base, shape)
        makers = self.scalars(base) if not shape else self.arrays(base, shape)
        weights = [w for w, _ in makers]
        return self.r.choices([m for _, m in makers], weights)[0](depth - 1)

    def leaf(self, base: str, shape: Shape) -> str:
        fits = [n.text for n in self.names if n.base == base and n.shape == shape]
        if base == "int" and not shape:
            fits += [i.text for i in self.indices]
        return self.r.choice(fits) if fits and self.r.random() < 0.8 else self.constant(base, shape)

    def scalars(self, base: str) -> list[tuple[float, Callable[[int], str]]]:
        def binary(*ops: str) -> Callable[[int], str]:
            return lambda d: f"({self.expression(base, (), d)} {self.r.choice(ops)} {self.expression(base, (), d)})"

        makers: list[tuple[float, Callable[[int], str]]] = [
            (1, lambda d: f"({self.expression('bool', (), d)} ? {self.expression(base, (), d)} : {self.expression(base, (), d)})"),
            (2.5, lambda d: self.selection(base, (), d)),
            (1, lambda d: self.call(base, (), d)),
        ]
        if base in BITS or base in REAL:
            makers += [
                (3, binary("+", "-", "*")),
                (1, lambda d: f"{self.r.choice(('min', 'max'))}({self.expression(base, (), d)}, {self.expression(base, (), d)})"),
                (0.5, lambda d: f"abs({self.expression(base, (), d)})" if base in SIGNED or base in REAL else self.leaf(base, ())),
                (1.5, lambda d: self.reduction(base, d)),
                (1.5, lambda d: self.fold(base, d)),
            ]
        if base in CONVERSION:
            makers.append((0.7, lambda d: f"{CONVERSION[base]}({self.expression(self.r.choice(('int', 'double', 'float', 'long')), (), d)})"))
        if base in REAL:
            makers += [(0.5, binary("/")), (0.8, lambda d: f"{self.r.choice(('sqrt', 'exp', 'sin', 'cos', 'floor', 'ceil', 'atan', 'tanh', 'log'))}({self.expression(base, (), d)})")]
        if base in BITS:
            makers += [(1, lambda d: self.division(base, d)), (0.5, binary("&", "|", "^")), (0.3, lambda d: f"({self.expression(base, (), d)} {self.r.choice(('<<', '>>'))} {literal(base, self.r.randint(0, 5))})")]
        if base == "bool":
            makers += [
                (3, lambda d: self.comparison(d)),
                (1, binary("&&", "||", "&", "|")),
                (0.5, lambda d: f"!({self.expression('bool', (), d)})"),
                (0.5, lambda d: f"{self.r.choice(('all', 'any'))}({self.expression('bool', self.shape(2) or (2,), d)})"),
            ]
        return makers

    def comparison(self, d: int) -> str:
        base = self.base()
        return f"({self.expression(base, (), d)} {self.r.choice(('==', '!=', '<', '<=', '>', '>='))} {self.expression(base, (), d)})"

    def division(self, base: str, d: int) -> str:
        divisor = self.expression(base, (), d)
        if self.r.random() < 0.95:
            divisor = f"(({divisor} & {literal(base, 7)}) + {literal(base, 1)})"
        op = self.r.choice(("/", "%", "mod"))
        left = self.expression(base, (), d)
        return f"mod({left}, {divisor})" if op == "mod" else f"({left} {op} {divisor})"

    def reduction(self, base: str, d: int) -> str:
        return f"{self.r.choice(('sum', 'sum', 'prod', 'maxval', 'minval'))}({self.expression(base, self.shape(3) or (3,), d)})"

    def call(self, base: str, shape: Shape, d: int) -> str:
        fits = [f for f in self.callable if f[2] == (base, shape)]
        if not fits:
            return self.leaf(base, shape)
        name, params, _ = self.r.choice(fits)
        recursive = f" {name}(x0 - 1" in "".join(self.functions)
        args = [str(self.r.randint(0, 3)) if recursive and k == 0 else self.expression(b, s, d - 1) for k, (b, s) in enumerate(params)]
        return f"{name}({', '.join(args)})"

    def inside_index(self, extent: int) -> str:
        """An int expression from 0 to below `extent`; now and then it is not."""
        if self.r.random() < 0.01:
            return str(self.r.choice((-1, extent)))
        fits = [i for i in self.indices if i.low >= 0 and i.high <= extent]
        kind = self.r.random()
        if fits and kind < 0.5:
            return self.r.choice(fits).text
        shifted = [i for i in self.indices if i.high - i.low <= extent and i.high > i.low]
        if shifted and kind < 0.7:
            i = self.r.choice(shifted)
            offset = self.r.randint(-i.low, extent - i.high)
            return f"({i.text} + {offset})" if offset >= 0 else f"({i.text} - {-offset})"
        if self.indices and kind < 0.9:
            i = self.r.choice(self.indices)
            around = f"{i.text} + {self.r.randint(-3, 3)}".replace("+ -", "- ")
            wrapped = f"mod({around}, {extent})"
            return self.r.choice((wrapped, wrapped, f"max(0, min({around}, {extent - 1}))", f"({extent - 1} - min({i.text}, {extent - 1}))" if i.low >= 0 else wrapped))
        return str(self.r.randrange(extent))

    def selection(self, base: str, shape: Shape, d: int) -> str:
        """An element or a sub-array of a variable, or of an expression."""
        fits = [n for n in self.names if n.base == base and len(n.shape) > len(shape) and n.shape[len(n.shape) - len(shape) :] == shape and prod(n.shape[: len(n.shape) - len(shape)]) > 0]
        if fits and self.r.random() < 0.9:
            n = self.r.choice(fits)
            text, whole = n.text, n.shape
        else:
            whole = (*(self.r.randint(1, 4) for _ in range(self.r.randint(1, 2))), *shape)
            text = f"({self.expression(base, whole, d)})"
        index = [self.inside_index(e) for e in whole[: len(whole) - len(shape)]]
        return f"{text}[{', '.join(index)}]" if self.r.random() < 0.8 else f"{text}[[{', '.join(index)}]]"

    # ---- arrays

    def arrays(self, base: str, shape: Shape) -> list[tuple[float, Callable[[int], str]]]:
        makers: list[tuple[float, Callable[[int], str]]] = [
            (3, lambda d: self.genarray(base, shape, d)),
            (2, lambda d: self.comprehension(base, shape, d)),
            (1, lambda d: self.modarray(base, shape, d)),
            (1.5, lambda d: self.restructured(base, shape, d)),
            (0.7, lambda d: self.call(base, shape, d)),
            (0.5, lambda d: f"({self.expression('bool', (), d)} ? {self.expression(base, shape, d)} : {self.expression(base, shape, d)})"),
            (0.7, lambda d: self.selection(base, shape, d)),
        ]
        if base in BITS or base in REAL:

            def operation(d: int) -> str:
                op = self.r.choice(("+", "-", "*"))
                sides = [self.expression(base, shape, d), self.expression(base, shape if self.r.random() < 0.6 else (), d)]
                self.r.shuffle(sides)
                return f"({sides[0]} {op} {sides[1]})"

            makers += [(3, operation), (0.5, lambda d: f"{self.r.choice(('min', 'max'))}({self.expression(base, shape, d)}, {self.expression(base, shape, d)})")]
        if base == "bool":
            makers += [(2, lambda d: self.compared(shape, d))]
        if base in CONVERSION:
            makers += [(0.4, lambda d: f"{CONVERSION[base]}({self.expression(self.r.choice(('int', 'double')), shape, d)})")]
        return makers

    def compared(self, shape: Shape, d: int) -> str:
        base = self.r.choice(("int", "double"))
        return f"({self.expression(base, shape, d)} {self.r.choice(('==', '<', '>='))} {self.expression(base, shape, d)})"

    def restructured(self, base: str, shape: Shape, d: int) -> str:
        """take, drop, reverse, rotate, transpose, reshape, ++."""
        first, rest = shape[0], shape[1:]
        kind = self.r.choice(("take", "drop", "reverse", "rotate", "transpose", "reshape", "cat"))
        if kind == "take":
            more = self.r.randint(0, 3)
            sign = self.r.choice(("", "-")) if first else ""
            return f"take([{sign}{first}], {self.expression(base, (first + more, *rest), d)})"
        if kind == "drop":
            more = self.r.randint(0, 3)
            sign = self.r.choice(("", "-")) if more else ""
            return f"drop([{sign}{more}], {self.expression(base, (first + more, *rest), d)})"
        if kind == "reverse":
            return f"reverse({self.r.randrange(len(shape))}, {self.expression(base, shape, d)})"
        if kind == "rotate":
            return f"rotate({self.r.randrange(len(shape))}, {self.r.randint(-4, 4)}, {self.expression(base, shape, d)})"
        if kind == "transpose":
            return f"transpose({self.expression(base, shape[::-1], d)})"
        if kind == "reshape":
            return f"reshape({brackets(shape)}, {self.expression(base, (prod(shape),), d)})"
        cut = self.r.randint(0, first)
        return f"({self.expression(base, (cut, *rest), d)} ++ {self.expression(base, (first - cut, *rest), d)})"

    # ---- with-loops

    def inner(self, indices: list[Index], body: Callable[[], str]) -> str:
        """What `body` makes with these indices in scope."""
        outer, self.indices = self.indices, [*self.indices, *indices]
        self.inside += 1
        text = body()
        self.inside -= 1
        self.indices = outer
        return text

    def box(self, frame: Shape, whole: bool) -> tuple[list[int], list[int]]:
        if whole:
            return [0] * len(frame), list(frame)
        lower = [self.r.randint(0, e) for e in frame]
        return lower, [self.r.randint(lo, e) for lo, e in zip(lower, frame)]

    def partitions(self, frame: Shape, body: Callable[[], str], *, bounded: bool = False) -> str:
        parts = []
        for k in range(self.r.choice((1, 1, 1, 2, 2, 3))):
            parts.append(self.partition(frame, body, whole=k == 0 and self.r.random() < 0.6, bounded=bounded))
        self.r.shuffle(parts)
        return " ".join(parts)

    def partition(self, frame: Shape, body: Callable[[], str], *, whole: bool, bounded: bool) -> str:
        lower, upper = self.box(frame, whole)
        low, up = brackets(lower), brackets(upper)
        less, until = "<=", "<"
        if whole and not bounded and self.r.random() < 0.5:
            low, up, until = ".", ".", "<="
        elif frame and self.r.random() < 0.3:
            up, until = brackets([u - 1 for u in upper]), "<="
        elif frame and self.r.random() < 0.2 and all(lo > 0 for lo in lower):
            low, less = brackets([lo - 1 for lo in lower]), "<"
        grid = ""
        if frame and self.r.random() < 0.25:
            step = [self.r.randint(1, 3) for _ in frame]
            grid = f" step {brackets(step)}"
            if self.r.random() < 0.5:
                grid += f" width {brackets([self.r.randint(1, s) for s in step])}"
        scalars = [self.fresh("i") for _ in frame]
        iv = self.fresh("iv")
        ranges = [Index(s, lo, hi) for s, lo, hi in zip(scalars, lower, upper)]
        if frame and self.r.random() < 0.4:
            head = iv
            ranges = [Index(f"{iv}[{k}]", lo, hi) for k, (lo, hi) in enumerate(zip(lower, upper))]
        else:
            head = brackets(scalars)
        text = self.inner(ranges, body)
        return f"({low} {less} {head} {until} {up}{grid}) : {text};"

    def genarray(self, base: str, shape: Shape, d: int) -> str:
        cut = len(shape) if self.r.random() < 0.8 else self.r.randint(0, len(shape))
        frame, cell = shape[:cut], shape[cut:]
        text = self.partitions(frame, lambda: self.expression(base, cell, d))
        default = f", {self.constant(base, cell)}" if self.r.random() < 0.7 or cell else ""
        return f"with {{ {text} }} : genarray({brackets(frame)}{default})"

    def modarray(self, base: str, shape: Shape, d: int) -> str:
        cut = len(shape) if self.r.random() < 0.8 else self.r.randint(1, len(shape))
        text = self.partitions(shape[:cut], lambda: self.expression(base, shape[cut:], d), bounded=cut < len(shape))
        return f"with {{ {text} }} : modarray({self.expression(base, shape, d - 1)})"

    def comprehension(self, base: str, shape: Shape, d: int) -> str:
        parts = []
        for _ in range(self.r.choice((0, 0, 1))):
            lower, upper = self.box(shape, False)
            names = [self.fresh("i") for _ in shape]
            text = self.inner([Index(n, lo, hi) for n, lo, hi in zip(names, lower, upper)], lambda: self.expression(base, (), d))
            parts.append(f"{brackets(names)} -> {text} | {brackets(lower)} <= {brackets(names)} < {brackets(upper)}")
        names = [self.fresh("i") for _ in shape]
        text = self.inner([Index(n, 0, e) for n, e in zip(names, shape)], lambda: self.expression(base, (), d))
        parts.append(f"{brackets(names)} -> ({text}) | {brackets(names)} < {brackets(shape)}")
        return f"{{ {'; '.join(parts)} }}"

    def fold(self, base: str, d: int) -> str:
        op, neutral = self.r.choice((("+", 0), ("+", 0), ("*", 1), ("max", None), ("min", None)))
        frame = self.shape(3)
        start = literal(base, neutral) if neutral is not None else self.constant(base, ())
        text = self.partitions(frame, lambda: self.expression(base, (), d), bounded=True)
        return f"with {{ {text} }} : fold({op}, {start})"

