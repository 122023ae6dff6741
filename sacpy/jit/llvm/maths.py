"""Mathematical functions: which routine computes them.

In: a function's name, its base type, operands as text. Out: the text of its value.

Strict: the interpreter's own, so that results are bit-equal: the C library's in double precision (rounded to 32 bits
for `float`), or, for the few that Python computes by itself, the interpreter's function, called back. Default: the C
library's of the operand's precision, with its vector version where a loop is vectorised.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

from sacpy.jit.llvm.legal import LLVM_TYPES, Code
from sacpy.jit.llvm.processor import register_sizes
from sacpy.lang import reals

UNARY = tuple(reals.TRANSCENDENTAL)
BINARY = ("atan2", "pow", "hypot")
MATHS = (*UNARY, *BINARY)
PYTHON_OWN = ("tgamma", "lgamma", "hypot")  # CPython's math module computes these by itself, not through libm
CALLBACK = "sacpy_math_"
VECTOR = "_ZGV"  # with this begin the names in the vector library, by its ABI
_LETTERS = {16: "b", 32: "d", 64: "e"}  # bytes of a vector register: the letter that names the vector ABI


def call_of_maths(code: Code, name: str, base: str, args: Sequence[str], *, strict: bool) -> str:
    """A call of the routine that computes a function."""
    type_ = LLVM_TYPES[base]
    if not strict:
        return _call(
            code, name + ("f" if base == "float" else ""), type_, args, _vector_note(code, name, base, len(args))
        )
    routine = CALLBACK + name if name in PYTHON_OWN else name
    if base == "double":
        return _call(code, routine, type_, args, "")
    widened = [code.op(f"fpext float {a} to double") for a in args]
    return code.op(f"fptrunc double {_call(code, routine, 'double', widened, '')} to float")


def _call(code: Code, routine: str, type_: str, args: Sequence[str], note: str) -> str:
    pure = code.module.attribute("nounwind willreturn memory(none)")
    code.module.declare(f"@{routine}", f"declare {type_} @{routine}({', '.join([type_] * len(args))}) {pure}")
    return code.op(f"call {type_} @{routine}({', '.join(f'{type_} {a}' for a in args)}){note or ' nobuiltin'}")


def _vector_note(code: Code, name: str, base: str, arity: int) -> str:
    """The attribute of a call that tells LLVM's vectoriser of the vector versions that the machine has."""
    scalar, type_ = name + ("f" if base == "float" else ""), LLVM_TYPES[base]
    pure = code.module.attribute("nounwind willreturn memory(none)")
    variants = []
    for routine, lanes in vector_routines_of(name, base, arity):
        vector = f"<{lanes} x {type_}>"
        if f"@{routine}" not in code.module.declarations:
            code.module.declare(f"@{routine}", f"declare {vector} @{routine}({', '.join([vector] * arity)}) {pure}")
            code.module.vector_routines.append(f"@{routine}")
        variants.append(f"_ZGV_LLVM_N{lanes}{'v' * arity}_{scalar}({routine})")
    if not variants:
        return ""
    return " " + code.module.attribute(
        f'nounwind willreturn memory(none) "vector-function-abi-variant"="{",".join(variants)}"'
    )


@functools.cache
def vector_routines_of(name: str, base: str, arity: int) -> tuple[tuple[str, int], ...]:
    """The vector versions of a function that the machine can run: their names and lanes."""
    suffix, size = ("f", 4) if base == "float" else ("", 8)
    found = (
        (f"{VECTOR}{_LETTERS[register]}N{register // size}{'v' * arity}_{name}{suffix}", register // size)
        for register in register_sizes()
    )
    return tuple((routine, lanes) for routine, lanes in found if has_routine(routine))


@functools.cache
def vector_library() -> ctypes.CDLL | None:
    """glibc's vector library, where there is one."""
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None


@functools.cache
def has_routine(name: str) -> bool:
    """Whether the vector library has a routine."""
    library = vector_library()
    return library is not None and hasattr(library, name)


def vector_names() -> list[str]:
    """The vector library's routines that compiled code may call."""
    return [
        routine
        for names, arity in ((UNARY, 1), (BINARY, 2))
        for name in names
        for base in ("double", "float")
        for routine, _ in vector_routines_of(name, base, arity)
    ]


@functools.cache
def callbacks() -> dict[str, Any]:
    """C functions that call the interpreter's, for those that only Python has."""
    found: dict[str, Any] = {}
    for name in PYTHON_OWN:
        arity = 2 if name in BINARY else 1
        found[CALLBACK + name] = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * arity)(reals.FUNCTIONS[name])
    return found
