"""One program in a process of its own: `python -m benchmarks.estimates.probe WHAT PROGRAM` prints JSON, rows of a
unit's key, a size, the seconds that were expected and those that it took.

WHAT is `compiling`: each unit that is compiled where all are that have some work; the size is the number of statements.
Or `calls`: the first call of each function, interpreted, with the time that making Python of its callees takes; the
size is that of the largest argument. What the program prints goes nowhere.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from sacpy.interp.errors import Exit
from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from sacpy.jit.cache import Cache
from sacpy.jit.failures import Unsupported
from sacpy.jit.kinds import Kind
from sacpy.jit.run import engine
from sacpy.jit.run.contract import Compiled
from sacpy.jit.run.cost import STEP
from sacpy.jit.run.dispatch import Heat, Site
from sacpy.jit.run.versions import Versions
from sacpy.lang.diagnostics import SacError
from sacpy.nodes import replace
from sacpy.workspace import Workspace, call_main

Row = tuple[str, int, float, float]
rows: list[Row] = []


class Compiling(engine.Engine):
    """Notes what compiling a unit takes."""

    def _compile(self, site: Versions, kind: Kind, layouts: Any = ()) -> Compiled:
        found = super()._compile(site, kind, layouts)
        if not found.report.cached:
            length = site.room.costs.length(site.function)
            rows.append((site.key, length, self.usual_price(site), found.report.seconds))
        return found


class Interpreting(engine.Engine):
    """Compiles nothing."""

    asks = staticmethod(lambda *args: None)

    def _compile(self, site: Versions, kind: Kind, layouts: Any = ()) -> Compiled:
        raise Unsupported("it is to be interpreted")


class Watched(Site):
    """Notes the estimate of its first call, and what that takes."""

    def look(self, args: tuple[Any, ...]) -> bool:
        if self.calls == 0:
            size = max((int(getattr(a, "size", 1)) for a in args), default=0)
            start = perf_counter()
            self.first = size, STEP * self.room.costs.call(self.function, args)
            self.engine.compiling += perf_counter() - start
        elif self.calls == 1 and not self.active:
            rows.append((self.key, *self.first, self.seconds))
            self.ahead = 1 << 62
        return False

    def _heat(self, args: tuple[Any, ...]) -> Heat:
        return Heat.COLD


def main() -> int:
    what, path = sys.argv[1:]
    program = Workspace().load(Path(path))[0]
    stdin = Path(path).with_suffix(".stdin")
    world = World.captured(stdin.read_bytes() if stdin.exists() else b"")
    if what == "compiling":
        made: engine.Engine = Compiling("cpu", cache=Cache(None))
    else:
        engine.Site = Watched  # type: ignore[misc]
        made = Interpreting("auto", cache=Cache(None))
        made.policy = replace(made.policy, beside=False)
    evaluator = Evaluator(program, world, engine=made)
    with suppress(Exit, SacError):
        call_main(program, evaluator, program.main_key())
    if what == "calls":
        rows.extend(
            (s.key, *s.first, s.seconds) for s in made.sites if isinstance(s, Watched) and s.calls == 1 and s.seconds
        )
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
