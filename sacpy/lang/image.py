"""The parsed library as sacpy's installer leaves it: a file in the package, so that not even the first program has to
wait for the parser.

In: what has been parsed, module by module. Out: the same in a later process. Files that are installed, unpacked or
checked out have any time of change; so the file says of which texts it was made by a digest of their contents, those of
the front end included, and is not looked at once one of them is another. Whoever works on these has the modules parsed
when they are used, as if there were no file.
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sacpy.base.digests import new_digest
from sacpy.base.plain import VERSION
from sacpy.lang.files import sources
from sacpy.lang.source import STDLIB

IMAGE = STDLIB / "parsed.image"
DIGEST = 64  # characters of a digest


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
