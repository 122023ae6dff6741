"""Where each part of a unit runs: which with-loops may go to the device, which statements the host target compiles, and
what is left to Python.

In: a unit after the passes, and the judgement of the kernels' planner on single with-loops. Out: a `Plan`, with the
reason for each with-loop that stays on the host. With-loops that may go to the device are weighed when they run, by
their extents (`weigh`); here it is only said that they may.

A loop, a branch or a call without such a with-loop in it is native, one piece with those that make what nobody else
needs (`kernels/residence`). One with such is Python, unless what it has to do turns out to be too small when it runs:
then it is a native piece after all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.analysis.costs import cost
from sacpy.jit.device.hosted import Piece
from sacpy.jit.ir.graph import (
    ArrayType,
    Atom,
    Block,
    Call,
    Check,
    Const,
    For,
    Function,
    If,
    Let,
    Op,
    Rhs,
    Stmt,
    Unit,
    Var,
    WithLoop,
    blocks,
    statements,
)
from sacpy.jit.ir.graph import Loop as GraphLoop
from sacpy.jit.ir.rewrite import bound, place_of, uses
from sacpy.jit.kernels.residence import Judge, Residence, outputs, runs
from sacpy.jit.passes.mappings import stands
from sacpy.lang.source import Span
from sacpy.nodes import Node, Record, field

if TYPE_CHECKING:
    from sacpy.jit.device.hosted import PieceContext

Bounds = tuple[tuple[Atom, Atom], ...]
FEW_ROUNDS = 1024  # of a loop in a cell, which a thread of a device is soon done with


class Native(Node):
    """A statement that runs as native code on the host."""

    number: int
    piece: Piece


class Loop(Node):
    """A with-loop that may run on the device. `native`: the same on the host. `extents`: of each partition, what one
    index costs and the bounds. `idle`: the names of results that nobody uses; `repeats`: an index has a loop, whose
    rounds one thread runs one after the other."""

    number: int
    let: Let
    inputs: tuple[Var, ...]
    native: Native
    extents: tuple[tuple[float, Bounds], ...]
    idle: frozenset[str] = frozenset()
    repeats: bool = False

    @property
    def with_loop(self) -> WithLoop:
        assert isinstance(self.let.rhs, WithLoop)
        return self.let.rhs


class Spans(Node):
    """A statement with such with-loops inside. `extents`: of all of them, where they are known before it begins, else
    (); `arrays`: what the native piece would take; `asked`: for one of them the programmer asks for a kernel."""

    native: Native
    extents: tuple[tuple[float, Bounds], ...]
    arrays: tuple[Var, ...]
    asked: bool


class Run(Node):
    """Statements of a block that are one native piece, in the place of the last of them."""

    statements: tuple[Stmt, ...]
    native: Native


class Stays(Node):
    """A with-loop that stays on the host, and why."""

    span: Span
    reason: str


class Plan(Record):
    """How a unit runs. `placed`: by identity of the statement; what is not there is Python. `runs`: by identity of each
    of their statements."""

    unit: Unit
    functions: list[Function] = field(default_factory=list)
    placed: dict[int, Native | Loop | Spans] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    natives: list[Native] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    stays: list[Stays] = field(default_factory=list)
    operations: dict[str, tuple[str, str]] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)

    def operation(self, code: str, base: str) -> str:
        """The name of a scalar operation in the generated text."""
        name = f"op_{code}_{base}"
        self.operations[name] = (code, base)
        return name

    def site(self, check: Check) -> int:
        """The number of a check."""
        self.checks.append(check)
        return len(self.checks) - 1


def place(unit: Unit, judge: Judge, tools: PieceContext) -> Plan:
    """The plan of a unit. It has no `loops` where nothing can run on the device."""
    placer = _Placer(unit, judge, tools)
    for f in unit.functions:
        if f is unit.root or any(map(placer.sides.may, f.body.statements)):
            placer.plan.functions.append(f)
            placer.block(f.body, uses(f.body))
    placer.plan.stays += [Stays(place_of(let), reason) for let, reason in placer.sides.stays]
    return placer.plan


class _Placer:
    def __init__(self, unit: Unit, judge: Judge, tools: PieceContext) -> None:
        self.unit = unit
        self.tools = tools
        self.plan = Plan(unit)
        self.sides = Residence(unit, judge)

    # ---- statements

    def block(self, block: Block, used: Counter[str]) -> None:
        """Places the statements of a block. `used`: how often each variable is used in the function."""
        numbers = {k for k, s in enumerate(block.statements) if isinstance(s, Let) and self.is_native(s)}
        for members in runs(block, numbers, lambda s: not self.sides.may(s), used):
            statements_ = tuple(block.statements[k] for k in members)
            run = Run(statements_, self.native(statements_, outputs(statements_, used)))
            self.plan.runs.update((id(s), run) for s in statements_)
        for s in block.statements:
            if isinstance(s, Let) and id(s) not in self.plan.runs:
                self.let(s, used)

    def is_native(self, s: Let) -> bool:
        """Whether a statement is native code, however large what it works on is."""
        if isinstance(s.rhs, WithLoop):
            return bool(self.sides.reason(s))
        if self.sides.may(s):
            return False
        return isinstance(s.rhs, Call | For | GraphLoop) or (isinstance(s.rhs, If) and _works(s.rhs))

    def let(self, s: Let, used: Counter[str]) -> None:
        plan = self.plan
        if self.is_native(s):
            plan.placed[id(s)] = self.native((s,), s.targets)
        elif isinstance(s.rhs, WithLoop):
            native = self.native((s,), s.targets)
            idle = frozenset(t.name for t in s.targets if not used[t.name])
            repeats = any(self.repeats(p.body, ()) for p in s.rhs.partitions)
            loop = Loop(len(plan.loops), s, native.piece.inputs, native, tuple(_extents(s.rhs)), idle, repeats)
            plan.loops.append(loop)
            plan.placed[id(s)] = loop
        elif self.sides.may(s):
            for inner in blocks(s.rhs):
                self.block(inner, used)
            if isinstance(s.rhs, For | GraphLoop | If):
                native = self.native((s,), s.targets)
                arrays = tuple(v for v in native.piece.inputs if isinstance(v.type, ArrayType))
                asked = any(
                    isinstance(let, Let) and isinstance(let.rhs, WithLoop) and stands(let.rhs)
                    for let in statements(Block((s,)))
                )
                plan.placed[id(s)] = Spans(native, self.known_extents(s), arrays, asked)

    def repeats(self, block: Block, calls: tuple[str, ...]) -> bool:
        """Whether there is a loop in a block, functions that it calls included, of which nobody knows that it has few
        rounds."""
        made = {t.name: s.rhs for s in block.statements if isinstance(s, Let) for t in s.targets}
        return any(
            isinstance(s, Let)
            and (
                isinstance(s.rhs, GraphLoop)
                or (isinstance(s.rhs, For) and not _few_rounds(s.rhs, made))
                or (isinstance(s.rhs, Call) and self._repeats(s.rhs.function, calls))
                or any(self.repeats(b, calls) for b in blocks(s.rhs))
            )
            for s in block.statements
        )

    def _repeats(self, name: str, calls: tuple[str, ...]) -> bool:
        return name in calls or self.repeats(self.unit.function(name).body, (*calls, name))

    def native(self, code: tuple[Stmt, ...], targets: tuple[Var, ...]) -> Native:
        made = Native(len(self.plan.natives), Piece(self.unit, code, targets, self.tools))
        self.plan.natives.append(made)
        return made

    def known_extents(self, s: Let) -> tuple[tuple[float, Bounds], ...]:
        """Of all with-loops inside that may run on the device, where their bounds come from outside; else ()."""
        inside = bound(Block((s,)))
        found: list[tuple[float, Bounds]] = []
        for let in statements(Block((s,))):
            if isinstance(let, Let) and isinstance(let.rhs, Call):
                return ()
            if isinstance(let, Let) and isinstance(let.rhs, WithLoop):
                found += _extents(let.rhs)
        known = all(
            isinstance(a, Const) or a.name not in inside for _, bounds in found for pair in bounds for a in pair
        )
        return tuple(found) if known else ()


def _few_rounds(r: For, made: Mapping[str, Rhs]) -> bool:
    """Whether a loop ends at most `FEW_ROUNDS` behind its beginning. `made`: what variables around it are set to."""

    def behind(a: Atom) -> bool:
        if isinstance(a, Const):
            return isinstance(r.lower, Const) and int(a.value) - int(r.lower.value) <= FEW_ROUNDS
        match made.get(a.name):
            case Op(code="min", args=args):
                return any(map(behind, args))
            case Op(code="add", args=(start, Const(value=far))) if start == r.lower:
                return int(far) <= FEW_ROUNDS
        return False

    return behind(r.upper)


def _works(rhs: If) -> bool:
    """Whether a branch has more to do than single operations."""
    return any(
        isinstance(s, Let) and isinstance(s.rhs, WithLoop | For | GraphLoop | Call)
        for b in blocks(rhs)
        for s in statements(b)
    )


def _extents(w: WithLoop) -> Iterator[tuple[float, Bounds]]:
    """Of each partition, the cost of an index, and the bounds."""
    for p in w.partitions:
        yield cost(p.body) + 1.0, tuple(zip(p.lower, p.upper))


def work(extents: Sequence[tuple[float, Sequence[int]]]) -> float:
    """The work of index spaces: costs of an index, with the bounds of each axis, lower and upper by turns."""
    total = 0.0
    for weight, bounds in extents:
        for lower, upper in zip(bounds[::2], bounds[1::2]):
            weight *= max(0, upper - lower)
        total += weight
    return total


__all__ = ["Loop", "Native", "Plan", "Spans", "Stays", "place", "work"]
