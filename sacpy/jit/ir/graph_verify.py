"""The laws of graphs, checked: `verify(unit)` raises `GraphError` at the first breach. Run between passes in tests and
under `--verify`.

Checked are scoping and single assignment, types of operands and results, ranks, extents in scope, and that blocks give
as many values of the right types as their owners need. Whether an index is in range is not checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.jit.ir import graph as g
from sacpy.jit.ir.graph_printer import type_text
from sacpy.jit.ir.operations import PLACES, GraphError, op_base
from sacpy.lang.primitives import PRIMITIVES
from sacpy.nodes import Record, field

INDEX = g.ScalarType("int")


def verify(unit: g.Unit) -> None:
    """Checks all functions of a unit. Raises `GraphError`."""
    names = [f.name for f in unit.functions]
    _need(len(set(names)) == len(names), "two functions share a name")
    _need(len(unit.inputs) in (0, len(unit.root.params)), "inputs and parameters of the root differ in number")
    signatures = {f.name: f for f in unit.functions}
    for f in unit.functions:
        try:
            _Scope(signatures).function(f)
        except GraphError as error:
            raise GraphError(f"in {f.name}: {error}") from None


def _need(holds: bool, message: str) -> None:
    if not holds:
        raise GraphError(message)


class _Scope(Record):
    """What is in scope: the types by name. `taken`: all names ever set in this function."""

    functions: dict[str, g.Function]
    types: dict[str, g.Type] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def function(self, f: g.Function) -> None:
        self.bind(f.params)
        self.block(f.body)

    # ---- names

    def bind(self, many: Iterable[g.Var]) -> None:
        for v in many:
            _need(v.name not in self.taken, f"{v.name} is set twice")
            self.taken.add(v.name)
            if isinstance(v.type, g.ArrayType):
                _need(v.type.rank > 0, f"{v.name} is an array of rank 0")
                self.indices(v.type.extents, f"an extent of {v.name}")
            self.types[v.name] = v.type

    def use(self, a: g.Atom) -> g.Type:
        if isinstance(a, g.Const):
            return a.type
        _need(a.name in self.types, f"{a.name} is used outside its scope")
        _need(
            same_type(self.types[a.name], a.type),
            f"{a.name} is {type_text(self.types[a.name])}, but is used as {type_text(a.type)}",
        )
        return a.type

    def expect(self, a: g.Atom, base: str, rank: int, what: str) -> None:
        found = self.use(a)
        _need(
            found.base == base and len(g.extents_of(a)) == rank,
            f"{what} is {type_text(found)}, not {base} of rank {rank}",
        )

    def indices(self, many: Iterable[g.Atom], what: str) -> None:
        for a in many:
            _need(self.use(a) == INDEX, f"{what} is {type_text(a.type)}, not an int")

    def like(self, values: Sequence[g.Atom], targets: Sequence[g.Var], what: str) -> None:
        """Values flow into variables: same number, base and rank."""
        _need(len(values) == len(targets), f"{what}: {len(values)} values for {len(targets)} variables")
        for value, target in zip(values, targets):
            self.expect(value, target.base, len(g.extents_of(target)), f"{what}: what becomes {target.name}")

    # ---- statements

    def block(self, b: g.Block) -> None:
        outer = dict(self.types)
        self._inside(b)
        self.types = outer

    def _inside(self, b: g.Block) -> None:
        for s in b.statements:
            if isinstance(s, g.Check):
                _need(self.use(s.condition) == g.ScalarType("bool"), "a check of something that is no bool")
            else:
                self.let(s)
        for a in b.results:
            self.use(a)

    def let(self, let: g.Let) -> None:
        found = self.rhs(let.rhs, let.targets)
        self.bind(let.targets)
        if found is not None:
            _need(len(let.targets) == len(found), f"{len(let.targets)} targets for {len(found)} results")
            for target, (base, rank) in zip(let.targets, found):
                _need(
                    target.base == base and len(g.extents_of(target)) == rank,
                    f"{target.name} is {type_text(target.type)}, but is set to {base} of rank {rank}",
                )

    def rhs(self, r: g.Rhs, targets: tuple[g.Var, ...]) -> list[tuple[str, int]] | None:
        """Base and rank of each result; None where that was checked against the targets."""
        match r:
            case g.Var() | g.Const():
                return [(self.use(r).base, len(g.extents_of(r)))]
            case g.Op():
                return [(self._op(r), 0)]
            case g.Load(array=array, index=index) | g.View(array=array, index=index):
                self.indices(index, f"an index of {array.name}")
                rank = len(g.extents_of(array)) - len(index)
                self.use(array)
                _need(
                    rank == 0 if isinstance(r, g.Load) else 0 < rank < len(g.extents_of(array)),
                    f"{len(index)} indices into {array.name}, which is {type_text(array.type)}",
                )
                return [(array.base, rank)]
            case g.Reshape(array=array, extents=extents):
                self.use(array)
                self.indices(extents, "an extent")
                return [(array.base, len(extents))]
            case g.Cons():
                return [self._cons(r)]
            case g.Update():
                self.use(r.array)
                self.indices(r.index, f"an index of {r.array.name}")
                self.expect(
                    r.value, r.array.base, len(g.extents_of(r.array)) - len(r.index), "the new value of an update"
                )
                return [(r.array.base, len(g.extents_of(r.array)))]
            case g.Call(function=name, args=args):
                _need(name in self.functions, f"there is no function {name}")
                callee = self.functions[name]
                self.like(args, callee.params, f"call of {name}")
                return [(a.base, len(g.extents_of(a))) for a in callee.body.results]
            case g.WithLoop():
                return self.with_loop(r)
            case g.If():
                _need(self.use(r.condition) == g.ScalarType("bool"), "a condition that is no bool")
                for branch in (r.then, r.otherwise):
                    self._gives(branch, [(t.base, len(g.extents_of(t))) for t in targets], "a branch")
                return None
            case g.Loop() | g.For():
                return self._loop(r)

    def _op(self, op: g.Op) -> str:
        for a in op.args:
            _need(isinstance(self.use(a), g.ScalarType), f"{op.code} of an array")
        base = op_base(op.code, op.args)
        bases = [a.base for a in op.args]
        if op.code == "select":
            _need(len(bases) == 3 and bases[0] == "bool" and bases[1] == bases[2], f"select of {', '.join(bases)}")
            return base
        if op.code in PLACES:
            _need(bases == ["int"] * 4 and isinstance(op.args[2], g.Const), f"{op.code} of {', '.join(bases)}")
            return base
        row = PRIMITIVES[op.code]
        _need(len(bases) == len(row.args), f"{op.code} of {len(bases)} operands")
        shared = {b for b, kind in zip(bases, row.args) if kind == "T"}
        fixed = all(b == kind for b, kind in zip(bases, row.args) if kind != "T")
        _need(fixed and len(shared) <= 1 and shared <= set(row.over), f"{op.code} of {', '.join(bases)}")
        return base

    def _cons(self, c: g.Cons) -> tuple[str, int]:
        size = 1
        for extent in c.extents:
            size *= extent
        _need(len(c.elements) == size, f"{len(c.elements)} elements for extents {list(c.extents)}")
        for e in c.elements:
            self.expect(e, c.base, 0, "an element")
        return c.base, len(c.extents)

    def _gives(self, b: g.Block, wanted: Sequence[tuple[str, int]], what: str) -> None:
        self.block(b)
        found = [(a.base, len(g.extents_of(a))) for a in b.results]
        _need(found == list(wanted), f"{what} gives {found}, not {list(wanted)}")

    def _loop(self, r: g.Loop | g.For) -> list[tuple[str, int]]:
        wanted = [(p.base, len(g.extents_of(p))) for p in r.params]
        outer = dict(self.types)
        self.like(r.initial, r.params, "a loop's initial values")
        if isinstance(r, g.For):
            self.indices((r.lower, r.upper), "a bound")
            _need(r.step != 0, "a step of 0")
            self.bind((r.index,))
        self.bind(r.params)
        if isinstance(r, g.Loop):
            self._gives(r.condition, [("bool", 0)], "a loop's condition")
        self._gives(r.body, wanted, "a loop's body")
        self.types = outer
        return wanted

    # ---- with-loops

    def with_loop(self, w: g.WithLoop) -> list[tuple[str, int]]:
        self.indices(w.frame or (), "an extent of the frame")
        framed = any(isinstance(o, g.Genarray | g.Modarray) for o in w.operators)
        _need(framed == (w.frame is not None), "a frame is needed for genarray and modarray, and only there")
        outer = dict(self.types)
        results: list[tuple[str, int]] = []
        wanted: list[tuple[str, int]] = []
        for o in w.operators:
            given, values = self._operator(o, len(w.frame or ()))
            results += given
            wanted += values
        for p in w.partitions:
            self._partition(p, len(w.frame) if w.frame is not None else None, wanted)
        self.types = outer
        return results

    def _operator(self, o: g.Operator, rank: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Base and rank of the results, and of the values that bodies give."""
        match o:
            case g.Genarray():
                self.indices(o.cell, "an extent of the cell")
                default = self.use(o.default)
                _need(
                    default.base == o.base and len(g.extents_of(o.default)) in (0, len(o.cell)),
                    "the default has another type than the cell",
                )
                _need(rank + len(o.cell) > 0, "a genarray of rank 0 is a scalar")
                return [(o.base, rank + len(o.cell))], [(o.base, len(o.cell))]
            case g.Modarray():
                self.use(o.array)
                own = len(g.extents_of(o.array))
                _need(own >= rank > 0, "the frame of a modarray has more axes than its array, or none")
                return [(o.array.base, own)], [(o.array.base, own - rank)]
            case g.Fold():
                types = [(a.base, len(g.extents_of(a))) for a in o.neutrals]
                self.like(o.neutrals, o.accumulators, "a fold's neutrals")
                for s, a in zip(o.stop or (), o.neutrals):
                    self.expect(s, a.base, len(g.extents_of(a)), "a fold's end")
                outer = dict(self.types)
                self.bind(o.accumulators)
                self.bind(o.values)
                _need(
                    [(v.base, len(g.extents_of(v))) for v in o.values] == types,
                    "a fold's values differ in type from its neutrals",
                )
                self._gives(o.combine, types, "a fold's function")
                self.types = outer
                return types, types
            case g.Propagate():
                _need(not o.down or o.word == "scan", "only a scan goes down")
                self.like(o.initial, o.params, "a propagate's initial values")
                self.bind(o.params)
                types = [(p.base, len(g.extents_of(p))) for p in o.params]
                return types, types

    def _partition(self, p: g.Partition, rank: int | None, wanted: Sequence[tuple[str, int]]) -> None:
        _need(
            len(p.lower) == len(p.upper) == p.rank and (rank is None or rank == p.rank),
            "the ranks of bounds, index and frame differ",
        )
        _need(
            (p.step is None) == (p.width is None) and (p.step is None or len(p.step) == len(p.width or ()) == p.rank),
            "step and width must both have the partition's rank",
        )
        self.indices((*p.lower, *p.upper, *(p.step or ()), *(p.width or ())), "a bound")
        outer = dict(self.types)
        self.bind(p.index)
        _need(all(v.type == INDEX for v in p.index), "an index that is no int")
        self._gives(p.body, wanted, "a partition's body")
        self.types = outer


def same_type(a: g.Type, b: g.Type) -> bool:
    """Whether two types have the same base and rank. (Extents may be written in two ways that are equal only at run
    time.)"""
    return a.base == b.base and (a.rank if isinstance(a, g.ArrayType) else 0) == (
        b.rank if isinstance(b, g.ArrayType) else 0
    )
