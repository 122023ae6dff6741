"""What a launch must know of a kernel before it runs: grid, block, and the memory that it needs beside its parameters.

In: a kernel and the scalars that it is launched with. Out: `Geometry`. Whatever fills the parameters in (emulator or
device runtime) passes, after the kernel's own: one buffer for each array of `scratch`, in order, then the address of
the check word and of the count of blocks behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from sacpy.jit.analysis.shared_planner import SharedPlan, plan_shared
from sacpy.jit.ir.graph import Atom, Const, ScalarType, Var, extents_of
from sacpy.jit.ir.kernel import Allocate, Kernel, block_statements
from sacpy.jit.llvm.legal import size_of
from sacpy.nodes import Node
from sacpy.withloop.devices import DeviceLimits

SHARED_ALIGNMENT = 16
MOST_STATIC_SHARED = 48 << 10  # bytes of shared memory that a kernel may have without its launch asking for them


class Geometry(Node):
    """`grid`, `block`: extents, outermost first (negative ones as 0). `cells`: for each array that the kernel
    allocates, how many elements it has (of a thread, unless it is shared). `shared_bytes`: all shared memory;
    `dynamic_bytes`: that part of it which the launch must ask for. `scratch_bytes`: per scratch array, for the whole
    grid."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    cells: tuple[int, ...]
    shared_bytes: int
    dynamic_bytes: int
    scratch_bytes: tuple[int, ...]

    @property
    def blocks(self) -> int:
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    def over(self, limits: DeviceLimits) -> str | None:
        """What of this a device does not allow, in words; None if it takes it."""
        for what, extents, most in (("grid", self.grid, limits.grid), ("block", self.block, limits.block)):
            for axis, extent, limit in zip("xyz", reversed(extents), reversed(most)):
                if extent > limit:
                    return f"the {what} has {extent} along {axis}, but {limits.name} allows {limit}"
        if self.threads > limits.threads_per_block:
            return f"a block has {self.threads} threads, but {limits.name} allows {limits.threads_per_block}"
        if self.shared_bytes > limits.shared_per_block:
            return (
                f"a block needs {self.shared_bytes} bytes of shared memory, but {limits.name} allows "
                f"{limits.shared_per_block}"
            )
        return None


def allocations(kernel: Kernel) -> tuple[Allocate, ...]:
    """The arrays that a kernel allocates, in the order of its text."""
    return tuple(s for s in block_statements(kernel.body) if isinstance(s, Allocate))


def spaces(kernel: Kernel) -> dict[str, str]:
    """Where each allocated array lies. A private array whose extents only the launch knows lies in scratch memory."""
    return {
        a.array.name: "scratch" if a.space == "private" and not is_static(a.array) else a.space
        for a in allocations(kernel)
    }


def is_static(array: Var) -> bool:
    """Whether all extents are constants."""
    return all(isinstance(e, Const) for e in extents_of(array))


def static_cells(array: Var) -> int:
    """How many elements an array of constant extents has."""
    return prod(max(int(e.value), 0) for e in extents_of(array) if isinstance(e, Const))


def padded_bytes(base: str, cells: int) -> int:
    """The bytes that an array takes in shared memory."""
    size = cells * size_of(base)
    return size + -size % SHARED_ALIGNMENT


def shared_plan(kernel: Kernel) -> SharedPlan | None:
    """Where the shared arrays of a kernel lie, known before any launch; None if an extent of one is a parameter: then
    they lie one behind the other, in the order of the text."""
    shared = [a.array for a in allocations(kernel) if a.space == "shared"]
    if not shared:
        return SharedPlan({}, 0)
    return plan_shared(kernel) if all(map(is_static, shared)) else None


def fixed_dynamic_bytes(kernel: Kernel) -> int:
    """The shared memory that every launch must ask for, whatever its arguments: all of it where it is more than a
    kernel may have by itself. (Where extents are parameters `geometry` has what a launch must ask for.)"""
    plan = shared_plan(kernel)
    return plan.size if plan and plan.size > MOST_STATIC_SHARED else 0


def geometry(kernel: Kernel, args: Sequence[Any], scratch: Sequence[int] | None = None) -> Geometry:
    """The geometry of one launch: `Shapes(kernel).launch(args, scratch)`."""
    return Shapes(kernel).launch(args, scratch)


class Shapes:
    """What all launches of a kernel have in common, looked up once: for those who launch it often. `plan`: where the
    shared arrays lie, if that is known."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.allocations = allocations(kernel)
        self.plan = shared_plan(kernel)
        self._spaces = spaces(kernel)
        self._fixed = fixed_dynamic_bytes(kernel)
        self._scalars = [
            (at, p.name) for at, p in enumerate(kernel.params) if p.type in (ScalarType("int"), ScalarType("long"))
        ]

    @property
    def fixed(self) -> int | None:
        """The bytes of shared memory that every launch asks for, where that is all that it needs; None where its arrays
        depend on its arguments, or lie in scratch memory."""
        return None if self.plan is None or "scratch" in self._spaces.values() else self._fixed

    def launch(self, args: Sequence[Any], scratch: Sequence[int] | None = None) -> Geometry:
        """The geometry of a launch with these arguments, one per parameter (what stands for arrays is not looked at).
        `scratch`: for each array in scratch memory, how many elements a thread has; needed where its extents are
        computed in the kernel. Raises `ValueError` if an extent is not known."""
        kernel, plan, told = self.kernel, self.plan, iter(scratch or ())
        scalars = {name: int(args[at]) for at, name in self._scalars}
        grid, block = _extents(kernel.grid, scalars, kernel), _extents(kernel.block, scalars, kernel)
        shared = plan.size if plan else 0
        cells, held = [], []
        for a in self.allocations:
            known = next(told, None) if a.space == "scratch" else None
            cells.append(prod(_extents(extents_of(a.array), scalars, kernel)) if known is None else known)
            match self._spaces[a.array.name]:
                case "shared" if not plan:
                    shared += padded_bytes(a.array.base, cells[-1])
                case "scratch":
                    held.append(cells[-1] * size_of(a.array.base) * prod(grid) * prod(block))
        return Geometry(grid, block, tuple(cells), shared, self._fixed if plan else shared, tuple(held))


def _extents(atoms: Iterable[Atom], scalars: Mapping[str, int], kernel: Kernel) -> tuple[int, ...]:
    found = []
    for a in atoms:
        if isinstance(a, Var) and a.name not in scalars:
            raise ValueError(
                f"kernel {kernel.name}: the extent {a.name} is no parameter, so that a launch does not know it"
            )
        found.append(max(int(a.value) if isinstance(a, Const) else scalars[a.name], 0))
    return tuple(found)
