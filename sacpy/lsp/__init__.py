"""The language server: what editors know about SaC programs while they are being written.

- `analysis`: what is known of one text; `symbols`: its names; `types`: those of its variables;
- `knowledge`, `hints`, `completion`, `renaming`, `problems`: what is answered from that;
- `documents`: the open texts, and the way between offsets and an editor's positions;
- `server`: the protocol.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sacpy.base.distribution import extra
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE


def serve(
    search: Sequence[Path] = (), include_path: Sequence[Path] = (), defines: Mapping[str, str] | None = None
) -> int:
    """Serves an editor on standard input and output until it says goodbye. Raises `SacError` (E0790) where pygls is not
    installed."""
    try:
        import pygls  # noqa: F401
    except ImportError:
        message = "the language server needs the package pygls, which is not installed"
        raise SacError(Diagnostic("E0790", message, NOWHERE, help=extra("lsp"))) from None
    from sacpy.lsp.server import make_server

    if sys.stdin.isatty():
        sys.stderr.write(
            "sacpy lsp waits for an editor on standard input; docs/editors.md says how editors start it. Ctrl-C ends "
            "it.\n"
        )
    make_server(search, include_path, defines or {}).start_io()
    return 0
