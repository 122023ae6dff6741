"""Traced evaluation: generated code that says where it is, for a debugger and a profile.

In: a function of core, prepared, and a `Tracer`. Out: the same Python that `codegen` makes, with calls of the tracer in
it: `_at(k)` before each statement that the programmer wrote and each cell of a with-loop, `_enter(k)` and `_leave()`
around a function, `_made(k, values)` behind a statement of core that makes values. `k` is the number of a `Site`: a
place in the text, and what is visible there by which names. The site that a function is at stands in its local variable
`_site`, so the frames of Python's own stack tell all there is to know of the SaC call stack; and they are there behind
an error too. An evaluator without a tracer has none of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any, Literal, Protocol

from sacpy.interp.codegen import Codegen
from sacpy.interp.emitter import Generated
from sacpy.interp.facts import binds
from sacpy.interp.faults import PART, PREFIX
from sacpy.interp.links import Place
from sacpy.interp.runtime.calls import shown
from sacpy.interp.usage import Usage
from sacpy.interp.values import Value
from sacpy.lang import ast
from sacpy.lang.core import (
    Atom,
    Bind,
    Block,
    Const,
    Fold,
    Function,
    If,
    Let,
    Loop,
    Modarray,
    Partition,
    Prim,
    Program,
    Propagate,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.lang.source import NOWHERE, STDLIB, Span
from sacpy.lang.walk import defined
from sacpy.nodes import Node, Record, field, field_names, replace

SITE = "_site"  # the local variable with the number of the site where a function is
Kind = Literal["function", "statement", "cell", "made"]


class Visible(Node):
    """A variable as it is seen at a site: the programmer's name, its base type, and the Python that gives its value."""

    name: str
    base: str
    text: str


class Site(Node):
    """A place in a function. `level`: in how many cells of with-loops it is; `visible`: the variables, by name; of a
    site where something was made `statement` is the statement of core. `operands`: the Python that gives the index of a
    cell; of an update the array, the index and the new value; of a with-loop that changes an array that array."""

    function: str
    key: str
    span: Span
    kind: Kind
    level: int = 0
    visible: tuple[Visible, ...] = ()
    statement: Stmt | None = None
    operands: tuple[str, ...] = ()


class Tracer(Protocol):
    """What traced code calls. `sites`: all so far; `keeps`: every variable with a name is there as long as it is
    visible, and no array is overwritten; `records`: `made` is called."""

    sites: list[Site]
    keeps: bool
    records: bool

    def wants(self, function: Function) -> bool:
        """Whether a function is traced."""
        ...

    def at(self, site: int) -> None:
        """A statement or cell is about to begin."""
        ...

    def enter(self, site: int) -> None:
        """A function begins."""
        ...

    def leave(self) -> None:
        """The function ends, save by an error."""
        ...

    def made(self, site: int, values: tuple[Value, ...], operands: tuple[Value, ...]) -> None:
        """A statement of core has given values, from these operands of an update."""
        ...


def is_users(function: Function) -> bool:
    """Whether a function is none of the library's."""
    return not function.signature.span.source.name.startswith(str(STDLIB))


def hooks(tracer: Tracer) -> dict[str, Any]:
    """The names by which traced code calls a tracer."""
    return {"_at": tracer.at, "_enter": tracer.enter, "_leave": tracer.leave, "_made": tracer.made}


# ---------------------------------------------------------------- the programmer's statements


class Borders(Record, eq=False):
    """The statements of functions as they were written, by function."""

    program: Program
    _known: dict[str, list[Span]] = field(default_factory=dict)

    def add(self, key: str, node: ast.Expr | ast.Stmt) -> None:
        """The function of a statement or expression that stands in no function."""
        self._known[key] = sorted([node.span, *statement_spans(node)], key=lambda s: s.end - s.start)

    def of(self, key: str, span: Span) -> Span:
        """The innermost statement around a span; the span itself where that is not known."""
        spans = self._known.get(key)
        if spans is None:
            program = self.program
            made = program.instances.get(key.partition("@")[0]) if isinstance(program, ElaboratedProgram) else None
            found = [] if made is None else statement_spans(made.entry.definition)
            spans = self._known[key] = sorted(found, key=lambda s: s.end - s.start)
        return next((s for s in spans if contains(s, span)), span)

    def returned(self, key: str) -> Span | None:
        """The statement with which a function returns; None where it has none, or that is not known."""
        program = self.program
        made = program.instances.get(key) if isinstance(program, ElaboratedProgram) else None
        body = None if made is None else made.entry.definition.body
        return body[-1].span if body and isinstance(body[-1], ast.Return) else None


def statement_spans(root: object) -> list[Span]:
    """The statements of a function, or of any piece of syntax, also those within others."""
    found: list[Span] = []
    waiting: list[object] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, Node) and not isinstance(node, Span):
            if isinstance(node, ast.Stmt):
                found.append(node.span)
            waiting += [getattr(node, name) for name in field_names(node)]
    return found


def contains(outer: Span, inner: Span) -> bool:
    """Whether a span lies in another."""
    return outer.source.name == inner.source.name and outer.start <= inner.start and inner.end <= outer.end


# ---------------------------------------------------------------- generating


class NamedKept(Usage):
    """Variables that are `named` do not wait for their use."""

    named: frozenset[str] = frozenset()

    def may_wait(self, name: str) -> bool:
        return name not in self.named and super().may_wait(name)


class Traced(Codegen):
    """Generates one function with calls of a tracer. `aliases`: variables that are others, or constants."""

    tracer: Tracer
    borders: Borders
    aliases: Mapping[str, Var | Const]

    def function(self, function: Function, name: str) -> Generated:
        signature = function.signature
        self._function, self._key = shown(signature), signature.key
        self._scope: dict[str, Bind] = {}
        self._level, self._last, self._cell = 0, NOWHERE, NOWHERE
        self._ended: tuple[dict[str, Bind], Span] = {}, NOWHERE  # what is visible behind the last block, and its border
        self._partitions: dict[int, tuple[WithLoop, Partition]] = {}
        self._loops: dict[int, Loop] = {}
        _bodies(function.body, self._partitions, self._loops)
        for slot in signature.params:
            self._see(slot.bind)
        for source, core in signature.pattern_names:
            self._scope.setdefault(source, Bind(core, "int", source, signature.span))
        if self.tracer.keeps:
            self.usage = NamedKept(function, self.usage.is_scalar)
            self.usage.named = frozenset(b.name for b in binds(function) if b.source or self.tracer.records)
        self._entry(signature.span)
        return super().function(function, name)

    def _entry(self, span: Span) -> None:
        site = self._site("function", span)
        self.emit(f"{SITE} = {site}; _enter({site})", span)

    def _return(self, function: Function) -> None:
        scope, last_border = self._ended
        border = self.borders.returned(self._key)
        if border is not None and border != last_border:
            before, self._scope = self._scope, scope
            self.flush()
            self._at("statement", border)
            self._scope = before
        super()._return(function)
        last = self.lines.pop()
        self.emit("_leave()", last.span)
        self.lines.append(last)

    def block(self, block: Block) -> None:
        scope, last, cell = dict(self._scope), self._last, self._cell
        found = self._partitions.get(id(block))
        if found is not None:
            self._level += 1
            self._begin_cell(*found)
        for statement in block.statements:
            self._before(statement)
            self.statement(statement)
            self._behind(statement)
        loop = self._loops.get(id(block))
        if loop is not None:  # its condition is looked at again
            self.flush()
            self._at("statement", self.borders.of(self._key, loop.span))
        if found is not None:
            self._level -= 1
        self._ended = self._scope, self._last
        self._scope, self._last, self._cell = scope, last, cell

    def _begin_cell(self, loop: WithLoop, partition: Partition) -> None:
        for operator in loop.operators:
            if isinstance(operator, Propagate):
                for bind in operator.params:
                    self._see(bind)
        for bind in (partition.index, *(partition.scalars or ())):
            self._see(bind if bind.source else replace(bind, source=bind.name.partition("~")[0]))
        self._cell = self._last = partition.span
        self._at("cell", partition.span, (self._text(partition.index.name),))

    def _before(self, statement: Stmt) -> None:
        if isinstance(statement, Loop):
            for carried in statement.carried:
                self._see(carried.target)
        border = self.borders.of(self._key, statement.span)
        if self._cell is not NOWHERE and contains(border, self._cell):
            border = self._cell
        if border == self._last or not contains(border, statement.span):
            return
        self._last = border
        self.flush()
        self._at("statement", border)

    def _at(self, kind: Kind, span: Span, operands: tuple[str, ...] = ()) -> None:
        site = self._site(kind, span, None, operands)
        self.emit(f"{SITE} = {site}; _at({site})", span)

    def _behind(self, statement: Stmt) -> None:
        for bind in defined(statement):
            self._see(bind)
        if not self.tracer.records or not isinstance(statement, Let):
            return
        texts = [self.name(t.name) for t in statement.targets if self._is_there(t.name)]
        looked_at = self.tracer.keeps or any(self.facts.shape(t.name).rank != 0 for t in statement.targets)
        if texts and len(texts) == len(statement.targets) and looked_at:
            site = self._site("made", statement.span, statement)
            read = _operands(statement) if self.tracer.keeps else ()
            operands = "".join(f"{self._operand(atom)}, " for atom in read)
            self.emit(f"_made({site}, ({', '.join(texts)},), ({operands}))", statement.span)

    def _operand(self, atom: Atom) -> str:
        """The Python that gives an operand; "None" for one that was used up."""
        if isinstance(atom, Const):
            return self.literal(atom).text
        virtual = self.virtual.get(atom.name)
        return virtual.text if virtual is not None else self.name(atom.name) if atom.name in self.locals else "None"

    def _is_there(self, name: str) -> bool:
        return name not in self.pending and name not in self.virtual

    def _see(self, bind: Bind) -> None:
        if bind.source:
            self._scope[bind.source] = bind

    def _site(self, kind: Kind, span: Span, statement: Stmt | None = None, operands: tuple[str, ...] = ()) -> int:
        visible = [] if not self.tracer.keeps else [
            Visible(name, bind.base, self._text(bind.name)) for name, bind in self._scope.items()
        ]  # fmt: skip
        site = Site(self._function, self._key, span, kind, self._level, tuple(visible), statement, operands)
        self.tracer.sites.append(site)
        return len(self.tracer.sites) - 1

    def _text(self, name: str) -> str:
        """The Python that gives the value of a variable of core."""
        seen: set[str] = set()
        while name in self.aliases and name not in seen:
            seen.add(name)
            atom = self.aliases[name]
            if isinstance(atom, Const):
                return self.literal(atom).text
            name = atom.name
        virtual = self.virtual.get(name)
        return self.name(name) if virtual is None else virtual.text


def _operands(statement: Let) -> tuple[Atom, ...]:
    """What an update changes, where, and what it puts there; what a with-loop changes."""
    match statement.rhs:
        case Prim(op="modarray", args=args):
            return args
        case WithLoop(operators=(Modarray(array=array),)):
            return (array,)
    return ()


def _bodies(block: Block, found: dict[int, tuple[WithLoop, Partition]], rounds: dict[int, Loop]) -> None:
    """The bodies of with-loops and loops in a block, by identity."""
    for s in block.statements:
        match s:
            case Let(rhs=WithLoop() as loop):
                for operator in loop.operators:
                    if isinstance(operator, Fold):
                        _bodies(operator.combine.body, found, rounds)
                for partition in loop.partitions:
                    found[id(partition.body)] = loop, partition
                    _bodies(partition.body, found, rounds)
            case If():
                _bodies(s.then, found, rounds)
                _bodies(s.otherwise, found, rounds)
            case Loop():
                rounds[id(s.body)] = s
                _bodies(s.condition, found, rounds)
                _bodies(s.body, found, rounds)


# ---------------------------------------------------------------- frames


class FrameView(Node):
    """A traced function that is being executed: where it is, and its variables."""

    site: Site
    span: Span
    frame: FrameType

    @property
    def function(self) -> str:
        return self.site.function

    def variables(self) -> list[tuple[str, str, Value]]:
        """Name, base type and value of each variable that has one."""
        found = []
        space = {**self.frame.f_globals, **self.frame.f_locals}
        for one in self.site.visible:
            try:
                found.append((one.name, one.base, eval(one.text, space)))
            except (NameError, UnboundLocalError):
                continue  # not set yet
        return found


def frames_of(stack: Iterator[tuple[FrameType, int]], places: Mapping[str, Place], tracer: Tracer) -> list[FrameView]:
    """The traced functions of Python frames with their lines, outermost first; the same order."""
    found: list[FrameView] = []
    for frame, line in stack:
        code: CodeType = frame.f_code
        place = places.get(code.co_filename) if code.co_filename.startswith(PREFIX) else None
        number = frame.f_locals.get(SITE) if place is not None else None
        if place is None or number is None:
            continue
        span = place.spans[line - 1] if 0 < line <= len(place.spans) else NOWHERE
        if PART in code.co_name and found:
            found.pop()  # part of the function whose frame is the one before
        found.append(FrameView(tracer.sites[number], span, frame))
    return found


def calls_from(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """A frame and its callers, outermost first."""
    chain: list[tuple[FrameType, int]] = []
    while frame is not None:
        chain.append((frame, frame.f_lineno))
        frame = frame.f_back
    return reversed(chain)


def calls_behind(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames that an error has come through, outermost first."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


__all__ = [
    "Borders", "FrameView", "Site", "Traced", "Tracer", "Visible", "calls_behind", "calls_from", "frames_of", "hooks",
    "is_users", "statement_spans",
]  # fmt: skip
