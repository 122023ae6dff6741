"""The host target: a graph unit lowered to LLVM IR, compiled for this machine's CPU, loaded and called.

`lower(unit, options) -> str` (IR text), `compile_object(ir, options) -> bytes`, `load(object, unit, options) -> NativeFunction`. LLVM is only loaded by the second and third.
"""

from sacpy.jit.host.lowering import lower

__all__ = ["lower"]
