"""Clocks that not every system has.

In: what Python's `time` has here. Out: `thread_time`, the seconds of processor time of this thread. Where there is no
such clock there are no threads either (Python compiled to WebAssembly): what the process has taken is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable

thread_time: Callable[[], float] = getattr(time, "thread_time", time.process_time)
