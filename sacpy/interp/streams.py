"""Streams: what the library's classes File and TermFile are made of.

One class does it all, with buffers of its own over an unbuffered binary file: reading with characters put back,
scanning by regular expression, writing, seeking, and C's end-of-file flag, which is set only once a read has found
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from sacpy.interp import memory
from sacpy.interp.errors import Exit, Fault

CHUNK = 1 << 16
BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended


class RawFile(Protocol):
    """An unbuffered binary file (`io.FileIO`), or an `io.BytesIO`."""

    def read(self, size: int = -1, /) -> bytes | None: ...

    def write(self, data: bytes, /) -> int | None: ...

    def seek(self, offset: int, whence: int = 0, /) -> int: ...

    def tell(self) -> int: ...

    def close(self) -> None: ...


def _nothing() -> None:
    """The default for a stream that needs nothing done before it reads or writes."""


class Stream:
    """A file, pipe or standard stream. `name` is for messages; `before` runs before the file itself is read or written
    (standard output is flushed then)."""

    def __init__(
        self,
        raw: RawFile,
        name: str,
        *,
        readable: bool = False,
        writable: bool = False,
        before: Callable[[], None] = _nothing,
        unbuffered: bool = False,
        by_line: bool = False,
        limit: int | None = None,
    ) -> None:
        self.raw = raw
        self.name = name
        self.readable = readable
        self.writable = writable
        self.at_end = False
        self.closed = False
        self._before = before
        self._unbuffered = unbuffered
        self._by_line = by_line
        self._limit = limit
        self._out = bytearray()
        self._in = b""
        self._pos = 0
        self._fed = 0

    @property
    def by_line(self) -> bool:
        """Whether each line is written at once, as on a terminal."""
        return self._by_line

    def __repr__(self) -> str:
        return f"<stream {self.name}>"

    # ------------------------------------------------------------ writing

    def write(self, data: bytes | memoryview) -> None:
        """Appends to the stream; what is large is not copied."""
        if not self.writable or self.closed:
            self._refuse("write to")
        if self._in:
            self._forget_input()
        if self._limit is not None:
            self._limit -= len(data)
            if self._limit < 0:
                self._limit = 0
                raise Fault(
                    "E0705",
                    f"the program writes more to {self.name} than this session allows",
                    help="raise the session's output limit",
                )
        if len(data) >= CHUNK:
            self.flush()
            self._before()
            self._hand_out(memoryview(data))
            return
        self._out += data
        if self._unbuffered or len(self._out) >= CHUNK or (self._by_line and b"\n" in self._out[-len(data) :]):
            self.flush()

    def renew_limit(self, limit: int | None) -> None:
        """From here on, so many bytes may be written."""
        self._limit = limit

    def flush(self) -> None:
        """Hands what was written to the file."""
        if not self._out:
            return
        self._before()
        data, self._out = self._out, bytearray()
        self._hand_out(memoryview(data))

    def _hand_out(self, data: memoryview) -> None:
        at = 0
        try:
            while at < len(data):
                at += self.raw.write(bytes(data[at : at + CHUNK])) or 0
        except BrokenPipeError:
            raise Exit(BROKEN_PIPE) from None
        except OSError as error:
            raise Fault("E0663", f"writing to {self.name} failed: {error.strerror or error}") from None

    # ------------------------------------------------------------ reading

    def _fill(self) -> bool:
        """Reads on; False when there is nothing more."""
        if not self.readable or self.closed:
            self._refuse("read from")
        self.flush()
        self._before()
        more = max(CHUNK, len(self._in) - self._pos)  # a long match is tried again after each chunk, so chunks grow
        memory.room(3 * more)
        try:
            data = self.raw.read(more)
        except OSError as error:
            raise Fault("E0663", f"reading from {self.name} failed: {error.strerror or error}") from None
        if not data:
            return False
        self._in = b"".join((memoryview(self._in)[self._pos :], data))
        self._pos = 0
        self._fed += len(data)
        return True

    @property
    def consumed(self) -> int:
        """How many bytes have been taken."""
        return self._fed - (len(self._in) - self._pos)

    def peek(self) -> int:
        """The next byte without taking it; -1 at the end, and then the end-of-file flag is set."""
        if self._pos >= len(self._in) and not self._fill():
            self.at_end = True
            return -1
        return self._in[self._pos]

    def getc(self) -> int:
        """Takes the next byte; -1 at the end."""
        code = self.peek()
        if code >= 0:
            self._pos += 1
        return code

    def ungetc(self, code: int) -> None:
        """Puts a byte back in front of the unread ones."""
        if self._pos and self._in[self._pos - 1] == code & 255:
            self._pos -= 1
            self.at_end = False
            return
        memory.room(2 * (len(self._in) - self._pos))
        self._in = bytes((code & 255,)) + self._in[self._pos :]
        self._pos = 0
        self.at_end = False

    def readline(self, limit: int) -> bytes:
        """At most `limit` bytes, up to and with the next newline; b"" at the end."""
        if limit <= 0:
            return b""
        while True:
            end = self._in.find(b"\n", self._pos, self._pos + limit)
            if end >= 0 or len(self._in) - self._pos >= limit:
                break
            if not self._fill():
                self.at_end = True
                break
        return self._taken(min(len(self._in), self._pos + limit) if end < 0 else end + 1)

    def _taken(self, stop: int) -> bytes:
        """What has been read ahead, up to a place."""
        memory.room(stop - self._pos)
        data = self._in[self._pos : stop]
        self._pos = stop
        return data

    def read(self, count: int) -> bytes:
        """At most `count` bytes; fewer only at the end."""
        while len(self._in) - self._pos < count:
            if not self._fill():
                self.at_end = True
                break
        return self._taken(min(len(self._in), self._pos + count))

    def take(self, pattern: re.Pattern[bytes], width: int = 0) -> bytes:
        """Takes the longest match of `pattern` at the present place, of at most `width` bytes (0: any number). The
        pattern must match the empty text."""
        while True:
            end = len(self._in) if not width else min(len(self._in), self._pos + width)
            match = pattern.match(self._in, self._pos, end)
            stop = match.end() if match else self._pos
            if stop < len(self._in) or (width and stop - self._pos >= width):
                break
            if not self._fill():
                self.at_end = True
                break
        return self._taken(stop)

    # ------------------------------------------------------------ place

    def _forget_input(self) -> None:
        """Moves the file's own place back over what was read ahead, so that writing goes on where reading stopped."""
        unread = len(self._in) - self._pos
        if unread:
            self.raw.seek(-unread, 1)
        self._in, self._pos = b"", 0

    def seek(self, offset: int, base: int) -> bool:
        """Moves to `offset` bytes from the beginning (0), the present place (1) or the end (2). False if the stream
        cannot."""
        self.flush()
        try:
            if base == 1:
                offset -= len(self._in) - self._pos
            self.raw.seek(offset, base)
        except (OSError, ValueError):
            return False
        self._in, self._pos, self.at_end = b"", 0, False
        return True

    def tell(self) -> int:
        """The place in bytes from the beginning; -1 if the stream has none."""
        try:
            return self.raw.tell() - (len(self._in) - self._pos) + len(self._out)
        except (OSError, ValueError):
            return -1

    def close(self) -> None:
        """Writes what is left and closes the file."""
        if not self.closed:
            try:
                self.flush()
            finally:
                self.closed = True
                self.raw.close()

    def discard(self) -> None:
        """Drops what has not been written: its reader is gone."""
        self._out.clear()

    def _refuse(self, what: str) -> None:
        if self.closed:
            raise Fault(
                "E0650",
                f"cannot {what} {self.name}: it is closed",
                help="use the file before `fclose`, or open it again",
            )
        use = "reading" if self.readable else "writing"
        raise Fault(
            "E0650",
            f"cannot {what} {self.name}: it is open for {use} only",
            help='open it in a mode such as "r+" or "w+"',
        )


class Unopened(Stream):
    """What a failed `fopen` hands out: any use is an error that repeats why it could not be opened."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(_Closed(), name)
        self.reason = reason
        self.closed = True

    def _refuse(self, what: str) -> None:
        raise Fault(
            "E0650",
            f"cannot {what} {self.name}: it could not be opened ({self.reason})",
            help="test the error that the opening function returned with `fail(err)` before using the file",
        )

    def close(self) -> None:
        """Closing it is an error too, as in C."""
        self._refuse("close")


class _Closed:
    """A raw file with nothing in it."""

    def read(self, size: int = -1, /) -> bytes:
        return b""

    def write(self, data: bytes, /) -> int:
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return 0

    def tell(self) -> int:
        return -1

    def close(self) -> None:
        return None
