"""Linear recursion, thousands of calls deep, again and again: the length of Collatz' sequences."""

import sys

sys.setrecursionlimit(10_000)


def steps(n: int) -> int:
    return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)


print(max(steps(n) for n in range(1, 5000)))
