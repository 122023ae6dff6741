"""Kernels of sacpy beside CUDA C written by hand, both executed and counted by the interpreter of PTX (`tests.ptx`)."""
