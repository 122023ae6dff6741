"""Random questions about dependence, with what integer sets say of them.

In: a source of chance. Out: with-loops and loops of a graph, whose bounds, steps, widths and reads are affine in
indices, inner indices and symbols; and the same as a set of isl's: the pairs of indices between which there is a
dependence, for all values of the symbols. What the laws of graphs promise (bounds lie in the frame, loads in the
array) is part of the set."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from sacpy.jit.analysis.depends import Conditions
from sacpy.jit.ir.graph import (
    INT,
    ArrayType,
    Atom,
    Block,
    Const,
    Fold,
    For,
    Function,
    Genarray,
    Let,
    Load,
    Modarray,
    Op,
    Partition,
    ScalarType,
    Stmt,
    Update,
    Var,
    WithLoop,
    integer,
)
from sacpy.nodes import Record, field

SYMBOLS = ("n0", "n1", "h", "b", "s")  # extents of the array, others of which nothing is known
OPERATIONS = 3_000_000  # of isl, for one question
DOUBLE = ScalarType("double")
Form = dict[str, int]  # names by their factors; that of "" is the constant


def text(form: Form) -> str:
    """A form as isl reads it."""
    return " + ".join(f"{c}" if not name else f"{c} {name}" for name, c in form.items()) or "0"


class Code(Record):
    """Statements that compute forms. `names`: how many there are of each stem."""

    statements: list[Stmt] = field(default_factory=list)
    names: int = 0

    def fresh(self, stem: str, type_: Any = INT) -> Var:
        self.names += 1
        return Var(f"{stem}{self.names}", type_)

    def let(self, code: str, *args: Atom) -> Var:
        v = self.fresh("t")
        self.statements.append(Let((v,), Op(code, args, code not in ("min", "select"))))
        return v

    def atom(self, form: Form) -> Atom:
        """The int that a form is."""
        total: Atom | None = None
        for name, c in form.items():
            if not name or not c:
                continue
            term: Atom = Var(name, INT) if c == 1 else self.let("mul", Var(name, INT), integer(c))
            total = term if total is None else self.let("add", total, term)
        constant = form.get("", 0)
        if total is None:
            return integer(constant)
        return self.let("add", total, integer(constant)) if constant else total

    def taken(self) -> tuple[Stmt, ...]:
        """The statements so far, for a block."""
        found, self.statements = tuple(self.statements), []
        return found


class Space(Record):
    """The index space of a partition. `lower`, `upper`: what bounds are the largest and the least of."""

    index: list[str]
    lower: list[Form]
    upper: list[list[Form]]
    step: list[int]
    width: list[int]

    def holds(self, index: Sequence[str]) -> list[str]:
        """That names are an index in the space."""
        found = []
        for k, i in enumerate(index):
            lower = text(self.lower[k])
            found += [f"{lower} <= {i}", f"0 <= {lower}"]
            found += [f"{i} < {text(upper)}" for upper in self.upper[k]]
            found.append("(" + " or ".join(f"{text(upper)} <= n{k}" for upper in self.upper[k]) + ")")
            if self.step[k] > 1:
                found.append(f"({i} - ({lower})) mod {self.step[k]} < {self.width[k]}")
        return found


class Question(Record):
    """`function`: with one outer with-loop or loop; `dependence`: sets as isl reads them, but for the conditions;
    `least`: variables that are the least of two forms."""

    function: Function
    loop: WithLoop | For
    array: Var
    dependence: list[str]
    least: dict[str, list[Form]] = field(default_factory=dict)

    def depends(self, isl: Any, conditions: Conditions = frozenset()) -> bool | None:
        """Whether there is a dependence where conditions hold; None where finding out takes too long."""
        extra = [" or ".join(map(_test, condition)) for condition in conditions]
        for v, forms in self.least.items():
            extra += [f"{v} <= {text(form)}" for form in forms]
            extra.append(" or ".join(f"{v} = {text(form)}" for form in forms))
        more = "".join(f" and ({e})" for e in extra)
        names = f"[{', '.join((*SYMBOLS, *self.least))}]"
        context = isl.DEFAULT_CONTEXT
        context.reset_operations()
        context.set_max_operations(OPERATIONS)
        try:
            return any(
                not isl.Set(d.replace("SYMBOLS", names).replace("CONDITIONS", more)).is_empty() for d in self.dependence
            )
        except isl.Error:
            return None
        finally:
            context.set_max_operations(0)


def _test(test: Any) -> str:
    total = text({"": test.constant, **{v.name: c for v, c in test.terms}})
    return f"({total}) mod {test.modulus} = 0" if test.modulus else f"{total} >= 0"


def _set(variables: Sequence[str], constraints: Sequence[str]) -> str:
    return f"SYMBOLS -> {{ [{', '.join(variables)}] : {' and '.join(constraints)} CONDITIONS }}"


def _bound(random: Random, axis: int) -> Form:
    return random.choice(
        [
            {"": random.randint(0, 3)},
            {"": random.randint(0, 1)},
            {"h": 1, "": random.randint(0, 2)},
            {"s": 1, "": random.randint(0, 2)},
            {"s": 1, "b": 1},
            {"h": 2},
        ]
    )


def space(random: Random, rank: int, prefix: str) -> Space:
    """The space of a partition."""
    found = Space([], [], [], [], [])
    for k in range(rank):
        lower = _bound(random, k)
        upper = random.choice(
            [
                {f"n{k}": 1},
                {f"n{k}": 1, "": -random.randint(1, 2)},
                {**lower, "": lower.get("", 0) + random.randint(1, 4)},
                {**lower, "b": lower.get("b", 0) + 1},
                {**lower, "h": lower.get("h", 0) + 1},
            ]
        )
        step = random.choice([1, 1, 1, 2, 2, 3, 4])
        found.index.append(f"{prefix}{k}")
        found.lower.append(lower)
        found.upper.append([upper, {f"n{k}": 1}] if random.random() < 0.25 else [upper])
        found.step.append(step)
        found.width.append(random.randint(1, max(1, step - 1)))
    return found


def _read(random: Random, axis: int, index: Sequence[str], inner: str) -> list[Form]:
    """A component of an index: what it is selected from."""
    own = index[axis % len(index)]
    constant = random.randint(-3, 3)
    choices: list[list[Form]] = [
        [{own: 1}],
        [{own: 1}],
        [{own: 1, "": constant}],
        [{own: 1, "": constant}],
        [{own: 1, "h": random.choice((-1, 1))}],
        [{own: 1, "b": -1, "": random.choice((0, 0, -1))}],
        [{own: 2, "": random.choice((0, 1))}],
        [{"s": 1, "": random.choice((0, 0, -1, 1))}],
        [{"h": 1, "": constant}],
        [{"": random.randint(0, 3)}],
        [{inner: 1, "s": 1}],
        [{inner: 1}],
        [{inner: 2, "": random.choice((0, 1))}],
        [{inner: 1, own: 1}],
        [{own: 1, "": -1}, {own: 1, "": -1, f"n{axis}": 1}],
        [{own: 1, inner: -1}],
        [{random.choice(index): 1, "": random.choice((0, 0, 1))}],
    ]
    return random.choice(choices)


def with_loop(random: Random, isl: Any) -> Question:
    """A question about what a with-loop may overwrite."""
    rank = random.choice((1, 2, 2))
    frame = rank if random.random() < 0.75 else 1
    extents = tuple(Var(f"n{k}", INT) for k in range(rank))
    array = Var("u", ArrayType("double", extents))
    code = Code()
    spaces = [space(random, frame, prefix) for prefix in "ij"[: random.choice((1, 1, 1, 2))]]
    disjoint = (
        len(spaces) == 2
        and isl.Set(
            _set(["x0", "x1"][:frame], [*spaces[0].holds(["x0", "x1"][:frame]), *spaces[1].holds(["x0", "x1"][:frame])])
            .replace("CONDITIONS", "")
            .replace("SYMBOLS", f"[{', '.join(SYMBOLS)}]")
        ).is_empty()
    )
    partitions, reads = [], []
    bounds = []
    least: dict[str, list[Form]] = {}
    for s in spaces:
        lower, upper = tuple(map(code.atom, s.lower)), []
        for forms in s.upper:
            atoms = tuple(map(code.atom, forms))
            upper.append(atoms[0] if len(atoms) == 1 else code.let("min", *atoms))
            if len(atoms) == 2:
                least[upper[-1].name] = forms
        bounds.append((lower, tuple(upper)))
    before = code.taken()
    for number, (s, (lower, upper)) in enumerate(zip(spaces, bounds)):
        inner = f"k{number}"
        cases = [_read(random, k, s.index, inner) for k in range(rank)]
        at = []
        for case in cases:
            atoms = [code.atom(form) for form in case]
            at.append(atoms[0] if len(atoms) == 1 else code.let("select", Var("c", ScalarType("bool")), *atoms))
        body = Block(code.taken(), ()).statements
        ends = Var("b", INT) if random.random() < 0.7 else integer(random.randint(1, 3))
        x = code.fresh("x", DOUBLE)
        load = (*body, Let((x,), Load(array, tuple(at))))
        result = code.fresh("r", DOUBLE)
        accumulator, value, total = (code.fresh("a", DOUBLE) for _ in range(3))
        fold = Fold(
            (Const("double", 0.0),),
            (accumulator,),
            (value,),
            Block((Let((total,), Op("add", (accumulator, value))),), (total,)),
        )
        part = Partition((integer(0),), (ends,), None, None, (Var(inner, INT),), Block(load, (x,)))
        statements: tuple[Stmt, ...] = (Let((result,), WithLoop(None, (part,), (fold,))),)
        if frame < rank:
            row = code.fresh("row", ArrayType("double", extents[frame:]))
            cell = Partition(
                (integer(0),), extents[frame:], None, None, (code.fresh("z"),), Block(statements, (result,))
            )
            new = Genarray("double", (), Const("double", 0.0))
            statements = (Let((row,), WithLoop(extents[frame:], (cell,), (new,), complete=True, disjoint=True)),)
            result = row
        dense = all(step == 1 for step in s.step)
        partitions.append(
            Partition(
                lower,
                upper,
                None if dense else tuple(map(integer, s.step)),
                None if dense else tuple(map(integer, s.width)),
                tuple(Var(i, INT) for i in s.index),
                Block(statements, (result,)),
            )
        )
        reads.append((cases, inner, ends))
    w = WithLoop(extents[:frame], tuple(partitions), (Modarray(array),), disjoint=bool(disjoint))
    target = code.fresh("w", array.type)
    params = (*(Var(name, INT) for name in SYMBOLS), Var("c", ScalarType("bool")), array)
    function = Function("f", params, Block((*before, Let((target,), w)), (target,)))
    single = bool(disjoint) or len(spaces) == 1
    return Question(function, w, array, _between(spaces, reads, rank, frame, single), least)


def _between(spaces: Sequence[Space], reads: Sequence[Any], rank: int, frame: int, single: bool) -> list[str]:
    """The dependences: for each partition that reads, case of its index and partition that writes, a set."""
    found = []
    for s, (cases, inner, ends) in zip(spaces, reads):
        written = ends.name if isinstance(ends, Var) else str(ends.value)
        for number in range(max(map(len, cases))):
            forms = [case[number % len(case)] for case in cases]
            within = [f"0 <= {text(form)} < n{k}" for k, form in enumerate(forms)]
            for q in spaces:
                to = [f"y{k}" for k in range(frame)]
                constraints = [
                    *s.holds(s.index),
                    *q.holds(to),
                    f"0 <= {inner} < {written}",
                    *within,
                    *(f"{text(forms[k])} = {to[k]}" for k in range(frame)),
                ]
                if single and q is s and frame == rank:
                    constraints.append("(" + " or ".join(f"{i} != {y}" for i, y in zip(s.index, to)) + ")")
                found.append(_set([*s.index, inner, *to], constraints))
    return found


def counting(random: Random) -> Question:
    """A question about the rounds of a counting loop: one that writes an element, and reads one, in an inner loop."""
    rank = random.choice((1, 1, 2))
    extents = tuple(Var(f"n{k}", INT) for k in range(rank))
    array = ArrayType("double", extents)
    code = Code()
    lower, upper = _bound(random, 0), random.choice(({"n0": 1}, {"h": 1, "": 3}, {"b": 1}))
    low, high = code.atom(lower), code.atom(upper)
    before = code.taken()
    ends = random.choice(({"": 2}, {"": 3}, {"b": 1}))
    pace = random.choice((1, 1, 1, 2, 3))

    def place(axis: int) -> Form:
        if axis and random.random() < 0.5:
            return random.choice(({"j": 1}, {"": 0}, {"h": 1}))
        return random.choice(
            [
                {"i": pace},
                {"i": pace},
                {"i": pace, "": random.randint(0, 2)},
                {"i": pace, "h": 1},
                {"i": -1, f"n{axis}": 1, "": -1},
                {"i": pace, "j": 1},
                {"i": pace, "j": 1, "": random.randint(-1, 1)},
                {"j": 1},
                {**lower, "": lower.get("", 0) - 1},
                {**upper, "j": 1},
                {"i": 2, "": random.randint(0, 1)},
                {"s": 1},
            ]
        )

    write, read = ([place(k) for k in range(rank)] for _ in range(2))
    names = [Var(name, array) for name in ("u", "p", "q", "v", "r", "w")]
    u, p, q, v, r, w = names
    x = code.fresh("x", DOUBLE)
    at, to = (tuple(map(code.atom, forms)) for forms in (read, write))
    body = (*code.taken(), Let((x,), Load(q, at)), Let((v,), Update(q, to, x)))
    inner = For(Var("j", INT), integer(0), code.atom(ends), 1, (q,), (p,), Block(body, (v,)))
    outer = For(Var("i", INT), low, high, 1, (p,), (u,), Block((Let((r,), inner),), (r,)))
    params = (*(Var(name, INT) for name in SYMBOLS), u)
    function = Function("f", params, Block((*before, Let((w,), outer)), (w,)))
    sets = []
    for other in (read, write):
        there = [{{"i": "k", "j": "l"}.get(name, name): c for name, c in form.items()} for form in other]
        sets.append(
            _set(
                ["i", "j", "k", "l"],
                [
                    *(f"{text(lower)} <= {i} < {text(upper)}" for i in "ik"),
                    *(f"0 <= {j} < {text(ends)}" for j in "jl"),
                    "i != k",
                    *(f"0 <= {text(f)} < n{k}" for forms in (write, there) for k, f in enumerate(forms)),
                    *(f"{text(a)} = {text(b)}" for a, b in zip(write, there)),
                ],
            )
        )
    return Question(function, outer, p, sets)
