"""What the playground does with a text, in the browser's Python or in any other.

In: a text, its standard input, and a function that takes events (dictionaries of plain values, which a worker can post
to its page). Out: events, in the order in which things happened:

- `text`: what was printed, `stream` "out" or "err"; `clear`: the program has cleared its terminal
- `show`: a value or picture, `data` from MIME type to text; `screen` the number of a program's display, or -1
- `said`: diagnostics as sacpy renders them, `text` with ANSI colours, `places` where they are in the text
- `done`: `status` of the program, -1 where it has none, and `seconds`

Definitions with a `main` among them are a program, which runs as on the command line; any other text is a cell of a
notebook.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sacpy.interp.limits import Limits
from sacpy.interp.png import Picture, encode
from sacpy.interp.world import World
from sacpy.lang import ast
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from sacpy.lang.parser import parse_input
from sacpy.lang.source import NOWHERE, Source, Span
from sacpy.notebook.cells import COLUMNS, Cells
from sacpy.notebook.display import PLAIN, PNG, Bundle, encoded
from sacpy.notebook.streams import CLEARED
from sacpy.repl.engine import Engine
from sacpy.repl.parts import parts
from sacpy.workspace import Workspace

Event = dict[str, Any]
Send = Callable[[Event], None]
NAME = "playground.sac"
OUTPUT = 1_000_000  # bytes of output in a run
PAUSE = 0.04  # seconds between two messages with output
DEPTH = 5_000  # Python frames of nested calls, of which a browser's stack holds fewer than a process's
COMMAND = re.compile(r"^[:?]\s*[A-Za-z]", re.M)
_GAP = rb"(?:\s|#[^\n]*\n)+"
PORTABLE = re.compile(rb"P[2356]" + 3 * (_GAP + rb"(\d{1,6})") + rb"\s")
LARGEST = 16_000_000  # bytes of a file that is shown


class Printed:
    """A raw stream that sends what is written, not more often than a page can show."""

    def __init__(self, send: Send, stream: str) -> None:
        self._send, self._stream = send, stream
        self._kept = bytearray()
        self._sent = 0.0

    def write(self, data: bytes | memoryview) -> int:
        """Takes all of it."""
        self._kept += data
        if perf_counter() - self._sent > PAUSE:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Sends what is whole; half a character waits for its other half."""
        if not self._kept:
            return
        whole = len(self._kept)
        for back in range(1, min(4, whole) + 1):  # the first byte of a character says how long it is
            byte = self._kept[-back]
            if byte & 0xC0 != 0x80:
                long = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                whole -= back if long > back else 0
                break
        text = bytes(self._kept[:whole]).decode("utf-8", "replace")
        del self._kept[:whole]
        *before, last = CLEARED.split(text)
        if before:
            self._send({"type": "clear"})
        if last:
            self._send({"type": "text", "stream": self._stream, "text": last})
        self._sent = perf_counter()

    def read(self, size: int = -1, /) -> bytes:
        """Nothing: it is written to."""
        return b""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """There are no places in it."""
        raise OSError("not a file")

    def tell(self) -> int:
        """There are no places in it."""
        raise OSError("not a file")

    def close(self) -> None:
        """Sends the rest."""
        self.flush()


def is_program(text: str) -> bool:
    """Whether the text is nothing but definitions, `main` among them."""
    nodes = parse_input(Source(NAME, text)).nodes
    whole = all(isinstance(n, ast.Definition) for n in nodes) and not COMMAND.search(text)
    return whole and any(isinstance(n, ast.FunDef) and n.name == "main" for n in nodes)


def run(text: str, stdin: str, send: Send, columns: int = COLUMNS) -> None:
    """Runs a program or a cell, and sends what happens. `columns`: of messages."""
    began = perf_counter()
    out, err = Printed(send, "out"), Printed(send, "err")
    world = World(
        io.BytesIO(stdin.encode("utf-8", "surrogateescape")), out, err, (b"playground",),
        processes=False, environment=False, libraries=False, output_limit=OUTPUT, by_line=True,
    )  # fmt: skip
    world.screen = lambda number, picture: send(
        {"type": "show", "screen": number, "data": {PNG: encoded(picture), PLAIN: f"<display {number}>"}}
    )
    workspace = Workspace(target="interp", limits=Limits(depth=DEPTH))

    def show(found: Bundle) -> None:
        out.flush()
        send({"type": "show", "screen": -1, "data": dict(found)})

    status: int | None = None
    with _folder(send):
        try:
            said: Sequence[Diagnostic]
            if is_program(text):
                status, said = _program(workspace, world, text)
            else:
                outcome = Cells(Engine(workspace, world), show, show).run(text, NAME)
                status, said = outcome.status, outcome.diagnostics
        finally:
            world.finish()
            out.flush()
            err.flush()
    _say(send, said, text, columns)
    send({"type": "done", "status": -1 if status is None else status, "seconds": perf_counter() - began})


def check(text: str, send: Send) -> None:
    """Looks a text over without running it: a program as `sacpy check` does, a cell for its grammar alone, as its types
    depend on values."""
    said: Sequence[Diagnostic] = ()
    try:
        if is_program(text):
            said = Workspace(target="interp").check_text(text, NAME)[1]
        else:
            engine = Engine(Workspace(target="interp"), World.captured())
            stretches = [p.text for p in parts(text, engine) if not p.command and not engine.well_formed(p.text)]
            said = [d for stretch in stretches for d in parse_input(Source(NAME, stretch)).diagnostics]
    except SacError as error:
        said = error.diagnostics
    send({"type": "checked", "places": [_place(d, text) for d in said if d.span.source.text]})


def _program(workspace: Workspace, world: World, text: str) -> tuple[int | None, Sequence[Diagnostic]]:
    """Runs a program: its status, and what is to be said."""
    said: list[Diagnostic] = []
    try:
        program, said = workspace.load_text(text, NAME)
        return workspace.run(program, world, said), said
    except SacError as error:
        return None, [*(d for d in said if d not in error.diagnostics), *error.diagnostics]
    except KeyboardInterrupt:
        return None, [*said, Diagnostic("E0702", "the run was interrupted", NOWHERE)]


# ---------------------------------------------------------------- diagnostics


def _say(send: Send, said: Sequence[Diagnostic], text: str, columns: int) -> None:
    if said:
        rendered = render_text(said, color=True, width=columns, wrap=True)
        places = [_place(d, text) for d in said if d.span.source.text]
        send({"type": "said", "text": rendered.rstrip("\n") + "\n", "places": places})


def _place(found: Diagnostic, text: str) -> Event:
    """Where a diagnostic is in the text: lines from 1, columns from 0 in UTF-16 units, as a browser counts."""
    span = found.span
    while span.macro is not None and span.source.name != NAME:
        span = span.macro
    lines = text.split("\n")
    line, column = _unit(span, span.start, lines)
    end_line, end_column = _unit(span, max(span.end, span.start + 1), lines)
    message = "\n".join(part for part in (found.message, found.label, *found.notes, found.help) if part)
    return {
        "severity": found.severity, "code": found.code, "message": message,
        "line": line, "column": column, "endLine": end_line, "endColumn": end_column,
    }  # fmt: skip


def _unit(span: Span, at: int, lines: Sequence[str]) -> tuple[int, int]:
    line, column = span.source.position(at)
    line = min(line, len(lines))
    before = lines[line - 1][: column - 1]
    return line, len(before.encode("utf-16-le", "surrogatepass")) // 2


# ---------------------------------------------------------------- files


@contextmanager
def _folder(send: Send) -> Iterator[None]:
    """An empty folder to run in. The pictures and other files that are left in it are shown."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            for file in sorted(p for p in Path(folder).rglob("*") if p.is_file()):
                send(_file(file, str(file.relative_to(folder))))


def _file(file: Path, name: str) -> Event:
    size = file.stat().st_size
    if size > LARGEST:
        return {"type": "file", "name": name, "size": size, "png": "", "bytes": ""}
    data = file.read_bytes()
    png = data if data.startswith(b"\x89PNG") else portable(data)
    return {
        "type": "file", "name": name, "size": size,
        "png": "" if png is None else encoded(png), "bytes": encoded(data),
    }  # fmt: skip


def portable(data: bytes) -> bytes | None:
    """The PNG file of a portable graymap or pixmap, as text or binary (P2, P3, P5, P6); None for anything else."""
    found = PORTABLE.match(data)
    width, height, most = (int(found[number]) for number in (1, 2, 3)) if found else (0, 0, 0)
    if found is None or not 0 < most < 1 << 16:
        return None
    try:
        at = found.end()
        planes = 3 if data[:2] in (b"P3", b"P6") else 1
        count = width * height * planes
        if data[:2] in (b"P2", b"P3"):
            samples = np.array(data[at:].split()[:count], dtype=np.float64)
        else:
            kind = ">u2" if most > 255 else "u1"
            samples = np.frombuffer(data[at:], kind, count).astype(np.float64)
        grid = np.rint(np.clip(samples / most, 0, 1) * 255).astype(np.uint8).reshape(height, width, planes)
        pixels: Picture = np.ascontiguousarray(np.broadcast_to(grid, (height, width, 3)))
        return encode(pixels)
    except ValueError:
        return None  # it only begins like one: shown as any other file
