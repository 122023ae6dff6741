"""Vectors of several elements side by side, computed on lane by lane.

In: texts of vectors and scalars. Out: instructions. Each lane has what the operation gives for scalars
(`llvm/scalars`), for NaN and zeros of both signs too.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.jit.ir.graph import Op
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, size_of
from sacpy.jit.llvm.scalars import compare
from sacpy.lang.types import REAL


class Vectors:
    """Vectors of `lanes` elements of a base type. `flags`: those of sums, differences and products of reals."""

    def __init__(self, code: Code, base: str, lanes: int, flags: str) -> None:
        self.code, self.base, self.lanes = code, base, lanes
        self.size, self.type, self.real = size_of(base), LLVM_TYPES[base], base in REAL
        self.flags = flags if self.real else ""

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.type}>"

    @property
    def kind(self) -> str:
        """What LLVM calls the elements in the names of its routines."""
        return "f" if self.real else "i"

    def mask(self, j: str, upper: str) -> str:
        """Which lanes of the vector at j are columns."""
        code, n = self.code, self.lanes
        left = self.splat(f"<{n} x i64>", "i64", code.difference(upper, j))
        lanes = ", ".join(f"i64 {k}" for k in range(n))
        return code.op(f"icmp slt <{n} x i64> <{lanes}>, {left}")

    def splat(self, vector: str, type_: str, text: str) -> str:
        """A vector of one value."""
        one = self.code.op(f"insertelement {vector} poison, {type_} {text}, i64 0")
        return self.code.op(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def load(self, address: str, mask: str, note: str) -> str:
        if not mask:
            return self.code.op(f"load {self.vector}, ptr {address}, align {self.size}{note}")
        name = f"@llvm.masked.load.v{self.lanes}{self.kind}{8 * self.size}.p0"
        self.code.module.declare(name, f"declare {self.vector} {name}(ptr, i32, <{self.lanes} x i1>, {self.vector})")
        return self.code.op(
            f"call {self.vector} {name}(ptr {address}, i32 {self.size}, <{self.lanes} x i1> {mask}, {self.vector} "
            f"zeroinitializer){note}"
        )

    def store(self, value: str, address: str, mask: str, note: str) -> None:
        if not mask:
            self.code.do(f"store {self.vector} {value}, ptr {address}, align {self.size}{note}")
            return
        name = f"@llvm.masked.store.v{self.lanes}{self.kind}{8 * self.size}.p0"
        self.code.module.declare(name, f"declare void {name}({self.vector}, ptr, i32, <{self.lanes} x i1>)")
        self.code.do(
            f"call void {name}({self.vector} {value}, ptr {address}, i32 {self.size}, <{self.lanes} x i1> {mask}){note}"
        )

    def operation(self, rhs: Op, args: Sequence[str], fuses: bool = True) -> str:
        """An operation on vectors. `fuses`: whether it may become one with others."""
        code = self.code
        match rhs.code:
            case "neg":
                return code.op(
                    f"fneg {self.vector} {args[0]}" if self.real else f"sub {self.vector} zeroinitializer, {args[0]}"
                )
            case "abs" | "sqrt":
                name = f"@llvm.{'f' * (rhs.code == 'abs')}{rhs.code}.v{self.lanes}f{8 * self.size}"
                code.module.declare(name, f"declare {self.vector} {name}({self.vector})")
                return code.op(f"call {self.vector} {name}({self.vector} {args[0]})")
            case "min" | "max":
                return self.chosen(self.compared("lt" if rhs.code == "min" else "gt", *args), *args)
            case "lt" | "le" | "gt" | "ge" | "neq":
                return self.compared(rhs.code, *args)
            case "or":
                return code.op(f"or <{self.lanes} x i1> {args[0]}, {args[1]}")
            case "select":
                return self.chosen(*args)
            case "add" | "sub" | "mul" if self.real:
                return code.op(f"f{rhs.code} {self.flags if fuses else ''}{self.vector} {args[0]}, {args[1]}")
        name = "fdiv" if rhs.code == "div" else rhs.code.removeprefix("bit")
        return code.op(f"{name} {self.vector} {args[0]}, {args[1]}")

    def compared(self, test: str, a: str, b: str) -> str:
        """The lanes for which a comparison holds."""
        return compare(self.code, test, self.base, a, b, self.vector)

    def chosen(self, condition: str, a: str, b: str) -> str:
        """Lanes of one vector or the other."""
        return self.code.op(f"select <{self.lanes} x i1> {condition}, {self.vector} {a}, {self.vector} {b}")
