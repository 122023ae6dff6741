"""Which arrays of a thread are used again.

In: blocks as they are translated, loops as they are entered. Out: whether memory of the thread may be overwritten: no
name of it is used later in the block, in those around it, or in the next round of a loop around it.

    for i .. with c := c.0, x := x.0           c and x lie where c.0 and x.0 did, which nobody uses after the loop
      p = load c[i - 1]
      u = update c[i] with w                   in place: c is not used after, u lies where it did
      q = load x[i - 1]
      v = update x[i] with y                   likewise
      next u, v                                nothing is copied
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sacpy.jit.ir.graph import Atom, Block, Stmt, Var
from sacpy.jit.ir.rewrite import uses
from sacpy.jit.kernels.values import Memory, Reshaped, Value
from sacpy.nodes import Record


class Level(Record):
    """A block being translated, or the names that a loop uses in its next round. `last`: the number of the last
    statement that uses a name; `at`: that of the statement at hand."""

    env: Mapping[str, Value]
    last: dict[str, int]
    at: int = -1

    def names(self) -> Iterator[str]:
        """The names that are used later."""
        return (name for name, last in self.last.items() if last > self.at)


class Liveness:
    """The blocks and loops around the place of writing, innermost last."""

    def __init__(self) -> None:
        self.levels: list[Level] = []

    @contextmanager
    def block(self, env: Mapping[str, Value], statements: Sequence[Stmt], results: tuple[Atom, ...]) -> Iterator[Level]:
        """A block is translated: whoever does it says which statement is at hand. What an arm gives is used."""
        last: dict[str, int] = {}
        for number, s in enumerate(statements):
            last.update(dict.fromkeys(uses(Block((s,))), number))
        last.update(dict.fromkeys(uses(Block((), results)), len(statements)))
        level = Level(env, last)
        self.levels.append(level)
        try:
            yield level
        finally:
            self.levels.pop()

    @contextmanager
    def kept(self, env: Mapping[str, Value], names: Collection[str]) -> Iterator[None]:
        """Names are used later, as those are that a loop uses in its next round."""
        self.levels.append(Level(env, dict.fromkeys(names, 0)))
        try:
            yield
        finally:
            self.levels.pop()

    def dies(self, v: Value, inside: Collection[str] = ()) -> bool:
        """Whether an array in memory of its own is not used after the statement at hand. `inside`: names that blocks of
        the statement use apart from those that it hands them."""
        assert isinstance(v, Memory)
        env = self.levels[-1].env if self.levels else {}
        return not any(lies_in(env.get(name), v.var) for name in inside) and not any(
            lies_in(level.env.get(name), v.var) for level in self.levels for name in level.names()
        )


def lies_in(v: Value | None, memory: Var) -> bool:
    """Whether a value has elements in some memory."""
    match v:
        case Memory(var=var):
            return var == memory
        case Reshaped(of=of):
            return lies_in(of, memory)
    return False
