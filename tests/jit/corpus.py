"""Running whole programs natively: everything that the compiler takes is compiled at its first call, and a defect of
the compiler is an error of the test."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from sacpy.commands.options import parse
from sacpy.commands.settings import workspace_of
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.reports.statistics import Stats, stats
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.on_demand import OnDemand
from sacpy.lang.diagnostics import Diagnostic, SacError, render_text
from tests.tools import ROOT


class Native(OnDemand):
    """The engine with everything at once; on the emulator every access to memory is checked."""

    def __init__(
        self, *, strict_fp: bool = False, cache: Cache | None = None, target: str = "cpu", short_circuit: bool = True
    ) -> None:
        super().__init__(
            target,
            eager=True,
            defects=True,
            strict_fp=strict_fp,
            verify=True,
            threads=2,
            check=True,
            short_circuit=short_circuit,
            cache=Cache(None) if cache is None else cache,
        )


def run_natively(
    path: Path,
    args: Sequence[str] = (),
    stdin: bytes = b"",
    flags: Sequence[str] = (),
    cwd: Path | None = None,
    *,
    strict_fp: bool = False,
    target: str = "cpu",
    short_circuit: bool = True,
) -> tuple[int, bytes, str, Stats]:
    """Status, output, messages, and what ran where."""
    parsed = parse(["run", *flags, "--target", target, *(["--strict-fp"] * strict_fp), str(path.resolve()), *args])
    world = World.captured(stdin, tuple(a.encode() for a in (str(path), *args)))
    workspace = workspace_of(parsed)
    workspace.use(Native(strict_fp=strict_fp, target=target, short_circuit=short_circuit))
    found: Sequence[Diagnostic] = ()
    with contextlib.chdir(cwd or ROOT):
        try:
            program, found = workspace.load(parsed.file)
            status = workspace.run(program, world, found)
        except SacError as error:
            status, found = 1, error.diagnostics
        closed = world.finish()
    shown = [d for d in found if d.severity != "note"]
    started = workspace.engine.started if workspace.engine is not None else None
    return (
        status if closed is None else closed,
        world.out(),
        world.err().decode("utf-8", "replace") + (render_text(shown) if shown else ""),
        stats(started),
    )


__all__ = ["Engine", "Native", "run_natively"]
