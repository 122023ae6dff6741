"""What tests of kernels share: running a unit with its with-loops on kernels, and comparing with the plain evaluation
of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sacpy.interp.values import Value
from sacpy.jit.ir.graph import Rhs, Unit, Var, WithLoop
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.kernels import KernelOptions, Launch, Plan, Refused, Template, build
from sacpy.nodes import replace
from tests.jit import graph_evaluator
from tests.jit.graph_evaluator import CheckFailed, Env, Many, evaluate
from tests.jit.kernel_evaluator import run_plan
from tests.jit.pass_tools import _bits

Parameters = dict[str, int]


class OnKernels(graph_evaluator.Evaluator):
    """Evaluates units; with-loops that stand outside of all others run as kernels, unless they are refused. `templates`
    by the identity of with-loops; `plans`: what ran; `refused`: reasons."""

    def __init__(self, unit: Unit, options: KernelOptions | None = None, parameters: Parameters | None = None) -> None:
        super().__init__(unit)
        self.plain = graph_evaluator.Evaluator(unit)
        self.options = options
        self.parameters = parameters
        self.templates: dict[int, Template] = {}
        self.plans: list[Plan] = []
        self.refused: list[str] = []

    def rhs(self, r: Rhs, targets: Sequence[Var]) -> Callable[[Env], Many]:
        if not isinstance(r, WithLoop):
            return super().rhs(r, targets)
        return lambda env: self.run(r, targets, env)

    def run(self, r: WithLoop, targets: Sequence[Var], env: Env) -> Many:
        try:
            template = self.templates.get(id(r)) or build(
                r, targets, {f.name: f for f in self.unit.functions}, self.options
            )
        except Refused as refused:
            self.refused.append(refused.reason)
            return self.plain.value(r, env, targets)
        self.templates[id(r)] = template
        plan = template.plan(tuple(env[name] for name in template.inputs), self.parameters)
        self.plans.append(plan)
        results, failed = run_plan(plan, {name: env[name] for name in template.source.free})
        if failed:
            raise CheckFailed(failed[0])
        return [results[t.name] for t in targets]

    @property
    def launches(self) -> list[Launch]:
        """All launches."""
        return [launch for plan in self.plans for launch in plan.launches]


def on_kernels(
    unit: Unit, args: Sequence[Value], options: KernelOptions | None = None, parameters: Parameters | None = None
) -> tuple[tuple[Value, ...], OnKernels]:
    """The results of a unit with its with-loops on kernels, and what ran."""
    params = [graph_evaluator._input(i.kind, args[i.argument], i.at) for i in unit.inputs]
    run = OnKernels(unit, options, parameters)
    with np.errstate(all="ignore"):
        found = run.call(unit.root, params)
    return tuple(graph_evaluator._output(o, found) for o in unit.outputs), run


def agree(
    unit: Unit,
    args: Sequence[Value],
    options: KernelOptions | None = None,
    parameters: Parameters | None = None,
    close: bool = False,
) -> OnKernels:
    """Asserts that kernels give what the graph says, to the bit, or to rounding where `close`. Where checks fail, they
    fail in both."""
    verify(unit)
    try:
        wanted = evaluate(unit, args)
    except CheckFailed:
        wanted = None
    try:
        found, run = on_kernels(unit, args, options, parameters)
    except CheckFailed:
        assert wanted is None, "a check fails in kernels only"
        return OnKernels(unit)
    assert wanted is not None, "no check fails in kernels"
    for f, w in zip(found, wanted, strict=True):
        if close:
            np.testing.assert_allclose(f, w, rtol=1e-9, atol=1e-12)
        else:
            assert _bits(f) == _bits(w), (f, w)
    return run


Change = Callable[[KernelOptions], KernelOptions]


def options(**changes: object) -> KernelOptions:
    """Options with some changed."""
    return replace(KernelOptions(), **changes)  # type: ignore[arg-type]
