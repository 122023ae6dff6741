"""Regions: the parts of a function that can be compiled, where the whole cannot.

In: a core program. Out: the same program, in which a function that prints, reads files or uses strings calls functions
made of its own statements: each longest run of statements that have no effects, if there is work in it, becomes a
function `key@1`, `key@2`, ... Its parameters are the variables that the run reads, its results those that are used
later. So the engine only ever deals with functions, and `print(sum(a * b + c))` is one call of a compiled function and
a print.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.interp.engine import is_region
from sacpy.interp.facts import binds
from sacpy.lang.ast import AnyExtent, AnyShape, Feature
from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Bind,
    Block,
    Call,
    Check,
    CheckedProgram,
    Const,
    Fold,
    Function,
    Global,
    GlobalGet,
    GlobalSet,
    If,
    Let,
    Loop,
    Prim,
    Program,
    Propagate,
    Rhs,
    Signature,
    Slot,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.diagnostics import SacError
from sacpy.lang.dispatch import resolve
from sacpy.lang.infer import Inference, inferrer_for, parted
from sacpy.lang.source import NOWHERE
from sacpy.lang.types import ANY, BUILTIN, SCALAR, Type
from sacpy.lang.walk import block_free, defined, free_of
from sacpy.nodes import replace

_KNOWN = frozenset(BUILTIN)
_LIGHT = frozenset(
    {
        "sel",
        "shape",
        "dim",
        "device",
        "modarray",
        "reshape",
        "ravel",
        "like",
        "require",
        "zero",
        "one",
        "minval",
        "maxval",
        "hideValue",
        "hideShape",
        "hideDim",
    }
)


class OutlinedProgram:
    """A program whose functions have regions. Functions without effects are as they were."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.purity = Purity(program)
        self._inferrer = inferrer_for(program)
        self._functions: dict[str, Function] = {}

    def signature(self, key: str) -> Signature:
        """The head of a function or region. Raises `SacError`."""
        return self.function(key).signature if "@" in key else self.program.signature(key)

    def function(self, key: str) -> Function:
        """A function or region with its body. Raises `SacError`."""
        found = self._functions.get(key)
        if found is None:
            name, _, region = key.partition("@")
            if region:
                self.function(name)
                return self._functions[key]
            found = self._functions[key] = self._outlined(self.program.function(key))
        return found

    def global_object(self, name: str) -> Global:
        """A global object by key."""
        return self.program.global_object(name)

    def regions(self, key: str) -> list[str]:
        """The keys of a function's regions."""
        self.function(key)
        return [k for k in self._functions if k.startswith(f"{key}@")]

    def _outlined(self, function: Function) -> Function:
        if self.purity.function(function.signature.key):
            return function
        known = self._inferrer.infer(function)
        outliner = _Outliner(function, self.purity, known.types)
        made = outliner.function()
        self._functions |= {f.signature.key: f for f in outliner.made}
        self._tell(known, made, outliner)
        return made

    def _tell(self, known: Inference, made: Function, outliner: _Outliner) -> None:
        """What is known of the function's variables is known of its regions, each of which is called in one place."""
        calls = dict(known.candidates)
        declared = self._inferrer.declared
        for region, call in zip(outliner.made, outliner.calls, strict=True):
            signature = region.signature
            types = {b.name: known.types[b.name] for b in binds(region) if b.name in known.types}
            if any(s.bind.name not in types for s in (*signature.params, *signature.results)):  # it is never reached
                continue
            params = [types[s.bind.name].shape for s in signature.params]
            results = tuple(types[s.bind.name].shape for s in signature.results)
            calls[id(call)] = resolve([signature], params)
            declared[signature.key] = Inference(region, types, results, known.candidates, ())
        declared[parted(made.signature.key)] = Inference(made, known.types, known.results, calls, known.diagnostics)


class Purity:
    """Which functions have no effects, and only values that the graph has: no natives, globals, strings, in them or in
    what they call. (Whether they can be compiled is for the specialiser to find out.) `ask`: what the installer has
    found out about the library's is believed."""

    def __init__(self, program: Program, ask: bool = True) -> None:
        self.program = program
        self._checked = program if ask and isinstance(program, CheckedProgram) else None
        self._known: dict[str, bool] = {}

    def function(self, key: str) -> bool:
        """Whether a function is pure. One that is being looked at counts as pure: recursion adds nothing. So are
        regions."""
        if is_region(key):
            return True
        if key not in self._known:
            known = None if self._checked is None else self._checked.known_pure(key)
            self._known[key] = True
            self._known[key] = self._look(key) if known is None else known
        return self._known[key]

    def _look(self, key: str) -> bool:
        signature = self.program.signature(key)
        if signature.native is not None or not all(s.base in _KNOWN for s in (*signature.params, *signature.results)):
            return False
        try:
            function = self.program.function(key)
        except SacError:
            return False
        return (
            all(self.block(c.block) for c in function.conditions)
            and self.block(function.body)
            and _plain(function.returns)
        )

    def block(self, block: Block) -> bool:
        """Whether all statements of a block are pure."""
        return all(map(self.statement, block.statements))

    def statement(self, s: Stmt) -> bool:
        """Whether a statement is pure, and all it sets has a type of the graph."""
        if not all(b.base in _KNOWN for b in defined(s)):
            return False
        match s:
            case Let():
                return self._rhs(s.rhs)
            case If():
                return self.block(s.then) and self.block(s.otherwise)
            case Loop():
                return self.block(s.condition) and self.block(s.body)
            case Check():
                return _plain((s.value,))
        return False

    def _rhs(self, rhs: Rhs) -> bool:
        match rhs:
            case Call():
                return _plain(rhs.args) and all(map(self.function, rhs.candidates))
            case Prim():
                return _plain(rhs.args)
            case ArrayCons():
                return _plain(rhs.elements)
            case Var() | Const():
                return _plain((rhs,))
            case WithLoop():
                return (
                    bool(rhs.operators)
                    and all(self.block(p.body) for p in rhs.partitions)
                    and all(self.block(o.combine.body) for o in rhs.operators if isinstance(o, Fold))
                )
            case GlobalGet():
                return False


def _plain(atoms: Iterable[Atom]) -> bool:
    return all(a.base in _KNOWN for a in atoms if isinstance(a, Const))


class _Outliner:
    """Rewrites one function. `made`: its regions; `calls`: what calls them."""

    def __init__(self, function: Function, purity: Purity, types: dict[str, Type]) -> None:
        self.subject = function
        self.purity = purity
        self.types = types
        self.made: list[Function] = []
        self.calls: list[Call] = []
        self.binds: dict[str, Bind] = {}
        for slot in function.signature.params:
            self.binds[slot.bind.name] = slot.bind
        for _, variable in (*function.signature.pattern_names, *function.exit_names):
            self.binds.setdefault(variable, Bind(variable, "int", "", NOWHERE))
        self._collect(function.body)

    def _collect(self, block: Block) -> None:
        for s in block.statements:
            for bind in defined(s):
                self.binds[bind.name] = bind
            match s:
                case If():
                    self._collect(s.then)
                    self._collect(s.otherwise)
                case Loop():
                    self._collect(s.condition)
                    self._collect(s.body)
                case Let(rhs=WithLoop() as loop):
                    self._collect_loop(loop)

    def _collect_loop(self, loop: WithLoop) -> None:
        for o in loop.operators:
            for bind in o.params if isinstance(o, Propagate) else o.combine.params if isinstance(o, Fold) else ():
                self.binds[bind.name] = bind
        for p in loop.partitions:
            for bind in (p.index, *(p.scalars or ())):
                self.binds[bind.name] = bind
            self._collect(p.body)

    def function(self) -> Function:
        f = self.subject
        later = {a.name for a in f.returns if isinstance(a, Var)}
        for c in f.conditions:
            if c.on_exit:
                later |= block_free(c.block, (c.value,))
        return replace(f, body=self._block(f.body, later))

    def _block(self, block: Block, later: set[str]) -> Block:
        """The block with its regions as calls; `later`: the variables that are used after it."""
        needed = set(later)  # goes backwards over the statements
        result: list[Stmt] = []
        run: list[Stmt] = []
        after: set[str] = set()
        for s in reversed(block.statements):
            if self.purity.statement(s) and self._representable(s):
                if not run:
                    after = set(needed)
                run.append(s)
            else:
                result += reversed(self._run(run[::-1], after))
                run = []
                result.append(self._inside(s, needed))
            needed -= {b.name for b in defined(s)}
            needed |= free_of(s)
        result += reversed(self._run(run[::-1], after))
        return Block(tuple(reversed(result)))

    def _representable(self, s: Stmt) -> bool:
        return all(name in self.binds and self.binds[name].base in _KNOWN for name in free_of(s))

    def _inside(self, s: Stmt, needed: set[str]) -> Stmt:
        """A statement with effects: the regions of its blocks."""
        match s:
            case If():
                then = needed | {m.then.name for m in s.merges if isinstance(m.then, Var)}
                otherwise = needed | {m.otherwise.name for m in s.merges if isinstance(m.otherwise, Var)}
                return replace(s, then=self._block(s.then, then), otherwise=self._block(s.otherwise, otherwise))
            case Loop():
                tested = {s.test.name} if isinstance(s.test, Var) else set()
                updates = {c.update.name for c in s.carried if isinstance(c.update, Var)}
                around = needed | block_free(s.condition) | block_free(s.body) | updates | tested
                return replace(s, condition=self._block(s.condition, around), body=self._block(s.body, around))
            case Let(rhs=WithLoop() as loop):
                return replace(
                    s,
                    rhs=replace(
                        loop,
                        partitions=tuple(
                            replace(
                                p, body=self._block(p.body, {a.name for a in p.values if isinstance(a, Var)} | needed)
                            )
                            for p in loop.partitions
                        ),
                    ),
                )
            case Let() | Check() | GlobalSet():
                return s

    # ---- one run

    def _run(self, run: Sequence[Stmt], after: set[str]) -> list[Stmt]:
        """A call of a new region in the place of a run of statements, or these, if there is too little work in them."""
        while run and self._trivial(run[0]):  # constants and aliases at the ends stay where they are
            first, *rest = run
            return [first, *self._run(rest, after)]
        results = [b for s in run for b in defined(s) if b.name in after]
        if not results or not self._works(run):
            return list(run)
        body = Block(tuple(run))
        params = [self.binds[name] for name in sorted(block_free(body))]
        signature = self.subject.signature
        key = f"{signature.key}@{len(self.made) + 1}"
        span = run[0].span
        head = Signature(
            key,
            signature.name,
            tuple(map(self._slot, params)),
            tuple(map(self._slot, results)),
            (),
            "",
            None,
            signature.text,
            span,
        )
        self.made.append(Function(head, (), body, tuple(Var(b.name, b.span) for b in results)))
        call = Call(signature.name, (key,), tuple(Var(b.name, b.span) for b in params), tuple(b.base for b in params))
        self.calls.append(call)
        return [Let(tuple(results), call, span)]

    @staticmethod
    def _trivial(s: Stmt) -> bool:
        return isinstance(s, Let) and isinstance(s.rhs, Var | Const)

    def _slot(self, bind: Bind) -> Slot:
        """A parameter or result: of the rank that inference knows."""
        shape = self.types[bind.name].shape if bind.name in self.types else ANY
        if shape.never or shape.rank is None:
            pattern: tuple[Feature, ...] | None = (AnyShape(NOWHERE),)
        else:
            pattern = (AnyExtent(NOWHERE),) * shape.rank if shape.rank else None
        return Slot(bind, pattern, (), bind.base)

    def _works(self, run: Sequence[Stmt]) -> bool:
        """Whether it is worth a function: a loop or with-loop, or two operations on arrays."""
        if any(isinstance(s, Loop) or (isinstance(s, Let) and isinstance(s.rhs, WithLoop)) for s in run):
            return True
        return sum(map(self._operations, run)) > 1

    def _operations(self, s: Stmt) -> int:
        """How many operations on whole arrays there are in a statement. A loop counts for many."""
        match s:
            case Let(rhs=Call(args=args)):
                return int(self._arrays(args) or any(self._array(b.name) for b in s.targets))
            case Let(rhs=Prim(op=op, args=args)) if op not in _LIGHT:
                return int(self._arrays(args))
            case Let(rhs=WithLoop()) | Loop():
                return 2
            case If():
                return sum(map(self._operations, (*s.then.statements, *s.otherwise.statements)))
        return 0

    def _arrays(self, args: Sequence[Atom]) -> bool:
        return any(isinstance(a, Var) and self._array(a.name) for a in args)

    def _array(self, name: str) -> bool:
        found = self.types.get(name)
        return found is None or (found.shape != SCALAR and found.shape.rank != 0)


__all__ = ["OutlinedProgram", "Purity"]
