"""How much work a call is, before it is done: a rough number of steps of the interpreter.

In: a function, and the arguments of a call. Out: a number; it need not be right, only large where the work is large.
Index spaces count with their bodies; so do counting loops whose bounds are known from constants, extents and int
arguments; a loop that nobody can see the end of counts as a few rounds. Functions that are called count as well, to a
certain depth. Recursion is not followed: whoever decides watches how long it takes.

A step is a scalar operation in a line of generated Python. What else there is counts in steps as measured, with the
programs of the repository.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod

from sacpy.interp.runtime.calls import known_shape
from sacpy.interp.values import Value
from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Block,
    Call,
    Const,
    Fold,
    Function,
    If,
    Let,
    Loop,
    Partition,
    Prim,
    Program,
    Signature,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.diagnostics import SacError
from sacpy.lang.dispatch import Certain, Possible
from sacpy.lang.infer import Inference, Inferrer
from sacpy.lang.lattice import constant, without_value
from sacpy.lang.types import ANY, Shape
from sacpy.lang.walk import defined, names

STEP = 0.05e-6  # seconds that the interpreter takes for a step
CALLED = 5.0  # steps of a call that is not put in place
CALLEE = 4.0  # and of a statement of a callee that has loops or arrays: of those in its loops, once
ROUND = 1.0  # and of a round of a loop, beside its statements
CELL = 1.0  # of a cell of a with-loop
WITH_LOOP = 60.0  # of a with-loop, beside its cells
WHOLE = 30.0  # of an operation on a whole array, beside its elements
ELEMENT = 0.03  # of an element of such an operation, which NumPy does
UNKNOWN = 64.0
DEEPEST = 5  # functions within each other
MOST = 1e15
LONGEST = 10_000
LOOP = 10  # statements that a loop or with-loop counts for, beside its own: to the compiler it is about as much work
# they look at arrays, or update them in place
LIGHT = frozenset({"sel", "shape", "dim", "device", "modarray", "reshape", "ravel", "like", "require", "zero"})
ARITHMETIC = frozenset({"ScalarArith", "ArrayArith", "Math", "MathArray"})


class Costs:
    """Estimates for the functions of one program. `array`: what one element of a whole-array operation counts.
    `unknown`: what stands for an extent, or for the rounds of a loop, of which nothing is known; `whole`: whether NumPy
    stands for a function."""

    def __init__(
        self,
        program: Program,
        inferrer: Inferrer,
        array: float = ELEMENT,
        unknown: float = UNKNOWN,
        whole: Callable[[Signature], bool] = lambda signature: False,
    ) -> None:
        self.program = program
        self.inferrer = inferrer
        self.array = array
        self.unknown = unknown
        self.whole = whole
        self._memo: dict[tuple[str, tuple[Shape, ...]], tuple[float, bool]] = {}
        self._guessed = False  # whether anything in the last estimate was a guess
        self._active: list[str] = []
        self._lengths: dict[str, int] = {}
        self._straight: dict[str, float] = {}  # steps of functions of scalars; inf of others

    def length(self, function: Function) -> int:
        """The number of statements of a function and of those that it calls, each counted as often as it stands there:
        what compiling takes is about in proportion."""
        key = function.signature.key
        if key not in self._lengths:
            self._lengths[key] = 1  # a recursive call
            self._lengths[key] = min(_statements(self, function.body), LONGEST)
        return self._lengths[key]

    def steps(self, block: Block) -> float:
        """The steps of a block of which nothing is known but its text."""
        return sum(map(self._steps, block.statements))

    def _steps(self, s: Stmt) -> float:
        match s:
            case Let(rhs=Call() as call):
                length = self.length_of(call)
                return CALLED + min(self._straight_steps(call), CALLEE * length) if length > 1 else 1.0
            case Let(rhs=WithLoop() as loop):
                return WITH_LOOP + self.unknown * self.cell(loop)
            case If():
                return 1.0 + max(self.steps(s.then), self.steps(s.otherwise))
            case Loop():
                return self.unknown * (ROUND + self.steps(s.condition) + self.steps(s.body))
        return 1.0

    def _straight_steps(self, call: Call) -> float:
        """Those of a function of scalars, whose length has been asked for; inf of others: what an operation on arrays
        takes is not in the text."""
        key = call.candidates[0]
        if key not in self._straight:
            self._straight[key] = inf  # of a recursion
            function = self.program.function(key)
            slots = (*function.signature.params, *function.signature.results)
            if not any(slot.pattern is not None or slot.cell for slot in slots):
                self._straight[key] = self.steps(function.body)
        return self._straight[key]

    def cell(self, loop: WithLoop) -> float:
        """Those of a cell of a with-loop, about."""
        combine = sum(self.steps(o.combine.body) for o in loop.operators if isinstance(o, Fold))
        return CELL + combine + max((self.steps(p.body) for p in loop.partitions), default=0.0)

    def length_of(self, call: Call) -> int:
        """The statements that a call stands for."""
        key = call.candidates[0] if call.candidates else ""
        if not key or key.partition("::")[0] in ARITHMETIC or self.program.signature(key).native is not None:
            return 1
        try:
            return self.length(self.program.function(key))
        except SacError:
            return 1

    def call(self, function: Function, args: tuple[Value, ...]) -> float:
        """The work of a call with these arguments."""
        return self.function(function, tuple(map(known_shape, args)))

    def certain(self, function: Function, args: tuple[Value, ...]) -> float | None:
        """The same, where nothing had to be guessed; otherwise None."""
        self._guessed = False
        work = self.call(function, args)
        return None if self._guessed else work

    def guess(self) -> float:
        """What stands for something that is not known."""
        self._guessed = True
        return self.unknown

    def function(self, function: Function, shapes: tuple[Shape, ...]) -> float:
        """The work of a call with arguments of which this much is known."""
        key = function.signature.key
        if key in self._active or len(self._active) >= DEEPEST:
            self._guessed = True
            return 1.0
        at = (key, shapes)
        if at not in self._memo:
            before, self._guessed = self._guessed, False
            self._active.append(key)
            try:
                found = self.inferrer.infer(function, list(shapes))
                self._memo[at] = min(_Walk(self, found).block(function.body), MOST), self._guessed
            finally:
                self._active.pop()
                self._guessed |= before
        work, guessed = self._memo[at]
        self._guessed |= guessed
        return work


class _Walk:
    """One function with what inference knows of it."""

    def __init__(self, costs: Costs, inference: Inference) -> None:
        self.costs = costs
        self.inference = inference
        self.definitions: dict[str, Let] = {}

    def block(self, block: Block) -> float:
        return sum(map(self.statement, block.statements))

    def statement(self, s: Stmt) -> float:
        match s:
            case Let():
                for target in s.targets:
                    self.definitions[target.name] = s
                return self.let(s)
            case If():
                return 1.0 + max(self.block(s.then), self.block(s.otherwise))
            case Loop():
                once = self.block(s.condition) + self.block(s.body) + ROUND
                return once * self.rounds(s)
        return 1.0

    def let(self, s: Let) -> float:
        match s.rhs:
            case WithLoop():
                return self.with_loop(s, s.rhs)
            case Call():
                return self.call(s, s.rhs)
            case Prim(op=op) if op in LIGHT:
                return 1.0
            case Prim(args=args) | ArrayCons(elements=args):
                return 1.0 + self.elements(
                    (*(Var(t.name, s.span) for t in s.targets), *args) if isinstance(s.rhs, Prim) else ()
                )
        return 0.0

    def elements(self, atoms: tuple[Atom, ...]) -> float:
        """What a whole-array operation on these counts: the largest of them decides."""
        sizes = [self.size(self.shape(a)) for a in atoms]
        largest = max(sizes, default=1.0)
        return WHOLE + largest * self.costs.array if largest > 1 else 0.0

    def call(self, s: Let, call: Call) -> float:
        resolution = self.inference.resolution(call)
        match resolution:
            case Certain(signature=signature):
                pass
            case Possible(signatures=(signature, *_)):
                pass
            case _:
                return 0.0
        shapes = tuple(self.shape(a) for a in call.args)
        if signature.native is not None:
            return 1.0
        if signature.name.partition("::")[0] in ARITHMETIC:
            return 1.0 + self.elements(call.args)
        if self.costs.whole(signature):
            return CALLED + self.elements((*(Var(t.name, s.span) for t in s.targets), *call.args))
        try:
            function = self.costs.program.function(signature.key)
        except SacError:
            return 0.0
        return CALLED + self.costs.function(
            function, tuple(s if s.rank == 0 or (s.value and len(s.value) <= 8) else without_value(s) for s in shapes)
        )

    def with_loop(self, s: Let, loop: WithLoop) -> float:
        frame = next(
            (
                self.size(self.shape(Var(t.name, s.span)))
                for t, o in zip(s.targets, loop.operators)
                if not isinstance(o, Fold)
            ),
            0.0,
        )
        combine = sum(self.block(o.combine.body) for o in loop.operators if isinstance(o, Fold))
        return WITH_LOOP + sum(self.partition(p, self.index_space(p, frame), combine) for p in loop.partitions)

    def partition(self, p: Partition, cells: float, combine: float) -> float:
        """What a partition of so many cells counts. What does not depend on the index is done once."""
        once, each = 0.0, CELL + combine
        inside = {b.name for b in (p.index, *(p.scalars or ()))}
        for s in p.body.statements:
            work = self.statement(s)
            if isinstance(s, Let) and isinstance(s.rhs, Prim) and not inside & names(s.rhs.args):
                once += work
            else:
                each += work
                inside |= {b.name for b in defined(s)}
        return once + cells * each

    def index_space(self, p: Partition, frame: float) -> float:
        """The number of indices, the whole result's where the bounds do not say."""
        upper, lower = self.value(p.upper), self.value(p.lower)
        if upper is None or (p.lower is not None and lower is None):
            found = self._between(p.lower, p.upper)
            return frame or self.costs.guess() if found is None else found
        rank = max(len(upper), len(lower or ()))
        if self.shape(Var(p.index.name, p.span)).extents not in (None, (None,)):
            rank = (self.shape(Var(p.index.name, p.span)).extents or (rank,))[0] or rank
        below, above = _spread(lower or (0,), rank), _spread(upper, rank)
        return float(prod(max(b - a, 0) for a, b in zip(below, above)))

    def _between(self, lower: Atom | None, upper: Atom | None) -> float | None:
        """The number of indices of a box at a place that is not known, where its extents are told by its bounds."""
        corners = [self.definitions.get(a.name) if isinstance(a, Var) else None for a in (lower, upper)]
        below, above = (c.rhs.elements if c and isinstance(c.rhs, ArrayCons) else () for c in corners)
        if not below or len(below) != len(above):
            return None
        pairs = [(self._offset(a), self._offset(b)) for a, b in zip(below, above)]
        return float(prod(max(b[1] - a[1], 0) for a, b in pairs)) if all(a[0] == b[0] for a, b in pairs) else None

    def _offset(self, atom: Atom) -> tuple[str, int]:
        """An int as the sum of a variable and a known int; "" for a variable where there is none."""
        known = self.value(atom)
        if known or not isinstance(atom, Var):
            return "", known[0] if known else 0
        match self.definitions.get(atom.name):
            case Let(rhs=Call(name="+" | "-" as code, args=(a, b))):
                for x, y in ((a, b), (b, a)) if code == "+" else ((a, b),):
                    by = self.value(y)
                    if by:
                        name, offset = self._offset(x)
                        return name, offset + by[0] if code == "+" else offset - by[0]
        return atom.name, 0

    def rounds(self, loop: Loop) -> float:
        """How often a loop runs, at most: known where a carried variable that begins with a known int is compared with
        one, and moves by a constant."""
        test = self.definitions.get(loop.test.name) if isinstance(loop.test, Var) else None
        if test is None or not isinstance(test.rhs, Call | Prim) or len(test.rhs.args) != 2:
            return self.costs.guess()
        initial = {c.target.name: c for c in loop.carried}
        for moving, fixed in (test.rhs.args, test.rhs.args[::-1]):
            if not isinstance(moving, Var) or moving.name not in initial:
                continue
            carried = initial[moving.name]
            step = self._step(carried.update, moving.name)
            start, end = self._bound(carried.initial, "max"), self._bound(fixed, "min")
            if end is not None and step is not None:
                return max(abs(end - (start or 0)) / step, 1.0)
        return self.costs.guess()

    def _bound(self, atom: Atom, code: str) -> int | None:
        """The int that an atom is; or what it is not above, being the least of some ("min"), or not below ("max")."""
        known = self.value(atom)
        made = self.definitions.get(atom.name) if isinstance(atom, Var) else None
        if known is None and made is not None and isinstance(made.rhs, Call) and made.rhs.name == code:
            bounds = [b for b in (self._bound(a, code) for a in made.rhs.args) if b is not None]
            return (min if code == "min" else max)(bounds, default=None)
        return known[0] if known else None

    def _step(self, update: Atom, name: str) -> float | None:
        """By how much a carried variable moves in a round."""
        made = self.definitions.get(update.name) if isinstance(update, Var) else None
        if made is None or not isinstance(made.rhs, Call | Prim):
            return None
        if isinstance(made.rhs, Call) and made.rhs.name in ("++", "--"):
            return 1.0
        by = [
            abs(int(a.value[0]))
            for a in made.rhs.args
            if isinstance(a, Const) and a.base == "int" and len(a.value) == 1 and not isinstance(a.value[0], bytes)
        ]
        return (
            float(by[0])
            if len(by) == 1 and by[0] and any(isinstance(a, Var) and a.name == name for a in made.rhs.args)
            else None
        )

    # ---- what is known

    def shape(self, atom: Atom) -> Shape:
        if isinstance(atom, Const):
            plain = tuple(v for v in atom.value if not isinstance(v, bytes))
            return constant(atom.shape, plain if len(plain) == len(atom.value) and plain else None)
        found = self.inference.types.get(atom.name)
        return ANY if found is None else found.shape

    def value(self, atom: Atom | None) -> tuple[int, ...] | None:
        """The ints that an atom certainly is."""
        known = None if atom is None else self.shape(atom).value
        return None if not known else tuple(int(v) for v in known)

    def size(self, shape: Shape) -> float:
        """The number of elements, a guess where it is not known."""
        if shape.extents is None:
            return self.costs.guess()
        return prod((self.costs.guess() if e is None else float(e) for e in shape.extents), start=1.0)


def _statements(costs: Costs, block: Block) -> int:
    """The statements of a block, those of inner blocks and of callees included."""
    total = 0
    for s in block.statements:
        match s:
            case Let(rhs=Call() as call):
                total += costs.length_of(call)
            case Let(rhs=WithLoop() as loop):
                total += (
                    LOOP
                    + sum(_statements(costs, p.body) for p in loop.partitions)
                    + sum(_statements(costs, o.combine.body) for o in loop.operators if isinstance(o, Fold))
                )
            case If():
                total += 1 + _statements(costs, s.then) + _statements(costs, s.otherwise)
            case Loop():
                total += LOOP + _statements(costs, s.condition) + _statements(costs, s.body)
            case _:
                total += 1
    return total


def _spread(bound: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A scalar bound counts for all axes."""
    return bound * rank if len(bound) == 1 else bound


__all__ = ["Costs"]
