"""Calls with arrays that are not dense: arguments that are parts of others, which compiled code reads where they lie,
and results that are parts of what it has made.

In: the plan of a call, and its arguments. Out: what it gives, or `MISSED` where arrays had better be copied, as all are
that go to the interpreter. A function is called so once copying has taken as long as making the code for it
(`Versions.strided`), which says in words when it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from sacpy.embedding.runner import MISSED
from sacpy.interp.values import DTYPES
from sacpy.jit.failures import CheckFailed, NativeFailure

if TYPE_CHECKING:
    from sacpy.embedding.plans import Plan
    from sacpy.embedding.runner import Runner

LEAST = 1 << 16  # bytes; what is smaller is copied at once


def is_strided(a: Any) -> bool:
    """Whether an argument is an array that is not dense."""
    return type(a) is ndarray and not a.flags.c_contiguous and a.nbytes >= LEAST


def awaits_views(plan: Plan, found: Any) -> bool:
    """After a call the usual way, which gave `found`: whether later ones may have views as results, so that they must
    not go directly to the code for others."""
    plan.shown = sum(r.nbytes for r in (found if plan.returned > 1 else (found,)) if type(r) is ndarray)
    return plan.shown >= LEAST


def call(runner: Runner, plan: Plan, args: Sequence[Any]) -> Any:
    """What a call gives, or `MISSED`. Raises `SacError`."""
    limits, odd = runner.host.limits, [k for k, a in enumerate(args) if is_strided(a)]
    views = plan.views and plan.shown >= LEAST
    if not odd and not views:
        return MISSED
    if plan.spread or len(plan.keys) != 1 or limits.seconds is not None or limits.memory is not None:
        plan.views = False
        return MISSED
    find = getattr(runner.evaluator.compiled(plan.keys[0]), "sac_native", None)
    types = [DTYPES.get(t.key) for t in plan.types]
    if find is None or any(args[k].dtype != types[k] for k in odd):
        return MISSED
    values = plan.arguments([a[tuple([slice(0, 0)] * a.ndim)] if k in odd else a for k, a in enumerate(args)])
    own = [a if k in odd else v for k, (a, v) in enumerate(zip(args, values))]
    version = find(tuple(own))
    if version is None or version.device is not None or version.dropped or version.trial:
        return MISSED
    from sacpy.jit.host.strides import container
    from sacpy.jit.ir.parts import Border

    found = {k: container(args[k]) for k in odd}
    if None in found.values():
        return MISSED
    layouts = tuple((k, made[0]) for k, made in found.items() if made is not None)
    size, code = sum(args[k].nbytes for k in odd), None
    if views:
        border = Border(layouts, True)
        code = find.__self__.strided(version, border, size + plan.shown)
        if code is None and border in version.strided:
            plan.views = False
    if code is None and layouts:
        code = find.__self__.strided(version, Border(layouts), size)
    if code is None:
        return MISSED
    for k, made in found.items():
        assert made is not None
        own[k] = made[1]
    own += [args[k].shape[axis] for k in found for axis in range(args[k].ndim) if version.kind[k][axis] is None]

    def run() -> Any:
        start = perf_counter()
        try:
            results = code.call(tuple(own))
        except NativeFailure as failure:
            if not isinstance(failure, CheckFailed):
                find.__self__.engine.raise_for(failure, perf_counter() - start)
            return MISSED
        version.calls += 1
        version.seconds += perf_counter() - start
        return results

    results = runner.host.run(lambda: runner.evaluator.guarded(run))
    if results is MISSED:
        return MISSED
    flags = plan.returned - len(plan.results)
    return plan.finish(results[0] if plan.returned == 1 else (*results, *[version.owned] * flags))


__all__ = ["awaits_views", "call", "is_strided"]
