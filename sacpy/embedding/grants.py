"""What the programs of a session may touch: `World`.

In: grants, by default none. Out: the world that the interpreter sees (`interp/world.py`).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from sacpy.nodes import Node

if TYPE_CHECKING:
    from sacpy.interp import world as interp


class World(Node):
    """What programs may touch. By default they print and read the clock, nothing else.

    `files`: open, list, make and remove files. `processes`: run other programs. `environment`: True for this process's
    own environment, or the variables to show instead. `libraries`: load shared libraries, all or the ones named.
    `stdin`: the text or bytes to read, or a stream; nothing by default. `stdout`, `stderr`: streams, text or binary; by
    default `sys.stdout` and `sys.stderr` as they are when something is printed."""

    files: bool = False
    processes: bool = False
    environment: bool | Mapping[str, str] = False
    libraries: bool | Collection[str] = False
    stdin: str | bytes | Any = b""
    stdout: Any = None
    stderr: Any = None

    @classmethod
    def everything(cls) -> World:
        """All that the command line allows; it reads from `sys.stdin`."""
        return cls(files=True, processes=True, environment=True, libraries=True, stdin=sys.stdin)

    def open(self, argv: tuple[bytes, ...], output_limit: int | None) -> interp.World:
        """The world for the interpreter; `argv[0]` is the program's name."""
        from sacpy.embedding.streams import Input, Output
        from sacpy.interp.world import World as Interpreted

        stdin = self.stdin.encode() if isinstance(self.stdin, str) else self.stdin
        environ: MutableMapping[bytes, bytes] | None = None
        if isinstance(self.environment, Mapping):
            environ = {os.fsencode(k): os.fsencode(v) for k, v in self.environment.items()}
        elif self.environment:
            environ = os.environb
        libraries = (self.libraries,) if isinstance(self.libraries, str) else self.libraries
        return Interpreted(
            io.BytesIO(stdin) if isinstance(stdin, bytes | bytearray) else Input(stdin),
            Output(lambda: sys.stdout if self.stdout is None else self.stdout),
            Output(lambda: sys.stderr if self.stderr is None else self.stderr),
            argv, files=self.files, processes=self.processes, environment=environ is not None, libraries=libraries,
            environ=environ, output_limit=output_limit,
        )  # fmt: skip
