"""Kernels with one barrier, guard or bound left out, to see that the interpreter finds each.

In: functions with arguments for which no index space fits its blocks. Out: for each removal whether it was found: as a
finding (a race, an access out of bounds, a read of what nobody wrote), or by a result that differs from the whole
kernel's. Of those that were not, some are proved to change nothing: behind the barrier no path comes to shared memory
again, or before it none has been there (`orders_nothing`); no launch takes the branch (`of_blocks`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from sacpy.jit.device.cubins import Cubin
from sacpy.jit.ir.kernel import Kernel
from sacpy.nodes import replace
from tests.ptx import changes, launch
from tests.ptx.comparing import HEAD, ints, reals
from tests.ptx.driver import PtxCuda, Translating
from tests.ptx.operands import names_in
from tests.ptx.parse import Function, parse
from tests.ptx.sessions import session

ROWS = "double[m] f(double[m,n] a) { return { [i] -> sum(a[i]) | [i] < [m] }; }"
PRODUCT = (
    "{t}[m,n] f({t}[m,k] a, {t}[k,n] b) {{ return with {{ {w}([0,0] <= [i,j] < [m,n]) : with {{ ([0] <= [l] < [k]) : "
    "a[i,l] * b[l,j]; }} : fold(+, {z}); }} : genarray([m,n], {z}); }}"
)
STEPS = 2000  # of a launch, more than the whole kernels take
MANY, FEW = 132, 1  # multiprocessors: with one, small arrays are laid out as large ones are
FUNCTIONS: dict[str, tuple[str, tuple[tuple[Any, ...], ...], int]] = {
    "map": (
        "double[n] f(double[n] v) { return { [i] -> v[i] * 2.0 | [i] < [n] }; }", ((reals(1003, t=np.float64),),), MANY
    ),
    "wide map": ("float[n] f(float[n] v) { return { [i] -> v[i] * 2f | [i] < [n] }; }", ((reals(70_001),),), FEW),
    "stencil in shared memory": (
        "double[m,n] f(double[m,n] a) { return with {\n#pragma gpumem shared(a)\n([1,1] <= [i,j] < [m - 1,n - 1]) : "
        "a[i - 1,j] + a[i + 1,j] + a[i,j - 1] + a[i,j + 1]; } : modarray(a); }",
        ((reals(40, 50, t=np.float64),), (reals(5, 3, t=np.float64),)),
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
        ((reals(37, 37), reals(37, 37)), (reals(37, 16), reals(16, 37)), (reals(40, 9), reals(9, 39))),
        FEW,
    ),
    "product, whole accesses": (
        PRODUCT.format(t="int", w="", z="0"), ((ints(36, 36), ints(36, 44)), (ints(36, 12), ints(12, 44))), MANY
    ),
    "product, in chunks": (PRODUCT.format(t="int", w="", z="0"), ((ints(37, 603), ints(603, 35)),), 16),
    "product by tensor cores": (
        PRODUCT.format(t="double", w="\n#pragma gpufold mma(f64)\n", z="0.0"),
        (
            (reals(37, 37, t=np.float64), reals(37, 37, t=np.float64)),
            (reals(37, 9, t=np.float64), reals(9, 37, t=np.float64)),
        ),
        MANY,
    ),
    "turned": ("int[n,m] f(int[m,n] a) { return { [j,i] -> a[i,j] | [j,i] < [n,m] }; }", ((ints(70, 45),),), FEW),
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
    "scan": (
        "int[n] f(int[n] v) { s = 0; r, t = with { ([0] <= [i] < [n]) { s = s + v[i]; } : (s, s); } : (genarray([n], "
        "0), scan(s)); return r; }",
        ((ints(5003),),),
        MANY,
    ),
}
_SKIP = re.compile(r"^\s*@!?%p\d+\s+bra(?:\.uni)?\s+([\w$]+);[^\n]*\n", re.M)
_BOUND = re.compile(r"^(\s*)(min|max)\.([su](?:32|64))(\s+)([^,]+), ([^,]+), ([^;]+);[^\n]*\n", re.M)


def without_bounds(ptx: str) -> Iterator[str]:
    """The text in which a minimum or maximum of indices is one of its operands: the one that is no constant."""
    for m in _BOUND.finditer(ptx):
        kept = m[6] if m[6].startswith("%") else m[7]
        yield f"{ptx[: m.start()]}{m[1]}mov.b{m[3][1:]}{m[4]}{m[5]}, {kept};\n{ptx[m.end() :]}"


def without_guards(ptx: str) -> Iterator[str]:
    """The text without one of the conditional branches over what writes to memory. Others are control of loops."""
    for m in _SKIP.finditer(ptx):
        to = re.compile(rf"^{re.escape(m[1])}:", re.M).search(ptx, m.end())
        if to is not None and re.search(r"\b(?:st|red|atom)\.(?!local|param)", ptx[m.end() : to.start()]):
            yield ptx[: m.start()] + ptx[m.end() :]


KINDS = {"barrier": changes.without_barriers, "guard": without_guards, "bound": without_bounds}


@dataclass
class Told:
    """Of all removals: how many were `found`, by kind; which are `proved` harmless, and which were `missed`."""

    found: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    proved: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


class _Changed(Translating):
    text, changed = "", ""

    def __call__(self, kernel: Kernel, architecture: str) -> Cubin:
        made = super().__call__(kernel, architecture)
        return replace(made, code=self.changed.encode()) if made.code.decode() == self.text else made


def ran(name: str, front: str, text: str = "", changed: str = "") -> tuple[list[Any], PtxCuda]:
    """The results of a function, a kernel of which may be changed, and the GPU."""
    source, calls, processors = FUNCTIONS[name]
    gpu = PtxCuda("sm_90", front, processors=processors)
    gpu.translating = _Changed(front)
    gpu.translating.text, gpu.translating.changed = text, changed
    module = session(gpu).compile(HEAD + source)
    results: list[Any] = []
    for args in calls:
        try:
            with patch.object(launch, "MOST_STEPS", STEPS):
                results.append(np.asarray(module.f(*args)))
        except Exception as error:  # of the interpreter: that it does not end, for one
            results.append(np.array(str(error)))
        if changed and gpu.findings:
            break
    return results, gpu


def removals(name: str, front: str) -> Told:
    """All of one function."""
    told = Told()
    wanted, whole = ran(name, front)
    assert whole.findings.lines() == [] and whole.programs, (name, whole.findings.lines())
    for text in [code.decode() for code in whole.programs]:
        for kind, without in KINDS.items():
            for number, changed in enumerate(without(text)):
                got, gpu = ran(name, front, text, changed)
                what = f"{name} [{front}]: {kind} {number} of {next(iter(parse(text).functions))}"
                if gpu.findings.lines() or not all(map(_same, got, wanted)):
                    told.found[kind] += 1
                elif (kind == "barrier" and orders_nothing(text, number)) or (
                    kind == "guard" and of_blocks(text, changed)
                ):
                    told.proved.append(what)
                else:
                    told.missed.append(what)
    return told


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"))


def of_blocks(text: str, changed: str) -> bool:
    """Whether a branch that was left out depends on the number of the block and on parameters alone. Such a one stands
    before a stride over places: a launch has no more blocks than there are places (`Placement.launched`), and so no
    block takes it."""
    f = next(iter(parse(text).functions.values()))
    other = next(iter(parse(changed).functions.values()))
    k = next(k for k, (i, j) in enumerate(zip(f.code, [*other.code, None])) if j is None or i.text != j.text)
    wanted, seen = [f.code[k].guard.lstrip("!")], set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        for i in f.code[:k]:
            if i.args and name in names_in(i.args[0]) and i.op not in ("st", "bra", "red", "bar", "barrier"):
                if i.op == "ld" and "param" not in i.mods:
                    return False
                wanted += [n for a in i.args[1:] for n in names_in(a.lstrip("!-")) if n.startswith("%")]
    return not any(n.startswith(("%tid", "%lane", "%warp")) for n in seen) and any(n.startswith("%ctaid") for n in seen)


def orders_nothing(text: str, number: int) -> bool:
    """Whether no access to shared memory comes before a barrier, or none behind it, on any path: then there are no two
    that it keeps apart."""
    f = next(iter(parse(text).functions.values()))
    at = [k for k, i in enumerate(f.code) if i.op in ("bar", "barrier")][number]
    follows = _successors(f)
    before: list[list[int]] = [[] for _ in f.code]
    for k, many in enumerate(follows):
        for j in many:
            before[j].append(k)
    return not any(_shared(f, k) for k in _reached(at, follows)) or not any(_shared(f, k) for k in _reached(at, before))


def _shared(f: Function, k: int) -> bool:
    return "shared" in f.code[k].mods


def _successors(f: Function) -> list[list[int]]:
    found = []
    for k, i in enumerate(f.code):
        ends = i.op in ("ret", "exit", "trap") or (i.op == "bra" and not i.guard)
        to = [f.labels[i.args[0]]] if i.op == "bra" else []
        found.append([j for j in (*to, *([] if ends and not i.guard else [k + 1])) if j < len(f.code)])
    return found


def _reached(start: int, follows: list[list[int]]) -> set[int]:
    seen: set[int] = set()
    todo = list(follows[start])
    while todo:
        k = todo.pop()
        if k not in seen:
            seen.add(k)
            todo += follows[k]
    return seen
