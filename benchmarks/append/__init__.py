"""Arrays that get longer, bit by bit: n times one element must take n times as long as once, as with the lists and
vectors of other languages.

`append.sac` has the functions, `lists.py` and `append.cpp` the same for the peers; `command` measures them at several
sizes.
"""
