"""Relocatable objects into memory, without LLVM: code that is kept is loaded in a millisecond by a process that never
compiles anything.

In: objects as LLVM writes them for x86-64 Linux (ELF, System V ABI, small code model, position-independent), and what
finds the functions that they call. Out: the addresses of the functions that they define. Of the kinds of relocation
those are known that such objects have, relative ones of 32 bits and absolute ones of 64; whoever comes across another
is told so (`Unknown`), and lets LLVM's own linker load the object. A function outside of the object may lie anywhere,
so calls of it go through a jump beside the code. Nobody can write to memory with code in it.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

from sacpy.jit.llvm.processor import architecture

PROGBITS, SYMTAB, RELA, NOBITS = 1, 2, 4, 8  # types of sections
ALLOC, EXEC = 2, 4  # their flags
UNDEFINED, ABSOLUTE, RESERVED = 0, 0xFFF1, 0xFF00  # instead of a section, of symbols
ADDRESS, RELATIVE, CALL = 1, 2, 4  # R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32
JUMP = b"\xff\x25\x00\x00\x00\x00"  # jmp [rip + 0]: to the address that stands behind it
STUB = 16  # bytes of such a jump with its address
HEADER, SECTION, SYMBOL, RELOCATION = (
    struct.Struct("<40xQ12xHH"),
    struct.Struct("<IIQQQQIIQQ"),
    struct.Struct("<IBBHQQ"),
    struct.Struct("<QQq"),
)
X86_64 = 62
BUNDLE, COUNT = b"sacpy objects\n", struct.Struct("<Q")  # before objects that belong together

Resolve = Callable[[str], int]


class Unknown(Exception):
    """The object has something that is not known here, or calls a function that nobody knows."""


def suits() -> bool:
    """Whether objects of this process's compiler are of the kind that is known here."""
    return sys.platform == "linux" and architecture() == "x86_64"


class _Object:
    """What an object says of itself. `places`: where in memory each section is that is loaded."""

    def __init__(self, code: bytes) -> None:
        if code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", code, 18) != (X86_64,):
            raise Unknown("this is no object for x86-64")
        at, count, _ = HEADER.unpack_from(code)
        self.code = code
        self.sections = [SECTION.unpack_from(code, at + SECTION.size * k) for k in range(count)]
        self.symbols = self._read_symbols()
        self.places: dict[int, int] = {}

    def _read_symbols(self) -> list[tuple[str, int, int]]:
        """Of each symbol the name, the section, and where in it."""
        found: list[tuple[str, int, int]] = []
        for section in self.sections:
            if section[1] == SYMTAB:
                strings = self.sections[section[6]][4]
                for at in range(section[4], section[4] + section[5], SYMBOL.size):
                    name, _, _, where, value, _ = SYMBOL.unpack_from(self.code, at)
                    end = self.code.index(b"\0", strings + name)
                    found.append((self.code[strings + name : end].decode(), where, value))
        return found

    def loaded(self, *, code: bool) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The sections of code, or the others, that are to be in memory, with their numbers."""
        for k, s in enumerate(self.sections):
            if s[2] & ALLOC and s[1] in (PROGBITS, NOBITS) and bool(s[2] & EXEC) == code:
                yield k, s

    def defined(self, name: str) -> int | None:
        """Where in memory a function is."""
        for own, section, value in self.symbols:
            if own == name and section in self.places:
                return self.places[section] + value
        return None


class Image:
    """Objects in memory, which may call each other's functions; they stay as long as this lives. `resolve` finds
    functions outside of them. Raises `Unknown`."""

    def __init__(self, codes: Sequence[bytes], resolve: Resolve) -> None:
        self._objects = [_Object(code) for code in codes]
        self._stubs: dict[str, int] = {}  # by the name of a function outside, where the jump to it is
        self._place(sum(1 for o in self._objects for s in o.symbols if s[1] == UNDEFINED and s[0]))
        for o in self._objects:
            for section in o.sections:
                if section[1] == RELA and section[7] in o.places:
                    self._relocate(o, section)
        for name, stub in self._stubs.items():
            struct.pack_into("<6sQ", self._memory, stub, JUMP, resolve(name))
        self._protect()

    def address(self, name: str) -> int:
        """Where a function is. Raises KeyError."""
        found = self._defined(name)
        if found is None:
            raise KeyError(name)
        return self._base + found

    def _defined(self, name: str) -> int | None:
        return next((at for o in self._objects if (at := o.defined(name)) is not None), None)

    def _place(self, outside: int) -> None:
        """Makes room, code first, and copies sections there."""
        at = self._placed(0, code=True)
        self._next_stub = _aligned(at, STUB)
        self._end_of_code = _aligned(self._next_stub + outside * STUB, mmap.PAGESIZE)
        at = self._placed(self._end_of_code, code=False)
        self._memory = mmap.mmap(
            -1, max(at, 1), prot=mmap.PROT_READ | mmap.PROT_WRITE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        )
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for o in self._objects:
            for k, place in o.places.items():
                s = o.sections[k]
                if s[1] == PROGBITS:
                    self._memory[place : place + s[5]] = o.code[s[4] : s[4] + s[5]]

    def _placed(self, at: int, *, code: bool) -> int:
        """Says where sections are to be, from there on; gives the end."""
        for o in self._objects:
            for k, s in o.loaded(code=code):
                o.places[k] = _aligned(at, s[8])
                at = o.places[k] + s[5]
        return at

    # ---- linking

    def _relocate(self, o: _Object, section: tuple[int, ...]) -> None:
        """Fills in the addresses of a section. What is filled in lies in the section."""
        where, size = o.places[section[7]], o.sections[section[7]][5]
        for entry in range(section[4], section[4] + section[5], RELOCATION.size):
            offset, info, addend = RELOCATION.unpack_from(o.code, entry)
            kind, symbol = info & 0xFFFFFFFF, o.symbols[info >> 32]
            width = 8 if kind == ADDRESS else 4
            if kind not in (ADDRESS, RELATIVE, CALL) or offset + width > size:
                raise Unknown(f"a relocation of kind {kind}")
            at = where + offset
            value = self._value(o, symbol, call=kind == CALL) + addend
            if kind == ADDRESS:
                struct.pack_into("<Q", self._memory, at, self._base + value)
            else:
                struct.pack_into("<i", self._memory, at, value - at)

    def _value(self, o: _Object, symbol: tuple[str, int, int], *, call: bool) -> int:
        """Where a symbol of an object is, in memory."""
        name, section, value = symbol
        if section in o.places:
            return o.places[section] + value
        if section == UNDEFINED and name and len(self._objects) > 1 and (found := self._defined(name)) is not None:
            return found
        if section != UNDEFINED or not call:
            raise Unknown(f"{name or 'a symbol'} is nowhere")
        if name not in self._stubs:
            self._stubs[name] = self._next_stub
            self._next_stub += STUB
        return self._stubs[name]

    def _protect(self) -> None:
        """From now on code is to be read and executed only."""
        protect = ctypes.CDLL(None).mprotect
        if self._end_of_code and protect(
            ctypes.c_void_p(self._base), ctypes.c_size_t(self._end_of_code), mmap.PROT_READ | mmap.PROT_EXEC
        ):
            raise Unknown("memory cannot be made executable here")


def _aligned(at: int, alignment: int) -> int:
    return -(-at // max(alignment, 1)) * max(alignment, 1)


def bundled(codes: Sequence[bytes]) -> bytes:
    """Objects that belong together as one piece of data."""
    if len(codes) == 1:
        return codes[0]
    return b"".join([BUNDLE, COUNT.pack(len(codes)), *(COUNT.pack(len(code)) for code in codes), *codes])


def unbundled(data: bytes) -> list[bytes]:
    """The objects in a piece of data."""
    if not data.startswith(BUNDLE):
        return [data]
    at = len(BUNDLE) + COUNT.size
    (count,) = COUNT.unpack_from(data, len(BUNDLE))
    sizes = struct.unpack_from(f"<{count}Q", data, at)
    ends = list(accumulate(sizes, initial=at + count * COUNT.size))
    return [data[start:end] for start, end in pairwise(ends)]


__all__ = ["Image", "Unknown", "bundled", "suits", "unbundled"]
