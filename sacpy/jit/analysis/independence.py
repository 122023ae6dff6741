"""Which counting loops have rounds that each write to rows of their own, so that they may run in any order.

In: a counting loop, and what is known of the integers in it. Out: yes or no.

    a.5 = for i from t to n step 1 with a.2 := a.1          with t = add! k, 1
      .. load a.2[k,k], load a.2[i,j], update a.2[i,j] ..

Here round i only changes elements whose first index is i, and reads no others that some round changes: those at i
itself, or at k, which is below the first round's.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.overwriting import Sums, linear
from sacpy.jit.ir.graph import ArrayType, Atom, Block, Check, For, If, Load, Loop, Stmt, Update, Var, blocks, operands
from sacpy.jit.ir.rewrite import free
from sacpy.nodes import Record, field


def apart(r: For, sums: Sums) -> bool:
    """Whether the rounds of a loop may run in any order. `sums`: the operations without overflow that variables were
    set to."""
    if r.step != 1 or not r.params or not all(isinstance(p.type, ArrayType) for p in r.params):
        return False
    rounds = _Rounds(r, sums, {p.name: p.name for p in r.params})
    return rounds.block(r.body, [p.name for p in r.params]) and len(rounds.axes) == len(r.params)


class _Rounds(Record):
    """Follows the carried arrays through a round. `current`: the name under which each array, known by its parameter's
    name, can be found now; `axes`: the axis along which the rounds of each keep apart."""

    loop: For
    sums: Sums
    current: dict[str, str]
    axes: dict[str, int] = field(default_factory=dict)
    reads: list[tuple[str, tuple[Atom, ...]]] = field(default_factory=list)
    old: set[str] = field(default_factory=set)

    def block(self, b: Block, wanted: Sequence[str | None]) -> bool:
        """Whether a block is as it should be. `wanted`: the array that each of its results is to be, None for
        others."""
        if not all(self.statement(s) for s in b.statements):
            return False
        for a, array in zip(b.results, wanted):
            if array is None:
                if isinstance(a, Var) and self.is_ours(a.name):
                    return False
            elif not isinstance(a, Var) or self.current.get(array) != a.name:
                return False
        return True

    def is_ours(self, name: str) -> bool:
        return name in self.old or name in self.current.values()

    def array(self, name: str) -> str | None:
        """The carried array that is now known under a name."""
        return next((array for array, now in self.current.items() if now == name), None)

    def move(self, array: str, name: str) -> None:
        """From now on the array goes by another name, and the old one must not be used."""
        self.old.add(self.current[array])
        self.current[array] = name

    def statement(self, s: Stmt) -> bool:
        if isinstance(s, Check):
            return True
        mine = [a.name for a in operands(s.rhs) if isinstance(a, Var) and self.is_ours(a.name)]
        match s.rhs:
            case Load(array=array, index=index) if mine:
                found = self.array(array.name)
                return found is not None and self.read(found, index)
            case Update(array=array, index=index, value=value) if mine == [array.name]:
                found = self.array(array.name)
                if found is None or isinstance(value.type, ArrayType) or not self.write(found, index):
                    return False
                self.move(found, s.targets[0].name)
                return True
            case If(then=then, otherwise=otherwise):
                return self.branches(s.targets, (then, otherwise))
            case Loop(params=params, initial=initial, condition=condition, body=body):
                return self.inner(s.targets, params, initial, (condition, body))
            case For(params=params, initial=initial, body=body):
                return self.inner(s.targets, params, initial, (body,))
        return not mine and not any(self.is_ours(name) for b in blocks(s.rhs) for name in free(b))

    def branches(self, targets: Sequence[Var], both: Sequence[Block]) -> bool:
        before, old = dict(self.current), set(self.old)
        ends: list[list[str | None]] = []
        for b in both:
            self.current, self.old = dict(before), set(old)
            if not all(self.statement(s) for s in b.statements):
                return False
            ends.append([self.array(a.name) if isinstance(a, Var) else None for a in b.results])
            if any(isinstance(a, Var) and a.name in self.old for a in b.results):
                return False
            changed = {array for array, now in self.current.items() if now != before[array]}
            if not changed <= set(ends[-1]):
                return False
        if ends[0] != ends[1]:
            return False
        self.current, self.old = dict(before), old
        results = [array for array in ends[0] if array is not None]
        for t, array in zip(targets, ends[0]):
            if array is not None:
                self.move(array, t.name)
        return len(results) == len(set(results))

    def inner(
        self, targets: Sequence[Var], params: Sequence[Var], initial: Sequence[Atom], inside: Sequence[Block]
    ) -> bool:
        """A loop in the round: it may carry arrays on, each once."""
        carried = [self.array(a.name) if isinstance(a, Var) else None for a in initial]
        if any(isinstance(a, Var) and a.name in self.old for a in initial):
            return False
        arrays = [array for array in carried if array is not None]
        if len(arrays) != len(set(arrays)):
            return False
        for p, array in zip(params, carried):
            if array is not None:
                self.move(array, p.name)
        *tests, body = inside
        for test in tests:
            if not self.block(test, [None] * len(test.results)):
                return False
        if not self.block(body, carried):
            return False
        for t, array in zip(targets, carried):
            if array is not None:
                self.move(array, t.name)
        return True

    # ---- places

    def write(self, array: str, index: tuple[Atom, ...]) -> bool:
        """Whether a write stays in the round's own rows: along an axis that is the same for all writes."""
        axes = [k for k, a in enumerate(index) if a == self.loop.index]
        if array not in self.axes:
            if not axes:
                return False
            self.axes[array] = axes[0]
        return self.axes[array] in axes and all(self.apart(array, i) for a, i in self.reads if a == array)

    def read(self, array: str, index: tuple[Atom, ...]) -> bool:
        """Whether a read meets no row that another round changes; put off until it is known where the array is
        written."""
        self.reads.append((array, index))
        return array not in self.axes or self.apart(array, index)

    def apart(self, array: str, index: tuple[Atom, ...]) -> bool:
        at = index[self.axes[array]]
        return at == self.loop.index or self.below(at, self.loop.lower, 1) or self.below(self.loop.upper, at, 0)

    def below(self, a: Atom, b: Atom, distance: int) -> bool:
        """Whether a + distance <= b for certain."""
        (x, i), (y, j) = (linear(at, self.sums, self.loop.index.name) for at in (a, b))
        return x == y and i + distance <= j
