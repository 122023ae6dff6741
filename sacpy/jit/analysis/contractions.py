"""Cells of a partition that are folds, such as sums over products, which can be computed in tiles (`host/tiling`).

In: a partition. Out: a `Contraction`, or None. Its cells (`combine.Cell`) each have a fold over k, or several beside
each other (the parts of complex numbers, say): sums, extremes, or any other operation on each step, of arithmetic on
elements that depend on some of i (the last axis but one), j (the last) and k. There are two kinds.

*Packed*: what is loaded depends on i or on j, not both, as in a matrix product.

*Columns*: elements lie side by side along j, at j or at j plus something, as in the sum of a matrix's rows, or in a
convolution, or the greatest of each column; k may have several axes.

What else a cell's body has runs once for each cell, when its sum is there; in the second kind, what does not depend on
j, once for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.analysis.along import Along
from sacpy.jit.analysis.combine import Step, cell_of, steps_of_fold
from sacpy.jit.analysis.folds import recognised
from sacpy.jit.analysis.straight import is_straight
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.lang.types import BITS, REAL
from sacpy.nodes import Node, replace

_REALS = frozenset(["add", "sub", "mul", "div", "neg", "abs", "sqrt", "min", "max"])
_INTEGERS = frozenset(["add", "sub", "mul", "neg", "min", "max", "bitand", "bitor", "bitxor"])
MOST_SUMS = 4  # of a cell: more would leave too few registers for each


class Contraction(Node):
    """A partition that can be tiled. `inner`: the only partition of its fold, whose body is the terms; `targets`: the
    sums, or whatever else `steps` make of the terms; `neutrals`: where they begin; `starts`: what is loaded at the
    cell's index as the number that a sum begins with, where it does; `plain`: whether they are the cell's values;
    `along`: names of j, and of what is j plus something; `vectors`: of terms that are computed for all of a vector's
    lanes; `rows`: what runs once for each row (`packed`: nothing does); `cells`: what runs once for each cell then."""

    p: g.Partition
    inner: g.Partition
    base: str
    packed: bool
    targets: tuple[g.Var, ...]
    steps: tuple[Step, ...]
    neutrals: tuple[g.Atom, ...]
    starts: tuple[g.Load | None, ...]
    along: frozenset[str]
    vectors: frozenset[str] = frozenset()
    rows: tuple[g.Stmt, ...] = ()
    cells: tuple[g.Stmt, ...] = ()
    plain: bool = True

    @property
    def j(self) -> g.Var:
        return self.p.index[-1]

    @property
    def k(self) -> g.Var:
        return self.inner.index[0]


def contraction(p: g.Partition) -> Contraction | None:
    """The contraction that a partition is, if it is one that pays."""
    cell = cell_of(p)
    if p.rank < 1 or p.step is not None or cell is None or cell.inner.step is not None:
        return None
    before, after = cell.before, cell.after.statements
    made = [x for x in after if _is_cell(x)]
    if not all(_is_simple(x) for x in (*before, *after) if x not in made):
        return None
    if {a for a in p.body.results if isinstance(a.type, g.ArrayType)} != {
        t for x in made if isinstance(x, g.Let) for t in x.targets
    }:
        return None
    steps: list[Step] = []
    for f in cell.folds:
        if recognised(f) is None:
            return None
        steps += steps_of_fold(f) or ()
    base = cell.targets[0].base
    if not 1 <= len(steps) <= MOST_SUMS or any(t.base != base for t in cell.targets):
        return None
    if base not in REAL and BITS.get(base, 0) < 32:
        return None
    inside = {v.name for v in p.index} | {t.name for x in before if isinstance(x, g.Let) for t in x.targets}
    neutrals = tuple(a for f in cell.folds for a in f.neutrals)
    starts = tuple(_start(p, a, before) for a in neutrals)
    if names_of(a for a, start in zip(neutrals, starts) if start is None) & inside:
        return None
    along = frozenset([p.index[-1].name])
    c = Contraction(p, cell.inner, base, True, cell.targets, tuple(steps), neutrals, starts, along)
    return _packed(c, before, after) or _columns(c, before, after)


def _start(p: g.Partition, a: g.Atom, before: Sequence[g.Stmt]) -> g.Load | None:
    """The load of an element at the cell's index that sets a variable."""
    setter = next((x.rhs for x in before if isinstance(x, g.Let) and x.targets == (a,)), None)
    return setter if isinstance(setter, g.Load) and setter.index == p.index else None


def _is_cell(s: g.Stmt) -> bool:
    """Whether a statement makes a small array of scalars, such as the parts of a complex number."""
    return isinstance(s, g.Let) and isinstance(s.rhs, g.Cons)


def _is_simple(s: g.Stmt) -> bool:
    """Whether a statement computes scalars, without loops."""
    return is_straight(g.Block((s,), ())) and (
        isinstance(s, g.Check) or not any(isinstance(t.type, g.ArrayType) for t in s.targets)
    )


def _checks(b: Sequence[g.Stmt]) -> bool:
    """Whether something is checked, in branches too."""
    return any(isinstance(s, g.Check) or any(_checks(inner.statements) for inner in g.blocks(s.rhs)) for s in b)


def _used(s: g.Stmt) -> set[str]:
    """The names that a statement uses, its branches included."""
    return free(g.Block((s,), ()))


def _packed(c: Contraction, before: Sequence[g.Stmt], after: Sequence[g.Stmt]) -> Contraction | None:
    """The contraction with packed tiles, if something depends on j but not on i, and something on i but not on j:
    arithmetic on loads that can be vectors along j. Those that depend on both must have j as the last index only."""
    if c.p.rank < 2 or c.inner.rank != 1 or _checks(before):
        return None
    i, j = c.p.index[-2:]
    set_before = {t.name for s in before if isinstance(s, g.Let) for t in s.targets}
    if names_of((*c.inner.lower, *c.inner.upper)) & (set_before | names_of(c.p.index)):
        return None
    inner = _with_needed(c.inner, before)
    reuse = set()
    set_here: set[str] = set()
    for s in inner.body.statements:
        if not isinstance(s, g.Let) or not _is_term(s, c.base):
            return None
        if isinstance(s.rhs, g.Load):
            index = s.rhs.index
            if (i in index and j in index[:-1]) or names_of(index) & set_here:
                return None
            reuse.add((i in index, j in index))
        elif j in g.operands(s.rhs):
            return None
        set_here |= names_of(s.targets)
    if (True, False) not in reuse or (False, True) not in reuse or j in inner.body.results:
        return None
    plain = c.p.body.results == c.targets and not _checks(after)
    return replace(
        c,
        inner=inner,
        vectors=frozenset(s.targets[0].name for s in inner.body.statements if isinstance(s, g.Let)),
        cells=() if plain else (*before, *after),
        plain=plain,
    )


def _columns(c: Contraction, before: Sequence[g.Stmt], after: Sequence[g.Stmt]) -> Contraction | None:
    """The contraction with tiles of one row, if all that depends on j lies side by side along it, and some of that is
    elsewhere for another k."""
    on_j = {c.j.name}
    rows: list[g.Stmt] = []
    rest: list[g.Let] = []
    for s in before:
        if not _used(s) & on_j:
            rows.append(s)
        elif isinstance(s, g.Let) and not _checks((s,)):
            on_j |= {t.name for t in s.targets}
            rest.append(s)
        else:
            return None
    if names_of((*c.inner.lower, *c.inner.upper)) & on_j:
        return None
    inner = _with_needed(c.inner, rest)
    terms = _Terms(c)
    if (
        not all(map(terms.takes, inner.body.statements))
        or not terms.moves
        or names_of(inner.body.results) & terms.along.names
    ):
        return None
    plain = c.p.body.results == c.targets and not _checks(after)
    vectors = frozenset(terms.along.dependent - terms.along.names)
    return replace(
        c,
        inner=inner,
        packed=False,
        along=frozenset(terms.along.names),
        vectors=vectors,
        rows=tuple(rows),
        cells=() if plain else (*rest, *after),
        plain=plain,
    )


class _Terms:
    """The terms of columns, one statement after the other. `along`: what moves along with j; `on_k`: names of what
    depends on k; `moves`: whether a vector is loaded from elsewhere for another k."""

    def __init__(self, c: Contraction) -> None:
        self.base = c.base
        self.along = Along(c.j)
        self.on_k = names_of(c.inner.index)
        self.moves = False

    def takes(self, s: g.Stmt) -> bool:
        """Whether a statement can be computed on vectors, or once for all of them."""
        if not isinstance(s, g.Let) or not isinstance(s.rhs, g.Op | g.Load):
            return False
        if names_of(g.operands(s.rhs)) & self.on_k:
            self.on_k |= names_of(s.targets)
        if not self.along.see(s) or names_of(s.targets) & self.along.names:
            return True
        if isinstance(s.rhs, g.Load):
            *outer, last = s.rhs.index
            if names_of(outer) & self.along.dependent or not names_of((last,)) & self.along.names:
                return False
            self.moves |= bool(names_of(s.rhs.index) & self.on_k)
        elif names_of(s.rhs.args) & self.along.names:
            return False
        return _is_term(s, self.base)


def names_of(atoms: Iterable[g.Atom]) -> set[str]:
    """The names of those that are variables."""
    return {a.name for a in atoms if isinstance(a, g.Var)}


def _with_needed(inner: g.Partition, before: Sequence[g.Stmt]) -> g.Partition:
    """A fold's partition with those statements in front of it that its terms need."""
    needed = free(inner.body)
    taken: list[g.Stmt] = []
    for s in reversed(before):
        if isinstance(s, g.Let) and any(t.name in needed for t in s.targets):
            needed = needed | _used(s)
            taken.append(s)
    return replace(inner, body=g.Block((*reversed(taken), *inner.body.statements), inner.body.results))


def _is_term(s: g.Stmt, base: str) -> bool:
    """Whether a statement can be computed on vectors."""
    return (
        isinstance(s, g.Let)
        and (
            isinstance(s.rhs, g.Load)
            or (isinstance(s.rhs, g.Op) and s.rhs.code in (_REALS if base in REAL else _INTEGERS))
        )
        and s.targets[0].type == g.ScalarType(base)
    )
