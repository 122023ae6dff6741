"""What a call costs beyond the function itself."""

import subprocess
import sys
import tracemalloc

import numpy as np

import sacpy
from tests.tools import through

CALLS = 56  # functions of sacpy that a call on one array goes through
BYTES = 10_000  # what such a call asks for, for a moment: its argument is of 80 MB


def test_a_large_array_costs_nothing_to_pass() -> None:
    session = sacpy.Session(target="cpu")
    module = session.compile("double first(double[.] a) { return a[0]; }")
    array = np.zeros(10**7)
    for _ in range(3):
        module.first(array)
    assert min(through(lambda: module.first(array)) for _ in range(4)) <= CALLS
    tracemalloc.start()
    try:
        module.first(array)
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()


def test_importing_sacpy_loads_nothing() -> None:
    script = (
        "import sys; import sacpy; assert not any(m in sys.modules for m in ('numpy', 'llvmlite', "
        "'prompt_toolkit')); sacpy.Session, sacpy.World, sacpy.Limits, sacpy.SacError; assert 'llvmlite' not in "
        "sys.modules; print(sorted(sacpy.__all__))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Session" in result.stdout
