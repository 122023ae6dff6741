"""Where the arrays of a block are made: those that are part of a result at once in their place there, small ones that
only their block looks at on the stack.

In: a block, and the places of its results, as far as these are known. Out: places of other arrays of the block.

    c = array of 0.0, 0.0, 0.0                     c    in the place of the cell
    s = for j from 0 to 3 step 1 with t := c       s    in the same place: t is the place all along
      u = update t[j] with x
      next u
    yield s

What becomes another array, by an update or by rounds of updates, shares its place if nobody else needs it: it is only
loaded from, or copied, and before that.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from math import prod

from sacpy.jit.host.memory import BORROWED, Array
from sacpy.jit.host.writer import Writer
from sacpy.jit.ir.graph import (
    ArrayType,
    Block,
    Check,
    Cons,
    Const,
    For,
    Genarray,
    Let,
    Load,
    Loop,
    Stmt,
    Update,
    Var,
    WithLoop,
    blocks,
    operands,
)
from sacpy.jit.llvm.legal import memory_type, size_of
from sacpy.nodes import replace

LARGEST = 512  # bytes of an array on the stack
MOST = 4096  # bytes of such arrays in one LLVM function


def places(w: Writer, block: Block, owned: Container[str], into: dict[str, Array]) -> dict[str, Array]:
    """The places of the arrays that a block makes. `owned`: arrays from outside that the block takes over; `into`: the
    places of results that have one."""
    makers = {
        t.name: number
        for number, s in enumerate(block.statements)
        if isinstance(s, Let) and isinstance(s.rhs, Cons | Update | For | Loop | WithLoop)
        for t in s.targets
        if isinstance(t.type, ArrayType)
    }
    if not makers:
        return into
    plan = _Plan(w, block, owned, makers)
    found = dict(into)
    for name, place in into.items():
        for other in plan.chain(name)[0]:
            found[other] = replace(place)
    results = {a.name for a in block.results if isinstance(a, Var)}
    for name in reversed(makers):
        size = _stack_size(plan.target(name))
        if name in found or name in results or not 0 < size <= LARGEST or w.on_stack + size > MOST:
            continue
        if not all(_only_loads(block.statements[k], name) for k in plan.users.get(name, ())):
            continue
        names, own = plan.chain(name)
        if own and not found.keys() & set(names):
            w.on_stack += size
            v = plan.target(name)
            assert isinstance(v.type, ArrayType)
            data = w.code.slot(f"[{size // size_of(v.base)} x {memory_type(v.base)}]")
            for other in (name, *names):
                found[other] = Array(data, BORROWED, v.base, w.wides(v.type.extents))
    return found


def _stack_size(v: Var) -> int:
    """The bytes of an array of constant extents; 0 where they are not constant."""
    assert isinstance(v.type, ArrayType)
    extents = [int(e.value) for e in v.type.extents if isinstance(e, Const)]
    return prod(extents) * size_of(v.base) if len(extents) == v.type.rank else 0


class _Plan:
    """`makers`: the number of the statement that makes an array; `users`: of those that use it."""

    def __init__(self, w: Writer, block: Block, owned: Container[str], makers: dict[str, int]) -> None:
        self.statements, self.owned, self.makers = block.statements, owned, makers
        self.users: dict[str, list[int]] = {}
        for number, s in enumerate(block.statements):
            for name in w.unit.uses.of(s):
                self.users.setdefault(name, []).append(number)
        for a in block.results:
            if isinstance(a, Var):
                self.users.setdefault(a.name, []).append(len(block.statements))

    def let(self, name: str) -> Let:
        """The statement that makes an array."""
        s = self.statements[self.makers[name]]
        assert isinstance(s, Let)
        return s

    def target(self, name: str) -> Var:
        """The variable of a name."""
        return next(t for t in self.let(name).targets if t.name == name)

    def chain(self, name: str) -> tuple[list[str], bool]:
        """The arrays of the block that become this one, so that they can share its place, the latest first. And whether
        no memory is given up for it that is there anyway: the first of them is made here, or has to stay as it is."""
        from sacpy.jit.analysis.versions import handed_on

        found: list[str] = []
        while name in self.makers:
            number, s = self.makers[name], self.let(name)
            at = [t.name for t in s.targets].index(name)
            match s.rhs:
                case Cons():
                    return found, True
                case WithLoop(operators=operators):
                    return found, len(operators) == 1 and isinstance(operators[0], Genarray)
                case Update(array=source):
                    pass
                case For(initial=initial) | Loop(initial=initial):
                    before = initial[at]
                    if not isinstance(before, Var) or not handed_on(s.rhs, at):
                        return found, False
                    source = before
                case _:
                    return found, False
            if source.name not in self.makers:
                return found, source.name not in self.owned
            others = [k for k in self.users[source.name] if k != number]
            if (
                not all(k < number and _only_loads(self.statements[k], source.name) for k in others)
                or _uses(s, source.name) != 1
            ):
                return found, False
            name = source.name
            found.append(name)
        return found, False


def _occurrences(s: Stmt, name: str) -> Iterator[bool]:
    """For each use of an array in a statement, inner blocks included, whether it is a load from it, or copies it into
    another."""
    if isinstance(s, Check):
        return
    load = isinstance(s.rhs, Load) or (isinstance(s.rhs, Update) and s.rhs.array.name != name)
    for a in operands(s.rhs):
        if isinstance(a, Var) and a.name == name:
            yield load
    for b in blocks(s.rhs):
        yield from _inside(b.statements, name)
        for a in b.results:
            if isinstance(a, Var) and a.name == name:
                yield False


def _inside(statements: Sequence[Stmt], name: str) -> Iterator[bool]:
    for s in statements:
        yield from _occurrences(s, name)


def _only_loads(s: Stmt, name: str) -> bool:
    """Whether a statement uses an array for nothing but to load elements, or to copy them."""
    return all(_occurrences(s, name))


def _uses(s: Stmt, name: str) -> int:
    """How often a statement uses an array."""
    return sum(1 for _ in _occurrences(s, name))
