"""The row in which an element lies whose number is known, and its place there, where each row is longer than the one
before it by a number that is known: `row` and `column` of graphs as LLVM instructions.

In: the number, how many elements the shortest row has, how much rows grow, how many there are (see
`withloop.arithmetic.place_in_rows`, which gives the same for every number that an element has). Out: instructions, and
the text of the result, an int from 0 below the number of rows, or 0; of a number that no element has, any such.

The root is that of number + 1/2, in doubles. This lies at least half an element away from the ends of a row, which
moves the root by more than 2^-32 of itself, as an array has fewer than 2^31 elements, and rounding moves it by less
than 2^-50 of itself: so its whole part is right, and nothing is corrected. Where the shortest row may be long, b below
is large, root - b would lose digits, and the other form of the solution is taken, which divides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.ir.graph import Const, Op
from sacpy.jit.llvm.legal import Code, constant

Sqrt = Callable[[str], str]  # of a double, as text

_SHORT = 1 << 20  # elements of the shortest row, and how much rows grow, up to which root - b keeps its digits


def _growth(op: Op) -> int:
    growth = op.args[2]
    assert isinstance(growth, Const), "by how much rows grow is known"
    return int(growth.value)


def _product(code: Code, a: str, by: int) -> str:
    return a if by == 1 else code.op(f"mul i32 {a}, {by}")


def _steps(code: Code, row: str) -> str:
    """row (row - 1) / 2, which may be computed in 32 bits: the even one of the two is halved first."""
    before = code.op(f"add i32 {row}, -1")
    odd, half = code.op(f"or i32 {before}, 1"), code.op(f"lshr i32 {row}, 1")
    return code.op(f"mul i32 {odd}, {half}")


def _last(code: Code, rows: str) -> str:
    """The number of the last row, 0 where there is none."""
    some = code.op(f"icmp sgt i32 {rows}, 0")
    return code.op(f"select i1 {some}, i32 {code.op(f'add i32 {rows}, -1')}, i32 0")


def _real(code: Code, a: str) -> str:
    return constant("double", float(a)) if a.isdigit() else code.op(f"sitofp i32 {a} to double")


def _scaled(code: Code, a: str, by: float, more: str, flags: str) -> str:
    """a * by + more, in doubles."""
    product = code.op(f"fmul {flags}double {a}, {constant('double', by)}")
    return code.op(f"fadd {flags}double {product}, {more}")


def _place(code: Code, op: Op, args: Sequence[str], flags: str, sqrt: Sqrt) -> tuple[str, str]:
    """The row, and how many elements lie in the rows before it."""
    number, least, _, rows = args
    growth = _growth(op)
    g = abs(growth)
    last = _last(code, rows)
    if not growth:
        length = code.op(f"select i1 {code.op(f'icmp sgt i32 {least}, 0')}, i32 {least}, i32 1")
        found = code.op(f"udiv i32 {number}, {length}")
        row = code.op(f"select i1 {code.op(f'icmp ult i32 {found}, {last}')}, i32 {found}, i32 {last}")
        return row, code.op(f"mul i32 {row}, {least}")
    if growth < 0:  # counted from the end
        all_ = code.op(f"add i32 {code.op(f'mul i32 {rows}, {least}')}, {_product(code, _steps(code, rows), g)}")
        place_ = code.op(f"sub i32 {code.op(f'add i32 {all_}, -1')}, {number}")
    else:
        place_ = number
    real = _real(code, place_)
    short = isinstance(op.args[1], Const) and 0 <= op.args[1].value <= _SHORT and g <= _SHORT
    if short:
        b = 2 * int(least) - g
        under = _scaled(code, real, 8.0 * g, constant("double", float(4 * g + b * b)), flags)
    else:
        b_ = _scaled(code, _real(code, least), 2.0, constant("double", -float(g)), flags)
        square = code.op(
            f"fadd {flags}double {code.op(f'fmul {flags}double {b_}, {b_}')}, {constant('double', 4.0 * g)}"
        )
        under = _scaled(code, real, 8.0 * g, square, flags)
    root = sqrt(under)
    if short:
        above = code.op(f"fadd {flags}double {root}, {constant('double', -float(b))}")
        found = code.op(f"fmul {flags}double {above}, {constant('double', 1.0 / (2 * g))}")
    else:
        above = _scaled(code, real, 4.0, constant("double", 2.0), flags)
        found = code.op(f"fdiv double {above}, {code.op(f'fadd {flags}double {root}, {b_}')}")
    end = _real(code, last)
    positive = code.op(f"fcmp ogt double {found}, 0.0")  # false for NaN
    found = code.op(f"select i1 {positive}, double {found}, double 0.0")
    inside = code.op(f"fcmp olt double {found}, {end}")
    row = code.op(f"fptosi double {code.op(f'select i1 {inside}, double {found}, double {end}')} to i32")
    first = least
    if growth < 0:
        row = code.op(f"sub i32 {last}, {row}")
        first = code.op(f"add i32 {least}, {_product(code, last, g)}")
    own = code.op(f"mul i32 {row}, {first}") if first != "1" else row
    steps = _product(code, _steps(code, row), g)
    return row, code.op(f"{'add' if growth > 0 else 'sub'} i32 {own}, {steps}")


def emit(code: Code, op: Op, args: Sequence[str], flags: str, sqrt: Sqrt) -> str:
    """The result of `row` or `column`. `flags`: of sums and products of reals."""
    row, before = _place(code, op, args, flags, sqrt)
    return row if op.code == "row" else code.op(f"sub i32 {args[0]}, {before}")
