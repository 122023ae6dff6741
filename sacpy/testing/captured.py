"""For the tests of programs that use captured functions.

In: a captured function and arguments. Out: nothing, or an AssertionError that says which target gives something else.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from sacpy.capture.function import Captured, default_session

TARGETS = ("interp", "cpu", "emulator")


def assert_equal_on_all_targets(
    function: Captured, *args: Any, targets: Sequence[str] = TARGETS, python: bool = True, rtol: float = 1e-12,
    atol: float = 0.0,
) -> Any:  # fmt: skip
    """Sees that a captured function gives on each target what its Python original gives: the same shapes, the same
    whole numbers, reals within `rtol` and `atol`. `python=False`: only that the targets agree, as for functions
    that ask for neighbours. Gives what the last target gives. Raises `AssertionError`, and `SacError` where the
    function is wrong."""
    expected: Any = function.python(*copy.deepcopy(args)) if python else None
    found: Any = None
    name, against = function.__name__, "Python"
    for target in targets:
        found = function.on(default_session(target))(*copy.deepcopy(args))
        if expected is None:
            expected, against = found, target
            continue
        mine, theirs = _several(found), _several(expected)
        assert len(mine) == len(theirs), f"{name} gives {len(mine)} results on {target}, {len(theirs)} in {against}"
        for a, b in zip(mine, theirs):
            assert np.shape(a) == np.shape(b), f"{name} gives {np.shape(a)} on {target}, {np.shape(b)} in {against}"
            what = f"{name} on {target} and in {against}"
            if np.asarray(b).dtype.kind in "fc":
                np.testing.assert_allclose(a, b, rtol, atol, err_msg=what)
            else:
                np.testing.assert_array_equal(a, b, what)
    return found


def _several(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


__all__ = ["assert_equal_on_all_targets"]
