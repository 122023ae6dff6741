"""Calls in inference: which instances are left, what they declare, and what their bodies say about these arguments.

In: a frame, a `Call`, and the `Analyzer` that remembers what function bodies give for which argument shapes. Out: the
shapes of the results. Reports what is certain to fail in the call itself; what is wrong inside a callee is the callee's
own report, but for inline functions of other files (the library's operators): what certainly goes wrong in those is
said at the call.

Recursion starts from bottom (a call in progress gives what has been found so far), is bounded by the declared results,
and widens. The nested calls of one function forget values first, then extents, then all but the declared shape.
So do calls of one function from all over, once there were many, values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from sacpy.lang.core import Block, Call, Function, If, Let, Loop, Program, Signature, Stmt, WithLoop
from sacpy.lang.diagnostics import SacError
from sacpy.lang.dispatch import Ambiguous, Certain, NoneFits, Possible, Resolution, resolve
from sacpy.lang.infer_frame import Frame
from sacpy.lang.lattice import constant, first_difference, join, meet, show, widen, without_value
from sacpy.lang.patterns import declared_shapes, found_type, instantiate, match_arguments
from sacpy.lang.shape_problems import Fails, Problem
from sacpy.lang.source import Span
from sacpy.lang.types import ANY, BOTTOM, Shape, of_rank
from sacpy.nodes import Node, Record, field

_LARGE = 60  # statements of a function that is not worth following
_VALUES = 64  # arguments for which a function that calls others is followed; then values of further ones are forgotten
_ROUNDS = 8


class Outcome(Node):
    """What a body gives for certain argument shapes: its results, the entry conditions that it certainly violates, and
    what certainly goes wrong in it."""

    results: tuple[Shape, ...]
    violated: tuple[str, ...] = ()
    failure: Problem | None = None


class _Active(Record):
    """A call being analysed: what it is assumed to give, and whether anything has asked."""

    outcome: Outcome
    asked: bool = False


class _Matched(Node):
    """An instance whose patterns match the arguments: what it declares of the results then, what it is known to be
    given, and whether its body may say more."""

    declared: list[Shape]
    arguments: list[Shape]
    says_more: bool


class _Looked(Node):
    """A call with certain argument shapes: the instances that there are, which of them it may take, and, by their keys,
    those that match."""

    signatures: Sequence[Signature]
    resolution: Resolution
    matched: dict[str, _Matched]


Key = tuple[str, tuple[object, ...]]
Run: TypeAlias = "Callable[[Analyzer, Function, Sequence[Shape]], Outcome]"


class Analyzer(Record):
    """Remembers results of bodies, and calls, by function and argument shapes: loops are walked several times, and most
    calls are of the library's operators. `run` walks a body without reporting; `steps` and `depth` bound the work."""

    program: Program
    run: Run
    steps: int = 20_000
    depth: int = 16
    memo: dict[Key, Outcome] = field(default_factory=dict)
    looked: dict[tuple[tuple[str, ...], tuple[object, ...]], _Looked] = field(default_factory=dict)
    functions: dict[str, Function | None] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    active: dict[Key, _Active] = field(default_factory=dict)
    followed: Counter[str] = field(default_factory=Counter)  # for how many arguments, by functions
    cut: bool = False  # whether values were left out of account since `begin`
    lowest: int = 1_000_000  # the outermost active call that the present one has asked

    def function(self, key: str) -> Function | None:
        """A function with its body, None if its text is wrong (that is reported where it is elaborated)."""
        if key not in self.functions:
            try:
                self.functions[key] = self.program.function(key)
            except SacError:
                self.functions[key] = None
        return self.functions[key]

    def size(self, function: Function) -> int:
        """The number of statements of a function."""
        key = function.signature.key
        if key not in self.sizes:
            self.sizes[key] = sum(1 for _ in _statements(function.body))
        return self.sizes[key]

    def begin(self, steps: int) -> None:
        """From now on calls of another function are followed."""
        self.steps, self.cut = steps, False
        self.followed.clear()

    def is_followed_enough(self, function: Function) -> bool:
        """Whether a body that calls others has been followed for so many arguments that it will not be for further
        values. Where each function calls the next one twice, with other values, there is no end of these."""
        return self.followed[function.signature.key] >= _VALUES and any(
            isinstance(s, Let) and isinstance(s.rhs, Call) for s in _statements(function.body)
        )

    def outcome(self, signature: Signature, shapes: Sequence[Shape]) -> Outcome | None:
        """What the body gives; None where following it is not worth the work, or not possible."""
        if signature.native is not None or self.steps <= 0 or len(self.active) >= self.depth:
            return None
        function = self.function(signature.key)
        if function is None or (self.size(function) > _LARGE and not function.conditions):
            return None
        widened = self._widened(signature, shapes)
        if self.is_followed_enough(function) and (plain := [without_value(s) for s in widened]) != widened:
            widened, self.cut = plain, True
        for candidate in (shapes, widened):
            key = signature.key, _told_apart(candidate)
            if key in self.memo:
                return self.memo[key]
            if key in self.active:
                active = self.active[key]
                active.asked = True
                self.lowest = min(self.lowest, list(self.active).index(key))
                return active.outcome
        return self._iterate(key, function, candidate)

    def _widened(self, signature: Signature, shapes: Sequence[Shape]) -> list[Shape]:
        """The arguments; less is kept of them the deeper a function calls itself with new ones."""
        level = sum([1 for key, _ in self.active if key == signature.key])
        if level == 0:
            return list(shapes)
        plain = [without_value(s) for s in shapes]
        if level == 1 or (signature.key, tuple(plain)) in self.active:
            return plain
        if level <= 3:
            return [s if s.rank is None else of_rank(s.rank) for s in plain]
        return [s if s.never else declared for s, declared in zip(plain, declared_shapes(signature.params))]

    def _iterate(self, key: Key, function: Function, shapes: Sequence[Shape]) -> Outcome:
        self.followed[function.signature.key] += 1
        declared = declared_shapes(function.signature.results)
        level, outer_lowest = len(self.active), self.lowest
        self.lowest = 1_000_000
        active = self.active[key] = _Active(Outcome((BOTTOM,) * len(declared)))
        try:
            for round_ in range(_ROUNDS):
                active.asked = False
                found = self.run(self, function, shapes)
                if not active.asked:
                    active.outcome = found
                    break
                results = tuple(
                    widen(old, new, d, round_) for old, new, d in zip(active.outcome.results, found.results, declared)
                )
                stable = results == active.outcome.results
                active.outcome = Outcome(results, found.violated, found.failure)
                if stable:
                    break
            else:
                active.outcome = Outcome(tuple(declared))
        finally:
            del self.active[key]
        if self.lowest >= level:
            self.memo[key] = active.outcome
        self.lowest = min(outer_lowest, self.lowest if self.lowest < level else 1_000_000)
        return active.outcome


def _told_apart(shapes: Sequence[Shape]) -> tuple[object, ...]:
    """What results are remembered by; 0.0 and -0.0 are different arguments."""
    return tuple([(s, tuple(map(repr, s.value))) if s.value and isinstance(s.value[0], float) else s for s in shapes])


def _worth_following(signature: Signature, shapes: Sequence[Shape]) -> bool:
    """Whether a body may say more than the declared results."""
    results = declared_shapes(signature.results)
    if any(s.extents is None or None in s.extents for s in results):
        return True
    if not results:
        return False
    if all(s.value is not None for s in shapes):
        return True
    small = any(slot.base in ("int", "bool") for slot in signature.results)
    return small and signature.inlining == "inline" and any(s.rank != 0 for s in shapes)


def _statements(block: Block) -> Iterator[Stmt]:
    """The statements of a block, those of loops and branches included."""
    for s in block.statements:
        yield s
        inner: tuple[Block, ...] = ()
        match s:
            case If():
                inner = (s.then, s.otherwise)
            case Loop():
                inner = (s.condition, s.body)
            case Let(rhs=WithLoop(partitions=partitions)):
                inner = tuple(p.body for p in partitions)
        for b in inner:
            yield from _statements(b)


# ---------------------------------------------------------------- one call


def call(frame: Frame, analyzer: Analyzer, c: Call, count: int, span: Span) -> list[Shape]:
    """The shapes of the `count` results of a call. Raises `Fails`."""
    shapes = [frame.shape(a) for a in c.args]
    if any(s.never for s in shapes):
        return [BOTTOM] * count
    asked = c.candidates, _told_apart(shapes)
    looked = analyzer.looked.get(asked)
    if looked is None:
        signatures = [analyzer.program.signature(key) for key in c.candidates]
        looked = analyzer.looked[asked] = _Looked(signatures, resolve(signatures, shapes), {})
    frame.record(c, shapes, looked.resolution)
    results: list[Shape] | None = None
    failures: list[Fails] = []
    for signature in _left(frame, c, looked, shapes):
        try:
            found = _instance(analyzer, c, signature, looked, shapes, span)
        except Fails as fails:
            failures.append(fails)
            continue
        found += [ANY] * (count - len(found))
        results = found if results is None else [join(a, b) for a, b in zip(results, found)]
    if results is None:
        raise failures[0]
    return results


def _left(frame: Frame, c: Call, looked: _Looked, shapes: Sequence[Shape]) -> Sequence[Signature]:
    """The instances that the call may take."""
    signatures, resolution = looked.signatures, looked.resolution
    if isinstance(resolution, Certain):
        return (resolution.signature,)
    if isinstance(resolution, Possible):
        return resolution.signatures
    everything = tuple(range(len(shapes)))
    slots = signatures[0].params
    named = len(slots) == len(shapes)
    types = ", ".join(
        found_type(slots[i], s) if named and slots[i].cell else show(frame.base(a), s)
        for i, (a, s) in enumerate(zip(c.args, shapes))
    )
    match resolution:
        case Ambiguous(tied):
            raise Fails(
                "E0502",
                f"this call of {c.name} is ambiguous: {len(tied)} instances fit ({types}) equally well",
                notes=tuple(f"candidate: {s.text}" for s in tied),
                operands=everything,
                help="add an instance that is at least as specific as these in every parameter",
            )
        case NoneFits(reasons):
            message = (
                f"no instance of {c.name} takes ({types})"
                if len(reasons) > 1
                else f"{c.name} does not take ({types}): {reasons[0]}"
            )
            notes = (
                tuple(f"{s.text}: {reason}" for s, reason in zip(signatures, reasons))
                if len(reasons) > 1
                else (f"candidate: {signatures[0].text}",)
            )
            bracketed = _bracketed(signatures, shapes)
            other = "pass arguments of a rank that an instance takes, apply it element by element, or add an instance"
            help = "a vector is wanted here: write {}" if bracketed else f"{other} for these shapes"
            raise Fails("E0501", message, notes=notes, operands=everything, help=help, bracketed=bracketed)


def _bracketed(signatures: Sequence[Signature], shapes: Sequence[Shape]) -> tuple[int, ...]:
    """The scalar arguments that would do as vectors of one element: one of them alone, or else all."""
    scalars = [i for i, s in enumerate(shapes) if s.rank == 0]
    for chosen in (*((i,) for i in scalars), *([tuple(scalars)] if len(scalars) > 1 else [])):
        changed = [constant((1,), s.value) if i in chosen else s for i, s in enumerate(shapes)]
        if not isinstance(resolve(signatures, changed), NoneFits) and any(
            not match_arguments(s, changed).violations for s in signatures
        ):
            return chosen
    return ()


def _instance(
    analyzer: Analyzer, c: Call, signature: Signature, looked: _Looked, shapes: Sequence[Shape], span: Span
) -> list[Shape]:
    """The results if the call takes this instance."""
    matched = looked.matched.get(signature.key)
    if matched is None:
        matched = looked.matched[signature.key] = _match(c, signature, shapes)
    is_followed = matched.says_more or signature.span.source is span.source
    outcome = analyzer.outcome(signature, matched.arguments) if is_followed else None
    if outcome is None:
        return list(matched.declared)
    if outcome.violated:
        raise Fails(
            "E0504",
            f"a condition of {c.name} is violated: {outcome.violated[0]}",
            notes=(*(f"violated too: {text}" for text in outcome.violated[1:]), f"the function is {signature.text}"),
            operands=tuple(range(len(shapes))),
            help="call it only with arguments for which its conditions hold",
        )
    if outcome.failure is not None and signature.inlining == "inline" and signature.span.source is not span.source:
        problem = outcome.failure
        raise Fails(
            problem.code,
            problem.message,
            help=problem.help,
            notes=(*problem.notes, f"found in {signature.text}"),
            operands=tuple(range(len(shapes))),
        )
    return [result if result.never else _narrowed(result, d) for result, d in zip(outcome.results, matched.declared)]


def _match(c: Call, signature: Signature, shapes: Sequence[Shape]) -> _Matched:
    """An instance for such arguments. Raises `Fails`."""
    found = match_arguments(signature, shapes)
    if found.violations:
        texts = [v.text for v in found.violations]
        involved = {v.arg for v in found.violations} | {
            v.origin.arg for v in found.violations if v.origin is not None and not v.origin.is_result
        }
        differences = [
            first_difference(shapes[v.origin.arg], shapes[v.arg])
            for v in found.violations
            if v.origin is not None and not v.origin.is_result and v.origin.arg != v.arg
        ]
        raise Fails(
            "E0503",
            f"the arguments of {c.name} do not match its patterns: {texts[0]}",
            notes=(
                *texts[1:],
                *(d for d in dict.fromkeys(differences) if d.startswith("axis")),
                f"the function is {signature.text}",
            ),
            operands=tuple(sorted(involved)),
            help="a name in a pattern stands for the same number, or shape, wherever it is used: make the shapes agree",
        )
    declared = [instantiate(slot, found.bindings) for slot in signature.results]
    arguments = [_narrowed(shape, instantiate(slot, found.bindings)) for slot, shape in zip(signature.params, shapes)]
    return _Matched(declared, arguments, _worth_following(signature, arguments))


def _narrowed(shape: Shape, declared: Shape) -> Shape:
    """What both say; the declaration where they contradict each other (the callee reports that)."""
    both = meet(shape, declared)
    return declared if both.never else both


__all__ = ["Analyzer", "Outcome", "call"]
