"""Who holds an array: where its last use is, and whether it may be updated in place there.

In: a function in core. Out: an `Ownership`: the variables alive after each statement, and for each array variable its
*flag*: "True" where it certainly is the only one that holds its array, "False" where it never is, else the name of a
local variable of the generated function that says so at run time.

The invariant: while the flag of a variable is true, no other live variable, caller, global object or constant reaches
the same array. So an update at the last use of a variable whose flag is true may overwrite. A flag moves with the array
where the source dies (an alias, a branch's result, a loop's variable, an argument); where the source lives on, both
flags become false. Arrays that are made anew start true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from sacpy.lang.core import (
    Atom,
    Bind,
    Block,
    Call,
    Const,
    Fold,
    Function,
    Genarray,
    GlobalGet,
    GlobalSet,
    If,
    Let,
    Loop,
    Modarray,
    Prim,
    Propagate,
    Signature,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.walk import block_free, bodies_free, free_of, loop_free, names, operands
from sacpy.nodes import Node, Record, field

VIEWS = {"reshape": 1, "place": 0, "like": 0, "ravel": 0}  # primitives whose result may be an argument, and which one


class Protocol(Node):
    """How ownership crosses a call: positions of the parameters that come with a flag, and of the results that go with
    one. It follows from the signature alone, so that a caller need not know the body."""

    takes: tuple[int, ...]
    gives: tuple[int, ...]


def protocol(signature: Signature) -> Protocol:
    """Flags for all parameters that may be arrays; for results that may be one of these."""
    if signature.native is not None:
        return Protocol((), ())
    takes = tuple(i for i, p in enumerate(signature.params) if p.pattern is not None or p.cell)
    bases = {signature.params[i].base for i in takes}
    gives = tuple(i for i, r in enumerate(signature.results) if (r.pattern is not None or r.cell) and r.base in bases)
    return Protocol(takes, gives)


class Move(Node):
    """A value passed to a variable: `source` moves its flag where it is not None; otherwise the target's flag is false,
    and that of `cleared`, which lives on, becomes false too."""

    source: str | None
    cleared: str | None


def moves(atoms: Sequence[Atom], live: Iterable[str]) -> list[Move]:
    """How each of several values passed on at the same time moves."""
    alive, count = set(live), Counter(a.name for a in atoms if isinstance(a, Var))
    result = []
    for atom in atoms:
        if isinstance(atom, Const):
            result.append(Move(None, None))
        elif atom.name in alive:
            result.append(Move(None, atom.name))
        else:
            result.append(Move(atom.name if count[atom.name] == 1 else None, None))
    return result


_DYNAMIC = "dynamic"
_Source = bool | str  # True, False, the name of a variable, or _DYNAMIC with a leading blank


class Ownership(Record):
    """The analysis of one function. `local` names the generated function's variable for a flag."""

    function: Function
    signature_of: Callable[[str], Signature]
    is_array: Callable[[str], bool]
    local: Callable[[str], str]
    always_copy: bool = False
    live_after: dict[int, frozenset[str]] = field(default_factory=dict)
    sources: dict[str, set[_Source]] = field(default_factory=dict)
    flags: dict[str, bool | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        f = self.function
        end = names(f.returns)
        for condition in f.conditions:
            if condition.on_exit:
                end |= free_of_block(condition.block, condition.value)
        live = self._block_live(f.body, end)
        for condition in f.conditions:
            self._block_live(condition.block, live | end)
        for i, slot in enumerate(f.signature.params):
            self._source(slot.bind.name, " dynamic" if i in protocol(f.signature).takes else False)
        for name in (*f.signature.pattern_names, *f.exit_names):
            self._source(name[1], False)
        for condition in f.conditions:
            self._block(condition.block)
        self._block(f.body)
        self._resolve()

    # ---- what code generation asks

    def flag(self, name: str) -> str:
        """The flag of a variable as a Python expression."""
        if self.always_copy:
            return "False"
        known = self.flags.get(name, False)
        return self.local(name) if known is None else str(known)

    def is_dynamic(self, name: str) -> bool:
        """Whether the flag is a local variable."""
        return not self.always_copy and self.flags.get(name, False) is None

    def atom_flag(self, atom: Atom) -> str:
        """The flag of an atom."""
        return self.flag(atom.name) if isinstance(atom, Var) else "False"

    def dies(self, atom: Atom, statement: Stmt) -> bool:
        """Whether the statement is the last use of the atom, a variable."""
        return isinstance(atom, Var) and atom.name not in self.live_after[id(statement)]

    # ---- liveness

    def _block_live(self, block: Block, live: set[str]) -> set[str]:
        for statement in reversed(block.statements):
            self.live_after[id(statement)] = frozenset(live)
            live = self._statement_live(statement, live)
        return live

    def _statement_live(self, s: Stmt, live: set[str]) -> set[str]:
        match s:
            case Let(targets=targets, rhs=rhs):
                before = live - {t.name for t in targets} | names(operands(rhs))
                return before | self._with_live(rhs, live) if isinstance(rhs, WithLoop) else before
            case If(merges=merges):
                rest = live - {m.target.name for m in merges}
                then = self._block_live(s.then, rest | names(tuple(m.then for m in merges)))
                otherwise = self._block_live(s.otherwise, rest | names(tuple(m.otherwise for m in merges)))
                return then | otherwise | names((s.condition,))
            case Loop(carried=carried):
                rest = around(s, live)
                body = self._block_live(s.body, rest | names(tuple(c.update for c in carried)))
                condition = self._block_live(s.condition, body | live | names((s.test,)))
                own = {c.target.name for c in carried}
                return (body | condition) - own | rest | names(tuple(c.initial for c in carried))
        return live | free_of(s)

    def _with_live(self, loop: WithLoop, live: set[str]) -> set[str]:
        pinned = bodies_free(loop)
        for operator in loop.operators:
            if isinstance(operator, Fold):
                self._block_live(operator.combine.body, live | pinned | names(operator.combine.results))
        for partition in loop.partitions:
            self._block_live(partition.body, live | pinned | names(partition.values))
        return pinned

    # ---- flags

    def _source(self, name: str, source: _Source) -> None:
        if self.is_array(name):
            self.sources.setdefault(name, set()).add(source)

    def _move(self, targets: Sequence[Bind], atoms: Sequence[Atom], live: Iterable[str]) -> None:
        for target, move in zip(targets, moves(atoms, live)):
            self._source(target.name, False if move.source is None else move.source)
            if move.cleared is not None:
                self._source(move.cleared, False)

    def _block(self, block: Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, s: Stmt) -> None:
        live = self.live_after[id(s)]
        match s:
            case Let(targets=targets, rhs=rhs):
                self._let(targets, rhs, live)
            case If(merges=merges):
                self._block(s.then)
                self._block(s.otherwise)
                targets = tuple(m.target for m in merges)
                rest = live - {t.name for t in targets}
                self._move(targets, [m.then for m in merges], rest)
                self._move(targets, [m.otherwise for m in merges], rest)
            case Loop(carried=carried):
                targets = tuple(c.target for c in carried)
                rest = frozenset(around(s, set(live)))
                self._move(targets, [c.initial for c in carried], rest)
                self._block(s.condition)
                self._block(s.body)
                self._move(targets, [c.update for c in carried], rest)
            case GlobalSet():
                pass  # moved where the flag allows it, else copied

    def _let(self, targets: tuple[Bind, ...], rhs: object, live: frozenset[str]) -> None:
        match rhs:
            case Var() | Const():
                self._move(targets, [rhs], live)
            case Prim(op=op, args=args) if op in VIEWS:
                self._move(targets, [args[VIEWS[op]]], live)
            case GlobalGet():
                self._source(targets[0].name, False)
            case Call():
                self._call(targets, rhs, live)
            case WithLoop():
                self._with_loop(targets, rhs, live)
            case _:
                for target in targets:
                    self._source(target.name, True)

    def _call(self, targets: tuple[Bind, ...], call: Call, live: frozenset[str]) -> None:
        gives = {g for key in call.candidates for g in protocol(self.signature_of(key)).gives}
        for i, target in enumerate(targets):
            self._source(target.name, " dynamic" if i in gives else True)
        if gives:
            for name in names(call.args) & live:
                self._source(name, False)

    def _with_loop(self, targets: tuple[Bind, ...], loop: WithLoop, live: frozenset[str]) -> None:
        pinned = live | bodies_free(loop)
        threaded: list[Bind] = []
        initial: list[Atom] = []
        at = 0
        for operator in loop.operators:
            match operator:
                case Genarray() | Modarray():
                    self._source(targets[at].name, True)
                    at += 1
                case Fold(neutrals=neutrals, combine=combine):
                    count = len(neutrals)
                    self._move(
                        combine.params[:count],
                        neutrals,
                        pinned if len(loop.partitions) == 1 else pinned | names(neutrals),
                    )
                    for target, accumulator in zip(targets[at:], combine.params):
                        self._source(target.name, accumulator.name)
                        if len(loop.partitions) != 1:
                            self._source(target.name, False)
                    self._block(combine.body)
                    self._move(combine.params[:count], combine.results, pinned)
                    for value in combine.params[count:]:
                        self._source(value.name, False)
                    at += count
                case Propagate():
                    threaded += operator.params
                    initial += operator.initial
                    for target, param in zip(targets[at:], operator.params):
                        self._source(target.name, param.name)
                    at += len(operator.params)
        self._move(threaded, initial, pinned)
        for partition in loop.partitions:
            self._source(partition.index.name, False)
            self._block(partition.body)
            values = thread_values(loop, partition.values)
            self._move(threaded, values, pinned | fold_values(loop, partition.values))

    def _resolve(self) -> None:
        """The least solution: a flag is constant if all that flows into it is."""
        state: dict[str, bool | str | None] = dict.fromkeys(self.sources, "unset")
        changed = True
        while changed:
            changed = False
            for name, sources in self.sources.items():
                values = {
                    None if s == " dynamic" else s if isinstance(s, bool) else state.get(s, False) for s in sources
                } - {"unset"}
                new = "unset" if not values else next(iter(values)) if len(values) == 1 else None
                if new != state[name]:
                    state[name] = new
                    changed = True
        self.flags = {
            name: value if isinstance(value, bool) or value is None else False for name, value in state.items()
        }


def around(loop: Loop, live: set[str]) -> set[str]:
    """What lives through all rounds of a loop without being carried."""
    return loop_free(loop) | live - {c.target.name for c in loop.carried}


def thread_values(loop: WithLoop, values: tuple[Atom, ...]) -> list[Atom]:
    """Of a partition's values those that are the next values of propagated objects."""
    result: list[Atom] = []
    at = 0
    for operator in loop.operators:
        width = (
            len(operator.neutrals)
            if isinstance(operator, Fold)
            else len(operator.params)
            if isinstance(operator, Propagate)
            else 1
        )
        if isinstance(operator, Propagate):
            result += values[at : at + width]
        at += width
    return result


def fold_values(loop: WithLoop, values: tuple[Atom, ...]) -> set[str]:
    """The variables a partition hands to folds, which may keep them."""
    result: set[str] = set()
    at = 0
    for operator in loop.operators:
        width = (
            len(operator.neutrals)
            if isinstance(operator, Fold)
            else len(operator.params)
            if isinstance(operator, Propagate)
            else 1
        )
        if isinstance(operator, Fold):
            result |= names(values[at : at + width])
        at += width
    return result


def free_of_block(block: Block, value: Atom) -> set[str]:
    """The variables of a condition."""
    return block_free(block, (value,))
