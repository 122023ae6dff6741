import numpy as np
from numba import njit


@njit(inline="always", cache=True)
def area(ax, ay, bx, by, cx, cy):
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@njit(inline="always", cache=True)
def swap(p, i, j):
    x, y = p[i, 0], p[i, 1]
    p[i, 0], p[i, 1] = p[j, 0], p[j, 1]
    p[j, 0], p[j, 1] = x, y


@njit(cache=True)
def partition(p, lo, hi, ax, ay, bx, by):
    end = lo
    for i in range(lo, hi):
        if area(ax, ay, bx, by, p[i, 0], p[i, 1]) > 0.0:
            swap(p, i, end)
            end += 1
    return end


# as for quicksort
@njit("int64(float64[:,::1], float64[:,::1], int64, int64, int64, float64, float64, float64, float64)", cache=True)
def between(p, hull, count, lo, hi, ax, ay, bx, by):
    if lo < hi:
        far, best = lo, area(ax, ay, bx, by, p[lo, 0], p[lo, 1])
        for i in range(lo + 1, hi):
            here = area(ax, ay, bx, by, p[i, 0], p[i, 1])
            if here > best:
                far, best = i, here
        cx, cy = p[far, 0], p[far, 1]
        swap(p, lo, far)
        first = partition(p, lo + 1, hi, ax, ay, cx, cy)
        second = partition(p, first, hi, cx, cy, bx, by)
        count = between(p, hull, count, lo + 1, first, ax, ay, cx, cy)
        hull[count, 0], hull[count, 1] = cx, cy
        count = between(p, hull, count + 1, first, second, cx, cy, bx, by)
    return count


@njit(cache=True)
def run(points):
    p, hull, n = points.copy(), np.empty_like(points), len(points)
    left = right = 0
    for i in range(1, n):
        if p[i, 0] < p[left, 0]:
            left = i
        if p[i, 0] > p[right, 0]:
            right = i
    ax, ay, bx, by = p[left, 0], p[left, 1], p[right, 0], p[right, 1]
    above = partition(p, 0, n, ax, ay, bx, by)
    below = partition(p, above, n, bx, by, ax, ay)
    hull[0, 0], hull[0, 1] = ax, ay
    count = between(p, hull, 1, 0, above, ax, ay, bx, by)
    hull[count, 0], hull[count, 1] = bx, by
    count = between(p, hull, count + 1, above, below, bx, by, ax, ay)
    return hull[:count].copy()
