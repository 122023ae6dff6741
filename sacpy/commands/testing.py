"""`sacpy test`: the tests of files and folders.

In: the options. Out: what came of the tests, on standard output, and the exit status, which is pytest's: 0, all passed;
1, some did not; 2, interrupted, or used wrongly; 5, there were none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from sacpy.base.terminal import has_color, has_escapes
from sacpy.commands.options import with_options
from sacpy.commands.settings import refuse, workspace_of
from sacpy.nodes import replace
from sacpy.testing.cases import Result
from sacpy.testing.collecting import collected, selection
from sacpy.testing.functions import Properties
from sacpy.testing.reports import Progress, junit
from sacpy.testing.running import results, workspaces

FAILED, INTERRUPTED, NONE = 1, 2, 5


def run(parsed: argparse.Namespace, started: Callable[[], None]) -> int:
    """The command. Raises `SacError` for a file that is not there."""
    started()
    if parsed.watch:
        return _watched(parsed)
    try:
        chosen = selection(parsed.words) if parsed.words else None
    except ValueError as error:
        refuse(f"-k {parsed.words!r}: {error}", "sacpy test")
    workspace = workspace_of(parsed)
    # some tests run in another folder
    search, include = ([p.resolve() for p in paths] for paths in (workspace.search, workspace.include_path))
    workspace = replace(workspace, search=search, include_path=include)
    cases = [
        case
        for case in collected(parsed.paths, workspace, Properties(parsed.cases, parsed.seed), with_options)
        if chosen is None or chosen(case)
    ]
    if parsed.list:
        sys.stdout.write("".join(f"{case.id}\n" for case in cases))
        return 0 if cases else NONE
    workspace.preload()
    progress = Progress(sys.stdout, color=has_color(sys.stdout), verbose=parsed.verbose)
    done: list[Result] = []
    start, interrupted = perf_counter(), False
    try:
        for result in results(cases, workspaces(workspace, parsed.target)):
            done.append(result)
            progress.add(result)
            if parsed.first and result.outcome.status != "passed":
                break
    except KeyboardInterrupt:
        interrupted = True
    seconds = perf_counter() - start
    progress.finish(done, seconds, interrupted, parsed.durations)
    if parsed.junit is not None:
        _write(parsed.junit, junit(done, seconds))
    if interrupted:
        return INTERRUPTED
    if any(r.outcome.status != "passed" for r in done):
        return FAILED
    return 0 if done else NONE


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        refuse(f"cannot write {file}: {error.strerror}", "sacpy test")


def _watched(parsed: argparse.Namespace) -> int:
    """The tests now and after each change."""
    from sacpy.commands.watch import Files, watch

    paths = [Path(path.partition("::")[0]) for path in parsed.paths]
    command = [word for word in parsed.words_given if word != "--watch"]
    files = Files(paths[0], parsed.search, parsed.include, paths[1:])
    return watch(files, [sys.executable, "-m", "sacpy", *command], screen=has_escapes(sys.stdout))
