"""Folds whose function is one operation per accumulator that may be regrouped freely.

Sums, products, extremes and logical folds are recognised. Integer ones give the same in any order. Those on reals are regrouped unless floating point is strict: over chunks of the first axis, whose size depends on the program and the extents only, and inside a loop over a fixed number of lanes,
whatever the vector unit's width; so results depend neither on threads nor on the machine's vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sacpy.jit.graph import Atom, Fold, Let, Op
from sacpy.jit.host.legal import LLVM_TYPES, Code, Module, constant
from sacpy.lang.constants import largest, smallest
from sacpy.lang.types import REAL

LANES = {"double": (8, 4), "float": (16, 4)}  # vector width and number of vectors, of the accumulators of a fold on reals


@dataclass(frozen=True, slots=True)
class Reduction:
    """A fold that was recognised: one operation per accumulator."""

    codes: tuple[str, ...]
    bases: tuple[str, ...]

    @property
    def real(self) -> bool:
        """Whether a regrouped result may differ from the one from left to right."""
        return any(base in REAL for base in self.bases)

    def identity(self, k: int) -> str:
        """The value that accumulator k may start from any number of times."""
        return constant(self.bases[k], _identity(self.codes[k], self.bases[k]))

    def apply(self, code: Code, k: int, a: str, b: str) -> str:
        """The operation of accumulator k, free to be regrouped."""
        base, type_ = self.bases[k], LLVM_TYPES[self.bases[k]]
        match self.codes[k]:
            case "min" | "max" as extreme if base in REAL:
                test = code.op(f"fcmp nnan nsz {'olt' if extreme == 'min' else 'ogt'} {type_} {a}, {b}")
                return code.op(f"select nnan nsz i1 {test}, {type_} {a}, {type_} {b}")
            case other:
                return code.op(f"f{other} reassoc contract {type_} {a}, {b}")


def _identity(code: str, base: str) -> int | float | bool:
    match code:
        case "add":
            return -0.0 if base in REAL else 0
        case "mul":
            return 1
        case "min":
            return math.inf if base in REAL else largest(base)
        case "max":
            return -math.inf if base in REAL else smallest(base)
        case "bitand":
            return -1
        case "and":
            return True
        case "or":
            return False
    return 0


_CODES = frozenset(["add", "mul", "min", "max", "and", "or", "bitand", "bitor", "bitxor"])


def recognised(fold: Fold) -> Reduction | None:
    """The reduction that a fold is, if it is one."""
    body = fold.combine
    if fold.stop is not None or len(body.statements) != len(fold.neutrals):
        return None
    made: dict[Atom, Op] = {s.targets[0]: s.rhs for s in body.statements if isinstance(s, Let) and isinstance(s.rhs, Op)}
    codes = []
    for result, accumulator, value in zip(body.results, fold.accumulators, fold.values):
        op = made.get(result)
        if op is None or op.code not in _CODES or op.args not in ((accumulator, value), (value, accumulator)):
            return None
        codes.append(op.code)
    return Reduction(tuple(codes), tuple(a.base for a in fold.accumulators))


def lanes_note(module: Module, reduction: Reduction) -> str:
    """The metadata of a loop that fixes the lanes of its accumulators."""
    width, vectors = LANES["float" if "float" in reduction.bases and "double" not in reduction.bases else "double"]
    parts = [module.node(f'!{{!"llvm.loop.vectorize.width", i32 {width}}}'), module.node(f'!{{!"llvm.loop.interleave.count", i32 {vectors}}}')]
    return ", !llvm.loop " + module.node("!{{self}, " + ", ".join(parts) + "}", distinct=True)
