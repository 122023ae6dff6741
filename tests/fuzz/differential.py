"""Runs one random program in several ways, and compares.

In: a `Case`. Out: an `Outcome`: what the interpreter gives for each call (values, or the code of an error with its place), the ways that give something else, and what was compiled. Natively everything is compiled that the compiler takes, graphs are verified between passes, and a defect of the compiler is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.engine import Engine
from sacpy.jit.graph import Let
from sacpy.jit.host import chunks, parallel
from sacpy.jit.passes import dead_code, fold_withloops
from sacpy.lang.core import Program
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace
from tests.fuzz.programs import Case

Result = tuple[Any, ...] | str
Ways = Mapping[str, Callable[[], Engine]]


@dataclass(frozen=True)
class Outcome:
    """What came of a case. `expected`: of each call the values, or an error as text; `different`: by way, what it gave instead; `engines`: by way. `refused_before`: the program is wrong before it runs."""

    case: Case
    expected: list[Result]
    different: dict[str, list[Result]]
    engines: dict[str, Engine]
    refused_before: str = ""


def native(*, strict_fp: bool, threads: int, cache: Cache | None = None) -> Engine:
    """An engine that compiles everything, and by default keeps nothing."""
    return Engine("cpu", threads=threads, strict_fp=strict_fp, verify=True, eager=True, defects=True, cache=Cache(None) if cache is None else cache)


WAYS: Ways = {"strict": lambda: native(strict_fp=True, threads=1), "default": lambda: native(strict_fp=False, threads=2)}


@contextmanager
def small_chunks() -> Iterator[None]:
    """Inside, loops are spread over threads that have little work."""
    with patch.object(chunks, "WORTH", 60.0), patch.object(chunks, "PER_CHUNK", 30.0), patch.object(parallel, "WORTH", 60.0):
        yield


def compare(case: Case, ways: Ways = WAYS) -> Outcome:
    """Runs a case in all ways."""
    try:
        program, found = Workspace().load_text(case.source)
        if any(d.severity == "error" for d in found):
            raise SacError(*found)
        keys = {name: program.key(program.main.own(name)[0], ()) for name, _ in case.calls}
    except SacError as error:
        return Outcome(case, [], {}, {}, f"{error.diagnostics[0].code} {error.diagnostics[0].message}")
    expected = _run(program, keys, case, None)
    different: dict[str, list[Result]] = {}
    engines = {name: make() for name, make in ways.items()}
    for name, engine in engines.items():
        results = _run(program, keys, case, engine)
        vanished = [k for k, (x, y) in enumerate(zip(expected, results)) if isinstance(x, str) and not isinstance(y, str)]
        if vanished:
            results = _with(results, vanished, _run_in_full(program, keys, case, ways[name]))
        if not all(same(x, y, strict="strict" in name) for x, y in zip(expected, results, strict=True)):
            different[name] = results
    return Outcome(case, expected, different, engines)


def _run(program: Program, keys: Mapping[str, str], case: Case, engine: Engine | None) -> list[Result]:
    evaluator = Evaluator(program, World.captured(), engine=engine, strict_fp=engine is None or engine.options.strict_fp)
    results: list[Result] = []
    for name, args in case.calls:
        values = [ord(a) if isinstance(a, str) else a.copy() if isinstance(a, np.ndarray) else a for a in args]
        try:
            found = evaluator.call(_fitting(program, name, keys[name], values), tuple(values))
            results.append(tuple(r.copy() if isinstance(r, np.ndarray) else r for r in found))
        except SacError as error:
            d = error.diagnostics[0]
            results.append(f"{d.code} {d.message} at {d.span.start if d.span else None}")
        for a, b in zip(values, args):
            assert not isinstance(a, np.ndarray) or np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), "an argument was changed"
    return results


def _with(results: list[Result], at: list[int], others: list[Result]) -> list[Result]:
    return [others[k] if k in at else r for k, r in enumerate(results)]


def _run_in_full(program: Program, keys: Mapping[str, str], case: Case, make: Callable[[], Engine]) -> list[Result]:
    """Compiled so that all code is kept. An error in code whose value nobody uses may vanish; then it is there now."""

    def let(self: Any, s: Any) -> Any:
        if dead_code._may_fail(s.rhs):
            self.use(s.targets)
        return known(self, s)

    def block(self: Any, b: Any) -> Any:
        for s in b.statements:
            if isinstance(s, Let) and dead_code._may_fail(s.rhs):
                self.use(s.targets)
        return whole(self, b)

    known, whole = dead_code._Liveness.let, dead_code._Liveness.block
    with patch.object(dead_code._Liveness, "let", let), patch.object(dead_code._Liveness, "block", block), patch.object(fold_withloops, "run", lambda unit: unit):
        return _run(program, keys, case, make())


def _fitting(program: Any, name: str, key: str, values: list[Any]) -> str:
    """Of overloads by rank, the one for these arguments."""
    keys = [program.key(entry, ()) for entry in program.main.own(name)]
    if len(keys) == 1:
        return key
    scalar = [k for k in keys if all(slot.pattern is None for slot in program.signature(k).params)]
    return next((k for k in keys if (k in scalar) == all(not isinstance(v, np.ndarray) for v in values)), key)


def same(a: Any, b: Any, *, strict: bool) -> bool:
    """Whether two results agree: to the last bit, or, in the default mode, floating-point numbers up to rounding."""
    if isinstance(a, str) or isinstance(b, str):
        return bool(isinstance(a, str) and isinstance(b, str) and a == b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(same(x, y, strict=strict) for x, y in zip(a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return _close(a, b, strict) if a.dtype.kind == "f" else bool((a == b).all())
    if not isinstance(a, float):
        return bool(a == b)
    with np.errstate(all="ignore"):
        single = np.float64(a) == np.float32(a) and np.float64(b) == np.float32(b)
    return _close(np.float32(a), np.float32(b), strict) if single else _close(np.float64(a), np.float64(b), strict)


def _close(a: Any, b: Any, strict: bool) -> bool:
    if strict:
        nan = np.isnan(a)
        return bool(np.array_equal(nan, np.isnan(b)) and np.array_equal(a[~nan] if a.ndim else a, b[~nan] if b.ndim else b, equal_nan=True) and np.array_equal(np.signbit(a) | nan, np.signbit(b) | nan))
    tolerance = 1e-3 if a.dtype == np.float32 else 1e-8  # sums of numbers of either sign lose some of the digits they have
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
