"""Walking over core: the atoms, blocks and definitions of a statement, its free variables, and its renaming.

In: core statements. Out: sets of names, or rewritten statements. Ownership analysis, preparation and code generation
all need these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Bind,
    Block,
    Call,
    Carried,
    Check,
    Const,
    Fold,
    Function,
    Genarray,
    GlobalGet,
    GlobalSet,
    If,
    Lambda,
    Let,
    Loop,
    Merge,
    Modarray,
    Operator,
    Partition,
    Prim,
    Propagate,
    Rhs,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.nodes import replace


def operands(rhs: Rhs) -> tuple[Atom, ...]:
    """The atoms a right-hand side reads in the block it stands in (not inside bodies)."""
    match rhs:
        case Var() | Const():
            return (rhs,)
        case Prim(args=args) | Call(args=args):
            return args
        case ArrayCons(elements=elements):
            return elements
        case GlobalGet():
            return ()
        case WithLoop(partitions=partitions, operators=operators):
            return tuple(a for o in operators for a in operator_atoms(o)) + tuple(
                a for p in partitions for a in partition_atoms(p)
            )


def operator_atoms(operator: Operator) -> tuple[Atom, ...]:
    """The atoms of an operator."""
    match operator:
        case Genarray(shape=shape, default=default):
            return (shape,) if default is None else (shape, default)
        case Modarray(array=array):
            return (array,)
        case Fold(neutrals=neutrals, stop=stop):
            return neutrals + (stop or ())
        case Propagate(initial=initial):
            return initial


def partition_atoms(partition: Partition) -> tuple[Atom, ...]:
    """The bounds of a partition."""
    return tuple(a for a in (partition.lower, partition.upper, partition.step, partition.width) if a is not None)


def loops(block: Block) -> bool:
    """Whether a block has a loop or with-loop in it."""
    for s in block.statements:
        match s:
            case Loop() | Let(rhs=WithLoop()):
                return True
            case If() if loops(s.then) or loops(s.otherwise):
                return True
    return False


def statements(block: Block) -> Iterator[Stmt]:
    """The statements of a block and of the blocks in it, outer ones first; bodies of with-loops are expressions of
    their own."""
    for s in block.statements:
        yield s
        match s:
            case If():
                yield from statements(s.then)
                yield from statements(s.otherwise)
            case Loop():
                yield from statements(s.condition)
                yield from statements(s.body)


def calls_itself(function: Function) -> int:
    """How often one call of a function may call it again, at most 2: that of two branches which does so more often
    counts, what stands in a loop counts twice."""
    return min(_own_calls(function.body, function.signature.key), 2)


def _own_calls(block: Block, key: str) -> int:
    total = 0
    for s in block.statements:
        match s:
            case Let(rhs=Call() as call):
                total += key in call.candidates
            case Let(rhs=WithLoop() as loop):
                total += 2 * sum(_own_calls(p.body, key) for p in loop.partitions)
            case If():
                total += max(_own_calls(s.then, key), _own_calls(s.otherwise, key))
            case Loop():
                total += 2 * (_own_calls(s.condition, key) + _own_calls(s.body, key))
    return total


def names(atoms: tuple[Atom, ...]) -> set[str]:
    """The variables among atoms."""
    return {a.name for a in atoms if isinstance(a, Var)}


def defined(statement: Stmt) -> tuple[Bind, ...]:
    """The variables a statement sets for those after it."""
    match statement:
        case Let(targets=targets):
            return targets
        case If(merges=merges):
            return tuple(m.target for m in merges)
        case Loop(carried=carried):
            return tuple(c.target for c in carried)
    return ()


def block_free(block: Block, results: tuple[Atom, ...] = ()) -> set[str]:
    """The variables a block (and its results) takes from outside."""
    free = names(results)
    for statement in reversed(block.statements):
        free -= {b.name for b in defined(statement)}
        free |= free_of(statement)
    return free


def lambda_free(function: Lambda) -> set[str]:
    """The variables a fold's function takes from outside."""
    return block_free(function.body, function.results) - {b.name for b in function.params}


def bodies_free(loop: WithLoop) -> set[str]:
    """The variables that the bodies and fold functions of a with-loop take from outside."""
    free: set[str] = set()
    threaded: set[str] = set()
    for operator in loop.operators:
        if isinstance(operator, Fold):
            free |= lambda_free(operator.combine)
        elif isinstance(operator, Propagate):
            threaded |= {b.name for b in operator.params}
    for p in loop.partitions:
        free |= block_free(p.body, p.values) - {p.index.name, *(b.name for b in p.scalars or ())}
    return free - threaded


def loop_free(loop: Loop) -> set[str]:
    """The variables that a loop takes from outside in every round."""
    inside = Block(loop.condition.statements + loop.body.statements)
    free = block_free(inside, (loop.test, *(c.update for c in loop.carried)))
    return free - {c.target.name for c in loop.carried}


def free_of(statement: Stmt) -> set[str]:
    """The variables a statement takes from outside."""
    match statement:
        case Let(rhs=WithLoop() as rhs):
            return names(operands(rhs)) | bodies_free(rhs)
        case Let(rhs=rhs):
            return names(operands(rhs))
        case If(condition=condition, then=then, otherwise=otherwise, merges=merges):
            return (
                names((condition,))
                | block_free(then, tuple(m.then for m in merges))
                | block_free(otherwise, tuple(m.otherwise for m in merges))
            )
        case Loop(carried=carried):
            return names(tuple(c.initial for c in carried)) | loop_free(statement)
        case GlobalSet(value=value) | Check(value=value):
            return names((value,))


class Renamer:
    """Rewrites statements: `atom` maps uses, `bind` maps definitions. Every statement of the result is a new object."""

    def __init__(self, atom: Callable[[Atom], Atom], bind: Callable[[Bind], Bind]) -> None:
        self._atom = atom
        self.bind = bind

    def atom(self, atom: Atom) -> Atom:
        """What takes the place of a use."""
        return self._atom(atom)

    def block(self, block: Block) -> Block:
        return Block(tuple(s for statement in block.statements for s in self.statement(statement)))

    def statement(self, s: Stmt) -> Iterator[Stmt]:
        """The statements that take the place of one."""
        match s:
            case Let():
                rhs = self.rhs(s.rhs)
                yield Let(tuple(map(self.bind, s.targets)), rhs, s.span)
            case If():
                test_first = self.atom(s.condition)
                then, otherwise = self.block(s.then), self.block(s.otherwise)
                yield If(
                    test_first,
                    then,
                    otherwise,
                    tuple(Merge(self.bind(m.target), self.atom(m.then), self.atom(m.otherwise)) for m in s.merges),
                    s.span,
                )
            case Loop():
                initial = [self.atom(c.initial) for c in s.carried]
                targets = [self.bind(c.target) for c in s.carried]
                condition = self.block(s.condition)
                test = self.atom(s.test)
                body = self.block(s.body)
                carried = tuple(Carried(t, i, self.atom(c.update)) for t, i, c in zip(targets, initial, s.carried))
                yield Loop(carried, condition, test, body, s.body_first, s.span)
            case GlobalSet() | Check():
                yield replace(s, value=self.atom(s.value))

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(map(self.atom, atoms))

    def rhs(self, rhs: Rhs) -> Rhs:
        match rhs:
            case Var() | Const():
                return self.atom(rhs)
            case Prim() | Call():
                return replace(rhs, args=self.atoms(rhs.args))
            case ArrayCons():
                return ArrayCons(self.atoms(rhs.elements))
            case WithLoop():
                operators = tuple(map(self.operator, rhs.operators))
                return WithLoop(tuple(map(self.partition, rhs.partitions)), operators, rhs.pragmas)
        return rhs

    def maybe(self, atom: Atom | None) -> Atom | None:
        return None if atom is None else self.atom(atom)

    def operator(self, o: Operator) -> Operator:
        match o:
            case Genarray():
                return Genarray(self.atom(o.shape), self.maybe(o.default))
            case Modarray():
                return Modarray(self.atom(o.array))
            case Fold():
                neutrals, stop = self.atoms(o.neutrals), None if o.stop is None else self.atoms(o.stop)
                params = tuple(map(self.bind, o.combine.params))
                body = self.block(o.combine.body)
                return Fold(neutrals, Lambda(params, body, self.atoms(o.combine.results)), stop)
            case Propagate():
                return Propagate(self.atoms(o.initial), tuple(map(self.bind, o.params)), o.word, o.combine)

    def partition(self, p: Partition) -> Partition:
        lower, upper, step, width = map(self.maybe, (p.lower, p.upper, p.step, p.width))
        index = self.bind(p.index)
        scalars = None if p.scalars is None else tuple(map(self.bind, p.scalars))
        body = self.block(p.body)
        return replace(
            p,
            lower=lower,
            upper=upper,
            step=step,
            width=width,
            index=index,
            scalars=scalars,
            body=body,
            values=self.atoms(p.values),
        )
