"""The host side of a device program as Python: scalars are Python's, arrays `DeviceArray`s, with-loops and parts that
the CPU does better are calls of the runtime (`program.Runtime`, here `rt`).

In: a unit after the passes, and a `Plan` that says of each statement how it runs. Out: the text of a Python module with
one function per function of the unit that is not native as a whole. An array's variable is set to None after its last
use, so that its memory is free, or may be overwritten, as early as can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sacpy.interp.scalar_text import scalar
from sacpy.jit.analysis.straight import is_row_of
from sacpy.jit.device.placement import Loop as PlacedLoop
from sacpy.jit.device.placement import Native, Plan, Spans
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import uses

# operations whose text never raises
INLINE = frozenset(["add", "sub", "mul", "neg", "eq", "neq", "lt", "le", "gt", "ge", "and", "or", "not", "min", "max"])
Step = tuple[g.Stmt, ...]
_EXACT = {"add": "+", "sub": "-", "mul": "*"}


def generate(plan: Plan) -> str:
    """The text of a plan's functions; the root is `run`."""
    writer = _Writer(plan)
    for function in plan.functions:
        writer.function(function)
    return "\n".join(writer.lines) + "\n"


def python_name(plan: Plan, function: str) -> str:
    """The Python function of a function of the unit."""
    return "run" if function == plan.unit.root.name else f"f{[f.name for f in plan.unit.functions].index(function)}"


class _Writer:
    """Writes Python. `scope`: for each block around the place of writing, the arrays that it sets and that may die in
    it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.lines: list[str] = []
        self._names: dict[str, str] = {}
        self._views: dict[str, g.View] = {}
        self._depth = 0
        self._temporaries = 0

    # ---- text

    def line(self, text: str) -> None:
        self.lines.append(" " * self._depth + text)

    @contextmanager
    def indented(self, head: str) -> Iterator[None]:
        self.line(head)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self._depth -= 1

    def name(self, v: g.Var) -> str:
        return self._names.setdefault(v.name, f"v{len(self._names)}")

    def temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def atom(self, a: g.Atom) -> str:
        if isinstance(a, g.Var):
            return self.name(a)
        if isinstance(a.value, float) and (a.value != a.value or a.value in (float("inf"), float("-inf"))):
            return f"float({str(a.value)!r})"
        return (
            repr(a.value)
            if not isinstance(a.value, int | float) or isinstance(a.value, bool) or a.value >= 0
            else f"({a.value!r})"
        )

    def tuple(self, many: Iterable[str]) -> str:
        return f"({''.join(f'{m}, ' for m in many)})"

    # ---- functions and blocks

    def function(self, f: g.Function) -> None:
        self._names = {}
        with self.indented(f"def {python_name(self.plan, f.name)}({', '.join(['rt', *map(self.name, f.params)])}):"):
            arrays = {p.name for p in f.params if _is_array(p)}
            given = self.block(f.body, arrays)
            self.line(f"return {self.tuple(given)}")

    def block(self, b: g.Block, mine: set[str]) -> list[str]:
        """Writes the statements; gives the texts of the results. `mine`: arrays that may die here, to which those that
        the block sets are added."""
        steps = list(self.steps(b))
        for step, used_later in zip(steps, _last_uses(steps, b.results)):
            used = set(uses(g.Block(step)))
            dying = {n for n in mine & used if n not in used_later}
            run = self.plan.runs.get(id(step[-1]))
            if run is not None:
                made: Sequence[g.Var] = run.native.piece.outputs
                self.native(run.native, made)
            else:
                made = step[0].targets if isinstance(step[0], g.Let) else ()
                self.statement(step[0], dying)
            targets = {t.name for t in made if _is_array(t)}
            mine |= targets
            for n in sorted(dying | {t for t in targets if t not in used_later}):
                self.line(f"{self._names[n]} = None")
            mine -= dying
        return self.handed(b.results, mine)

    def steps(self, b: g.Block) -> Iterator[Step]:
        """The statements of a block, those of a run together, where the last of them stands."""
        for s in b.statements:
            run = self.plan.runs.get(id(s))
            if run is None:
                yield (s,)
            elif s is run.statements[-1]:
                yield run.statements

    def handed(self, results: Sequence[g.Atom], mine: set[str]) -> list[str]:
        """The texts of values that somebody else takes: an array that ends here as it is, another one shared."""
        texts, given = [], set()
        for a in results:
            if isinstance(a, g.Var) and _is_array(a) and (a.name not in mine or a.name in given):
                texts.append(f"{self.name(a)}.share()")
            else:
                texts.append(self.atom(a))
            if isinstance(a, g.Var):
                given.add(a.name)
        return texts

    def assign(self, targets: Sequence[g.Var], texts: Sequence[str]) -> None:
        if not targets:
            return
        left, right = ", ".join(map(self.name, targets)), ", ".join(texts)
        if left != right:
            self.line(f"{left} = {right}")

    # ---- statements

    def statement(self, s: g.Stmt, dying: set[str]) -> None:
        if isinstance(s, g.Check):
            self.line(f"if not {self.atom(s.condition)}: raise CheckFailed({self.plan.site(s)})")
            return
        placed = self.plan.placed.get(id(s))
        match placed:
            case Native():
                self.native(placed, s.targets)
            case PlacedLoop() if not s.targets:  # a kernel would have nothing to write; what matters is whether it ends
                self.native(placed.native, s.targets)
            case PlacedLoop():
                values = self.tuple(map(self.name, placed.inputs))
                dead = [i for i, v in enumerate(placed.inputs) if v.name in dying]
                self.unpack(s.targets, f"rt.loop({placed.number}, {values}, {dead!r})")
            case Spans() if placed.extents:
                test = ", ".join(
                    f"({weight!r}, ({''.join(f'{self.atom(lo)}, {self.atom(up)}, ' for lo, up in bounds)}))"
                    for weight, bounds in placed.extents
                )
                rounds = ""
                if isinstance(s.rhs, g.For):
                    rounds = f", len(range({self.atom(s.rhs.lower)}, {self.atom(s.rhs.upper)}, {s.rhs.step}))"
                arrays = self.tuple(map(self.name, placed.arrays))
                with self.indented(f"if rt.small(({test},), {arrays}, {placed.asked}{rounds}):"):
                    self.native(placed.native, s.targets)
                with self.indented("else:"):
                    self.let(s, dying)
            case _:
                self.let(s, dying)

    def native(self, native: Native, targets: Sequence[g.Var]) -> None:
        self.unpack(targets, f"rt.native({native.number}, {self.tuple(map(self.name, native.piece.inputs))})")

    def unpack(self, targets: Sequence[g.Var], call: str) -> None:
        """Results that come as a tuple; none where only the loops in what is called matter, which may not end."""
        self.line(f"{', '.join(map(self.name, targets))}, = {call}" if targets else call)

    def let(self, s: g.Let, dying: set[str]) -> None:
        rhs = s.rhs
        match rhs:
            case g.If():
                self.conditional(s.targets, rhs)
            case g.Loop():
                self.rounds(s.targets, rhs, _before(rhs, dying))
            case g.For():
                self.counting(s.targets, rhs, _before(rhs, dying))
            case g.Call():
                args = self.handed(rhs.args, dying)
                self.line(
                    f"{', '.join(map(self.name, s.targets))}, = "
                    f"{python_name(self.plan, rhs.function)}({', '.join(['rt', *args])})"
                )
            case g.WithLoop():
                raise AssertionError("a with-loop has a place of its own")
            case _:
                self.assign(s.targets, [self.simple(rhs, s.targets[0], dying)])

    def simple(self, rhs: g.Rhs, target: g.Var, dying: set[str]) -> str:
        """The text of a right-hand side without blocks."""
        match rhs:
            case g.Var() | g.Const():
                return self.handed((rhs,), set())[0]
            case g.Op():
                return self.op(rhs)
            case g.Load():
                return f"{self.name(rhs.array)}.element({self.offset(rhs.array, rhs.index)})"
            case g.View():
                self._views[target.name] = rhs
                return f"{self.name(rhs.array)}.view({self.extents(target)}, {self.offset(rhs.array, rhs.index)})"
            case g.Reshape():
                return f"{self.name(rhs.array)}.view({self.extents(target)})"
            case g.Cons():
                return f"rt.cons({rhs.base!r}, {rhs.extents!r}, {self.tuple(map(self.atom, rhs.elements))})"
            case g.Update():
                dead = rhs.array.name in dying and rhs.value != rhs.array
                value = rhs.value.name if isinstance(rhs.value, g.Var) and rhs.value.name in dying else ""
                return (
                    f"rt.update({self.name(rhs.array)}, {self.offset(rhs.array, rhs.index)}, "
                    f"{self.atom(rhs.value)}, {dead}, {is_row_of(self._views.get(value), rhs)})"
                )
        raise AssertionError(rhs)

    def extents(self, array: g.Var) -> str:
        return self.tuple(map(self.atom, g.extents_of(array)))

    def offset(self, array: g.Var, index: Sequence[g.Atom]) -> str:
        """The place of an element, or of a sub-array's first one, in row-major order."""
        extents = g.extents_of(array)
        text = "0"
        for k, extent in enumerate(extents):
            i = self.atom(index[k]) if k < len(index) else "0"
            text = (
                i
                if k == 0
                else f"({text}) * {self.atom(extent)}"
                if i == "0"
                else f"({text}) * {self.atom(extent)} + {i}"
            )
        return text

    def op(self, op: g.Op) -> str:
        args = list(map(self.atom, op.args))
        base = op.args[0].base
        if op.code == "select":
            return f"({args[1]} if {args[0]} else {args[2]})"
        if op.exact and op.code in _EXACT:
            return f"({args[0]} {_EXACT[op.code]} {args[1]})"
        if op.code in INLINE:
            text = scalar(op.code, base, args)
            assert text is not None
            return text
        return f"{self.plan.operation(op.code, base)}({', '.join(args)})"

    # ---- control flow

    def conditional(self, targets: Sequence[g.Var], rhs: g.If) -> None:
        for head, branch in ((f"if {self.atom(rhs.condition)}:", rhs.then), ("else:", rhs.otherwise)):
            with self.indented(head):
                mine: set[str] = set()
                given = self.block(branch, mine)
                self.assign(targets, given)
                self.forget(mine, targets)

    def forget(self, mine: set[str], but: Sequence[g.Var]) -> None:
        """The arrays of a block that ends are nobody's any more."""
        kept = {v.name for v in but}
        for n in sorted(mine - kept):
            self.line(f"{self._names[n]} = None")

    def start(self, params: Sequence[g.Var], initial: Sequence[g.Atom], dying: set[str]) -> None:
        self.assign(params, self.handed(initial, dying))
        taken = {a.name for a in initial if isinstance(a, g.Var)} & dying
        for n in sorted(taken):
            self.line(f"{self._names[n]} = None")

    def once(self, params: Sequence[g.Var], body: g.Block) -> None:
        """One round: the body, and what it gives to the next one."""
        mine = {p.name for p in params if _is_array(p)}
        given = self.block(body, mine)
        temporaries = [self.temporary() for _ in params]
        for t, text in zip(temporaries, given):
            self.line(f"{t} = {text}")
        self.forget(mine, ())
        self.assign(params, temporaries)
        for t, p in zip(temporaries, params):
            if _is_array(p):
                self.line(f"{t} = None")

    def rounds(self, targets: Sequence[g.Var], rhs: g.Loop, dying: set[str]) -> None:
        self.start(rhs.params, rhs.initial, dying)
        first = self.temporary()
        if rhs.body_first:
            self.line(f"{first} = True")
        with self.indented("while True:"):
            if rhs.body_first:
                with self.indented(f"if not {first}:"):
                    self.test(rhs.condition)
                self.line(f"{first} = False")
            else:
                self.test(rhs.condition)
            self.once(rhs.params, rhs.body)
        self.end(targets, rhs.params)

    def test(self, condition: g.Block) -> None:
        mine: set[str] = set()
        (holds,) = self.block(condition, mine)
        self.forget(mine, ())
        self.line(f"if not {holds}: break")

    def counting(self, targets: Sequence[g.Var], rhs: g.For, dying: set[str]) -> None:
        self.start(rhs.params, rhs.initial, dying)
        with self.indented(
            f"for {self.name(rhs.index)} in range({self.atom(rhs.lower)}, {self.atom(rhs.upper)}, {rhs.step}):"
        ):
            self.once(rhs.params, rhs.body)
        self.end(targets, rhs.params)

    def end(self, targets: Sequence[g.Var], params: Sequence[g.Var]) -> None:
        self.assign(targets, list(map(self.name, params)))
        for p in params:
            if _is_array(p):
                self.line(f"{self.name(p)} = None")


def _before(rhs: g.Loop | g.For, dying: set[str]) -> set[str]:
    """Of the arrays that die in a loop, those that its rounds do not use: they die where it begins."""
    return {n for n in dying if not any(uses(b)[n] for b in g.blocks(rhs))}


def _is_array(a: g.Atom) -> bool:
    return isinstance(a.type, g.ArrayType)


def _last_uses(steps: Sequence[Step], results: tuple[g.Atom, ...]) -> list[set[str]]:
    """For each step, the names that are used behind it."""
    later = set(uses(g.Block((), results)))
    found: list[set[str]] = []
    for step in reversed(steps):
        found.append(set(later))
        later |= set(uses(g.Block(step)))
    return found[::-1]
