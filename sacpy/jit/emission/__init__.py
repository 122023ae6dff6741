"""Kernel programs to code: lowered once, over a small machine interface, for the host (`emulator`) and for NVIDIA GPUs
(`nvvm`, `assemble`).

`lowering` walks a kernel; `machine` says what it may ask of where it runs; `host_machine` and `device_machine` answer.
`geometry` has what a launch needs to know of a kernel: grid, block, memory.
"""
