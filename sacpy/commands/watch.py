"""`sacpy watch`: runs a program again whenever its text changes.

In: a program's file, and how to run it. Out: what it prints, run after run, each with its exit status. What counts is
the content of the files: those of the program, of the modules that it uses and of what these include, save the
library's. A run that is still going on when they change is ended.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sacpy.base.digests import new_digest
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.files import sac_files
from sacpy.lang.modules import other_file
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Record, field

POLL = 0.1  # seconds between two looks
GRACE = 1.0  # seconds that a run has to end before it is killed
CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_USED = re.compile(r"\b(?:use|import)\s+(\w+)|\b(\w+)\s*::")
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


class Files(Record):
    """The files that programs are made of. `program` and `more` may be folders, for all programs and modules in them.
    `search`: further folders of modules; `include_path`: of included files."""

    program: Path
    search: Sequence[Path] = ()
    include_path: Sequence[Path] = ()
    more: Sequence[Path] = ()
    _known: dict[Path, tuple[tuple[int, int], bytes, str]] = field(default_factory=dict)

    def roots(self) -> list[Path]:
        """The files that others are found from."""
        return list(sac_files([self.program, *self.more]))

    def missing(self) -> Path | None:
        """The first that is not there."""
        return next((path for path in (self.program, *self.more) if not path.exists()), None)

    def digests(self) -> dict[Path, bytes]:
        """A digest of each file that is there now."""
        found: dict[Path, bytes] = {}
        waiting = self.roots()
        while waiting:
            path = waiting.pop()
            if path in found:
                continue
            read = self._read(path)
            if read is not None:
                found[path], text = read
                waiting += self._mentioned(path, text)
        return found

    def _read(self, path: Path) -> tuple[bytes, str] | None:
        """The digest and text of a file; it is read only where its size or time is another than before."""
        try:
            stat = path.stat()
            stamp = stat.st_mtime_ns, stat.st_size
            known = self._known.get(path)
            if known is None or known[0] != stamp:
                data = path.read_bytes()
                known = self._known[path] = stamp, new_digest(data).digest(), data.decode("utf-8", "replace")
        except OSError:
            return None
        return known[1], known[2]

    def _mentioned(self, path: Path, text: str) -> list[Path]:
        """The files of modules and includes that a text names, where they would be."""
        home = path.parent
        modules = {f"{a or b}.sac" for a, b in _USED.findall(text)}
        folders = list(dict.fromkeys((home, self.program.parent, *self.search)))
        return [folder / name for name in sorted(modules) for folder in folders] + [
            folder / name for name in _INCLUDED.findall(text) for folder in (home, *self.include_path)
        ]


def watch(files: Files, command: Sequence[str], *, screen: bool) -> int:
    """Runs the command now and after each change, until Ctrl-C. `screen`: each run begins on an empty screen. Gives the
    exit status, 0. Raises `SacError` where there is no program."""
    try:
        missing = files.missing()
        if missing is not None:
            raise SacError(
                Diagnostic("E0303", f"cannot read {missing}: there is no such file", NOWHERE, help=other_file(missing))
            )
        while True:
            before = files.digests()
            if screen:
                sys.stdout.write(CLEAR)
                sys.stdout.flush()
            status = _run(command, files, before)
            _say(status, len(before))
            while files.digests() == before:
                time.sleep(POLL)
            _settle(files)
    except KeyboardInterrupt:
        return 0


def _run(command: Sequence[str], files: Files, before: dict[Path, bytes]) -> int | None:
    """Runs the command to its end, and gives its status; None where a change came first."""
    process = subprocess.Popen(command)
    try:
        while True:
            try:
                return process.wait(POLL)
            except subprocess.TimeoutExpired:
                if files.digests() != before:
                    return None
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _settle(files: Files) -> None:
    """Waits until the program is there and nothing changes between two looks: editors write files in several steps."""
    before = files.digests()
    while True:
        time.sleep(POLL)
        after = files.digests()
        if after == before and all(root in after for root in files.roots()):
            return
        before = after


def _say(status: int | None, count: int) -> None:
    what = "ended by a change" if status is None else f"exit status {status}"
    sys.stderr.write(f"[{what}; watching {count} file{'s' if count != 1 else ''}, Ctrl-C ends]\n")
    sys.stderr.flush()
