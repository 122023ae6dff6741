"""What a call costs beyond the function itself."""

import subprocess
import sys
import time

import numpy as np

import sacpy


def test_a_large_array_costs_nothing_to_pass() -> None:
    session = sacpy.Session()
    module = session.compile("double first(double[.] a) { return a[0]; }")
    array = np.zeros(10**7)
    best = float("inf")
    for _ in range(20):
        begin = time.perf_counter()
        for _ in range(50):
            module.first(array)
        best = min(best, (time.perf_counter() - begin) / 50)
    assert best < 50e-6


def test_importing_sacpy_loads_nothing() -> None:
    script = (
        "import sys; import sacpy; assert not any(m in sys.modules for m in ('numpy', 'llvmlite', "
        "'prompt_toolkit')); sacpy.Session, sacpy.World, sacpy.Limits, sacpy.SacError; assert 'llvmlite' not in "
        "sys.modules; print(sorted(sacpy.__all__))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Session" in result.stdout
