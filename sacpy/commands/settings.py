"""What the words of a command line come to: which command, its settings, and the `Workspace` that they stand for.

In: a namespace of what was stated, by `options`, which knows all options. Out: a `Workspace`, or a message and the exit
status for wrong use. A run of a program without any options, which most are, is told here, without `argparse`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    import argparse

    from sacpy.lang.core import CheckedProgram
    from sacpy.workspace import Workspace

TOOLS = {
    "test": ("testing", "run the tests in programs and modules"),
    "bench": ("benching", "how long calls take, on several targets, and against an earlier state of the program"),
    "new": ("beginning", "a folder to begin with: a program, a module, or a Python package that embeds SaC"),
    "profile": ("profiling", "run a program, and say where the time went, line by line"),
    "dap": ("debugging", "what editors debug with: the debug adapter, on standard input and output"),
}
"""Commands that have a module of their own here: what it is called, and what the command does."""
ON_ALL = ("test",)
"""Of them, those that run programs on any target, or on all."""
RUNS = ("profile",)
"""Of them, those that run a program with words of its own."""
COMMANDS = (
    "run", "watch", "check", *TOOLS, "eval", "explain", "picture", "fmt", "stubs", "lsp", "doc", "cache", "doctor",
    "kernel", "repl",
)  # fmt: skip
GENERATIONS = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100")
"""Of GPUs: those of withloop.devices, which is loaded only where it is needed."""
RUNNING = (
    "--target", "--device", "--threads", "--strategy", "--memory", "--seconds", "--depth", "--emit", "--function",
    "--html", "--rows",
)  # fmt: skip
"""Options of a run that take a value."""
FLAGS = (
    "--debug", "--progress", "--strict-fp", "--stats", "--explain", "--verify", "--no-border-split",
    "--no-short-circuit",
)  # fmt: skip
"""Those that take none."""
SETTINGS = (
    "target", "threads", "strategy", "strict_fp", "verify", "device", "split_borders", "short_circuit",
)  # fmt: skip
"""Options that a workspace has under the same name."""
WRONG_USE = 2
PLAIN: dict[str, Any] = {
    "command": "run", "target": "auto", "device": "", "threads": None, "strategy": "auto", "strict_fp": False,
    "short_circuit": True, "verify": False, "split_borders": True, "memory": None, "seconds": None, "depth": None,
    "stats": False, "explain": False, "emit": None, "function": "", "progress": False, "debug": False,
}  # fmt: skip
"""What a run has that states nothing."""


def plain_run(argv: Sequence[str]) -> argparse.Namespace | None:
    """What `options.parse` gives for a run of a program without options: `FILE.sac ..` or `run FILE.sac ..`; None for
    all other command lines."""
    words = list(argv)[argv[:1] == ["run"] :]
    if not words or words[0].startswith("-") or not words[0].endswith(".sac"):
        return None
    lists: dict[str, list[str]] = {"defines": [], "include": [], "search": []}
    file, *rest = words
    stated = SimpleNamespace(**PLAIN, **lists, file=Path(file), options=[file], rest=rest, words_given=list(argv))
    return cast("argparse.Namespace", stated)


def refuse(message: str, command: str = "sacpy") -> NoReturn:
    sys.stderr.write(f"{command}: error: {message}\n")
    raise SystemExit(WRONG_USE)


def refuse_misplaced(parsed: argparse.Namespace, program: CheckedProgram) -> None:
    """Ends with a message if options stand behind the file of a program that does not look at its words."""
    behind = [word for word in getattr(parsed, "rest", ()) if word.partition("=")[0] in (*RUNNING, *FLAGS)]
    if behind and not program.reads_words():
        name = parsed.file.name
        refuse(
            f"{behind[0]} stands behind {name}, and what stands there is for the program, which does not look at it; "
            f"options come first: sacpy {parsed.command} {behind[0]} .. {name}",
            f"sacpy {parsed.command}",
        )


def workspace_of(parsed: argparse.Namespace) -> Workspace:
    from sacpy.interp.limits import Limits
    from sacpy.workspace import DEPTH_LIMIT, Workspace

    depth = getattr(parsed, "depth", None)
    limits = Limits(
        getattr(parsed, "memory", None), getattr(parsed, "seconds", None), DEPTH_LIMIT if depth is None else depth
    )
    running = {name: getattr(parsed, name) for name in SETTINGS if hasattr(parsed, name)}
    return Workspace(tuple(parsed.search), tuple(parsed.include), defines(parsed), limits, **running)


def defines(parsed: argparse.Namespace) -> dict[str, str]:
    """The macros of -D."""
    return {d.partition("=")[0]: d.partition("=")[2] if "=" in d else "1" for d in parsed.defines}
