"""The body of a block's program as stages, one after the other.

In: a partition whose cells are the work of a block each, the numbers that its bounds have. Out: a function whose
statements are those of the body, with all loops around with-loops unrolled, the branches that are not taken left out,
the calls that have stages inlined, and every extent a number. So a network of any depth is a list of with-loops over
known indices: where the threads of a block meet is a question about numbers. The sizes of a block's program are part of
its kernel, as in Obsidian; how many blocks there are is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.names import Names
from sacpy.jit.ir.rewrite import Rewriter, free, names_of, with_extents
from sacpy.jit.kernels.source import Source
from sacpy.jit.kernels.values import zero
from sacpy.jit.passes import dead_code, fold_withloops, ranges
from sacpy.jit.specialise.folding import simplify
from sacpy.nodes import replace
from sacpy.withloop.block_words import GpuBlock
from sacpy.withloop.errors import MappingError

MOST_STAGES = 512  # with-loops of one block's program
_MOST_ROUNDS = 1 << 12  # of loops around them, all together
_SHORTER = "write the program in fewer steps, or let several launches do it"


def stages_of(source: Source, p: g.Partition, numbers: Mapping[str, int], block: GpuBlock) -> g.Function:
    """The program of a block, its index among the parameters. `MappingError` where it has no such form."""
    around = source.around
    sizes = {name: g.integer(numbers[name]) for name in sizes_of(source, p) if name in numbers}
    flat = _Flat(dict(sizes), names_of(around), source.functions, block)
    body = flat.block(p.body)
    params = tuple(flat.atom(v) for v in source.free.values() if v.name not in sizes)
    inputs = tuple(v for v in params if isinstance(v, g.Var))
    function = g.Function(f"{source.name}.block", (*inputs, *p.index), body)
    unit = g.Unit((function, *(f for f in source.functions.values() if f.name != function.name)))
    for _ in range(2):
        unit = ranges.run(fold_withloops.run(unit))
    return dead_code.run(unit).root


def sizes_of(source: Source, p: g.Partition) -> set[str]:
    """The ints of the function around that extents, bounds and numbers of rounds in a body come from."""
    needed: set[str] = set()
    given: dict[str, set[str]] = {}
    _sizes(p.body, needed, given)
    waiting = list(needed)
    while waiting:
        for name in given.get(waiting.pop(), ()):
            if name not in needed:
                needed.add(name)
                waiting.append(name)
    return {name for name, v in source.free.items() if name in needed and v.type == g.INT}


def _sizes(b: g.Block, needed: set[str], given: dict[str, set[str]]) -> None:
    for s in b.statements:
        if not isinstance(s, g.Let):
            continue
        r = s.rhs
        used = {a.name for a in with_extents(g.operands(r)) if isinstance(a, g.Var)}
        for inner in g.blocks(r):
            used |= free(inner)
            _sizes(inner, needed, given)
        params: Sequence[g.Var] = ()
        match r:
            case g.WithLoop():
                bounds = [a for q in r.partitions for a in (*q.lower, *q.upper, *(q.step or ()), *(q.width or ()))]
                needed.update(a.name for a in (*(r.frame or ()), *bounds) if isinstance(a, g.Var))
            case g.For():
                needed.update(a.name for a in (r.lower, r.upper) if isinstance(a, g.Var))
                params = (r.index, *r.params)
            case g.Loop():
                needed |= free(r.condition)
                params = r.params
            case g.If():
                needed.update(a.name for a in (r.condition,) if isinstance(a, g.Var))
            case g.Call():
                needed |= used
        for t in (*s.targets, *params):
            given.setdefault(t.name, set()).update(used)
        needed.update(e.name for t in s.targets for e in g.extents_of(t) if isinstance(e, g.Var))


def _plain(o: g.Operator) -> g.Operator:
    """An operator of a with-loop that has all cells, which so needs no stage for its default."""
    return replace(o, default=zero(o.base)) if isinstance(o, g.Genarray) else o


class _Flat(Rewriter):
    """Copies a body, level by level of its blocks until a with-loop is met; what is in one is a thread's."""

    def __init__(
        self, env: dict[str, g.Atom], names: Names, functions: Mapping[str, g.Function], block: GpuBlock
    ) -> None:
        super().__init__(env, names)
        self.functions, self.asked = functions, block
        self.within = 0
        self.stages = self.rounds = 0

    def statement(self, s: g.Stmt) -> Iterable[g.Stmt]:
        if isinstance(s, g.Check):
            condition = self.atom(s.condition)
            return () if condition == g.TRUE else (g.Check(condition, s.what, s.span),)
        r = s.rhs
        if isinstance(r, g.Var | g.Const):
            self.env[s.targets[0].name] = self.atom(r)
            return ()
        if isinstance(r, g.Op):
            found = simplify(g.Op(r.code, self.atoms(r.args), r.exact), lambda _: None)
            if isinstance(found, g.Var | g.Const):
                self.env[s.targets[0].name] = found
                return ()
        elif not self.within and g.is_nested(r) and not isinstance(r, g.WithLoop):
            if isinstance(r, g.If) and isinstance(decided := self.atom(r.condition), g.Const):
                return self.branch(s, r.then if decided.value else r.otherwise)
            if any(map(self.staged, g.blocks(r))):
                match r:
                    case g.For():
                        return self.counted(s, r)
                    case g.Loop():
                        return self.repeated(s, r)
                    case _:
                        raise self.asked.refused(
                            "its body has stages in a branch that only a run of the block decides on",
                            "let the branch stand in the stage, or decide outside of the with-loop",
                        )
            if isinstance(r, g.For | g.Loop) and self.computed(s, r):
                return ()
        elif not self.within and isinstance(r, g.Call) and self.staged(self.functions[r.function].body):
            return self.called(s, r)
        return super().statement(s)

    def with_loop(self, w: g.WithLoop) -> g.WithLoop:
        if not self.within:
            self.stages += 1
            if self.stages > MOST_STAGES:
                raise self.asked.refused(f"its body has more than {MOST_STAGES} stages", _SHORTER)
        self.within += 1
        try:
            return super().with_loop(replace(w, operators=tuple(map(_plain, w.operators))) if w.complete else w)
        finally:
            self.within -= 1

    def staged(self, b: g.Block, inside: tuple[str, ...] = ()) -> bool:
        """Whether there are with-loops in a block, functions called included."""
        return any(
            isinstance(s.rhs, g.WithLoop)
            or (
                isinstance(s.rhs, g.Call)
                and s.rhs.function not in inside
                and self.staged(self.functions[s.rhs.function].body, (*inside, s.rhs.function))
            )
            for s in g.statements(b)
            if isinstance(s, g.Let)
        )

    # ---- what goes away

    def computed(self, s: g.Let, r: g.For | g.Loop) -> bool:
        """Whether a loop without stages computes numbers that are known: then they stand for its results."""
        env, rounds = dict(self.env), self.rounds
        try:
            left = self.counted(s, r) if isinstance(r, g.For) else self.repeated(s, r)
        except MappingError:
            left = [s]
        if left:
            self.env, self.rounds = env, rounds
        return not left

    def branch(self, s: g.Let, b: g.Block) -> list[g.Stmt]:
        """A block in the place of a statement that gives what it gives."""
        found = self.block(b)
        self.become(s.targets, found.results)
        return list(found.statements)

    def become(self, targets: Sequence[g.Var], values: Sequence[g.Atom]) -> None:
        self.env.update((t.name, v) for t, v in zip(targets, values, strict=True))

    def turn(self) -> None:
        """One more round of a loop."""
        self.rounds += 1
        if self.rounds > _MOST_ROUNDS:
            raise self.asked.refused(f"loops around its stages have more than {_MOST_ROUNDS} rounds", _SHORTER)

    def counted(self, s: g.Let, r: g.For) -> list[g.Stmt]:
        """A counting loop, unrolled."""
        lower, upper = self.atom(r.lower), self.atom(r.upper)
        if not (isinstance(lower, g.Const) and isinstance(upper, g.Const)):
            raise self.unknown("how many rounds a loop around its stages has")
        found: list[g.Stmt] = []
        values = self.atoms(r.initial)
        for i in range(int(lower.value), int(upper.value), r.step):
            self.turn()
            self.env[r.index.name] = g.Const(r.index.base, i)
            self.become(r.params, values)
            body = self.block(r.body)
            found += body.statements
            values = body.results
        self.become(s.targets, values)
        return found

    def repeated(self, s: g.Let, r: g.Loop) -> list[g.Stmt]:
        """A loop with a condition, unrolled."""
        found: list[g.Stmt] = []
        self.become(r.params, self.atoms(r.initial))
        first = r.body_first
        while True:
            if not first:
                condition = self.block(r.condition)
                found += condition.statements
                (go,) = condition.results
                if not isinstance(go, g.Const):
                    raise self.unknown("whether a loop around its stages goes on")
                if not go.value:
                    break
            first = False
            self.turn()
            body = self.block(r.body)
            found += body.statements
            self.become(r.params, body.results)
        self.become(s.targets, self.atoms(r.params))
        return found

    def unknown(self, what: str) -> Exception:
        return self.asked.refused(
            f"{what} is not known before the launch", "let it come of extents and arguments, not of elements"
        )

    def called(self, s: g.Let, r: g.Call) -> list[g.Stmt]:
        """The body of a function with stages."""
        f = self.functions[r.function]
        outer, args = self.env, self.atoms(r.args)
        self.turn()
        self.env = dict(zip((v.name for v in f.params), args, strict=True))
        try:
            found = self.block(f.body)
        finally:
            self.env = outer
        self.become(s.targets, found.results)
        return list(found.statements)
