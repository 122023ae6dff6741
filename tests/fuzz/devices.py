"""Random programs on the emulator: one more way to run them, with every access to memory checked.

In: nothing, or whether floating point is to be strict. Out: engines for `differential.compare`. All with-loops that can
run as kernels do; a finding of check mode is an exception.
"""

from __future__ import annotations

from sacpy.jit.cache import Cache
from sacpy.jit.run.engine import Engine
from tests.fuzz.differential import Ways


def emulated(*, strict_fp: bool, strategy: str = "auto") -> Engine:
    """An engine that runs everything on the emulator, and keeps nothing."""
    return Engine(
        "emulator",
        threads=1,
        strict_fp=strict_fp,
        strategy=strategy,
        verify=True,
        eager=True,
        defects=True,
        check=True,
        cache=Cache(None),
    )


EMULATOR: Ways = {"emulator strict": lambda: emulated(strict_fp=True), "emulator": lambda: emulated(strict_fp=False)}
