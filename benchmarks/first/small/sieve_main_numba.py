"""Updates of single elements of an array."""

import numba
import numpy as np


@numba.njit(cache=True)
def primes(n: int) -> int:
    composite = np.zeros(n, np.bool_)
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
            for j in range(2 * i, n, i):
                composite[j] = True
    return count


print(primes(300000), "primes")
