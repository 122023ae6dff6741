"""Expressions of random programs: for a base type and an actual shape, text that gives a value of these.

In: `Chooser` with names and indices in scope. Out: text. With-loops are in `withloops`, which completes this class.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from sacpy.lang.types import BITS, REAL, SIGNED
from tests.fuzz.choices import COMPLEX, Chooser, Shape, literal
from tests.fuzz.template import Template, at

Makers = list[tuple[float, Callable[[int], str]]]
CONVERSION = {
    "byte": "tob", "short": "tosh", "int": "toi", "long": "tol", "longlong": "toll", "ubyte": "toub", "ushort": "tous",
    "uint": "toui", "ulong": "toul", "ulonglong": "toull", "float": "tof", "double": "tod",
}  # fmt: skip
UNARY = (
    "sqrt",
    "exp",
    "sin",
    "cos",
    "tan",
    "floor",
    "ceil",
    "rint",
    "atan",
    "asin",
    "acos",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "cbrt",
    "fabs",
)
BINARY = ("pow", "atan2", "hypot", "fmod", "copysign")
Signature = tuple[str, list[tuple[str, Shape]], tuple[str, Shape]]


class Expressions(Chooser):
    """Scalars, selections, and functions of the library."""

    callable: list[Signature]
    recursive: set[str]
    templates: list[Template]

    def expression(self, base: str, shape: Shape, depth: int) -> str:
        """Any expression of that type."""
        self.budget -= 1
        if depth <= 0 or self.budget <= 0 or self.r.random() < 0.12:
            return self.leaf(base, shape)
        makers = self.arrays(base, shape) if shape else self.complexes() if base == COMPLEX else self.scalars(base)
        return self.r.choices([m for _, m in makers], [w for w, _ in makers])[0](depth - 1)

    def leaf(self, base: str, shape: Shape) -> str:
        """A variable that fits, or a constant."""
        fits = [n.text for n in self.names if n.base == base and n.shape == shape]
        if base == "int" and not shape:
            fits += [i.text for i in self.indices]
        return self.r.choice(fits) if fits and self.r.random() < 0.8 else self.constant(base, shape)

    # ---- scalars

    def pair(self, base: str, *ops: str) -> Callable[[int], str]:
        """Two scalars with an operator between."""
        return lambda d: f"({self.expression(base, (), d)} {self.r.choice(ops)} {self.expression(base, (), d)})"

    def scalars(self, base: str) -> Makers:
        makers: Makers = [
            (1, lambda d: self.choice(base, (), d)),
            (2.5, lambda d: self.selection(base, (), d)),
            (1, lambda d: self.call(base, (), d)),
        ]
        if base in BITS or base in REAL:
            makers += [
                (3, self.pair(base, "+", "-", "*")),
                (
                    1,
                    lambda d: (
                        f"{self.r.choice(('min', 'max'))}({self.expression(base, (), d)}, "
                        f"{self.expression(base, (), d)})"
                    ),
                ),
                (
                    0.5,
                    lambda d: (
                        f"{self.r.choice(('abs', '-'))}({self.expression(base, (), d)})"
                        if base in SIGNED or base in REAL
                        else self.leaf(base, ())
                    ),
                ),
                (
                    1.5,
                    lambda d: (
                        f"{self.r.choice(('sum', 'sum', 'prod', 'maxval', 'minval'))}("
                        f"{self.expression(base, self.shape(3) or (3,), d)})"
                    ),
                ),
                (1.5, lambda d: self.fold(base, d)),
                (0.2, lambda d: self.stopping(base, d)),
            ]
        if base in CONVERSION:
            makers.append(
                (
                    0.7,
                    lambda d: (
                        f"{CONVERSION[base]}("
                        f"{self.expression(self.r.choice(('int', 'double', 'float', 'long')), (), d)})"
                    ),
                )
            )
        if base in REAL:
            makers += [
                (0.5, self.pair(base, "/")),
                (0.8, lambda d: f"{self.r.choice(UNARY)}({self.expression(base, (), d)})"),
                (
                    0.3,
                    lambda d: (
                        f"{self.r.choice(BINARY)}({self.expression(base, (), d)}, {self.expression(base, (), d)})"
                    ),
                ),
            ]
        if base == "double":
            makers += [
                (
                    0.6,
                    lambda d: (
                        f"{self.r.choice(('real', 'imag', 'norm', 'normSq', 'arg'))}({self.expression(COMPLEX, (), d)})"
                    ),
                )
            ]
        if base in BITS:
            makers += [
                (1, lambda d: self.division(base, d)),
                (0.5, self.pair(base, "&", "|", "^")),
                (0.4, lambda d: self.shifted(base, d)),
            ]
        if base == "int":
            makers += [(0.3, self.of_shape)]
        if base == "bool":
            makers += [
                (3, self.comparison),
                (1, self.pair("bool", "&&", "||", "&", "|")),
                (0.5, lambda d: f"!({self.expression('bool', (), d)})"),
                (
                    0.5,
                    lambda d: f"{self.r.choice(('all', 'any'))}({self.expression('bool', self.shape(2) or (2,), d)})",
                ),
                (0.3, lambda d: f"{self.r.choice(('isnan', 'isinf'))}({self.expression('double', (), d)})"),
                (0.2, lambda d: f"tobool({self.expression('int', (), d)})"),
            ]
        return makers

    def complexes(self) -> Makers:
        """Complex scalars: a cell of two axes' elements."""
        return [
            (1, lambda d: self.choice(COMPLEX, (), d)),
            (2, lambda d: self.selection(COMPLEX, (), d)),
            (3, self.pair(COMPLEX, "+", "-", "*")),
            (0.5, self.pair(COMPLEX, "/")),
            (2, lambda d: f"toc({self.expression('double', (), d)}, {self.expression('double', (), d)})"),
            (1, lambda d: f"conj({self.expression(COMPLEX, (), d)})"),
            (
                1,
                lambda d: (
                    f"with {{ {self.partitions(self.shape(2), lambda: self.expression(COMPLEX, (), d), bounded=True)} "
                    f"}} : fold(+, toc(0.0, 0.0))"
                ),
            ),
            (0.7, lambda d: f"sum({self.expression(COMPLEX, self.shape(2) or (3,), d)})"),
        ]

    def choice(self, base: str, shape: Shape, d: int) -> str:
        return (
            f"({self.expression('bool', (), d)} ? {self.expression(base, shape, d)} : "
            f"{self.expression(base, shape, d)})"
        )

    def comparison(self, d: int) -> str:
        base = self.base()
        return (
            f"({self.expression(base, (), d)} {self.r.choice(('==', '!=', '<', '<=', '>', '>='))} "
            f"{self.expression(base, (), d)})"
        )

    def division(self, base: str, d: int) -> str:
        """A quotient or remainder; the divisor is seldom 0, sometimes -1."""
        divisor, kind = self.expression(base, (), d), self.r.random()
        if kind < 0.1 and base in SIGNED:
            divisor = literal(base, -1)
        elif kind < 0.98:
            divisor = f"(({divisor} & {literal(base, 7)}) + {literal(base, 1)})"
        op = self.r.choice(("/", "%", "mod"))
        left = self.expression(base, (), d)
        return f"mod({left}, {divisor})" if op == "mod" else f"({left} {op} {divisor})"

    def shifted(self, base: str, d: int) -> str:
        """A shift; the amount is seldom too large or negative."""
        amount = literal(base, self.r.choice((0, 1, 2, 5, BITS[base] - 1, self.r.choice((BITS[base], 1)))))
        if self.r.random() < 0.4:
            amount = f"({self.expression(base, (), d)} & {literal(base, 7)})"
        return f"({self.expression(base, (), d)} {self.r.choice(('<<', '>>'))} {amount})"

    def of_shape(self, d: int) -> str:
        """An extent, or the rank."""
        n = self.r.choice(self.names) if self.names else None
        if n is None or not n.shape:
            return self.leaf("int", ())
        return f"dim({n.text})" if self.r.random() < 0.2 else f"shape({n.text})[{self.r.randrange(len(n.shape))}]"

    def call(self, base: str, shape: Shape, d: int) -> str:
        """A call of a function of the program."""
        fits = [f for f in self.callable if f[2] == (base, shape)]
        if not fits or self.r.random() < 0.5:
            return self.instance(base, shape, d)
        name, params, _ = self.r.choice(fits)
        args = [
            str(self.r.randint(0, 3)) if name in self.recursive and k == 0 else self.expression(b, s, d - 1)
            for k, (b, s) in enumerate(params)
        ]
        return f"{name}({', '.join(args)})"

    def instance(self, base: str, shape: Shape, d: int) -> str:
        """A call of a template, its letters chosen so that the result fits."""
        fits = []
        for t in self.templates:
            wanted, symbolic = t.result
            chosen: dict[str, int] = {}
            if (
                wanted == base
                and len(symbolic) == len(shape)
                and all((chosen.setdefault(s, e) if isinstance(s, str) else s) == e for s, e in zip(symbolic, shape))
                and all(e >= t.least for e in chosen.values())
            ):
                fits.append((t, chosen))
        if not fits:
            return self.leaf(base, shape)
        t, chosen = self.r.choice(fits)
        for letter in t.letters():
            chosen.setdefault(letter, max(t.least, self.r.choice((0, 1, 2, 3, 5))))
        return f"{t.name}({', '.join(self.expression(b, at(s, chosen), d - 1) for b, s in t.params)})"

    # ---- selections

    def selection(self, base: str, shape: Shape, d: int) -> str:
        """An element or a sub-array of a variable, or of an expression; sometimes with dots that keep axes."""
        if shape and self.r.random() < 0.4:
            dotted = self.dotted(base, shape)
            if dotted:
                return dotted
        rank = len(shape)
        fits = [
            n
            for n in self.names
            if n.base == base
            and len(n.shape) > rank
            and n.shape[len(n.shape) - rank :] == shape
            and prod(n.shape[: len(n.shape) - rank]) > 0
        ]
        if fits and self.r.random() < 0.9:
            n = self.r.choice(fits)
            text, whole = n.text, n.shape
        else:
            whole = (*(self.r.randint(1, 4) for _ in range(self.r.randint(1, 2))), *shape)
            text = f"({self.expression(base, whole, d)})"
        index = [self.inside_index(e) for e in whole[: len(whole) - rank]]
        return f"{text}[{', '.join(index)}]" if self.r.random() < 0.8 else f"{text}[[{', '.join(index)}]]"

    def dotted(self, base: str, shape: Shape) -> str | None:
        """A selection whose dots keep the axes that make the shape."""
        fits = []
        for n in self.names:
            if n.base == base and len(n.shape) > len(shape) and 0 not in n.shape:
                kept = _subsequence(shape, n.shape)
                if kept is not None:
                    fits.append((n, kept))
        if not fits:
            return None
        n, kept = self.r.choice(fits)
        parts = ["." if k in kept else self.inside_index(e) for k, e in enumerate(n.shape)]
        text = ", ".join(parts)
        if ".," not in text and self.r.random() < 0.3 and parts[-1] == "." and len(kept) == 1:
            text = ", ".join([*parts[:-1], "..."])
        return f"{n.text}[{text}]" if self.r.random() < 0.7 or "..." in text else f"{n.text}[[{text}]]"

    # ---- arrays

    def arrays(self, base: str, shape: Shape) -> Makers:
        makers: Makers = [
            (3, lambda d: self.genarray(base, shape, d)),
            (2, lambda d: self.comprehension(base, shape, d)),
            (1, lambda d: self.modarray(base, shape, d)),
            (2, lambda d: self.restructured(base, shape, d)),
            (1, lambda d: self.call(base, shape, d)),
            (0.5, lambda d: self.choice(base, shape, d)),
            (1, lambda d: self.selection(base, shape, d)),
            (
                0.5,
                lambda d: (
                    f"where({self.expression('bool', shape, d)}, {self.expression(base, shape, d)}, "
                    f"{self.expression(base, shape, d)})"
                ),
            ),
        ]
        if base in BITS or base in REAL or base == COMPLEX:
            makers += [(3, lambda d: self.operation(base, shape, d))]
        if base in BITS or base in REAL:
            makers += [
                (
                    0.5,
                    lambda d: (
                        f"{self.r.choice(('min', 'max'))}({self.expression(base, shape, d)}, "
                        f"{self.expression(base, shape, d)})"
                    ),
                ),
                (
                    0.4,
                    lambda d: (
                        "with { "
                        + self.partitions(
                            (self.r.randint(0, 5),), lambda: self.expression(base, shape, d), bounded=True
                        )
                        + f" }} : fold(+, {self.expression(base, shape, 0)})"
                    ),
                ),
                (
                    0.3,
                    lambda d: (
                        f"mask({self.expression('bool', shape, d)}, {self.expression(base, shape, d)}, "
                        f"{self.expression(base, (), d)})"
                    ),
                ),
            ]
        if base in REAL:
            makers += [(0.5, lambda d: f"{self.r.choice(UNARY)}({self.expression(base, shape, d)})")]
        if base == "bool":
            makers += [
                (2, lambda d: self.compared(shape, d)),
                (0.5, lambda d: f"!({self.expression('bool', shape, d)})"),
            ]
        if base == "int" and len(shape) == 1:
            makers += [(0.5, lambda d: f"iota({self.integer(shape[0])})")]
        if base in CONVERSION:
            makers += [
                (0.4, lambda d: f"{CONVERSION[base]}({self.expression(self.r.choice(('int', 'double')), shape, d)})")
            ]
        return makers

    def operation(self, base: str, shape: Shape, d: int) -> str:
        op = self.r.choice(("+", "-", "*"))
        sides = [self.expression(base, shape, d), self.expression(base, shape if self.r.random() < 0.6 else (), d)]
        self.r.shuffle(sides)
        return f"({sides[0]} {op} {sides[1]})"

    def compared(self, shape: Shape, d: int) -> str:
        base = self.r.choice(("int", "double"))
        return (
            f"({self.expression(base, shape, d)} {self.r.choice(('==', '<', '>='))} {self.expression(base, shape, d)})"
        )

    def restructured(self, base: str, shape: Shape, d: int) -> str:
        """take, drop, reverse, rotate, shift, transpose, reshape, tile, ++ along either end."""
        first, rest = shape[0], shape[1:]
        kinds = [
            "take",
            "takes",
            "drop",
            "drops",
            "reverse",
            "rotate",
            "rotates",
            "shift",
            "transpose",
            "reshape",
            "tile",
            "cat",
        ]
        kind = self.r.choice(kinds if base == COMPLEX else [*kinds, "last"])
        more = self.r.randint(0, 3)
        match kind:
            case "take":
                size = self.r.choice((first + more, max(first - more, 0)))
                return (
                    f"take({self.vector([first if self.r.random() < 0.6 else -first])}, "
                    f"{self.expression(base, (size, *rest), d)})"
                )
            case "takes":
                whole = tuple(max(0, e + self.r.randint(-1, 2)) for e in shape)
                return (
                    f"take({self.vector([e * self.r.choice((1, 1, -1)) for e in shape])}, "
                    f"{self.expression(base, whole, d)})"
                )
            case "drop":
                return (
                    f"drop({self.vector([more * self.r.choice((1, -1))])}, "
                    f"{self.expression(base, (first + more, *rest), d)})"
                )
            case "drops":
                off = [self.r.randint(-2, 2) for _ in shape]
                return (
                    f"drop({self.vector(off)}, "
                    f"{self.expression(base, tuple(e + abs(o) for e, o in zip(shape, off)), d)})"
                )
            case "reverse":
                return f"reverse({self.r.randrange(len(shape))}, {self.expression(base, shape, d)})"
            case "rotate":
                return (
                    f"rotate({self.r.randrange(len(shape))}, {self.integer(self.r.randint(-4, 4))}, "
                    f"{self.expression(base, shape, d)})"
                )
            case "rotates":
                return (
                    f"rotate({self.vector([self.r.randint(-3, 3) for _ in shape])}, {self.expression(base, shape, d)})"
                )
            case "shift":
                return (
                    f"shift({self.r.randrange(len(shape))}, {self.integer(self.r.randint(-4, 4))}, "
                    f"{self.expression(base, (), d)}, {self.expression(base, shape, d)})"
                )
            case "transpose":
                return f"transpose({self.expression(base, shape[::-1], d)})"
            case "reshape":
                return f"reshape({self.vector(shape)}, {self.expression(base, (prod(shape),), d)})"
            case "tile":
                offset = [self.r.randint(0, 2) for _ in shape]
                return (
                    f"tile({self.vector(shape)}, {self.vector(offset)}, "
                    f"{self.expression(base, tuple(e + o for e, o in zip(shape, offset)), d)})"
                )
            case "last":
                cut = self.r.randint(0, shape[-1])
                return (
                    f"({self.expression(base, (*shape[:-1], cut), d)} ++^ "
                    f"{self.expression(base, (*shape[:-1], shape[-1] - cut), d)})"
                )
        cut = self.r.randint(0, first)
        return f"({self.expression(base, (cut, *rest), d)} ++ {self.expression(base, (first - cut, *rest), d)})"

    # ---- with-loops: see `withloops`

    def partitions(self, frame: Shape, body: Callable[[], str], *, bounded: bool = False) -> str:
        raise NotImplementedError

    def genarray(self, base: str, shape: Shape, d: int) -> str:
        raise NotImplementedError

    def modarray(self, base: str, shape: Shape, d: int) -> str:
        raise NotImplementedError

    def comprehension(self, base: str, shape: Shape, d: int) -> str:
        raise NotImplementedError

    def fold(self, base: str, d: int) -> str:
        raise NotImplementedError

    def stopping(self, base: str, d: int) -> str:
        raise NotImplementedError


def _subsequence(shape: Shape, whole: Shape) -> set[int] | None:
    """Axes of `whole` that together are `shape`, in order."""
    kept, at_ = set(), 0
    for k, e in enumerate(whole):
        if at_ < len(shape) and shape[at_] == e:
            kept.add(k)
            at_ += 1
    return kept if at_ == len(shape) else None
