"""What may come of loops that combine elements of arrays with values wherever the data say.

In: what a body carries; its rounds, in order. Out: what the arrays may be in the end. Threads and devices cut such
loops into pieces, so that what meets in an element may have been put together in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sacpy.jit.analysis.scatters import Scatter, scatters_of
from sacpy.jit.ir.graph import Atom, Block, Var
from tests.fuzz.intervals import Number, multiplied, operation, total

ANY_ORDER: dict[str, Callable[[Sequence[Number], str], Number]] = {"add": total, "mul": multiplied}


class ByIndex:
    """One run of such a loop, whose rounds have one of some bodies. `found`: what a round of each does to reals;
    nothing where some do anything else."""

    def __init__(self, params: Sequence[Var], initial: Sequence[Atom], bodies: Sequence[Block]) -> None:
        every = [scatters_of(params, initial, body, True) for body in bodies]
        self.found: list[list[Scatter]] = [[h for h in found if all(every) and not h.step.exact] for found in every]
        self.terms: dict[tuple[int, int], list[Any]] = {}
        self.body = 0  # of the rounds to come

    def round(self, machine: Any, env: dict[str, Any], values: Sequence[Any]) -> None:
        """A round has been run. `values`: what is carried now; `env`: what variables are in it."""
        for h in self.found[self.body] if self.found else ():
            term = machine.atom(h.step.value, env)
            if h.step.negative:
                term = operation("neg", h.step.base, [term])
            self.terms.setdefault((h.number, values[h.number].start(machine.index(h.index, env))[0]), []).append(term)

    def results(self, initial: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """What is carried in the end, where that is `values` if all is done in order."""
        codes = {h.number: (h.step.code, h.step.base) for found in self.found for h in found}
        items = {number: list(values[number].items) for number in codes}
        for (number, at), terms in self.terms.items():
            if len(terms) > 1:
                code, base = codes[number]
                items[number][at] = ANY_ORDER[code]([initial[number].items[at], *terms], base)
        return [replace(v, items=tuple(items[n])) if n in items else v for n, v in enumerate(values)]
