"""What inference knows while it walks one function: the shapes of its variables, and where to report.

`Frame` is the part that statements, calls and with-loops share. The walk itself (`block`) is in `infer`; the frame only
declares it, so that the rules of with-loops can walk bodies without importing it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sacpy.lang.core import Atom, Bind, Block, Call, Const
from sacpy.lang.diagnostics import Diagnostic, Edit, Label
from sacpy.lang.dispatch import Resolution
from sacpy.lang.lattice import constant, join, show, widen
from sacpy.lang.shape_problems import Problem
from sacpy.lang.source import NOWHERE, Span
from sacpy.lang.types import ANY, BOTTOM, Scalar, Shape
from sacpy.nodes import replace

_ROUNDS = 10  # widening has reached the top long before


class Frame(ABC):
    """The state of one walk. `shapes` is what is known now; `types` joins what was known at each visit. `sink` collects
    diagnostics, None: nothing is reported. `certain`: every execution comes here; `failure` is the first problem found
    where that holds, so the function fails whenever it is called like this."""

    def __init__(self, sink: list[Diagnostic] | None) -> None:
        self.sink = sink
        self.certain = True
        self.failure: Problem | None = None
        self.shapes: dict[str, Shape] = {}
        self.bases: dict[str, str] = {}
        self.definitions: dict[str, Bind] = {}
        self.types: dict[str, Shape] = {}
        self.calls: dict[int, tuple[Call, list[Shape], Resolution | None]] = {}  # None: not known for these shapes
        self.narrowed: list[dict[str, Shape]] = []

    @abstractmethod
    def block(self, block: Block) -> None:
        """Walks a block."""

    # ---- variables

    def shape(self, atom: Atom) -> Shape:
        """What is known of an operand."""
        return constant_shape(atom) if isinstance(atom, Const) else self.shapes.get(atom.name, BOTTOM)

    def base(self, atom: Atom) -> str:
        """The base type of an operand."""
        return atom.base if isinstance(atom, Const) else self.bases.get(atom.name, "int")

    def bind(self, bind: Bind, shape: Shape) -> None:
        """Sets a variable."""
        for before in self.narrowed:
            before.pop(bind.name, None)
        self.shapes[bind.name] = shape
        self.bases[bind.name] = bind.base
        self.definitions[bind.name] = bind
        self.types[bind.name] = join(self.types.get(bind.name, BOTTOM), shape)

    def narrow(self, name: str, shape: Shape) -> None:
        """What an assertion tells of a variable, from here on; where it may not be reached, behind it nothing is
        told."""
        if self.narrowed:
            self.narrowed[-1].setdefault(name, self.shapes[name])
        self.shapes[name] = shape

    def record(self, call: Call, shapes: list[Shape], resolution: Resolution) -> None:
        """Remembers the argument shapes of a call, joined over all visits, and what instances it may take for them."""
        before = self.calls.get(id(call))
        if before is None:
            self.calls[id(call)] = call, shapes, resolution
            return
        joined = [join(a, b) for a, b in zip(before[1], shapes)]
        if joined == shapes:
            self.calls[id(call)] = call, joined, resolution
        elif joined != before[1]:
            self.calls[id(call)] = call, joined, None

    # ---- certainty

    @contextmanager
    def perhaps(self, *, certain: bool = False) -> Iterator[None]:
        """Code that may not be executed, unless `certain`."""
        before = self.certain
        self.certain = before and certain
        self.narrowed.append({})
        yield
        self.shapes |= self.narrowed.pop()
        self.certain = before

    # ---- iteration

    def fixpoint(self, state: list[Shape], run: Callable[[list[Shape]], list[Shape]]) -> list[Shape]:
        """The least state, found with widening, that `run` does not enlarge. Only the last run reports."""
        for round_ in range(_ROUNDS):
            new, found = self._silently(run, state)
            wider = [widen(old, found_, ANY, round_) for old, found_ in zip(state, new)]
            if wider == state:
                break
            state = wider
        else:
            state = [ANY] * len(state)
            _, found = self._silently(run, state)
        if self.sink is not None:
            self.sink += found
        return state

    def _silently(
        self, run: Callable[[list[Shape]], list[Shape]], state: list[Shape]
    ) -> tuple[list[Shape], list[Diagnostic]]:
        outer, found = self.sink, list[Diagnostic]()
        self.sink = None if outer is None else found
        try:
            return run(state), found
        finally:
            self.sink = outer

    # ---- reports

    def report(self, problem: Problem, span: Span, operands: Sequence[Atom] = (), labels: Sequence[Label] = ()) -> None:
        """Adds a diagnostic, with a label for each operand that matters."""
        if self.certain and self.failure is None and problem.code.startswith("E"):
            self.failure = problem
        if self.sink is None:
            return
        all_labels = list(labels)
        primary = ""
        for position in problem.operands:
            if position >= len(operands):
                continue
            atom = operands[position]
            text = self.describe(atom)
            if atom.span == span:
                primary = primary or text
            elif atom.span is not NOWHERE:
                all_labels.append(Label(atom.span, text))
            all_labels += self._origin(atom, span)
        unique = tuple(dict.fromkeys(all_labels))
        notes = tuple(note for note in problem.notes if note)
        help, edit = _bracketed(problem, operands)
        self.sink.append(Diagnostic(problem.code, problem.message, span, primary, unique, notes, help, edit))

    def describe(self, atom: Atom) -> str:
        """An operand with its type: "b is double[3,5]"."""
        bind = None if isinstance(atom, Const) else self.definitions.get(atom.name)
        name = bind.source if bind is not None and bind.source else "this"
        return f"{name} is {show(self.base(atom), self.shape(atom), value=bind is not None)}"

    def _origin(self, atom: Atom, span: Span) -> list[Label]:
        bind = None if isinstance(atom, Const) else self.definitions.get(atom.name)
        if bind is None or not bind.source or bind.span in (span, atom.span, NOWHERE):
            return []
        return [Label(bind.span, f"{bind.source} is set here")]


def _bracketed(problem: Problem, operands: Sequence[Atom]) -> tuple[str, Edit | None]:
    """The help of a problem, and the change that makes vectors of scalars."""
    spans = [operands[i].span for i in problem.bracketed]
    if not spans:
        return problem.help, None
    edits = [Edit(span, f"[{span.text}]") for span in spans]
    help = problem.help.format(" and ".join(edit.text for edit in edits))
    return help, None if any(span.macro is not None or span is NOWHERE for span in spans) else replace(
        edits[0], also=tuple(edits[1:])
    )


def constant_shape(atom: Const) -> Shape:
    """The shape and value of a constant; strings have no value here."""
    if atom.undefined:
        return BOTTOM
    values: list[Scalar] = [v for v in atom.value if not isinstance(v, bytes)]
    return constant(atom.shape, values if len(values) == len(atom.value) else None)
