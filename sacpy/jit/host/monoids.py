"""The instructions that combine elements of scans (`analysis/scans`).

In: a scan, and the texts of elements, as scalars or as vectors. Out: the text of what they combine to.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.analysis.scans import Scan
from sacpy.jit.host.folds import identity
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, constant, size_of
from sacpy.lang.types import REAL, SIGNED

VECTOR = 32  # bytes: with more there are more steps than wider registers make up for
FLAGS = {1: "byte", 2: "short", 4: "int", 8: "long"}  # by bytes of an element: -1 where the scan begins anew


class Monoid:
    """How a scan's elements are combined: components side by side, as scalars or as vectors. The last one of an element
    that starts from a result and otherwise from identities is the result that comes of it."""

    def __init__(self, scan: Scan, *, form: str = "", numbers: bool = False) -> None:
        self.scan, self.form, self.numbers = scan, form or scan.form, numbers
        one = identity(Reduction((scan.code,), (scan.base,)), 0)
        self.bases: tuple[str, ...] = (scan.base,)
        self.identities: tuple[str, ...] = (one,)
        if self.form == "reset":
            self.bases, self.identities = (FLAGS[size_of(scan.base)], scan.base), ("0", one)
        elif self.form == "affine":
            self.bases, self.identities = (scan.base, scan.base), (constant(scan.base, 1), one)
        self.lanes = VECTOR // size_of(scan.base)

    def types(self, lanes: int = 1) -> list[str]:
        """The LLVM types of the components."""
        return [f"<{lanes} x {LLVM_TYPES[b]}>" if lanes > 1 else LLVM_TYPES[b] for b in self.bases]

    def combined(self, code: Code, a: Sequence[str], b: Sequence[str], lanes: int = 1) -> list[str]:
        """Two elements, the first one first."""
        type_ = self.types(lanes)[-1]
        if self.form == "reset":
            flags, none = self.types(lanes)[0], "0" if lanes == 1 else "zeroinitializer"
            both = self.operation(code, self.scan.code, type_, a[1], b[1])
            test = code.op(f"icmp slt {flags} {b[0]}, {none}")
            flag = code.op(f"or {flags} {a[0]}, {b[0]}")
            return [flag, code.op(f"select {_truths(type_)} {test}, {type_} {b[1]}, {type_} {both}")]
        if self.form == "affine":
            scaled = self.operation(code, "mul", type_, a[1], b[0])
            factor = self.operation(code, "mul", type_, a[0], b[0])
            return [factor, self.operation(code, "add", type_, scaled, b[1])]
        return [self.operation(code, self.scan.code, type_, a[0], b[0])]

    def operation(self, code: Code, operation: str, type_: str, a: str, b: str) -> str:
        """An operation on two scalars or vectors of a type. Of extremes that are equal, and of two NaNs, the first one
        is taken."""
        base = self.scan.base
        if operation not in ("min", "max"):
            if base not in REAL:
                return code.op(f"{operation.removeprefix('bit')} {type_} {a}, {b}")
            flags = " contract" if self.form == "affine" else ""
            return code.op(f"f{operation}{flags} {type_} {a}, {b}")
        relation = "lt" if operation == "min" else "gt"
        prefix = "fcmp o" if base in REAL else "icmp s" if base in SIGNED else "icmp u"
        found = code.op(f"{prefix}{relation} {type_} {b}, {a}")
        if base in REAL and not self.numbers:
            nan = code.op(
                f"and {_truths(type_)} {code.op(f'fcmp uno {type_} {b}, {b}')}, {code.op(f'fcmp ord {type_} {a}, {a}')}"
            )
            found = code.op(f"or {_truths(type_)} {found}, {nan}")
        return code.op(f"select {_truths(type_)} {found}, {type_} {b}, {type_} {a}")

    def started(self, result: str) -> list[str]:
        """The element that a result is."""
        return [*self.identities[:-1], result]

    def applied(self, code: Code, result: str, element: Sequence[str]) -> str:
        """The result that comes of one before and an element."""
        return self.combined(code, self.started(result), element)[-1]


def _truths(type_: str) -> str:
    """The type of truth values as many as a type has."""
    return f"<{type_[1:].partition(' ')[0]} x i1>" if type_.startswith("<") else "i1"
