"""Functions of cells that are mapped over the axes in front of them, as NumPy's generalised universal functions are.

In: a captured function whose head says what a cell is, `def distance(a: Double["n"], b: Double["n"]) -> float`. Out:
`Generalised`, which takes arrays with any axes in front of those, and gives the array of what it gives for each cell.
The axes in front go together from the last on; an array with fewer of them is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sacpy.capture import build
from sacpy.capture.function import Captured
from sacpy.capture.places import ARGUMENTS, UNTYPED, refusal
from sacpy.capture.unit import Program, parameter
from sacpy.embedding.functions import Function
from sacpy.lang import ast
from sacpy.session import Session


class Generalised(Captured):
    """A captured function of cells, mapped over the axes in front."""

    def __init__(self, function: Callable[..., Any], session: Session | None = None, target: str = "auto") -> None:
        """Raises `SacError` for a head in which a parameter, or the one result, has no number of axes."""
        super().__init__(function, session, target)
        self._ranks: dict[tuple[int, ...], Function] = {}
        head = self.head
        for name, shaped in head.parameters.items():
            if shaped.axes is None:
                raise refusal(head.spans[name], "a cell has a number of axes", 'write Double["n"], or float', UNTYPED)
        if head.results is None or len(head.results) != 1 or head.results[0].axes is None:
            help = 'write -> float, or -> Double["n"]'
            raise refusal(head.places.span(head.node), "the result of a cell is one number or array", help, UNTYPED)

    def _called(self, args: tuple[Any, ...]) -> Any:
        """A call with cells that have axes in front."""
        ranks = tuple(np.ndim(a) for a in args)
        run = self._ranks.get(ranks)
        if run is None:
            run = self._ranks[ranks] = self._entered(ranks)
        return run(*args)

    def _forget(self) -> None:
        super()._forget()
        self._ranks = {}

    def _entered(self, ranks: tuple[int, ...]) -> Function:
        head = self.head
        span, shapes = head.places.span(head.node), list(head.parameters.items())
        cells = [len(shaped.axes or ()) for _, shaped in shapes]
        if len(ranks) != len(cells) or any(r < c for r, c in zip(ranks, cells)):
            wanted = ", ".join(f"{name} with {c} or more axes" for (name, _), c in zip(shapes, cells))
            raise refusal(span, f"{self.__name__} takes {wanted}", "give an array for each", ARGUMENTS)
        front = [r - c for r, c in zip(ranks, cells)]
        most = max(front, default=0)
        if most == 0:
            return super()._loaded(self.session)
        library = self.session._module
        program = Program(lambda name: name in library)
        own = program.name(f"each_{self.__name__}")
        made = program.add(self)
        axes, index = [f"n{i}" for i in range(most)], [f"i{i}" for i in range(most)]
        params, args = [], []
        for k, ((_, shaped), before, cell) in enumerate(zip(shapes, front, cells)):
            pattern: tuple[ast.Feature, ...] = (
                *(ast.NamedExtent(n, span) for n in axes[most - before :]),
                *(ast.AnyExtent(span),) * cell,
            )
            params.append(parameter(shaped.base, pattern or None, f"a{k}", span))
            whole = build.var(f"a{k}", span)
            at = tuple(build.var(i, span) for i in index[most - before :])
            args.append(ast.Select(whole, at, span) if at else whole)
        (result,) = head.results or ()
        call = build.call(made.name, args, span)
        expr = build.comprehension(index, call, [build.var(n, span) for n in axes], span)
        shape: tuple[ast.Feature, ...] = (
            *(ast.NamedExtent(n, span) for n in axes),
            *(ast.AnyExtent(span),) * len(result.axes or ()),
        )
        results = (build.sac_type(result.base, shape, span),)
        body = (ast.Return((expr,), span),)
        definition = ast.FunDef((), "", "", results, False, own, tuple(params), False, (), body, (), "", span, span)
        program.put((self, own), definition, head)
        return self.session.compile(program.tree(), self.__name__)[own]


def generalised(function: Callable[..., Any] | None = None, /, *, target: str = "auto") -> Any:
    """A decorator: a function of cells, mapped over the axes in front of them; see `Generalised`."""
    if function is None:
        return lambda f: Generalised(f, None, target)
    return Generalised(function, None, target)


__all__ = ["Generalised", "generalised"]
