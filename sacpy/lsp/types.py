"""The types of the variables of a function, in the programmer's terms.

In: a function in core with its inference. Out: `Variables`: the type at each place where a variable is set or used, and
which definitions each call may take. Core knows neither typedefs nor structs; parameters and results of calls have the
names of their types, and they are handed on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sacpy.lang import ast, core
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.infer import Inference
from sacpy.lang.lattice import show, show_value
from sacpy.lang.patterns import found_type
from sacpy.lang.source import Span
from sacpy.lang.types import Shape

_SHOWN = 8  # elements of a known value that are shown


@dataclass(frozen=True, slots=True)
class Known:
    """The type of a variable at a place: for a struct one for each field, `whole` being the struct's where its name is
    known."""

    name: str
    field: str
    type: str
    whole: str
    value: str
    shape: Shape
    span: Span


@dataclass(slots=True)
class Variables:
    """What is known of a function's variables. `loops`: its with-loops; `calls`: by the offsets of a call, the keys of
    the definitions it may take."""

    inference: Inference
    known: list[Known] = field(default_factory=list)
    loops: list[core.Let] = field(default_factory=list)
    calls: dict[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    constants: dict[tuple[int, int], str] = field(default_factory=dict)

    def at(self, name: str, span: Span) -> list[Known]:
        """The types of a variable at one of its places, one for each field of a struct."""
        mine = [k for k in self.known if k.name == name and k.span.source is span.source]
        exact = [k for k in mine if (k.span.start, k.span.end) == (span.start, span.end)]
        if not exact:
            around = [k for k in mine if k.span.start <= span.start and span.end <= k.span.end]
            smallest = min((k.span.end - k.span.start for k in around), default=0)
            exact = [k for k in around if k.span.end - k.span.start == smallest]
        if not exact:
            before = [k for k in mine if k.span.start < span.start]
            last = max((k.span.start for k in before), default=-1)
            exact = [k for k in before if k.span.start == last]
        return list({k.field: k for k in exact}.values())


def variables_of(program: ElaboratedProgram, function: core.Function, inference: Inference) -> Variables:
    """The types of the variables of a function."""
    collector = _Collector(program, inference)
    for slot in function.signature.params:
        collector.slots[slot.bind.name] = slot
        collector.bind(slot.bind)
    for condition in function.conditions:
        collector.block(condition.block)
    collector.block(function.body)
    for atom in function.returns:
        collector.atom(atom)
    return collector.out


class _Collector:
    def __init__(self, program: ElaboratedProgram, inference: Inference) -> None:
        self.program, self.inference = program, inference
        self.out = Variables(inference)
        self.slots: dict[str, core.Slot] = {}
        self.sources: dict[str, str] = {}
        self.packed: set[str] = set()

    # ------------------------------------------------------------ noting

    def bind(self, bind: core.Bind) -> None:
        if bind.source:
            self.sources[bind.name] = bind.source
            self.note(bind.name, bind.span)

    def note(self, variable: str, span: Span) -> None:
        source = self.sources.get(variable)
        found = self.inference.types.get(variable)
        if source is None or found is None or span.macro is not None:
            return
        name, _, member = source.partition(".")
        slot = self.slots.get(variable)
        if slot is not None and "<" in slot.text and member.endswith("data"):  # a packed array, by its elements
            owner = member.removesuffix("data").rstrip(".")
            self.packed.add(source.removesuffix("data"))
            self.out.known.append(Known(name, owner, slot.text, "", "", found.shape, span))
            return
        if any(source.startswith(prefix) for prefix in self.packed):
            return  # its sizes
        named = "" if slot is None else found_type(slot, found.shape)
        of_struct = named.startswith("struct ")
        text = named if named and not of_struct else show(found.base, found.shape)
        short = found.shape.value is not None and len(found.shape.value) <= _SHOWN
        self.out.known.append(
            Known(
                name,
                member,
                text,
                named if of_struct else "",
                show_value(found.shape) if short else "",
                found.shape,
                span,
            )
        )

    def atom(self, atom: core.Atom | None) -> None:
        match atom:
            case core.Var(name, span):
                self.note(name, span)
            case core.Const(base, shape, _, span):
                self.out.constants[span.start, span.end] = f"{base}{list(shape) if shape else ''}".replace(" ", "")

    def same(self, name: str, atom: core.Atom | None) -> None:
        """A variable has the type of another value."""
        if isinstance(atom, core.Var) and atom.name in self.slots:
            self.slots.setdefault(name, self.slots[atom.name])

    # ------------------------------------------------------------ core

    def block(self, block: core.Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def statement(self, statement: core.Stmt) -> None:
        match statement:
            case core.Let(targets, rhs, span):
                self.right(targets, rhs, span)
                if isinstance(rhs, core.WithLoop):
                    self.out.loops.append(statement)
                for target in targets:
                    self.bind(target)
            case core.If(condition, then, otherwise, merges):
                self.atom(condition)
                self.block(then)
                self.block(otherwise)
                for merge in merges:
                    self.same(merge.target.name, merge.then)
                    self.same(merge.target.name, merge.otherwise)
                    self.bind(merge.target)
            case core.Loop(carried, condition, test, body):
                for c in carried:
                    self.same(c.target.name, c.initial)
                    self.bind(c.target)
                self.block(condition)
                self.atom(test)
                self.block(body)
            case core.Check(core.Var(name), (ast.AnyShape(),) as pattern, _, text) if "<" in text:
                self.slots[name] = core.Slot(core.Bind(name, "", "", statement.span), pattern, (), text)
            case core.GlobalSet(_, value) | core.Check(value):
                self.atom(value)

    def right(self, targets: tuple[core.Bind, ...], rhs: core.Rhs, span: Span) -> None:
        """The right-hand side, and the named types of what it gives."""
        for atom in _atoms(rhs):
            self.atom(atom)
        match rhs:
            case core.Var():
                self.same(targets[0].name, rhs)
            case core.Call(_, candidates):
                self.out.calls[span.start, span.end] = candidates
                results = self.program.signature(candidates[0]).results if candidates else ()
                for target, slot in zip(targets, results):
                    self.slots.setdefault(target.name, slot)
            case core.Prim(_, args, _, cell) if cell and targets:
                for arg in args:
                    if isinstance(arg, core.Var) and arg.name in self.slots and len(self.slots[arg.name].cell) == cell:
                        self.slots.setdefault(targets[0].name, self.slots[arg.name])
            case core.WithLoop(partitions, operators):
                for partition in partitions:
                    self.bind(partition.index)
                    for scalar in partition.scalars or ():
                        self.bind(scalar)
                    self.block(partition.body)
                    for value in partition.values:
                        self.atom(value)
                if len(targets) == len(operators) and partitions:
                    for target, value in zip(targets, partitions[0].values):
                        self.same(target.name, value)


def _atoms(rhs: core.Rhs) -> Iterator[core.Atom | None]:
    match rhs:
        case core.Var() | core.Const():
            yield rhs
        case core.Prim(_, args) | core.Call(_, _, args):
            yield from args
        case core.ArrayCons(elements):
            yield from elements
        case core.WithLoop(partitions, operators):
            for p in partitions:
                yield from (p.lower, p.upper, p.step, p.width)
            for operator in operators:
                match operator:
                    case core.Genarray(shape, default):
                        yield from (shape, default)
                    case core.Modarray(array):
                        yield array
                    case core.Fold(neutrals):
                        yield from neutrals
                    case core.Propagate(initial):
                        yield from initial
