"""Compiled code as something to call with the interpreter's values.

In: an object, and what the unit says of its parameters and results. Out: `NativeFunction`, whose `call` takes and gives values as the interpreter has them. Arrays are passed without copying; results are NumPy arrays that own the memory that the code allocated.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import asarray, ascontiguousarray, ndarray

from sacpy.interp.values import DTYPES, Value
from sacpy.jit.failures import CheckFailed, Interrupted, NativeFailure, OutOfMemory, TooDeep
from sacpy.jit.graph import Input, Output, Unit
from sacpy.jit.host import layout
from sacpy.jit.host.compile import Library, load_entry, runtime
from sacpy.jit.options import Options
from sacpy.nodes import Node, Record, field

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_FORMATS = {"double": "d", "float": "f4x", "bool": "?7x", "ulong": "Q", "ulonglong": "Q"}


class Context:
    """What Python and running code share: the stop flag, the threads that loops may use, the memory that a call may take, and counters. One may serve many functions."""

    def __init__(self, threads: int = 1, memory: int = 0) -> None:
        self._words = (ctypes.c_int64 * layout.CONTROL_FIELDS)()
        self.address = ctypes.addressof(self._words)
        self._words[layout.CONTROL_THREADS] = threads
        self._words[layout.CONTROL_MEMORY] = memory

    @property
    def stop(self) -> bool:
        """Set, by any thread, to end the calls that run; they raise `Interrupted`."""
        return bool(self._words[layout.CONTROL_STOP])

    @stop.setter
    def stop(self, value: bool) -> None:
        self._words[layout.CONTROL_STOP] = value

    @property
    def memory(self) -> int:
        """The bytes that a call may take for arrays; 0: any."""
        return self._words[layout.CONTROL_MEMORY]

    @memory.setter
    def memory(self, value: int) -> None:
        self._words[layout.CONTROL_MEMORY] = value

    @property
    def threads(self) -> int:
        """How many threads loops may use; may be changed between calls."""
        return self._words[layout.CONTROL_THREADS]

    @threads.setter
    def threads(self, value: int) -> None:
        self._words[layout.CONTROL_THREADS] = value

    @property
    def allocations(self) -> int:
        """How many arrays compiled code has allocated."""
        return self._words[layout.CONTROL_ALLOCATIONS]

    @property
    def copied(self) -> int:
        """How many bytes of arguments compiled code has copied, to update them."""
        return self._words[layout.CONTROL_COPIED]


class Signature(Node):
    """What a caller must know of a unit: its parameters and results, and the base types of the root's."""

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    params: tuple[str, ...]
    results: tuple[str, ...]
    recursive: bool = False

    @staticmethod
    def of(unit: Unit) -> Signature:
        """The signature of a unit."""
        from sacpy.jit.host.lowering import recursive

        root = unit.root
        bases = tuple(a.base for a in root.body.results)
        return Signature(unit.inputs, unit.outputs, tuple(p.base for p in root.params), bases, bool(recursive(unit)))


class _Memory:
    """A block that compiled code allocated, seen by NumPy; freed with the last array that uses it."""

    __slots__ = ("__array_interface__", "_free", "address")

    def __init__(self, address: int, dtype: str, shape: tuple[int, ...], free: Callable[[int], Any]) -> None:
        self.address, self._free = address, free
        self.__array_interface__ = {"data": (address, False), "typestr": dtype, "shape": shape, "version": 3}

    def __del__(self) -> None:
        self._free(self.address)


class NativeFunction(Record):
    """Compiled code of a unit. Safe to call from several threads at once."""

    signature: Signature
    context: Context
    library: Library
    address: int
    _entry: Any = field(init=False)
    _free: Callable[[int], Any] = field(init=False)
    _pack: Callable[..., bytes] = field(init=False)
    _unpack: Callable[[Any], tuple[Any, ...]] = field(init=False)
    _out: Any = field(init=False)
    _getters: list[Callable[[Sequence[Value]], Any]] = field(init=False)
    _makers: list[Callable[[tuple[Any, ...]], Value]] = field(init=False)

    def __post_init__(self) -> None:
        self._entry = _ENTRY(self.address)
        self._free = _discard()
        s = self.signature
        self._pack = struct.Struct("<" + "".join("q" if i.kind == "array" else _FORMATS.get(base, "q") for i, base in zip(s.inputs, s.params))).pack
        arrays = {o.positions[0] for o in s.outputs if o.kind == "array"}
        words = "".join("q" if k in arrays else _FORMATS.get(base, "q") for k, base in enumerate(s.results))
        self._unpack = struct.Struct("<" + (words or "8x")).unpack_from
        self._out = ctypes.c_int64 * max(1, len(s.results))
        self._getters = [_getter(i) for i in s.inputs]
        self._makers = [self._maker(o) for o in s.outputs]

    def call(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """The results for the arguments `values` (Python scalars, NumPy arrays of the declared types and shapes). Raises `CheckFailed`, `OutOfMemory`, `Interrupted`, `TooDeep`."""
        values = tuple([ascontiguousarray(v) if type(v) is ndarray and not v.flags.c_contiguous else v for v in values])
        packed = self._pack(*[get(values) for get in self._getters])
        out = self._out()
        status = self._entry(self.context.address, packed, out)
        if status == layout.TOO_DEEP:
            status = self._call_deep(packed, out)
        if status:
            raise _failure(status, out[0])
        found = self._unpack(out)
        return tuple([make(found) for make in self._makers])

    def _call_deep(self, packed: bytes, out: Any) -> int:
        """Runs the call again, on a thread with a large stack."""
        return _on_large_stack(self._entry, self.context, packed, out)

    def _maker(self, o: Output) -> Callable[[tuple[Any, ...]], Value]:
        """What makes one result of the core function."""
        if o.kind == "scalar":
            at = o.positions[0]
            return lambda found: found[at]
        shape = _shape(o)
        if o.kind == "small":
            return lambda found: np.array([found[p] for p in o.positions], DTYPES[o.base]).reshape(shape(found))
        at, dtype, free = o.positions[0], DTYPES[o.base].str, self._free
        return lambda found: asarray(_Memory(found[at], dtype, shape(found), free))


def _shape(o: Output) -> Callable[[tuple[Any, ...]], tuple[int, ...]]:
    """What gives the extents of an array among the results."""
    if all(isinstance(e, int) for e in o.extents):
        fixed = tuple(e for e in o.extents if isinstance(e, int))
        return lambda found: fixed
    if len(o.extents) == 1:
        (only,) = o.extents
        assert not isinstance(only, int)
        at = only[1]
        return lambda found: (found[at],)
    return lambda found: tuple([e if isinstance(e, int) else found[e[1]] for e in o.extents])


def _getter(i: Input) -> Callable[[Sequence[Value]], Any]:
    """What gives the word of a parameter."""
    n, at = i.argument, i.at
    match i.kind:
        case "scalar":
            return lambda values: values[n]
        case "element":
            return lambda values: values[n].reshape(-1)[at].item()
        case "extent":
            return lambda values: values[n].shape[at]
    address = _address_of()
    return lambda values: address(values[n])


@functools.cache
def _address_of() -> Callable[[Any], int]:
    """What gives the address of an array's elements. NumPy's way takes most of a microsecond; so it is read out of the C structure, whose first field after the object's head it is, where that can be seen to work."""
    word, head = ctypes.c_size_t.from_address, object.__basicsize__
    for probe in (np.zeros(3), np.zeros((2, 2), bool)[1:], np.zeros(0, np.int32)):
        if sys.implementation.name != "cpython" or word(id(probe) + head).value != probe.__array_interface__["data"][0]:
            return lambda array: int(array.__array_interface__["data"][0])
    return lambda array: word(id(array) + head).value


def _failure(status: int, site: int) -> NativeFailure:
    match status:
        case layout.CHECK_FAILED:
            return CheckFailed(site)
        case layout.OUT_OF_MEMORY:
            return OutOfMemory()
        case layout.INTERRUPTED:
            return Interrupted()
    return TooDeep()


def _discard() -> Callable[[int], Any]:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runtime()["sacpy_discard"])


LARGE_STACK = 1 << 30  # bytes of address space; pages are only used as they are touched
_stack_size_lock = threading.Lock()


def _on_large_stack(entry: Any, context: Context, packed: bytes, out: Any) -> int:
    """Calls an entry on a thread of its own with a large stack, most of which it may use."""
    found: list[int] = []

    def run() -> None:
        out[0] = LARGE_STACK - (1 << 20)
        found.append(entry(context.address, packed, out))

    with _stack_size_lock:
        before = threading.stack_size(LARGE_STACK)
        try:
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
        except RuntimeError:  # no room for such a stack
            return layout.TOO_DEEP
        finally:
            threading.stack_size(before)
    thread.join()
    return found[0]


def load(code: bytes, signature: Signature, options: Options, context: Context | None = None) -> NativeFunction:
    """An object made by `compile_object`, ready to be called."""
    library, address = load_entry(code, layout.ENTRY)
    return NativeFunction(signature, context or Context(options.threads), library, address)


__all__ = ["Context", "NativeFunction", "Signature", "load"]
