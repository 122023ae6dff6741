"""With-loops as nested Python loops.

In: a with-loop of core. Out: lines that work out the index sets, loop over each partition in row-major order, and
collect the results of all operators. Scalar results of a genarray or modarray go straight into the memory of the result
array; array cells go through `Cells` and `Updates` (`runtime/withloops`). Of overlapping partitions the earlier one
wins, by a mask that exists only where boxes really overlap. An index vector exists as an array only where the body uses
it as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from sacpy.interp.codegen_patterns import Patterns
from sacpy.interp.emitter import Ex
from sacpy.interp.ownership import fold_values, thread_values
from sacpy.interp.runtime.withloops import Recipe
from sacpy.interp.usage import Usage
from sacpy.lang.core import (
    Atom,
    Bind,
    Fold,
    Genarray,
    Let,
    Loop,
    Modarray,
    Operator,
    Partition,
    Propagate,
    Var,
    WithLoop,
)
from sacpy.lang.source import Span
from sacpy.lang.walk import block_free, bodies_free, names, operator_atoms
from sacpy.nodes import Node, Record, field

if TYPE_CHECKING:
    from sacpy.interp.engine import Turn

FEW = 64  # cells of a with-loop which nobody asks about once it has begun
ROW = 16  # cells of the only axis after which somebody does
NESTED = 12  # Python allows 20 nested loops; deeper index spaces go through one loop over tuples


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


class Box(Record):
    """The index set of one partition: the length of the index where known, bounds and loop ranges as texts."""

    length: int | None
    low: list[str] = field(default_factory=list)
    high: list[str] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    name: str = ""

    @property
    def outermost(self) -> str:
        """The range of the first loop: an empty one if any axis is, for there may be two thousand million rows."""
        inner = [r if not r.startswith("range(") else f"{low} < {high}" for low, high, r in self._inner]
        return f"{self.ranges[0]} if {' and '.join(inner)} else ()" if inner else self.ranges[0]

    @property
    def _inner(self) -> Iterator[tuple[str, str, str]]:
        """Bounds and ranges of the other axes, without those that are known to have indices."""
        for low, high, range_ in list(zip(self.low, self.high, self.ranges))[1:]:
            if not (low.isdigit() and high.isdigit() and range_.startswith("range(") and int(low) < int(high)):
                yield low, high, range_


class Asked(Node):
    """What the code of a loop asks on its way (`engine.Turn`): its name, and the text of the values that it wants."""

    name: str
    values: str


def nobody(statement: Let | Loop) -> None:
    """Without an engine there is nobody to ask."""


class WithLoops(Patterns):
    """The part of the generator that makes with-loops. `turn`: what the code of a loop may ask, and the variables whose
    values it wants; None where it need not ask."""

    usage: Usage
    turn: Callable[[Let | Loop], tuple[Turn, list[str]] | None] = staticmethod(nobody)

    # ---- leaving a loop in the middle

    def asked(self, s: Let | Loop) -> Asked | None:
        """Whom the code of a statement asks whether the rest goes on elsewhere."""
        found = self.turn(s)
        if found is None:
            return None
        turn, wanted = found
        # pure: computed again if asked for
        waiting = {name: self.pending[name][0] for name in wanted if name in self.pending}
        values = [waiting[name] if name in waiting else self.use(Var(name, s.span)) for name in wanted]
        return Asked(self.constant(turn), f"({''.join(v.text + ', ' for v in values)})")

    def left(self, targets: Sequence[Bind], span: Span) -> None:
        """What is done where somebody else has done the rest: the values are there, and are nobody else's."""
        self.emit("except _Left as _left:", span)
        if targets:
            self.emit(f" {''.join(self.name(t.name) + ', ' for t in targets)} = _left.values", span)
        self.indent += 1
        for target in targets:
            self.define_flag(target, "True", span)
        self.indent -= 1
        if not targets:
            self.emit(" pass", span)

    def with_loop(self, s: Let, loop: WithLoop) -> None:
        """The whole with-loop: operators, index sets, loops, results."""
        asked = self.asked(s)
        if asked is None:
            self._computed(s, loop, None)
            return
        self.emit("try:", s.span)
        self.indent += 1
        self.loops += 1
        self._computed(s, loop, asked)
        self.loops -= 1
        self.indent -= 1
        self.left(s.targets, s.span)

    def _computed(self, s: Let, loop: WithLoop, asked: Asked | None) -> None:
        frame, length = self._frame(loop, s.span)
        sinks = self._sinks(s, loop, frame, length)
        live = self.ownership.live_after[id(s)] | bodies_free(loop)
        self._threads(loop, live, s.span)
        boxes = [self._box(p, frame, length) for p in loop.partitions]
        cells = self._begin(boxes, asked, s.span) if asked is not None else ""
        arrays = any(isinstance(o, Genarray | Modarray) for o in loop.operators)
        mask = ""
        if arrays and len(boxes) > 1:
            mask = self.fresh("covered")
            pairs = ", ".join(f"({self._low(b)}, {self._high(b)})" for b in boxes)
            self.emit(f"{mask} = _overlapping(({pairs}), {frame})", s.span)
        folds = [sink for sink in sinks if isinstance(sink.operator, Fold)]
        repeatable = asked if all(map(self._keeps_its_input, sinks)) else None
        for at, (partition, box) in enumerate(zip(loop.partitions, boxes)):
            for sink in folds:
                self._start_fold(sink, loop, live, s.span)
            self._partition(loop, partition, box, sinks, frame, mask, live, repeatable, cells)
            for sink in folds:
                self._end_fold(sink, at, len(boxes), live, s.span)
        if not boxes:
            for sink in folds:
                self._start_fold(sink, loop, live, s.span)
        self._finish(s, loop, sinks, len(boxes))

    def _begin(self, boxes: Sequence[Box], asked: Asked, span: Span) -> str:
        """Asks before the first cell; the local variable with the number of cells."""
        cells = self.fresh("cells")
        sizes = [
            " * ".join(f"len({r})" for r in b.ranges) or "1" if b.length is not None else f"_count({b.name}[2])"
            for b in boxes
        ]
        self.emit(f"{cells} = {' + '.join(sizes) or '0'}", span)
        self.emit(f"if {cells} >= {asked.name}.first: {asked.name}.begin({cells}, {asked.values})", span)
        return cells

    def _keeps_its_input(self, sink: Sink) -> bool:
        """Whether cells that have been computed leave all that was there before as it was, so that the with-loop can be
        computed anew."""
        match sink.operator:
            case Genarray() | Modarray():  # an array that is changed where it lies is not read by the cells
                return True
            case Fold(neutrals=neutrals):
                return all(self.shape(n).rank == 0 for n in neutrals)
        return False

    # ---- operators

    def _frame(self, loop: WithLoop, span: Span) -> tuple[str, int | None]:
        """The local variable with the index space of the array results ("None" without one), and its length where
        known."""
        for operator in loop.operators:
            if isinstance(operator, Genarray):
                known = self.shape(operator.shape)
                ex = self.use(operator.shape)
                frame = self.fresh("frame")
                length = (
                    len(ex.parts)
                    if ex.parts is not None
                    else known.extents[0]
                    if known.extents is not None and len(known.extents) == 1
                    else 1
                    if known.rank == 0
                    else None
                )
                self.emit(f"{frame} = {self.mark(f'_extents({self.index_tuple(ex)})', span)}", span)
                return frame, length
        for operator in loop.operators:
            if isinstance(operator, Modarray):
                frame = self.fresh("frame")
                ex = self.use(operator.array)
                length = self._index_length(loop)
                rank = self.shape(operator.array).rank
                if length is None and not any(p.lower or p.upper for p in loop.partitions):
                    length = rank
                self.emit(
                    f"{frame} = _shape_of({ex.text}){'' if length is None or length == rank else f'[:{length}]'}", span
                )
                return frame, length
        return "None", self._index_length(loop)

    def _index_length(self, loop: WithLoop) -> int | None:
        lengths = {self._partition_length(p) for p in loop.partitions}
        return next(iter(lengths)) if len(lengths) == 1 else None

    def _partition_length(self, p: Partition) -> int | None:
        if p.scalars is not None:
            return len(p.scalars)
        for atom in (p.lower, p.upper, p.step, p.width):
            if atom is not None:
                shape = self.shape(atom)
                vector = self.peek(atom)
                if vector is not None and vector.parts is not None:
                    return len(vector.parts)
                if shape.extents is not None and len(shape.extents) == 1 and shape.extents[0] is not None:
                    return shape.extents[0]
        return None

    def _sinks(self, s: Let, loop: WithLoop, frame: str, length: int | None) -> list[Sink]:
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
                    self._genarray(sink, operator, values, frame, length, s.span)
                case Modarray():
                    self._modarray(s, loop, sink, operator, values, frame, length)
            sinks.append(sink)
            at += width
            value_at += width
        return sinks

    def _genarray(
        self, sink: Sink, operator: Genarray, values: list[Atom], frame: str, length: int | None, span: Span
    ) -> None:
        base = sink.targets[0].base
        default = None if operator.default is None else self.stable(operator.default)
        cells = [*values, *([operator.default] if operator.default is not None else [])]
        sink.result = self.name(sink.targets[0].name)
        text = "None" if default is None else default.text
        if length and cells and all(self.shape(v).rank == 0 for v in cells):
            sink.flat = self.fresh("flat")
            self.emit(f"{sink.result} = _new({frame}, {base!r}, {text})", span)
            self.emit(f"{sink.flat} = _flat({sink.result})", span)
            return
        sink.cells = self.fresh("cells")
        cell = self._cell_shape(values, sink, length)
        sink.known_cell = default is not None or cell != "None"
        self.emit(f"{sink.cells} = _Cells({frame}, {base!r}, {text}, {default is not None}, {cell})", span)

    def _cell_shape(self, values: list[Atom], sink: Sink, length: int | None) -> str:
        """The shape of the cells, where inference knows it."""
        for value in values:
            extents = self.shape(value).extents
            if extents is not None and None not in extents:
                return repr(tuple(extents))
        result = self.facts.shape(sink.targets[0].name).extents
        if result is not None and length is not None and None not in result[length:]:
            return repr(tuple(result[length:]))
        return "None"

    def _modarray(
        self, s: Let, loop: WithLoop, sink: Sink, operator: Modarray, values: list[Atom], frame: str, length: int | None
    ) -> None:
        array = self.use(operator.array)
        others = [a for o in loop.operators if o is not operator for a in operator_atoms(o)]
        free = (
            isinstance(operator.array, Var)
            and operator.array.name not in bodies_free(loop) | names(tuple(others))
            and self.ownership.dies(operator.array, s)
        )
        flag = self.ownership.atom_flag(operator.array) if free else "False"
        copied = f"_copy({array.text})"
        sink.result = self.name(sink.targets[0].name)
        self.emit(
            f"{sink.result} = "
            + {"True": array.text, "False": copied}.get(flag, f"{array.text} if {flag} else {copied}"),
            s.span,
        )
        rank = self.shape(operator.array).rank
        if length and rank == length and all(self.shape(v).rank == 0 for v in values):
            sink.flat = self.fresh("flat")
            self.emit(f"{sink.flat} = _flat({sink.result})", s.span)
            return
        sink.cells = self.fresh("cells")
        cell_axes = 0
        if length is not None:
            frame_axes = str(length)
        else:
            frame_axes = self._runtime_length(loop) if self._short(loop) else f"len({frame})"
        self.emit(f"{sink.cells} = _Updates({sink.result}, {frame_axes}, {cell_axes})", s.span)
        self.emit(f"{frame} = {sink.cells}.frame", s.span)

    @staticmethod
    def _short(loop: WithLoop) -> bool:
        """Whether bounds, not the array, tell the length of the index."""
        return any(p.lower is not None or p.upper is not None for p in loop.partitions)

    def _runtime_length(self, loop: WithLoop) -> str:
        bounds = [a for p in loop.partitions for a in (p.lower, p.upper) if a is not None]
        return f"len(_to_index({self.stable(bounds[0]).text}))"

    def _threads(self, loop: WithLoop, live: frozenset[str] | set[str], span: Span) -> None:
        params = [b for o in loop.operators if isinstance(o, Propagate) for b in o.params]
        initial = [a for o in loop.operators if isinstance(o, Propagate) for a in o.initial]
        if params:
            self.assign(params, initial, live, span)

    def _start_fold(self, sink: Sink, loop: WithLoop, live: frozenset[str] | set[str], span: Span) -> None:
        assert isinstance(sink.operator, Fold)
        neutrals = sink.operator.neutrals
        self.assign(
            sink.operator.combine.params[: len(neutrals)],
            neutrals,
            live if len(loop.partitions) == 1 else live | names(neutrals),
            span,
        )

    def _combine(self, fold: Fold, values: Sequence[str], live: frozenset[str] | set[str], span: Span) -> None:
        """One application of a fold's function to the accumulators and some values."""
        count = len(fold.neutrals)
        for param, value in zip(fold.combine.params[count:], values):
            if self.name(param.name) != value:
                self.emit(f"{self.name(param.name)} = {value}", span)
            self.define_flag(param, "False", span)
        self.block(fold.combine.body)
        self.assign(fold.combine.params[:count], fold.combine.results, live, span)
        self.flush()

    def _end_fold(self, sink: Sink, at: int, count: int, live: frozenset[str] | set[str], span: Span) -> None:
        """Combines the partition's value with those of the partitions before."""
        fold = sink.operator
        assert isinstance(fold, Fold)
        if count == 1:
            return
        accumulators = [self.name(b.name) for b in fold.combine.params[: len(fold.neutrals)]]
        totals = [f"{a}_total" for a in accumulators]
        if at:
            self._combine(fold, totals, live, span)
        self.emit(f"{', '.join(totals)} = {', '.join(accumulators)}", span)

    def _finish(self, s: Let, loop: WithLoop, sinks: list[Sink], count: int) -> None:
        for sink in sinks:
            if sink.cells:
                self._unknown_cell(sink, loop, s.span)
                self.emit(f"{sink.result} = {self.mark(f'{sink.cells}.finish()', s.span)}", s.span)
            if isinstance(sink.operator, Fold):
                for target, accumulator in zip(sink.targets, sink.operator.combine.params):
                    self.emit(f"{self.name(target.name)} = {self.name(accumulator.name)}", s.span)
                    self.define_flag(target, self.ownership.flag(accumulator.name) if count == 1 else "False", s.span)
            elif isinstance(sink.operator, Propagate):
                for target, param in zip(sink.targets, sink.operator.params):
                    self.emit(f"{self.name(target.name)} = {self.name(param.name)}", s.span)
                    self.define_flag(target, self.ownership.flag(param.name), s.span)
            else:
                self.define_flag(sink.targets[0], "True", s.span)

    def _unknown_cell(self, sink: Sink, loop: WithLoop, span: Span) -> None:
        """After a genarray that computed no cell: their shape, from inference with the values at hand."""
        if not isinstance(sink.operator, Genarray) or sink.known_cell:
            return
        recipes, used = [], set()
        for p in loop.partitions:
            recipes.append(Recipe(p.body, p.values[sink.value], p.index.name, tuple(b.name for b in p.scalars or ())))
            used |= block_free(p.body, (p.values[sink.value],)) - {p.index.name, *(b.name for b in p.scalars or ())}
        values = [(name, self.use(Var(name, span)).text) for name in sorted(used)]
        bases = {name: self.facts.base(name) for name, _ in values}
        texts = ", ".join(f"{name!r}: {text}" for name, text in values)
        self.emit(
            f"if {sink.cells}.cell is None: {sink.cells}.cell_from({self.constant((tuple(recipes), bases))}, "
            f"{{{texts}}}, _inferrer)",
            span,
        )

    # ---- index sets

    def _low(self, box: Box) -> str:
        return f"({''.join(t + ', ' for t in box.low)})" if box.length is not None else f"{box.name}[0]"

    def _high(self, box: Box) -> str:
        return f"({''.join(t + ', ' for t in box.high)})" if box.length is not None else f"{box.name}[1]"

    def _box(self, p: Partition, frame: str, frame_length: int | None) -> Box:
        length = self._partition_length(p)
        length = frame_length if length is None else length
        box = Box(length)
        shift_low, shift_high = 0 if p.lower_inclusive else 1, 1 if p.upper_inclusive else 0
        if p.upper is None:
            shift_high -= 1  # the largest legal index is one less than the extent
        if length is None:
            self._open_box(box, p, frame, shift_low, shift_high)
            return box
        box.low = self._bounds(p.lower, length, "lower bound", shift_low, ["0"] * length, p.span)
        extents = [f"{frame}[{k}]" for k in range(length)]
        box.high = self._bounds(p.upper, length, "upper bound", shift_high, extents, p.span)
        if p.step is None and p.width is None:
            box.ranges = [
                f"range({high})" if low == "0" else f"range({low}, {high})" for low, high in zip(box.low, box.high)
            ]
        else:
            ones = ["1"] * length
            steps, widths = (
                self._bounds(p.step, length, "step", 0, ones, p.span),
                self._bounds(p.width, length, "width", 0, ones, p.span),
            )
            for spec in zip(box.low, box.high, steps, widths):
                name = self.fresh("axis")
                self.emit(f"{name} = {self.mark('_axis(' + ', '.join(spec) + ')', p.span)}", p.span)
                box.ranges.append(name)
        self._check_box(box, frame, frame_length, p)
        return box

    def _check_box(self, box: Box, frame: str, frame_length: int | None, p: Partition) -> None:
        """The test that a partition stays inside the result, where that is not plain to see."""
        if frame == "None":
            return
        if frame_length != box.length:
            refuse = self.mark(f"_bound({frame}, {box.length}, 'shape')", p.span)
            self.emit(f"if len({frame}) != {box.length}: {refuse}", p.span)
        tests = [f"{low} < 0" for low in box.low if not low.isdigit()]
        tests += [f"{high} > {frame}[{k}]" for k, high in enumerate(box.high) if not high.startswith(f"{frame}[")]
        if tests:
            self.emit(
                f"if {' or '.join(tests)}: "
                f"{self.mark(f'_check_box({self._low(box)}, {self._high(box)}, {frame})', p.span)}",
                p.span,
            )

    def _open_box(self, box: Box, p: Partition, frame: str, shift_low: int, shift_high: int) -> None:
        """An index set whose rank is known only at run time."""
        box.name = self.fresh("box")
        texts = [
            f"({'None' if a is None else self.index_tuple(self.stable(a))}, {shift})"
            for a, shift in ((p.lower, shift_low), (p.upper, shift_high), (p.step, 0), (p.width, 0))
        ]
        self.emit(f"{box.name} = {self.mark('_axes(' + ', '.join(texts) + f', {frame})', p.span)}", p.span)
        if frame != "None":
            self.emit(self.mark(f"_check_box({box.name}[0], {box.name}[1], {frame})", p.span), p.span)

    def _bounds(
        self, atom: Atom | None, length: int, what: str, shift: int, default: list[str], span: Span
    ) -> list[str]:
        """A bound, one text for each axis."""
        if atom is None:
            return [self._shifted(t, shift) for t in default]
        ex = self.use(atom)
        if ex.parts is not None and len(ex.parts) == length:
            parts = [self.local(p, span, "b") for p in ex.parts]
        elif ex.rank == 0 or self.shape(atom).rank == 0:
            parts = [self.local(ex, span, "b")] * length
        else:
            names_ = [self.fresh("b") for _ in range(length)]
            if length:
                self.emit(f"{', '.join(names_)}, = {self.mark(f'_bound({ex.text}, {length}, {what!r})', span)}", span)
            parts = [Ex(n, "int", 0, True) for n in names_]
        texts = []
        for part in parts:
            text = self._shifted(part.text, shift)
            if not text.strip("()-").isalnum() and shift:
                name = self.fresh("b")
                self.emit(f"{name} = {text}", span)
                text = name
            texts.append(text)
        return texts

    @staticmethod
    def _shifted(text: str, shift: int) -> str:
        if not shift:
            return text
        if text.lstrip("-(").rstrip(")").isdigit():
            value = int(text.strip("()")) + shift
            return str(value) if value >= 0 else f"({value})"
        return f"{text} {'+' if shift > 0 else '-'} {abs(shift)}"

    # ---- loops

    def _partition(
        self,
        loop: WithLoop,
        p: Partition,
        box: Box,
        sinks: list[Sink],
        frame: str,
        mask: str,
        live: frozenset[str] | set[str],
        asked: Asked | None,
        cells: str,
    ) -> None:
        """The loops over one index set, with the body inside."""
        outer, loops = self.indent, self.loops
        stops = [s.operator for s in sinks if isinstance(s.operator, Fold) and s.operator.stop is not None]
        index = (
            [self.name(b.name) for b in p.scalars]
            if p.scalars is not None
            else [self.fresh("i") for _ in range(box.length or 0)]
        )
        arrays = any(s.flat or s.cells for s in sinks)
        at = self._open_loops(p, box, index, frame, arrays, asked, cells, single=bool(stops))
        self._index_vector(p, box, index)
        saved = self.lines, self.pending
        self.lines, self.pending = [], {}
        skip = bool(mask) and not any(isinstance(s.operator, Fold | Propagate) for s in sinks)
        if skip:
            self.emit(f"if {mask} is not None:", p.span)
            self.emit(f"    if {mask}[{at}]: continue", p.span)
            self.emit(f"    {mask}[{at}] = 1", p.span)
        self.block(p.body)
        self._store(loop, p, sinks, at, mask if not skip else "", live)
        for fold in stops:
            self._stop(fold, p.span)
        body = self.lines
        self.lines, self.pending = saved
        self.lines += body
        if not body:
            self.emit("pass", p.span)
        self.indent, self.loops = outer, loops

    def _open_loops(
        self,
        p: Partition,
        box: Box,
        index: list[str],
        frame: str,
        arrays: bool,
        asked: Asked | None,
        cells: str,
        *,
        single: bool,
    ) -> str:
        """Opens the loops; the text of the cell's position in row-major order."""
        if box.length is None:
            vector = self.fresh("index")
            self.emit(f"for {vector} in _product(*{box.name}[2]):", p.span)
            self.indent += 1
            self.loops += 1
            index.append(vector)
            return self._position(f"_offset({vector}, {frame})", p.span) if arrays else ""
        if single or self.loops + box.length > NESTED or box.length == 0:
            self.emit(
                f"for {''.join(f'{i}, ' for i in index) or '_none'} in _product({', '.join(box.ranges)}):", p.span
            )
            self.indent += 1
            self.loops += 1
            if not arrays:
                return ""
            vector = "".join(f"{i}, " for i in index)
            return self._position(f"_offset(({vector}), {frame})", p.span)
        at = ""
        for k, (name, range_) in enumerate(zip(index, box.ranges)):
            if k == 0 and asked is not None:
                self._asking_loop(p, name, box, asked, cells)
            else:
                self.emit(f"for {name} in {box.outermost if k == 0 else range_}:", p.span)
                self.indent += 1
            self.loops += 1
            at = name if not at else f"{at} + {name}"
            if arrays and k < box.length - 1:
                row = self.fresh("row")
                self.emit(f"{row} = {f'({at})' if '+' in at else at} * {frame}[{k + 1}]", p.span)
                at = row
        return at

    def _asking_loop(self, p: Partition, name: str, box: Box, asked: Asked, cells: str) -> None:
        """Opens the outermost loop, which asks after some rows."""
        ranges = box.ranges
        axis, ahead, row = self.fresh("axis"), self.fresh("ahead"), self.fresh("row")
        self.emit(f"{axis} = {box.outermost}", p.span)
        at = ROW if len(ranges) == 1 else 1
        self.emit(f"{ahead} = {axis}[{at}] if len({axis}) > {at} and {cells} >= {FEW} else None", p.span)
        self.emit(f"for {name} in {axis}:", p.span)
        self.indent += 1
        self.emit(f"if {name} == {ahead}:", p.span)
        done = self.fresh("done")
        self.emit(f" {done} = {axis}.index({name})", p.span)
        self.emit(f" {row} = {' * '.join(f'len({r})' for r in ranges[1:]) or '1'}", p.span)
        self.emit(
            f" {ahead} = {done} + 1 + {asked.name}({done} * {row}, (len({axis}) - {done}) * {row}, {asked.values}) // "
            f"({row} or 1)",
            p.span,
        )
        self.emit(f" {ahead} = {axis}[{ahead}] if {ahead} < len({axis}) else None", p.span)

    def _position(self, text: str, span: Span) -> str:
        name = self.fresh("at")
        self.emit(f"{name} = {text}", span)
        return name

    def _index_vector(self, p: Partition, box: Box, index: list[str]) -> None:
        """The index vector: by component; as an array only if the body uses it as a whole more than once."""
        core = p.index.name
        if box.length is None:
            ex = Ex(f"_vector({index[-1]})", "int", 1, False, None, index[-1])
        else:
            parts = tuple(Ex(i, "int", 0, True, natural=low.isdigit()) for i, low in zip(index, box.low))
            for bind, part in zip(p.scalars or (), parts):
                self.virtual[bind.name] = part
            ex = self.vector_of(parts, "int")
        if self.usage.counts[core] - self.usage.as_index[core] > 1:
            name = self.name(core)
            self.emit(f"{name} = {ex.text}", p.span)
            ex = Ex(name, "int", 1, True, ex.parts, ex.tuple_text)
        self.virtual[core] = ex

    def _store(
        self, loop: WithLoop, p: Partition, sinks: list[Sink], at: str, mask: str, live: frozenset[str] | set[str]
    ) -> None:
        """Hands the body's values to the operators."""
        k = 0
        stores, folds = [], []
        for sink in sinks:
            match sink.operator:
                case Genarray() | Modarray():
                    value = self._value(p, k, len(sinks)).text
                    stores.append(f"{sink.flat}[{at}] = {value}" if sink.flat else f"{sink.cells}.put({at}, {value})")
                    k += 1
                case Fold(neutrals=neutrals):
                    mine = range(k, k + len(neutrals))
                    folds.append((sink.operator, [self._value(p, one, len(sinks)).text for one in mine]))
                    k += len(neutrals)
                case Propagate(params=params):  # its values are taken behind the others'
                    k += len(params)
        self.flush()
        if mask and stores:
            self.emit(f"if {mask} is None or not {mask}[{at}]:", p.span)
            for store in [*stores, f"if {mask} is not None: {mask}[{at}] = 1"]:
                self.emit("    " + store, p.span)
        else:
            for store in stores:
                self.emit(store, p.span)
        for fold, texts in folds:
            self._combine(fold, texts, live, p.span)
        threads = thread_values(loop, p.values)
        if threads:
            threaded = [b for o in loop.operators if isinstance(o, Propagate) for b in o.params]
            self.assign(threaded, threads, self._kept(loop, p, live), p.span)

    def _kept(self, loop: WithLoop, p: Partition, live: frozenset[str] | set[str]) -> set[str]:
        return set(live) | fold_values(loop, p.values)

    def _value(self, p: Partition, k: int, operators: int) -> Ex:
        """A value of the body; in a local variable where several operators might reorder it."""
        ex = self.use(p.values[k])
        return ex if operators == 1 and len(p.values) == 1 else self.local(ex, p.span, "v")

    def _stop(self, fold: Fold, span: Span) -> None:
        assert fold.stop is not None
        accumulators = [self.name(b.name) for b in fold.combine.params]
        stops = [self.use(a).text for a in fold.stop]
        count = len(fold.neutrals)
        self.emit(f"if _same(({', '.join(accumulators[:count])},), ({', '.join(stops)},)): break", span)


__all__ = ["WithLoops"]
