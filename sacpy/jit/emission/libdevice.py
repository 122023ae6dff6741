"""Scalar operations on NVIDIA GPUs: the host's rows where the instructions are the same, libdevice's functions
(`__nv_*`) for the rest.

In: an operation of graphs and its operands as text. Out: the text of its value.

The text keeps to what every consumer takes: libNVVM's LLVM 7 dialect (no `fneg`), its modern one, and LLVM's NVPTX (no
intrinsics without an instruction behind them, which end the process there).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.ir.graph import Op
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, constant
from sacpy.jit.llvm.maths import MATHS
from sacpy.jit.llvm.scalars import ROWS, Emit, Style, in_rows
from sacpy.lang.types import REAL

PREFIX = "__nv_"
_NAMES = {"abs": "fabs"}
_ROUTINES = {("sqrt", "double"): "dsqrt_rn", ("sqrt", "float"): "fsqrt_rn"}


def call(code: Code, name: str, base: str, args: Sequence[str]) -> str:
    """A call of libdevice's routine for a base type."""
    type_ = LLVM_TYPES[base]
    routine = "@" + PREFIX + _ROUTINES.get((name, base), _NAMES.get(name, name) + ("f" if base == "float" else ""))
    code.module.declare(routine, f"declare {type_} {routine}({', '.join([type_] * len(args))})")
    return code.op(f"call {type_} {routine}({', '.join(f'{type_} {a}' for a in args)})")


def _routine(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return call(code, op.code, base, args) if base in REAL else ROWS[op.code](code, op, base, args, style)


def _neg(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    if base not in REAL:
        return ROWS["neg"](code, op, base, args, style)
    return code.op(f"fsub {LLVM_TYPES[base]} {constant(base, -0.0)}, {args[0]}")


def _to_tf32(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    """Written as PTX, as libNVVM's older dialect has no other name for it; from sm_80 on."""
    bits = code.op(f'call i32 asm "cvt.rna.tf32.f32 $0, $1;", "=r,f"(float {args[0]})')
    return code.op(f"bitcast i32 {bits} to float")


def _against_infinity(test: str) -> Emit:
    def row(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
        return code.op(
            f"fcmp {test} {LLVM_TYPES[base]} {call(code, 'abs', base, args)}, {constant(base, float('inf'))}"
        )

    return row


DEVICE_ROWS: Mapping[str, Emit] = {
    **ROWS,
    **dict.fromkeys((*MATHS, "abs", "sqrt", "floor", "ceil", "rint", "round", "trunc", "copysign", "fmod"), _routine),
    "neg": _neg,
    **dict.fromkeys(PLACES, in_rows(_routine)),
    "totf32": _to_tf32,
    "isinf": _against_infinity("oeq"),
    "isfinite": _against_infinity("olt"),
}
