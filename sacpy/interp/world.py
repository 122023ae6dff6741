"""The world a program runs in: standard streams, command line, environment, files, processes and clocks, with switches
that say which of them it may touch.

In: what a session allows. Out: the object every native function gets as its first argument. Nothing else in the
interpreter reaches outside.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Callable, Collection, MutableMapping
from typing import cast

from sacpy.interp.errors import Exit, Fault
from sacpy.interp.streams import RawFile, Stream

LONGEST_SHOWN = 200  # bytes of a text in a message
MODES = {"r": "rb", "r+": "r+b", "w": "wb", "w+": "w+b", "a": "ab", "a+": "a+b"}


class World:
    """Streams are binary and unbuffered underneath; `argv[0]` is the program's name. `files`, `processes`,
    `environment` and `libraries` (shared ones, all or by name) say what the program may use; `output_limit` bounds the
    bytes it may print."""

    def __init__(
        self,
        stdin: RawFile,
        stdout: RawFile,
        stderr: RawFile,
        argv: tuple[bytes, ...] = (b"sac",),
        *,
        files: bool = True,
        processes: bool = True,
        environment: bool = True,
        libraries: bool | Collection[str] = True,
        environ: MutableMapping[bytes, bytes] | None = None,
        output_limit: int | None = None,
        by_line: bool = False,
    ) -> None:
        self.argv = argv
        self.files = files
        self.processes = processes
        self.environment = environment
        self.libraries = libraries
        self.stdout = Stream(stdout, "stdout", writable=True, by_line=by_line, limit=output_limit)
        self.stderr = Stream(
            stderr, "stderr", writable=True, unbuffered=True, before=self.stdout.flush, limit=output_limit
        )
        self.stdin = Stream(stdin, "stdin", readable=True, before=self.stdout.flush)
        # what a library module keeps between calls (the scanner of options, an open pipe's process)
        self.state: dict[str, object] = {}
        # called before a process starts that may write where the world's streams do
        self.before_process: Callable[[], None] = _nothing
        # shows the PNG picture of a display, by its number, where there is something better than files and terminals
        self.screen: Callable[[int, bytes], None] | None = None
        # the files that values are mapped from, by device and number
        self.mapped: set[tuple[int, int]] = set()
        self._environ = environ if environ is not None else {}
        self._open: set[Stream] = set()

    @classmethod
    def system(cls, argv: tuple[bytes, ...], *, silent: bool = False) -> World:
        """The real world, for the command line: the process's own streams and environment, everything allowed.
        `silent`: what goes to standard output is dropped."""
        out = open(os.devnull, "wb", buffering=0) if silent else _standard(1)  # noqa: SIM115 - the world closes it
        return cls(_standard(0), out, _standard(2), argv, environ=os.environb, by_line=os.isatty(1))

    @classmethod
    def captured(
        cls,
        stdin: bytes = b"",
        argv: tuple[bytes, ...] = (b"test",),
        *,
        allowed: bool = True,
        output_limit: int | None = None,
    ) -> World:
        """A world in memory, for tests and embedding: `out()` and `err()` tell what was written."""
        return cls(
            io.BytesIO(stdin), io.BytesIO(), io.BytesIO(), argv,
            files=allowed, processes=allowed, environment=allowed, libraries=allowed,
            environ=dict(os.environb) if allowed else None, output_limit=output_limit,
        )  # fmt: skip

    def out(self) -> bytes:
        """What a captured world's standard output holds so far."""
        self.stdout.flush()
        return cast(io.BytesIO, self.stdout.raw).getvalue()

    def err(self) -> bytes:
        """What a captured world's standard error holds so far."""
        self.stderr.flush()
        return cast(io.BytesIO, self.stderr.raw).getvalue()

    # ------------------------------------------------------------ streams

    def flush(self) -> None:
        """Flushes standard output."""
        self.stdout.flush()

    def renew_limit(self, output_limit: int | None) -> None:
        """From here on, so many bytes may be printed on either stream."""
        self.stdout.renew_limit(output_limit)
        self.stderr.renew_limit(output_limit)

    def finish(self) -> int | None:
        """Writes everything that is still buffered, at the end of a program however it ends, and closes its files. The
        status to exit with where that cannot be done (its reader is gone, the disk is full), else None."""
        status = None
        for stream in (self.stdout, self.stderr, *self._open):
            try:
                stream.flush()
            except Exit as stop:
                status = stop.status
            except Fault as fault:
                status = 1
                self._say(fault.message)
            stream.discard()
        for stream in tuple(self._open):
            self.close(stream)
        return status

    def _say(self, message: str) -> None:
        """A last word on standard error, if that still works."""
        with contextlib.suppress(OSError):
            self.stderr.raw.write(f"sacpy: {message}\n".encode())

    def open(self, path: bytes, mode: bytes) -> Stream:
        """Opens a file as C's `fopen` does. Raises OSError where the system refuses, and Fault for a mode that does not
        exist."""
        self.allow_files(f"open {shown(path)}")
        plain = "" if len(mode) > 3 else mode.replace(b"b", b"").replace(b"t", b"").decode("latin-1")
        if plain not in MODES:
            raise Fault(
                "E0651",
                f'"{shown(mode)}" is not a mode to open a file in',
                help='use "r", "w", "a", "r+", "w+" or "a+", with a "b" at the end if you like',
            )
        if plain != "r":
            self.before_writing(path, keep=plain[0] != "w")
        raw = cast(RawFile, open(path, MODES[plain], buffering=0))  # noqa: SIM115
        return self.adopt(Stream(raw, shown(path), readable=plain[0] == "r" or "+" in plain, writable=plain != "r"))

    def before_writing(self, path: bytes, *, keep: bool = False) -> None:
        """Values that are mapped from a file stay as they are: it gets another place on the disk before something is
        written to it, with what it holds if that is to be kept. Raises OSError."""
        try:
            stat = os.stat(path) if self.mapped else None
        except OSError:
            return
        if stat is None or (stat.st_dev, stat.st_ino) not in self.mapped:
            return
        import shutil
        import tempfile

        real = os.path.realpath(path)
        number, other = tempfile.mkstemp(dir=os.path.dirname(real))
        try:
            with open(number, "wb") as new, open(real, "rb") as old:
                if keep:
                    shutil.copyfileobj(old, new)
            os.chmod(other, stat.st_mode & 0o7777)
            os.replace(other, real)
        except BaseException:
            os.unlink(other)
            raise

    def adopt(self, stream: Stream) -> Stream:
        """Takes care of a stream: it is flushed and closed at the end at the latest."""
        self._open.add(stream)
        return stream

    def close(self, stream: Stream) -> None:
        """Closes a stream."""
        self._open.discard(stream)
        stream.close()

    # ------------------------------------------------------------ permissions

    def allow_files(self, what: str) -> None:
        """Raises a Fault unless the program may use files."""
        if not self.files:
            raise Fault(
                "E0750",
                f"this session has no access to files, so the program cannot {what}",
                help="run it from the command line, or open the session with sacpy.World(files=True)",
            )

    def allow_processes(self, what: str) -> None:
        """Raises a Fault unless the program may start processes; called right before one starts."""
        if not self.processes:
            raise Fault(
                "E0751",
                f"this session has no access to processes, so the program cannot {what}",
                help="run it from the command line, or open the session with sacpy.World(processes=True)",
            )
        self.before_process()

    def allow_library(self, name: str) -> None:
        """Raises a Fault unless the program may load that shared library."""
        if self.libraries is not True and (self.libraries is False or name not in self.libraries):
            raise Fault(
                "E0753",
                f"this session has no access to shared libraries, so the program cannot load {name}",
                help="run it from the command line, or open the session with access to that library",
            )

    @property
    def environ(self) -> MutableMapping[bytes, bytes]:
        """The environment variables. Raises a Fault unless the program may see them."""
        if not self.environment:
            raise Fault(
                "E0752",
                "this session has no access to the environment",
                help="run it from the command line, or open the session with sacpy.World(environment=True)",
            )
        return self._environ

    # ------------------------------------------------------------ clocks and processes

    def monotonic(self) -> int:
        """A clock that only goes forward, in nanoseconds."""
        return time.monotonic_ns()

    def now(self) -> int:
        """The time of day in nanoseconds since 1970."""
        return time.time_ns()

    def run(self, command: bytes) -> int:
        """Runs a command line in the shell with the program's streams and gives its wait status, as C's `system`
        does."""
        self.allow_processes(f"run {shown(command)}")
        import subprocess  # few programs start one

        self.flush()
        status = subprocess.call(["/bin/sh", "-c", command], env=dict(self.environ))
        return status << 8 if status >= 0 else -status


def _nothing() -> None:
    """The default for what is done before a process starts."""


def shown(text: bytes) -> str:
    """Bytes as text for a message; of a long one its beginning."""
    return (text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + b"...").decode(
        "utf-8", "backslashreplace"
    )


def _standard(number: int) -> RawFile:
    """One of the process's own streams, without Python's buffers; an empty one where the process was started without
    it."""
    try:
        return cast(RawFile, open(number, "rb" if number == 0 else "wb", buffering=0, closefd=False))
    except OSError:
        return io.BytesIO()
