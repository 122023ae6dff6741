"""The instructions of folds that may be regrouped (`analysis/folds`): over lanes, and over chunks.

In: a `Reduction`, and the texts of its operands. Out: its instructions, and the notes that fix how LLVM makes vectors
of the loop around them: how many lanes there are depends on the program alone, so results do not depend on the
machine's vectors.
"""

from __future__ import annotations

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.llvm.legal import LLVM_TYPES, STRAIGHT_VECTORS, Code, Module, constant


def identity(r: Reduction, k: int) -> str:
    """The value that accumulator k may start from any number of times."""
    return constant(r.bases[k], r.neutral(k))


def applied(r: Reduction, code: Code, k: int, a: str, b: str) -> str:
    """The operation of accumulator k, on reals, free to be regrouped."""
    type_ = LLVM_TYPES[r.bases[k]]
    if k in r.extremes:
        name = f"@llvm.{r.codes[k]}imum.{'f32' if type_ == 'float' else 'f64'}"
        code.module.declare(name, f"declare {type_} {name}({type_}, {type_})")
        return code.op(f"call {type_} {name}({type_} {a}, {type_} {b})")
    return code.op(f"f{r.codes[k]} reassoc contract {type_} {a}, {b}")


def undecided(r: Reduction, code: Code, k: int, result: str) -> str:
    """Whether the order may matter to extreme k, of which this came out: an i1."""
    type_ = LLVM_TYPES[r.bases[k]]
    bits = "i32" if type_ == "float" else "i64"
    zero = str(-(1 << int(bits[1:]) - 1)) if r.codes[k] == "min" else "0"
    same = code.op(f"icmp eq {bits} {code.op(f'bitcast {type_} {result} to {bits}')}, {zero}")
    return code.op(f"or i1 {same}, {code.op(f'fcmp uno {type_} {result}, {result}')}")


def lanes_note(module: Module, width: int, vectors: int, group: str = "") -> str:
    """The metadata of a loop that fixes the lanes of its accumulators; `group`: as for `independent_note`."""
    width_, count = f'!"llvm.loop.vectorize.width", i32 {width}', f'!"llvm.loop.interleave.count", i32 {vectors}'
    return _loop_note(module, width_, count, *_independent(group))


def scalar_note(module: Module) -> str:
    """The metadata of a loop that is not to be vectorised."""
    return _loop_note(module, '!"llvm.loop.vectorize.enable", i1 false')


def cells_note(module: Module) -> str:
    """The metadata of a loop that is not to be vectorised, but its rounds are, each by itself."""
    return _loop_note(module, '!"llvm.loop.vectorize.enable", i1 false', f'!"{STRAIGHT_VECTORS}"')


def independent_note(module: Module, group: str) -> str:
    """The metadata of a loop whose rounds may run in any order, as far as the loads and stores of a group go; none
    without a group."""
    return _loop_note(module, *_independent(group)) if group else ""


def _independent(group: str) -> tuple[str, ...]:
    return (f'!"llvm.loop.parallel_accesses", {group}',) if group else ()


def _loop_note(module: Module, *parts: str) -> str:
    nodes = [module.node("!{" + part + "}") for part in parts]
    return ", !llvm.loop " + module.node("!{{self}, " + ", ".join(nodes) + "}", distinct=True)
