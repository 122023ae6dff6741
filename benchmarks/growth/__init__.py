"""How what compiling takes grows with programs: generated functions of one kind each, longer and longer.

`generated` writes them, `probe` compiles one in a process of its own, `command` prints milliseconds by stage, the
exponent with which the time grows, and the most memory that a process held; and holds them against limits.
"""
