"""Runs one random program in several ways, and compares.

In: a `Case`. Out: an `Outcome`: what the interpreter gives for each call (values, or the code of an error with its
place), the ways that give something else, and what was compiled. Natively everything is compiled that the compiler
takes, graphs are verified between passes, and a defect of the compiler is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.failures import Unsupported
from sacpy.jit.host import compile as compiling
from sacpy.jit.host import split_module
from sacpy.jit.ir.graph import Check, Let, Rhs, Unit, blocks, statements
from sacpy.jit.kinds import Kind
from sacpy.jit.options import Options
from sacpy.jit.passes import argmin_strips, dead_code, fold_withloops, scatter
from sacpy.jit.run import compiler, device_compiler
from sacpy.jit.run.compiler import Clock
from sacpy.jit.run.engine import Engine
from sacpy.jit.schedule import checks_ahead, threads, tiles
from sacpy.jit.specialise import Specialiser, tidy
from sacpy.lang.core import Program
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace
from tests.fuzz import bounds
from tests.fuzz.programs import Case

Result = tuple[Any, ...] | str
Ways = dict[str, Callable[[], Engine]]


@dataclass(frozen=True)
class Outcome:
    """What came of a case. `expected`: of each call the values, or an error as text; `different`: by way, what it gave
    instead; `engines`: by way; `verdicts`: how the results of all calls in all ways compare. `refused_before`: the
    program is wrong before it runs."""

    case: Case
    expected: list[Result]
    different: dict[str, list[Result]]
    engines: dict[str, Engine]
    refused_before: str = ""
    verdicts: Counter[str] = field(default_factory=Counter)


def native(*, strict_fp: bool, threads: int, opt_level: int = 3, cache: Cache | None = None) -> Engine:
    """An engine that compiles everything, and by default keeps nothing."""
    return Engine(
        "cpu",
        threads=threads,
        strict_fp=strict_fp,
        opt_level=opt_level,
        verify=True,
        eager=True,
        defects=True,
        cache=Cache(None) if cache is None else cache,
    )


STRICT: Ways = {"strict": lambda: native(strict_fp=True, threads=1)}
DEFAULT: Ways = {"default": lambda: native(strict_fp=False, threads=2)}
WAYS: Ways = {**STRICT, **DEFAULT}
QUICK_STRICT: Ways = {"strict, quickly": lambda: native(strict_fp=True, threads=1, opt_level=0)}
QUICK_DEFAULT: Ways = {"default, quickly": lambda: native(strict_fp=False, threads=2, opt_level=0)}


@contextmanager
def small_chunks() -> Iterator[None]:
    """Inside, loops are spread over threads, and cut into pieces, that have little work; modules are split that have
    little text."""
    with (
        patch.object(compiling, "WHOLE", 0),
        patch.object(split_module, "SHARE", 100),
        patch.object(threads, "WORTH", 60.0),
        patch.object(threads, "PER_CHUNK", 30.0),
        patch.object(scatter, "ROUNDS", 20),
        patch.object(scatter, "PER_ELEMENT", 1),
        patch.object(tiles, "WIDE", 1),
        patch.object(checks_ahead, "STRETCH", 5),
        patch.object(argmin_strips, "STRETCH", 5),
    ):
        yield


@cache
def workspace() -> Workspace:
    """What loads all programs: the library is opened once."""
    workspace = Workspace()
    workspace.preload()
    return workspace


class Graphs:
    """A program's functions, specialised and optimised once for all ways: neither depends on the options that ways
    differ by."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, Kind, bool], Unit | Unsupported] = {}  # by whether it is for a device, too
        self.better: dict[tuple[int, bool], Unit] = {}

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Inside, compilers take them from here."""
        specialised, optimised = compiler.specialised, compiler.optimised

        def first(
            specialiser: Specialiser,
            program: Program,
            key: str,
            kind: Kind,
            options: Options,
            clock: Clock,
            device: bool = False,
        ) -> Unit:
            if (key, kind, device) not in self.made:
                try:
                    self.made[key, kind, device] = specialised(specialiser, program, key, kind, options, clock, device)
                except Unsupported as refusal:
                    self.made[key, kind, device] = refusal
            found = self.made[key, kind, device]
            if isinstance(found, Unsupported):
                raise found
            return found

        def second(unit: Unit, options: Options, clock: Clock, device: bool = False) -> Unit:
            if (id(unit), device) not in self.better:
                self.better[id(unit), device] = optimised(unit, options, clock, device)
            return self.better[id(unit), device]

        with ExitStack() as stack:
            for module in (compiler, device_compiler):
                stack.enter_context(patch.object(module, "specialised", first))
                stack.enter_context(patch.object(module, "optimised", second))
            yield

    def of_call(self, engine: Engine, key: str, args: tuple[Any, ...]) -> Unit | None:
        """What an engine has compiled for a call; None if it was not compiled as a whole."""
        version = next((site.known(args) for site in engine.entered() if site.key == key), None)
        made = None if version is None else self.made.get((key, version.kind, engine.target == "emulator"))
        return self.better.get((id(made), engine.target == "emulator")) if isinstance(made, Unit) else None

    def of_any(self, engines: Iterable[Engine], key: str, args: tuple[Any, ...]) -> Unit | None:
        """The same of the first engine that has compiled something for a call as a whole."""
        return next((unit for engine in engines if (unit := self.of_call(engine, key, args)) is not None), None)


def compare(case: Case, ways: Ways = WAYS, *, exact: bool = True) -> Outcome:
    """Runs a case in all ways. `exact`: what runs strictly must give the same to the last bit; otherwise its
    mathematical functions may be other ones than the interpreter's, as those of GPUs are."""
    try:
        program, found = workspace().load_text(case.source)
        if any(d.severity == "error" for d in found):
            raise SacError(*found)
        keys = {name: program.key(program.main.own(name)[0], ()) for name, _ in case.calls}
    except SacError as error:
        return Outcome(case, [], {}, {}, f"{error.diagnostics[0].code} {error.diagnostics[0].message}")
    expected = _run(program, keys, case, None)
    outcome = Outcome(case, expected, {}, {name: make() for name, make in ways.items()})
    graphs = Graphs()
    with graphs.shared():
        found_by = {name: _run(program, keys, case, engine) for name, engine in outcome.engines.items()}
    for name, results in found_by.items():
        engine = outcome.engines[name]
        units = [
            None
            if engine.options.strict_fp and exact
            else graphs.of_any(
                (engine, *outcome.engines.values()),
                _fitting(program, called, keys[called], _values(args)),
                tuple(_values(args)),
            )
            for called, args in case.calls
        ]
        verdicts = [
            judged(x, y, unit, _values(args), strict=engine.options.strict_fp and exact)
            for x, y, unit, (_, args) in zip(expected, results, units, case.calls, strict=True)
        ]
        vanished = [
            k
            for k, (x, y, v) in enumerate(zip(expected, results, verdicts))
            if v == DIFFERENT and isinstance(x, str) and not isinstance(y, str)
        ]
        if vanished:
            in_full = _run_in_full(program, keys, case, ways[name])
            for k in vanished:
                if expected[k] == in_full[k]:
                    verdicts[k] = VANISHED
        outcome.verdicts.update(verdicts)
        if DIFFERENT in verdicts:
            outcome.different[name] = [y if v == DIFFERENT else x for x, y, v in zip(expected, results, verdicts)]
    return outcome


EQUAL, BOUNDED, VANISHED, DIFFERENT = (
    "the same",
    "within the bounds of rounding",
    "an error in code whose value nobody uses has vanished",
    "different",
)


def judged(interpreted: Result, compiled: Result, unit: Unit | None, args: list[Any], *, strict: bool) -> str:
    """How two results compare: strictly, or, in the default mode, by the bounds that the compiled graph has for these
    arguments. `unit`: that graph, or another way's where this one has none, None where the function was not compiled as
    a whole."""
    if same(interpreted, compiled):
        return EQUAL
    if strict:
        return DIFFERENT
    if unit is None:
        return (
            "nearly the same, without bounds: the function is not compiled as a whole"
            if nearly(interpreted, compiled)
            else DIFFERENT
        )
    try:
        wanted = bounds.expected(unit, args)
    except bounds.Unclear as unclear:
        return f"without bounds: {unclear}"
    except bounds.Fails:
        return DIFFERENT  # the interpreter has the last word
    if isinstance(interpreted, str) or isinstance(compiled, str):
        return DIFFERENT
    fits = all(
        bounds.within(x, w) and bounds.within(y, w) for x, y, w in zip(interpreted, compiled, wanted, strict=True)
    )
    return BOUNDED if fits else DIFFERENT


def _run(program: Program, keys: Mapping[str, str], case: Case, engine: Engine | None) -> list[Result]:
    evaluator = Evaluator(
        program, World.captured(), engine=engine, strict_fp=engine is None or engine.options.strict_fp
    )
    results: list[Result] = []
    for name, args in case.calls:
        values = _values(args)
        try:
            found = evaluator.call(_fitting(program, name, keys[name], values), tuple(values))
            results.append(tuple(r.copy() if isinstance(r, np.ndarray) else r for r in found))
        except SacError as error:
            d = error.diagnostics[0]
            results.append(f"{d.code} {d.message} at {d.span.start if d.span else None}")
        for a, b in zip(values, args):
            assert not isinstance(a, np.ndarray) or np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), (
                "an argument was changed"
            )
    return results


def _values(args: tuple[Any, ...]) -> list[Any]:
    """The arguments of a call, copied."""
    return [ord(a) if isinstance(a, str) else a.copy() if isinstance(a, np.ndarray) else a for a in args]


def _may_fail(rhs: Rhs) -> bool:
    """Whether there is a check in it."""
    return any(isinstance(s, Check) for b in blocks(rhs) for s in statements(b))


@contextmanager
def in_full() -> Iterator[None]:
    """What is compiled keeps all code that may fail: an error in code whose value nobody uses, which may vanish
    otherwise, is there."""

    def enter(self: Any, b: Any) -> None:
        known(self, b)
        for s in b.statements:
            if isinstance(s, Let) and self.statements[id(s)].fails:
                self.use(s.targets)
                self.keep(self.statements[id(s)])

    known = dead_code._Liveness.enter
    with ExitStack() as stack:
        for owner, name, kept in (
            (dead_code._Liveness, "enter", enter),
            (tidy, "_stays", _may_fail),
            (fold_withloops, "run", lambda unit: unit),
        ):
            stack.enter_context(patch.object(owner, name, kept))
        yield


def _run_in_full(program: Program, keys: Mapping[str, str], case: Case, make: Callable[[], Engine]) -> list[Result]:
    """Compiled so that all code is kept."""
    with in_full():
        engine = make()
        engine.tools.cache = Cache(None)  # what others have left there is not kept in full
        return _run(program, keys, case, engine)


def _fitting(program: Any, name: str, key: str, values: list[Any]) -> str:
    """Of overloads by rank, the one for these arguments."""
    keys = [program.key(entry, ()) for entry in program.main.own(name)]
    if len(keys) == 1:
        return key
    scalar = [k for k in keys if all(slot.pattern is None for slot in program.signature(k).params)]
    return next((k for k in keys if (k in scalar) == all(not isinstance(v, np.ndarray) for v in values)), key)


def same(a: Any, b: Any) -> bool:
    """Whether two results agree to the last bit; one NaN is as good as another."""
    if isinstance(a, str) or isinstance(b, str) or type(a) is not type(b):
        return type(a) is type(b) and bool(a == b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and (_same_bits(a, b) if a.dtype.kind == "f" else bool((a == b).all()))
        )
    return repr(a) == repr(b)


def _same_bits(a: Any, b: Any) -> bool:
    nan = np.isnan(a)
    return bool(
        np.array_equal(nan, np.isnan(b))
        and np.array_equal(a[~nan], b[~nan])
        and np.array_equal(np.signbit(a) | nan, np.signbit(b) | nan)
    )


def nearly(a: Any, b: Any) -> bool:
    """Whether two results agree but for rounding, by a tolerance that has nothing to do with the program: for where
    there are no bounds."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(nearly(x, y) for x, y in zip(a, b))
    if not isinstance(a, float) and not (isinstance(a, np.ndarray) and a.dtype.kind == "f"):
        return same(a, b)
    if np.shape(a) != np.shape(b):
        return False
    tolerance = 1e-3 if getattr(a, "dtype", None) == np.float32 else 1e-8
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
