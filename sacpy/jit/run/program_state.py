"""What an engine keeps for the program of one evaluator.

In: an evaluator. Out: its fingerprints, costs and records, and the units that come about while it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from sacpy.base.clocks import thread_time
from sacpy.jit.cache import Cache
from sacpy.jit.run.cost import Costs
from sacpy.jit.run.regions import Regions
from sacpy.lang import core
from sacpy.lang.types import BUILTIN
from sacpy.lang.walk import calls_itself

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Evaluator
    from sacpy.jit.run.dispatch import Site
    from sacpy.jit.run.judgement import Judge, Policy
    from sacpy.jit.run.versions import Versions


def nothing(signature: core.Signature) -> bool:
    """No function is NumPy's: what is compiled as soon as there is work is not compared with what NumPy takes."""
    return False


class ProgramState:
    """What the engine keeps for one evaluator."""

    def __init__(self, evaluator: Evaluator, policy: Policy, cache: Cache, number: int) -> None:
        from sacpy.jit.fingerprint import Fingerprints
        from sacpy.jit.run.records import Records

        self.number = number  # by which a process that compiles knows it
        self.program = evaluator.program
        self._evaluator = ref(evaluator)
        self.fingerprints = Fingerprints(self.program)
        self.costs = Costs(
            self.program,
            evaluator.inferrer(),
            policy.array,
            policy.unknown,
            evaluator.is_whole if policy.price is None else nothing,
        )
        self.records = Records(cache, self.program)
        self.awaited: Site | None = None  # whose call in progress is begun anew when its version is there
        self.foreseen = False  # somebody has thought of what compiling will need
        self._began = thread_time()
        self._branching: dict[str, bool] = {}

    def is_pure(self, function: core.Function) -> bool:
        """Whether a function made of a statement can be a unit: it has no effects, and only values of the graph."""
        if not isinstance(self.program, Regions):
            return False
        purity = self.program.outlined.purity
        return all(
            slot.base in BUILTIN for slot in (*function.signature.params, *function.signature.results)
        ) and purity.block(function.body)

    def has_effects(self, function: core.Function) -> bool:
        """Whether a function is known to have effects, or values that the graph does not have."""
        return isinstance(self.program, Regions) and not self.is_pure(function)

    def add(self, function: core.Function) -> None:
        """From now on the program has this function too."""
        assert isinstance(self.program, Regions)
        self.program.add(function)

    def watch(self, engine: Judge, unit: Versions) -> None:
        """From now on the engine knows this unit, for as long as the evaluator lives."""
        evaluator = self._evaluator()
        if evaluator is not None:
            engine.units.add(evaluator, unit)

    @property
    def generating(self) -> float:
        """Seconds that were spent on generating Python so far."""
        evaluator = self._evaluator()
        return 0.0 if evaluator is None else evaluator.generating

    @property
    def seconds(self) -> float:
        """Seconds of this thread that the program has run for."""
        return thread_time() - self._began

    def branches(self, function: core.Function) -> bool:
        """Whether a call of a function may call itself more than once: its calls then grow in number with their
        depth."""
        key = function.signature.key
        if key not in self._branching:
            self._branching[key] = calls_itself(function) > 1
        return self._branching[key]
