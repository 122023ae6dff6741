"""A quicksort of 2^20 ints in plain Python, one call, and a second one."""

from itertools import pairwise

import numpy as np

from benchmarks.first.timing import Watch


def between(v: list[int], first: int, last: int) -> None:
    if first < last:
        pivot = v[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while v[i] < pivot:
                i += 1
            while v[j] > pivot:
                j -= 1
            if i <= j:
                v[i], v[j] = v[j], v[i]
                i += 1
                j -= 1
        between(v, first, j)
        between(v, i, last)


watch = Watch()
numbers = np.random.default_rng(7).integers(0, 1 << 30, 1 << 20, dtype=np.int32).tolist()
result = list(numbers)
with watch.over("first"):
    between(result, 0, len(result) - 1)
again = list(numbers)
with watch.over("second"):
    between(again, 0, len(again) - 1)
print(all(a <= b for a, b in pairwise(result)), result == again, sum(result) - sum(numbers))
watch.tell()
