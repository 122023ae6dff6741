"""Pictures filtered with windows 3 to 15 wide, whatever is at the border: as one writes it, without the cut into
interior and border, split by hand, and C split by hand.

`windows.sac` and `windows.c` have the filters; `command` measures them.
"""
