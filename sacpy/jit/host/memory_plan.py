"""Where the arrays of a unit lie, as text: `--emit memory`; and as rows, for pictures.

In: an optimised unit. Out: its functions with a row for each array that they make, and for each that is made elsewhere
and copied, the reason. It is told by whoever decides when code is written: circuits by `analysis/circuits`, places on
the stack by `places`, the memory of arrays that die by `analysis/depends` and `growing`.

    function two(int a_n, double[a_n] a, int b_n, double[b_n] b)
        r.1 = for                     in w at [a_n]
        r.3 = for                     in w at [0]
        w = with                      new, made before r.1

Whether an array that dies is held by others too is seen when the code runs: then there is a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sacpy.jit.analysis.ahead import Ahead
from sacpy.jit.analysis.circuits import NOTHING, Outside, Plan, circuits
from sacpy.jit.analysis.depends import ALWAYS, may_share
from sacpy.jit.analysis.destinations import destinations
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.analysis.makers import NOWHERE, Makers, arrays_of
from sacpy.jit.analysis.planner import LEFT
from sacpy.jit.analysis.projections import Projection, Shift
from sacpy.jit.analysis.straight import has_guarded_vectors
from sacpy.jit.host.growing import kept_rows
from sacpy.jit.host.lending import lent_rows
from sacpy.jit.host.places import MOST, on_stack
from sacpy.jit.host.scratch import staged
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import inner_binders
from sacpy.jit.options import Options
from sacpy.nodes import Node, Record, field, replace

INDENT = "    "
COLUMN = 34


class Lies(Node):
    """Where an array lies, in words. `within`: the array in whose memory that is, "" where it has its own."""

    words: str
    within: str = ""


class Made(Node):
    """An array that a statement of that kind makes, so deep in the function. `name` may be that of a carried variable,
    which has no row of its own."""

    name: str
    kind: str
    lies: Lies
    depth: int

    @property
    def text(self) -> str:
        return f"{INDENT * self.depth}{f'{self.name} = {self.kind}':<{COLUMN}}  {self.lies.words}"


class Kept(Node):
    """An array that is made elsewhere, and copied into another one."""

    part: str
    whole: str
    reason: str
    depth: int

    @property
    def text(self) -> str:
        return f"{INDENT * self.depth}{f'{self.part} is not made in {self.whole}':<{COLUMN}}  {self.reason}"


class Layout(Record):
    """The arrays of a function. `rows` in the order of its text; `until`: by arrays, the number of the row in which
    they are used last; `within`: of those that are in another one's memory, in which."""

    head: str
    params: tuple[str, ...]
    rows: list[Made | Kept] = field(default_factory=list)
    until: dict[str, int] = field(default_factory=dict)
    within: dict[str, str] = field(default_factory=dict)

    def memory(self, name: str) -> str:
        """The array whose own memory this one lies in."""
        seen: set[str] = set()
        while name in self.within and name not in seen:
            seen.add(name)
            name = self.within[name]
        return name


def memory_text(unit: g.Unit, options: Options) -> str:
    """The arrays of a unit."""
    lines = [line for found in layouts(unit, options) for line in (found.head, *(row.text for row in found.rows))]
    return "\n".join(lines) + "\n"


def layouts(unit: g.Unit, options: Options) -> list[Layout]:
    """The arrays of each function of a unit."""
    from sacpy.jit.analysis.indices import Facts
    from sacpy.jit.host.lowering import recursive
    from sacpy.jit.host.takeover import takes
    from sacpy.jit.ir.graph_printer import print_function

    found, known = [], destinations(unit) if options.short_circuit else NOWHERE
    for f in unit.functions:
        taken = takes(unit, bool(recursive(unit))) if f is unit.root else None
        arrays = tuple(p.name for p in f.params if isinstance(p.type, g.ArrayType))
        layout = Layout(print_function(replace(f, body=g.Block(()))).splitlines()[0], arrays)
        outside = Outside.of(f, taken, known)
        _Teller(f, Facts.of(f).ints, outside, options, layout).block(f.body, {p.name for p in f.params}, {}, 1)
        found.append(layout)
    return found


class _Teller:
    """Adds the rows of a function to a layout."""

    def __init__(self, function: g.Function, ints: Ints, outside: Outside, options: Options, layout: Layout) -> None:
        self.function, self.ints, self.outside, self.options, self.layout = function, ints, outside, options, layout
        self.there = set(layout.params)  # the arrays that there are
        self.left = MOST  # bytes that may lie on the stack
        self.rounds = False  # whether a loop is around
        self.types = {v.name: v.type for v in (*function.params, *_set_in(function.body))}
        lets = (s for s in g.statements(function.body) if isinstance(s, g.Let) and isinstance(s.rhs, g.WithLoop))
        self.fresh = {t.name for s in lets for t in s.targets}  # what nobody else holds, for certain

    def block(self, b: g.Block, owned: set[str], into: Mapping[str, Lies], depth: int) -> None:
        """The rows of a block. `owned`: arrays from outside that it takes over; `into`: where results are made that
        have a place."""
        plan = circuits(b, owned, arrays_of, self.ints, self.outside) if self.options.short_circuit else NOTHING
        makers = Makers(b, owned, arrays_of, self.outside.known)
        places = dict(into)
        for name, place in into.items():
            if name in makers.makers:
                places.update(dict.fromkeys(makers.chain(name).names, place))
        for o in plan.openings.values():
            for c in o.circuits:
                places.update(dict.fromkeys(c.names, Lies(f"in {c.whole.name} at {_at(c.at)}", c.whole.name)))
        stacked = on_stack(makers, b, places, self.left)
        self.left -= sum(size for _, size in stacked)
        for names, _ in stacked:
            places.update({name: Lies("on the stack", names[-1] if name != names[-1] else "") for name in names})
        for names in staged(makers, b, plan, places) if self.rounds else ():
            places.update({name: Lies("the same memory in all rounds") for name in names})
        known = self.outside.known or NOWHERE
        rows = lent_rows(b, makers, {*places}, known, self.ints) if known is not NOWHERE else {}
        mine, last = set(owned), self.last(b)
        outer = set(self.there)
        for number, s in enumerate(b.statements):
            dying = {name for name in arrays_of(s) if name in mine and last[name] == number}
            if isinstance(s, g.Let):
                if number in rows:
                    array = rows[number].load.array.name
                    places[s.targets[0].name] = Lies(f"rows of {array}, where they are", array)
                self.statement(b, number, dying, places, plan, depth)
                mine |= {t.name for t in s.targets if isinstance(t.type, g.ArrayType)}
            mine -= dying
            self.used(arrays_of(s))
        self.used(a.name for a in b.results if isinstance(a, g.Var))
        self.there = outer
        spread = circuits(b, owned, arrays_of, self.ints, self.outside, scattered=True) if plan.refusals else NOTHING
        why = {
            (r.part.name, r.whole.name): r.reason for r in spread.refusals if r.reason != LEFT
        }  # if a pass has left it
        for r in plan.refusals:
            names = r.part.name, r.whole.name
            self.layout.rows.append(Kept(*names, why.get(names, r.reason), depth))

    def used(self, names: Iterable[str]) -> None:
        """Notes that arrays are used where the rows end now."""
        self.layout.until.update(dict.fromkeys(self.there.intersection(names), max(len(self.layout.rows) - 1, 0)))

    @staticmethod
    def last(b: g.Block) -> dict[str, int]:
        found: dict[str, int] = {}
        for number, s in enumerate(b.statements):
            found.update(dict.fromkeys(arrays_of(s), number))
        found.update({a.name: len(b.statements) for a in b.results if isinstance(a, g.Var)})
        return found

    def statement(
        self, b: g.Block, number: int, dying: set[str], places: Mapping[str, Lies], plan: Plan, depth: int
    ) -> None:
        s = b.statements[number]
        assert isinstance(s, g.Let)
        for k, t in enumerate(s.targets):
            if isinstance(t.type, g.ArrayType):
                lies = self.place(b, number, k, dying, places, plan)
                self.layout.rows.append(Made(t.name, _word(s), lies, depth))
                if lies.within:
                    self.layout.within[t.name] = lies.within
                self.there.add(t.name)
                self.used([t.name])
        match s.rhs:
            case g.For(params=params, body=body) | g.Loop(params=params, body=body):
                self.layout.within.update({p.name: t.name for p, t in zip(params, s.targets)})
                self.there.update(p.name for p in params)
                outer, self.rounds = self.rounds, True
                self.block(body, {p.name for p in params}, {}, depth + 1)
                self.rounds = outer
            case g.If(then=then, otherwise=otherwise):
                for branch in (then, otherwise):
                    into = {
                        r.name: places[t.name]
                        for t, r in zip(s.targets, branch.results)
                        if t.name in places and isinstance(r, g.Var)
                    }
                    self.block(branch, dying, into, depth + 1)
            case g.WithLoop(operators=operators, partitions=partitions):
                for p in partitions:
                    cells = {
                        r.name: Lies(f"in its cell of {t.name}", t.name)
                        for o, t, r in zip(operators, s.targets, p.body.results)
                        if isinstance(o, g.Genarray | g.Modarray)
                        and isinstance(r, g.Var)
                        and isinstance(r.type, g.ArrayType)
                        and self.fits(p.body, r, g.extents_of(t)[p.rank :])
                    }
                    self.block(p.body, set(), cells, depth + 1)

    def fits(self, b: g.Block, cell: g.Var, extents: tuple[g.Atom, ...]) -> bool:
        """Whether a cell is certainly as large as its place before it is made; otherwise it is copied."""
        told, makers = Ahead(b), Makers(b, (), arrays_of, self.outside.known)
        names = [cell.name, *(makers.chain(cell.name).names if cell.name in makers.makers else ())]
        first = min(told.set_by.get(name, 0) for name in names)
        return all(a == e or told.equal(a, e.__eq__, first) is not None for a, e in zip(g.extents_of(cell), extents))

    def place(self, b: g.Block, number: int, k: int, dying: set[str], places: Mapping[str, Lies], plan: Plan) -> Lies:
        """Where an array lies that a statement sets."""
        s = b.statements[number]
        assert isinstance(s, g.Let)
        name, r = s.targets[k].name, s.rhs
        if name in places:
            return places[name]
        opening = plan.openings.get(number)
        match r:
            case g.View() | g.Reshape():
                lent = any(name in o.lent for o in plan.openings.values())
                reference = ", without a reference of its own" if lent else ""
                return Lies(f"part of {r.array.name}{reference}", r.array.name)
            case g.Var():
                return Lies(f"{r.name} itself", r.name)
            case g.Update(array=array):
                found = self.changed(array, dying)
                return found if opening is None else replace(found, words=f"{found.words}; its new part is there")
            case g.For(initial=initial) | g.Loop(initial=initial):
                start = initial[k]
                assert isinstance(start, g.Var)
                return self.changed(start, dying)
            case g.WithLoop():
                return self.result(r, s.targets, k, dying, None if opening is None else b.statements[opening.begins])
            case g.Call():
                return Lies(f"made by {r.function}")
            case g.If():
                return Lies("what its branches give")
        return Lies("new")

    def changed(self, array: g.Var, dying: set[str]) -> Lies:
        """Where an array lies that another one becomes."""
        if array.name in self.outside.borrowed:
            return Lies(f"a copy of {array.name}, which the caller keeps")
        if array.name in dying:
            return Lies(f"in the memory of {array.name}", array.name)
        return Lies(f"a copy of {array.name}")

    def result(self, w: g.WithLoop, targets: tuple[g.Var, ...], k: int, dying: set[str], begins: g.Stmt | None) -> Lies:
        """Where the result of a with-loop lies. `begins`: the statement that makes the first of what is made in it."""
        o = w.operators[k] if len(w.operators) == len(targets) else None
        match o:
            case g.Modarray(array=array):
                parts = "" if begins is None else "; its new parts are there"
                if array.name in dying - self.outside.borrowed and may_share(w, array, self.ints) is not None:
                    return Lies(f"in the memory of {array.name}{parts}", array.name)
                return Lies(f"a copy of {array.name}")
            case g.Genarray():
                if isinstance(begins, g.Let):
                    return Lies(f"new, there before {begins.targets[0].name} is")
                type_ = targets[k].type
                mine = dying - self.outside.borrowed
                if has_guarded_vectors(w):
                    mine &= self.fresh
                same = {n for n in mine if w.complete and self.types[n] == type_}
                free = [n for n in sorted(same) if may_share(w, g.Var(n, type_), self.ints) == ALWAYS]
                earlier = sum(isinstance(x, g.Genarray) and t.type == type_ for x, t in zip(w.operators[:k], targets))
                if earlier < len(free):  # each result takes one
                    return Lies(f"in the memory of {free[earlier]}", free[earlier])
                kept = kept_rows(w, dying - self.outside.borrowed, self.ints)
                return Lies(f"grown from {kept[0].load.array.name}", kept[0].load.array.name) if kept else Lies("new")
        return Lies("what the fold ends with")


def _set_in(b: g.Block) -> Iterator[g.Var]:
    """The variables that are set in a block, inner blocks included."""
    for s in g.statements(b):
        if isinstance(s, g.Let):
            yield from s.targets
            yield from inner_binders(s.rhs)


def _word(s: g.Let) -> str:
    """What kind of a statement sets an array."""
    return s.rhs.name if isinstance(s.rhs, g.Var) else _WORDS[s.rhs.__class__]


_WORDS: dict[type, str] = {
    g.Call: "call",
    g.Cons: "array",
    g.For: "for",
    g.If: "if",
    g.Loop: "loop",
    g.Reshape: "reshape",
    g.Update: "update",
    g.View: "view",
    g.WithLoop: "with",
}


def _at(at: Projection) -> str:
    """Where a part lies: the index of its first element."""
    atoms: list[g.Atom] = [a.start if isinstance(a, Shift) else a for a in at]
    return "[" + ",".join(str(a.value) if isinstance(a, g.Const) else a.name for a in atoms) + "]"
