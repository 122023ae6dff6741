"""Runs kernels in Python, thread by thread: the meaning of kernel programs, in the plainest words, for tests.

In: a launch and the values and buffers it names. Out: written arrays. Barriers are no-ops, as each phase runs for all
threads of a block before the next. Accesses out of range, a store to an array that is not written, two stores to one
cell of an array that is written `once`, and `exact` operations that wrap are `AssertionError`s. A check that fails is
noted in `failed`; the thread goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sacpy.interp.errors import Fault
from sacpy.interp.runtime.elementwise import scalar_version
from sacpy.interp.values import Value, dtype_of
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import Atom, Const, Load, Op, Var, extents_of
from sacpy.jit.ir.kernel_verify import verify_kernel
from sacpy.jit.ir.operations import PLACES
from sacpy.jit.kernels import Launch, Plan
from sacpy.withloop.arithmetic import place_in_rows

_SPOILT = {"f": float("nan"), "i": 77, "u": 77, "b": True}  # what memory holds before it is written


def spoilt(base: str, extents: Sequence[int]) -> np.ndarray[Any, Any]:
    """Memory that nobody has written."""
    dtype = np.dtype(dtype_of(base))
    return np.full(tuple(extents), _SPOILT[dtype.kind], dtype)


def run_plan(plan: Plan, values: Mapping[str, Value]) -> tuple[dict[str, Value], list[str]]:
    """The results of a plan by name, and the checks that failed. `values`: free scalars and arrays by name."""
    memory = dict(values)
    for buffer in (*plan.results, *plan.temporaries):
        memory[buffer.name] = spoilt(buffer.base, buffer.extents)
    failed: list[str] = []
    with np.errstate(all="ignore"):
        for launch in plan.launches:
            run_launch(launch, memory, failed)
    return {b.name: memory[b.name].item() if b.scalar else memory[b.name] for b in plan.results}, failed


def run_launch(launch: Launch, memory: Mapping[str, Value], failed: list[str]) -> None:
    """One launch. `memory`: values and buffers by name."""
    verify_kernel(launch.kernel)
    args = [memory[a] if isinstance(a, str) else a for a in launch.arguments]
    KernelRun(launch, args, failed).run()


class KernelRun:
    """One launch being run. `thread`: the number of the running thread in its block."""

    def __init__(self, launch: Launch, args: Sequence[Value], failed: list[str]) -> None:
        self.kernel = launch.kernel
        self.launch = launch
        self.failed = failed
        self.env: dict[str, Value] = {}
        self.written: dict[str, np.ndarray[Any, Any]] = {}
        for p, a in zip(self.kernel.params, args, strict=True):
            self.env[p.name] = a
        for p in self.kernel.params:
            if extents_of(p):
                assert self.env[p.name].shape == tuple(map(self.get, extents_of(p))), (p, self.env[p.name].shape)
                assert self.env[p.name].dtype == dtype_of(p.base), p
        for w in self.kernel.writes:
            if w.once:
                self.written[w.array.name] = np.zeros(self.env[w.array.name].shape, bool)
        self.own: dict[tuple[str, tuple[int, ...]], np.ndarray[Any, Any]] = {}
        self.space: dict[str, k.Allocate] = {}
        self.at: tuple[int, ...] = ()

    def run(self) -> None:
        """All blocks."""
        kernel, launch = self.kernel, self.launch
        grid, block = (launch.grid[3 - len(kernel.grid) :], launch.block[3 - len(kernel.block) :])
        assert np.prod(launch.grid) == np.prod(grid) and np.prod(launch.block) == np.prod(block), launch
        assert tuple(map(self.get, kernel.grid)) == grid, (kernel.grid, grid)
        assert tuple(map(self.get, kernel.block)) == block, (kernel.block, block)
        self.extents, self.arrived = block, 0
        scratch = {b.name: b.extents for b in launch.scratch}
        for place in product(*map(range, grid)):
            self.own.clear()
            for v, i in zip(kernel.block_index, place):
                self.env[v.name] = i
            self.block(kernel.body)
        for name, a in self.space.items():
            if a.space == "scratch":
                assert scratch[name] == tuple(map(self.get, extents_of(a.array))), (name, scratch)

    # ---- values

    def get(self, a: Atom) -> Any:
        return a.value if isinstance(a, Const) else self.env[a.name]

    def array(self, a: Var) -> np.ndarray[Any, Any]:
        if a.name not in self.space:
            found: np.ndarray[Any, Any] = self.env[a.name]
            return found
        owner = () if self.space[a.name].space == "shared" else self.at
        if (a.name, owner) not in self.own:
            self.own[a.name, owner] = spoilt(a.base, [self.get(e) for e in extents_of(self.space[a.name].array)])
        return self.own[a.name, owner]

    def rhs(self, r: Atom | Op | Load | k.Divide) -> Any:
        match r:
            case Op():
                args = [self.get(a) for a in r.args]
                if r.code == "select":
                    return args[1] if args[0] else args[2]
                if r.code in PLACES:
                    return place_in_rows(*map(int, args))[r.code == "column"]
                try:
                    value = scalar_version(r.code, r.args[0].base)(*args)
                except Fault:
                    return 0  # any value: a check stands before whatever uses it
                assert not r.exact or r.code not in _UNBOUNDED or value == _UNBOUNDED[r.code](*args), (r, args)
                return value
            case Load():
                a, at = self.array(r.array), tuple(self.get(i) for i in r.index)
                assert len(at) == a.ndim and all(0 <= i < e for i, e in zip(at, a.shape)), (
                    self.kernel.name,
                    r,
                    at,
                    a.shape,
                )
                return a[at].item()
            case k.Divide():
                dividend, divisor, multiplier, shift = (
                    self.get(a) for a in (r.dividend, r.divisor, r.multiplier, r.shift)
                )
                assert dividend >= 0 and divisor >= 1, (r, dividend, divisor)
                bits = self.kernel.bits
                word = (1 << bits) - 1
                quotient = ((2 * dividend & word) * (multiplier & word) >> bits) >> shift
                assert quotient == dividend // divisor
                return quotient
            case _:
                return self.get(r)

    # ---- block level

    def block(self, statements: Sequence[k.BlockStmt]) -> None:
        for s in statements:
            match s:
                case k.ForAll():
                    extents = tuple(map(self.get, s.extents))
                    for index in product(*map(range, extents)):
                        self.at = (
                            tuple(i % e for i, e in zip(index, self.extents))
                            if len(index) == len(self.extents)
                            else index
                        )
                        for v, i in zip(s.index, index):
                            self.env[v.name] = i
                        self.thread(s.body)
                case k.Barrier():
                    pass
                case k.Shuffle():
                    self.shuffle(s)
                case k.Allocate():
                    self.space[s.array.name] = s
                case k.Uniform():
                    self.env[s.target.name] = self.rhs(s.rhs)
                case k.BlockFor():
                    for i in range(self.get(s.lower), self.get(s.upper), self.get(s.step)):
                        self.env[s.index.name] = i
                        self.block(s.body)
                case k.BlockIf():
                    if self.get(s.condition):
                        self.block(s.then)
                case k.LastBlock():
                    self.arrived += 1
                    if self.arrived == prod(map(self.get, self.kernel.grid)):
                        self.block(s.body)

    def shuffle(self, s: k.Shuffle) -> None:
        threads = list(product(*map(range, self.extents)))
        held = []
        for self.at in threads:
            held.append(self.array(s.source)[0])
        for n, self.at in enumerate(threads):
            other = n + s.distance
            self.array(s.target)[0] = held[other if other // k.WARP == n // k.WARP else n]

    # ---- thread level

    def thread(self, statements: Sequence[k.ThreadStmt]) -> None:
        for s in statements:
            match s:
                case k.Let():
                    self.env[s.target.name] = self.rhs(s.rhs)
                case k.Store():
                    self.store(s)
                case k.Atomic():
                    a, at = self.array(s.array), tuple(self.get(i) for i in s.index)
                    assert len(at) == a.ndim and all(0 <= i < e for i, e in zip(at, a.shape)), (self.kernel.name, s, at)
                    old = Var("old", s.value.type)
                    self.env["old"] = a[at].item()
                    if s.old is not None:
                        self.env[s.old.name] = a[at].item()
                    a[at] = self.rhs(Op(s.code, (old, s.value)))
                case k.Check():
                    if not self.get(s.condition):
                        self.failed.append(s.what)
                case k.If():
                    held = self.get(s.condition)
                    self.thread(s.then if held else s.otherwise)
                    values = [self.get(m.then if held else m.otherwise) for m in s.merges]
                    self.set([m.target for m in s.merges], values)
                case k.SeqFor():
                    self.set([c.target for c in s.carried], [self.get(c.initial) for c in s.carried])
                    for i in range(self.get(s.lower), self.get(s.upper), s.step):
                        self.env[s.index.name] = i
                        self.thread(s.body)
                        self.set([c.target for c in s.carried], [self.get(c.update) for c in s.carried])
                case k.While():
                    self.rounds(s)

    def rounds(self, s: k.While) -> None:
        self.set([c.target for c in s.carried], [self.get(c.initial) for c in s.carried])
        skip = s.body_first
        while True:
            if not skip:
                self.thread(s.condition)
                if not self.get(s.test):
                    return
            skip = False
            self.thread(s.body)
            self.set([c.target for c in s.carried], [self.get(c.update) for c in s.carried])

    def set(self, targets: Sequence[Var], values: Sequence[Value]) -> None:
        for target, value in zip(targets, values, strict=True):
            self.env[target.name] = value

    def store(self, s: k.Store) -> None:
        a, at = self.array(s.array), tuple(self.get(i) for i in s.index)
        assert len(at) == a.ndim and all(0 <= i < e for i, e in zip(at, a.shape)), (self.kernel.name, s, at, a.shape)
        if s.array.name in self.written:
            assert not self.written[s.array.name][at], (self.kernel.name, s, at, "written twice")
            self.written[s.array.name][at] = True
        a[at] = self.get(s.value)


_UNBOUNDED: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
}
