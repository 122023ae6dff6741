"""Where the shared arrays of a kernel lie in a block's shared memory.

In: a kernel, and the values of those of its parameters that are extents of shared arrays. Out: an offset for each
array, and the bytes that a block needs. Two arrays get the same place if a barrier that every thread passes lies
between the last use of the one and the first of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from sacpy.jit.ir.graph import Atom, Const, Load, extents_of
from sacpy.jit.ir.kernel import (
    Allocate,
    Atomic,
    Barrier,
    BlockFor,
    BlockIf,
    BlockStmt,
    ForAll,
    Kernel,
    LastBlock,
    Let,
    Store,
    ThreadStmt,
    block_statements,
    thread_statements,
)
from sacpy.nodes import Node, Record, field

ALIGNMENT = 16
BYTES = {
    "byte": 1,
    "short": 2,
    "int": 4,
    "long": 8,
    "longlong": 8,
    "ubyte": 1,
    "ushort": 2,
    "uint": 4,
    "ulong": 8,
    "ulonglong": 8,
    "float": 4,
    "double": 8,
    "bool": 1,
    "char": 1,
}


class SharedPlan(Node):
    """`offsets` in bytes, by the names of the arrays; `size`: bytes of a block."""

    offsets: Mapping[str, int]
    size: int


class _Life(Record):
    first: int
    last: int


class _Walk(Record):
    """Statements in the order of time. What is used in a loop of the block is alive from the loop's start to its
    end."""

    shared: set[str]
    now: int = 0
    lives: dict[str, _Life] = field(default_factory=dict)
    barriers: list[int] = field(default_factory=list)

    def block(self, statements: Iterable[BlockStmt], certain: bool) -> None:
        for s in statements:
            self.now += 1
            match s:
                case Barrier() if certain:
                    self.barriers.append(self.now)
                case ForAll():
                    self.use(_arrays(s.body))
                case BlockFor():
                    self.loop(s)
                case BlockIf():
                    self.block(s.then, certain=False)
                case LastBlock():  # the first thread writes the flag; a barrier; all threads read it
                    self.use({s.flag.name})
                    self.barriers.append(self.now + 1)
                    self.now += 2
                    self.use({s.flag.name})
                    self.block(s.body, certain=False)

    def loop(self, s: BlockFor) -> None:
        start = self.now
        self.block(s.body, certain=False)
        self.now += 1
        for name in {
            a for inner in block_statements(s.body) if isinstance(inner, ForAll) for a in _arrays(inner.body)
        } & self.shared:
            life = self.lives[name]
            life.first, life.last = min(life.first, start), self.now

    def use(self, names: set[str]) -> None:
        for name in names & self.shared:
            self.lives.setdefault(name, _Life(self.now, self.now)).last = self.now

    def apart(self, a: _Life, b: _Life) -> bool:
        """Whether a barrier parts two lives."""
        first, second = (a, b) if a.first <= b.first else (b, a)
        return any(first.last < at < second.first for at in self.barriers)


def _arrays(code: tuple[ThreadStmt, ...]) -> set[str]:
    """The arrays that a thread's code reads or writes."""
    found = set()
    for s in thread_statements(code):
        if isinstance(s, Store | Atomic):
            found.add(s.array.name)
        elif isinstance(s, Let) and isinstance(s.rhs, Load):
            found.add(s.rhs.array.name)
    return found


def plan_shared(kernel: Kernel, values: Mapping[str, int] | None = None) -> SharedPlan:
    """Places for the shared arrays of a kernel. `values`: of the parameters that are extents of such arrays; `KeyError`
    where one is missing."""
    arrays = [s.array for s in block_statements(kernel.body) if isinstance(s, Allocate) and s.space == "shared"]
    walk = _Walk({a.name for a in arrays})
    walk.block(kernel.body, certain=True)
    offsets: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for a in arrays:
        if a.name not in walk.lives:
            offsets[a.name] = 0
            continue
        sizes[a.name] = BYTES[a.base] * math.prod(_number(e, values or {}) for e in extents_of(a))
        taken = sorted(
            (offsets[n], offsets[n] + sizes[n])
            for n in sizes
            if n in offsets and not walk.apart(walk.lives[n], walk.lives[a.name])
        )
        at = 0
        for start, end in taken:
            if at + sizes[a.name] <= start:
                break
            at = max(at, -(-end // ALIGNMENT) * ALIGNMENT)
        offsets[a.name] = at
    return SharedPlan(offsets, max((offsets[n] + size for n, size in sizes.items()), default=0))


def _number(a: Atom, values: Mapping[str, int]) -> int:
    return int(a.value) if isinstance(a, Const) else values[a.name]
