"""With-loops of random programs: every operator; partitions that overlap, leave gaps, are empty, have steps and widths;
bodies with statements of their own."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from tests.fuzz.choices import Index, Name, Shape, brackets, literal
from tests.fuzz.expressions import Expressions


class WithLoops(Expressions):
    """Makes with-loops and comprehensions."""

    def inner(self, indices: list[Index], count: int, body: Callable[[], str]) -> str:
        """What `body` makes with these indices in scope, in a loop of so many rounds."""
        names, outer, around = list(self.names), self.indices, self.around
        self.indices, self.around = [*outer, *indices], around * max(1, count)
        text = body()
        self.names, self.indices, self.around = names, outer, around
        return text

    def box(self, frame: Shape, whole: bool) -> tuple[list[int], list[int]]:
        """Bounds within a frame."""
        if whole:
            return [0] * len(frame), list(frame)
        lower = [self.r.randint(0, e) for e in frame]
        return lower, [self.r.randint(lo, e) for lo, e in zip(lower, frame)]

    def partitions(self, frame: Shape, body: Callable[[], str], *, bounded: bool = False) -> str:
        """Some partitions of a frame. `bounded`: their bounds may not be dots."""
        parts = []
        for k in range(self.r.choice((1, 1, 1, 2, 2, 3))):
            parts.append(self.partition(frame, body, whole=k == 0 and self.r.random() < 0.6, bounded=bounded))
        self.r.shuffle(parts)
        return " ".join(parts)

    def partition(self, frame: Shape, body: Callable[[], str], *, whole: bool, bounded: bool) -> str:
        lower, upper = self.box(frame, whole)
        low, up = self.vector(lower), self.vector(upper)
        less, until = "<=", "<"
        if whole and not bounded and self.r.random() < 0.5:
            low, up, until = ".", ".", "<="
        elif frame and self.r.random() < 0.3:
            up, until = self.vector([u - 1 for u in upper]), "<="
        elif frame and self.r.random() < 0.2 and all(lo > 0 for lo in lower):
            low, less = self.vector([lo - 1 for lo in lower]), "<"
        grid = ""
        if frame and self.r.random() < 0.25:
            step = [self.r.randint(1, 4) for _ in frame]
            grid = f" step {self.vector(step)}"
            if self.r.random() < 0.5:
                grid += f" width {self.vector([self.r.randint(1, s) for s in step])}"
        scalars = [self.fresh("i") for _ in frame]
        iv = self.fresh("iv")
        ranges = [Index(s, lo, hi) for s, lo, hi in zip(scalars, lower, upper)]
        kind = self.r.random()
        if frame and kind < 0.4:
            head = iv
            ranges = [Index(f"{iv}[{k}]", lo, hi) for k, (lo, hi) in enumerate(zip(lower, upper))]
        else:
            head = f"{iv} = {brackets(scalars)}" if kind < 0.5 and frame else brackets(scalars)
        block = ""

        def inside() -> str:
            nonlocal block
            if (frame and "=" in head) or head == iv:
                self.names.append(Name(iv, "int", (len(frame),)))
            if self.r.random() < 0.2 and self.budget > 0:
                block = f" {{ {' '.join(self.local())} }}"
            return body()

        count = prod(hi - lo for lo, hi in zip(lower, upper))
        text = self.inner(ranges, count, inside)
        return f"({low} {less} {head} {until} {up}{grid}){block} : {text};"

    def local(self) -> list[str]:
        """Statements in a body: see `statements`."""
        raise NotImplementedError

    def genarray(self, base: str, shape: Shape, d: int) -> str:
        cut = len(shape) if self.r.random() < 0.8 else self.r.randint(0, len(shape))
        frame, cell = shape[:cut], shape[cut:]
        text = self.partitions(frame, lambda: self.expression(base, cell, d))
        default = f", {self.constant(base, cell)}" if self.r.random() < 0.7 or cell else ""
        return f"with {{ {text} }} : genarray({self.vector(frame) if frame else '[]'}{default})"

    def modarray(self, base: str, shape: Shape, d: int) -> str:
        cut = len(shape) if self.r.random() < 0.8 else self.r.randint(1, len(shape))
        text = self.partitions(shape[:cut], lambda: self.expression(base, shape[cut:], d), bounded=cut < len(shape))
        return f"with {{ {text} }} : modarray({self.expression(base, shape, d - 1)})"

    def comprehension(self, base: str, shape: Shape, d: int) -> str:
        parts = []
        for _ in range(self.r.choice((0, 0, 1))):
            lower, upper = self.box(shape, False)
            names = [self.fresh("i") for _ in shape]
            ranges = [Index(n, lo, hi) for n, lo, hi in zip(names, lower, upper)]
            text = self.inner(
                ranges, prod(hi - lo for lo, hi in zip(lower, upper)), lambda: self.expression(base, (), d)
            )
            parts.append(
                f"{brackets(names)} -> {text} | {self.vector(lower)} <= {brackets(names)} < {self.vector(upper)}"
            )
        names = [self.fresh("i") for _ in shape]
        text = self.inner(
            [Index(n, 0, e) for n, e in zip(names, shape)], prod(shape), lambda: self.expression(base, (), d)
        )
        parts.append(f"{brackets(names)} -> ({text}) | {brackets(names)} < {self.vector(shape)}")
        return f"{{ {'; '.join(parts)} }}"

    def fold(self, base: str, d: int) -> str:
        op, neutral = self.r.choice((("+", 0), ("+", 0), ("*", 1), ("max", None), ("min", None)))
        start = literal(base, neutral) if neutral is not None else self.constant(base, ())
        text = self.partitions(self.shape(3), lambda: self.expression(base, (), d), bounded=True)
        return f"with {{ {text} }} : fold({op}, {start})"

    def stopping(self, base: str, d: int) -> str:
        """A fold that ends once it has come to a value."""
        text = self.partitions(self.shape(2), lambda: self.expression(base, (), d), bounded=True)
        return (
            f"with {{ {text} }} : foldfix({self.r.choice(('max', 'min'))}, {literal(base, 1)}, "
            f"{literal(base, self.r.choice((0, 3, 7)))})"
        )
