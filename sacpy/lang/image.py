"""The parsed library as sacpy's installer leaves it: a file in the package, so that not even the first program has to wait for the parser.

In: what has been parsed, module by module. Out: the same in a later process. Files that are installed, unpacked or checked out have any time of change; so the file says of which texts it was made by a digest of their contents, those of the front end included, and is not looked at once one of them is another. Whoever works on these has the modules parsed when they are used, as if there were no file.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from sacpy.lang.files import files_in
from sacpy.lang.source import STDLIB

PACKAGE = STDLIB.parent
IMAGE = STDLIB / "parsed.image"


def sources() -> Iterator[os.DirEntry[str]]:
    """The files that the parsed library depends on, in the same order everywhere."""
    yield from files_in(STDLIB, (".sac", ".mac", ".h"))
    yield from files_in(PACKAGE / "lang", (".py",), deep=False)
    yield from files_in(PACKAGE, ("nodes.py",), deep=False)


def contents_digest() -> str:
    """A digest of the names and the contents of the files."""
    found = hashlib.sha256()
    for file in sources():
        with open(file.path, "rb", buffering=0) as text:  # in half the time of `Path.read_bytes`: there are many small ones
            data = text.readall()
        found.update(f"{file.name} {len(data)}\n".encode())
        found.update(data)
    return found.hexdigest()


def write_image(parsed: Mapping[str, bytes], path: Path = IMAGE) -> None:
    """Leaves the parsed modules for `read_image`, where the folder can be written."""
    with suppress(PermissionError):
        path.write_bytes(pickle.dumps((contents_digest(), dict(parsed)), pickle.HIGHEST_PROTOCOL))


def read_image(path: Path = IMAGE) -> dict[str, bytes]:
    """The parsed modules; none where there is no such file, or it is damaged, or made of other texts."""
    match unpickled(path):
        case (str(digest), dict(parsed)) if digest == contents_digest():
            return parsed
    return {}


def unpickled(path: Path) -> object:
    """What a file holds that was pickled; None if it is not there, or damaged."""
    try:
        return pickle.loads(path.read_bytes())
    except (OSError, pickle.PickleError, EOFError, AttributeError, ImportError, IndexError, ValueError, TypeError):
        return None
