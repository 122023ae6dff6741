"""The laws of core, checked: run between passes in tests and under `--verify`.

In: a core function and its program. Out: a list of sentences, one per broken law, empty if all is well. Laws: every
variable is set before it is used, and once; base types agree; merges and updates are complete; primitives have their
arity; the candidates of a call agree in arity and base types; partitions yield as many values as the operators take.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Bind,
    Block,
    Call,
    Check,
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
    Partition,
    Prim,
    Program,
    Propagate,
    Rhs,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.primitives import PRIMITIVES
from sacpy.lang.types import BUILTIN


def verify(function: Function, program: Program) -> list[str]:
    """All broken laws."""
    return _Verifier(function, program).run()


class _Verifier:
    def __init__(self, function: Function, program: Program) -> None:
        self.program = program
        self.wrong: list[str] = []
        self.bases: dict[str, str] = {}  # of all variables ever set
        self.visible: set[str] = set()
        self.subject = function

    def run(self) -> list[str]:
        signature = self.subject.signature
        for slot in signature.params:
            self.set(slot.bind)
        for _, variable in signature.pattern_names:
            self.visible.add(variable)
            self.bases.setdefault(variable, "int")
        for condition in self.subject.conditions:
            if not condition.on_exit:
                self.block(condition.block)
                self.use(condition.value, "bool", "a condition")
        self.block(self.subject.body)
        if len(self.subject.returns) != len(signature.results):
            self.wrong.append(f"{len(self.subject.returns)} values are returned, {len(signature.results)} declared")
        for atom, slot in zip(self.subject.returns, signature.results):
            self.use(atom, slot.base, "a result")
        for _, variable in self.subject.exit_names:
            self.visible.add(variable)
            self.bases.setdefault(variable, "int")
        for condition in self.subject.conditions:
            if condition.on_exit:
                self.block(condition.block)
                self.use(condition.value, "bool", "an exit condition")
        return self.wrong

    # ---- variables

    def set(self, bind: Bind) -> None:
        if bind.name in self.bases:
            self.wrong.append(f"{bind.name} is set twice")
        self.bases[bind.name] = bind.base
        self.visible.add(bind.name)

    def use(self, atom: Atom, base: str | None, what: str) -> str:
        """Checks a use; gives its base type."""
        if isinstance(atom, Const):
            found = atom.base
            self.constant(atom)
        elif atom.name not in self.visible:
            self.wrong.append(f"{atom.name} is used before it is set, in {what}")
            return base or ""
        else:
            found = self.bases[atom.name]
        if base is not None and found != base:
            self.wrong.append(f"{_text(atom)} is {found}, but {what} needs {base}")
        return found

    def constant(self, atom: Const) -> None:
        count = 1
        for extent in atom.shape:
            count *= extent
        if count != len(atom.value) and not atom.undefined:
            self.wrong.append(f"a constant of shape {list(atom.shape)} has {len(atom.value)} values")

    # ---- statements

    def block(self, block: Block) -> None:
        for statement in block.statements:
            self.statement(statement)

    def scoped(self, block: Block, inside: Iterable[tuple[Atom, str | None, str]]) -> None:
        """A block whose variables are not visible outside; `inside`: uses at its end."""
        before = set(self.visible)
        self.block(block)
        for atom, base, what in inside:
            self.use(atom, base, what)
        self.visible = before

    def statement(self, s: Stmt) -> None:
        match s:
            case Let():
                self.results(s.targets, self.rhs(s.rhs))
                for target in s.targets:
                    self.set(target)
            case If():
                self.use(s.condition, "bool", "a condition")
                self.scoped(s.then, [(m.then, m.target.base, f"the merge of {m.target.name}") for m in s.merges])
                self.scoped(
                    s.otherwise, [(m.otherwise, m.target.base, f"the merge of {m.target.name}") for m in s.merges]
                )
                for merge in s.merges:
                    self.set(merge.target)
            case Loop():
                self.loop(s)
            case GlobalSet():
                self.use(s.value, self.program.global_object(s.name).base, f"the object {s.name}")
            case Check():
                self.use(s.value, None, "a check")
            case _:
                assert_never(s)

    def loop(self, s: Loop) -> None:
        for carried in s.carried:
            self.use(carried.initial, carried.target.base, f"the initial value of {carried.target.name}")
        for carried in s.carried:
            self.set(carried.target)
        before = set(self.visible)
        blocks = (s.body, s.condition) if s.body_first else (s.condition, s.body)
        for block in blocks:
            inner = set(self.visible)
            self.block(block)
            if block is s.condition:
                self.use(s.test, "bool", "the condition of a loop")
            else:
                for carried in s.carried:
                    self.use(carried.update, carried.target.base, f"the update of {carried.target.name}")
            if s.body_first:
                self.visible = inner
        self.visible = before

    def results(self, targets: Sequence[Bind], found: list[str] | None) -> None:
        """Compares targets with the base types of a right-hand side; None: not known."""
        if found is None:
            return
        if len(found) != len(targets):
            self.wrong.append(f"{len(targets)} targets for {len(found)} results")
        for target, base in zip(targets, found):
            if base not in ("", target.base):
                self.wrong.append(f"{target.name} is {target.base}, but its value is {base}")

    # ---- right-hand sides

    def rhs(self, rhs: Rhs) -> list[str] | None:
        match rhs:
            case Var() | Const():
                return [self.use(rhs, None, "an alias")]
            case Prim():
                return [self.prim(rhs)]
            case ArrayCons(elements=elements):
                if not elements:
                    self.wrong.append("an array without elements")
                    return None
                base = self.use(elements[0], None, "an array")
                for element in elements[1:]:
                    self.use(element, base, "an array")
                return [base]
            case Call():
                return self.call(rhs)
            case GlobalGet(name=name):
                return [self.program.global_object(name).base]
            case WithLoop():
                return self.with_loop(rhs)
        assert_never(rhs)

    def prim(self, prim: Prim) -> str:
        row = PRIMITIVES.get(prim.op)
        if row is None:
            self.wrong.append(f"there is no primitive {prim.op}")
            return ""
        kinds = list(row.args)
        if kinds[-1] == "...":
            kinds = kinds[:-1] + ["int"] * (len(prim.args) - len(kinds) + 1)
        if len(kinds) != len(prim.args):
            self.wrong.append(f"{prim.op} takes {len(kinds)} arguments, not {len(prim.args)}")
            return ""
        shared = ""
        for kind, atom in zip(kinds, prim.args):
            base = self.use(atom, (shared or None) if kind == "T" else kind, prim.op)
            if kind == "T" and not shared:
                shared = base
        if shared and shared not in row.over and not (row.structural and shared not in BUILTIN):
            self.wrong.append(f"{prim.op} does not take {shared}")
        return shared if row.result == "T" else row.result

    def call(self, call: Call) -> list[str] | None:
        signatures = [self.program.signature(key) for key in call.candidates]
        if not signatures:
            self.wrong.append(f"the call of {call.name} has no candidates")
            return None
        found = tuple(self.use(a, None, f"a call of {call.name}") for a in call.args)
        if found != call.bases:
            self.wrong.append(f"the call of {call.name} has arguments of base types {found}, but says {call.bases}")
        for signature in signatures:
            varargs = signature.native is not None and signature.native.varargs
            bases = tuple(s.base for s in signature.params)
            if found[: len(bases)] != bases or (len(found) != len(bases) and not varargs):
                self.wrong.append(f"{signature.key} takes {bases}, but is called with {found}")
        if signatures[0].native is not None and signatures[0].native.varresults:
            return None
        results = {tuple(s.base for s in signature.results) for signature in signatures}
        if len(results) > 1:
            self.wrong.append(f"the candidates of {call.name} differ in their results")
        return [s.base for s in signatures[0].results]

    def with_loop(self, loop: WithLoop) -> list[str]:
        """Partitions yield a value per operator result."""
        results: list[str | None] = []
        outer = set(self.visible)
        for op in loop.operators:
            match op:
                case Genarray():
                    self.use(op.shape, "int", "genarray")
                    results.append(None if op.default is None else self.use(op.default, None, "genarray"))
                case Modarray():
                    results.append(self.use(op.array, None, "modarray"))
                case Fold():
                    results += self.fold(op)
                case Propagate():
                    results += [self.use(a, p.base, "propagate") for a, p in zip(op.initial, op.params)]
        for op in loop.operators:
            if isinstance(op, Propagate):
                for param in op.params:
                    self.set(param)
        for partition in loop.partitions:
            self.partition(partition, results)
        self.visible = outer
        return [base or "" for base in results]

    def fold(self, op: Fold) -> list[str]:
        bases = [self.use(n, None, "a neutral element") for n in op.neutrals]
        before = set(self.visible)
        if len(op.combine.params) != 2 * len(bases):
            self.wrong.append(f"a fold of {len(bases)} values combines {len(op.combine.params)}")
        for param, base in zip(op.combine.params, bases + bases):
            self.set(param)
            if param.base != base:
                self.wrong.append(f"{param.name} is {param.base}, but the neutral element is {base}")
        self.block(op.combine.body)
        for result, base in zip(op.combine.results, bases):
            self.use(result, base, "the result of a fold's function")
        self.visible = before
        for stop, base in zip(op.stop or (), bases):
            self.use(stop, base, "the stop value of foldfix")
        return bases

    def partition(self, partition: Partition, results: list[str | None]) -> None:
        for atom in (partition.lower, partition.upper, partition.step, partition.width):
            if atom is not None:
                self.use(atom, "int", "a generator")
        before = set(self.visible)
        self.set(partition.index)
        for scalar in partition.scalars or ():
            self.set(scalar)
        self.block(partition.body)
        if len(partition.values) != len(results):
            self.wrong.append(f"a partition yields {len(partition.values)} values for {len(results)} results")
        for position, value in enumerate(partition.values[: len(results)]):
            results[position] = self.use(value, results[position], "a partition's value")
        self.visible = before


def _text(atom: Atom) -> str:
    return atom.name if isinstance(atom, Var) else repr(atom.value)
