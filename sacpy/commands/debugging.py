"""`sacpy dap`: the debug adapter, on standard input and output.

In: the options. Out: the exit status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from sacpy.commands.settings import workspace_of
from sacpy.dap.adapter import Adapter
from sacpy.dap.messages import Connection


def run(parsed: argparse.Namespace, started: Callable[[], None]) -> int:
    """The command."""
    started()
    return Adapter(Connection(sys.stdin.buffer, sys.stdout.buffer), workspace_of(parsed)).serve()
