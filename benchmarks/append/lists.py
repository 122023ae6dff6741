"""The same with Python's lists, and with its deque where elements come before others or go."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


def push(n: int) -> Sequence[int]:
    r: list[int] = []
    for i in range(n):
        r.append(i)
    return r


def unshift(n: int) -> Sequence[int]:
    r: deque[int] = deque()
    for i in range(n):
        r.appendleft(i)
    return r


def pieces(n: int) -> Sequence[int]:
    r: list[int] = []
    for i in range(n):
        r += range(i % 50)
    return r


def filtered(n: int) -> Sequence[int]:
    r: list[int] = []
    for i in range(n):
        if i % 2 != 0 and i % 3 != 0:
            r.append(i)
    return r


def rows(n: int) -> Sequence[list[float]]:
    r: list[list[float]] = []
    for i in range(n):
        r.append([float(i), 0.5, 1.5])
    return r


def points(n: int) -> float:
    x: list[float] = []
    y: list[float] = []
    for i in range(n):
        x.append(float(i))
        y.append(0.5 * i)
    return sum(x) + sum(y)


def queue(n: int) -> Sequence[int]:
    q = deque(range(1000))
    for i in range(n):
        q.popleft()
        q.append(i)
    return q
