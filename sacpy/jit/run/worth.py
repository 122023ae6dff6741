"""Which functions the engine looks after at all: those with work in them. A straight line of scalar operations is run
by the interpreter faster than anybody decides about it.

In: a function of core. Out: yes or no.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from sacpy.lang.core import ArrayCons, Atom, Block, Call, Const, Function, If, Let, Loop, Prim, Stmt, WithLoop
from sacpy.lang.types import BUILTIN
from sacpy.lang.walk import loops, partition_atoms, statements

# their functions on scalars are straight lines
SCALAR_MODULES = ("ScalarArith", "ArrayArith", "Math", "Bits", "Bool", "Char")


def worth_watching(function: Function) -> bool:
    """Whether a function may be worth compiling: it has loops, or arrays, or calls itself, and all that it takes and
    gives can be represented."""
    signature = function.signature
    slots = (*signature.params, *signature.results)
    if any(slot.base not in BUILTIN for slot in slots):
        return False
    if loops(function.body):
        return True
    calls = list(_calls(function.body))
    if any(signature.key in call.candidates for call in calls):
        return True
    if _updates(function.body) and not any(map(_is_work, calls)):
        return False  # the interpreter updates in place what it is given; native code would have to copy it
    arrays = any(slot.pattern is not None or slot.cell for slot in slots)
    return (arrays and bool(calls or _prims(function.body))) or any(map(_is_work, calls))


def asks(function: Function, statement: Let | Loop) -> list[str] | None:
    """The variables whose values the generated code of a function gives when it asks about one of its loops or
    with-loops; None where it does not ask."""
    if not worth_watching(function):
        return None
    from sacpy.jit.run.rests import reads

    return reads(statement)


def _calls(block: Block) -> Iterator[Call]:
    for s in block.statements:
        match s:
            case Let(rhs=Call() as call):
                yield call
            case If():
                yield from _calls(s.then)
                yield from _calls(s.otherwise)


def _updates(block: Block) -> bool:
    """Whether elements of arrays are replaced."""
    return any(
        (isinstance(s, Let) and isinstance(s.rhs, Prim) and s.rhs.op == "modarray")
        or (isinstance(s, If) and (_updates(s.then) or _updates(s.otherwise)))
        for s in block.statements
    )


def _prims(block: Block) -> bool:
    return any(
        (isinstance(s, Let) and isinstance(s.rhs, Prim | WithLoop)) or isinstance(s, Loop) for s in block.statements
    )


def is_large(function: Function, size: int) -> bool:
    """Whether a function has a number in it above `size`: of rounds, or of elements along an axis or in all. What it
    does may then be much although it is called with little."""
    return any(_is_above(a, size) for s in statements(function.body) for a in _atoms(s))


def _is_above(atom: Atom, size: int) -> bool:
    return isinstance(atom, Const) and prod(abs(v) for v in atom.value if isinstance(v, int) and v) > size


def _atoms(s: Stmt) -> Iterator[Atom]:
    match s:
        case Let(rhs=Call(args=atoms) | Prim(args=atoms) | ArrayCons(elements=atoms)):
            yield from atoms
        case Let(rhs=Const() as value):
            yield value
        case Let(rhs=WithLoop(partitions=partitions)):
            yield from (a for p in partitions for a in partition_atoms(p))
        case Loop():
            yield from (c.initial for c in s.carried)


def worth_outlining(function: Function) -> bool:
    """Whether a function may have regions that are worth compiling by themselves."""
    return loops(function.body) or any(_is_work(call) for call in _calls(function.body))


def _is_work(call: Call) -> bool:
    """Whether a call may be one of a function that takes long."""
    module = call.candidates[0].partition("::")[0] if call.candidates else ""
    return module not in QUIET


QUIET = (
    *SCALAR_MODULES,
    "StdIO",
    "ArrayIO",
    "ScalarIO",
    "TermFile",
    "String",
    "FibreIO",
    "CommandLine",
    "ComplexIO",
    "ArrayBasics",
)
