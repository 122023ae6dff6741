"""The host target: a graph unit lowered to LLVM IR, compiled for this machine's CPU, loaded and called.

`lower(unit, options) -> str` (IR text) is here; `compile.compile_object(ir, options) -> bytes` and `native.load(object, Signature.of(unit), options, context) -> NativeFunction` are imported where they are needed, since they load LLVM.

Read in this order: `writer` and `functions` (statements and control), `memory` (arrays and their references), `withloops`, `nests`, `sinks`, `filling` (loop nests), `folds`, `parallel`, `tiling`; `runtime` and `threads` are what compiled code calls.
"""

from sacpy.jit.host.lowering import lower

__all__ = ["lower"]
