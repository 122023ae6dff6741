"""`sacpy fmt`: files laid out in the one style.

In: files and folders, or `-` for standard input. Out: the files rewritten (each at once or not at all), or with `check`
and `diff` what would change. A file that does not parse is reported and left as it is.
"""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.files import sac_files
from sacpy.lang.formatter import format_text
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node, field

STANDARD_INPUT = Path("-")


class Formatting(Node):
    """How to format. `check`: change nothing, and fail if something would change; `diff`: change nothing, and print
    what would; the rest as in `Workspace`."""

    check: bool = False
    diff: bool = False
    include_path: Sequence[Path] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    search: Sequence[Path] = ()

    def run(self, paths: Sequence[Path], show: Callable[[Sequence[Diagnostic]], None]) -> int:
        """Formats files; `show` is given what is wrong with them. Gives the exit status: 1 if a file could not be
        formatted, or with `check` if one would change."""
        failed = changed = 0
        for path in sac_files(paths):
            try:
                changed += self._one(path)
            except SacError as error:
                failed += 1
                show(error.diagnostics)
        return int(failed > 0 or (self.check and changed > 0))

    def _one(self, path: Path) -> bool:
        """Formats a file; whether it changed or would."""
        old = _read(path)
        name = "<stdin>" if path == STANDARD_INPUT else str(path)
        new = format_text(old, name, self.include_path, self.defines, self.search)
        if self.diff:
            lines = difflib.unified_diff(
                old.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name}, formatted"
            )
            sys.stdout.write(
                "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
            )
        elif path == STANDARD_INPUT and not self.check:
            sys.stdout.buffer.write(_bytes(new))
            sys.stdout.flush()
        elif old != new:
            if not self.check:
                _write(path, _bytes(new))
            sys.stderr.write(f"{'would change' if self.check else 'formatted'} {name}\n")
        return old != new


def _read(path: Path) -> str:
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    except OSError as error:
        raise SacError(
            Diagnostic(
                "E0303",
                f"cannot read {path}: {error.strerror}",
                NOWHERE,
                help="check the file's name and its permissions",
            )
        ) from None
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _write(path: Path, data: bytes) -> None:
    """Puts the new text in the file's place, with its permissions, where a link leads. Raises `SacError` (E0720), the
    file untouched."""
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, target.stat().st_mode)
        os.replace(temporary, target)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise SacError(
            Diagnostic(
                "E0720",
                f"cannot write {path}: {error.strerror}",
                NOWHERE,
                help="check the permissions of the file and its folder; nothing has been changed",
            )
        ) from None
