"""Times that a script of `embedding/` tells of itself."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Watch:
    """Measures stretches of a script, by name, in seconds."""

    def __init__(self) -> None:
        self._measures: dict[str, float] = {}

    @contextmanager
    def over(self, name: str, times: int = 1) -> Iterator[None]:
        """Inside, something is done so many times; the measure is the time of one."""
        start = time.perf_counter()
        yield
        self._measures[name] = (time.perf_counter() - start) / times

    def tell(self) -> None:
        """Prints what was measured, as the last line."""
        print("measured", json.dumps(self._measures))
