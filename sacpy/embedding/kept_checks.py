"""Texts that are loaded again and again, each time in another process: what has been checked is not checked again.

In: the text of a program or module, and what checks it. Out: the program, with what there is to say about it. To check
is to elaborate all that the text defines, and to infer all shapes; where that has been done, functions are elaborated
when they are called. Kept is what was said, under a digest of the text, of all that it means something by and of the
front end, with digests of the files that were read or looked for. Texts with modules of the user's own are checked each
time: their bodies belong to the moment of loading, as does the text itself.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sacpy.base.plain import VERSION, Unpacked
from sacpy.jit.cache import Cache, native_folder
from sacpy.lang import ast
from sacpy.lang.files import CHANGING, are_as_noted, noting
from sacpy.lang.source import Source

if TYPE_CHECKING:
    from sacpy.lang.diagnostics import Diagnostic
    from sacpy.lang.elaborate.program import ElaboratedProgram
    from sacpy.workspace import Workspace

    Checked: TypeAlias = tuple[ElaboratedProgram, list[Diagnostic]]


def checked_file(workspace: Workspace, path: Path) -> Checked:
    """The program in a file, and what there is to say about it. Raises `SacError`."""
    if not path.is_file():  # what is no file can be read but once
        return workspace.check(path)
    source = Source(str(path), path.read_bytes().decode("utf-8", "surrogateescape"))
    return _checked(workspace, source, path.parent, lambda: workspace.check(path))


def checked_text(workspace: Workspace, text: str | ast.Module, name: str) -> Checked:
    """The program in a string, and what there is to say about it; so of one that is a tree already, which is checked
    each time. Raises `SacError`."""
    if isinstance(text, ast.Module):
        return workspace.check_text(text, name, None)
    return _checked(workspace, Source(name, text), None, lambda: workspace.check_text(text, name, None))


def _checked(workspace: Workspace, source: Source, home: Path | None, check: Callable[[], Checked]) -> Checked:
    """By `check`, where nobody knows what that says. `home`: the folder of its modules."""
    cache = Cache(native_folder())
    if cache.folder is None:
        return check()
    try:
        name = workspace.kept_name(source, home, "checked")
    except OSError:
        return check()
    known = _known(cache.read(name), source)
    if known is not None:
        program = workspace.elaborated(source, home)
        program.device = workspace.limits_of_device
        return program, known
    with noting() as noted:
        program, found = check()
    own = [s for s in program.world.scopes.values() if not s.info.library]
    if len(own) == 1 and CHANGING not in noted.values():
        cache.write(name, marshal.dumps((noted, _packed(found, noted) if found else b""), VERSION))
    return program, found


def _known(data: bytes | None, source: Source) -> list[Diagnostic] | None:
    """What was said of a text; None where nobody knows, or files have changed."""
    if data is None:
        return None
    try:
        files, found = marshal.loads(data)
        if are_as_noted(files):
            return _unpacked(found, files, source) if found else []
    except (Unpacked, ValueError, TypeError, EOFError, AttributeError):  # it is none that was written here
        pass
    return None


def _packed(found: list[Diagnostic], files: Mapping[str, str]) -> bytes:
    from sacpy.lang.kept_programs import packing_of

    return packing_of(files).packed(found)


def _unpacked(data: bytes, files: Mapping[str, str], source: Source) -> list[Diagnostic]:
    from sacpy.lang.kept_programs import packing_of

    found: list[Diagnostic] = packing_of(files, source).unpacked(data)
    return found
