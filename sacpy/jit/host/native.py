"""Compiled code as something to call with the interpreter's values.

In: an object, and what the unit says of its parameters and results. Out: `NativeFunction`, whose `call` takes and gives
values as the interpreter has them. Arrays are passed without copying; results are NumPy arrays that own the memory that
the code allocated.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import asarray, ascontiguousarray, ndarray

from sacpy.interp.growth import Keeper, address_of, keeper_of
from sacpy.interp.limits import unstruck
from sacpy.interp.values import DTYPES, Value
from sacpy.jit.failures import CheckFailed, Interrupted, NativeFailure, OutOfMemory, TooDeep
from sacpy.jit.host import layout
from sacpy.jit.host.loading import Library, load_entry, runtime
from sacpy.jit.host.signature import Signature
from sacpy.jit.ir.graph import Input
from sacpy.jit.options import Options
from sacpy.lang.types import BITS, SIGNED
from sacpy.nodes import Record, field

if TYPE_CHECKING:
    from sacpy.jit.host.gates import Gate
    from sacpy.jit.ir.parts import Extent

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_FORMATS = {"double": "d", "float": "f4x", "bool": "?7x", "ulong": "Q", "ulonglong": "Q"}


class Context:
    """What Python and running code share: the stop flag, the threads that loops may use, the memory that a call may
    take, and counters. One may serve many functions."""

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


class _Memory(Keeper):
    """A block that compiled code allocated, seen by NumPy; freed with the last array that uses it. `address`: of its
    elements; 0 once it has been given away."""

    __slots__ = ("__array_interface__", "_free", "address")

    def __init__(self, address: int, dtype: str, shape: tuple[int, ...], free: Callable[[int], Any]) -> None:
        self.address, self._free = address, free
        self.__array_interface__ = {"data": (address, False), "typestr": dtype, "shape": shape, "version": 3}

    def __del__(self) -> None:
        if self.address:
            self._free(self.address)

    def _header(self, number: int) -> ctypes.c_int64:
        """A field of the block's header."""
        return ctypes.c_int64.from_address(self.address - layout.HEADER_BYTES + 8 * number)

    def start(self) -> int:
        return self.address

    def capacity(self) -> int:
        return self._header(layout.BYTES).value - layout.HEADER_BYTES if self.address else 0

    def window(self, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int, like: ndarray) -> ndarray:
        size, whole = self.capacity(), like.base
        # else it is one of all bytes, made here before
        if type(whole) is not ndarray or whole.nbytes != size or keeper_of(like) is not self:
            self.__array_interface__ = {"data": (self.address, False), "typestr": "|u1", "shape": (size,), "version": 3}
            whole = asarray(self)
        found: ndarray = ndarray(shape, dtype, whole, offset)
        charged = self._header(layout.CHARGED)
        charged.value = max(charged.value, layout.HEADER_BYTES + offset + found.nbytes)
        return found

    def larger(self, size: int) -> _Memory:
        address = _roomy()(size)
        if not address:
            raise MemoryError
        made = _Memory(address, "|u1", (size,), self._free)
        made._header(layout.CHARGED).value = layout.HEADER_BYTES
        return made


class NativeFunction(Record):
    """Compiled code of a unit. Safe to call from several threads at once. `call` gives the results for a tuple of
    arguments (Python scalars, NumPy arrays of the declared types and shapes). It raises `CheckFailed`, `OutOfMemory`,
    `Interrupted`, `TooDeep`. `giving`, where the unit takes arguments over, does the same with arguments given away: a
    flag for each says whether the caller and everybody else is done with it. One that compiled code has made then need
    not be copied; after a failed check it is as it was, after another failure (`spent`) it may be gone."""

    signature: Signature
    context: Context
    library: Library
    address: int
    call: Callable[[tuple[Value, ...]], tuple[Value, ...]] = field(init=False)
    giving: Callable[[tuple[Value, ...], tuple[bool, ...]], tuple[Value, ...]] | None = field(init=False)
    _entry: Any = field(init=False)
    _free: Callable[[int], Any] = field(init=False)

    def __post_init__(self) -> None:
        self._entry = _ENTRY(self.address)
        self._free = _discard()
        self.call = self._caller(None)
        self.giving = self._caller(None, giving=True) if self.signature.takes else None

    def like(self, values: Sequence[Value]) -> Callable[..., tuple[Value, ...] | None]:
        """What makes calls with arguments of the shapes of these, given one by one, which are contiguous. It gives None
        where an argument is not aligned, or a scalar does not fit or is an int much larger than here, on which the time
        of a call may depend, or the code does not come to an end."""
        return self._caller(values)

    def gate(self, values: Sequence[Value], results: Sequence[Value], missed: object) -> Gate | None:
        """The same in machine code, where results as small as these come back; it gives `missed` for None."""
        from sacpy.jit.host.gates import gate

        return gate(self.signature, self.address, self.context.address, values, results, missed, self)

    def _caller(self, values: Sequence[Value] | None, giving: bool = False) -> Callable[..., Any]:
        """Generates what calls the code: how arguments are packed and results are unpacked is plain text then."""
        s = self.signature
        shapes = None if values is None else [v.shape if type(v) is ndarray else () for v in values]
        arrays = sorted({i.argument for i in s.inputs if i.kind != "scalar"})
        addresses = {i.argument for i in s.inputs if i.kind == "array"}
        body: list[str] = []
        if values is None or shapes is None:
            last = max((i.argument for i in s.inputs), default=-1)
            body.append(f"({''.join(f'a{i}, ' for i in range(last + 1))}*_,) = values")
            body += [f"if not a{i}.flags.c_contiguous: a{i} = ascontiguousarray(a{i})" for i in arrays]
        else:
            for i, base in zip(s.inputs, s.params):
                if i.kind == "scalar" and base not in ("double", "float", "bool"):
                    low, high = usual_range(base, values[i.argument])
                    body.append(f"if not {low} <= a{i.argument} <= {high}: return None")
        body += [f"p{i} = address(a{i})" for i in sorted(addresses)]
        if shapes is not None:
            body += [
                f"if p{i.argument} & {DTYPES[base].itemsize - 1}: return None"
                for i, base in zip(s.inputs, s.params)
                if i.kind == "array"
            ]
        words = [_text(i, shapes) for i in s.inputs]
        if s.takes:
            words.append("mask" if giving else "0")
        if giving:
            body += ["mask, taken = 0, []"]
            body += [
                f"if given[{i}] and (m := block(a{i}, p{i})) is not None: mask |= {1 << k}; taken.append(({1 << k}, "
                f"m, p{i})); m.address = 0"
                for k in s.takes
                for i in (s.inputs[k].argument,)
            ]
        body.append("out = Out()")
        body.append(f"status = entry(control, pack({', '.join(words)}), out)")
        if giving:
            body.append("if status: lost(status, taken, out)")
        elif shapes is None:
            body.append("if status: again(status, values, out)")
        else:
            body.append("if status: return None")
        space: dict[str, Any] = {
            "asarray": asarray, "ascontiguousarray": ascontiguousarray, "array": np.array, "Memory": _Memory,
            "free": self._free, "entry": self._entry,
            "control": self.context.address, "Out": ctypes.c_int64 * max(2, len(s.results)), "block": _block,
            "lost": _lost, "address": address_of(), "again": partial(_again, s, self._entry, self.context),
            "code": self.library, "pack": _packing(s),
        }  # fmt: skip
        pointers = {o.positions[0] for o in s.outputs if o.kind == "array"}
        formats = "".join("q" if k in pointers else _FORMATS.get(base, "q") for k, base in enumerate(s.results))
        space["unpack"] = struct.Struct("<" + (formats or "8x")).unpack_from
        body.append("r = unpack(out)")
        made = []
        for k, o in enumerate(s.outputs):
            shape = f"({_numbers(o.extents)})"
            if o.kind == "scalar":
                made.append(f"r[{o.positions[0]}]")
            elif o.kind == "small":
                space[f"dtype{k}"] = DTYPES[o.base]
                made.append(f"array(({''.join(f'r[{p}], ' for p in o.positions)}), dtype{k}).reshape({shape})")
            elif o.part is None:
                made.append(f"asarray(Memory(r[{o.positions[0]}], {DTYPES[o.base].str!r}, {shape}, free))")
            else:
                from sacpy.jit.host.strides import part_of

                space |= {"part_of": part_of, f"axes{k}": tuple((axis, step) for _, axis, step in o.part[1])}
                whole, starts = _numbers(o.part[0]), _numbers([first for first, _, _ in o.part[1]])
                memory = f"Memory(r[{o.positions[0]}], {DTYPES[o.base].str!r}, ({whole}), free)"
                made.append(f"part_of(asarray({memory}), {shape}, ({starts}), axes{k})")
        body.append(f"return ({''.join(m + ', ' for m in made)})")
        head = (
            "values, given"
            if giving
            else "values"
            if shapes is None
            else ", ".join(f"a{i}" for i in range(len(shapes)))
        )
        exec(compile("\n ".join([f"def call({head}):", *body]), "<native call>", "exec"), space)
        found: Callable[..., Any] = space["call"]
        return found


def _numbers(extents: Sequence[Extent]) -> str:
    """Numbers that code gives, or that are known, as text."""
    return "".join(f"{e}, " if isinstance(e, int) else f"r[{e[1]}], " for e in extents)


def _again(
    signature: Signature, entry: Any, context: Context, status: int, values: tuple[Value, ...], out: Any
) -> None:
    """After a call that did not come to an end: it is made again, on a thread with a large stack, where room for
    recursion was lacking. Raises what the call ends with, or leaves its results in `out`."""
    if status == layout.TOO_DEEP:
        values = tuple([ascontiguousarray(v) if type(v) is ndarray and not v.flags.c_contiguous else v for v in values])
        packed = _packing(signature)(*[_word(i, values) for i in signature.inputs], *[0] * bool(signature.takes))
        status = _on_large_stack(entry, context, packed, out)
    if status:
        raise _failure(status, out[0])


def _block(array: ndarray, address: int) -> _Memory | None:
    """The block that an array's elements lie in, from its start, if compiled code has made it."""
    owner: object = array.base
    if isinstance(owner, ndarray):  # which other arrays show parts of
        owner = owner.base
    return owner if isinstance(owner, _Memory) and owner.address == address else None


def _lost(status: int, taken: Sequence[tuple[int, _Memory, int]], out: Any) -> None:
    """After a call to which arrays were given, and which did not come to an end: what is left of them is the caller's
    again. Raises what the call ends with."""
    for bit, memory, address in taken:
        if out[1] & bit:
            memory.address = address
    failure = _failure(status, out[0])
    failure.spent = status != layout.CHECK_FAILED or any(not memory.address for _, memory, _ in taken)
    raise failure


def _packing(signature: Signature) -> Callable[..., bytes]:
    """What packs the words of the parameters."""
    pairs = zip(signature.inputs, signature.params)
    words = "".join("q" if i.kind == "array" else _FORMATS.get(base, "q") for i, base in pairs)
    return struct.Struct("<" + words + "q" * bool(signature.takes)).pack


def _text(i: Input, shapes: Sequence[tuple[int, ...]] | None) -> str:
    """The word of a parameter, as text."""
    name = f"a{i.argument}"
    match i.kind:
        case "scalar":
            return name
        case "element":
            return f"{name}.item({i.at})"
        case "extent":
            return f"{name}.shape[{i.at}]" if shapes is None else str(shapes[i.argument][i.at])
    return f"p{i.argument}"


def _word(i: Input, values: Sequence[Value]) -> Any:
    """The word of a parameter."""
    value = values[i.argument]
    match i.kind:
        case "scalar":
            return value
        case "element":
            return value.item(i.at)
        case "extent":
            return value.shape[i.at]
    return address_of()(value)


def _range(base: str) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    bits = BITS[base]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if base in SIGNED else (0, (1 << bits) - 1)


def usual_range(base: str, value: Any) -> tuple[int, int]:
    """The values of an integer type that are not much larger than this one."""
    low, high = _range(base)
    usual = reach(value)
    return max(low, -usual), min(high, usual)


def reach(value: Any) -> int:
    """Up to where ints are not much larger than this one."""
    return max(USUAL, 2 * abs(int(value)))


def _failure(status: int, site: int) -> NativeFailure:
    match status:
        case layout.CHECK_FAILED:
            return CheckFailed(site, site >= layout.EXTENTS)
        case layout.OUT_OF_MEMORY:
            return OutOfMemory()
        case layout.INTERRUPTED:
            return Interrupted()
    return TooDeep()


def _discard() -> Callable[[int], Any]:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runtime()["sacpy_discard"])


@functools.cache
def _roomy() -> Callable[[int], int | None]:
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(runtime()["sacpy_roomy"])


USUAL = 1000  # up to where an int may always go
LARGE_STACK = 512 << 20  # bytes of address space, used page by page: a recursion without end touches them all
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
            with unstruck():
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


__all__ = ["Context", "NativeFunction", "load"]
