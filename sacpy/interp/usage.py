"""How often and where the variables of a function are used: which expressions may wait for their use, and which index
vectors need never exist.

In: a function in core. Out: `Usage`. A variable used once, in the block that defines it, may become part of the
expression that uses it. A short vector `[i,j]` of scalars that only serves as an index is *virtual*: its components are
used directly, wherever the uses are.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Block,
    Check,
    Fold,
    Function,
    GlobalSet,
    If,
    Let,
    Loop,
    Partition,
    Prim,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.walk import operands
from sacpy.nodes import Record, field


class Usage(Record):
    """Counts of uses; the block (by identity) of each definition and use."""

    function: Function
    is_scalar: Callable[[Atom], bool]
    counts: Counter[str] = field(default_factory=Counter)
    as_index: Counter[str] = field(default_factory=Counter)
    blocks: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    home: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, ArrayCons] = field(default_factory=dict)
    virtual: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        f = self.function
        for condition in f.conditions:
            self._block(condition.block)
            self._use(condition.value, condition.block)
        self._block(f.body)
        for atom in f.returns:
            self._use(atom, f.body)
        for name, cons in reversed(self.vectors.items()):
            if self.counts[name] > 1 and self.counts[name] == self.as_index[name]:
                self.virtual.add(name)
                for element in cons.elements:
                    if isinstance(element, Var):
                        self.counts[element.name] += self.counts[name]

    def may_wait(self, name: str) -> bool:
        """Whether the definition may move to its only use."""
        return self.counts[name] == 1 and self.blocks[name] == {self.home.get(name)}

    def _use(self, atom: Atom | None, block: Block) -> None:
        if isinstance(atom, Var):
            self.counts[atom.name] += 1
            self.blocks[atom.name].add(id(block))

    def _block(self, block: Block) -> None:
        for statement in block.statements:
            self._statement(statement, block)

    def _statement(self, s: Stmt, block: Block) -> None:
        match s:
            case Let(targets=targets, rhs=rhs):
                for atom in operands(rhs):
                    self._use(atom, block)
                for target in targets:
                    self.home[target.name] = id(block)
                self._index_uses(rhs)
                if isinstance(rhs, ArrayCons) and len(rhs.elements) <= 8 and all(map(self.is_scalar, rhs.elements)):
                    self.vectors[targets[0].name] = rhs
                if isinstance(rhs, WithLoop):
                    self._with_loop(rhs)
            case If():
                self._use(s.condition, block)
                self._block(s.then)
                self._block(s.otherwise)
                for merge in s.merges:
                    self._use(merge.then, s.then)
                    self._use(merge.otherwise, s.otherwise)
                    self.home[merge.target.name] = id(block)
            case Loop():
                for carried in s.carried:
                    self._use(carried.initial, block)
                self._block(s.condition)
                self._use(s.test, s.condition)
                self._block(s.body)
                for carried in s.carried:
                    self._use(carried.update, s.body)
            case GlobalSet(value=value) | Check(value=value):
                self._use(value, block)

    def _index_uses(self, rhs: object) -> None:
        match rhs:
            case Prim(op="sel", args=(Var(name=iv), _)):
                self.as_index[iv] += 1
            case Prim(op="modarray", args=(_, Var(name=iv), _)):
                self.as_index[iv] += 1

    def _with_loop(self, loop: WithLoop) -> None:
        for operator in loop.operators:
            if isinstance(operator, Fold):
                self._block(operator.combine.body)
                for atom in operator.combine.results:
                    self._use(atom, operator.combine.body)
        for partition in loop.partitions:
            self._partition(partition)

    def _partition(self, p: Partition) -> None:
        self._block(p.body)
        for atom in p.values:
            self._use(atom, p.body)
