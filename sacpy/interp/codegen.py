"""Core functions as Python source: statements, calls, and the function around them.

In: a prepared function of core (`prepare`), what is known of its variables (`Facts`) and its `Ownership`. Out:
`Generated`: the source text, and the span of each line. Statements become lines in their order; a pure expression used
once, in the same block, waits until then and becomes part of the line that uses it. Whatever has effects, or updates an
array in place, first makes all waiting expressions be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.interp.codegen_expressions import either
from sacpy.interp.codegen_loops import write_loop
from sacpy.interp.codegen_withloop import WithLoops
from sacpy.interp.emitter import DEEPEST, Ex, Generated, Line, reads
from sacpy.interp.engine import owner
from sacpy.interp.faults import PART
from sacpy.interp.intervals import TESTS
from sacpy.interp.links import Later, Need
from sacpy.interp.ownership import VIEWS, Protocol, moves, protocol
from sacpy.interp.runtime.calls import shown
from sacpy.interp.usage import Usage
from sacpy.interp.versions import SHORT
from sacpy.lang.ast import AnyShape, FixedExtent
from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Bind,
    Block,
    Call,
    Check,
    Function,
    Genarray,
    GlobalGet,
    GlobalSet,
    If,
    Let,
    Loop,
    Prim,
    Signature,
    Slot,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.source import Span
from sacpy.lang.walk import defined, free_of, names, partition_atoms
from sacpy.nodes import replace

BLOCKS = 60  # nested blocks, and nested loops, from which on a statement becomes a Python function of its own
LOOPS = 10  # a loop that may be left in the middle counts for three


class Codegen(WithLoops):
    """Generates one function. `callee` gives, for the certain instance or the candidates of a call, the Python name to
    call, what that stands for, its protocol, and a signature that stands for all of them."""

    callee: Callable[[str | None, tuple[str, ...]], tuple[str, Need, Protocol, Signature]]

    usage: Usage

    def function(self, function: Function, name: str) -> Generated:
        """The whole function; `name`: that of the Python function."""
        signature = function.signature
        rules = protocol(signature)
        params = [self.name(p.bind.name) for p in signature.params]
        flags = [self.flag_name(signature.params[i].bind.name) for i in rules.takes]
        self.entry_checks(function)
        self.conditions(function, on_exit=False)
        self.block(function.body)
        self._return(function)
        return self.generated(owner(shown(signature)), f"def {name}({', '.join(params + flags)}):", signature.span)

    def _return(self, function: Function) -> None:
        signature, rules = function.signature, protocol(function.signature)
        span = function.returns[0].span if function.returns else signature.span
        shapes = [self.shape(a) for a in function.returns]
        results = [self.use(a) for a in function.returns]
        self.flush()
        needs_check = any(not self._plain(slot, shape.rank) for slot, shape in zip(signature.results, shapes))
        if needs_check or any(c.on_exit for c in function.conditions):
            results = [self.local(r, span, "r") for r in results]
            self.exit_checks(function, [r.text for r in results], shapes)
            self.conditions(function, on_exit=True)
        passed = moves(function.returns, ())
        texts, given = [], []
        for i, (result, move) in enumerate(zip(results, passed)):
            flag = "False" if move.source is None else self.ownership.flag(move.source)
            if i in rules.gives:
                texts.append(result.text)
                given.append(flag)
            elif (signature.results[i].pattern is None and not signature.results[i].cell) or flag == "True":
                texts.append(result.text)
            else:
                texts.append(f"_owned({result.text}, {flag})")
        self.emit(f"return {', '.join(texts + given)}" if texts else "return None", span)

    @staticmethod
    def _plain(slot: Slot, rank: int | None) -> bool:
        """Whether a result of this rank certainly has its declared type, with no name to compare."""
        if slot.cell:
            return False
        return rank == 0 if slot.pattern is None else len(slot.pattern) == 1 and isinstance(slot.pattern[0], AnyShape)

    # ---- statements

    def block(self, block: Block) -> None:
        """The statements of a block."""
        for statement in block.statements:
            self.statement(statement)

    def statement(self, s: Stmt) -> None:
        """One statement."""
        nests = isinstance(s, If | Loop) or (isinstance(s, Let) and isinstance(s.rhs, WithLoop))
        if nests and (self.indent >= BLOCKS or (self.loops >= LOOPS and not isinstance(s, If))):
            self._outlined(s)
            return
        match s:
            case Let():
                self._let(s)
            case If():
                self._if(s)
            case Loop():
                write_loop(self, s)
            case GlobalSet(name=name, value=value, span=span):
                flag = self.ownership.atom_flag(value) if self.ownership.dies(value, s) else "False"
                ex = self.use(value)
                self.flush()
                self.emit(f"_globals[{name!r}] = _owned({ex.text}, {flag})", span)
            case Check():
                self._check(s)

    def _outlined(self, s: Stmt) -> None:
        """A statement as a Python function of its own: Python allows only so many nested blocks."""
        span = next((b.span for b in defined(s)), self.lines[-1].span if self.lines else s.span)
        self.flush()
        free = sorted(free_of(s))
        texts = [f"{ex.text} {ex.tuple_text}" for ex in (self.use(Var(name, span)) for name in free)]
        flags = [self.flag_name(name) for name in free if self.ownership.is_dynamic(name)]
        known = {*self.locals.values(), *self.temporaries}
        params = sorted({word for text in texts for word in reads(text) if word in known} | set(flags))
        saved = self.lines, self.indent, self.loops
        self.lines, self.indent, self.loops = [], 1, 0
        self.statement(s)
        self.flush()
        results = [self.name(b.name) for b in defined(s)] + sorted(
            {*flags, *(self.flag_name(b.name) for b in defined(s) if self.ownership.is_dynamic(b.name))}
        )
        self.emit(f"return {', '.join(results)}" if results else "return None", s.span)
        name = f"{self.prefix}{PART}{len(self.parts)}"
        self.parts.append([Line(0, f"def {name}({', '.join(params)}):", s.span), *self.lines])
        self.lines, self.indent, self.loops = saved
        call = f"{name}({', '.join(params)})"
        self.emit(f"{', '.join(results)} = {call}" if results else call, s.span)

    def _check(self, s: Check) -> None:
        ex = self.stable(s.value)
        self.flush()
        rank = self.shape(s.value).rank
        wanted = None if s.pattern is not None else len(s.cell)
        if wanted is not None and rank == wanted and not s.cell:
            return
        if s.pattern is not None and len(s.pattern) == 1 and isinstance(s.pattern[0], AnyShape) and not s.cell:
            return
        fixed = tuple(f.value if isinstance(f, FixedExtent) else None for f in s.pattern or ()) + s.cell
        call = f"_check({ex.text}, {self.constant('later', Later(s))}())"
        if not rank or None in fixed:
            self.emit(call, s.span)
        elif self.shape(s.value).extents != fixed:
            self.emit(f"if {ex.text}.shape != {fixed!r}: {call}", s.span)

    def _let(self, s: Let) -> None:
        rhs, span = s.rhs, s.span
        match rhs:
            case Prim(op="modarray"):
                self._update(s, rhs)
            case Prim(op=op) if op in VIEWS:
                self._view(s, rhs)
            case Prim():
                if rhs.op in TESTS:
                    self.known.test(s.targets[0].name, rhs, self.operand_base(rhs))
                self._pure(s.targets[0], self.primitive(rhs, s.targets[0].base, span), span)
            case ArrayCons():
                if s.targets[0].name in self.usage.virtual:
                    self.virtual[s.targets[0].name] = self.vector_of(
                        tuple(self.stable(a) for a in rhs.elements), s.targets[0].base
                    )
                else:
                    self._pure(s.targets[0], self.array_construction(rhs, s.targets[0].base, span), span)
            case Call():
                self._call(s, rhs)
            case GlobalGet(name=name):
                self.flush()
                self.emit(f"{self.name(s.targets[0].name)} = _global_get({name!r})", span)
            case WithLoop():
                self.flush_for_with(rhs)
                self.with_loop(s, rhs)
            case _:
                self.assign(s.targets, [rhs], self.ownership.live_after[id(s)], span)

    def flush_for_with(self, loop: WithLoop) -> None:
        """What waits is computed before a with-loop, except for short vectors and scalars that are its bounds."""
        bounds = names(
            tuple(a for p in loop.partitions for a in partition_atoms(p))
            + tuple(o.shape for o in loop.operators if isinstance(o, Genarray))
        )
        kept = {
            name: item
            for name, item in self.pending.items()
            if name in bounds and (item[0].parts is not None or item[0].rank == 0)
        }
        self.pending = {name: item for name, item in self.pending.items() if name not in kept}
        self.flush()
        self.pending = kept

    def _pure(self, target: Bind, ex: Ex, span: Span) -> None:
        """A pure expression: it waits where it is used once, in this block."""
        if ex.bounds is not None:
            self.known.bounds[target.name] = ex.bounds
        if self.usage.may_wait(target.name) and ex.depth < DEEPEST and not self.ownership.is_dynamic(target.name):
            self.pending[target.name] = (ex, span)
            return
        name = self.name(target.name)
        if ex.parts is not None and 0 < len(ex.parts) <= SHORT:  # a short vector keeps its components at hand
            ex = self.vector_of(tuple(self.local(p, span, "c") for p in ex.parts), ex.base)
            self.virtual[target.name] = replace(ex, text=name, atomic=True, fresh=False)
        self.emit(f"{name} = {ex.text}", span)
        self.define_flag(target, "True", span)

    def _view(self, s: Let, prim: Prim) -> None:
        """A primitive whose result may be its argument: ownership moves, or is lost for both."""
        target, atom = s.targets[0], prim.args[VIEWS[prim.op]]
        (move,) = moves([atom], self.ownership.live_after[id(s)])
        ex = self.primitive(prim, target.base, s.span)
        if self.ownership.is_dynamic(target.name) or (
            move.cleared is not None and self.ownership.is_dynamic(move.cleared)
        ):
            self.emit(f"{self.name(target.name)} = {ex.text}", s.span)
            self.define_flag(target, "False" if move.source is None else self.ownership.flag(move.source), s.span)
            self.clear_flag(move.cleared, s.span)
        else:
            self._pure(target, ex, s.span)

    def _update(self, s: Let, prim: Prim) -> None:
        """`modarray(a, iv, v)`: in place at the last use of an array that nobody else holds."""
        target, span = s.targets[0], s.span
        array, iv_atom, value_atom = prim.args
        flag = (
            self.ownership.atom_flag(array) if self.ownership.dies(array, s) and array not in prim.args[1:] else "False"
        )
        known = self.shape(array)
        value, iv = self.use(value_atom), self.use(iv_atom)
        source = self.use(array)
        value_rank = self.shape(value_atom).rank if value.rank is None else value.rank
        parts = iv.parts if iv.parts is not None else (iv,) if iv.rank == 0 else self.known_length(iv, iv_atom, span)
        if not value.atomic:
            value = self.local(value, span, "x")
        if parts is not None:
            parts = tuple(self.local(p, span, "i") for p in parts)
        index = f"({''.join(p.text + ', ' for p in parts)})" if parts is not None else self.index_tuple(iv)
        self.flush()
        name = self.name(target.name)
        if not known.rank and not known.min_rank:
            self.emit(
                f"{name} = _updated(_owned({source.text}, {flag}), {index}, "
                f"{value.text}{f', {prim.cell}' if prim.cell else ''})",
                span,
            )
            self.define_flag(target, "True", span)
            return
        copied = f"_copy({source.text})"
        self.emit(
            f"{name} = " + {"True": source.text, "False": copied}.get(flag, f"{source.text} if {flag} else {copied}"),
            span,
        )
        rank = known.rank
        if parts is not None and rank == len(parts) and prim.cell == 0 and value_rank == 0 and rank:
            tests = [p.text for p in parts if not p.natural]
            guard = (
                f"if {' | '.join(tests)} < 0: _bad_index({name}, {', '.join(p.text for p in parts)})" if tests else ""
            )
            if guard:
                self.emit(guard, span)
            self.emit(
                f"{name}[{', '.join(p.text for p in parts)}] = {value.text}", span, (name, tuple(p.text for p in parts))
            )
        else:
            self.emit(f"_set_at({name}, {index}, {value.text}{f', {prim.cell}' if prim.cell else ''})", span)
        self.define_flag(target, "True", span)

    def assign(
        self, targets: Sequence[Bind], atoms: Sequence[Atom], live: frozenset[str] | set[str], span: Span
    ) -> None:
        """Several variables set at the same time, with their flags."""
        pairs: list[tuple[str, str]] = []
        flags: list[tuple[str, str]] = []
        cleared = []
        passed = moves(atoms, live)
        for target, atom, move in zip(targets, atoms, passed):
            pairs.append((self.name(target.name), self.use(atom).text))
            if self.ownership.is_dynamic(target.name):
                flags.append(
                    (self.flag_name(target.name), "False" if move.source is None else self.ownership.flag(move.source))
                )
            cleared.append(move.cleared)
        self.flush()
        self.parallel(pairs + flags, span)
        for name in dict.fromkeys(cleared):
            self.clear_flag(name, span)

    def parallel(self, pairs: list[tuple[str, str]], span: Span) -> None:
        """Assignments that all read the old values; one after the other where that is the same."""
        pairs = [(left, right) for left, right in pairs if left != right]
        ordered: list[tuple[str, str]] = []
        rest = list(pairs)
        while rest:
            free = next((p for p in rest if not any(p[0] in reads(q[1]) for q in rest if q is not p)), None)
            if free is None:
                break
            ordered.append(free)
            rest.remove(free)
        for left, right in ordered:
            self.emit(f"{left} = {right}", span)
        if rest:
            self.emit(f"{', '.join(p[0] for p in rest)} = {', '.join(p[1] for p in rest)}", span)

    def truth(self, atom: Atom, ex: Ex, span: Span) -> str:
        """A condition, checked to be a scalar where that is not known."""
        return ex.text if ex.rank == 0 or self.shape(atom).rank == 0 else self.mark(f"_truth({ex.text})", span)

    # ---- conditionals

    def _if(self, s: If) -> None:
        condition = self.truth(s.condition, self.use(s.condition), s.span)
        live = self.ownership.live_after[id(s)] - {m.target.name for m in s.merges}
        targets = tuple(m.target for m in s.merges)
        then, otherwise = ([m.then for m in s.merges], [m.otherwise for m in s.merges])
        for target, first, second in zip(targets, then, otherwise):
            self.known.merge(target.name, s.condition, first, second)
        with self.known.where(s.condition, True):
            then_lines, then_values = self._branch(s.then, targets, then, live, s.span, probe=True)
        with self.known.where(s.condition, False):
            else_lines, else_values = self._branch(s.otherwise, targets, otherwise, live, s.span, probe=True)
        if then_values is not None and else_values is not None and len(targets) == 1 and not self._moves_flags(s, live):
            yes, no = then_values[0], else_values[0]
            if max(yes.depth, no.depth) < DEEPEST:
                self._pure(targets[0], self._choice(condition, yes, no), s.span)
                return
        self.flush()
        if not then_lines and not else_lines:
            return
        if not then_lines:
            self.emit(f"if not {condition}:", s.span)
            self.lines += else_lines
            return
        self.emit(f"if {condition}:", s.span)
        self.lines += then_lines
        if else_lines:
            self.emit("else:", s.span)
            self.lines += else_lines

    def _moves_flags(self, s: If, live: frozenset[str]) -> bool:
        """Whether a merge sets or clears the flag of an array, for which an expression has no room."""
        passed = [move for m in s.merges for atom in (m.then, m.otherwise) for move in moves([atom], live)]
        return any(self.ownership.is_dynamic(m.target.name) for m in s.merges) or any(
            m.cleared is not None and self.ownership.is_dynamic(m.cleared) for m in passed
        )

    @staticmethod
    def _choice(condition: str, then: Ex, otherwise: Ex) -> Ex:
        depth = 1 + max(then.depth, otherwise.depth)
        rank = then.rank if then.rank == otherwise.rank else None
        if then.base == "bool" and rank == 0:
            if otherwise.text == "False":
                return Ex(f"({condition} and {then.text})", "bool", 0, depth=depth)
            if then.text == "True":
                return Ex(f"({condition} or {otherwise.text})", "bool", 0, depth=depth)
        text = f"({then.text} if {condition} else {otherwise.text})"
        return Ex(text, then.base, rank, depth=depth, bounds=either(then, otherwise))

    def _branch(
        self, block: Block, targets: Sequence[Bind], atoms: list[Atom], live: frozenset[str], span: Span, *, probe: bool
    ) -> tuple[list[Line], list[Ex] | None]:
        """The lines of a branch with its merges; and the merged values where the branch needs no lines but these."""
        saved = self.capture()
        self.block(block)
        values = None
        if probe and not self.lines and len(atoms) == 1:
            waiting = dict(self.pending)
            values = [self.use(atoms[0])]
            values = values if not self.pending else None
            self.pending = waiting
        self.assign(targets, atoms, live, span)
        lines, _ = self.release(saved)
        return lines, values

    # ---- loops

    # ---- calls

    def _call(self, s: Let, call: Call) -> None:
        """A call: direct where the instance is certain, else through a dispatcher; flags follow their protocol."""
        live = self.ownership.live_after[id(s)]
        certain = self.facts.certain.get(id(call))
        function, need, rules, signature = self.callee(certain, self.facts.candidates.get(id(call), call.candidates))
        self.need(function, *need)
        passed = moves(call.args, live)
        flags = [
            "False" if passed[i].source is None else self.ownership.flag(str(passed[i].source)) for i in rules.takes
        ]
        args = [self.use(a) for a in call.args]
        self.flush()
        extra = (
            [f"bases={self.constant('plain', call.bases)}"]
            if signature.native is not None and signature.native.varargs
            else []
        )
        if signature.native is not None and signature.native.varresults:
            by_reference = {p.bind.name for p in signature.params}
            declared = sum(r.bind.name not in by_reference for r in signature.results)
            scanned = s.targets[declared : len(s.targets) - (len(signature.results) - declared)]
            extra.append(f"result_bases={self.constant('plain', tuple(t.base for t in scanned))}")
        text = f"{function}({', '.join([a.text for a in args] + flags + extra)})"
        given = {
            g: self.flag_name(s.targets[g].name) if self.ownership.is_dynamic(s.targets[g].name) else f"_g{g}"
            for g in rules.gives
            if g < len(s.targets)
        }
        left = [self.name(t.name) for t in s.targets] + list(given.values())
        self.emit(f"{', '.join(left)} = {text}" if left else text, s.span)
        for at, target in enumerate(s.targets):
            if at not in given:
                self.define_flag(target, "True", s.span)
        shared = [m.cleared for m in passed if m.cleared is not None and self.ownership.is_dynamic(m.cleared)]
        if given and shared:
            self.emit(
                f"if not ({' and '.join(given.values())}): {' = '.join(map(self.flag_name, dict.fromkeys(shared)))} = "
                "False",
                s.span,
            )
