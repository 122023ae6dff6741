"""Inference over the lattice of shapes: one walk that the checker runs with declared types, the specialiser with actual
ones.

In: a core function, the shapes of its arguments (None: what it declares), and the program for calls. Out: an
`Inference`: what is known of every variable and result, the instances each call may take, and diagnostics for whatever
fails on every execution that reaches it. What cannot be told is left to run time. Code behind a condition that is known
to be false is not reached: nothing is reported there, and its variables stay bottom.

The rules are elsewhere: `infer_primitives`, `infer_calls`, `infer_withloops`. Here are statements, branches and loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import islice

from sacpy.lang.core import (
    Atom,
    Bind,
    Block,
    Call,
    Check,
    Condition,
    Const,
    Function,
    GlobalGet,
    If,
    Let,
    Loop,
    Prim,
    Program,
    Slot,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.dispatch import Resolution, resolve
from sacpy.lang.infer_calls import Analyzer, Key, Outcome, call
from sacpy.lang.infer_frame import Frame
from sacpy.lang.infer_primitives import Operation, apply
from sacpy.lang.infer_withloops import with_loop
from sacpy.lang.lattice import (
    SMALL,
    concat,
    constant,
    disjoint,
    first_difference,
    full_extents,
    join,
    meet,
    outer,
    show,
    without_value,
)
from sacpy.lang.patterns import Bindings, declared_shapes, found_type, instantiate, match_arguments, match_results
from sacpy.lang.plan import compile_plan
from sacpy.lang.shape_problems import Fails, Problem
from sacpy.lang.source import Span
from sacpy.lang.types import BOTTOM, Shape, Type, known
from sacpy.nodes import Node, Record, field


class Inference(Node):
    """`types`: every variable that is reached. `results`: what the function returns. `candidates`: per call that is
    reached (by `id` of the `Call`, which `function` keeps alive) the instances it may take."""

    function: Function
    types: dict[str, Type]
    results: tuple[Shape, ...]
    candidates: dict[int, Resolution]
    diagnostics: tuple[Diagnostic, ...]

    def resolution(self, call: Call) -> Resolution | None:
        """The instances that a call may take; None if it is never reached."""
        return self.candidates.get(id(call))


class Inferrer(Record):
    """Inference for one program. It remembers what function bodies give (`outcomes`), so one object should serve all
    functions of a program. `steps` bounds the work spent on callees per function, `depth` their nesting. `declared`:
    what is known of functions for the arguments that they declare, by key; of one whose parts have become functions,
    besides, by `parted`."""

    program: Program
    steps: int = 20_000
    depth: int = 16
    outcomes: dict[Key, Outcome] = field(default_factory=dict)
    declared: dict[str, Inference] = field(default_factory=dict)
    _analyzer: Analyzer = field(init=False)

    def __post_init__(self) -> None:
        self._analyzer = Analyzer(self.program, _outcome, self.steps, self.depth, self.outcomes)

    def infer(self, function: Function, arguments: Sequence[Shape] | None = None) -> Inference:
        """What is known of a function called with arguments of these shapes; None: of the declared ones."""
        if arguments is None:
            key = function.signature.key
            for known in (self.declared.get(key), self.declared.get(parted(key))):
                if known is not None and known.function is function:
                    return known
        diagnostics: list[Diagnostic] = []
        walk = _Walk(self._analyzer, diagnostics)
        shapes = declared_shapes(function.signature.params) if arguments is None else arguments
        before = self._begin()
        results = walk.function(function, shapes).results
        self._end(before)
        types = {name: Type(walk.bases[name], shape) for name, shape in walk.types.items()}
        candidates = {
            identity: resolution or resolve([self.program.signature(key) for key in c.candidates], found)
            for identity, (c, found, resolution) in walk.calls.items()
        }
        return Inference(function, types, results, candidates, tuple(dict.fromkeys(diagnostics)))

    def _begin(self) -> int:
        self._analyzer.begin(self.steps)
        return len(self.outcomes)

    def _end(self, before: int) -> None:
        """Where there were too few steps to follow all calls, or values were forgotten, what has been found since is
        not all that there is to find: other functions do not build on it."""
        if self._analyzer.steps <= 0 or self._analyzer.cut:
            for key in list(islice(self.outcomes, before, None)):
                self.outcomes.pop(key, None)

    def block_values(self, block: Block, values: Sequence[Atom], types: Mapping[str, Type]) -> list[Shape]:
        """The shapes of `values` after `block`, with the free variables as in `types`: the cell of a with-loop whose
        index set turned out to be empty."""
        before = self._begin()
        walk = _Walk(self._analyzer, None)
        for name, type_ in types.items():
            walk.shapes[name], walk.bases[name] = type_.shape, type_.base
        walk.block(block)
        self._end(before)
        return [walk.shape(value) for value in values]


def _outcome(analyzer: Analyzer, function: Function, shapes: Sequence[Shape]) -> Outcome:
    return _Walk(analyzer, None).function(function, shapes)


def parted(key: str) -> str:
    """The key of what is known of a function whose parts have become functions."""
    return f"{key}@"


def inferrer_for(program: Program) -> Inferrer:
    """The inference of a program. That of one made of another (`program.program`) builds on what is known of that."""
    origin = getattr(program, "program", program)
    known: Inferrer | None = getattr(origin, "inferrer", None)
    if known is None:
        return Inferrer(program)
    if origin is program:
        return known
    return Inferrer(program, outcomes=known.outcomes, declared=known.declared)


def infer(
    function: Function, arguments: Sequence[Shape] | None, program: Program, *, budget: int = 20_000
) -> Inference:
    """`Inferrer.infer` for a single function."""
    return Inferrer(program, budget).infer(function, arguments)


def infer_block_values(
    block: Block, values: Sequence[Atom], types: Mapping[str, Type], program: Program
) -> list[Shape]:
    """`Inferrer.block_values` for a single block."""
    return Inferrer(program).block_values(block, values, types)


class _Walk(Frame):
    """One walk over one function."""

    def __init__(self, analyzer: Analyzer, sink: list[Diagnostic] | None) -> None:
        super().__init__(sink)
        self.analyzer = analyzer

    # ---- functions

    def function(self, function: Function, shapes: Sequence[Shape]) -> Outcome:
        """Parameters, conditions, body, results."""
        signature = function.signature
        bindings = match_arguments(signature, shapes).bindings
        for slot, shape in zip(signature.params, shapes):
            declared = instantiate(slot, bindings)
            both = meet(shape, declared)
            self.bind(slot.bind, declared if both.never and not shape.never else both)
        for name, variable in signature.pattern_names:
            self._name(variable, bindings.shape_of(name))
        violated = self._conditions(function.conditions, on_exit=False)
        if violated:
            return Outcome((BOTTOM,) * len(signature.results), violated)
        self._definition(function)
        self.block(function.body)
        results = tuple(self.shape(atom) for atom in function.returns)
        self._check_results(function, results, bindings)
        self._conditions(function.conditions, on_exit=True)
        return Outcome(results, (), self.failure)

    def _name(self, variable: str, shape: Shape) -> None:
        if variable not in self.shapes:
            self.shapes[variable] = self.types[variable] = shape
            self.bases[variable] = "int"

    def _conditions(self, conditions: Sequence[Condition], *, on_exit: bool) -> tuple[str, ...]:
        violated = []
        for condition in conditions:
            if condition.on_exit is not on_exit:
                continue
            self.block(condition.block)
            if self._test(condition.value, condition.span, "a condition") is False:
                violated.append(condition.text)
                code, when = ("E0525", "on exit") if on_exit else ("E0504", "on entry")
                self.report(
                    Problem(
                        code,
                        f"the condition {condition.text} can never hold {when}",
                        "correct the condition, or the types it speaks of",
                    ),
                    condition.span,
                )
        return tuple(violated)

    def _definition(self, function: Function) -> None:
        if self.sink is not None:
            for text in compile_plan(function.signature).unsolved:
                self.report(
                    Problem(
                        "E0526",
                        f"nothing tells how the axes of {text} are divided among its slices",
                        "let another argument fix the rank of all slices but one, for instance as an int parameter of "
                        "that name",
                    ),
                    function.signature.span,
                )

    def _check_results(self, function: Function, results: Sequence[Shape], bindings: Bindings) -> None:
        """Compares the results with the declared types, and binds the names that only results bind."""
        signature = function.signature
        names = copy(bindings)
        names.ints, names.shapes, names.origins = dict(bindings.ints), dict(bindings.shapes), dict(bindings.origins)
        found = match_results(signature, results, names)
        for arg in dict.fromkeys(v.arg for v in found.violations):
            texts = [v.text for v in found.violations if v.arg == arg]
            problem = Problem(
                "E0524",
                texts[0],
                "return a value of the declared type, or declare the type that is returned",
                tuple(texts[1:]),
                (0,),
            )
            self.report(problem, function.returns[arg].span, (function.returns[arg],))
        for name, variable in function.exit_names:
            self._name(variable, found.bindings.shape_of(name))

    # ---- statements

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.analyzer.steps -= 1
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Let():
                self._let(statement)
            case If():
                self._if(statement)
            case Loop():
                self._loop(statement)
            case Check():
                self._check(statement)

    def _let(self, let: Let) -> None:
        try:
            shapes = self._rhs(let)
        except Fails as fails:
            self.report(fails.problem, let.span, _operands(let))
            shapes = [BOTTOM] * len(let.targets)  # execution ends here: nothing that needs the result is reached
        for target, shape in zip(let.targets, shapes):
            self.bind(target, shape)

    def _rhs(self, let: Let) -> list[Shape]:
        match let.rhs:
            case Var() | Const() as atom:
                return [self.shape(atom)]
            case Prim() as prim:
                return [
                    apply(
                        Operation(
                            prim.op,
                            tuple(map(self.base, prim.args)),
                            tuple(map(self.shape, prim.args)),
                            prim.form,
                            prim.cell,
                            prim.attrs,
                        )
                    )
                ]
            case Call() as c:
                return call(self, self.analyzer, c, len(let.targets), let.span)
            case GlobalGet(name=name):
                initial = self.analyzer.program.signature(self.analyzer.program.global_object(name).initial)
                return declared_shapes(initial.results[:1])
            case WithLoop() as loop:
                return with_loop(self, loop, let.span)
            case cons:
                return [self._array(cons.elements)]

    def _array(self, elements: Sequence[Atom]) -> Shape:
        """`[a, b, c]`."""
        shapes = [self.shape(e) for e in elements]
        common = without_value(shapes[0])
        for position, shape in enumerate(shapes):
            if disjoint(common, shape):
                first = next(i for i, other in enumerate(shapes) if disjoint(other, shape))
                raise Fails(
                    "E0514",
                    f"the elements of an array need equal shapes, but element {first} is "
                    f"{self._show(elements[first])} and element {position} is {self._show(elements[position])}",
                    notes=(first_difference(shapes[first], shape),),
                    operands=(first, position),
                    help="make all elements the same shape",
                )
            common = meet(common, without_value(shape))
        result = concat(known((len(elements),)), common)
        extents = full_extents(result)
        values = [v for s in shapes for v in s.value or ()]
        if extents is None or any(s.value is None for s in shapes) or len(values) > SMALL:
            return result
        return constant(extents, values)

    def _show(self, atom: Atom) -> str:
        return show(self.base(atom), self.shape(atom))

    def _test(self, test: Atom, span: Span, what: str) -> bool | None:
        """The value of a test, if it is known."""
        shape = self.shape(test)
        if not shape.never and shape.min_rank > 0:
            problem = Problem(
                "E0515",
                f"{what} must be a scalar bool, but this is {self._show(test)}",
                "reduce it to one bool, with all or any",
                operands=(0,),
            )
            self.report(problem, test.span, (test,))
        return None if shape.value is None or shape.rank != 0 else bool(shape.value[0])

    def _if(self, statement: If) -> None:
        known_value = self._test(statement.condition, statement.span, "a condition")
        for branch, skipped in ((statement.then, False), (statement.otherwise, True)):
            if known_value is not skipped:
                with self.perhaps(certain=known_value is not None):
                    self.block(branch)
        for merge in statement.merges:
            then = BOTTOM if known_value is False else self.shape(merge.then)
            otherwise = BOTTOM if known_value is True else self.shape(merge.otherwise)
            self.bind(merge.target, join(then, otherwise))

    def _loop(self, loop: Loop) -> None:
        initial = [self.shape(c.initial) for c in loop.carried]
        if not loop.body_first and self._skipped(loop, initial):
            return

        def run(state: list[Shape]) -> list[Shape]:
            self._carry(loop, state)
            if not loop.body_first and not self._enters(loop):
                return state
            self.block(loop.body)
            updated = [self.shape(c.update) for c in loop.carried]
            if loop.body_first:
                self._carry(loop, updated)
                self._enters(loop)
            return [join(old, new) for old, new in zip(state, updated)]

        with self.perhaps():
            final = self.fixpoint([without_value(s) for s in initial], run)
        if not loop.body_first:
            self._carry(loop, final)

    def _skipped(self, loop: Loop, initial: Sequence[Shape]) -> bool:
        """Whether the loop ends before its first round."""
        self._carry(loop, initial)
        sink, self.sink = self.sink, None
        with self.perhaps():
            enters = self._enters(loop)
        self.sink = sink
        return not enters

    def _carry(self, loop: Loop, shapes: Sequence[Shape]) -> None:
        for carried, shape in zip(loop.carried, shapes):
            self.bind(carried.target, shape)

    def _enters(self, loop: Loop) -> bool:
        """Walks the condition; False if the loop certainly ends here."""
        self.block(loop.condition)
        return self._test(loop.test, loop.span, "the condition of a loop") is not False

    def _check(self, check: Check) -> None:
        shape = self.shape(check.value)
        if shape.never:
            return
        bind = self.definitions.get(check.value.name) if isinstance(check.value, Var) else None
        slot = Slot(bind or _anonymous(self.base(check.value), check.span), check.pattern, check.cell, check.text)
        declared = instantiate(slot, Bindings())
        both = meet(shape, declared)
        if both.never:
            difference = first_difference(outer(shape, len(check.cell)), outer(declared, len(check.cell)))
            problem = Problem(
                "E0523",
                f"{check.what} is {check.text}, but the value is {found_type(slot, shape)}",
                "change the type, or reshape the value",
                (difference,),
                (0,),
            )
            self.report(problem, check.span, (check.value,))
        elif isinstance(check.value, Var):
            self.narrow(check.value.name, both)


def _anonymous(base: str, span: Span) -> Bind:
    return Bind("", base, "", span)


def _operands(let: Let) -> tuple[Atom, ...]:
    match let.rhs:
        case Prim(args=args) | Call(args=args):
            return args
        case Var() | Const() | GlobalGet() | WithLoop():
            return ()
        case cons:
            return cons.elements
