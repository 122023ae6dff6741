"""The Jupyter kernel: `python -m sacpy.notebook -f CONNECTION_FILE`, which Jupyter starts.

In: Jupyter's requests, which ipykernel receives. Out: their answers: cells run, values as tables and pictures, messages
with carets, completion, documentation, history. One kernel has one engine: what a cell defines the next one knows. An
interrupt stops the run and loses nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import Any, cast

from ipykernel._version import kernel_protocol_version
from ipykernel.kernelbase import Kernel

from sacpy import __version__
from sacpy.commands.options import prompt_workspace
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.notebook.cells import Cells, remarks, report
from sacpy.notebook.display import PLAIN, PNG, Bundle, bundle, encoded
from sacpy.notebook.history import History
from sacpy.notebook.install import OPTIONS
from sacpy.notebook.lookup import documentation, name_at
from sacpy.notebook.streams import Page, open_world
from sacpy.repl.completion import complete
from sacpy.repl.engine import Engine, Outcome
from sacpy.repl.parts import is_command, is_whole, parts

Content = dict[str, Any]
# `?name`, and `name?` as in Python's notebooks
PAGED = re.compile(r"\s*(?:\?(?P<name>[^?\n]+)|(?P<before>[\w:]+)\?)\s*$")
INDENT = "    "
ABOUT = 100  # candidates whose signature is looked up; of more nobody reads it


class SacKernel(Kernel):
    """SaC for Jupyter."""

    implementation = "sacpy"
    implementation_version = __version__
    banner = f"sacpy {__version__}: SaC (Single Assignment C). :help lists the commands, ?name tells what a name is"
    language_info = {  # noqa: RUF012  (a trait of the class)
        "name": "sac",
        "version": __version__,
        "mimetype": "text/x-sac",
        "file_extension": ".sac",
        "pygments_lexer": "sac",
        "codemirror_mode": "text/x-csrc",  # SaC's words and comments are C's
        "nbconvert_exporter": "script",
    }
    help_links = [{"text": "SaC", "url": "https://www.sac-home.org"}]  # noqa: RUF012

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)  # type: ignore[no-untyped-call]
        self._shown = ""
        self._silent = False
        world = open_world(self._ask, Page(lambda: self._send("clear_output", {"wait": True})))
        world.screen = self._screen
        self._on_screen: set[str] = set()
        self._cells = Cells(
            Engine(prompt_workspace(shlex.split(os.environ.get(OPTIONS, ""))), world), self._result, self._show
        )
        self._history = History()

    @property
    def engine(self) -> Engine:
        """What the cells have defined so far."""
        return self._cells.engine

    def set_parent(self, ident: Any, parent: Any, channel: str = "shell") -> None:
        """What is printed from here on belongs to this request."""
        cast(Any, super()).set_parent(ident, parent, channel)
        for stream in (sys.stdout, sys.stderr) if channel == "shell" else ():
            if hasattr(stream, "set_parent"):
                stream.set_parent(parent)

    # ------------------------------------------------------------ running

    async def kernel_info_request(self, stream: Any, ident: Any, parent: Any) -> None:
        """What this kernel is. It has neither a debugger nor subshells, which ipykernel would promise for it: one cell
        runs at a time."""
        names = ("implementation", "implementation_version", "language_info", "banner", "help_links")
        content = {
            "status": "ok",
            "protocol_version": kernel_protocol_version,
            **{name: getattr(self, name) for name in names},
            "supported_features": [],
        }
        cast(Any, self.session).send(stream, "kernel_info_reply", content, parent, ident)

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Content | None = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> Content:
        """Runs a cell."""
        self._allow_stdin, self._silent, self._shown = allow_stdin, silent, ""
        paged = PAGED.match(code)
        if paged and not silent:
            return self._page((paged["name"] or paged["before"]).strip())
        outcome = self._cells.run(code, f"In[{self.execution_count}]")
        if store_history:
            self._history.add(self.execution_count, code, self._shown)
        if remarks(outcome, color=True):
            sys.stderr.write(remarks(outcome, color=True))
        if outcome.failed:
            return self._failed(outcome)
        if outcome.status is not None:
            return self._ended(code, outcome.status)
        return self._done(
            user_expressions={name: self._expression(text) for name, text in (user_expressions or {}).items()}
        )

    def _done(self, **more: Any) -> Content:
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}, **more}

    def _failed(self, outcome: Outcome) -> Content:
        """The message, with its carets and colours in the place of Python's traceback."""
        error = _summary(outcome.diagnostics)
        error["traceback"] = report(outcome, color=True).split("\n")
        if not self._silent:
            self._flush()
            self._send("error", error)
        return {
            "status": "error",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
            **error,
        }

    def _ended(self, code: str, status: int) -> Content:
        """`:quit` ends the kernel; a program that ends itself does not."""
        if is_command(code.strip().split("\n")[-1]):
            return self._done(payload=[{"source": "ask_exit", "keepkernel": False}])
        sys.stderr.write(f"the program ended itself with status {status}\n")
        return self._done()

    def _expression(self, text: str) -> Content:
        """An expression that the page wants to know, beside the cell."""
        try:
            found = self.engine.values_of(text, "user_expressions")
        except SacError as error:
            return {"status": "error", **_summary(error.diagnostics), "traceback": []}
        data: Bundle = bundle(found[-1]) if found else {PLAIN: ""}
        return {"status": "ok", "data": dict(data), "metadata": {}}

    # ------------------------------------------------------------ what the page shows

    def _result(self, data: Bundle) -> None:
        self._shown += ("\n" if self._shown else "") + data[PLAIN]
        if not self._silent:
            self._flush()
            self._send("execute_result", {"execution_count": self.execution_count, "data": dict(data), "metadata": {}})

    def _show(self, data: Bundle) -> None:
        if not self._silent:
            self._flush()
            self._send("display_data", {"data": dict(data), "metadata": {}})

    def _screen(self, number: int, picture: bytes) -> None:
        """A picture of a program's display; each takes the place of the one before in the same cell."""
        name = f"display {number} of cell {self.execution_count}"
        kind = "update_display_data" if name in self._on_screen else "display_data"
        self._on_screen.add(name)
        if not self._silent:
            self._flush()
            self._send(
                kind,
                {
                    "data": {PNG: encoded(picture), PLAIN: f"<display {number}>"},
                    "metadata": {},
                    "transient": {"display_id": name},
                },
            )

    def _page(self, name: str) -> Content:
        """Documentation, in the pager of the page."""
        text = documentation(self.engine, name)
        if text is None:
            return self._failed(self._cells.run(f"?{name}"))
        return self._done(payload=[{"source": "page", "data": {PLAIN: text}, "start": 0}])

    def _send(self, kind: str, content: Content) -> None:
        cast(Any, self).send_response(self.iopub_socket, kind, content)

    @staticmethod
    def _flush() -> None:
        """What was printed before stands before what is shown next."""
        sys.stdout.flush()
        sys.stderr.flush()

    def _ask(self) -> str | None:
        """A line from the reader of the page, if there is one to ask."""
        return cast(str, cast(Any, self).raw_input("")) if self._allow_stdin else None

    # ------------------------------------------------------------ while typing

    async def do_is_complete(self, code: str) -> Content:
        """Whether Enter runs the code or begins another line."""
        if not is_whole(code, self.engine):
            return {"status": "incomplete", "indent": _indent(code)}
        right = all(part.command or self.engine.well_formed(part.text) for part in parts(code, self.engine))
        return {"status": "complete" if right else "invalid"}

    async def do_complete(self, code: str, cursor_pos: int | None) -> Content:
        """What may stand at the cursor."""
        position = len(code) if cursor_pos is None else cursor_pos
        found = complete(self.engine, code, position)
        kinds = [
            {
                "start": found.start,
                "end": position,
                "text": c.text,
                "type": c.kind,
                "signature": c.about() if k < ABOUT else "",
            }
            for k, c in enumerate(found.candidates)
        ]
        return {
            "status": "ok",
            "matches": [c.text for c in found.candidates],
            "cursor_start": found.start,
            "cursor_end": position,
            "metadata": {"_jupyter_types_experimental": kinds},
        }

    async def do_inspect(
        self, code: str, cursor_pos: int | None, detail_level: int = 0, omit_sections: Any = ()
    ) -> Content:
        """What the name at the cursor is."""
        name = name_at(code, len(code) if cursor_pos is None else cursor_pos)
        text = documentation(self.engine, name) if name else None
        return {
            "status": "ok",
            "found": text is not None,
            "data": {} if text is None else {PLAIN: text},
            "metadata": {},
        }

    async def do_history(self, *arguments: Any, **request: Any) -> Content:
        """What was entered before."""
        return {"status": "ok", "history": self._history.answer(request)}

    async def do_shutdown(self, restart: bool) -> Content:
        """Writes what is still buffered, and closes files."""
        self.engine.world.finish()
        return {"status": "ok", "restart": restart}


def _summary(diagnostics: tuple[Diagnostic, ...]) -> Content:
    """The first error in Jupyter's words: a name and a value."""
    first = next((d for d in diagnostics if d.severity == "error"), None)
    return {"ename": first.code if first else "error", "evalue": first.message if first else ""}


def _indent(code: str) -> str:
    """How far the next line is indented: as the last one, and deeper behind an opening bracket."""
    last = code.rstrip("\n").rsplit("\n", 1)[-1]
    return last[: len(last) - len(last.lstrip())] + (INDENT if last.rstrip().endswith(("{", "(", "[")) else "")
