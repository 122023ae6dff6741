"""The host target: a graph unit lowered to LLVM IR, compiled for this machine's CPU, loaded and called.

`lowering.lower(unit, options) -> str` gives IR text, `compile.compile_object(ir, options) -> bytes` and
`native.load(object, Signature.of(unit), options, context) -> NativeFunction` what can be called. These two load LLVM.

Read in this order: `writer` and `functions` (statements and control), `memory` (arrays and their references),
`withloops`, `nests`, `sinks`, `filling` (loop nests), `folds`, `parallel`, `tiling`; `runtime` and `threads` are what
compiled code calls.
"""
