"""Calls with arrays that are not dense: parts of others, which compiled code reads where they lie.

In: the plan of a call, and its arguments. Out: what it gives, or `MISSED` where arguments had better be copied, as all
are that go to the interpreter. A function is called so once copying has taken as long as making the code for it
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


def call(runner: Runner, plan: Plan, args: Sequence[Any]) -> Any:
    """What a call gives, or `MISSED`. Raises `SacError`."""
    limits = runner.host.limits
    if plan.spread or len(plan.keys) != 1 or limits.seconds is not None or limits.memory is not None:
        return MISSED
    find = getattr(runner.evaluator.compiled(plan.keys[0]), "sac_native", None)
    types = [DTYPES.get(t.key) for t in plan.types]
    if find is None or any(is_strided(a) and a.dtype != t for a, t in zip(args, types)):
        return MISSED
    values = plan.arguments([a[tuple([slice(0, 0)] * a.ndim)] if is_strided(a) else a for a in args])
    own = [a if is_strided(a) else v for a, v in zip(args, values)]
    version = find(tuple(own))
    if version is None or version.device is not None or version.dropped or version.trial:
        return MISSED
    from sacpy.jit.host.strides import container

    found = {k: container(a) for k, a in enumerate(args) if is_strided(a)}
    if None in found.values():
        return MISSED
    layouts = tuple((k, made[0]) for k, made in found.items() if made is not None)
    size = sum(a.nbytes for a in args if is_strided(a))
    code = find.__self__.strided(version, layouts, size)
    if code is None:
        return MISSED
    for k, made in found.items():
        assert made is not None
        own[k] = made[1]
    own += [args[k].shape[axis] for k in found for axis in range(args[k].ndim) if version.kind[k][axis] is None]

    def run() -> Any:
        start = perf_counter()
        try:
            return code.call(tuple(own))
        except NativeFailure as failure:
            if not isinstance(failure, CheckFailed):
                find.__self__.engine.raise_for(failure, perf_counter() - start)
            return MISSED

    results = runner.host.run(lambda: runner.evaluator.guarded(run))
    if results is MISSED:
        return MISSED
    flags = plan.returned - len(plan.results)
    return plan.finish(results[0] if plan.returned == 1 else (*results, *[version.owned] * flags))


__all__ = ["call", "is_strided"]
