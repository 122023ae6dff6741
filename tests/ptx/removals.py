"""Kernels with one barrier, guard or bound left out, to see that the interpreter of PTX finds each.

In: functions with arguments for which no index space fits its blocks. Out: for each removal whether it was found: as a
finding (a race, an access out of bounds, a read of what nobody wrote), or by a result that differs from the whole
kernel's. Left out are, of the kernel program: a barrier; a condition over what reads or writes memory, whose branch is
then always taken; a least or greatest of integers, in whose place one operand stands. What is
not found so is tried once more with accesses that keep to each axis (`indices`); `harmless` has the proofs of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from sacpy.jit.device.cubins import Cubin
from sacpy.jit.ir import graph as g
from sacpy.jit.ir import kernel as k
from sacpy.jit.kernels import product_tiles
from sacpy.nodes import replace
from tests.ptx import launch
from tests.ptx.comparing import HEAD, ints, reals
from tests.ptx.driver import PtxCuda, Translating
from tests.ptx.indices import rewritten, strictly
from tests.ptx.sessions import session

ROWS = "double[m] f(double[m,n] a) { return { [i] -> sum(a[i]) | [i] < [m] }; }"
PRODUCT = (
    "{t}[m,n] f({t}[m,k] a, {t}[k,n] b) {{ return with {{ {w}([0,0] <= [i,j] < [m,n]) : with {{ ([0] <= [l] < [k]) : "
    "a[i,l] * b[l,j]; }} : fold(+, {z}); }} : genarray([m,n], {z}); }}"
)
INNER = (
    "int[m,n] f(int[m,k] a, int[k,n] b) { return with { ([0,0] <= [i,j] < [m,n]) : with { ([2] <= [l] < [k - 1]) : "
    "a[i,l] * b[l,j]; } : fold(+, 0); } : genarray([m,n], 0); }"
)


def _doubles(*shape: int) -> Any:
    return reals(*shape, t=np.float64)


def _products(make: Callable[..., Any], *sizes: tuple[int, int, int]) -> tuple[tuple[Any, ...], ...]:
    """Matrices to be multiplied, by rows of the first one, columns of it, and columns of the second one."""
    return tuple((make(m, k), make(k, n)) for m, k, n in sizes)


STEPS = 2000  # of a launch, more than the whole kernels take
MANY, FEW = 132, 1  # multiprocessors: with one, small arrays are laid out as large ones are
FUNCTIONS: dict[str, tuple[str, tuple[tuple[Any, ...], ...], int]] = {
    "map": (
        "double[n] f(double[n] v) { return { [i] -> v[i] * 2.0 | [i] < [n] }; }",
        ((reals(1003, t=np.float64),),),
        MANY,
    ),
    "wide map": ("float[n] f(float[n] v) { return { [i] -> v[i] * 2f | [i] < [n] }; }", ((reals(70_001),),), FEW),
    "stencil in shared memory": (
        "double[m,n] f(double[m,n] a) { return with {\n#pragma gpumem shared(a)\n([1,1] <= [i,j] < [m - 1,n - 1]) : "
        "a[i - 1,j] + a[i + 1,j] + a[i,j - 1] + a[i,j + 1]; } : modarray(a); }",
        ((reals(40, 50, t=np.float64),), (reals(3, 35, t=np.float64),), (reals(3, 50, t=np.float64),)),
        MANY,
    ),
    "sum": (
        "int f(int[n] v) { return with { ([0] <= [i] < [n]) : v[i]; } : fold(+, 0); }",
        ((ints(5003),), (ints(3),)),
        MANY,
    ),
    "sum by halves": (
        "int f(int[n] v) { return with {\n#pragma gpufold halving\n([0] <= [i] < [n]) : v[i]; } : fold(+, 0); }",
        ((ints(5003),), (ints(3),)),
        MANY,
    ),
    "rows": (ROWS, ((reals(37, 131, t=np.float64),), (reals(37, 65, t=np.float64),)), MANY),
    "short rows of a full device": (ROWS, ((reals(300, 17, t=np.float64),), (reals(301, 32, t=np.float64),)), FEW),
    "columns": (
        "int[n] f(int[m,n] a) { return with { ([0] <= [j] < [n]) : with { ([0] <= [i] < [m]) : a[i,j]; } : fold(+, 0); "
        "} : genarray([n], 0); }",
        ((ints(301, 37),), (ints(64, 37),)),
        MANY,
    ),
    "product": (
        PRODUCT.format(t="float", w="", z="0f"),
        _products(reals, (35, 33, 35), (35, 36, 35), (35, 48, 35), (35, 33, 36)),
        FEW,
    ),
    "product, large boxes": (PRODUCT.format(t="float", w="", z="0f"), _products(reals, (67, 33, 67)), FEW),
    "product, whole accesses": (
        PRODUCT.format(t="int", w="", z="0"),
        _products(ints, (67, 36, 68), (67, 48, 68)),
        FEW,
    ),
    "product of inner indices": (INNER, _products(ints, (35, 36, 35), (35, 36, 36)), FEW),
    "product, a cell a thread": (PRODUCT.format(t="float", w="", z="0f"), _products(reals, (19, 33, 18)), MANY),
    "product, in chunks": (
        PRODUCT.format(t="int", w="", z="0"),
        _products(ints, (35, 593, 35), (35, 596, 36)),
        16,
    ),
    "product by tensor cores": (
        PRODUCT.format(t="double", w="\n#pragma gpufold mma(f64)\n", z="0.0"),
        _products(_doubles, (35, 33, 35), (35, 36, 35), (35, 36, 36), (35, 48, 36), (35, 33, 36)),
        MANY,
    ),
    "turned": (
        "int[n,m] f(int[m,n] a) { return { [j,i] -> a[i,j] | [j,i] < [n,m] }; }",
        ((ints(70, 45),), (ints(33, 34),), (ints(64, 33),)),
        FEW,
    ),
    "points": (
        "double[n,3] f(double[n,3] a) { return { [i] -> [a[i,0] / a[i,1], a[i,1], a[i,2] + a[i,0]] | [i] < [n] }; }",
        ((reals(701, 3, t=np.float64),),),
        FEW,
    ),
    "all pairs": (
        "double[n] f(double[n] p) { return with { ([0] <= [i] < [n]) { x = 0.0; for (j = 0; j < n; j++) { x += 1.0 / "
        "(p[j] - p[i] + 9.0); } } : x; } : genarray([n], 0.0); }",
        ((reals(201, t=np.float64),),),
        MANY,
    ),
}
CELLS = {"product, large boxes": ((4, 4),), "product, whole accesses": ((4, 4),)}
"""Of products, how many cells a thread may have: fixed, so that the same kernel meets extents of all kinds. Their last
blocks have fewer rows and columns than a round of loads, their last strips as few indices as their accesses allow."""
KINDS = ("barrier", "guard", "bound")


def without(kernel: k.Kernel) -> Iterator[tuple[str, str, k.Kernel]]:
    """The kernel without each of its barriers, guards and bounds in turn; of what kind, and in words."""
    for kind in KINDS:
        number = 0
        while True:
            seen, what = [0], [""]

            def visit(
                s: Any, number: int = number, kind: str = kind, seen: list[int] = seen, what: list[str] = what
            ) -> Any:
                found = _left_out(s, kind)
                if found is None:
                    return None
                seen[0] += 1
                if seen[0] - 1 != number:
                    return None
                what[0] = found[0]
                return found[1]

            changed = replace(kernel, body=rewritten(kernel.body, visit))
            if seen[0] <= number:
                break
            yield kind, f"{kind} {number}: {what[0]}", changed
            number += 1


def _left_out(s: Any, kind: str) -> tuple[str, tuple[Any, ...]] | None:
    """What stands in the place of a statement that is of the kind, and the statement in words."""
    match s:
        case k.Barrier() if kind == "barrier":
            return "", ()
        case k.If() if kind == "guard" and _touches(s.then) and not s.otherwise:
            lets = tuple(k.Let(m.target, m.then) for m in s.merges)
            return _name(s.condition), (*s.then, *lets)
        case k.Let(rhs=g.Op(code="min" | "max", args=args)) | k.Uniform(rhs=g.Op(code="min" | "max", args=args)):
            if kind == "bound" and s.target.base in ("int", "long"):
                kept = args[0] if isinstance(args[0], g.Var) else args[1]
                return f"{s.rhs.code} of {', '.join(map(_name, args))}", (replace(s, rhs=kept),)
    return None


def _name(a: g.Atom) -> str:
    return str(a.value) if isinstance(a, g.Const) else a.name


def _touches(code: Sequence[k.ThreadStmt]) -> bool:
    statements = list(k.thread_statements(tuple(code)))
    return any(isinstance(s, k.Store | k.Atomic) or isinstance(getattr(s, "rhs", None), g.Load) for s in statements)


@dataclass
class Told:
    """Of all removals: how many were `found`, by kind, and each of these, with what found it (`by`); which are `proved`
    harmless, with the proof, and which were `missed`."""

    found: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    by: list[str] = field(default_factory=list)
    proved: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


class _Changed(Translating):
    """Makes PTX of another kernel in the place of one. `seen`: all that there were."""

    def __init__(self, front: str, old: k.Kernel | None = None, new: k.Kernel | None = None) -> None:
        super().__init__(front)
        self.old, self.new = old, new
        self.seen: list[k.Kernel] = []

    def __call__(self, kernel: k.Kernel, architecture: str) -> Cubin:
        self.seen.append(kernel)
        return super().__call__(self.new if self.new is not None and kernel == self.old else kernel, architecture)


def ran(name: str, front: str, old: k.Kernel | None = None, new: k.Kernel | None = None) -> tuple[list[Any], PtxCuda]:
    """The results of a function, a kernel of which may be changed, and the GPU."""
    source, calls, processors = FUNCTIONS[name]
    gpu = PtxCuda("sm_90", front, processors=processors)
    gpu.translating = _Changed(front, old, new)
    module = session(gpu).compile(HEAD + source)
    results: list[Any] = []
    for args in calls:
        try:
            cells = patch.object(product_tiles, "EACH", CELLS.get(name, ((2, 2),)))
            with patch.object(launch, "MOST_STEPS", STEPS), cells:
                results.append(np.asarray(module.f(*args)))
        except Exception as error:  # of the interpreter: that it does not end, for one
            results.append(np.array(str(error)))
        if new is not None and gpu.findings:
            break
    return results, gpu


def removals(name: str, front: str) -> Told:
    """All of one function."""
    told = Told()
    wanted, whole = ran(name, front)
    assert whole.findings.lines() == [] and whole.programs, (name, whole.findings.lines())
    assert isinstance(whole.translating, _Changed)
    for kernel in whole.translating.seen:
        purpose = kernel.name.split(".")[1].rstrip("0123456789")
        strict: tuple[list[Any], PtxCuda] | None = None
        for kind, what, changed in without(kernel):
            words = f"{name} [{front}]: {purpose}, {what}"
            found = _difference(wanted, *ran(name, front, kernel, changed))
            if not found:
                if strict is None:
                    strict = ran(name, front, kernel, strictly(kernel))
                    assert not _difference(wanted, *strict), (name, purpose, strict[1].findings.lines())
                found = _difference(wanted, *ran(name, front, kernel, strictly(changed)))
                found = found and f"{found}, each axis by itself"
            proof = "" if found else harmless(kernel, what)
            if found:
                told.found[kind] += 1
                told.by.append(f"{words}: found by {found}")
            elif proof:
                told.proved.append(f"{words}: harmless because {proof}")
            else:
                told.missed.append(words)
    return told


def _difference(wanted: Sequence[Any], got: Sequence[Any], gpu: PtxCuda) -> str:
    """What tells a launch from that of the whole kernel: a finding or the result; nothing where they are alike."""
    lines = gpu.findings.lines()
    if lines:
        return lines[0].partition("\n")[0]
    return "" if all(map(_same, got, wanted)) else "its result"


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"))


def nothing_follows(kernel: k.Kernel, what: str) -> bool:
    """Whether a barrier is the last one of a kernel, and no shared memory is touched behind it: neither in what follows
    nor in a next round of a loop around it."""
    shared = {
        s.array.name for s in k.block_statements(kernel.body) if isinstance(s, k.Allocate) and s.space == "shared"
    }
    kind, _, rest = what.partition(" ")
    if kind != "barrier":
        return False
    number = [int(rest.partition(":")[0])]

    def search(body: Sequence[k.BlockStmt], later: bool) -> bool | None:
        """Whether nothing follows the barrier, once it is found. `later`: shared memory is touched behind the body."""
        for at, s in enumerate(body):
            behind = later or any(_uses(n, shared) for n in body[at + 1 :])
            if isinstance(s, k.Barrier):
                if not number[0]:
                    return not behind
                number[0] -= 1
            elif isinstance(s, k.BlockFor | k.BlockIf | k.LastBlock):
                inner: Sequence[k.BlockStmt] = s.then if isinstance(s, k.BlockIf) else s.body
                again = isinstance(s, k.BlockFor) and any(_uses(n, shared) for n in inner)
                found = search(inner, behind or again)
                if found is not None:
                    return found
        return None

    return bool(search(kernel.body, False))


def _uses(s: k.BlockStmt, shared: set[str]) -> bool:
    if isinstance(s, k.ForAll):
        touched = [t.array.name for t in k.thread_statements(s.body) if isinstance(t, k.Store | k.Atomic)]
        loads = [getattr(t, "rhs", None) for t in k.thread_statements(s.body)]
        return bool(shared & {*touched, *(x.array.name for x in loads if isinstance(x, g.Load))})
    return any(_uses(n, shared) for n in (*getattr(s, "body", ()), *getattr(s, "then", ())))


def harmless(kernel: k.Kernel, what: str) -> str:
    """The proof that a kernel does the same without something that no execution has found; nothing where there is
    none."""
    if nothing_follows(kernel, what):
        return "no shared memory is touched behind the last barrier"
    if what.startswith("guard") and only_own(kernel, what.partition(": ")[2]):
        return "it writes only the thread's own memory, and threads that it leaves out give nothing to others"
    return ""


def only_own(kernel: k.Kernel, condition: str) -> bool:
    """Whether what is done under a condition writes arrays of the thread alone, and leaves no scalar behind. That all
    it reads is there has been executed; what threads do with those arrays then has guards of its own."""
    own = {s.array.name for s in k.block_statements(kernel.body) if isinstance(s, k.Allocate) and s.space == "private"}
    phases = [s for s in k.block_statements(kernel.body) if isinstance(s, k.ForAll)]
    inside = [
        s
        for phase in phases
        for s in k.thread_statements(phase.body)
        if isinstance(s, k.If) and _name(s.condition) == condition
    ]
    writes = [t for s in inside for t in k.thread_statements(s.then) if not isinstance(t, k.Let)]
    plain = all(isinstance(t, k.Store) and t.array.name in own for t in writes)
    return bool(inside) and plain and not any(s.merges for s in inside)
