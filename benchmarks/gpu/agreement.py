"""The with-loops and random programs that the interpreter of PTX runs, on the GPU: each beside the interpreter of SaC.

In: which of them, what makes engines. Out: for each what is wrong, "" where nothing is. A GPU does by chance what that
interpreter does by rule; it has an assembler, caches and clocks of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchmarks.gpu.checks import engine_there, on
from sacpy import Session
from sacpy.jit.cache import Cache
from tests.fuzz.differential import compare
from tests.fuzz.seeds import case
from tests.ptx.cases import CASES
from tests.ptx.checking import outcome, same, shown


def with_loops(target: str, group: int, groups: int, wait: Callable[[], Any]) -> Iterator[tuple[str, str]]:
    """Every so-many-th case. `wait`: raises where the device is lost, which ends it."""
    for c in CASES[group::groups]:
        plain, session = Session(target="interp").compile(c.source), on(target)
        problem = ""
        try:
            module = session.compile(c.source)
            for function, args in c.calls:
                wanted, got = outcome(plain, function, args), outcome(module, function, args)
                if not same(wanted, got, False, "float" in c.name):
                    problem = f"{function}: {shown(wanted, got)}"
                    break
        except Exception as error:  # whatever it is, it is told, and the others have their turn
            problem = f"{type(error).__name__}: {error}"[:500]
            wait()
        yield c.name, problem


def random_programs(target: str, seeds: Iterable[int], wait: Callable[[], Any]) -> Iterator[tuple[str, str]]:
    """Programs made from these seeds, compiled as they come. `wait`: as above."""
    ways = {target: lambda: engine_there(target, defects=True, cache=Cache(None))}
    for seed in seeds:
        problem = ""
        try:
            found = compare(case(seed), ways, exact=False)
            if found.different:
                problem = f"{str(found.different)[:300]} for {str(found.expected)[:300]}"
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"[:500]
            wait()
        yield f"seed {seed}", problem
