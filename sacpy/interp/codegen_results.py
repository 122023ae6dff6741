"""The results of with-loops: arrays that are begun and filled, accumulators of folds.

In: the operators of a with-loop. Out: a `Sink` for each, lines that make what it writes to before the loops, and lines
that give its result behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacpy.interp.links import Later
from sacpy.lang.core import Atom, Bind, Fold, Genarray, Let, Modarray, Operator, Propagate, Var, WithLoop
from sacpy.lang.source import Span
from sacpy.lang.walk import block_free, bodies_free, names, operator_atoms
from sacpy.nodes import Record

if TYPE_CHECKING:
    from sacpy.interp.codegen_withloop import WithLoops


class Sink(Record):
    """Where the values of one operator go. `flat`: scalars go to this memory; else `cells` is a `Cells` or
    `Updates`."""

    operator: Operator
    targets: tuple[Bind, ...]
    result: str = ""
    flat: str = ""
    cells: str = ""
    value: int = 0
    known_cell: bool = False


def sinks_of(gen: WithLoops, s: Let, loop: WithLoop, frame: str, length: int | None) -> list[Sink]:
    """Where the values of each operator go; lines that make what they go to."""
    sinks, at, value_at = [], 0, 0
    for operator in loop.operators:
        width = (
            len(operator.neutrals)
            if isinstance(operator, Fold)
            else len(operator.params)
            if isinstance(operator, Propagate)
            else 1
        )
        sink = Sink(operator, s.targets[at : at + width], value=value_at)
        values = [p.values[value_at] for p in loop.partitions] if width else []
        match operator:
            case Genarray():
                begin_genarray(gen, sink, operator, values, frame, length, s.span)
            case Modarray():
                begin_modarray(gen, s, loop, sink, operator, values, frame, length)
        sinks.append(sink)
        at += width
        value_at += width
    return sinks


def begin_genarray(
    gen: WithLoops, sink: Sink, operator: Genarray, values: list[Atom], frame: str, length: int | None, span: Span
) -> None:
    """Makes the array of a genarray, or what collects its cells."""
    base = sink.targets[0].base
    default = None if operator.default is None else gen.stable(operator.default)
    cells = [*values, *([operator.default] if operator.default is not None else [])]
    sink.result = gen.name(sink.targets[0].name)
    text = "None" if default is None else default.text
    if length and cells and all(gen.shape(v).rank == 0 for v in cells):
        sink.flat = gen.fresh("flat")
        gen.emit(f"{sink.result} = _new({frame}, {base!r}, {text})", span)
        gen.emit(f"{sink.flat} = _flat({sink.result})", span)
        return
    sink.cells = gen.fresh("cells")
    cell = cell_shape(gen, values, sink, length)
    sink.known_cell = default is not None or cell != "None"
    gen.emit(f"{sink.cells} = _Cells({frame}, {base!r}, {text}, {default is not None}, {cell})", span)


def cell_shape(gen: WithLoops, values: list[Atom], sink: Sink, length: int | None) -> str:
    """The shape of the cells, where inference knows it."""
    for value in values:
        extents = gen.shape(value).extents
        if extents is not None and None not in extents:
            return repr(tuple(extents))
    result = gen.facts.shape(sink.targets[0].name).extents
    if result is not None and length is not None and None not in result[length:]:
        return repr(tuple(result[length:]))
    return "None"


def begin_modarray(
    gen: WithLoops,
    s: Let,
    loop: WithLoop,
    sink: Sink,
    operator: Modarray,
    values: list[Atom],
    frame: str,
    length: int | None,
) -> None:
    """Makes the array of a modarray: the source itself where nobody else holds it."""
    array = gen.use(operator.array)
    others = [a for o in loop.operators if o is not operator for a in operator_atoms(o)]
    free = (
        isinstance(operator.array, Var)
        and operator.array.name not in bodies_free(loop) | names(tuple(others))
        and gen.ownership.dies(operator.array, s)
    )
    flag = gen.ownership.atom_flag(operator.array) if free else "False"
    copied = f"_copy({array.text})"
    sink.result = gen.name(sink.targets[0].name)
    gen.emit(
        f"{sink.result} = " + {"True": array.text, "False": copied}.get(flag, f"{array.text} if {flag} else {copied}"),
        s.span,
    )
    rank = gen.shape(operator.array).rank
    if length and rank == length and all(gen.shape(v).rank == 0 for v in values):
        sink.flat = gen.fresh("flat")
        gen.emit(f"{sink.flat} = _flat({sink.result})", s.span)
        return
    sink.cells = gen.fresh("cells")
    cell_axes = 0
    if length is not None:
        frame_axes = str(length)
    else:
        frame_axes = runtime_length(gen, loop) if is_short(loop) else f"len({frame})"
    gen.emit(f"{sink.cells} = _Updates({sink.result}, {frame_axes}, {cell_axes})", s.span)
    gen.emit(f"{frame} = {sink.cells}.frame", s.span)


def is_short(loop: WithLoop) -> bool:
    """Whether bounds, not the array, tell the length of the index."""
    return any(p.lower is not None or p.upper is not None for p in loop.partitions)


def runtime_length(gen: WithLoops, loop: WithLoop) -> str:
    """The text of the length of an index, which a bound tells when it runs."""
    bounds = [a for p in loop.partitions for a in (p.lower, p.upper) if a is not None]
    return f"len(_to_index({gen.stable(bounds[0]).text}))"


def begin_threads(gen: WithLoops, loop: WithLoop, live: frozenset[str] | set[str], span: Span) -> None:
    """Sets what the first body finds of the values that are threaded through all."""
    params = [b for o in loop.operators if isinstance(o, Propagate) for b in o.params]
    initial = [a for o in loop.operators if isinstance(o, Propagate) for a in o.initial]
    if params:
        gen.assign(params, initial, live, span)


def start_fold(gen: WithLoops, sink: Sink, loop: WithLoop, live: frozenset[str] | set[str], span: Span) -> None:
    """Sets the accumulators of a fold."""
    assert isinstance(sink.operator, Fold)
    neutrals = sink.operator.neutrals
    gen.assign(
        sink.operator.combine.params[: len(neutrals)],
        neutrals,
        live if len(loop.partitions) == 1 else live | names(neutrals),
        span,
    )


def combine(gen: WithLoops, fold: Fold, values: Sequence[str], live: frozenset[str] | set[str], span: Span) -> None:
    """One application of a fold's function to the accumulators and some values."""
    count = len(fold.neutrals)
    for param, value in zip(fold.combine.params[count:], values):
        if gen.name(param.name) != value:
            gen.emit(f"{gen.name(param.name)} = {value}", span)
        gen.define_flag(param, "False", span)
    gen.block(fold.combine.body)
    gen.assign(fold.combine.params[:count], fold.combine.results, live, span)
    gen.flush()


def end_fold(gen: WithLoops, sink: Sink, at: int, count: int, live: frozenset[str] | set[str], span: Span) -> None:
    """Combines the partition's value with those of the partitions before."""
    fold = sink.operator
    assert isinstance(fold, Fold)
    if count == 1:
        return
    accumulators = [gen.name(b.name) for b in fold.combine.params[: len(fold.neutrals)]]
    totals = [f"{a}_total" for a in accumulators]
    if at:
        combine(gen, fold, totals, live, span)
    gen.emit(f"{', '.join(totals)} = {', '.join(accumulators)}", span)


def finish(gen: WithLoops, s: Let, loop: WithLoop, sinks: list[Sink], count: int) -> None:
    """Binds the results of a with-loop behind its loops."""
    for sink in sinks:
        if sink.cells:
            unknown_cell(gen, sink, loop, s.span)
            gen.emit(f"{sink.result} = {gen.mark(f'{sink.cells}.finish()', s.span)}", s.span)
        if isinstance(sink.operator, Fold):
            for target, accumulator in zip(sink.targets, sink.operator.combine.params):
                gen.emit(f"{gen.name(target.name)} = {gen.name(accumulator.name)}", s.span)
                gen.define_flag(target, gen.ownership.flag(accumulator.name) if count == 1 else "False", s.span)
        elif isinstance(sink.operator, Propagate):
            for target, param in zip(sink.targets, sink.operator.params):
                gen.emit(f"{gen.name(target.name)} = {gen.name(param.name)}", s.span)
                gen.define_flag(target, gen.ownership.flag(param.name), s.span)
        else:
            gen.define_flag(sink.targets[0], "True", s.span)


def unknown_cell(gen: WithLoops, sink: Sink, loop: WithLoop, span: Span) -> None:
    """After a genarray that computed no cell: their shape, from inference with the values at hand."""
    if not isinstance(sink.operator, Genarray) or sink.known_cell:
        return
    recipes, used = [], set()
    for p in loop.partitions:
        recipes.append((p.body, p.values[sink.value], p.index.name, tuple(b.name for b in p.scalars or ())))
        used |= block_free(p.body, (p.values[sink.value],)) - {p.index.name, *(b.name for b in p.scalars or ())}
    values = [(name, gen.use(Var(name, span)).text) for name in sorted(used)]
    bases = {name: gen.facts.base(name) for name, _ in values}
    texts = ", ".join(f"{name!r}: {text}" for name, text in values)
    recipe = gen.constant("later", Later((tuple(recipes), bases)))
    gen.emit(
        f"if {sink.cells}.cell is None: {sink.cells}.cell_from({recipe}(), {{{texts}}}, _inferrer())",
        span,
    )
