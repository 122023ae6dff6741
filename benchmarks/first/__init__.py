"""First results: every program as a user meets it, a fresh process on the default target.

`cases` says what is run and beside what, `processes` runs it, `measuring` does so on all targets, `rules` judges,
`report` prints, and `command` does it all. The programs are those of `programs/`, the suite at its cached sizes, and
three folders here:

- `small/`: programs of a few dozen lines, of every kind;
- `table/`: those that once took far longer than they should, each with a limit of its own in `rules`;
- `embedding/`: SaC called from Python.

Beside `NAME.sac` lie
- `NAME.expected`: what it prints; `NAME.stdin`: what it reads, where it reads;
- `NAME.py`, in `embedding/`: a script that gets the target as its argument, calls the SaC file beside it and prints
  what is expected; a last line `measured {"first": 0.01, ...}` tells times of its own;
- `NAME_python.py`, `NAME_numpy.py`, `NAME_numba.py`, `NAME.c`: peers, which print the same.
"""
