"""What inference knows of a program's with-loops before it runs.

In: a function of core with its inference. Out: with-loops with their partitions, and of a partition's index space what
is known: its rank, whether it may be zero-based and dense, all of it where every bound is known. `Found` lists the
partitions that a call comes to, through the functions that it calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from sacpy.lang.ast import Pragma
from sacpy.lang.core import (
    Atom,
    Block,
    Call,
    Const,
    Function,
    Genarray,
    If,
    Let,
    Loop,
    Modarray,
    Partition,
    Prim,
    Program,
    Var,
    WithLoop,
)
from sacpy.lang.dispatch import Certain
from sacpy.lang.infer import Inference, infer
from sacpy.lang.lattice import constant, int_vector
from sacpy.lang.source import Span
from sacpy.lang.types import Shape
from sacpy.nodes import Node
from sacpy.withloop.spaces import IndexSpace, Vector

DEEPEST = 6  # calls within calls


class Found(Node):
    """A partition of a with-loop: the function that it stands in, its place, the pragmas of the with-loop (`shared`)
    and its own, and its index space; None where bounds are known only when it runs."""

    function: str
    span: Span
    shared: tuple[Pragma, ...]
    own: tuple[Pragma, ...]
    space: IndexSpace | None


def partitions(program: Program, function: Function, arguments: Sequence[Shape] | None, most: int) -> list[Found]:
    """The partitions of the with-loops that a call of the function with such arguments (None: those it declares) comes
    to, the first `most`."""
    return list(islice(_partitions(program, function, arguments, DEEPEST, set()), most))


def _partitions(
    program: Program,
    function: Function,
    arguments: Sequence[Shape] | None,
    depth: int,
    seen: set[tuple[str, tuple[Shape, ...]]],
) -> Iterator[Found]:
    at = function.signature.key, tuple(arguments or ())
    if at in seen or not depth:
        return
    seen.add(at)
    known = infer(function, arguments, program)
    for let in lets(function.body):
        if isinstance(let.rhs, WithLoop):
            name = function.signature.name.removeprefix("_MAIN::")
            for partition in let.rhs.partitions:
                yield Found(
                    name, partition.span, let.rhs.pragmas, partition.pragmas, index_space(known, let.rhs, partition)
                )
        elif isinstance(let.rhs, Call):
            instance = known.resolution(let.rhs)
            if isinstance(instance, Certain) and instance.signature.native is None:
                shapes = [_shape(known, a) for a in let.rhs.args]
                yield from _partitions(program, program.function(instance.signature.key), shapes, depth - 1, seen)


def lets(block: Block) -> Iterator[Let]:
    """The assignments of a block and of the blocks inside; with-loops before those in their bodies."""
    for s in block.statements:
        match s:
            case Let():
                yield s
                if isinstance(s.rhs, WithLoop):
                    for partition in s.rhs.partitions:
                        yield from lets(partition.body)
            case If():
                yield from lets(s.then)
                yield from lets(s.otherwise)
            case Loop():
                yield from lets(s.condition)
                yield from lets(s.body)


# ---------------------------------------------------------------- index spaces


class Outline(Node):
    """What is known of an index space whatever its bounds turn out to be. `rank` None: unknown. `zero_based` is false
    only where it is known to be, and so is `dense`, which tells of each axis, or of none."""

    rank: int | None
    zero_based: bool
    dense: tuple[bool, ...]
    growth: int = 0


def rows_of(partition: Partition) -> list[tuple[Atom, int, Atom]]:
    """How many elements the shortest row has, how much rows grow, and how many there are, of a partition over the
    elements of such rows, whose bounds depend on positions; of the blocks that they come in before, if they do."""
    number = partition.scalars[0].name if partition.scalars is not None and len(partition.scalars) == 1 else ""
    asked: dict[str, tuple[Atom, int, Atom]] = {}
    left: dict[str, str] = {}
    for s in partition.body.statements:
        if isinstance(s, Let) and isinstance(s.rhs, Prim) and s.rhs.op in ("row", "column"):
            of, least, growth, rows = s.rhs.args
            if isinstance(of, Var) and isinstance(growth, Const):
                asked[of.name] = least, int(growth.value[0]), rows
                if s.rhs.op == "column":
                    left[of.name] = s.targets[0].name
    found: list[tuple[Atom, int, Atom]] = []
    while number in asked and not (found and found[-1][1]):
        found.append(asked[number])
        number = left.get(number, "")
    return found


def outline(known: Inference, loop: WithLoop, partition: Partition) -> Outline:
    """The outline of a partition's index space."""
    rows = rows_of(partition)
    if rows:
        return Outline(len(rows) + 1, True, (), rows[-1][1])
    lower = None if partition.lower is None else int_vector(_shape(known, partition.lower))
    zero_based = (
        partition.lower_inclusive
        if partition.lower is None
        else lower is None or all(n + (not partition.lower_inclusive) == 0 for n in lower)
    )
    step = (1,) if partition.step is None else int_vector(_shape(known, partition.step))
    width = (1,) if partition.width is None else int_vector(_shape(known, partition.width))
    rank = _rank(known, loop, partition)
    if step is None or width is None or rank is None:
        return Outline(rank, zero_based, ())
    steps, widths = (v * (rank if len(v) == 1 else 1) for v in (step, width))
    return Outline(
        rank, zero_based, tuple(t <= w for t, w in zip(steps, widths)) if len(steps) == len(widths) == rank else ()
    )


def _rank(known: Inference, loop: WithLoop, partition: Partition) -> int | None:
    """The length of the index, where it is known."""
    if partition.scalars is not None:
        return len(partition.scalars)
    index = known.types.get(partition.index.name)
    if (
        index is not None
        and index.shape.extents is not None
        and len(index.shape.extents) == 1
        and index.shape.extents[0] is not None
    ):
        return index.shape.extents[0]
    vectors = [
        _shape(known, a) for a in (partition.lower, partition.upper, partition.step, partition.width) if a is not None
    ]
    lengths = [s.extents[0] for s in vectors if s.rank == 1 and s.extents is not None and s.extents[0] is not None]
    if lengths:
        return lengths[0]
    extents = _extents(known, loop)
    return None if extents is None else len(extents)


def index_space(known: Inference, loop: WithLoop, partition: Partition) -> IndexSpace | None:
    """The index space of a partition, if inference knows all of its bounds."""
    rows = rows_of(partition)
    if rows:
        shortest, growth, _ = rows[-1]
        sizes = [_shape(known, a).value for a in (shortest, *(count for *_, count in rows))]
        least, *counts = (int(v[0]) if v else -1 for v in sizes)
        if min(least, *counts) < 0:
            return None
        return IndexSpace.rows((*counts, least - min(0, growth) * max(0, counts[-1] - 1)), growth)
    length = _rank(known, loop, partition)
    extents = _extents(known, loop)
    if length is None or (partition.upper is None and extents is None):
        return None
    lower = _vector(known, partition.lower, length, 0, 0 if partition.lower_inclusive else 1)
    upper = (
        _vector(known, partition.upper, length, 0, 1 if partition.upper_inclusive else 0)
        if partition.upper is not None
        else tuple(e - (not partition.upper_inclusive) for e in extents or ())[:length]
    )
    step, width = _vector(known, partition.step, length, 1, 0), _vector(known, partition.width, length, 1, 0)
    if (
        lower is None
        or upper is None
        or step is None
        or width is None
        or len(upper) != length
        or min((*step, *width), default=1) < 1
    ):
        return None
    return IndexSpace.of(lower, upper, step, width)


def _vector(known: Inference, atom: Atom | None, length: int, default: int, offset: int) -> Vector | None:
    """A bound, step or width; a scalar spread over all axes."""
    value = (default,) * length if atom is None else int_vector(_shape(known, atom))
    if value is None:
        return None
    if atom is not None and _shape(known, atom).rank == 0:
        value = value * length
    return tuple(v + offset for v in value) if len(value) == length else None


def _extents(known: Inference, loop: WithLoop) -> Vector | None:
    """The legal indices of the results."""
    for operator in loop.operators:
        if isinstance(operator, Genarray):
            return int_vector(_shape(known, operator.shape))
        if isinstance(operator, Modarray):
            extents = _shape(known, operator.array).extents
            if extents is not None and None not in extents:
                return tuple(e for e in extents if e is not None)
    return None


def _shape(known: Inference, atom: Atom) -> Shape:
    if isinstance(atom, Const):
        return constant(
            atom.shape,
            None
            if any(isinstance(v, bytes) for v in atom.value)
            else [v for v in atom.value if not isinstance(v, bytes)],
        )
    type = known.types.get(atom.name)
    return type.shape if type is not None else Shape()
