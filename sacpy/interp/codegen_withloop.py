"""With-loops as nested Python loops.

In: a with-loop of core. Out: lines that work out the index sets, loop over each partition in row-major order, and
collect the results of all operators. Scalar results of a genarray or modarray go straight into the memory of the result
array; array cells go through `Cells` and `Updates` (`runtime/withloops`). Of overlapping partitions the earlier one
wins, by a mask that exists only where boxes really overlap. An index vector exists as an array only where the body uses
it as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sacpy.interp.codegen_indexsets import Box, box_of, highest, lowest
from sacpy.interp.codegen_patterns import Patterns
from sacpy.interp.codegen_results import Sink, begin_threads, combine, end_fold, finish, sinks_of, start_fold
from sacpy.interp.emitter import Ex
from sacpy.interp.engine import FEW, Asking
from sacpy.interp.links import Later
from sacpy.interp.ownership import fold_values, thread_values
from sacpy.interp.usage import Usage
from sacpy.lang.core import Bind, Fold, Genarray, Let, Loop, Modarray, Partition, Propagate, Var, WithLoop
from sacpy.lang.source import Span
from sacpy.lang.walk import bodies_free
from sacpy.nodes import Node

ROW = 16  # cells of the only axis after which somebody does
NESTED = 12  # Python allows 20 nested loops; deeper index spaces go through one loop over tuples


class Asked(Node):
    """What the code of a loop asks on its way (`engine.Turn`): its name, and the text of the values that it wants."""

    name: str
    values: str


def nobody(statement: Let | Loop) -> None:
    """Without an engine no code asks."""


class WithLoops(Patterns):
    """The part of the generator that makes with-loops. `asks`: the variables whose values the engine wants to see where
    the code of a loop asks it; None where that need not ask."""

    usage: Usage
    asks: Callable[[Let | Loop], list[str] | None] = staticmethod(nobody)

    # ---- leaving a loop in the middle

    def asked(self, s: Let | Loop) -> Asked | None:
        """Whom the code of a statement asks whether the rest goes on elsewhere."""
        wanted = self.asks(s)
        if wanted is None:
            return None
        # pure: computed again if asked for
        waiting = {name: self.pending[name][0] for name in wanted if name in self.pending}
        values = [waiting[name] if name in waiting else self.use(Var(name, s.span)) for name in wanted]
        bases = {name: self.facts.base(name) for name in wanted}
        return Asked(
            self.constant("turn", Asking(Later(s), isinstance(s, Loop), bases)),
            f"({''.join(v.text + ', ' for v in values)})",
        )

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
        sinks = sinks_of(self, s, loop, frame, length)
        live = self.ownership.live_after[id(s)] | bodies_free(loop)
        begin_threads(self, loop, live, s.span)
        boxes = [box_of(self, p, frame, length) for p in loop.partitions]
        cells = self._begin(boxes, asked, s.span) if asked is not None else ""
        arrays = any(isinstance(o, Genarray | Modarray) for o in loop.operators)
        mask = ""
        if arrays and len(boxes) > 1:
            mask = self.fresh("covered")
            pairs = ", ".join(f"({lowest(b)}, {highest(b)})" for b in boxes)
            self.emit(f"{mask} = _overlapping(({pairs}), {frame})", s.span)
        folds = [sink for sink in sinks if isinstance(sink.operator, Fold)]
        repeatable = asked if all(map(self._keeps_its_input, sinks)) else None
        for at, (partition, box) in enumerate(zip(loop.partitions, boxes)):
            for sink in folds:
                start_fold(self, sink, loop, live, s.span)
            self._partition(loop, partition, box, sinks, frame, mask, live, repeatable, cells)
            for sink in folds:
                end_fold(self, sink, at, len(boxes), live, s.span)
        if not boxes:
            for sink in folds:
                start_fold(self, sink, loop, live, s.span)
        finish(self, s, loop, sinks, len(boxes))

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

    # ---- index sets

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
            self._open_product(p, vector, f"*{box.name}[2]", asked, cells)
            index.append(vector)
            return self._position(f"_offset({vector}, {frame})", p.span) if arrays else ""
        if single or self.loops + box.length > NESTED or box.length == 0:
            self._open_product(p, "".join(f"{i}, " for i in index) or "_none", ", ".join(box.ranges), asked, cells)
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

    def _open_product(self, p: Partition, index: str, ranges: str, asked: Asked | None, cells: str) -> None:
        """Opens a loop over all indices, which asks after some cells."""
        done, ahead = self.fresh("done"), self.fresh("ahead")
        if asked is not None:
            self.emit(f"{done}, {ahead} = 0, {ROW} if {FEW} <= {cells} >= {asked.name}.first else -1", p.span)
        self.emit(f"for {index} in _product({ranges}):", p.span)
        self.indent += 1
        self.loops += 1
        if asked is not None:
            left = f"{cells} - {done}"
            ask = f"{ahead} = {done} + {asked.name}({done}, {left}, {asked.values})"
            self.emit(f"if {done} == {ahead}: {ask}", p.span)
            self.emit(f"{done} += 1", p.span)

    def _asking_loop(self, p: Partition, name: str, box: Box, asked: Asked, cells: str) -> None:
        """Opens the outermost loop, which asks after some rows."""
        ranges = box.ranges
        axis, ahead, row = self.fresh("axis"), self.fresh("ahead"), self.fresh("row")
        self.emit(f"{axis} = {box.outermost}", p.span)
        at = ROW if len(ranges) == 1 else 1
        asks = f"len({axis}) > {at} and {FEW} <= {cells} >= {asked.name}.first"
        self.emit(f"{ahead} = {axis}[{at}] if {asks} else None", p.span)
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
            parts = tuple(Ex(i, "int", 0, True, bounds=bounds) for i, bounds in zip(index, box.bounds))
            for bind, part, bounds in zip(p.scalars or (), parts, box.bounds):
                self.virtual[bind.name] = part
                self.known.bounds[bind.name] = bounds
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
            combine(self, fold, texts, live, p.span)
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
