"""Running functions of SaC text as graphs, for tests: specialised, verified, evaluated, and compared with the
interpreter."""

from __future__ import annotations

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.values import Value
from sacpy.interp.world import World
from sacpy.jit.ir.graph import Unit
from sacpy.jit.ir.graph_verify import verify
from sacpy.jit.run.outline import OutlinedProgram
from sacpy.jit.specialise import Argument, Specialiser
from sacpy.lang.core import Program
from sacpy.lang.diagnostics import SacError
from sacpy.workspace import Workspace
from tests.jit.graph_evaluator import evaluate

HEAD = "use Array: all; use Math: all; use MathArray: all; use Structures: all; "
MAIN = " int main() { return 0; }"


class Subject:
    """A program made of definitions, the key of one of its functions, and what runs it."""

    def __init__(self, text: str, name: str = "f") -> None:
        self.program, _ = Workspace().load_text(HEAD + text + MAIN)
        (entry,) = self.program.main.own(name)
        self.key = self.program.key(entry, ())
        self.specialiser = Specialiser(self.program)

    def unit(self, *shapes: tuple[int | None, ...]) -> Unit:
        """The function specialised for arguments of these shapes."""
        params = self.program.signature(self.key).params
        unit = self.specialiser.specialise(self.key, [Argument(p.base, s) for p, s in zip(params, shapes, strict=True)])
        verify(unit)
        return unit

    def interpreted(self, *args: Value) -> tuple[Value, ...]:
        """What the interpreter gives; floating-point sums in the program's order."""
        return Evaluator(self.program, strict_fp=True).call(
            self.key, tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
        )


def shapes_of(args: Sequence[Value], *, fixed: int) -> list[tuple[int | None, ...]]:
    """The shapes of arguments, extents above `fixed` left open (but not the lengths of short int vectors)."""
    return [
        a.shape
        if isinstance(a, np.ndarray) and a.ndim == 1 and a.dtype == np.int32 and a.size <= 8
        else tuple(e if e <= fixed else None for e in np.shape(a))
        for a in args
    ]


def agree(subject: Subject, *args: Value) -> None:
    """Asserts that graph and interpreter give the same bits, with small extents fixed and with open ones."""
    wanted = subject.interpreted(*args)
    for fixed in (4, -1):
        got = evaluate(subject.unit(*shapes_of(args, fixed=fixed)), args)
        for g, w in zip(got, wanted, strict=True):
            assert identical(g, w), (subject.key, args, g, w)


def identical(a: Any, b: Any) -> bool:
    """Whether two values are the same bits."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return (
            isinstance(a, np.ndarray)
            and isinstance(b, np.ndarray)
            and a.shape == b.shape
            and a.dtype == b.dtype
            and a.tobytes() == b.tobytes()
        )
    return type(a) is type(b) and repr(a) == repr(b)


# ---------------------------------------------------------------- whole programs

CALLS = 2  # of each function that are recorded
LARGEST = 1000  # elements of the arguments of a call that is recorded
SLOW = 0.02  # seconds in the interpreter, from which on a call is left out

Calls = list[tuple[list[Value], list[Value]]]


class Recorder(Evaluator):
    """Runs a program and remembers arguments and results of its functions."""

    def __init__(self, program: Program, world: World) -> None:
        super().__init__(program, world, strict_fp=True)
        self.calls: dict[str, Calls] = defaultdict(list)

    def _define(self, key: str, name: str) -> None:
        super()._define(key, name)
        signature = self.program.signature(key)
        if signature.native is not None:
            return
        function, count, given = self.namespace[name], len(signature.params), len(signature.results)

        def recorded(*args: Value, **options: Any) -> Any:
            seen = self.calls[key]
            if len(seen) >= CALLS or sum(np.size(a) for a in args[:count]) > LARGEST:
                return function(*args, **options)
            before: list[Value] = [_copied(a) for a in args[:count]]
            seen.append((before, []))
            start = perf_counter()
            result = function(*args, **options)
            if perf_counter() - start > SLOW:
                return result
            found = result if isinstance(result, tuple) else (result,)
            seen[[id(b) for b, _ in seen].index(id(before))] = (before, [_copied(r) for r in found[:given]])
            return result

        self.namespace[name] = recorded


def _copied(value: Value) -> Value:
    return value.copy() if isinstance(value, np.ndarray) else value


def recorded_calls(path: Path) -> tuple[Program, dict[str, Calls]]:
    """The program in a file with its regions, and the calls that came to an end while it ran. What it writes is thrown
    away."""
    path = path.resolve()
    original, _ = Workspace(search=[path.parent]).load(path)
    program = OutlinedProgram(original)
    given = path.with_suffix(".in")
    recorder = Recorder(program, World.captured(given.read_bytes() if given.exists() else b""))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.suppress(SacError, Exit):
        recorder.call(original.main_key(), ())
    return program, {
        key: [(a, r) for a, r in calls if len(r) == len(program.signature(key).results)]
        for key, calls in recorder.calls.items()
    }
