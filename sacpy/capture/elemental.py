"""Functions of elements that are mapped over arrays, and operators that reduce arrays.

In: a typed Python function of numbers. Out: `Elemental`, which takes arrays for its numbers, all of one shape, and
gives the array of what it gives for each element; `u.at(-1, 0)` in it is the element's neighbour (as in Intel's ArBB).
`Reduction`, an associative operator, which takes an array or a generator and combines all elements.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.capture import build, calls, heads
from sacpy.capture.comprehensions import listed
from sacpy.capture.expressions import constant
from sacpy.capture.frame import NOTHING, Frame, Knowledge, Val
from sacpy.capture.function import Captured
from sacpy.capture.kinds import array, element
from sacpy.capture.names import set_names
from sacpy.capture.numbers import broadcast, converted
from sacpy.capture.numpy_arrays import cast
from sacpy.capture.places import ARGUMENTS, DIFFER, UNTYPED, refusal
from sacpy.capture.spaces import bound
from sacpy.capture.unit import Program, Work, parameter
from sacpy.embedding.functions import Function
from sacpy.lang import ast
from sacpy.lang.source import Span
from sacpy.session import Session

BOUNDARIES = ("clamp", "wrap", "reflect", "constant")


class _ElementWork(Work):
    """An elemental function for arrays with so many axes: its SaC function takes the index, and, where it asks for
    neighbours, whole arrays."""

    captured: Elemental
    rank = 0

    def prepare(self, frame: Frame) -> None:
        """The parameters with neighbours are elements of arrays."""
        self.index = [frame.fresh("i") for _ in range(self.rank)]
        for name in self.captured.neighbours if self.rank else ():
            span, shaped = self.head.spans[name], self.head.parameters[name]
            at = tuple(build.var(i, span) for i in self.index)
            found = Val(ast.Select(build.var(frame.sac_name(name), span), at, span), element(shaped.base))
            frame.renamed[name] = converted(frame, found, "int") if shaped.base == "ubyte" else found

    def parameters(self, frame: Frame, rename: Callable[[str], str]) -> tuple[ast.Param, ...]:
        """The index, and the parameters."""
        found = list(super().parameters(frame, rename))
        if not self.rank:
            return tuple(found)
        span = self.head.places.span(self.head.node)
        for i, (name, shaped) in enumerate(self.head.parameters.items()):
            if name in self.captured.neighbours:
                pattern = (ast.AnyExtent(span),) * self.rank
                found[i] = parameter(shaped.base, pattern, frame.sac_name(name), self.head.spans[name])
        return (*(parameter("int", None, name, span) for name in self.index), *found)


def _at(frame: Frame, node: py.Call, found: Val) -> Val:
    """`u.at(-1, 0)`: the neighbour of an element."""
    work, span = frame.unit, frame.span(node)
    function = node.func
    assert isinstance(function, py.Attribute)
    name = function.value.id if isinstance(function.value, py.Name) else ""
    if not isinstance(work, _ElementWork) or name not in work.captured.neighbours or node.keywords:
        help = "write it in a function under @sacpy.elemental"
        raise frame.refused(node, "only a parameter of an elemental function has neighbours", help)
    if not work.rank:
        help = "pass an array"
        raise frame.refused(
            node, f"{work.head.node.name} is called with numbers, which have no neighbours", help, DIFFER
        )
    if len(node.args) != work.rank:
        message = f"the arrays have {work.rank} axes, and here are {len(node.args)} steps"
        raise frame.refused(node, message, "give one step for each axis", ARGUMENTS)
    whole, mode = build.var(frame.sac_name(name), span), work.captured.boundary
    places: list[ast.Expr] = []
    inside: ast.Expr | None = None
    for axis, (index, argument) in enumerate(zip(work.index, node.args)):
        step = bound(frame, argument, frame.scalar(argument))
        place: ast.Expr = build.var(index, span)
        if not (step.kind.low == step.kind.high == 0):
            n = build.extent(whole, axis, span)
            place = build.binary("+", place, step.expr, span)
            if mode != "constant":
                place = frame.support(f"place_{'edge' if mode == 'clamp' else mode}", [place, n], span)
            else:
                for test in (
                    build.binary(">=", place, build.integer(0, span), span),
                    build.binary("<", place, n, span),
                ):
                    inside = test if inside is None else ast.Logical("&&", inside, test, span)
        places.append(place)
    expr: ast.Expr = ast.Select(whole, tuple(places), span)
    base = work.head.parameters[name].base
    if inside is not None:
        outer = cast(frame, node, constant(frame, node, work.captured.constant), base).expr
        expr = ast.Conditional(inside, expr, outer, span)
    return Val(expr, element(base))


calls.METHODS["at"] = _at


class Elemental(Captured):
    """A function of numbers, mapped over arrays of one shape. `boundary`: what a neighbour outside is: that of the
    nearest index ("clamp"), of the other end ("wrap"), mirrored without the rim twice ("reflect"), or `constant`."""

    def __init__(
        self, function: Callable[..., Any], session: Session | None = None, target: str = "auto",
        boundary: str = "clamp", constant: float = 0,
    ) -> None:  # fmt: skip
        """Raises `SacError` for a head that is not of numbers; `ValueError` for an unknown boundary."""
        super().__init__(function, session, target)
        if boundary not in BOUNDARIES:
            raise ValueError(f"there is no boundary {boundary!r}; there is {', '.join(BOUNDARIES)}")
        self.boundary, self.constant = boundary, constant
        self._ranks: dict[tuple[int, ...], Function] = {}
        _of_numbers(self, "elemental")
        asked = {
            n.func.value.id: n
            for n in py.walk(self.head.node)
            if isinstance(n, py.Call) and isinstance(n.func, py.Attribute) and n.func.attr == "at"
            and isinstance(n.func.value, py.Name)
        }  # fmt: skip
        self.neighbours = [name for name in self.head.parameters if name in asked]
        self._axes = max((len(asked[n].args) for n in self.neighbours), default=1)
        for name in set_names(self.head.node.body) & set(self.neighbours):
            message = f"{name} is asked for neighbours, and cannot be set"
            raise refusal(self.head.spans[name], message, "set another variable")

    def _called(self, args: tuple[Any, ...]) -> Any:
        """A call with numbers and arrays of one shape."""
        ranks = tuple(np.ndim(a) for a in args)
        run = self._ranks.get(ranks)
        if run is None:
            run = self._ranks[ranks] = self._entered(self.session, ranks)
        return run(*args)

    def _forget(self) -> None:
        super()._forget()
        self._ranks = {}

    def check(self) -> None:
        """Captures and checks it, for arrays with as many axes as it has steps to neighbours."""
        self._entered(self.session, (self._axes,) * len(self.head.parameters))

    @property
    def program(self) -> Program:
        """The SaC program for arrays with as many axes as it has steps to neighbours."""
        return self._whole((self._axes,) * len(self.head.parameters))[0]

    def _entered(self, session: Session, ranks: tuple[int, ...]) -> Function:
        program, name = self._whole(ranks)
        return session.compile(program.tree(), self.__name__)[name]

    def _whole(self, ranks: tuple[int, ...]) -> tuple[Program, str]:
        """A program with a function for arguments with so many axes, and its name."""
        library = self.session._module
        program = Program(lambda name: name in library)
        span = self.head.places.span(self.head.node)
        if len(ranks) != len(self.head.parameters) or len({r for r in ranks if r}) > 1:
            message = f"{self.__name__} takes {len(self.head.parameters)} numbers, or arrays of one shape"
            raise refusal(span, message, "", ARGUMENTS)
        rank = max(ranks, default=0)
        own = program.name(self.__name__)
        self._name = own
        made = program.add(self, (self.python, rank), _element_work(rank))
        names = [f"a{i}" for i in range(len(ranks))]
        axes = [f"n{i}" for i in range(rank)]
        index = [f"i{i}" for i in range(rank)]
        params, args = [], [build.var(i, span) for i in index]
        for name, r, (given, shaped) in zip(names, ranks, self.head.parameters.items()):
            pattern = tuple(ast.NamedExtent(n, span) for n in axes) if r else None
            params.append(parameter(shaped.base, pattern, name, span))
            if given in self.neighbours and rank and not r:
                raise refusal(span, f"{given} is asked for neighbours, and is a number here", "pass an array", DIFFER)
            whole = build.var(name, span)
            at = tuple(build.var(i, span) for i in index)
            args.append(whole if not r or given in self.neighbours else ast.Select(whole, at, span))
        call = build.call(made.name, args, span)
        (result,) = made.results or ()
        expr = call
        if rank:
            expr = build.comprehension(index, call, [build.var(n, span) for n in axes], span)
        pattern = tuple(ast.NamedExtent(n, span) for n in axes) or None
        results = (build.sac_type(result.base, pattern, span),)
        body = (ast.Return((expr,), span),)
        program.put(self, _definition(own, tuple(params), results, body, span), self.head)
        return program, own

    def called(self, work: Work, frame: Frame, node: py.Call) -> Val:
        """Its call within another captured function."""
        given = [v for _, v in work.arguments(frame, node, self)]
        ranks = {v.kind.rank for v in given if v.items is None and v.kind.rank != 0}
        if not ranks:
            return work.plain_call(frame, node, self)
        if None in ranks or len(ranks) > 1:
            message = f"{self.__name__} takes numbers and arrays with the same, known number of axes"
            raise frame.refused(node, message, 'annotate them: Double["n", "m"]', DIFFER)
        rank = max(r for r in ranks if r is not None)
        made = work.program.add(self, (self.python, rank), _element_work(rank))
        fitted = [
            work.fitted(frame, node, v, heads.Shaped(s.base, () if v.kind.rank == 0 else (None,) * rank), n)
            for v, (n, s) in zip(given, self.head.parameters.items())
        ]
        fitted = [frame.kept(v, node) if v.kind.rank else v for v in fitted]
        span, near = frame.span(node), list(self.head.parameters)

        def make(cells: list[ast.Expr]) -> ast.Expr:
            index = _index_of(cells, fitted)
            args = [v.expr if n in self.neighbours else c for n, v, c in zip(near, fitted, cells)]
            return build.call(made.name, [*index, *args], span)

        if made.results is None:
            raise frame.refused(node, f"{self.__name__} calls itself", "say what it gives in the head", UNTYPED)
        return broadcast(frame, node, fitted, make, made.results[0].base, rank)


def _index_of(cells: list[ast.Expr], vals: list[Val]) -> list[ast.Expr]:
    """The index at which the elements stand."""
    cell = next(c for c, v in zip(cells, vals) if v.kind.rank)
    assert isinstance(cell, ast.Select)
    return list(cell.indices)


def _element_work(rank: int) -> Callable[[Program, Any, Any], Work]:
    def make(program: Program, captured: Any, made: Any) -> Work:
        work = _ElementWork(program, captured, made)
        work.rank = rank
        return work

    return make


def _definition(
    name: str, params: tuple[ast.Param, ...], results: tuple[ast.TypeExpr, ...], body: tuple[ast.Stmt, ...], span: Span
) -> ast.FunDef:
    return ast.FunDef((), "", "", results, False, name, params, False, (), body, (), "", span, span)


def _of_numbers(captured: Captured, word: str) -> None:
    """Sees that all parameters, and the one result, are numbers."""
    for name, shaped in captured.head.parameters.items():
        if shaped.axes != ():
            raise refusal(captured.head.spans[name], f"the parameters of an {word} function are numbers",
                          "annotate it float, int, bool or complex", UNTYPED)  # fmt: skip
    results = captured.head.results
    node = captured.head.node
    if results is None or len(results) != 1 or results[0].axes != ():
        help = "write -> float, int, bool or complex"
        raise refusal(captured.head.places.span(node), f"the result of an {word} function is one number", help, UNTYPED)


# ---------------------------------------------------------------- reductions


class Reduction(Captured):
    """An associative operator of two numbers. Called with an array it combines all elements, in their order unless it
    is `commutative`; with none it gives `neutral`."""

    def __init__(
        self, function: Callable[..., Any], neutral: Any, session: Session | None = None, target: str = "auto",
        commutative: bool = False,
    ) -> None:  # fmt: skip
        """Raises `SacError` for what is no operator of two numbers."""
        super().__init__(function, session, target)
        self.neutral, self.commutative = neutral, commutative
        self._folds: Function | None = None
        _of_numbers(self, "associative")
        bases = [s.base for s in (*self.head.parameters.values(), *(self.head.results or ()))]
        if len(bases) != 3 or len(set(bases)) != 1:
            message = "an operator takes two numbers of one type, and gives one of the same"
            raise refusal(
                self.head.places.span(self.head.node), message, "write (a: float, b: float) -> float", UNTYPED
            )

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Combines two numbers, or all elements of an array."""
        if len(args) != 1 or named:
            return super().__call__(*args, **named)
        if self._folds is None:
            self._folds = self._folding(self.session)
        return self._folds(*args)

    def _forget(self) -> None:
        super()._forget()
        self._folds = None

    def _folding(self, session: Session) -> Function:
        """The function of a whole array."""
        library = self.session._module
        program = Program(lambda name: name in library)
        made = program.add(self)
        own, span = program.name(f"all_{self.__name__}"), self.head.places.span(self.head.node)
        (result,) = self.head.results or ()
        frame = Frame(Work(program, self, made), self.head.places, lambda name: None, Knowledge(), set())
        whole = Val(build.var("a", span), array(result.base, None))
        folded = self._folded(frame, self.head.node, made.name, whole)
        params = (parameter(result.base, (ast.AnyShape(span),), "a", span),)
        results = (build.sac_type(result.base, None, span),)
        body = (ast.Return((folded.expr,), span),)
        program.put((self, own), _definition(own, params, results, body, span), self.head)
        return session.compile(program.tree(), self.__name__)[own]

    def called(self, work: Work, frame: Frame, node: py.Call) -> Val:
        """Its call within another captured function: of two numbers, of an array, of a generator."""
        if len(node.args) != 1 or node.keywords:
            return work.plain_call(frame, node, self)
        argument = node.args[0]
        found = listed(frame, argument) if isinstance(argument, py.GeneratorExp) else frame.value(argument)
        (result,) = self.head.results or ()
        if found.items is not None or found.kind == NOTHING or found.kind.rank == 0:
            message = f"{self.__name__} takes two numbers, an array or a generator, not {frame.shown(found)}"
            raise frame.refused(node, message, "", ARGUMENTS)
        wanted = heads.Shaped(result.base, None if found.kind.rank is None else (None,) * found.kind.rank)
        found = work.fitted(frame, argument, found, wanted, "what is combined")
        name = work.program.add(self).name
        return self._folded(frame, node, name, frame.kept(found, node))

    def _folded(self, frame: Frame, node: py.AST, name: str, found: Val) -> Val:
        """The fold of an array's elements."""
        span = frame.span(node)
        (result,) = self.head.results or ()
        neutral = cast(frame, node, constant(frame, node, self.neutral), result.base).expr
        shape = build.call("shape", [found.expr], span)
        index = "iv"
        low = build.binary("*", build.integer(0, span), shape, span)
        generator = ast.Generator(low, True, index, None, False, shape, None, None, span, span)
        cell = ast.Select(found.expr, (build.var(index, span),), span)
        part = ast.Part(generator, (), (), (cell,), span)
        operator = ast.FoldOp(build.qname(name, span), (), neutral, None, span)
        pragmas = (ast.Pragma("commutative", span),) if self.commutative else ()
        return Val(ast.With(pragmas, (part,), (operator,), span), array(result.base, 0))


def elemental(
    function: Callable[..., Any] | None = None, /, *, target: str = "auto", boundary: str = "clamp", constant: float = 0
) -> Any:
    """A decorator: a function of numbers that is mapped over arrays; see `Elemental`."""
    if function is None:
        return lambda f: Elemental(f, None, target, boundary, constant)
    return Elemental(function, None, target, boundary, constant)


def reduction(neutral: Any, *, commutative: bool = False, target: str = "auto") -> Callable[..., Reduction]:
    """A decorator: an associative operator that reduces arrays; see `Reduction`."""
    return lambda f: Reduction(f, neutral, None, target, commutative)


__all__ = ["Elemental", "Reduction", "elemental", "reduction"]
