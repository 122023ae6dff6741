"""The device targets: with-loops run as kernels on a machine of threads, which is the emulator or a GPU; all else of a
function runs on the host.

`machine` says what a machine is (`emulated` and `cuda` are the two), `memory` where arrays are, `placement` which
with-loops go to the device, `program` runs a unit, `run/device_compiler` compiles one for the engine, `interop` hands
arrays to and takes them from other libraries.
"""
