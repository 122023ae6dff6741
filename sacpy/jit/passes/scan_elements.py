"""Elements of scans, as code of graphs: how they are combined, what an index gives, and what is written for it.

In: a counting loop that is a scan (`analysis/scans`). Out: a `Monoid`, which writes statements into `Code`: for a
device a scan is more than a loop (`levels`, `kernels/scanned`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.jit.analysis.folds import Reduction
from sacpy.jit.analysis.scans import Chain, Scan, chain_of, scan_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.operations import op_base
from sacpy.jit.ir.rewrite import copied, uses
from sacpy.lang.types import REAL

Begun = Callable[[bool], list[g.Atom]]  # the result before an index, or (True) with its own value


class Code:
    """Statements in the making."""

    def __init__(self, supply: Names) -> None:
        self.supply = supply
        self.statements: list[g.Stmt] = []

    def let(self, stem: str, type_: g.ScalarType | g.ArrayType, rhs: g.Rhs) -> g.Var:
        target = self.supply.var(stem, type_)
        self.statements.append(g.Let((target,), rhs))
        return target

    def op(self, code: str, *args: g.Atom, exact: bool = False) -> g.Var:
        return self.let("t", g.ScalarType(op_base(code, args)), g.Op(code, args, exact))

    def insert(self, block: g.Block, known: dict[str, g.Atom]) -> list[g.Atom]:
        """A copy of a block; its results."""
        made = copied(block, known, self.supply)
        self.statements += made.statements
        return list(made.results)

    def inside(self, write: Callable[[Code], Sequence[g.Atom]]) -> g.Block:
        """A block."""
        inner = Code(self.supply)
        results = tuple(write(inner))
        return g.Block(tuple(inner.statements), results)


class Monoid:
    """Elements of a scan (see `analysis/scans`) in graphs."""

    identities: tuple[g.Const, ...]

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        one = g.Const(scan.base, Reduction((scan.code,), (scan.base,)).neutral(0))
        first = {"reset": (g.Const("bool", False),), "affine": (g.Const(scan.base, 1.0 if scan.base in REAL else 1),)}
        self.identities = (*first.get(scan.form, ()), one)

    def combined(self, code: Code, a: Sequence[g.Atom], b: Sequence[g.Atom]) -> list[g.Atom]:
        """Two elements, the first one first."""
        scan = self.scan
        if scan.form == "affine":
            return [code.op("mul", a[0], b[0]), code.op("add", code.op("mul", a[1], b[0]), b[1])]
        if scan.base in REAL and scan.code in ("min", "max"):
            test = code.op("le" if scan.code == "min" else "ge", a[-1], b[-1])
            both = code.op("select", code.op("or", test, code.op("neq", a[-1], a[-1])), a[-1], b[-1])
        else:
            both = code.op(scan.code, a[-1], b[-1])
        if scan.form == "reset":
            return [code.op("or", a[0], b[0]), code.op("select", b[0], b[1], both)]
        return [both]

    @property
    def apart(self) -> bool:
        """Whether elements are computed from nothing that is in the vector before."""
        return not self.scan.reads_array

    def values(self, code: Code, index: g.Atom, given: Sequence[g.Var]) -> list[g.Atom]:
        """The element of an index."""
        scan = self.scan
        found = code.insert(scan.values, {scan.loop.index.name: index, scan.array.name: given[0]})
        if scan.negative:
            found[-1] = code.op("neg", found[-1])
        return found

    def started(self, result: Sequence[g.Atom]) -> tuple[g.Atom, ...]:
        """The element that a result is."""
        return (*self.identities[:-1], *result)

    def result(self, element: Sequence[g.Atom]) -> list[g.Atom]:
        """What comes of an element that begins with a result."""
        return list(element[-1:])

    def written(self, code: Code, index: g.Atom, given: Sequence[g.Var], begun: Begun) -> list[g.Atom]:
        """What is written at an index."""
        scan = self.scan
        (found,) = begun(not scan.exclusive)
        return code.insert(scan.post, {scan.seen.name: found, scan.loop.index.name: index, scan.array.name: given[0]})


class FunctionMonoid(Monoid):
    """Elements of a scan by any function."""

    def __init__(self, chain: Chain) -> None:
        self.chain, self.identities = chain, chain.function.neutrals

    @property
    def apart(self) -> bool:
        return True

    def combined(self, code: Code, a: Sequence[g.Atom], b: Sequence[g.Atom]) -> list[g.Atom]:
        f = self.chain.function
        return code.insert(f.block, {v.name: x for v, x in zip((*f.left, *f.right), (*a, *b))})

    def values(self, code: Code, index: g.Atom, given: Sequence[g.Var]) -> list[g.Atom]:
        known: dict[str, g.Atom] = {a.name: c for a, c in zip(self.chain.accumulators, self.identities)}
        return code.insert(self.chain.values, {**known, self.chain.loop.index.name: index})

    def started(self, result: Sequence[g.Atom]) -> tuple[g.Atom, ...]:
        return tuple(result)

    def result(self, element: Sequence[g.Atom]) -> list[g.Atom]:
        return list(element)

    def written(self, code: Code, index: g.Atom, given: Sequence[g.Var], begun: Begun) -> list[g.Atom]:
        chain = self.chain
        count = uses(chain.post)
        known: dict[str, g.Atom] = {chain.loop.index.name: index}
        before = {a.name for a in chain.accumulators}
        if any(count[name] for name in before):
            known |= {a.name: x for a, x in zip(chain.accumulators, begun(False))}
        after = [a for a in chain.values.results if isinstance(a, g.Var) and a.name not in before]
        if any(count[a.name] for a in after):
            found = begun(True)
            known |= {a.name: x for a, x in zip(chain.values.results, found) if a in after}
        return code.insert(chain.post, known)


def elements_of(r: g.For, strict: bool) -> Monoid | None:
    """How the elements of a loop that is a scan are combined, if one value, or a few, are handed on."""
    scan = scan_of(r, {}, strict=strict)
    if scan is not None:
        return None if scan.accumulator is None else Monoid(scan)
    chain = chain_of(r, strict=strict)
    return None if chain is None or not chain.arrays else FunctionMonoid(chain)
