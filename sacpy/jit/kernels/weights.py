"""What a launch does, counted before it runs.

In: a launch, with the numbers of its with-loop. Out: its `Work`. Two neighbouring threads in the middle of a block in
the middle of the grid are followed through the kernel, as far as numbers are known: which way conditions go, how many
rounds loops have, and how far apart in memory the two are, which says how many sectors a warp asks for. A loop's body
is followed once, in the middle of its rounds.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sacpy.jit.analysis.shared_planner import BYTES
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.matrix_units import FORMS, OWN
from sacpy.jit.kernels.launches import Launch
from sacpy.lang.types import REAL
from sacpy.withloop.rates import Work

Pair = tuple[int, int]
SECTOR = 32
_SLOW = {"div": 9, "mod": 9, "sqrt": 8}  # operations on reals in a division and the like, as sm_90 has them
_BESIDE = 5  # other instructions in one
_AT_ONCE = 64.0  # bytes that a thread asks for before it waits, at most: eight loads of eight bytes
_BEGIN = 4  # instructions in which a thread learns which one it is
_ROUTINE = 20  # the same of exponentials and the like
_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "neq": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
}
_CHEAP = frozenset(("add", "sub", "mul", "neg", "abs", "min", "max", "select", "copysign"))


@dataclass
class _Weigher:
    """Follows two threads. `values`: of scalars, where they are known; `spaces`: of the kernel's own arrays; `sums`: by
    what is counted; `arrays`: bytes asked for of each global array."""

    kernel: k.Kernel
    values: dict[str, Pair]
    spaces: dict[str, str]
    sums: dict[str, float] = field(default_factory=dict)
    arrays: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    guessed: bool = False
    products: set[str] = field(default_factory=set)  # of reals, which a sum takes in with one instruction

    def value(self, a: g.Atom) -> Pair | None:
        if isinstance(a, g.Const):
            return None if isinstance(a.value, float) else (int(a.value), int(a.value))
        return self.values.get(a.name)

    def number(self, a: g.Atom) -> int | None:
        found = self.value(a)
        return None if found is None else found[0]

    def count(self, what: str, many: float) -> None:
        self.sums[what] = self.sums.get(what, 0.0) + many

    # ---- block level

    def block(self, body: Sequence[k.BlockStmt], times: float) -> None:
        """What a block does, so many times."""
        threads = math.prod(self.number(e) or 1 for e in self.kernel.block)
        for s in body:
            match s:
                case k.ForAll():
                    extents = [self.number(e) for e in s.extents]
                    self.guessed |= None in extents
                    known = [max(0, e or 0) for e in extents]
                    for v, e in zip(s.index, known):
                        self.values[v.name] = (e // 2, e // 2)
                    if s.index and known[-1] > 1:  # not over the end of the block's last axis
                        first = min(known[-1] // 2, known[-1] - 2)
                        self.values[s.index[-1].name] = (first, first + 1)
                    self.thread(s.body, times * math.prod(known))
                case k.Barrier():
                    self.count("instructions", times * threads)
                case k.Shuffle():
                    self.count("instructions", times * threads * (4 if BYTES[s.target.base] == 8 else 1))
                case k.MultiplyAdd():
                    self.multiply(s, times * threads)
                case k.Allocate():
                    self.spaces[s.array.name] = s.space
                case k.Uniform():
                    self.set(s.target, self.rhs(s.rhs))
                case k.BlockFor():
                    step = self.number(s.step)
                    rounds = self.rounds(s.index, s.lower, s.upper, 1 if step is None else step)
                    self.block(s.body, times * rounds)
                case k.BlockIf():
                    if self.number(s.condition) != 0:
                        self.block(s.then, times)
                case k.LastBlock():
                    self.block(s.body, times / math.prod(self.number(e) or 1 for e in self.kernel.grid))

    def multiply(self, s: k.MultiplyAdd, times: float) -> None:
        """What tensor cores do, so many threads of warps."""
        form = FORMS[s.form]
        sums = math.prod(self.number(e) or 0 for e in g.extents_of(s.target))
        self.count("instructions", times * sums / (OWN * form.high))
        self.count(f"multiplied {form.base}", 2 * times * sums * form.folded)

    def rounds(self, index: g.Var, lower: g.Atom, upper: g.Atom, step: int) -> float:
        """How many rounds a loop has; its index is in the middle of them."""
        low, high = self.value(lower), self.value(upper)
        if low is None or high is None or not step:
            self.guessed = True
            self.set(index, low)
            return 1.0
        many = max(0, -(-(high[0] - low[0]) // step))
        at = step * (many // 2)
        self.set(index, (low[0] + at, low[1] + at))
        return float(many)

    # ---- thread level

    def thread(self, body: Sequence[k.ThreadStmt], times: float) -> None:
        """What threads do, so many of them."""
        if not times:
            return
        for s in body:
            match s:
                case k.Let(rhs=g.Load() as load):
                    self.values.pop(s.target.name, None)
                    self.access(load.array, load.index, times, load=True)
                case k.Let():
                    self.operation(s, times)
                case k.Store():
                    self.access(s.array, s.index, times)
                case k.Atomic():
                    self.access(s.array, s.index, times)
                case k.Check():
                    self.count("instructions", times)
                case k.If():
                    self.condition(s, times)
                case k.SeqFor():
                    self.loop(s, times)
                case k.While():
                    self.guessed = True
                    for c in s.carried:
                        self.values.pop(c.target.name, None)
                    self.thread(s.condition, times)
                    self.thread(s.body, times)

    def condition(self, s: k.If, times: float) -> None:
        """The branch that is taken; the first where that is not known."""
        self.count("instructions", times)
        taken = self.number(s.condition)
        self.thread(s.then if taken != 0 else s.otherwise, times)
        for m in s.merges:
            self.set(m.target, self.value(m.then if taken != 0 else m.otherwise))

    def loop(self, s: k.SeqFor, times: float) -> None:
        rounds = self.rounds(s.index, s.lower, s.upper, s.step)
        for c in s.carried:
            self.values.pop(c.target.name, None)
        self.count("instructions", 2 * times * rounds)
        self.thread(s.body, times * rounds)

    def operation(self, s: k.Let, times: float) -> None:
        assert not isinstance(s.rhs, g.Load)
        found = self.rhs(s.rhs)
        self.set(s.target, found)
        if isinstance(s.rhs, g.Op):
            real = s.target.base in REAL
            slow = _SLOW.get(s.rhs.code, 1 if s.rhs.code in _CHEAP else _ROUTINE) if real else 1
            fused = (
                real
                and s.rhs.code in ("add", "sub")
                and any(isinstance(a, g.Var) and a.name in self.products for a in s.rhs.args)
            )
            if real and s.rhs.code == "mul":
                self.products.add(s.target.name)
            others = _BESIDE if real and s.rhs.code in _SLOW else 0
            self.count("instructions", 0 if fused or self.offset(s.rhs) else times * (slow + others))
            if real and s.rhs.code != "select" and not fused:
                self.count("single" if s.target.base == "float" else "double", 2 * times * slow)
        elif isinstance(s.rhs, k.Divide):
            self.count("instructions", 3 * times)

    def offset(self, op: g.Op) -> bool:
        """Whether an operation adds a constant to an index, which addresses take in."""
        return op.exact and op.code in ("add", "sub") and any(isinstance(a, g.Const) for a in op.args)

    def rhs(self, rhs: g.Atom | g.Op | g.Load | k.Divide) -> Pair | None:
        """The value, where it is a known integer."""
        match rhs:
            case k.Divide():
                a, b = self.value(rhs.dividend), self.value(rhs.divisor)
                return None if a is None or b is None or not all(b) else (a[0] // b[0], a[1] // b[1])
            case g.Op(code="toi" | "tol", args=(a,)):
                return self.value(a)
            case g.Op(code="not", args=(a,)):
                one = self.value(a)
                return None if one is None else (1 - one[0], 1 - one[1])
            case g.Op(code="select", args=(c, a, b)):
                which = self.number(c)
                return None if which is None else self.value(a if which else b)
            case g.Op(code="div" | "mod" as code, args=(a, b)):
                x, y = self.value(a), self.value(b)
                if x is None or y is None or min(*x, *y) < 0 or not all(y):
                    return None
                return (x[0] // y[0], x[1] // y[1]) if code == "div" else (x[0] % y[0], x[1] % y[1])
            case g.Op(code=code, args=(a, b)) if code in _BINARY:
                x, y = self.value(a), self.value(b)
                if x is None or y is None or (code in ("shl", "shr") and min(y) < 0):
                    return None
                return int(_BINARY[code](x[0], y[0])), int(_BINARY[code](x[1], y[1]))
            case g.Var() | g.Const():
                return self.value(rhs)
        return None

    def set(self, v: g.Var, found: Pair | None) -> None:
        if found is None:
            self.values.pop(v.name, None)
        else:
            self.values[v.name] = found

    def access(self, array: g.Var, index: Sequence[g.Atom], times: float, load: bool = False) -> None:
        """An element that threads read or write. Private ones are registers; of others, those that lie within the
        widest access are taken to be neighbours' of one thread, which share an instruction."""
        space, size = self.spaces.get(array.name, "global"), BYTES[array.base]
        if space == "private":
            return
        apart = self.apart(array, index)
        wide = apart is not None and 0 < abs(apart) * size <= k.ALIGNMENT
        self.count("instructions", times * (1 / max(1, abs(apart or 1)) if wide else 1))
        if space == "shared":
            self.count("shared", times * size / (32 if apart == 0 else 1))  # one element serves all lanes
            return
        far = size if wide else 32 * SECTOR if apart is None else abs(apart) * size
        sectors = max(1, min(32, 32 * far // SECTOR))
        self.count("requested", times / 32 * sectors * SECTOR)
        if load and apart != 0:
            self.count("loads", times * size)
        self.arrays[array.name] = self.arrays.get(array.name, 0.0) + times * size
        extents = [self.number(e) for e in g.extents_of(array)]
        if None not in extents:
            self.sizes[array.name] = float(size * math.prod(e or 0 for e in extents))

    def apart(self, array: g.Var, index: Sequence[g.Atom]) -> int | None:
        """How many elements lie between those of the two threads."""
        found = 0
        for a, e in zip(index, g.extents_of(array), strict=True):
            at, extent = self.value(a), self.number(e)
            if at is None or (extent is None and found):
                return None
            found = found * (extent or 1) + at[1] - at[0]
        return found


def weigh(launch: Launch, numbers: Mapping[str, int]) -> Work:
    """What a launch does. `numbers`: of the with-loop's integers, extents among them."""
    kernel = launch.kernel
    values: dict[str, Pair] = {}
    for v, given in zip(kernel.params, launch.arguments, strict=True):
        n = given if isinstance(given, int) else numbers.get(given)
        if n is not None and not isinstance(v.type, g.ArrayType):
            values[v.name] = (n, n)
    for v, many in zip(reversed(kernel.block_index), reversed(launch.grid)):
        values[v.name] = (many // 2, many // 2)
    found = _Weigher(kernel, values, {})
    blocks = math.prod(launch.grid)
    found.count("instructions", launch.threads * (len(kernel.params) + _BEGIN))
    found.block(kernel.body, blocks)
    touched = sum(min(asked, found.sizes.get(name, asked)) for name, asked in found.arrays.items())
    threads = max(1, launch.threads)
    sums = found.sums
    return Work(
        sums.get("instructions", 0.0),
        sums.get("single", 0.0),
        sums.get("double", 0.0),
        sums.get("requested", 0.0),
        touched,
        sums.get("shared", 0.0),
        min(sums.get("loads", 0.0) / threads, _AT_ONCE),
        found.guessed,
        sums.get("multiplied float", 0.0),
        sums.get("multiplied double", 0.0),
    )
