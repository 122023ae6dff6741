"""Computations in the manner of people who think of arrays, beside loops in C.

`styles.sac` and `styles.c` have them, under the same names; `command` measures both.
"""
