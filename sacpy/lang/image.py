"""The parsed library as sacpy's installer leaves it: a file in the package, so that not even the first program has to
wait for the parser.

In: what has been parsed, module by module. Out: the same in a later process. Files that are installed, unpacked or
checked out have any time of change; so the file says of which texts it was made by a digest of their contents, those of
the front end included, and is not looked at once one of them is another. Whoever works on these has the modules parsed
when they are used, as if there were no file.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from sacpy.base.digests import new_digest
from sacpy.base.plain import VERSION
from sacpy.lang.files import files_in, stamps
from sacpy.lang.source import STDLIB

PACKAGE = STDLIB.parent
IMAGE = STDLIB / "parsed.image"
DIGEST = 64  # characters of a digest


def sources() -> Iterator[os.DirEntry[str]]:
    """The files that the parsed library, and what is known of its effects, depend on, in the same order everywhere."""
    yield from files_in(STDLIB, (".sac", ".mac", ".h"))
    yield from files_in(PACKAGE / "lang", (".py",), deep=False)
    yield from files_in(PACKAGE, ("nodes.py",), deep=False)
    yield from files_in(PACKAGE / "base", ("plain.py",), deep=False)
    yield from files_in(PACKAGE / "jit" / "run", ("outline.py",), deep=False)


def kept_name(text: str, places: Sequence[Path], settings: Sequence[object]) -> str:
    """What a program is kept under: its text, the files and folders that it is, or may be, made of, and the settings
    that say what it means. Raises `OSError` where one is relative to a folder that is gone."""
    here = "" if all(place.is_absolute() for place in places) else os.getcwd()
    made = new_digest(repr((here, *map(str, places), *settings, _front_end())).encode(errors="surrogateescape"))
    made.update(text.encode("utf-8", "surrogateescape"))
    return f"program-{made.hexdigest()[:40]}"


def _front_end() -> str:
    """A digest of what says what a program means."""
    return f"{sources_digest()} {folder_digest('lang/elaborate', False)} {folder_digest('withloop')}"


@cache
def sources_digest() -> str:
    """A digest of names, sizes and times of `sources`, as they are when this process first asks."""
    return new_digest("\n".join(stamps(sources())).encode()).hexdigest()


@cache
def folder_digest(folder: str, deep: bool = True) -> str:
    """The same of the modules in a folder of the package."""
    return new_digest("\n".join(stamps(files_in(PACKAGE / folder, (".py",), deep))).encode()).hexdigest()


def contents_digest() -> str:
    """A digest of the names and the contents of the files."""
    found = new_digest()
    for file in sources():
        # in half the time of `Path.read_bytes`: there are many small ones
        with open(file.path, "rb", buffering=0) as text:
            data = text.readall()
        found.update(f"{file.name} {len(data)}\n".encode())
        found.update(data)
    return found.hexdigest()


def write_image(parsed: Mapping[str, bytes], path: Path = IMAGE) -> None:
    """Leaves the parsed modules for `read_image`, where the folder can be written."""
    with suppress(PermissionError):
        path.write_bytes(contents_digest().encode() + joined(parsed))


def read_image(path: Path = IMAGE) -> dict[str, bytes]:
    """The parsed modules; none where there is no such file, or it is damaged, or made of other texts."""
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    return parts(memoryview(data)[DIGEST:]) if data[:DIGEST] == contents_digest().encode() else {}


def joined(modules: Mapping[str, bytes]) -> bytes:
    """Parsed modules in one piece: a table of their names and sizes, and they themselves."""
    return marshal.dumps(tuple((name, len(data)) for name, data in modules.items()), VERSION) + b"".join(
        modules.values()
    )


def parts(data: bytes | memoryview) -> dict[str, bytes]:
    """The modules in what `joined` gave; none where it is damaged."""
    try:
        table = marshal.loads(data)
        at = len(marshal.dumps(table, VERSION))
        found = {}
        for name, size in table:
            found[name] = bytes(data[at : at + size])
            at += size
    except (ValueError, EOFError, TypeError):
        return {}
    return found if at == len(data) and all(type(name) is str for name in found) else {}
