"""What stands above functions in an editor: run, test, explain; and what happens when it is clicked.

In: an `Analysis`; the words of a command. Out: `Lens`es; a child process that does what `sacpy run`, `sacpy test` or
`sacpy explain` does, with its output handed on line by line. Programs run apart from the server, so that one that
never ends, or fails badly, does not disturb it; there is at most one for each file, and a new one ends the old.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sacpy.documents.library import split_comment
from sacpy.lang import ast
from sacpy.lang.source import Span
from sacpy.lsp.analysis import Analysis, Settings
from sacpy.nodes import Node, field_names

COMMANDS = {"sacpy.server.run": "run", "sacpy.server.test": "test", "sacpy.server.explain": "explain"}
SHOWN = 12  # lines of output in the message at the end


class Lens(Node):
    """A word above a function. `command`: of `COMMANDS`; `name`: the function, "" for the program."""

    span: Span
    title: str
    command: str
    name: str


def lenses(analysis: Analysis) -> Iterator[Lens]:
    """All lenses of a text, in order."""
    for d in analysis.module.definitions:
        if not isinstance(d, ast.FunDef) or d.body is None or d.span.source is not analysis.source:
            continue
        program = analysis.module.kind == "program"
        if d.name == "main" and program and not d.params:
            yield Lens(d.name_span, "run", "sacpy.server.run", "")
        examples = split_comment(d.doc)[1]
        if examples:
            count = len(examples)
            yield Lens(d.name_span, f"test {count} example{'s' * (count != 1)}", "sacpy.server.test", d.name)
        if program and _has_loop(d.body):
            yield Lens(d.name_span, "explain", "sacpy.server.explain", d.name)


def _has_loop(body: object) -> bool:
    """Whether there is a with-loop or comprehension."""
    waiting: list[object] = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.With | ast.Tensor):
            return True
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, Node) and not isinstance(node, Span):
            waiting += [getattr(node, name) for name in field_names(node)]
    return False


@dataclass
class Runs:
    """The programs that were started from an editor. `tell` gets what they print, line by line; `end` what to say when
    one has ended, and whether that is bad."""

    settings: Settings
    tell: Callable[[str], None]
    end: Callable[[str, bool], None]
    running: dict[Path, asyncio.subprocess.Process] = field(default_factory=dict)

    async def start(self, command: str, path: Path, name: str = "") -> int:
        """Runs a command on a file to its end; its exit status."""
        self.stop(path)
        word = COMMANDS[command]
        arguments = [word, *self._options()]
        if word == "explain" and name:
            arguments += ["--function", name]
        arguments.append(f"{path}::{name}" if word == "test" and name else str(path))
        self.tell(f"$ sacpy {' '.join(arguments)}")
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sacpy", *arguments,
            stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=asyncio.subprocess.STDOUT, cwd=path.parent,
        )  # fmt: skip
        self.running[path] = child
        assert child.stdout is not None
        lines: list[str] = []
        async for line in child.stdout:
            lines.append(line.decode("utf-8", "replace").rstrip("\n"))
            del lines[: -SHOWN - 1]
            self.tell(lines[-1])
        status = await child.wait()
        if self.running.get(path) is child:
            del self.running[path]
            self.end(_summary(word, path, lines, status), status != 0)
        return status

    def stop(self, path: Path | None = None) -> None:
        """Ends what runs of a file; of all without one."""
        for one in [path] if path is not None else list(self.running):
            child = self.running.pop(one, None)
            if child is not None and child.returncode is None:
                child.kill()

    def _options(self) -> list[str]:
        settings = self.settings
        options = [x for folder in settings.search for x in ("-L", str(folder))]
        options += [x for folder in settings.include_path for x in ("-I", str(folder))]
        return options + [x for macro, value in settings.defines.items() for x in ("-D", f"{macro}={value}")]


def _summary(word: str, path: Path, lines: Sequence[str], status: int) -> str:
    """The end of the output, and how it ended."""
    shown = lines[-SHOWN:]
    more = ["..."] if len(lines) > SHOWN else []
    ended = "" if not status else f" (exit status {status})"
    return "\n".join([f"{word} {path.name}{ended}", *more, *shown])
