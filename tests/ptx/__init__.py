"""A software GPU: an interpreter of PTX, to execute, check and count kernels where there is no GPU.

`python -m tests.ptx` runs what is there on all paths; `README.md` in this folder says how it is divided.
"""
