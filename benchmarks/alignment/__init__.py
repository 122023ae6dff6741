"""Needleman and Wunsch's table in four manners, beside blocks in C.

`alignment.sac` has them; `command` measures them. The C is the suite's.
"""
