"""Gates: compiled code as a function of Python's own kind, for calls whose arguments have the types and shapes of some
others, and whose results are small.

In: the signature of a unit, and the arguments of one call. Out: something to call, which looks at its arguments, calls
the code, and makes the results, all in machine code: `sacpy_gate` of the runtime. Between Python and a call of a few
microseconds nothing else costs as little. What it is to expect and to do stands in a table of words, a record for each
argument, for each parameter of the code, and for each result.

Arrays are looked at in NumPy's C structure, and numbers in CPython's: where these do not look as they should, there are
no gates. Results are copied into arrays that NumPy makes, which for small ones takes less than to hand over memory.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import sysconfig
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sacpy.interp.values import DTYPES, Value
from sacpy.jit.host.gate_text import (
    ARGUMENT,
    AXES,
    COUNT,
    FUNCTIONS,
    HEAD,
    INPUT,
    MOST_ARGUMENTS,
    MOST_WORDS,
    RESULT,
    SMALL,
)  # fmt: skip
from sacpy.lang.types import BITS

if TYPE_CHECKING:
    from sacpy.jit.host.signature import Signature

LARGEST = 1 << 16  # bytes of results that are copied
_ARRAY, _DOUBLE, _INT, _BOOL = range(4)
_ELEMENTS = {"i8": 2, "u8": 2, "f8": 2, "f4": 3, "u4": 3, "i4": 4, "u1": 5, "b1": 5, "i1": 6}  # how one is read
_SCALARS = {
    "double": 0,
    "float": 1,
    "ulong": 3,
    "ulonglong": 3,
    "bool": 4,
}  # how one is made; 2: of other whole numbers
_NEW_ARRAY = 94  # of NumPy's functions, PyArray_NewFromDescr


class Gate:
    """What calls go through. `call` gives `missed` where the arguments are others, a check has failed, or as many calls
    have gone through as `open` said."""

    def __init__(self, words: Sequence[int], kept: tuple[Any, ...]) -> None:
        self._words = np.array(words, np.int64)
        self._given = 0
        method = _method()
        made = ctypes.pythonapi["PyCFunction_NewEx"]
        made.restype, made.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
        # the second is its self, which is handed to the code; the third its module, which keeps alive what it uses
        self.call: Any = made(ctypes.addressof(method), self._words, (*kept, method, self._words))

    def taken(self) -> int:
        """The calls since it was opened, or since this was asked last."""
        left = int(self._words[COUNT])
        found, self._given = self._given - left, left
        return found

    def open(self, calls: int) -> None:
        """Lets so many calls pass."""
        self._words[COUNT] = self._given = calls

    def close(self) -> None:
        """Lets none pass any more."""
        self._words[COUNT] = self._given = 0


def gate(
    s: Signature, entry: int, control: int, values: Sequence[Value], results: Sequence[Value], missed: object, keep: Any
) -> Gate | None:
    """A gate for arguments like these, which gave such results. None where there can be none."""
    if not _is_possible() or len(values) > MOST_ARGUMENTS or max(len(s.inputs), len(s.results)) > MOST_WORDS - 1:
        return None
    if sum(r.nbytes for r in results if type(r) is np.ndarray) > LARGEST:
        return None
    from sacpy.jit.host.native import usual_range

    bases = {i.argument: base for i, base in zip(s.inputs, s.params) if i.kind == "scalar" and base in BITS}
    arguments = [_argument(v, None if k not in bases else usual_range(bases[k], v)) for k, v in enumerate(values)]
    inputs = [_input(i.kind, i.argument, i.at, values) for i in s.inputs] + [(0, 0, 0)] * bool(s.takes)
    made = [_result(o, s.results) for o in s.outputs]
    if None in arguments or None in inputs or None in made:
        return None
    words = [0, entry, control, len(values), len(inputs), len(made), id(missed), id(np.ndarray), *_functions()]
    assert len(words) == HEAD
    for record, size in [(a, ARGUMENT) for a in arguments] + [(i, INPUT) for i in inputs] + [(m, RESULT) for m in made]:
        assert record is not None and len(record) <= size
        words += [*record, *[0] * (size - len(record))]
    return Gate(words, (missed, keep, *(v.dtype for v in values if type(v) is np.ndarray), *DTYPES.values()))


def _argument(value: Value, limits: tuple[int, int] | None) -> tuple[int, ...] | None:
    """What an argument must be."""
    match value:
        case np.ndarray() if type(value) is np.ndarray and 0 < value.ndim <= AXES:
            dtype = value.dtype
            return id(np.ndarray), _ARRAY, id(dtype), value.ndim, dtype.itemsize - 1, *value.shape
        case bool():
            return id(bool), _BOOL
        case float() if type(value) is float:
            return id(float), _DOUBLE
        case int() if type(value) is int and limits is None:
            return id(int), _INT, -(1 << 63), (1 << 63) - 1
        case int() if type(value) is int and limits is not None and limits[1] < 1 << 63:
            return id(int), _INT, *limits
    return None


def _input(kind: str, argument: int, at: int, values: Sequence[Value]) -> tuple[int, int, int] | None:
    """Where a parameter of the code comes from: 0, a number; 1, an argument; 2 and on, an element of one."""
    value = values[argument]
    if type(value) is not np.ndarray:
        return None if kind != "scalar" else (1, argument, 0)
    if kind == "extent":
        return 0, value.shape[at], 0
    if kind == "array":
        return 1, argument, 0
    code = _ELEMENTS.get(value.dtype.str[1:])
    return None if code is None else (code, argument, at * value.dtype.itemsize)


def _result(output: Any, bases: Sequence[str]) -> tuple[int, ...] | None:
    """How a result is made."""
    if output.kind == "scalar":
        return _SCALARS.get(bases[output.positions[0]], 2), output.positions[0]
    if output.part is not None or len(output.extents) > AXES or len(output.positions) > SMALL:
        return None
    dtype = DTYPES[output.base]
    axes = [x for e in output.extents for x in ((0, e) if isinstance(e, int) else (1, e[1]))]
    axes += [0] * (2 * AXES - len(axes))
    kind = 5 if output.kind == "array" else 6
    head = kind, next(iter(output.positions), 0), id(dtype), dtype.itemsize, len(output.extents), len(output.positions)
    return (*head, *axes, *output.positions)


# ---------------------------------------------------------------- CPython and NumPy


@functools.cache
def _is_possible() -> bool:
    """Whether objects look as the code expects."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED") or sys.byteorder != "little":
        return False
    if object.__basicsize__ != 16 or struct.calcsize("P") != 8:
        return False
    if ctypes.c_double.from_address(id(value := 0.1) + 16).value != value:
        return False
    probes: list[np.ndarray[Any, Any]] = [np.zeros((3, 2)), np.zeros((4, 3), np.int32)[::2], np.zeros(0, bool)]
    return all(map(_looks_right, probes))


def _looks_right(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array's structure is the one that is known."""
    word, half, at = ctypes.c_int64.from_address, ctypes.c_int32.from_address, id(array)
    extents = [word(word(at + 32).value + 8 * k).value for k in range(array.ndim)]
    return (
        word(at + 8).value == id(np.ndarray)
        and word(at + 16).value == array.__array_interface__["data"][0]
        and half(at + 24).value == array.ndim
        and extents == list(array.shape)
        and word(at + 56).value == id(array.dtype)
        and half(at + 64).value & 0x101 == 0x100 | array.flags.c_contiguous
    )


@functools.cache
def _functions() -> tuple[int, ...]:
    """The addresses of what the code calls."""
    from numpy._core import _multiarray_umath as numpy_core  # type: ignore[attr-defined]

    pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(numpy_core._ARRAY_API, None)
    new = ctypes.c_void_p.from_address(table + 8 * _NEW_ARRAY).value or 0
    own = {"True": id(True), "False": id(False), "PyArray_NewFromDescr": new}
    return tuple(own.get(name) or ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value or 0 for name in FUNCTIONS)


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


@functools.cache
def _method() -> _Method:
    from sacpy.jit.host.loading import runtime

    return _Method(b"call", runtime()["sacpy_gate"], 0x80, None)  # METH_FASTCALL


__all__ = ["Gate", "gate"]
