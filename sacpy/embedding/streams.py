"""Python's own streams as the standard streams of a program.

In: a Python stream (text or binary), or a function that gives the present one. Out: what `interp/streams.py` reads and
writes. By default a program prints to whatever `sys.stdout` is at that moment, so notebooks and test runners see it.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable
from typing import Any


class Output:
    """Somewhere to print to. Text streams get UTF-8 decoded; what is no UTF-8 shows as replacement characters."""

    def __init__(self, stream: Callable[[], Any]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes, /) -> int:
        stream = self._stream()
        if stream is not None:
            stream.write(bytes(data) if is_binary(stream) else self._decoder.decode(data))
        return len(data)

    def read(self, size: int = -1, /) -> bytes:
        raise io.UnsupportedOperation("not readable")

    def seek(self, offset: int, whence: int = 0, /) -> int:
        raise io.UnsupportedOperation("not seekable")

    def tell(self) -> int:
        raise io.UnsupportedOperation("not seekable")

    def close(self) -> None:
        """The stream is not ours to close."""


class Input:
    """Somewhere to read from, line by line: a program that reads from a terminal gets what has been typed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.readline(size)
        return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)

    def write(self, data: bytes, /) -> int:
        raise io.UnsupportedOperation("not writable")

    def seek(self, offset: int, whence: int = 0, /) -> int:
        raise io.UnsupportedOperation("not seekable")

    def tell(self) -> int:
        raise io.UnsupportedOperation("not seekable")

    def close(self) -> None:
        """The stream is not ours to close."""


def is_binary(stream: Any) -> bool:
    """Whether a stream takes bytes."""
    return isinstance(stream, io.RawIOBase | io.BufferedIOBase) or "b" in getattr(stream, "mode", "")
