"""Kernels on the host: the very kernel program, compiled for this machine's CPU.

`Emulated(kernel)` compiles; `launch(args)` runs it over NumPy arrays in place, as a GPU would over its memory. With
`check` every access is looked at (`shadow`) and `launch` gives findings: out of range, written twice, not written,
races, reads of what is not set.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import prod
from typing import Any

import numpy as np

from sacpy.interp.limits import unstruck
from sacpy.interp.values import DTYPES
from sacpy.jit.emission import shadow
from sacpy.jit.emission.findings import NOT_ITS_CELL, NOT_WRITTEN, TOO_LARGE, Finding, finding
from sacpy.jit.emission.geometry import Geometry, Shapes, allocations
from sacpy.jit.emission.host_machine import ENTRY, host_text
from sacpy.jit.emission.lowering import Site
from sacpy.jit.ir.graph import ArrayType, Const, Var, extents_of
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.llvm.legal import size_of
from sacpy.jit.options import Options
from sacpy.nodes import Node, field

Array = np.ndarray[Any, Any]
Argument = int | float | bool | Array
MOST_FINDINGS = 64
ORDERS = ("ascending", "descending", "shuffled")  # of blocks
_ROUND = 1 << 16  # threads between two looks at signals
_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class Outcome(Node):
    """How a launch went. `failed`: what the first `Check` that did not hold asserts; None if all did. `findings`: in
    check mode, at most `MOST_FINDINGS`; `found`: how many there were; `writes`: how often each cell of each written
    array was written, by the parameter's name."""

    failed: str | None = None
    findings: tuple[Finding, ...] = ()
    found: int = 0
    writes: Mapping[str, Array] = field(default_factory=dict, compare=False, repr=False)


def compile_kernel(kernel: Kernel, *, check: bool = False) -> tuple[bytes, tuple[Site, ...]]:
    """A kernel's machine code for this host, as an object, and its statements: what a cache keeps."""
    from sacpy.jit.host.compile import compile_object

    text, sites = host_text(kernel, check=check)
    return compile_object(text, Options(strict_fp=True, opt_level=1 if check else 2)), sites


class Emulated:
    """A kernel that runs on the host. `made`: what `compile_kernel` gave, out of a cache."""

    def __init__(
        self, kernel: Kernel, *, check: bool = False, made: tuple[bytes, tuple[Site, ...]] | None = None
    ) -> None:
        from sacpy.jit.host.loading import load_entry

        self.kernel, self.check, self.shapes = kernel, check, Shapes(kernel)
        code, self.sites = made or compile_kernel(kernel, check=check)
        self._library, address = load_entry(code, ENTRY)
        self._entry = _NATIVE(address)

    def launch(
        self,
        args: Sequence[Argument],
        *,
        cover: Mapping[str, Array] | None = None,
        scratch: Sequence[int] | None = None,
        threads: int = 1,
        stop: int = 0,
        order: str = ORDERS[0],
    ) -> Outcome:
        """Runs all blocks. `args`: one per parameter; arrays are C-contiguous, of the parameter's base type and
        extents, and are written in place; two parameters never share memory that is written. `cover`, for check mode:
        for a written array's name a bool array of its extents, the cells that this launch must write (exactly once
        where the array is `once`); others must stay unwritten. `scratch`: as in `geometry.Shapes.launch`. `threads`:
        over how many threads of the host the blocks are spread (check mode uses one). `stop`: the address of a word
        that any thread may set to end the launch; what the kernel then leaves is of no use. `order`: one of `ORDERS`,
        in which the blocks run; a device knows none. Raises `ValueError` for arguments that do not fit."""
        self._refuse_misfits(args)
        place = self.shapes.launch(args, scratch)
        if self.check:
            return self._checked(args, place, cover or {}, stop, order)
        arrived = ctypes.c_int64(0)
        run = partial(self._run, args, place, stop=stop, arrived=arrived)
        if threads == 1 or place.blocks < 2 or order != ORDERS[0]:
            return self._outcome([run(0, place.blocks, order=order)])
        cuts = [place.blocks * n // threads for n in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            with unstruck():
                parts = pool.map(run, cuts, cuts[1:])
            return self._outcome(list(parts))

    def _outcome(self, failed: Sequence[int]) -> Outcome:
        first = next((site for site in failed if site), 0)
        return Outcome(self.sites[first - 1].what if first else None)

    def _refuse_misfits(self, args: Sequence[Argument]) -> None:
        if len(args) != len(self.kernel.params):
            raise ValueError(
                f"kernel {self.kernel.name} has {len(self.kernel.params)} parameters, but there are {len(args)} "
                "arguments"
            )
        values = {p.name: a for p, a in zip(self.kernel.params, args)}
        for v, of in self.kernel.multiples:
            if (found := int(values[v.name])) % of:
                raise ValueError(f"kernel {self.kernel.name}: {v.name} must be a multiple of {of}, but is {found}")
        for p, a in zip(self.kernel.params, args):
            if isinstance(p.type, ArrayType):
                extents = tuple(int(e.value) if isinstance(e, Const) else values[e.name] for e in p.type.extents)
                if (
                    not isinstance(a, np.ndarray)
                    or a.dtype != DTYPES[p.base]
                    or a.shape != extents
                    or not a.flags.c_contiguous
                ):
                    raise ValueError(
                        f"kernel {self.kernel.name}: {p.name} must be a C-contiguous array of {p.base} of extents "
                        f"{list(map(int, extents))}, but is {_shown(a)}"
                    )

    def _run(
        self,
        args: Sequence[Argument],
        place: Geometry,
        first: int,
        last: int,
        *,
        stop: int,
        arrived: ctypes.c_int64,
        control: int = 0,
        order: str = ORDERS[0],
    ) -> int:
        """Runs some blocks, in rounds, so that signals are seen. Gives the number of the check that failed first, or
        0."""
        own, kept = self._memory(place)
        failed, never = ctypes.c_int32(0), ctypes.c_int64(0)
        words = (
            [_word(p, a) for p, a in zip(self.kernel.params, args)]
            + own
            + [ctypes.addressof(failed), control, stop or ctypes.addressof(never), ctypes.addressof(arrived)]
        )
        packed = struct.pack(f"<{len(words)}Q", *(w & (1 << 64) - 1 for w in words))
        step = max(1, _ROUND // max(place.threads, 1)) if order == ORDERS[0] else 1
        starts: Iterable[int] = range(first, last, step)
        if order == ORDERS[1]:
            starts = reversed(range(first, last))
        elif order == ORDERS[2]:
            starts = np.random.default_rng(last - first).permutation(np.arange(first, last)).tolist()
        for start in starts:
            self._entry(packed, start, min(start + step, last))
        kept.clear()
        return failed.value

    def _memory(self, place: Geometry) -> tuple[list[int], list[Array]]:
        """Addresses for the arrays of a block and of its threads, and the memory that they lie in. Shared arrays lie as
        they do on a device."""
        plan = self.shapes.plan
        kept = [_new(plan.size if plan else 0)]
        addresses = []
        for s, cells in zip(self.shapes.allocations, place.cells):
            if plan and s.space == "shared":
                addresses.append(_aligned(kept[0]) + plan.offsets[s.array.name])
            else:
                kept.append(_new(cells * size_of(s.array.base) * (1 if s.space == "shared" else place.threads)))
                addresses.append(_aligned(kept[-1]))
        return addresses, kept

    # ---- check mode

    def _checked(
        self, args: Sequence[Argument], place: Geometry, cover: Mapping[str, Array], stop: int, order: str
    ) -> Outcome:
        beyond = self._too_large(args)
        if beyond:  # nothing is run
            return Outcome(None, beyond, len(beyond))
        book = _Book(self.kernel, args, place)
        control, arrived = book.control.ctypes.data, ctypes.c_int64(0)
        failed = self._run(args, place, 0, place.blocks, stop=stop, arrived=arrived, control=control, order=order)
        if stop and ctypes.c_int64.from_address(stop).value:
            return Outcome(None)  # what is not written would have been
        found = [
            finding(self.kernel.name, [int(w) for w in record], book.arrays, self.sites)
            for record in book.records[: int(book.control[shadow.COUNT])]
        ]
        more = self._uncovered(book, cover)
        numbers = {p.name: number for number, p in enumerate(self.kernel.params)}
        writes = {w.array.name: book.writes(numbers[w.array.name]) for w in self.kernel.writes}
        return Outcome(
            self._outcome([failed]).failed,
            (*found, *more)[:MOST_FINDINGS],
            int(book.control[shadow.COUNT]) + len(more),
            writes,
        )

    def _uncovered(self, book: _Book, cover: Mapping[str, Array]) -> list[Finding]:
        found = []
        for number, (name, _) in enumerate(book.arrays):
            if name in cover:
                written, wanted = book.writes(number) > 0, np.asarray(cover[name], bool)
                found += [Finding(self.kernel.name, NOT_WRITTEN, name, cell) for cell in _cells(wanted & ~written)]
                for cell in _cells(~wanted & written):
                    site, block, thread = book.writer(number, cell)
                    found.append(
                        Finding(
                            self.kernel.name,
                            NOT_ITS_CELL,
                            name,
                            cell,
                            block,
                            thread,
                            self.sites[site - 1].phase,
                            self.sites[site - 1].text,
                        )
                    )
        return found

    def _too_large(self, args: Sequence[Argument]) -> tuple[Finding, ...]:
        arrays = [(p.name, a.shape) for p, a in zip(self.kernel.params, args) if isinstance(a, np.ndarray)]
        return tuple(
            Finding(self.kernel.name, TOO_LARGE, name, tuple(e - 1 for e in extents))
            for name, extents in arrays
            if self.kernel.bits == 32 and prod(extents) > 1 << 31
        )


class _Book:
    """The memory of check mode: control words, descriptions of arrays, shadows, records. Arrays are numbered as in
    `Memory`; scalar parameters stand among them, with no cells."""

    def __init__(self, kernel: Kernel, args: Sequence[Argument], place: Geometry) -> None:
        written = {w.array.name: w.once for w in kernel.writes}
        self.records = np.zeros((MOST_FINDINGS, shadow.RECORD), np.int64)
        self.names: list[str] = []
        self.shadows: list[Array] = []
        self.descriptions: list[Array] = []
        for p, a in zip(kernel.params, args):
            extents = a.shape if isinstance(a, np.ndarray) else ()
            self._add(p, extents, shadow.ONCE if written.get(p.name) else 0, prod(extents) if extents else 0)
        for s, cells in zip(allocations(kernel), place.cells):
            of_thread = s.space != "shared"
            kind = shadow.OF_THREAD if of_thread else shadow.OF_BLOCK
            self._add(
                s.array,
                [0] * len(extents_of(s.array)),
                shadow.UNINITIALISED | kind,
                cells,
                place.threads if of_thread else 0,
            )
        self.control = np.array(
            [*[0] * 7, MOST_FINDINGS, self.records.ctypes.data, *(d.ctypes.data for d in self.descriptions)],
            np.int64,
        )

    def _add(self, v: Var, extents: Sequence[int], flags: int, cells: int, threads: int = 0) -> None:
        """An array of so many cells, for each of `threads` if that is not 0. Those that the kernel allocates get their
        extents when it does."""
        self.names.append(v.name)
        self.shadows.append(np.zeros((max(cells * max(threads, 1), 1), shadow.CELL), np.int64))
        self.descriptions.append(
            np.array(
                [
                    len(self.descriptions),
                    len(extents),
                    flags,
                    0,
                    self.shadows[-1].ctypes.data,
                    cells if threads else 0,
                    cells,
                    *extents,
                ],
                np.int64,
            )
        )

    @property
    def arrays(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and extents."""
        return [(name, tuple(map(int, d[shadow.EXTENTS :]))) for name, d in zip(self.names, self.descriptions)]

    def writer(self, number: int, cell: tuple[int, ...]) -> tuple[int, int, int]:
        """Who wrote a cell last: the number of the statement, block, thread."""
        noted = self.shadows[number][int(np.ravel_multi_index(cell, self.arrays[number][1]))]
        return (
            int(noted[shadow.WRITER]),
            int(noted[shadow.WRITER + 1 + shadow.BLOCK]),
            int(noted[shadow.WRITER + 1 + shadow.THREAD]),
        )

    def writes(self, number: int) -> Array:
        """How often each cell of an array was written."""
        extents = self.arrays[number][1]
        counts: Array = self.shadows[number][: prod(extents), shadow.WRITES].reshape(extents)
        return counts


def _cells(where: Array) -> list[tuple[int, ...]]:
    """The first cells that are true."""
    return [tuple(map(int, cell)) for cell in np.argwhere(where)[:MOST_FINDINGS]]


def _new(size: int) -> Array:
    return np.empty(size + 64, np.uint8)


def _aligned(memory: Array) -> int:
    address = int(memory.ctypes.data)
    return address + -address % 64


def _word(p: Var, a: Argument) -> int:
    """An argument as 64 bits."""
    if isinstance(a, np.ndarray):
        return int(a.ctypes.data)
    if p.base == "double":
        return int(struct.unpack("<q", struct.pack("<d", a))[0])
    if p.base == "float":
        return int(struct.unpack("<i", struct.pack("<f", a))[0])
    return int(a)


def _shown(a: object) -> str:
    return f"an array of {a.dtype} of extents {list(a.shape)}" if isinstance(a, np.ndarray) else repr(a)
