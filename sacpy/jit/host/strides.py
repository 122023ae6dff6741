"""NumPy arrays that are not dense, as code reads them without a copy: as parts of dense ones.

In: an array with any strides. Out: its `Layout`, and the dense array that it is a part of, in which it takes every so
many indices of each axis, from the first or the last one on, with its axes in some order.

    a[:, 3:7] of 100 x 20     rows of 20, of which the first 4 are read: dense [100, 20], index [i, j]
    a.T                       dense a, index [j, i]
    v[::3]                    dense [n, 3], index [i, 0]
    v[::-1]                   dense v, index [n - 1 - i]

Of the dense array only the elements exist that are read: its last rows may end earlier than it says. Each stride has to
be a multiple of what the axes behind it take; where it is not, or axes overlap, there is no such array.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from sacpy.jit.ir.parts import Layout
from sacpy.jit.kinds import LARGEST

STEPS = 64  # the largest step, and the most elements between two, that code knows
SMALL = 1 << 16  # bytes of an array of which parts are copied
KNOWN = 4  # the same for what is known in types


def container(a: np.ndarray) -> tuple[Layout, np.ndarray] | None:
    """The layout of an array and the dense array that it is a part of; None if it is no part of one."""
    size = a.itemsize
    if not a.size or any(s % size for s in a.strides) or not a.flags.aligned:
        return None
    flipped = a[tuple(slice(None, None, -1 if s < 0 and n > 1 else 1) for s, n in zip(a.strides, a.shape))]
    single = [k for k in range(a.ndim) if a.shape[k] == 1 or not a.strides[k]]
    moving = sorted(set(range(a.ndim)) - set(single), key=lambda k: -flipped.strides[k])
    extents, steps = [1] * len(single), [0] * len(single)
    across = 0  # elements that one index of the last axis so far takes
    for k in moving:
        stride = flipped.strides[k] // size
        unit = gcd(across, stride)
        step, extent = stride // unit, across // unit if across else a.shape[k]
        if step > STEPS or step * (a.shape[k] - 1) >= extent:
            return None
        across = unit
        extents.append(extent)
        steps.append(step)
    if across > 1:
        extents.append(across)
    if any(e > LARGEST for e in extents):
        return None
    order = (*single, *moving)
    turned = tuple(a.strides[k] < 0 and a.shape[k] > 1 for k in order)
    layout = Layout(order, turned, tuple(steps), max(across, 1) if across <= KNOWN else 0)
    strides, total = [], size
    for extent in reversed(extents):
        strides.append(total)
        total *= extent
    return layout, as_strided(flipped, extents, strides[::-1], writeable=False)


def part_of(
    whole: np.ndarray, shape: Sequence[int], starts: Sequence[int], axes: Sequence[tuple[int | None, int]]
) -> np.ndarray:
    """A part of an array, as a view that keeps it alive; as an array of its own where it is less than half of it, or
    that is small. `starts`: the first index along each axis of the whole; `axes`: the axis of the part that runs along
    it, with the step."""
    if not prod(shape):
        return np.empty(shape, whole.dtype)
    offset, strides = 0, [0] * len(shape)
    for size, start, (axis, step) in zip(whole.strides, starts, axes, strict=True):
        offset += size * start
        if axis is not None:
            strides[axis] += size * step
    found: np.ndarray = np.ndarray(shape, whole.dtype, whole, offset, strides)  # which sees to it that it lies inside
    return found if whole.nbytes <= 2 * found.nbytes and whole.nbytes >= SMALL else found.copy()


__all__ = ["container", "part_of"]
