"""From core to core, before code is generated: aliases are followed, small inline functions are put in place of calls,
whole-array arithmetic of the library becomes primitives.

In: a function as elaboration made it, and inference. Out: a function that means the same, and `Facts` about all its
variables. A callee is substituted where it is the only instance that the call can take, is declared `inline`, and is a
straight line of a few statements; so the scalar operators of the library cost nothing. Of a recursion that branches,
more than half of the calls do nothing but to find out that they are at its end: that is found out where they are made,
and they are not (`EndOfRecursion`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from sacpy.interp.facts import Facts, binds
from sacpy.interp.prune import prune
from sacpy.lang.arithmetic import OF_TWO, arithmetic
from sacpy.lang.ast import AnyExtent, AnyShape, Feature, FixedExtent, NamedExtent, RankSlice, SomeShape
from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Bind,
    Block,
    Call,
    Condition,
    Const,
    Function,
    If,
    Let,
    Merge,
    Prim,
    Program,
    Signature,
    Slot,
    Stmt,
    Var,
)
from sacpy.lang.dispatch import Certain, Possible, shape_class
from sacpy.lang.infer import Inference, inferrer_for
from sacpy.lang.lattice import is_below, outer, without_value
from sacpy.lang.source import Span
from sacpy.lang.types import Shape
from sacpy.lang.walk import Renamer, block_free, calls_itself
from sacpy.nodes import Node, replace

T = TypeVar("T")
LARGEST = 8  # statements of a function that is substituted
DEEPEST = 6  # substitutions within substitutions
SHORT = 4  # statements before the test that ends a recursion, and behind it
# of scalars: what fails for none
SURE = frozenset({*OF_TWO.values(), "neg", "and", "or", "not"}) - {"div", "mod", "aplmod"}


class EndOfRecursion(Node):
    """The way through a function that calls itself more than once on which it does not: the statements `ahead` of its
    last one, `last`, and the branch of that, `then` or the other."""

    ahead: tuple[Stmt, ...]
    last: If
    then: bool

    @property
    def branch(self) -> Block:
        """What is done on the way, behind the test."""
        return self.last.then if self.then else self.last.otherwise

    def results(self, function: Function) -> tuple[Atom, ...]:
        """What the function returns, seen from there."""
        merged = {m.target.name: m.then if self.then else m.otherwise for m in self.last.merges}
        return tuple(merged.get(a.name, a) if isinstance(a, Var) else a for a in function.returns)


class Preparer:
    """Prepares the functions of one program; it remembers inferences of callees."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.inferrer = inferrer_for(program)
        self.callees: dict[tuple[str, tuple[Shape, ...]], Inference] = {}
        self.bodies: dict[str, Function | None] = {}
        self.apart: Callable[[Function], bool] | None = None  # functions that are never substituted

    def prepare(self, function: Function, shapes: Sequence[Shape] | None = None) -> tuple[Function, Facts]:
        """The function with its facts, for arguments of these shapes (None: of the declared ones)."""
        rewriter = _Rewriter(self, function, shapes)
        rewritten = rewriter.function()
        rewriter.facts.aliases = rewriter.env
        return (prune(rewritten) if self.apart is None else rewritten), rewriter.facts

    def callee(self, key: str, shapes: tuple[Shape, ...]) -> Inference | None:
        """Inference of an inline function called with these shapes, if it may be substituted."""
        function = self.body(key)
        if function is None:
            return None
        known = self.callees.get((key, shapes))
        if known is None:
            known = self.callees[key, shapes] = self.inferrer.infer(function, shapes)
        return (
            known
            if all(_result_fits(slot, shape) for slot, shape in zip(function.signature.results, known.results))
            else None
        )

    def body(self, key: str) -> Function | None:
        """The function of that key if it is of the kind that may be substituted."""
        if key not in self.bodies:
            signature = self.program.signature(key)
            self.bodies[key] = None
            if signature.inlining == "inline" and signature.native is None and not _binds_shared_names(signature):
                function = self.program.function(key)
                if _is_straight(function) and (self.apart is None or not self.apart(function)):
                    self.bodies[key] = function
        return self.bodies[key]


def _is_straight(function: Function) -> bool:
    statements = function.body.statements
    if function.conditions or len(statements) > LARGEST or function.exit_names:
        return False
    names = {core for _, core in function.signature.pattern_names}
    for s in statements:
        match s:
            case Let(rhs=Prim() | ArrayCons() | Var() | Const() | Call() as rhs):
                atoms = (
                    rhs.args if isinstance(rhs, Prim | Call) else rhs.elements if isinstance(rhs, ArrayCons) else (rhs,)
                )
                if any(isinstance(a, Var) and a.name in names for a in atoms) or (
                    isinstance(rhs, Call) and function.signature.key in rhs.candidates
                ):
                    return False
            case _:
                return False
    return not any(isinstance(a, Var) and a.name in names for a in function.returns)


def end_of_recursion(function: Function) -> EndOfRecursion | None:
    """The short way through a recursion, if there is one that nothing is checked on but its test."""
    signature, statements = function.signature, function.body.statements
    if calls_itself(function) < 2 or function.conditions or function.exit_names or _binds_shared_names(signature):
        return None
    *ahead, last = statements
    if not isinstance(last, If) or len(ahead) >= SHORT:
        return None
    params = {slot.bind.name for slot in signature.params}
    for then, branch in ((True, last.then), (False, last.otherwise)):
        way = Block((*ahead, *branch.statements))
        if len(branch.statements) <= SHORT and not calls_itself(replace(function, body=way)):
            end = EndOfRecursion(tuple(ahead), last, then)
            if block_free(way, (last.condition, *end.results(function))) <= params:
                return end
    return None


def _is_sure(statements: Sequence[Stmt], facts: Facts) -> bool:
    """Whether statements do nothing but to compute with scalars, and cannot fail."""
    for s in statements:
        match s:
            case Let(rhs=Prim(op=op, args=args)) if op in SURE and all(facts.atom_shape(a).rank == 0 for a in args):
                pass
            case If(then=then, otherwise=otherwise) if _is_sure((*then.statements, *otherwise.statements), facts):
                pass
            case _:
                return False
    return True


def _names(features: tuple[Feature, ...]) -> list[str]:
    result = []
    for feature in features:
        if isinstance(feature, NamedExtent):
            result.append(feature.name)
        elif isinstance(feature, RankSlice):
            result += [feature.shape] + ([feature.rank] if isinstance(feature.rank, str) else [])
    return [n for n in result if n != "_"]


def _binds_shared_names(signature: Signature) -> bool:
    """Whether patterns must be compared with each other at run time."""
    used = [n for slot in (*signature.params, *signature.results) for n in _names(slot.pattern or ())]
    used += [slot.bind.source for slot in signature.params]
    shapes = any(
        isinstance(f, RankSlice) and f.minimum is not None for slot in signature.params for f in slot.pattern or ()
    )
    return len(set(used)) != len(used) or shapes


def _result_fits(slot: Slot, shape: Shape) -> bool:
    """Whether a result certainly has its declared type."""
    if shape.never:
        return False
    if slot.pattern is not None and any(
        not isinstance(f, AnyExtent | AnyShape | SomeShape | FixedExtent) for f in slot.pattern
    ):
        return False
    return is_below(outer(shape, len(slot.cell)), shape_class(slot))


def _same(thing: T) -> T:
    return thing


class _Rewriter(Renamer):
    """Rewrites one function."""

    def __init__(self, preparer: Preparer, function: Function, shapes: Sequence[Shape] | None) -> None:
        super().__init__(_same, _same)
        self.preparer = preparer
        self.original = function
        self.inference = preparer.inferrer.infer(function, shapes)
        self.facts = Facts()
        for bind in binds(function):
            self.facts.bases[bind.name] = bind.base
        for name, type_ in self.inference.types.items():
            self.facts.bases.setdefault(name, type_.base)
            if not type_.shape.never:
                self.facts.shapes[name] = type_.shape
        for _, core in (*function.signature.pattern_names, *function.exit_names):
            self.facts.bases.setdefault(core, "int")
        self.env: dict[str, Atom] = {}
        self.suffix = ""
        self.depth = 0
        self.count = 0
        self.span: Span | None = None
        self.source = function.signature.span.source
        self.end = end_of_recursion(function) if preparer.apart is None else None

    def function(self) -> Function:
        """Rewritten in the order of execution: what is checked on exit may speak of aliases that the body makes."""
        f = self.original
        entry = [self._condition(c) for c in f.conditions if not c.on_exit]
        body = self.block(f.body)
        ending = [self._condition(c) for c in f.conditions if c.on_exit]
        return replace(f, conditions=(*entry, *ending), body=body, returns=self.atoms(f.returns))

    def _condition(self, condition: Condition) -> Condition:
        return replace(condition, block=self.block(condition.block), value=self.atom(condition.value))

    def atom(self, atom: Atom) -> Atom:
        if isinstance(atom, Const):
            return atom
        found = self.env.get(atom.name)
        if found is not None:
            return Var(found.name, atom.span) if isinstance(found, Var) else found
        return atom

    def statement(self, s: Stmt) -> Iterator[Stmt]:
        match s:
            case Let(targets=(target,), rhs=Var() | Const() | Prim()) if (
                target.source and self.preparer.apart is not None
            ):
                pass  # somebody may want to see it by its name
            case Let(targets=(target,), rhs=Var() | Const() as rhs):
                self.env[target.name] = self.atom(rhs)
                return
            case Let(targets=(target,), rhs=Prim(op="hideValue" | "hideShape" | "hideDim", args=(_, value))):
                self.env[target.name] = self.atom(value)
                return
            case Let(targets=(target,), rhs=Prim(op="like", args=(new, old))) if self._same_shape(new, old):
                self.env[target.name] = self.atom(new)
                return
            case Let(targets=(target,), rhs=Prim(op="ravel", args=(value,))) if self.facts.rank(self.atom(value)) == 1:
                self.env[target.name] = self.atom(value)
                return
            case Let(rhs=Call() as call):
                yield from self._call(s, call)
                return
        yield from super().statement(s)

    def _same_shape(self, a: Atom, b: Atom) -> bool:
        """Whether two values certainly have the same shape."""
        first, second = self.facts.atom_shape(self.atom(a)).extents, self.facts.atom_shape(self.atom(b)).extents
        return first is not None and first == second and None not in first

    def _call(self, s: Let, call: Call) -> Iterator[Stmt]:
        resolution = self.inference.resolution(call)
        args = self.atoms(call.args)
        span = self.span or s.span
        if isinstance(resolution, Certain):
            signature = resolution.signature
            operation = self._operation(signature, call, args)
            if operation is not None:
                yield Let(self._targets(s.targets), operation, span)
                return
            shapes = tuple(without_value(self.facts.atom_shape(a)) for a in args)
            inference = self.preparer.callee(signature.key, shapes) if self.depth < DEEPEST else None
            if inference is not None:
                yield from self._substitute(inference, args, s, span)
                return
            if self.end is not None and not self.depth and signature.key == self.original.signature.key:
                found = self._unless_at_the_end(self.end, args, s, call, span)
                if found is not None:
                    yield from found
                    return
        new = replace(call, args=args)
        match resolution:
            case Certain(signature=signature):
                self.facts.certain[id(new)] = signature.key
            case Possible(signatures=signatures):
                self.facts.candidates[id(new)] = tuple(x.key for x in signatures)
        yield Let(self._targets(s.targets), new, span)

    def _targets(self, targets: tuple[Bind, ...]) -> tuple[Bind, ...]:
        return tuple(map(self.bind, targets))

    def _operation(self, signature: Signature, call: Call, args: tuple[Atom, ...]) -> Prim | None:
        """Element-wise arithmetic of the library as one primitive."""
        op = arithmetic(signature, len(args))
        return Prim(op, args) if op is not None else None

    def _substitute(self, inference: Inference, args: tuple[Atom, ...], s: Let, span: Span) -> Iterator[Stmt]:
        """The callee's statements with its parameters replaced and its variables renamed."""
        callee = inference.function
        saved = self.env, self.inference, self.depth, self.span, self.bind
        self._enter(inference, args)
        if callee.signature.span.source is not self.source:
            self.span = span
        statements = []
        for statement in callee.body.statements:
            for new in self.statement(statement):
                statements.append(replace(new, span=self.span) if self.span is not None else new)
        results = self.atoms(callee.returns)
        self.env, self.inference, self.depth, self.span, self.bind = saved
        yield from statements
        for target, result in zip(s.targets, results):
            self.env[target.name] = result

    def _enter(self, inference: Inference, args: tuple[Atom, ...]) -> None:
        """What is rewritten from now on is the callee's, for these arguments."""
        self.count += 1
        suffix = f"%{self.count}"
        env: dict[str, Atom] = {slot.bind.name: arg for slot, arg in zip(inference.function.signature.params, args)}

        def bind(b: Bind) -> Bind:
            new = Bind(b.name + suffix, b.base, "", b.span)
            self.facts.bases[new.name] = b.base
            known = inference.types.get(b.name)
            if known is not None and not known.shape.never:
                self.facts.shapes[new.name] = known.shape
            env[b.name] = Var(new.name, b.span)
            return new

        self.env, self.inference, self.depth, self.bind = env, inference, self.depth + 1, bind

    def _unless_at_the_end(
        self, end: EndOfRecursion, args: tuple[Atom, ...], s: Let, call: Call, span: Span
    ) -> list[Stmt] | None:
        """The call of a function in itself, made only where it is not at the end of the recursion; None if that cannot
        be told without it."""
        own = self.original
        if not all(_result_fits(slot, self.facts.atom_shape(a)) for slot, a in zip(own.signature.params, args)):
            return None
        saved = self.env, self.inference, self.depth, self.bind
        self._enter(self.inference, args)
        ahead = [new for statement in end.ahead for new in self.statement(statement)]
        test = self.atom(end.last.condition)
        block = self.block(end.branch)
        results = self.atoms(end.results(own))
        self.env, self.inference, self.depth, self.bind = saved
        if not _is_sure((*ahead, *block.statements), self.facts) or not all(
            _result_fits(slot, self.facts.atom_shape(a)) for slot, a in zip(own.signature.results, results)
        ):
            self.end = None
            return None
        new = replace(call, args=args)
        self.facts.certain[id(new)] = own.signature.key
        targets = self._targets(s.targets)
        made = tuple(Bind(f"{t.name}%call", t.base, "", t.span) for t in targets)
        for bind, target in zip(made, targets):
            self.facts.bases[bind.name] = bind.base
            if target.name in self.facts.shapes:
                self.facts.shapes[bind.name] = self.facts.shapes[target.name]
        called = Block((Let(made, new, span),))
        left = tuple(Var(bind.name, span) for bind in made)
        then, otherwise = (block, called) if end.then else (called, block)
        first, second = (results, left) if end.then else (left, results)
        merges = tuple(map(Merge, targets, first, second))
        return [replace(a, span=span) for a in ahead] + [If(test, then, otherwise, merges, span)]
