"""Runs one random program in several ways, and compares.

In: a seed. Out: an `Outcome`: what the interpreter gives (values, or the code of an error with its place), the ways that give something else, and what was compiled. Natively everything is compiled that the compiler takes, graphs are verified between passes, and a defect of the compiler is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.engine import Engine
from sacpy.lang.core import Program
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace
from tests.fuzz.programs import Case

Result = tuple[Any, ...] | str


@dataclass(frozen=True)
class Outcome:
    """What came of a case. `expected`: values, or an error as text; `different`: by way, what it gave instead; `compiled` and `refused`: functions that run natively, and reasons of those that do not. `refused_before`: the program is wrong before it runs."""

    case: Case
    expected: Result
    different: dict[str, Result]
    compiled: int = 0
    refused: tuple[str, ...] = ()
    refused_before: bool = False


@dataclass
class Ways:
    """The ways to run: name and maker of an engine."""

    makers: dict[str, Callable[[], Engine]] = field(default_factory=lambda: {"strict": lambda: native(strict_fp=True, threads=1), "default": lambda: native(strict_fp=False, threads=2)})


def native(*, strict_fp: bool, threads: int) -> Engine:
    """An engine that compiles everything, and keeps nothing."""
    return Engine("cpu", threads=threads, strict_fp=strict_fp, verify=True, eager=True, defects=True, cache=Cache(None))


def compare(case: Case, ways: Ways | None = None) -> Outcome:
    """Runs a case in all ways."""
    try:
        program, found = Workspace().load_text(case.source)
        if any(d.severity == "error" for d in found):
            raise SacError(*found)
        (entry,) = program.main.own("run")
        key = program.key(entry, ())
    except SacError as error:
        return Outcome(case, error.diagnostics[0].code, {}, refused_before=True)
    args = tuple(ord(a) if isinstance(a, str) else a for a in case.args)
    expected, _ = _run(program, key, args, None)
    different: dict[str, Result] = {}
    compiled, refused = 0, []
    for name, make in (ways or Ways()).makers.items():
        engine = make()
        found_, _ = _run(program, key, args, engine)
        if not same(expected, found_, strict="strict" in name):
            different[name] = found_
        for site in engine.entered():
            compiled += len(site.versions)
            refused += [r.reason for r in site.refused.values()]
    return Outcome(case, expected, different, compiled, tuple(refused))


def _run(program: Program, key: str, args: Sequence[Any], engine: Engine | None) -> tuple[Result, Evaluator]:
    evaluator = Evaluator(program, World.captured(), engine=engine, strict_fp=engine is None or engine.options.strict_fp)
    try:
        return evaluator.call(key, args), evaluator
    except SacError as error:
        d = error.diagnostics[0]
        return f"{d.code} {d.message} at {d.span.start if d.span else None}", evaluator


def same(a: Any, b: Any, *, strict: bool) -> bool:
    """Whether two results agree: to the last bit, or, in the default mode, floating-point numbers up to rounding."""
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(same(x, y, strict=strict) for x, y in zip(a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return _close(a, b, strict) if a.dtype.kind == "f" else bool((a == b).all())
    return _close(np.float64(a), np.float64(b), strict) if isinstance(a, float) else bool(a == b)


def _close(a: Any, b: Any, strict: bool) -> bool:
    if strict:
        return bool(np.array_equal(np.where(np.isnan(a), 0.0, a), np.where(np.isnan(b), 0.0, b)) and np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)]))
    tolerance = 1e-3 if a.dtype == np.float32 else 1e-8
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
