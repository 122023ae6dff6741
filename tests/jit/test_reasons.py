"""Under `--target cpu` whatever is much work runs natively, or there is a reason for `--stats` that is not "too little
work"."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from sacpy.commands.options import parse
from sacpy.commands.settings import workspace_of
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.run.dispatch import Site
from sacpy.jit.run.engine import POLICIES
from sacpy.jit.run.on_demand import OnDemand
from tests.test_programs import PROGRAMS, beside
from tests.tools import ROOT

KERNELS = sorted((ROOT / "tests" / "corpus").glob("kernel-*.sac"))


@pytest.mark.long
@pytest.mark.parametrize("path", [*PROGRAMS, *KERNELS], ids=lambda path: path.stem)
def test_much_work_is_compiled_or_has_a_reason(path: Path, tmp_path: Path) -> None:
    heavy: dict[str, float] = {}

    def look(site: Site, args: tuple[Any, ...]) -> bool:
        changed = known(site, args)
        work = 0.0 if changed else site.engine.estimate(site, args)
        if work >= POLICIES["cpu"].work:
            heavy[site.key] = work
        return changed

    known = Site.look
    parsed = parse(["run", "--target", "cpu", str(path.resolve())])
    workspace = workspace_of(parsed)
    workspace.use(OnDemand("cpu", threads=2, cache=Cache(None)))
    given = beside(path, ".stdin")
    with patch.object(Site, "look", look), contextlib.chdir(tmp_path):
        program, found = workspace.load(parsed.file)
        workspace.run(
            program, World.captured(given.read_bytes() if given.exists() else b"", (str(path).encode(),)), found
        )
    assert workspace.engine is not None
    engine = workspace.engine.started
    for site in engine.sites if engine is not None else ():
        if site.key in heavy and not site.versions:
            assert site.refused, (site.key, heavy[site.key])
            assert all(reason.reason for reason in site.refused.values())
