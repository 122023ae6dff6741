"""`sacpy profile`: runs a program, and says where the time went.

In: the options, and a program with its words. Out: what the program prints, then tables on standard error, a page; and
the program's exit status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sacpy.commands.messages import show_warnings
from sacpy.commands.settings import refuse, refuse_misplaced, workspace_of
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.limits import Watchdog
from sacpy.interp.world import World
from sacpy.lang.diagnostics import SacError, render_text
from sacpy.profiling.profiler import Compiled, Profiler
from sacpy.profiling.reports import page, report
from sacpy.workspace import Workspace, execute

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram


def run(parsed: argparse.Namespace, started: Callable[[], None]) -> int:
    """The command. Raises `SacError` for a program with mistakes."""
    workspace = workspace_of(parsed)
    program, found = workspace.load(parsed.file)
    refuse_misplaced(parsed, program)
    show_warnings(found)
    world = World.system(tuple(a.encode(errors="surrogateescape") for a in (str(parsed.file), *parsed.rest)))
    profiler = Profiler(_compiled(workspace))
    started()
    try:
        status = _ran(workspace, program, world, profiler)
    finally:
        closed = world.finish()
    profile = profiler.profile()
    sys.stdout.flush()
    sys.stderr.write(report(profile, parsed.rows))
    if parsed.html is not None:
        try:
            parsed.html.write_text(page(profile, str(parsed.file)), encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            refuse(f"cannot write {parsed.html}: {error.strerror}", "sacpy profile")
    return status if closed is None else closed


def _ran(workspace: Workspace, program: ElaboratedProgram, world: World, profiler: Profiler) -> int:
    """Runs a program; an error is told, and what was measured up to it counts."""
    evaluator = Evaluator(
        program,
        world,
        depth_limit=workspace.limits.depth,
        engine=workspace.engine,
        strict_fp=workspace.strict_fp,
        tracer=profiler,
    )
    profiler.evaluator = evaluator
    try:
        return workspace.guard(Watchdog(), lambda: execute(program, evaluator), settle=False)
    except SacError as error:
        world.flush()
        sys.stderr.write(render_text(error.diagnostics) + "\n")
        return 1


def _compiled(workspace: Workspace) -> Callable[[], Compiled] | None:
    """What tells how long native code has run so far, and how long making it took."""
    engine = workspace.engine
    if engine is None:
        return None

    def compiled() -> Compiled:
        begun = engine.started
        if begun is None:
            return Compiled()
        native = sum(v.seconds for site in begun.entered() for v in tuple(site.versions.values()))
        return Compiled(native, begun.compiling)

    return compiled
