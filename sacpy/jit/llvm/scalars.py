"""Scalar operations as LLVM instructions, with the meaning `interp/arithmetic.py` gives them: one row per operation.

In: an operation, the base type of its operands, their texts. Out: instructions, and the text of the result. All are
total: what the language refuses (a division by 0) gives some value. Reals follow IEEE; the flags that let LLVM contract
are those of `Style`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir.graph import Const, Op
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, constant
from sacpy.jit.llvm.maths import MATHS, call_of_maths
from sacpy.lang.constants import BIT_CASTS, bits_of, largest, smallest
from sacpy.lang.primitives import CONVERSIONS
from sacpy.lang.types import BITS, REAL, SIGNED, WORDS
from sacpy.nodes import Node


class Style(Node):
    """How reals are computed. `strict`: bit-equal to the interpreter."""

    strict: bool

    @property
    def flags(self) -> str:
        """The flags of additions, subtractions and products."""
        return "" if self.strict else "contract "


STRICT = Style(strict=True)

Emit = Callable[[Code, Op, str, Sequence[str], Style], str]


def emit(code: Code, op: Op, args: Sequence[str], style: Style) -> str:
    """The result of an operation on operands given as texts."""
    if op.code == "select":
        type_ = LLVM_TYPES[op.args[1].base]
        return code.op(f"select i1 {args[0]}, {type_} {args[1]}, {type_} {args[2]}")
    return ROWS[op.code](code, op, op.args[0].base, args, style)


# ---------------------------------------------------------------- arithmetic


def _arithmetic(name: str) -> Emit:
    def row(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
        type_ = LLVM_TYPES[base]
        if base in REAL:
            return code.op(f"f{name} {style.flags}{type_} {args[0]}, {args[1]}")
        flag = ("nsw " if base in SIGNED else "nuw ") if op.exact else ""
        return code.op(f"{name} {flag}{type_} {args[0]}, {args[1]}")

    return row


def _number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None


def _safe_divisor(code: Code, type_: str, divisor: str) -> str:
    zero = code.op(f"icmp eq {type_} {divisor}, 0")
    return code.op(f"select i1 {zero}, {type_} 1, {type_} {divisor}")


def _div(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_, (a, b) = LLVM_TYPES[base], args
    if base in REAL:
        return code.op(f"fdiv {type_} {a}, {b}")
    known = _number(b)
    if base not in SIGNED:
        return code.op(f"udiv {type_} {a}, {b if known else _safe_divisor(code, type_, b)}")
    if known not in (None, 0, -1):
        return code.op(f"sdiv {type_} {a}, {b}")
    negated = code.op(f"sub {type_} 0, {a}")
    minus = code.op(f"icmp eq {type_} {b}, -1")
    divisor = code.op(f"select i1 {minus}, {type_} 1, {type_} {_safe_divisor(code, type_, b)}")
    quotient = code.op(f"sdiv {type_} {a}, {divisor}")
    return code.op(f"select i1 {minus}, {type_} {negated}, {type_} {quotient}")


def _signed_remainder(code: Code, type_: str, a: str, b: str) -> str:
    if _number(b) not in (None, 0, -1):
        return code.op(f"srem {type_} {a}, {b}")
    minus = code.op(f"icmp eq {type_} {b}, -1")
    divisor = code.op(f"select i1 {minus}, {type_} 1, {type_} {_safe_divisor(code, type_, b)}")
    return code.op(f"srem {type_} {a}, {divisor}")


def _mod(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_, (a, b) = LLVM_TYPES[base], args
    if base in SIGNED:
        return _signed_remainder(code, type_, a, b)
    return code.op(f"urem {type_} {a}, {b if _number(b) else _safe_divisor(code, type_, b)}")


def _aplmod(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_, (a, b) = LLVM_TYPES[base], args
    rest = _mod(code, op, base, args, style)
    if base in SIGNED:
        raised = code.op(f"add {type_} {rest}, {b}")
        nonzero = code.op(f"icmp ne {type_} {rest}, 0")
        unlike = code.op(f"icmp slt {type_} {code.op(f'xor {type_} {rest}, {b}')}, 0")
        rest = code.op(f"select i1 {code.op(f'and i1 {nonzero}, {unlike}')}, {type_} {raised}, {type_} {rest}")
    if _number(b):
        return rest
    zero = code.op(f"icmp eq {type_} {b}, 0")
    return code.op(f"select i1 {zero}, {type_} {a}, {type_} {rest}")


def _shift(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_, (a, b) = LLVM_TYPES[base], args
    count = b if _number(b) is not None and 0 <= int(b) < BITS[base] else code.op(f"and {type_} {b}, {BITS[base] - 1}")
    name = "shl" if op.code == "shl" else "ashr" if base in SIGNED else "lshr"
    return code.op(f"{name} {type_} {a}, {count}")


def _bits(name: str) -> Emit:
    return lambda code, op, base, args, style: code.op(f"{name} {LLVM_TYPES[base]} {args[0]}, {args[1]}")


# ---------------------------------------------------------------- comparisons

_SIGNED_TESTS = {"eq": "eq", "neq": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED_TESTS = {"eq": "eq", "neq": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_REAL_TESTS = {"eq": "oeq", "neq": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def compare(code: Code, test: str, base: str, a: str, b: str, type_: str = "") -> str:
    """A comparison, an i1. Those with NaN are false, but for "neq". `type_`: of vectors, whose lanes are compared."""
    type_ = type_ or LLVM_TYPES[base]
    if base in REAL:
        return code.op(f"fcmp {_REAL_TESTS[test]} {type_} {a}, {b}")
    return code.op(f"icmp {(_SIGNED_TESTS if base in SIGNED else _UNSIGNED_TESTS)[test]} {type_} {a}, {b}")


def _comparison(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return compare(code, op.code, base, args[0], args[1])


def _extreme(test: str) -> Emit:
    def row(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
        type_ = LLVM_TYPES[base]
        return code.op(f"select i1 {compare(code, test, base, args[0], args[1])}, {type_} {args[0]}, {type_} {args[1]}")

    return row


# ---------------------------------------------------------------- one operand


def _neg(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_ = LLVM_TYPES[base]
    return code.op(
        f"fneg {type_} {args[0]}"
        if base in REAL
        else f"sub {'nsw ' if op.exact and base in SIGNED else ''}{type_} 0, {args[0]}"
    )


def _abs(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_, a = LLVM_TYPES[base], args[0]
    if base in REAL:
        return _intrinsic(code, "fabs", base, a)
    if base not in SIGNED:
        return a
    negative = code.op(f"icmp slt {type_} {a}, 0")
    return code.op(f"select i1 {negative}, {type_} {code.op(f'sub {type_} 0, {a}')}, {type_} {a}")


def _reciproc(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return code.op(f"fdiv {LLVM_TYPES[base]} 1.0, {args[0]}")


def _complement(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return code.op(f"xor {LLVM_TYPES[base]} {args[0]}, {'true' if base == 'bool' else '-1'}")


def _same(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return args[0]


def _of_base(value: Callable[[str], int | float | bool]) -> Emit:
    return lambda code, op, base, args, style: constant(base, value(base))


def _mask(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    type_ = LLVM_TYPES[op.args[1].base]
    return code.op(f"select i1 {args[0]}, {type_} {args[1]}, {type_} {args[2]}")


# ---------------------------------------------------------------- reals

_WIDTH = {"float": "f32", "double": "f64"}


def _intrinsic(code: Code, name: str, base: str, *args: str) -> str:
    type_, full = LLVM_TYPES[base], f"@llvm.{name}.{_WIDTH[base]}"
    code.module.declare(full, f"declare {type_} {full}({', '.join([type_] * len(args))})")
    return code.op(f"call {type_} {full}({', '.join(f'{type_} {a}' for a in args)})")


def _by_intrinsic(name: str) -> Emit:
    return lambda code, op, base, args, style: _intrinsic(code, name, base, *args)


def _isnan(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return code.op(f"fcmp uno {LLVM_TYPES[base]} {args[0]}, {args[0]}")


def _against_infinity(test: str) -> Emit:
    def row(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
        return code.op(
            f"fcmp {test} {LLVM_TYPES[base]} {_intrinsic(code, 'fabs', base, args[0])}, "
            f"{constant('double', float('inf'))}"
        )

    return row


def _fmod(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return code.op(f"frem {LLVM_TYPES[base]} {args[0]}, {args[1]}")


def _math(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return call_of_maths(code, op.code, base, args, strict=style.strict)


def in_rows(sqrt: Emit) -> Emit:
    """`row` and `column`, with the square root of some machine."""

    def row(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
        from sacpy.jit.llvm.places import emit

        root = Op("sqrt", (Const("double", 0.0),))
        return emit(code, op, args, style.flags, lambda x: sqrt(code, root, "double", [x], style))

    return row


# ---------------------------------------------------------------- conversions


def _conversion(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return convert(code, base, CONVERSIONS[op.code], args[0])


def convert(code: Code, source: str, target: str, a: str) -> str:
    """A scalar of one base type as another's."""
    if source == target:
        return a
    old, new = LLVM_TYPES[source], LLVM_TYPES[target]
    if target == "bool":
        return code.op(f"fcmp une {old} {a}, 0.0" if source in REAL else f"icmp ne {old} {a}, 0")
    if target in REAL:
        if source in REAL:
            return code.op(f"{'fpext' if target == 'double' else 'fptrunc'} {old} {a} to {new}")
        return code.op(f"{'sitofp' if source in SIGNED else 'uitofp'} {old} {a} to {new}")
    if source in REAL:
        return _real_to_integer(code, source, target, a)
    before, after = 1 if source == "bool" else BITS.get(source, 8), BITS.get(target, 8)
    if before == after:
        return a
    return code.op(f"{'trunc' if before > after else 'sext' if source in SIGNED else 'zext'} {old} {a} to {new}")


def _bits_of(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    """The bits of a real; all NaN have the same (see `lang.constants.bits_of`)."""
    type_, word = LLVM_TYPES[base], LLVM_TYPES[WORDS[base]]
    bits = code.op(f"bitcast {type_} {args[0]} to {word}")
    return code.op(
        f"select i1 {code.op(f'fcmp uno {type_} {args[0]}, {args[0]}')}, {word} "
        f"{bits_of(base, float('nan'))}, {word} {bits}"
    )


def _of_bits(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    return code.op(f"bitcast {LLVM_TYPES[base]} {args[0]} to {LLVM_TYPES[BIT_CASTS[op.code][0]]}")


def _to_tf32(code: Code, op: Op, base: str, args: Sequence[str], style: Style) -> str:
    """The nearest float with 10 bits behind the point, of two the one further from 0; NaN as it is."""
    half = code.op(f"add i32 {code.op(f'bitcast float {args[0]} to i32')}, {1 << 12}")
    near = code.op(f"bitcast i32 {code.op(f'and i32 {half}, {-(1 << 13)}')} to float")
    return code.op(f"select i1 {code.op(f'fcmp uno float {args[0]}, 0.0')}, float {args[0]}, float {near}")


def _real_to_integer(code: Code, source: str, target: str, a: str) -> str:
    """C's conversion as x86-64 does it (see `lang.constants.real_to_integer`): LLVM's own is undefined out of range,
    so the operand is tested first."""
    type_, wide = LLVM_TYPES[source], target == "uint" or BITS.get(target, 8) == 64
    half, word = (2.0**63, "i64") if wide else (2.0**31, "i32")
    low = ("oge", -half) if wide or source == "float" else ("ogt", -half - 1)
    inside = _within(code, type_, a, low, half)
    result = code.op(
        f"select i1 {inside}, {word} {code.op(f'fptosi {type_} {_or_zero(code, type_, inside, a)} to {word}')}, "
        f"{word} {-int(half)}"
    )
    if target in ("ulong", "ulonglong"):
        upper = _within(code, type_, a, ("oge", 2.0**63), 2.0**64)
        large = code.op(f"fptoui {type_} {_or_zero(code, type_, upper, a)} to {word}")
        result = code.op(f"select i1 {upper}, {word} {large}, {word} {result}")
    new = LLVM_TYPES[target]
    return result if new == word else code.op(f"trunc {word} {result} to {new}")


def _within(code: Code, type_: str, a: str, low: tuple[str, float], high: float) -> str:
    above = code.op(f"fcmp {low[0]} {type_} {a}, {constant('double', low[1])}")
    below = code.op(f"fcmp olt {type_} {a}, {constant('double', high)}")
    return code.op(f"and i1 {above}, {below}")


def _or_zero(code: Code, type_: str, condition: str, a: str) -> str:
    return code.op(f"select i1 {condition}, {type_} {a}, {type_} 0.0")


# ---------------------------------------------------------------- the table

ROWS: dict[str, Emit] = {
    "add": _arithmetic("add"), "sub": _arithmetic("sub"), "mul": _arithmetic("mul"),
    "div": _div, "mod": _mod, "aplmod": _aplmod, "shl": _shift, "shr": _shift,
    "min": _extreme("lt"), "max": _extreme("gt"),
    "bitand": _bits("and"), "bitor": _bits("or"), "bitxor": _bits("xor"), "and": _bits("and"), "or": _bits("or"),
    "neg": _neg, "abs": _abs, "reciproc": _reciproc, "not": _complement, "bitnot": _complement,
    "isnan": _isnan, "isinf": _against_infinity("oeq"), "isfinite": _against_infinity("olt"), "fmod": _fmod,
    "sqrt": _by_intrinsic("sqrt"), "floor": _by_intrinsic("floor"), "ceil": _by_intrinsic("ceil"),
    "rint": _by_intrinsic("rint"),
    "round": _by_intrinsic("round"), "trunc": _by_intrinsic("trunc"), "copysign": _by_intrinsic("copysign"),
    "zero": _of_base(lambda base: False if base == "bool" else 0),
    "one": _of_base(lambda base: True if base == "bool" else 1),
    "minval": _of_base(smallest), "maxval": _of_base(largest),
    "mask": _mask, "all": _same, "any": _same,
    **dict.fromkeys(PLACES, in_rows(_by_intrinsic("sqrt"))), "totf32": _to_tf32,
}  # fmt: skip
ROWS |= (
    dict.fromkeys(_SIGNED_TESTS, _comparison)
    | dict.fromkeys(CONVERSIONS, _conversion)
    | {op: _bits_of if op.startswith("bits_of") else _of_bits for op in BIT_CASTS}
    | dict.fromkeys(MATHS, _math)
)
