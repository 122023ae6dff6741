"""Matching the type patterns of a signature against shapes of which more or less is known.

In: the slots of a signature and the `Shape`s found (of arguments, or of results). Out: a `Match`: what the pattern
names are bound to, as far as that is known, and everything that is certainly violated. The checker calls it with partly
known shapes, the interpreter, once a step of the signature's `Plan` has failed, with the actual ones
(`lattice.constant(extents, value)`, with the value of int scalars and vectors, which patterns may name).

Named ranks are solved by propagation: whatever is determined by what is known so far is bound or checked, until nothing
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sacpy.lang.ast import AnyShape, Feature, FixedExtent, NamedExtent, RankSlice, SomeShape
from sacpy.lang.core import Signature, Slot
from sacpy.lang.lattice import at_least, brackets, constant, outer, scalar, without_value
from sacpy.lang.plan import least, parameter_names
from sacpy.lang.types import SCALAR, Shape, known, of_rank
from sacpy.nodes import Node, Record, field

Extents = tuple[int | None, ...]


class Origin(Node):
    """Where a name got its value: the position of a parameter (or result), and whether it is a result."""

    arg: int
    is_result: bool


class Bindings(Record):
    """What pattern names stand for: ints (None where not known) and shapes (None where not even the length is known,
    None for extents that are not)."""

    ints: dict[str, int | None] = field(default_factory=dict)
    shapes: dict[str, Extents | None] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)

    def shape_of(self, name: str) -> Shape:
        """The name as an int value in core: a scalar or a vector."""
        if name in self.ints:
            return scalar(self.ints[name])
        extents = self.shapes.get(name)
        if extents is None:
            return of_rank(1)
        values = [e for e in extents if e is not None]
        return constant((len(values),), values) if len(values) == len(extents) else known((len(extents),))


class Violation(Node):
    """One thing that is wrong: in words (`text`), with the slot, the name that disagrees ("" if none) and where that
    was bound first."""

    arg: int
    is_result: bool
    text: str
    name: str = ""
    origin: Origin | None = None


class Match(Node):
    bindings: Bindings
    violations: tuple[Violation, ...]


def match_arguments(signature: Signature, shapes: Sequence[Shape]) -> Match:
    """Matches the arguments of a call against the parameters' patterns."""
    bindings = Bindings()
    matcher = _Matcher(signature, signature.params, False, bindings)
    for name, arg in parameter_names(signature).items():
        shape = shapes[arg]
        bindings.origins[name] = Origin(arg, False)
        values = None if shape.value is None else tuple(int(v) for v in shape.value)
        if signature.params[arg].pattern is None:
            bindings.ints[name] = values[0] if values else None
        else:
            bindings.shapes[name] = (
                values
                if values is not None
                else (None,) * (shape.extents[0] or 0)
                if shape.rank == 1 and shape.extents and shape.extents[0] is not None
                else None
            )
    return matcher.run(shapes)


def match_results(signature: Signature, shapes: Sequence[Shape], bindings: Bindings) -> Match:
    """Matches the results of a call, with the names that its arguments bound."""
    return _Matcher(signature, signature.results, True, bindings).run(shapes)


def names_of(signature: Signature) -> Bindings:
    """The names inside a function of which nothing but the signature is known: all unknown, shapes of fixed rank
    (`2:shp`) with their length."""
    return match_arguments(signature, declared_shapes(signature.params)).bindings


def instantiate(slot: Slot, bindings: Bindings) -> Shape:
    """The shape a slot declares, with the names' values filled in."""
    if not slot.pattern and not slot.cell:
        return SCALAR
    extents: list[int | None] = []
    minimum, open_ = 0, False
    for feature in slot.pattern or ():
        axes = _axes(feature, bindings)
        if axes is None:
            open_ = True
            minimum += least(feature)
        else:
            extents += axes
    extents += slot.cell
    return at_least(minimum + len(extents)) if open_ else known(tuple(extents))


def declared_shapes(slots: Sequence[Slot]) -> list[Shape]:
    """The shapes that slots declare, names unknown."""
    nothing = Bindings()
    return [instantiate(slot, nothing) for slot in slots]


def _axes(feature: Feature, bindings: Bindings) -> list[int | None] | None:
    """The extents that one feature stands for, None if not even their number is known."""
    match feature:
        case FixedExtent(value=value):
            return [value]
        case NamedExtent(name=name):
            extent = bindings.ints.get(name)
            return [extent if extent is None or extent >= 0 else None]
        case RankSlice(rank=rank, shape=name):
            shape = bindings.shapes.get(name)
            if shape is not None:
                return list(shape)
            count = rank if isinstance(rank, int) else bindings.ints.get(rank)
            return None if count is None else [None] * max(count, 0)
        case AnyShape() | SomeShape():
            return None
    return [None]


class _Matcher:
    """One run over the slots of one side of a signature."""

    def __init__(self, signature: Signature, slots: Sequence[Slot], is_result: bool, bindings: Bindings) -> None:
        self.signature = signature
        self.slots = slots
        self.is_result = is_result
        self.bindings = bindings
        self.violations: dict[tuple[object, ...], Violation] = {}
        self.found: list[Shape] = []
        # whether the number of axes that a feature stands for may follow from what another slot binds
        self.is_open = any(isinstance(f, RankSlice) and isinstance(f.rank, str) for s in slots for f in s.pattern or ())

    def run(self, shapes: Sequence[Shape]) -> Match:
        """Propagates until nothing changes; then all violations are known, and each is reported once."""
        self.found = list(shapes)
        while True:
            before = (dict(self.bindings.ints), dict(self.bindings.shapes), len(self.violations))
            for arg, (slot, shape) in enumerate(zip(self.slots, shapes)):
                if not (shape.never or (shape.rank == 0 and not slot.pattern and not slot.cell)):  # most are scalars
                    self._slot(arg, slot, shape)
            if not self.is_open or before == (self.bindings.ints, self.bindings.shapes, len(self.violations)):
                break
        self._make_complete()
        return Match(self.bindings, tuple(self.violations.values()))

    def _make_complete(self) -> None:
        """Every name gets an entry, unknown ones too."""
        for slot in self.slots:
            for feature in slot.pattern or ():
                match feature:
                    case NamedExtent(name=name) if name != "_":
                        self.bindings.ints.setdefault(name, None)
                    case RankSlice(rank=rank, shape=name):
                        if isinstance(rank, str) and rank != "_":
                            self.bindings.ints.setdefault(rank, None)
                        count = rank if isinstance(rank, int) else self.bindings.ints.get(rank)
                        if name != "_" and self.bindings.shapes.get(name) is None:
                            self.bindings.shapes[name] = None if count is None or count < 0 else (None,) * count

    # ---- one slot

    def _slot(self, arg: int, slot: Slot, shape: Shape) -> None:
        if not self._cell(arg, slot, shape):
            return
        found = outer(shape, len(slot.cell))
        pattern = slot.pattern or ()
        counts = [self._count(feature) for feature in pattern]
        minimum = sum(least(f) if c is None else c for f, c in zip(pattern, counts))
        if found.rank is None or found.extents is None:
            if None not in counts and found.min_rank > minimum:
                self._rank_violation(arg, slot, shape, minimum, exact=True)
            return
        if not self._solve_rank(arg, slot, shape, found.rank, counts):
            return
        extents = found.extents
        for at, (feature, count, start) in enumerate(zip(pattern, counts, _starts(counts, len(extents)))):
            if start is not None and count is not None:
                self._feature(arg, slot, shape, at, feature, extents[start : start + count])

    def _count(self, feature: Feature) -> int | None:
        match feature:
            case AnyShape() | SomeShape():
                return None
            case RankSlice(rank=int(rank)):
                return rank
            case RankSlice(rank=str(name), shape=shape_name):
                count = self.bindings.ints.get(name)
                if count is None and (shape := self.bindings.shapes.get(shape_name)) is not None:
                    count = len(shape)
                return count
        return 1

    def _solve_rank(self, arg: int, slot: Slot, shape: Shape, rank: int, counts: list[int | None]) -> bool:
        """Compares ranks; binds the one rank that is still unknown. False if the rank is wrong."""
        pattern = slot.pattern or ()
        unknown = [f for f, c in zip(pattern, counts) if c is None]
        total = sum(c for c in counts if c is not None)
        for feature, count in zip(pattern, counts):
            if (
                isinstance(feature, RankSlice)
                and isinstance(feature.rank, str)
                and count is not None
                and count < least(feature)
            ):
                return self._minimum_violation(arg, slot, feature.rank, count, least(feature))
        minimum = total + sum(map(least, unknown))
        if rank < minimum or (not unknown and rank != total):
            return self._rank_violation(arg, slot, shape, minimum, exact=not unknown)
        names = {f.rank if isinstance(f, RankSlice) else "_" for f in unknown}
        if len(names) != 1 or (len(unknown) > 1 and "_" in names):
            return True
        left, rest = divmod(rank - total, len(unknown))
        if rest:
            return self._rank_violation(arg, slot, shape, minimum, exact=False)
        for i, count in enumerate(counts):
            counts[i] = left if count is None else count
        name = str(names.pop())
        if name != "_":
            self._int(arg, slot, shape, name, left)
        return True

    def _feature(self, arg: int, slot: Slot, shape: Shape, at: int, feature: Feature, axes: Extents) -> None:
        match feature:
            case FixedExtent(value=value):
                if axes[0] is not None and axes[0] != value:
                    self._add(
                        arg, ("fixed", at), f"{self._subject(arg, slot, shape)}, which needs {value} on axis {at}"
                    )
            case NamedExtent(name=name) if name != "_":
                self._int(arg, slot, shape, name, axes[0])
            case RankSlice(shape=name) if name != "_":
                self._shape(arg, slot, shape, name, axes)

    def _cell(self, arg: int, slot: Slot, shape: Shape) -> bool:
        """The element's own axes."""
        count = len(slot.cell)
        if shape.rank is None or shape.extents is None or count == 0:
            return True
        own = shape.extents[max(0, len(shape.extents) - count) :]
        if len(own) == count and all(a is None or b is None or a == b for a, b in zip(own, slot.cell)):
            return True
        self._add(
            arg,
            ("cell",),
            f"{self._place(arg, slot)} is {slot.base}{brackets(without_value(shape))} underneath, which is no array "
            f"of {_type_name(slot)}",
        )
        return False

    # ---- names

    def _int(self, arg: int, slot: Slot, shape: Shape, name: str, found: int | None) -> None:
        bound = self.bindings.ints.get(name)
        if bound is None:
            if found is not None:
                self.bindings.ints[name] = found
            self.bindings.origins.setdefault(name, Origin(arg, self.is_result))
        elif found is not None and found != bound:
            self._add(
                arg,
                (name,),
                f"{self._subject(arg, slot, shape)}, where {name} is {found}, but {self._bound(name, str(bound))}",
                name,
            )

    def _shape(self, arg: int, slot: Slot, shape: Shape, name: str, found: Extents) -> None:
        bound = self.bindings.shapes.get(name)
        if bound is None:
            self.bindings.shapes[name] = found
            self.bindings.origins.setdefault(name, Origin(arg, self.is_result))
        elif len(bound) != len(found) or any(a != b for a, b in zip(bound, found) if a is not None and b is not None):
            text = (
                f"{self._subject(arg, slot, shape)}, where {name} is {_vector(found)}, but "
                f"{self._bound(name, _vector(bound))}"
            )
            self._add(arg, (name,), self._whole(arg, name) or text, name)
        else:
            self.bindings.shapes[name] = tuple(b if a is None else a for a, b in zip(bound, found))

    # ---- words

    def _rank_violation(self, arg: int, slot: Slot, shape: Shape, wanted: int, *, exact: bool) -> bool:
        ranks = [
            f.rank
            for f in slot.pattern or ()
            if isinstance(f, RankSlice) and isinstance(f.rank, str) and self.bindings.ints.get(f.rank) is not None
        ]
        why = "".join(f" ({self._bound(name, str(self.bindings.ints[name]))})" for name in dict.fromkeys(ranks))
        text = f"{self._subject(arg, slot, shape)}, which needs rank {'' if exact else 'at least '}{wanted}{why}"
        self._add(arg, ("rank",), (ranks and self._whole(arg, ranks[0])) or text, ranks[0] if ranks else "")
        return False

    def _whole(self, arg: int, name: str) -> str:
        """The words for the commonest case: two arguments whose whole shape is one slice of the same names."""
        origin = self.bindings.origins.get(name)
        if origin is None or origin.is_result or self.is_result:
            return ""
        slots, other = self.slots, origin.arg
        slices = [_whole_slice(slots[i]) for i in (other, arg)]
        if slices[0] is None or slices[0] != slices[1]:
            return ""
        types = [found_type(slots[i], self.found[i]) for i in (other, arg)]
        return (
            f"{place(slots, other)} and {place(slots, arg)} must have the same shape, but they are {types[0]} and "
            f"{types[1]}"
        )

    def _minimum_violation(self, arg: int, slot: Slot, name: str, found: int, minimum: int) -> bool:
        self._add(
            arg,
            ("minimum", name),
            f"{self._place(arg, slot)} takes {slot.text}, which needs {name} to be at least {minimum}, but "
            f"{self._bound(name, str(found))}",
            name,
        )
        return False

    def _add(self, arg: int, what: tuple[object, ...], text: str, name: str = "") -> None:
        key = (position(self.slots, arg), *what)
        self.violations.setdefault(key, Violation(arg, self.is_result, text, name, self.bindings.origins.get(name)))

    def _place(self, arg: int, slot: Slot) -> str:
        return place(self.slots, arg, is_result=self.is_result)

    def _subject(self, arg: int, slot: Slot, shape: Shape) -> str:
        verb = "is declared as" if self.is_result else "takes"
        return f"{self._place(arg, slot)} is {found_type(slot, shape)} but {verb} {slot.text}"

    def _bound(self, name: str, value: str) -> str:
        origin = self.bindings.origins.get(name)
        if origin is None:
            return f"{name} is {value}"
        slots = self.signature.results if origin.is_result else self.signature.params
        if not origin.is_result and slots[origin.arg].bind.source == name:
            return f"the argument {name} is {value}"
        return f"{name} is {value} in {place(slots, origin.arg, is_result=origin.is_result)}"


def _whole_slice(slot: Slot) -> tuple[int | str, str] | None:
    """The names of a pattern that is a single slice."""
    if slot.pattern is None or len(slot.pattern) != 1 or not isinstance(slot.pattern[0], RankSlice):
        return None
    return slot.pattern[0].rank, slot.pattern[0].shape


def _starts(counts: Sequence[int | None], rank: int) -> list[int | None]:
    """Where each feature starts: from the front up to the first feature of unknown length, from the back behind the
    last one."""
    starts: list[int | None] = []
    at: int | None = 0
    for count in counts:
        starts.append(at)
        at = None if at is None or count is None else at + count
    end = rank
    for i in range(len(counts) - 1, -1, -1):
        count = counts[i]
        if count is None:
            break
        end -= count
        starts[i] = end
    return starts


def position(slots: Sequence[Slot], arg: int) -> int:
    """The programmer's position (from 1) of a slot: the fields of a struct count as one."""
    return len(
        dict.fromkeys(
            s.bind.source.split(".")[0] if "." in s.bind.source else (i, s.bind.source)
            for i, s in enumerate(slots[: arg + 1])
        )
    )


def place(slots: Sequence[Slot], arg: int, *, is_result: bool = False) -> str:
    """A slot in words: "argument 2 (b)", "result 1", "the result"."""
    if is_result:
        return "the result" if len(slots) == 1 else f"result {position(slots, arg)}"
    name = slots[arg].bind.source.split(".")[0]
    return f"argument {position(slots, arg)}" + (f" ({name})" if name else "")


def _type_name(slot: Slot) -> str:
    return slot.text.split("[")[0].strip() or slot.base


def found_type(slot: Slot, shape: Shape) -> str:
    """The type found, in the programmer's terms: his name of the type with the outer axes found."""
    return _type_name(slot) + brackets(outer(shape, len(slot.cell)))


def _vector(extents: Extents) -> str:
    return f"[{','.join('.' if e is None else str(e) for e in extents)}]"


__all__ = [
    "Bindings",
    "Match",
    "Origin",
    "Violation",
    "declared_shapes",
    "found_type",
    "instantiate",
    "match_arguments",
    "match_results",
    "names_of",
    "place",
    "position",
]
