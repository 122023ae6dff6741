"""What the tests of array short-circuiting share: functions of SaC compiled with and without it, run, and compared with
the interpreter; and how many arrays they asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.lowering import lower
from sacpy.jit.host.native import Context, NativeFunction, Signature, load
from sacpy.jit.ir.graph import Unit
from sacpy.jit.options import Options
from sacpy.jit.run.compiler import Clock, optimised, specialised
from sacpy.jit.specialise import Specialiser
from sacpy.lang.elaborate.program import ElaboratedProgram
from sacpy.workspace import Workspace
from tests.jit.native_tools import same


@cache
def program(text: str) -> ElaboratedProgram:
    return Workspace().load_text(text)[0]


def key_of(text: str, name: str) -> str:
    (key,) = (k for k in program(text).user_keys([]) if k.partition("::")[2].partition("/")[0] == name)
    return key


def unit_of(text: str, name: str, args: Sequence[Any], options: Options) -> Unit:
    """The optimised graph of a function for arguments of any extents."""
    kind = tuple((None,) * np.ndim(a) for a in args)
    plain = specialised(Specialiser(program(text)), program(text), key_of(text, name), kind, options, Clock())
    return optimised(plain, options, Clock())


def native(text: str, name: str, args: Sequence[Any], **options: Any) -> NativeFunction:
    """A function as native code."""
    chosen = Options(**{"strict_fp": True, "verify": True, **options})
    unit = unit_of(text, name, args, chosen)
    context = Context(chosen.threads, 1 << 33)
    return load(compile_object(lower(unit, chosen), chosen), Signature.of(unit), chosen, context)


def interpreted(text: str, name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(Evaluator(program(text), World.captured()).call(key_of(text, name), tuple(args)))


def arrays(text: str, name: str, *args: Any, **options: Any) -> int:
    """How many arrays a function asks for; it gives what the interpreter gives, and leaves its arguments alone."""
    function = native(text, name, args, **options)
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    found, expected = function.call(tuple(args)), interpreted(text, name, before)
    assert len(found) == len(expected)
    for x, y in zip(found, expected):
        assert same(np.asarray(x), np.asarray(y)), (name, x, y)
    for a, b in zip(args, before):
        assert same(a, b), "an argument was changed"
    return function.context.allocations
