"""The checks at the head and the end of a function: type patterns and conditions.

In: a signature's `Plan` (`lang/plan`). Out: straight-line Python. A step that fails calls `_violation`, which has
`lang/patterns` work out everything that is wrong with the call. The shape class of the parameters (rank, fixed extents)
is the caller's business: a direct call is only made where inference has proved it, all others go through dispatch.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.interp.codegen_expressions import Expressions
from sacpy.interp.emitter import Ex
from sacpy.interp.intervals import NATURAL
from sacpy.interp.versions import SHORT
from sacpy.lang.core import Atom, Bind, Block, Function, Slot
from sacpy.lang.lattice import is_below
from sacpy.lang.plan import (
    AtLeast,
    BindExtent,
    BindLength,
    BindRank,
    BindShape,
    CheckExtent,
    CheckShape,
    ExtentIs,
    Length,
    Place,
    Plan,
    RankAtLeast,
    RankIs,
    Step,
    TakeParameter,
    compile_plan,
)
from sacpy.lang.source import Span
from sacpy.lang.types import Shape
from sacpy.lang.walk import block_free


class Patterns(Expressions):
    """The part of the generator that checks patterns."""

    plan: Plan
    args: list[str]
    results: list[str]

    def entry_checks(self, function: Function) -> None:
        """Binds and checks the parameters' patterns."""
        signature = function.signature
        self.plan = compile_plan(signature)
        self.args = [self.name(p.bind.name) for p in signature.params]
        fail = f"_violation(_head({signature.key!r}), ({''.join(a + ', ' for a in self.args)}))"
        self._steps(self.plan.entry, signature.params, self.args, fail, signature.span, checked=True)
        self._bind_names(
            function, {*self.plan.ints}, {*self.plan.shapes}, dict(signature.pattern_names), signature.span
        )

    def exit_checks(self, function: Function, results: list[str], shapes: Sequence[Shape]) -> None:
        """Checks the results' patterns; `shapes` is what is known of the results."""
        signature = function.signature
        fail = (
            f"_violation(_head({signature.key!r}), ({''.join(a + ', ' for a in self.args)}), "
            f"({''.join(r + ', ' for r in results)}))"
        )
        self._known = list(shapes)
        self._steps(self.plan.exit, signature.results, results, fail, signature.span, checked=False)
        self._bind_names(
            function, {*self.plan.exit_ints}, {*self.plan.exit_shapes}, dict(function.exit_names), signature.span
        )

    def _bind_names(
        self, function: Function, ints: set[str], shapes: set[str], names: dict[str, str], span: Span
    ) -> None:
        """The names as core variables, where the body or a condition reads them."""
        used = block_free(function.body, function.returns)
        for condition in function.conditions:
            used |= block_free(condition.block, (condition.value,))
        for source, core in names.items():
            if core not in used:
                continue
            if source in ints:
                self.emit(f"{self.name(core)} = {self._int(source)}", span)
                self.known.bounds[core] = NATURAL  # ranks and extents
            elif source in shapes:
                name, shape = self.name(core), self._shape_name(source)
                self.emit(f"{name} = _vector({shape})", span)
                extents = self.facts.shape(core).extents
                if extents is not None and extents[0] is not None and 0 < extents[0] <= SHORT:
                    parts = tuple(Ex(f"{shape}[{k}]", "int", 0, True, bounds=NATURAL) for k in range(extents[0]))
                    self.virtual[core] = Ex(name, "int", 1, True, parts, shape)

    # ---- names of the plan

    def _int(self, name: str) -> str:
        return f"n_{name}"

    def _shape_name(self, name: str) -> str:
        return f"s_{name}"

    def _length(self, length: Length) -> str:
        parts = [self._int(n) for n in length.names]
        return " + ".join([*parts, str(length.fixed)] if length.fixed or not parts else parts)

    def _axis(self, place: Place, shape: str) -> str:
        text = self._length(place.length)
        return f"len({shape}) - ({text})" if place.from_back else text

    def _steps(
        self, steps: Sequence[Step], slots: Sequence[Slot], values: list[str], fail: str, span: Span, *, checked: bool
    ) -> None:
        """Emits the steps. `checked`: the shape class has been checked by the caller."""
        named: dict[int, str] = {}
        for step in steps:
            if checked and self._is_class(step, slots):
                continue
            if not checked and self._is_known(step):
                continue
            self._step(step, slots, values, named, fail, span)

    def _is_class(self, step: Step, slots: Sequence[Slot]) -> bool:
        """Whether dispatch has made sure of this step."""
        if isinstance(step, RankIs | RankAtLeast) and not step.rank.names:
            return True
        return (
            isinstance(step, ExtentIs)
            and not step.axis.from_back
            and not step.axis.length.names
            and not any(not hasattr(f, "value") for f in slots[step.arg].pattern or ())
        )

    def _is_known(self, step: Step) -> bool:
        """Whether inference has proved this step of the results."""
        match step:
            case RankIs(arg=arg, rank=Length(fixed=fixed, names=())):
                return self._known[arg].rank == fixed
            case RankAtLeast(arg=arg, rank=Length(fixed=fixed, names=())):
                return is_below(self._known[arg], Shape(min_rank=fixed))
        return False

    def _shape(self, arg: int, values: list[str], named: dict[int, str], span: Span) -> str:
        if arg not in named:
            named[arg] = self.fresh("s")
            self.emit(f"{named[arg]} = _shape_of({values[arg]})", span)
        return named[arg]

    def _step(
        self, step: Step, slots: Sequence[Slot], values: list[str], named: dict[int, str], fail: str, span: Span
    ) -> None:
        match step:
            case BindLength(name=name, shape=shape):
                self.emit(f"{self._int(name)} = len({self._shape_name(shape)})", span)
                return
            case AtLeast(name=name, minimum=minimum):
                self.emit(f"if {self._int(name)} < {minimum}: {fail}", span)
                return
            case TakeParameter(name=name, arg=arg):
                if slots[arg].pattern is None:
                    self.emit(f"{self._int(name)} = {values[arg]}", span)
                else:
                    self.emit(f"{self._shape_name(name)} = tuple({values[arg]}.tolist())", span)
                return
        shape = self._shape(step.arg, values, named, span)
        match step:
            case RankIs(rank=rank):
                self.emit(f"if len({shape}) != {self._length(rank)}: {fail}", span)
            case RankAtLeast(rank=rank):
                self.emit(f"if len({shape}) < {self._length(rank)}: {fail}", span)
            case ExtentIs(axis=axis, value=value):
                self.emit(f"if {shape}[{self._axis(axis, shape)}] != {value}: {fail}", span)
            case BindExtent(name=name, axis=axis):
                self.emit(f"{self._int(name)} = {shape}[{self._axis(axis, shape)}]", span)
            case CheckExtent(name=name, axis=axis):
                self.emit(f"if {shape}[{self._axis(axis, shape)}] != {self._int(name)}: {fail}", span)
            case BindRank(name=name, rest=rest, times=times):
                left = f"len({shape}) - ({self._length(rest)})" if rest.fixed or rest.names else f"len({shape})"
                if times == 1:
                    self.emit(f"{self._int(name)} = {left}", span)
                    if rest.fixed or rest.names:
                        self.emit(f"if {self._int(name)} < 0: {fail}", span)
                else:
                    self.emit(f"{self._int(name)}, _rest = divmod({left}, {times})", span)
                    self.emit(f"if {self._int(name)} < 0 or _rest: {fail}", span)
            case BindShape(name=name, start=start, stop=stop):
                self.emit(f"{self._shape_name(name)} = {self._slice(shape, start, stop, slots[step.arg])}", span)
            case CheckShape(name=name, start=start, stop=stop):
                self.emit(
                    f"if {self._slice(shape, start, stop, slots[step.arg])} != {self._shape_name(name)}: {fail}", span
                )

    def _slice(self, shape: str, start: Place, stop: Place, slot: Slot) -> str:
        if len(slot.pattern or ()) == 1 and not slot.cell:
            return shape
        return f"{shape}[{self._axis(start, shape)}:{self._axis(stop, shape)}]"

    # ---- conditions

    def conditions(self, function: Function, *, on_exit: bool) -> None:
        """Checks the conditions behind the head."""
        for condition in function.conditions:
            if condition.on_exit == on_exit:
                self.block(condition.block)
                holds = self.truth(condition.value, self.use(condition.value), condition.span)
                self.flush()
                self.emit(
                    f"if not {holds}: _condition_failed(_head({function.signature.key!r}), "
                    f"{condition.text!r}, {on_exit})",
                    condition.span,
                )

    def truth(self, atom: Atom, ex: Ex, span: Span) -> str:
        """A condition, checked to be a scalar; the statement part of the generator defines it."""
        raise NotImplementedError

    def block(self, block: Block) -> None:
        """Emits the statements of a block; the statement part of the generator defines it."""
        raise NotImplementedError

    def assign(
        self, targets: Sequence[Bind], atoms: Sequence[Atom], live: frozenset[str] | set[str], span: Span
    ) -> None:
        """Sets several variables at the same time; the statement part of the generator defines it."""
        raise NotImplementedError
