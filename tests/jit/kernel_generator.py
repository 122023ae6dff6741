"""Random with-loops under random mappings, for tests of kernels: ranks 0 to 5, bounds, steps, widths, overlaps, empty
spaces, several operators, cells that are arrays; chains that are legal for the partition, of all combinators.

`random_case(seed)` gives a unit, arguments, and the values picked for open numbers. The same seed gives the same case.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sacpy.interp.values import Value
from sacpy.jit.ir.graph import Atom, Const, Fold, Genarray, Modarray, Operator, Partition, Unit, Var, integer
from sacpy.jit.kernels import KernelOptions
from sacpy.jit.passes import mappings
from sacpy.lang.ast import Pragma
from sacpy.lang.source import NOWHERE
from sacpy.nodes import replace
from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import (
    Combinator,
    CompressGrid,
    FoldLast2,
    PadLast,
    Parameter,
    Permute,
    PruneGrid,
    ShiftLB,
    SplitLast,
)
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.errors import MappingError
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import WAYS
from tests.jit.builder import B, arguments, unit
from tests.jit.kernel_tools import agree

_MOST = (1, 17, 8, 5, 4, 3)  # extents by rank


@dataclass(frozen=True)
class Case:
    """A unit with its arguments; `chains`: the mappings that its partitions ask for, `spaces` their index spaces;
    `unmapped`: partitions without one."""

    unit: Unit
    args: list[Value]
    parameters: dict[str, int]
    chains: tuple[Chain, ...]
    spaces: tuple[IndexSpace, ...]
    unmapped: int


class Cases:
    """Makes one case."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.b = B()
        self.parameters: dict[str, int] = {}
        self.chains: list[Chain] = []
        self.spaces: list[IndexSpace] = []
        self.unmapped = 0

    def case(self) -> Case:
        rng, b = self.rng, self.b
        folding = rng.random() < 0.4
        rank = rng.randrange(0 if folding else 1, 6)
        most = _MOST[rank]
        frame = tuple(
            0 if rng.random() < 0.04 else rng.choice((1, most, most, rng.randint(1, most))) for _ in range(rank)
        )
        params, values, inputs = arguments(b, *[("int", rank), ("double", 1), ("int", 0)])
        a, v, scalar = values
        cell = tuple(rng.choice((1, 2, 3)) for _ in range(rng.choice((0, 0, 0, 1, 2)))) if not folding else ()
        operators = self.folds() if folding else self.framed(cell, rank, a)
        extents: Sequence[Atom] = a.type.extents if rank else ()  # type: ignore[union-attr]
        partitions = tuple(
            self.partition(frame, extents, a, v, scalar, operators, cell) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))
        )
        results = b.with_loop(None if folding else extents, partitions, operators)
        u = unit(b, params, inputs, list(results))
        numbers = np.random.default_rng(rng.randrange(1 << 30))
        array: Value = numbers.integers(-50, 50, frame).astype(np.int32) if rank else int(numbers.integers(-50, 50))
        return Case(
            u,
            [array, numbers.integers(-9, 9, 7).astype(np.float64), rng.randrange(-5, 5)],
            self.parameters,
            tuple(self.chains),
            tuple(self.spaces),
            self.unmapped,
        )

    # ---- operators

    def folds(self) -> list[Operator]:
        b, rng = self.b, self.rng
        if rng.random() < 0.4:
            c = b.inner()
            p, q, r, s = (c.var(n, "int") for n in "pqrs")  # x -> p * x + q, composed: order counts
            block = c.block(c.op("mul", p, r), c.op("add", c.op("mul", q, r), s))
            return [Fold((integer(3), integer(5)), (p, q), (r, s), block, None, False)]
        return [
            b.folding(rng.choice(("add", "max", "bitxor")), Const("int", rng.choice((0, 7))))
            for _ in range(rng.choice((1, 1, 2)))
        ]

    def framed(self, cell: tuple[int, ...], rank: int, a: Var) -> list[Operator]:
        if not cell and self.rng.random() < 0.3:
            return [Modarray(a)]
        base = self.rng.choice(("int", "double"))
        found: list[Operator] = [Genarray(base, tuple(map(integer, cell)), Const(base, 4 if base == "int" else 0.5))]
        return found * 2 if not cell and self.rng.random() < 0.3 else found

    # ---- partitions

    def partition(
        self,
        frame: tuple[int, ...],
        extents: Sequence[Atom],
        a: Var,
        v: Var,
        scalar: Var,
        operators: Sequence[Operator],
        cell: tuple[int, ...],
    ) -> Partition:
        rng, b = self.rng, self.b
        lower = [rng.choice((0, 0, 0, 1 if e else 0, rng.randint(0, e))) for e in frame]
        upper = [rng.choice((e, e, e, max(0, e - 1), rng.randint(0, e))) for e in frame]
        step = width = None
        if rng.random() < 0.4:
            step = [rng.choice((1, 2, 3, 4)) for _ in frame]
            width = [rng.randint(1, t) for t in step]
        whole = [rng.random() < 0.5 and u == e for u, e in zip(upper, frame)]
        bounds = [e if w else u for w, e, u in zip(whole, extents, upper)]
        inner = b.inner()
        index = tuple(inner.var("i", "int") for _ in frame)
        values: list[Atom] = []
        for number, o in enumerate(operators):
            for _ in range(len(o.neutrals) if isinstance(o, Fold) else 1):
                base = o.base if isinstance(o, Genarray) else "int"
                values.append(self.value(inner, index, a, v, scalar, base, cell, number))
        p = Partition(
            b.atoms(lower),
            b.atoms(bounds),
            None if step is None else b.atoms(step),
            None if width is None else b.atoms(width),
            index,
            inner.block(*values),
        )
        space = IndexSpace.of(lower, upper, step, width)
        way = rng.choice(WAYS)
        fold = [f"gpufold {way}" + (f"({rng.randint(1, 5)})" if way in ("runs", "strided") else "")]
        fold *= rng.random() < 0.2
        if fold and rng.random() < 0.7:
            return replace(p, pragmas=(Pragma(fold[0], NOWHERE),))
        chain = self.chain(space) if rng.random() < 0.7 else None
        if chain is None:
            self.unmapped += 1
            return p
        self.chains.append(chain)
        self.spaces.append(space)
        memory = ["gpumem shared(a)"] if self.rng.random() < 0.4 else []
        texts = [*memory, *(f"gpuparam {q.name} = {', '.join(map(str, q.choices))}" for q in chain.parameters)]
        return replace(
            p, pragmas=tuple(Pragma(t, NOWHERE) for t in [*texts, *fold, f"gpukernel {chain}"]), staged=(("a", a),)
        )

    def value(
        self, b: B, index: tuple[Var, ...], a: Var, v: Var, scalar: Var, base: str, cell: tuple[int, ...], number: int
    ) -> Atom:
        rng = self.rng
        x: Atom = b.load(a, *index) if index else a
        for i in index:
            x = b.op("add", b.op("mul", x, rng.choice((1, 2, 3))), i)
        if index and rng.random() < 0.4:
            at = rng.randrange(len(index))
            x = self.neighbour(b, index, at, a, x)
        match rng.randrange(6):
            case 3:
                x = b.op(
                    "add",
                    x,
                    b.fold(
                        rng.choice(("add", "max")),
                        integer(0),
                        [b.partition([rng.randrange(2)], [rng.randrange(8)], lambda c, j: c.op("toi", c.load(v, j)))],
                    ),
                )
            case 0:
                (x,) = b.if_(
                    b.op("lt", x, scalar), lambda c: [c.op("sub", x, number)], lambda c: [c.op("mul", x, scalar)]
                )
            case 1:
                (x,) = b.for_(0, rng.randrange(4), [x], lambda c, k, carried: [c.op("add", carried, k)])
            case 2 if base == "double":
                b.check(b.op("lt", rng.choice((-1000, -1000, 0)), b.op("add", scalar, 4)))
        if base == "double":
            x = b.op("add", b.op("tod", x), b.load(v, b.op("aplmod", x, 7)))
        if not cell:
            return x
        return b.genarray(
            base,
            cell,
            [
                b.partition(
                    [0] * len(cell), cell, lambda c, *j: c.op("add", x, j[-1] if base == "int" else c.op("tod", j[-1]))
                )
            ],
            disjoint=True,
            complete=rng.random() < 0.5,
        )

    def neighbour(self, b: B, index: tuple[Var, ...], axis: int, a: Var, x: Atom) -> Atom:
        """An element next to one's own, where there is one."""
        if self.rng.random() < 0.5:
            near = b.op("lt", 0, index[axis])
            offset = -1
        else:
            near = b.op("lt", b.op("add", index[axis], 1), a.type.extents[axis])  # type: ignore[union-attr]
            offset = 1
        (y,) = b.if_(
            near,
            lambda c: [
                c.op("add", x, c.load(a, *(c.op("add", i, offset) if n == axis else i for n, i in enumerate(index))))
            ],
            lambda c: [x],
        )
        return y

    # ---- mappings

    def chain(self, space: IndexSpace) -> Chain | None:
        """A random chain for a space; None where the one drawn does not fit the device."""
        rng = self.rng
        original, steps = space, []

        def add(step: Combinator) -> None:
            nonlocal space
            space = step.forward(space)
            steps.append(step)

        if space.rank and rng.random() < 0.3:
            add(PadLast(rng.randint(1, 5)))
        add(ShiftLB())
        if rng.random() < 0.6:
            add(CompressGrid(tuple(rng.randint(0, 1) for _ in range(space.rank))))
        if not space.dense or rng.random() < 0.2:
            add(PruneGrid())
        for _ in range(rng.randrange(5)):
            match rng.randrange(4):
                case 0:
                    order = list(range(space.rank))
                    rng.shuffle(order)
                    add(Permute(tuple(order)))
                case 1 if space.rank >= 2:
                    add(FoldLast2())
                case 2 if space.rank and space.size < 3000:
                    add(SplitLast(self.number()))
                case 3 if space.rank and space.size < 3000:
                    add(PadLast(self.number()))
        while space.rank > 6:
            add(FoldLast2())
        chain = Chain(tuple(steps), GridBlock(rng.randint(max(0, space.rank - 3), min(3, space.rank))))
        try:
            chain.map(original, DEVICES["sm_90"])
        except MappingError:
            return None
        return chain

    def number(self) -> int | Parameter:
        rng = self.rng
        if rng.random() < 0.7:
            return rng.randint(1, 6)
        name = f"B{len(self.parameters)}"
        choices = (rng.randint(1, 6), 7)
        self.parameters[name] = rng.choice(choices)
        return Parameter(name, choices, self.parameters[name])


def random_case(seed: int) -> Case:
    """A case."""
    return Cases(seed).case()


def agrees(case: Case, chosen: KernelOptions) -> bool:
    """Asserts that kernels give what the graph says. Where a pragma asks for what cannot be (staging what is read
    elsewhere, another order of operands that keep theirs, threads that share what is no fold) it is refused, and False
    given: then the case runs without pragmas."""
    try:
        agree(case.unit, case.args, chosen, case.parameters)
    except MappingError as error:
        assert error.code in ("E0818", "E0819", "E0820"), error
        agree(mappings.run(case.unit), case.args, chosen)
        return False
    return True
