"""Recursion in an argument of itself."""

import sys

sys.setrecursionlimit(100_000)


def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


print(ackermann(2, 200), ackermann(3, 6))
