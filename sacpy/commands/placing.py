"""`sacpy explain` and `sacpy picture`: what became of with-loops and arrays, in words and drawn.

In: what the command line says. Out: text on standard output, or a file; and the exit status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from sacpy.commands.messages import show, show_warnings
from sacpy.commands.settings import refuse_misplaced, workspace_of

if TYPE_CHECKING:
    from sacpy.embedding.drawing import Drawing
    from sacpy.workspace import Workspace

Tell = Callable[[], None]


def explain(parsed: argparse.Namespace, started: Tell) -> int:
    """Runs a program on a device, and says what became of its with-loops. `started`: called before it runs."""
    from sacpy.jit.reports.statistics import explain

    engine = _ran(parsed, started).engine
    sys.stdout.write(explain(None if engine is None else engine.started, parsed.function))
    return 0


def picture(parsed: argparse.Namespace, started: Tell, ready: Tell) -> int:
    """Draws mappings of with-loops, or where arrays lie. `ready`: called once the program has been read."""
    found = _run(parsed, started) if parsed.run and not parsed.arrays else _unrun(parsed)
    if found is None:
        return 1
    ready()
    if parsed.out is not None:
        found.save(parsed.out)
    else:
        from shutil import get_terminal_size

        sys.stdout.write(found.text(get_terminal_size((120, 40)).columns))
    return 0


def _run(parsed: argparse.Namespace, started: Tell) -> Drawing:
    """What was launched when the program ran."""
    from sacpy.embedding.mapped import Picture, launched

    engine = _ran(parsed, started).engine
    return Picture(tuple(launched(None if engine is None else engine.started, parsed.function)), parsed.step)


def _unrun(parsed: argparse.Namespace) -> Drawing | None:
    """What is known of a program without a run; None where it has errors, which are shown."""
    workspace = workspace_of(parsed)
    program, found = workspace.check(parsed.file)
    if any(d.severity == "error" for d in found):
        show(found)
        return None
    if parsed.arrays:
        from sacpy.embedding.memory_picture import drawn

        return drawn(program, parsed.function, workspace.options)
    from sacpy.embedding.mapped import Picture, known

    return Picture(tuple(known(program, parsed.function, workspace.strategy, workspace.device)), parsed.step)


def _ran(parsed: argparse.Namespace, started: Tell) -> Workspace:
    """The workspace of a program behind its run on a device, whatever the work; what it prints goes nowhere. Without a
    target that is a device: on the emulator. Raises `SacError`."""
    from sacpy.interp.world import World
    from sacpy.nodes import replace

    workspace = workspace_of(parsed)
    workspace = replace(workspace, target=parsed.target if parsed.target != "auto" else "emulator", eager=True)
    program, found = workspace.load(parsed.file)
    refuse_misplaced(parsed, program)
    show_warnings(found)
    world = World.system(
        tuple(a.encode(errors="surrogateescape") for a in (str(parsed.file), *getattr(parsed, "rest", ()))), silent=True
    )
    try:
        started()
        workspace.run(program, world, found)
    finally:
        world.finish()
    return workspace
