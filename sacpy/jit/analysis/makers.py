"""Who makes the arrays of a block, and which of them can share one place.

In: a block, and which arrays are its own. Out: `Makers`, which says of an array of what others of the block it is made
bit by bit, by updates or rounds of updates, so that all of them can lie in the same place.

What becomes another array shares its place if nobody else needs it: it is only loaded from, or copied, and before that.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from sacpy.jit.analysis.versions import handed_on
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.nodes import Node, Record, field

_MAKING = g.Cons | g.Update | g.For | g.Loop | g.WithLoop


class Destinations(Record):
    """What the functions of a unit can make in places that they are given (`analysis/destinations`), by their names and
    the numbers of results. `some`: results that are made anew at least in one branch; `all`: in all of them; `over`:
    those that are what becomes of a parameter, of that number, and can be made where it lies."""

    some: dict[str, frozenset[int]] = field(default_factory=dict)
    all: dict[str, frozenset[int]] = field(default_factory=dict)
    over: dict[str, dict[int, int]] = field(default_factory=dict)


NOWHERE = Destinations()


class Chain(Node):
    """The arrays of a block that become one, the latest first. `own`: no memory is given up for it that is there
    anyway: the first of them is made here, or has to stay as it is. `first`: the number of the statement that makes the
    first of them; `source`: what that begins with, None where it sets all elements."""

    names: tuple[str, ...]
    own: bool
    first: int
    source: g.Var | None


class Makers:
    """`owned`: arrays from outside that the block takes over; `uses_of`: the arrays that a statement uses; `known`:
    what functions can make where they are told, None where calls and branches are to make nothing. `makers`: the number
    of the statement that makes an array; `users`: of those that use it."""

    def __init__(
        self,
        block: g.Block,
        owned: Container[str],
        uses_of: Callable[[g.Stmt], frozenset[str]],
        known: Destinations | None = None,
    ) -> None:
        self.statements, self.owned, self.known, self.uses_of = block.statements, owned, known, uses_of
        self.makers = {
            t.name: number
            for number, s in enumerate(block.statements)
            if isinstance(s, g.Let) and isinstance(s.rhs, _MAKING if known is None else _MAKING | g.Call | g.If)
            for t in s.targets
            if isinstance(t.type, g.ArrayType)
        }
        self.users: dict[str, list[int]] = {}
        if not self.makers:
            return
        for number, s in enumerate(block.statements):
            for name in uses_of(s):
                self.users.setdefault(name, []).append(number)
        for a in block.results:
            if isinstance(a, g.Var):
                self.users.setdefault(a.name, []).append(len(block.statements))

    def let(self, name: str) -> g.Let:
        """The statement that makes an array."""
        s = self.statements[self.makers[name]]
        assert isinstance(s, g.Let)
        return s

    def target(self, name: str) -> g.Var:
        """The variable of a name."""
        return next(t for t in self.let(name).targets if t.name == name)

    def is_given_up(self, name: str, number: int) -> bool:
        """Whether an array from outside is the block's own, and dies where a statement changes it."""
        return name in self.owned and max(self.users[name]) == number and count_uses(self.statements[number], name) == 1

    def keeps_memory(self, name: str) -> bool:
        """Whether a call or a branch may give an array in the memory of one that dies there, and that the block has
        from outside: it might have grown there, round after round."""
        s, number = self.let(name), self.makers[name]
        return not self.anew(name) and any(a in self.owned and max(self.users[a]) == number for a in self.uses_of(s))

    def anew(self, name: str) -> bool:
        """Whether an array is certainly made, and not one that there is: by a call or a branch, too."""
        s = self.let(name)
        at = [t.name for t in s.targets].index(name)
        known = {} if self.known is None else self.known.all
        match s.rhs:
            case g.Call(function=function):
                source = self.becomes(s.rhs, at)
                return at in known.get(function, ()) or (
                    source is not None and source.name in self.makers and self.anew(source.name)
                )
            case g.If():
                return all(makes(b, b.results[at], known, every=True) for b in g.blocks(s.rhs))
        return True

    def may_be_seen(self, name: str) -> bool:
        """Whether a call or a branch that gives an array gives others too, which may be the same, or views of it."""
        s = self.let(name)
        return isinstance(s.rhs, g.Call | g.If) and sum(isinstance(t.type, g.ArrayType) for t in s.targets) > 1

    def can_place(self, name: str) -> bool:
        """Whether who makes an array can do so in a given place, without a copy of another one."""
        s = self.let(name)
        at = [t.name for t in s.targets].index(name)
        match s.rhs:
            case g.For() | g.Loop():
                return handed_on(s.rhs, at)
            case g.WithLoop(operators=operators):
                made = len(operators) == len(s.targets) and isinstance(operators[at], g.Genarray)
                return made or replaced(s.rhs) is not None
            case g.Call(function=function):
                anew = self.known is not None and at in self.known.some.get(function, ())
                return anew or self.becomes(s.rhs, at) is not None
            case g.If(then=then, otherwise=otherwise):
                return any(self.branch_places(b, b.results[at]) for b in (then, otherwise))
        return True

    def branch_places(self, b: g.Block, result: g.Atom) -> bool:
        """Whether a branch makes what it gives, and can do so in a given place."""
        inner = Makers(b, (), self.uses_of, self.known)
        return isinstance(result, g.Var) and result.name in inner.makers and inner.can_place(result.name)

    def becomes(self, r: g.Call, at: int) -> g.Var | None:
        """The argument of a call that becomes its result of that number, where it lies: if it cannot do without, or if
        the argument is made here, and for nothing else."""
        found = self.may_become(r, at)
        if found is None or self.known is None or at not in self.known.some.get(r.function, ()):
            return found
        made = found.name in self.makers and self.anew(found.name) and len(self.users[found.name]) == 1
        return found if made and not _copies(self.let(found.name)) else None

    def may_become(self, r: g.Call, at: int) -> g.Var | None:
        """The argument that a call can make into its result of that number, where it lies."""
        number = None if self.known is None else self.known.over.get(r.function, {}).get(at)
        found = None if number is None else r.args[number]
        return found if isinstance(found, g.Var) else None

    def chain(self, name: str) -> Chain:
        """The arrays that become this one, which a statement of the block makes."""
        found: list[str] = []
        while True:
            number, s = self.makers[name], self.let(name)
            at = [t.name for t in s.targets].index(name)
            source: g.Var | None = None
            match s.rhs:
                case g.Cons():
                    return Chain(tuple(found), True, number, None)
                case g.WithLoop(operators=operators):
                    source = replaced(s.rhs)
                    if source is None:
                        own = len(operators) == 1 and isinstance(operators[0], g.Genarray)
                        return Chain(tuple(found), own, number, None)
                case g.Update(array=source):
                    pass
                case g.For(initial=initial) | g.Loop(initial=initial):
                    before = initial[at]
                    if not isinstance(before, g.Var) or not handed_on(s.rhs, at):
                        return Chain(tuple(found), False, number, None)
                    source = before
                case g.Call() if (source := self.becomes(s.rhs, at)) is not None:
                    pass
                case _:
                    return Chain(tuple(found), self.anew(name), number, None)
            if source.name not in self.makers or not self.anew(source.name):
                return Chain(tuple(found), not self.is_given_up(source.name, number), number, source)
            others = [k for k in self.users[source.name] if k != number]
            if (
                not all(k < number and only_loads(self.statements[k], source.name) for k in others)
                or count_uses(s, source.name) != 1
            ):
                return Chain(tuple(found), False, number, source)
            name = source.name
            found.append(name)


def makes(b: g.Block, result: g.Atom, known: Mapping[str, frozenset[int]], *, every: bool) -> bool:
    """Whether a block makes one of its results anew, in one branch or in every one. `known`: the results of functions
    of which the same is known."""
    if not isinstance(result, g.Var):
        return False
    makers = Makers(b, frozenset().union(*map(arrays_of, b.statements)), arrays_of, Destinations(dict(known)))
    if result.name not in makers.makers or not makers.can_place(result.name):
        return False
    chain = makers.chain(result.name)
    last = chain.names[-1] if chain.names else result.name
    if not makers.can_place(last) or not (chain.own or chain.source is None or chain.source.name in makers.makers):
        return False  # it has the memory of what is there
    s = makers.let(last)
    if not isinstance(s.rhs, g.If):
        return True
    at = next(k for k, t in enumerate(s.targets) if t.name == last)
    both = [makes(inner, inner.results[at], known, every=every) for inner in g.blocks(s.rhs)]
    return all(both) if every else any(both)


def replaced(w: g.WithLoop) -> g.Var | None:
    """The array of which a with-loop replaces cells without a look at it; None if it is no such loop."""
    (o, *others) = w.operators or (None,)
    if others or not isinstance(o, g.Modarray) or w.complete or not w.disjoint:
        return None
    return o.array if all(o.array.name not in free(p.body) for p in w.partitions) else None


def _copies(s: g.Let) -> bool:
    """Whether a statement only copies elements, which may be read where they are as well."""
    bodies = [p.body for p in s.rhs.partitions] if isinstance(s.rhs, g.WithLoop) else []
    return any(
        isinstance(last, g.Let) and isinstance(last.rhs, g.Load) and last.targets == b.results
        for b in bodies
        for last in b.statements[-1:]
    )


def arrays_of(s: g.Stmt) -> frozenset[str]:
    """The arrays that a statement uses, inner blocks included."""
    if isinstance(s, g.Check):
        return frozenset()
    atoms = [*g.operands(s.rhs), *(a for b in g.blocks(s.rhs) for a in b.results)]
    return frozenset(a.name for a in atoms if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType)).union(
        *(arrays_of(i) for b in g.blocks(s.rhs) for i in b.statements)
    )


def _occurrences(s: g.Stmt, name: str) -> Iterator[bool]:
    """For each use of an array in a statement, inner blocks included, whether it is a load from it, or copies it into
    another."""
    if isinstance(s, g.Check):
        return
    load = isinstance(s.rhs, g.Load) or (isinstance(s.rhs, g.Update) and s.rhs.array.name != name)
    for a in g.operands(s.rhs):
        if isinstance(a, g.Var) and a.name == name:
            yield load
    for b in g.blocks(s.rhs):
        yield from _inside(b.statements, name)
        for a in b.results:
            if isinstance(a, g.Var) and a.name == name:
                yield False


def _inside(statements: Sequence[g.Stmt], name: str) -> Iterator[bool]:
    for s in statements:
        yield from _occurrences(s, name)


def may_fail(s: g.Stmt) -> bool:
    """Whether a statement contains a check, or calls what might."""
    if isinstance(s, g.Check) or isinstance(s.rhs, g.Call):
        return True
    return any(may_fail(inner) for b in g.blocks(s.rhs) for inner in b.statements)


def only_loads(s: g.Stmt, name: str) -> bool:
    """Whether a statement uses an array for nothing but to load elements, or to copy them."""
    return all(_occurrences(s, name))


def count_uses(s: g.Stmt, name: str) -> int:
    """How often a statement uses an array."""
    return sum(1 for _ in _occurrences(s, name))
