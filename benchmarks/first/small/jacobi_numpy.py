"""Relaxation until nothing changes much."""

import numpy as np

a = np.zeros((60, 60))
a[0] = 100.0
change, rounds = 1.0, 0
while change > 0.01:
    b = a.copy()
    b[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4.0
    change = np.abs(b - a).max()
    a = b
    rounds += 1
print(f"{rounds} rounds, {a[30, 30]:.4f}")
