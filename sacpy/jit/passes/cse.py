"""Common subexpressions: what has been computed already is not computed again.

    x = add i, 1                 x = add i, 1
    y = add i, 1         ->      z = mul x, x
    z = mul x, y

`Available` is the table of what has been computed in the block at hand and around it; the simplifier asks it about
every statement, as each rule that fires may make two expressions equal. Folds are expressions too: what a column sums
up to is what it sums up to, wherever a formula says so.
"""

from __future__ import annotations

from collections.abc import Hashable

from sacpy.jit.ir import graph as g
from sacpy.jit.passes.algebra import COMMUTATIVE

STATEMENTS = 24  # of a fold that is looked up, at most


def _key(atom: g.Atom) -> Hashable:
    return (atom.base, atom.key) if isinstance(atom, g.Const) else atom.name


def key_of(rhs: g.Rhs) -> Hashable | None:
    """Equal for expressions that have equal values wherever both may be evaluated; None for those that are not looked
    up."""
    match rhs:
        case g.Op(code=code, args=args):
            keys = [_key(a) for a in args]
            if code in COMMUTATIVE:
                keys.sort(key=str)
            return (code, *keys)
        case g.Load() | g.View():
            return ("load", rhs.array.name, *map(_key, rhs.index))
        case g.Reshape():
            return ("reshape", rhs.array.name, *map(_key, rhs.extents))
        case g.Cons():
            return ("cons", rhs.base, rhs.extents, *map(_key, rhs.elements))
        case g.WithLoop() if rhs.frame is None:
            return _Fold().key(rhs)
    return None


class _Other(Exception):
    """There is something in a fold that is not looked up."""


class _Fold:
    """The key of a fold: what it says, with numbers in the place of the names that it sets itself."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.left = STATEMENTS

    def key(self, w: g.WithLoop) -> Hashable | None:
        """None for one that has more than operations, loads and such folds inside."""
        try:
            return self.fold(w)
        except _Other:
            return None

    def fold(self, w: g.WithLoop) -> Hashable:
        if w.frame is not None or w.pragmas or any(p.pragmas or p.staged for p in w.partitions):
            raise _Other
        partitions = []
        for p in w.partitions:
            bounds = tuple(None if many is None else self.atoms(many) for many in (p.lower, p.upper, p.step, p.width))
            self.bind(p.index)
            partitions.append((bounds, self.block(p.body)))
        return ("fold", tuple(partitions), tuple(map(self.operator, w.operators)))

    def operator(self, o: g.Operator) -> Hashable:
        if not isinstance(o, g.Fold) or any(map(g.extents_of, o.accumulators)):
            raise _Other
        self.bind(o.accumulators)
        self.bind(o.values)
        stop = None if o.stop is None else self.atoms(o.stop)
        return self.atoms(o.neutrals), self.block(o.combine), stop, o.commutative

    def block(self, b: g.Block) -> Hashable:
        return tuple(map(self.statement, b.statements)), self.atoms(b.results)

    def statement(self, s: g.Stmt) -> Hashable:
        self.left -= 1
        if self.left < 0:
            raise _Other
        if isinstance(s, g.Check):
            return ("check", self.atom(s.condition))
        found: Hashable
        match s.rhs:
            case g.Op(code=code, args=args, exact=exact):
                found = (code, exact, self.atoms(args))
            case g.Load(array=array, index=index):
                found = ("load", self.atom(array), self.atoms(index))
            case g.WithLoop():
                found = self.fold(s.rhs)
            case _:
                raise _Other
        self.bind(s.targets)
        return found

    def bind(self, many: tuple[g.Var, ...]) -> None:
        for v in many:
            self.numbers[v.name] = len(self.numbers)

    def atom(self, a: g.Atom) -> Hashable:
        return self.numbers.get(a.name, a.name) if isinstance(a, g.Var) else _key(a)

    def atoms(self, many: tuple[g.Atom, ...]) -> Hashable:
        return tuple(map(self.atom, many))
