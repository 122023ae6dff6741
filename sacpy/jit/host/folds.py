"""Folds whose function is one operation per accumulator that may be regrouped freely.

In: a fold. Out: a `Reduction`, or None.

Sums, products, extremes and logical folds are recognised. Integer ones give the same in any order. Those on reals are regrouped unless floating point is strict: over chunks of the first axis, whose size depends on the program and the extents only, and inside a loop over a fixed number of lanes, and over fewer for
what does not fill them, whatever the vector unit's width; so results depend neither on threads nor on the machine's vectors.

Extremes of reals are exact all the same. In order, the least of some numbers is the least of those after the last NaN, and of a zero and a negative zero the later one. Regrouped, they are computed such that NaN wins, then -0.0 under a minimum and 0.0 under a maximum: so unless that is what comes out, there was
nothing to choose, and the result is that of any order. If it is, the loop runs once more, in order (`withloops`).
"""

from __future__ import annotations

import math

from sacpy.jit.graph import Atom, Fold, Let, Op
from sacpy.jit.host.legal import LLVM_TYPES, Code, Module, constant
from sacpy.lang.constants import largest, smallest
from sacpy.lang.types import REAL
from sacpy.nodes import Node

LANES = {"double": (8, 4), "float": (16, 4)}  # vector width and number of vectors, of the accumulators of a fold on reals
REST = 8  # lanes of one vector for the last rounds, too few for these


class Reduction(Node):
    """A fold that was recognised: one operation per accumulator."""

    codes: tuple[str, ...]
    bases: tuple[str, ...]

    @property
    def real(self) -> bool:
        """Whether a regrouped result may differ from the one from left to right."""
        return any(base in REAL for base in self.bases)

    @property
    def extremes(self) -> tuple[int, ...]:
        """The accumulators that are extremes of reals."""
        return tuple(k for k, (code, base) in enumerate(zip(self.codes, self.bases)) if base in REAL and code in ("min", "max"))

    @property
    def exact(self) -> bool:
        """Whether a result is the one from left to right, once `undecided` ones have been computed anew."""
        return all(base not in REAL or code in ("min", "max") for code, base in zip(self.codes, self.bases))

    def identity(self, k: int) -> str:
        """The value that accumulator k may start from any number of times."""
        return constant(self.bases[k], _identity(self.codes[k], self.bases[k]))

    def apply(self, code: Code, k: int, a: str, b: str) -> str:
        """The operation of accumulator k, on reals, free to be regrouped."""
        type_ = LLVM_TYPES[self.bases[k]]
        if k in self.extremes:
            name = f"@llvm.{self.codes[k]}imum.{'f32' if type_ == 'float' else 'f64'}"
            code.module.declare(name, f"declare {type_} {name}({type_}, {type_})")
            return code.op(f"call {type_} {name}({type_} {a}, {type_} {b})")
        return code.op(f"f{self.codes[k]} reassoc contract {type_} {a}, {b}")

    def undecided(self, code: Code, k: int, result: str) -> str:
        """Whether the order may matter to extreme k, of which this came out: an i1."""
        type_ = LLVM_TYPES[self.bases[k]]
        bits = "i32" if type_ == "float" else "i64"
        zero = str(-(1 << int(bits[1:]) - 1)) if self.codes[k] == "min" else "0"
        same = code.op(f"icmp eq {bits} {code.op(f'bitcast {type_} {result} to {bits}')}, {zero}")
        return code.op(f"or i1 {same}, {code.op(f'fcmp uno {type_} {result}, {result}')}")


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
    """The reduction that a fold is, if it is one. One whose order a pragma keeps is none."""
    body = fold.combine
    if fold.stop is not None or fold.commutative is False or len(body.statements) != len(fold.neutrals):
        return None
    made: dict[Atom, Op] = {s.targets[0]: s.rhs for s in body.statements if isinstance(s, Let) and isinstance(s.rhs, Op)}
    codes = []
    for result, accumulator, value in zip(body.results, fold.accumulators, fold.values):
        op = made.get(result)
        if op is None or op.code not in _CODES or op.args not in ((accumulator, value), (value, accumulator)):
            return None
        codes.append(op.code)
    return Reduction(tuple(codes), tuple(a.base for a in fold.accumulators))


def lanes(reduction: Reduction) -> tuple[int, int]:
    """The lanes of a vector of accumulators, and how many such vectors there are."""
    return LANES["float" if "float" in reduction.bases and "double" not in reduction.bases else "double"]


def lanes_note(module: Module, width: int, vectors: int) -> str:
    """The metadata of a loop that fixes the lanes of its accumulators."""
    parts = [module.node(f'!{{!"llvm.loop.vectorize.width", i32 {width}}}'), module.node(f'!{{!"llvm.loop.interleave.count", i32 {vectors}}}')]
    return ", !llvm.loop " + module.node("!{{self}, " + ", ".join(parts) + "}", distinct=True)


def scalar_note(module: Module) -> str:
    """The metadata of a loop that is not to be vectorised."""
    part = module.node('!{!"llvm.loop.vectorize.enable", i1 false}')
    return ", !llvm.loop " + module.node("!{{self}, " + part + "}", distinct=True)
