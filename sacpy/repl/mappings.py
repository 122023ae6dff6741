"""The with-loops that an expression comes to, and how each would be laid out on a GPU.

In: a function of core, and the shapes of its arguments. Out: `Found` index spaces, those of the functions that it calls included as far as inference knows which; and drawings of their mappings: by the pragma that the program gives, else by a strategy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from sacpy.lang.core import Atom, Block, Call, Const, Function, Genarray, If, Let, Loop, Modarray, Partition, Program, WithLoop
from sacpy.lang.dispatch import Certain
from sacpy.lang.infer import Inference, infer
from sacpy.lang.lattice import constant, int_vector
from sacpy.lang.source import Span
from sacpy.lang.types import Shape
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pictures import steps
from sacpy.withloop.pragmas import GpuKernel, parse_all
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.strategies import choose

MOST = 8  # with-loops that are looked at
DEEPEST = 6  # calls within calls


@dataclass(frozen=True, slots=True)
class Found:
    """A partition of a with-loop: the function that it stands in, its place, its pragmas, and its index space; None where bounds are known only when it runs."""

    function: str
    span: Span
    pragmas: tuple[str, ...]
    space: IndexSpace | None


def partitions(program: Program, function: Function, arguments: Sequence[Shape]) -> list[Found]:
    """The partitions of the with-loops that a call of the function with such arguments comes to, the first few."""
    return list(islice(_partitions(program, function, arguments, DEEPEST, set()), MOST))


def _partitions(program: Program, function: Function, arguments: Sequence[Shape], depth: int, seen: set[tuple[str, tuple[Shape, ...]]]) -> Iterator[Found]:
    at = function.signature.key, tuple(arguments)
    if at in seen or not depth:
        return
    seen.add(at)
    known = infer(function, arguments, program)
    for let in _lets(function.body):
        if isinstance(let.rhs, WithLoop):
            name = function.signature.name.removeprefix("_MAIN::")
            for partition in let.rhs.partitions:
                yield Found(name, partition.span, tuple(p.text for p in (*let.rhs.pragmas, *partition.pragmas)), _space(known, let.rhs, partition))
        elif isinstance(let.rhs, Call):
            instance = known.resolution(let.rhs)
            if isinstance(instance, Certain) and instance.signature.native is None:
                shapes = [_shape(known, a) for a in let.rhs.args]
                yield from _partitions(program, program.function(instance.signature.key), shapes, depth - 1, seen)


def _lets(block: Block) -> Iterator[Let]:
    """The assignments of a block and of the blocks inside; with-loops before those in their bodies."""
    for s in block.statements:
        match s:
            case Let():
                yield s
                if isinstance(s.rhs, WithLoop):
                    for partition in s.rhs.partitions:
                        yield from _lets(partition.body)
            case If():
                yield from _lets(s.then)
                yield from _lets(s.otherwise)
            case Loop():
                yield from _lets(s.condition)
                yield from _lets(s.body)


# ---------------------------------------------------------------- index spaces


def _shape(known: Inference, atom: Atom) -> Shape:
    if isinstance(atom, Const):
        return constant(atom.shape, None if any(isinstance(v, bytes) for v in atom.value) else [v for v in atom.value if not isinstance(v, bytes)])
    type = known.types.get(atom.name)
    return type.shape if type is not None else Shape()


def _space(known: Inference, loop: WithLoop, partition: Partition) -> IndexSpace | None:
    """The index space of a partition, if inference knows all of its bounds."""
    extents = _extents(known, loop)
    vectors = [_shape(known, a) for a in (partition.lower, partition.upper, partition.step, partition.width) if a is not None]
    lengths = {s.extents[0] for s in vectors if s.rank == 1 and s.extents is not None} | ({len(extents)} if extents is not None else set())
    if partition.scalars is not None:
        lengths.add(len(partition.scalars))
    lengths.discard(None)
    length = next(iter(lengths), None)
    if length is None or (partition.upper is None and extents is None):
        return None
    lower = _vector(known, partition.lower, length, 0, 0 if partition.lower_inclusive else 1)
    upper = _vector(known, partition.upper, length, 0, 1 if partition.upper_inclusive else 0) if partition.upper is not None else tuple(e - (not partition.upper_inclusive) for e in extents or ())[:length]
    step, width = _vector(known, partition.step, length, 1, 0), _vector(known, partition.width, length, 1, 0)
    if lower is None or upper is None or step is None or width is None or len(upper) != length:
        return None
    return IndexSpace.of(lower, upper, step, width)


def _vector(known: Inference, atom: Atom | None, length: int, default: int, offset: int) -> tuple[int, ...] | None:
    """A bound, step or width; a scalar spread over all axes."""
    value = (default,) * length if atom is None else int_vector(_shape(known, atom))
    if value is None:
        return None
    if atom is not None and _shape(known, atom).rank == 0:
        value = value * length
    return tuple(v + offset for v in value) if len(value) == length else None


def _extents(known: Inference, loop: WithLoop) -> tuple[int, ...] | None:
    """The legal indices of the results."""
    for operator in loop.operators:
        if isinstance(operator, Genarray):
            return int_vector(_shape(known, operator.shape))
        if isinstance(operator, Modarray):
            extents = _shape(known, operator.array).extents
            if extents is not None and None not in extents:
                return tuple(e for e in extents if e is not None)
    return None


# ---------------------------------------------------------------- drawings


@dataclass(frozen=True, slots=True)
class LaidOut:
    """The mapping of a partition, and why it is this one."""

    mapping: Mapping
    reasons: tuple[str, ...]


def laid_out(found: Found, strategy: str, device: DeviceLimits) -> LaidOut | str:
    """The mapping of a partition by its pragma, else by the strategy; or why it has none."""
    if found.space is None:
        return "its bounds are known only when it runs"
    try:
        own = [p.chain for p in parse_all(found.pragmas) if isinstance(p, GpuKernel)]
        chain, reasons = (own[0], ("the program's pragma",)) if own else _chosen(found.space, strategy, device)
        return LaidOut(chain.map(found.space, device), reasons)
    except MappingError as error:
        return error.message


def drawing(found: Found, strategy: str, device: DeviceLimits, columns: int) -> str:
    """A partition: where it stands, its index space, the mapping with the reasons for it, and what each step makes of the space."""
    place = f"{found.function}, line {found.span.line}"
    made = laid_out(found, strategy, device)
    if isinstance(made, str):
        return f"{place}: {made}"
    mapping = made.mapping
    lines = [f"{place}: {mapping.space}", f"{mapping.chain}", *(f"  {reason}" for reason in made.reasons)]
    lines.append(f"grid {mapping.grid}, block {mapping.block}: {mapping.threads} threads, {mapping.idle} of them idle")
    text = steps(mapping.chain, mapping.space, columns)
    return "\n".join([*lines, "", *(line if len(line) <= columns else f"{line[: columns - 4]} ..." for line in text.split("\n"))])


def _chosen(space: IndexSpace, strategy: str, device: DeviceLimits) -> tuple[Chain, tuple[str, ...]]:
    choice = choose(strategy, space, device)
    return choice.chain, choice.reasons
