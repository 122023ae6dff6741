"""Natives of the classes TermFile and File: characters, lines, formatted output and input over a `Stream`.

Both classes are streams, so one function serves both; those without a stream parameter use the standard one. A system
error is its number, -1 for none, as the module SysErr has it.
"""

from __future__ import annotations

import os
import re
from typing import Any, cast

from sacpy.interp import memory
from sacpy.interp.natives import native
from sacpy.interp.natives.formatting import sprintf
from sacpy.interp.streams import RawFile, Stream, Unopened
from sacpy.interp.world import World, shown

NO_ERROR = -1
_LINE = re.compile(rb"[^\n]*")
END_OF_FILE = 255  # C's EOF, cut to a char


@native("TermFile::createStdIn/0")
def create_stdin(world: World) -> Stream:
    return world.stdin


@native("TermFile::createStdOut/0")
def create_stdout(world: World) -> Stream:
    return world.stdout


@native("TermFile::createStdErr/0")
def create_stderr(world: World) -> Stream:
    return world.stderr


# ---------------------------------------------------------------- files


@native("File::fopen/2")
def fopen(world: World, name: bytes, mode: bytes) -> tuple[int, Stream]:
    try:
        return NO_ERROR, world.open(name, mode)
    except OSError as error:
        return failed(error, name)


def failed(error: OSError, name: bytes) -> tuple[int, Stream]:
    """The error's number, and a stream that nothing can be done with."""
    return error.errno or 0, Unopened(shown(name), error.strerror or str(error))


@native("File::mkstemp/1")
def mkstemp(world: World, template: bytes) -> tuple[int, Stream, bytes]:
    world.allow_files("make a temporary file")
    memory.room(10 * len(template))
    import tempfile  # takes as long to load as a short program to run

    stem = template.removesuffix(b"XXXXXX")
    try:
        number, path = tempfile.mkstemp(prefix=os.path.basename(stem), dir=os.path.dirname(stem) or b".")
    except OSError as error:
        return *failed(error, template), template
    raw = cast(RawFile, open(number, "w+b", buffering=0))  # noqa: SIM115
    name = os.path.join(os.path.dirname(stem), os.path.basename(path))
    return NO_ERROR, world.adopt(Stream(raw, shown(name), readable=True, writable=True)), name


@native("File::tmpfile/0")
def tmpfile(world: World) -> tuple[int, Stream, bytes]:
    return mkstemp(world, b"TMP_XXXXXX")


@native("File::fclose/1")
def fclose(world: World, stream: Stream) -> None:
    world.close(stream)


@native("File::fremove/1")
def fremove(world: World, name: bytes) -> None:
    world.allow_files(f"remove {shown(name)}")
    try:
        os.rmdir(name) if os.path.isdir(name) else os.remove(name)
    except OSError:
        return


@native("File::fseek/3")
def fseek(world: World, stream: Stream, offset: int, base: int) -> Stream:
    stream.seek(offset, base)
    return stream


@native("File::ftell/1")
def ftell(world: World, stream: Stream) -> tuple[int, Stream]:
    return stream.tell(), stream


@native("File::rewind/1")
def rewind(world: World, stream: Stream) -> Stream:
    stream.seek(0, 0)
    return stream


# ---------------------------------------------------------------- characters and lines


@native("TermFile::fputc/2", "File::fputc/2")
def fputc(world: World, code: int, stream: Stream) -> Stream:
    stream.write(bytes((code,)))
    return stream


@native("TermFile::putc/1")
def putc(world: World, code: int) -> None:
    world.stdout.write(bytes((code,)))


@native("TermFile::fgetc/1", "File::fgetc/1")
def fgetc(world: World, stream: Stream) -> tuple[int, Stream]:
    return stream.getc() & END_OF_FILE, stream


@native("TermFile::getc/0")
def getc(world: World) -> int:
    return world.stdin.getc() & END_OF_FILE


@native("TermFile::ungetc/2", "File::ungetc/2")
def ungetc(world: World, code: int, stream: Stream) -> Stream:
    stream.ungetc(code)
    return stream


@native("TermFile::ungetc/1")
def ungetc_stdin(world: World, code: int) -> None:
    world.stdin.ungetc(code)


@native("TermFile::fputs/2", "File::fputs/2")
def fputs(world: World, text: bytes, stream: Stream) -> Stream:
    stream.write(text)
    return stream


@native("TermFile::puts/1")
def puts(world: World, text: bytes) -> None:
    world.stdout.write(text)
    world.stdout.write(b"\n")


@native("TermFile::fgets/2", "File::fgets/2")
def fgets(world: World, size: int, stream: Stream) -> tuple[int, bytes, Stream]:
    line = stream.readline(size - 1)
    return (NO_ERROR if line else 0), line, stream


@native("TermFile::gets/1")
def gets(world: World, size: int) -> tuple[int, bytes]:
    return fgets(world, size, world.stdin)[:2]


@native("TermFile::fgetl/1", "File::fgetl/1")
def fgetl(world: World, stream: Stream) -> tuple[int, bytes, Stream]:
    """A whole line without its end. An error, together with what was there, where the input ends before the line
    does."""
    line = stream.take(_LINE)
    return NO_ERROR if stream.getc() >= 0 else 0, line, stream


@native("TermFile::getl/0")
def getl(world: World) -> tuple[int, bytes]:
    return fgetl(world, world.stdin)[:2]


@native("TermFile::fscans/2", "File::fscans/2")
def fscans(world: World, stream: Stream, limit: int) -> tuple[bytes, Stream]:
    from sacpy.interp.natives.scanning import SPACE, WORD  # loaded by programs that read

    stream.take(SPACE)
    return stream.take(WORD, max(1, limit)), stream


@native("TermFile::scans/1")
def scans(world: World, limit: int) -> bytes:
    return fscans(world, world.stdin, limit)[0]


@native("TermFile::fscanl/2", "File::fscanl/2")
def fscanl(world: World, stream: Stream, limit: int) -> tuple[bytes, Stream]:
    return stream.readline(limit), stream


@native("TermFile::scanl/1")
def scanl(world: World, limit: int) -> bytes:
    return world.stdin.readline(limit)


@native("TermFile::fflush/1", "File::fflush/1")
def fflush(world: World, stream: Stream) -> Stream:
    stream.flush()
    return stream


@native("TermFile::flush/0")
def flush(world: World) -> None:
    world.stdout.flush()


@native("TermFile::feof/1", "File::feof/1")
def feof(world: World, stream: Stream) -> tuple[bool, Stream]:
    return stream.at_end, stream


@native("TermFile::eof/0")
def eof(world: World) -> bool:
    return world.stdin.at_end


# ---------------------------------------------------------------- formatted


@native("TermFile::printf/1...")
def printf(world: World, fmt: bytes, *args: Any, bases: tuple[str, ...]) -> None:
    world.stdout.write(sprintf(fmt, args, bases[1:]))


@native("TermFile::fprintf/2...", "File::fprintf/2...")
def fprintf(world: World, stream: Stream, fmt: bytes, *args: Any, bases: tuple[str, ...]) -> Stream:
    stream.write(sprintf(fmt, args, bases[2:], "fprintf"))
    return stream


@native("TermFile::scanf/1...", wants_result_bases=True)
def scanf(world: World, fmt: bytes, *, result_bases: tuple[str, ...]) -> tuple[Any, ...]:
    from sacpy.interp.natives.scanning import scan  # loaded by programs that read

    return scan(world.stdin, fmt, result_bases)


@native("TermFile::fscanf/2...", "File::fscanf/2...", wants_result_bases=True)
def fscanf(world: World, stream: Stream, fmt: bytes, *, result_bases: tuple[str, ...]) -> tuple[Any, ...]:
    from sacpy.interp.natives.scanning import scan  # loaded by programs that read

    return *scan(stream, fmt, result_bases, "fscanf"), stream
