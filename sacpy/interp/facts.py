"""What is known of the variables of a function before it runs: base types, shapes, and which candidates a call can
take.

In: a function in core, and inference. Out: `Facts`, a table that preparation extends when it substitutes a callee's
body.
"""

from __future__ import annotations

from sacpy.lang.core import Atom, Bind, Block, Const, Fold, Function, If, Let, Loop, Propagate, Stmt, WithLoop
from sacpy.lang.types import ANY, Shape, known
from sacpy.nodes import Record, field


class Facts(Record):
    """Tables by variable, and by call (its identity): the instance it certainly takes, or those it may take.
    `aliases`: variables in whose place others, or constants, have been put."""

    shapes: dict[str, Shape] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    certain: dict[int, str] = field(default_factory=dict)
    candidates: dict[int, tuple[str, ...]] = field(default_factory=dict)
    aliases: dict[str, Atom] = field(default_factory=dict)

    def shape(self, name: str) -> Shape:
        return self.shapes.get(name, ANY)

    def base(self, name: str) -> str:
        return self.bases[name]

    def atom_shape(self, atom: Atom) -> Shape:
        if isinstance(atom, Const):
            return known(atom.shape)
        return self.shape(atom.name)

    def rank(self, atom: Atom) -> int | None:
        return self.atom_shape(atom).rank


def binds(function: Function) -> list[Bind]:
    """All variables that a function defines."""
    result: list[Bind] = [s.bind for s in function.signature.params]
    for condition in function.conditions:
        _binds(condition.block, result)
    _binds(function.body, result)
    return result


def _binds(block: Block, result: list[Bind]) -> None:
    for s in block.statements:
        _statement(s, result)


def _statement(s: Stmt, result: list[Bind]) -> None:
    match s:
        case Let(targets=targets, rhs=rhs):
            result += targets
            if isinstance(rhs, WithLoop):
                _with_loop(rhs, result)
        case If():
            _binds(s.then, result)
            _binds(s.otherwise, result)
            result += [m.target for m in s.merges]
        case Loop():
            result += [c.target for c in s.carried]
            _binds(s.condition, result)
            _binds(s.body, result)


def _with_loop(loop: WithLoop, result: list[Bind]) -> None:
    for operator in loop.operators:
        if isinstance(operator, Fold):
            result += operator.combine.params
            _binds(operator.combine.body, result)
        elif isinstance(operator, Propagate):
            result += operator.params
    for p in loop.partitions:
        result += (p.index, *(p.scalars or ()))
        _binds(p.body, result)
