"""Relocatable objects into memory, without LLVM: code that is kept is loaded in a millisecond by a process that never
compiles anything.

In: an object as LLVM writes it for x86-64 Linux (ELF, System V ABI, small code model, position-independent), and what
finds the functions that it calls. Out: the addresses of the functions that it defines. Of the kinds of relocation those
are known that such objects have, relative ones of 32 bits and absolute ones of 64; whoever comes across another is told
so (`Unknown`), and lets LLVM's own linker load the object. A function outside of the object may lie anywhere, so calls
of it go through a jump beside the code. Nobody can write to memory with code in it.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable

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

Resolve = Callable[[str], int]


class Unknown(Exception):
    """The object has something that is not known here, or calls a function that nobody knows."""


def suits() -> bool:
    """Whether objects of this process's compiler are of the kind that is known here."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


class Image:
    """An object in memory; it stays as long as this lives. `resolve` finds functions outside of it. Raises
    `Unknown`."""

    def __init__(self, code: bytes, resolve: Resolve) -> None:
        if code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", code, 18) != (X86_64,):
            raise Unknown("this is no object for x86-64")
        at, count, _ = HEADER.unpack_from(code)
        self._code = code
        self._sections = [SECTION.unpack_from(code, at + SECTION.size * k) for k in range(count)]
        self._resolve = resolve
        self._stubs: dict[str, int] = {}  # by the name of a function outside, where the jump to it is
        self._symbols = self._read_symbols()
        outside = sum(1 for s in self._symbols if s[1] == UNDEFINED and s[0])
        self._place(outside)
        for section in self._sections:
            if section[1] == RELA and section[7] in self._places:
                self._relocate(section)
        for name, stub in self._stubs.items():
            struct.pack_into("<6sQ", self._memory, stub, JUMP, resolve(name))
        self._protect()

    def address(self, name: str) -> int:
        """Where a function is. Raises KeyError."""
        for own, section, value in self._symbols:
            if own == name and section in self._places:
                return self._base + self._places[section] + value
        raise KeyError(name)

    # ---- reading

    def _read_symbols(self) -> list[tuple[str, int, int]]:
        """Of each symbol the name, the section, and where in it."""
        found: list[tuple[str, int, int]] = []
        for section in self._sections:
            if section[1] == SYMTAB:
                strings = self._sections[section[6]][4]
                for at in range(section[4], section[4] + section[5], SYMBOL.size):
                    name, _, _, where, value, _ = SYMBOL.unpack_from(self._code, at)
                    end = self._code.index(b"\0", strings + name)
                    found.append((self._code[strings + name : end].decode(), where, value))
        return found

    def _place(self, outside: int) -> None:
        """Makes room, code first, and copies sections there. `_places`: where in memory each section is."""
        loaded = [(k, s) for k, s in enumerate(self._sections) if s[2] & ALLOC and s[1] in (PROGBITS, NOBITS)]
        self._places: dict[int, int] = {}
        at = 0
        for k, s in loaded:
            if s[2] & EXEC:
                at = _aligned(at, s[8])
                self._places[k] = at
                at += s[5]
        self._next_stub = _aligned(at, STUB)
        self._end_of_code = at = _aligned(self._next_stub + outside * STUB, mmap.PAGESIZE)
        for k, s in loaded:
            if not s[2] & EXEC:
                at = _aligned(at, s[8])
                self._places[k] = at
                at += s[5]
        self._memory = mmap.mmap(
            -1, max(at, 1), prot=mmap.PROT_READ | mmap.PROT_WRITE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        )
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        for k, s in loaded:
            if s[1] == PROGBITS:
                self._memory[self._places[k] : self._places[k] + s[5]] = self._code[s[4] : s[4] + s[5]]

    # ---- linking

    def _relocate(self, section: tuple[int, ...]) -> None:
        """Fills in the addresses of a section. What is filled in lies in the section."""
        where, size = self._places[section[7]], self._sections[section[7]][5]
        for entry in range(section[4], section[4] + section[5], RELOCATION.size):
            offset, info, addend = RELOCATION.unpack_from(self._code, entry)
            kind, symbol = info & 0xFFFFFFFF, self._symbols[info >> 32]
            width = 8 if kind == ADDRESS else 4
            if kind not in (ADDRESS, RELATIVE, CALL) or offset + width > size:
                raise Unknown(f"a relocation of kind {kind}")
            at = where + offset
            value = self._value(symbol, call=kind == CALL) + addend
            if kind == ADDRESS:
                struct.pack_into("<Q", self._memory, at, self._base + value)
            else:
                struct.pack_into("<i", self._memory, at, value - at)

    def _value(self, symbol: tuple[str, int, int], *, call: bool) -> int:
        """Where a symbol is, in memory."""
        name, section, value = symbol
        if section in self._places:
            return self._places[section] + value
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


__all__ = ["Image", "Unknown", "suits"]
