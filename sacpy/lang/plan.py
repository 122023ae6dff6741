"""The check of a signature's type patterns as a list of simple steps, worked out once per signature.

In: a `Signature`. Out: a `Plan`, whose `entry` steps check the arguments of a call and bind the pattern names, and
whose `exit` steps check its results. The interpreter turns the steps into straight Python code: each is one comparison
or one assignment, in an order in which whatever a step reads has been checked or bound by an earlier one. Steps only
say pass or fail; once one fails, `patterns.match` works out everything that is wrong with the call, and says it in
words.

How to read the steps. `arg` is the position of a parameter (in `entry`) or a result (in `exit`); `rank` and `extents`
below are the *whole* core rank and extents of that value, the element's own `cell` axes included. A name is an int
(extent or rank) or a tuple of ints (shape) as it stands in `Plan.ints` and `Plan.shapes`. A `Length` is a number plus
the present values of some int names; a `Place` is an axis, counted from the front or from the back:

    length(l)  =  l.fixed + sum(value of n for n in l.names)
    axis(p)    =  length(p.length)            if not p.from_back
                  rank - length(p.length)     if p.from_back

    RankIs(arg, l)                fail unless rank == length(l)
    RankAtLeast(arg, l)           fail unless rank >= length(l)
    ExtentIs(arg, p, v)           fail unless extents[axis(p)] == v
    TakeParameter(n, arg)         n := the argument itself: an int for a scalar, a tuple of its elements for a vector
                                  (the body has it under the parameter's own name already)
    BindExtent(n, arg, p)         n := extents[axis(p)]
    CheckExtent(n, arg, p)        fail unless extents[axis(p)] == n
    BindRank(n, arg, l, times)    n := (rank - length(l)) / times; fail if that is negative or no whole number
    BindLength(n, s)              n := len(s), s a shape name
    AtLeast(n, m)                 fail unless n >= m
    BindShape(n, arg, p, q)       n := extents[axis(p) : axis(q)]
    CheckShape(n, arg, p, q)      fail unless extents[axis(p) : axis(q)] == n

For example `double[n] f(double[n,d:shp] a, int[d] b)` has entry

    RankAtLeast(0, 1), RankIs(1, 1), BindExtent("n", 0, 0), BindRank("d", 0, 1), BindShape("shp", 0, 1, d + 1),
    CheckExtent("d", 1, 0)

and exit `RankIs(0, 1), CheckExtent("n", 0, 0)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacpy.lang.ast import AnyExtent, AnyShape, Feature, FixedExtent, NamedExtent, RankSlice, SomeShape
from sacpy.lang.core import Signature, Slot
from sacpy.nodes import Node, Record, field

# ---------------------------------------------------------------- steps


class Length(Node):
    """A number of axes: `fixed` plus the values of the int names in `names`."""

    fixed: int
    names: tuple[str, ...] = ()

    def __add__(self, other: Length) -> Length:
        return Length(self.fixed + other.fixed, self.names + other.names)


class Place(Node):
    """An axis, or the end of a range of axes: `length` axes from the front, or from the back."""

    length: Length
    from_back: bool = False


class RankIs(Node):
    arg: int
    rank: Length


class RankAtLeast(Node):
    arg: int
    rank: Length


class ExtentIs(Node):
    arg: int
    axis: Place
    value: int


class TakeParameter(Node):
    name: str
    arg: int


class BindExtent(Node):
    name: str
    arg: int
    axis: Place


class CheckExtent(Node):
    name: str
    arg: int
    axis: Place


class BindRank(Node):
    name: str
    arg: int
    rest: Length
    times: int


class BindLength(Node):
    name: str
    shape: str


class AtLeast(Node):
    name: str
    minimum: int


class BindShape(Node):
    name: str
    arg: int
    start: Place
    stop: Place


class CheckShape(Node):
    name: str
    arg: int
    start: Place
    stop: Place


Step = (
    RankIs
    | RankAtLeast
    | ExtentIs
    | TakeParameter
    | BindExtent
    | CheckExtent
    | BindRank
    | BindLength
    | AtLeast
    | BindShape
    | CheckShape
)


class Plan(Node):
    """`ints` and `shapes`: the names bound once `entry` has run (parameters among them only where a pattern reads
    them). `exit_ints`, `exit_shapes`: those that `exit` binds in addition. `unsolved`: texts of patterns whose slices
    nothing fixes, an error in the definition; their steps are missing."""

    entry: tuple[Step, ...]
    exit: tuple[Step, ...]
    ints: tuple[str, ...]
    shapes: tuple[str, ...]
    exit_ints: tuple[str, ...]
    exit_shapes: tuple[str, ...]
    unsolved: tuple[str, ...]


# ---------------------------------------------------------------- making a plan


class _State(Record):
    """What is bound so far, and the steps that did it."""

    ints: dict[str, None] = field(default_factory=dict)
    shapes: dict[str, None] = field(default_factory=dict)
    parameters: set[str] = field(default_factory=set)  # these may be negative
    steps: list[Step] = field(default_factory=list)

    def size(self, feature: Feature) -> Length | None:
        """The number of axes a feature stands for, as far as that can be said with the names bound so far."""
        if not isinstance(feature, RankSlice):
            return None if isinstance(feature, AnyShape | SomeShape) else Length(1)
        if isinstance(feature.rank, int):
            return Length(feature.rank)
        return Length(0, (feature.rank,)) if feature.rank in self.ints else None


def least(feature: Feature) -> int:
    """The fewest axes a feature can stand for."""
    match feature:
        case AnyShape():
            return 0
        case RankSlice(rank=int(rank)):
            return rank
        case RankSlice(minimum=minimum):
            return 0 if minimum is None else minimum + 1
    return 1


def is_open(feature: Feature) -> bool:
    """Whether the number of axes a feature stands for is not written in it."""
    return isinstance(feature, AnyShape | SomeShape) or (
        isinstance(feature, RankSlice) and isinstance(feature.rank, str)
    )


def parameter_names(signature: Signature) -> dict[str, int]:
    """The int parameters, scalars and vectors, that patterns name, with their positions."""
    used = names_used((*signature.params, *signature.results))
    return {
        s.bind.source: i
        for i, s in enumerate(signature.params)
        if s.base == "int" and not s.cell and s.bind.source in used
    }


def names_used(slots: Iterable[Slot]) -> set[str]:
    """All names that the slots' patterns mention."""
    names: set[str] = set()
    for slot in slots:
        for feature in slot.pattern or ():
            if isinstance(feature, NamedExtent):
                names.add(feature.name)
            elif isinstance(feature, RankSlice):
                names |= {feature.shape, *([feature.rank] if isinstance(feature.rank, str) else [])}
    return names - {"_"}


def compile_plan(signature: Signature) -> Plan:
    """The steps that check a call of a function with this signature."""
    state = _State()
    _first_checks(signature.params, state)
    for name, arg in parameter_names(signature).items():
        state.steps.append(TakeParameter(name, arg))
        state.parameters.add(name)
        (state.shapes if signature.params[arg].pattern is not None else state.ints)[name] = None
    unsolved = _solve(signature.params, state)
    entry, ints, shapes = tuple(state.steps), tuple(state.ints), tuple(state.shapes)
    state.steps, state.parameters = [], set()
    _first_checks(signature.results, state)
    unsolved += _solve(signature.results, state)
    return Plan(
        entry,
        tuple(state.steps),
        ints,
        shapes,
        tuple(state.ints)[len(ints) :],
        tuple(state.shapes)[len(shapes) :],
        tuple(unsolved),
    )


def _first_checks(slots: Sequence[Slot], state: _State) -> None:
    """The rank checks that need no names, and the element's own axes."""
    for arg, slot in enumerate(slots):
        pattern = slot.pattern or ()
        rank = Length(sum(map(least, pattern)) + len(slot.cell))
        exact = not any(map(is_open, pattern))
        if exact or rank.fixed:
            state.steps.append(RankIs(arg, rank) if exact else RankAtLeast(arg, rank))
        for axis, extent in enumerate(slot.cell):
            if extent is not None:
                state.steps.append(ExtentIs(arg, Place(Length(len(slot.cell) - axis), True), extent))


def _solve(slots: Sequence[Slot], state: _State) -> list[str]:
    """Emits steps until nothing changes; the texts of what is left."""
    todo = [_Pending(arg, slot) for arg, slot in enumerate(slots)]
    changed = True
    while changed:
        changed = False
        for pending in todo:
            changed = pending.advance(state) or changed
    return [pending.slot.text for pending in todo if not pending.done()]


class _Pending:
    """A slot whose features are being worked off, in whatever order the names allow."""

    def __init__(self, arg: int, slot: Slot) -> None:
        self.arg = arg
        self.slot = slot
        self.pattern = slot.pattern or ()
        self.todo = {i for i, feature in enumerate(self.pattern) if not isinstance(feature, AnyExtent)}
        self.rank_checked = not any(map(is_open, self.pattern))

    def done(self) -> bool:
        return self.rank_checked and not self.todo

    def advance(self, state: _State) -> bool:
        """Emits what can be emitted now; whether that was anything."""
        before = len(state.steps), len(self.todo), self.rank_checked
        self._lengths(state)
        if not self.rank_checked:
            self._rank(state)
        for i in sorted(self.todo):
            self._feature(i, state)
        return before != (len(state.steps), len(self.todo), self.rank_checked)

    def _lengths(self, state: _State) -> None:
        """Ranks that follow from the length of a shape already bound."""
        for feature in self.pattern:
            if (
                isinstance(feature, RankSlice)
                and isinstance(feature.rank, str)
                and feature.rank != "_"
                and feature.rank not in state.ints
                and feature.shape in state.shapes
            ):
                state.steps.append(BindLength(feature.rank, feature.shape))
                self._bind_int(feature.rank, state)

    def _rank(self, state: _State) -> None:
        """The rank check, once all slices but one are of known size; it binds the rank of that one."""
        rest, unknown = Length(len(self.slot.cell)), []
        for feature in self.pattern:
            size = state.size(feature)
            if size is None:
                unknown.append(feature)
            else:
                rest += size
        names = {feature.rank if isinstance(feature, RankSlice) else "_" for feature in unknown}
        if not unknown:
            state.steps.append(RankIs(self.arg, rest))
        elif len(unknown) == 1 and names == {"_"}:
            if rest.names:
                state.steps.append(RankAtLeast(self.arg, Length(rest.fixed + least(unknown[0]), rest.names)))
        elif len(names) == 1 and "_" not in names:
            name = str(names.pop())
            state.steps.append(BindRank(name, self.arg, rest, len(unknown)))
            self._bind_int(name, state)
        else:
            return
        self.rank_checked = True
        for feature in self.pattern:
            if (
                isinstance(feature, RankSlice)
                and isinstance(feature.rank, str)
                and (least(feature) > 0 or feature.rank in state.parameters)
            ):
                state.steps.append(AtLeast(feature.rank, least(feature)))

    @staticmethod
    def _bind_int(name: str, state: _State) -> None:
        state.ints[name] = None

    def _place(self, i: int, state: _State) -> Place | None:
        """Where feature `i` starts: counted from the front where all before it have a known size, else from the
        back."""
        front: Length | None = Length(0)
        for feature in self.pattern[:i]:
            size = state.size(feature)
            front = front + size if front is not None and size is not None else None
        if front is not None:
            return Place(front)
        back = Length(len(self.slot.cell))
        for feature in self.pattern[i:]:
            size = state.size(feature)
            if size is None:
                return None
            back += size
        return Place(back, True)

    def _feature(self, i: int, state: _State) -> None:
        feature = self.pattern[i]
        if isinstance(feature, AnyShape | SomeShape):
            self.todo.discard(i)
            return
        place = self._place(i, state)
        if place is None or (place.length.names and not self.rank_checked):
            return
        match feature:
            case FixedExtent(value=value):
                state.steps.append(ExtentIs(self.arg, place, value))
            case NamedExtent(name=name) if name != "_":
                state.steps.append((CheckExtent if name in state.ints else BindExtent)(name, self.arg, place))
                state.ints[name] = None
            case RankSlice(shape=name) if name != "_":
                if not self._slice(i, feature, place, state):
                    return
        self.todo.discard(i)

    def _slice(self, i: int, feature: RankSlice, place: Place, state: _State) -> bool:
        stop = self._place(i + 1, state)
        if stop is None or not self.rank_checked:
            return False
        state.steps.append(
            (CheckShape if feature.shape in state.shapes else BindShape)(feature.shape, self.arg, place, stop)
        )
        state.shapes[feature.shape] = None
        return True
