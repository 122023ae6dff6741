"""Arrays that grow, or shrink, where they lie: genarrays that keep rows of an array that dies.

In: a with-loop. Out: `Kept`: the partitions that only copy consecutive rows of such an array, each of which the runtime
(`room`) can leave where they are, as part of a larger window of their block.

    w = with [n1] disjoint complete            n1 = add! n, 1; r has n elements and dies here
        part [0] <= [i] < [n]
            x = load r[i]                      the rows of r from 0 on, at 0
            yield x
        part [n] <= [j] < [n1]
            yield y                            computed into the room behind them

What `++` becomes is of this kind, and so is whatever else a program writes that keeps rows and adds some. Where several
arrays die that are copied like this, that which is largest when the code runs stays.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from sacpy.jit.analysis.along import Along
from sacpy.jit.analysis.ints import Ints
from sacpy.jit.host import layout
from sacpy.jit.host.memory import BORROWED, Array, constant_product, elements
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import free
from sacpy.jit.llvm.legal import size_of
from sacpy.nodes import Node, replace

if TYPE_CHECKING:
    from sacpy.jit.host.writer import Writer


class Kept(Node):
    """A partition that copies rows of an array: `load` gives the element of the array for the partition's index, behind
    the operations of `before`. `shared`: other partitions read the array too, and find all of it in what is kept."""

    partition: g.Partition
    load: g.Load
    before: tuple[g.Let, ...]
    shared: bool


def kept_rows(w: g.WithLoop, dying: Container[str], ints: Ints) -> tuple[Kept, ...]:
    """The partitions of a with-loop that copy rows of arrays that die."""
    if w.frame is None or not (w.complete and w.disjoint) or len(w.operators) != 1:
        return ()
    (operator,) = w.operators
    if not isinstance(operator, g.Genarray) or operator.cell:
        return ()
    found = []
    for p in w.partitions:
        load = _copied(p, w.frame)
        before = None if load is None else _first_row(p, load)
        if (
            load is None
            or before is None
            or load.array.name not in dying
            or load.array.base != operator.base
            or load.array == operator.default
        ):
            continue
        others = sum(load.array.name in free(q.body) for q in w.partitions if q is not p)
        if not others or _keeps_all(p, w.frame[0], ints):
            found.append(Kept(p, load, before, others > 0))
    return tuple(
        [k for k in found if not k.shared] or found[:1]
    )  # which of several stays is seen when the code runs: so they are read where they were


def _copied(p: g.Partition, frame: Sequence[g.Atom]) -> g.Load | None:
    """The load that a partition's body gives, if it gives whole rows of an array, one after the other."""
    if p.step is not None or p.width is not None or not p.body.statements:
        return None
    *before, last = p.body.statements
    if not isinstance(last, g.Let) or not isinstance(last.rhs, g.Load) or p.body.results != last.targets:
        return None
    load = last.rhs
    assert isinstance(load.array.type, g.ArrayType)
    whole = all(
        isinstance(low, g.Const) and low.value == 0 and high == n == m
        for low, high, n, m in zip(p.lower[1:], p.upper[1:], frame[1:], load.array.type.extents[1:])
    )
    if not whole or load.index[1:] != p.index[1:]:
        return None
    return load if all(isinstance(s, g.Let) and isinstance(s.rhs, g.Op) for s in before) else None


def _first_row(p: g.Partition, load: g.Load) -> tuple[g.Let, ...] | None:
    """The operations that compute which row is copied; None unless it is the next one for the next index."""
    along, needed = Along(p.index[0]), {a.name for a in load.index[:1] if isinstance(a, g.Var)}
    found: list[g.Let] = []
    for s in p.body.statements[:-1]:
        assert isinstance(s, g.Let)
        along.see(s)
    for s in reversed(p.body.statements[:-1]):
        assert isinstance(s, g.Let) and isinstance(s.rhs, g.Op)
        if s.targets[0].name in needed:
            needed |= {a.name for a in s.rhs.args if isinstance(a, g.Var)}
            found.append(s)
    first = load.index[0]
    if not isinstance(first, g.Var) or first.name not in along.names or needed & {a.name for a in p.index[1:]}:
        return None
    return tuple(reversed(found))


def _keeps_all(p: g.Partition, frame: g.Atom, ints: Ints) -> bool:
    """Whether a partition certainly keeps all of its array's rows: the first ones of the result, or the last ones."""
    from sacpy.jit.analysis.projections import Shift, copied_part

    array, place = copied_part(p, ints.forms) or (None, None)
    first = place[0] if place else None
    if array is None or not isinstance(first, Shift):
        return False
    form = ints.forms.form
    start = form(first.start)
    return start == 0 or start + form(g.extents_of(array)[first.axis]) == form(frame)


class Window(Node):
    """Where the rows of one `Kept` are and come to lie: the address of the first one, how many bytes the result has
    before them, how many they have."""

    kept: Kept
    old: Array
    data: str
    front: str
    bytes: str


def first_row(low: Writer, k: Kept, old: Array, row: str) -> tuple[str, str]:
    """Where the first of the rows lies that are copied of an array, and how many these are. `row`: the bytes of one."""
    code, p = low.code, k.partition
    lower, upper = low.wide(p.lower[0]), low.wide(p.upper[0])
    low.bind_scalar(p.index[0], code.op(f"trunc i64 {lower} to i32"), lower)
    for s in k.before:
        assert isinstance(s.rhs, g.Op)
        low.operation(s.targets[0], s.rhs)
    count = code.largest(code.difference(upper, lower), "0")
    data = code.op(f"getelementptr i8, ptr {old.data}, i64 {code.product(low.wide(k.load.index[0]), row)}")
    there = code.op(f"icmp sgt i64 {count}, 0")  # the row of an index that there is not may be anything
    return code.op(f"select i1 {there}, ptr {data}, ptr {old.data}"), count


class Growth:
    """Writes the memory of a genarray that keeps rows of arrays that die. `place`: the result; `within`: the arrays
    that the loop may read out of it; `stay`: for each partition that copies rows, by its identity, whether these are in
    their place already, so that it must not run; `moved`: what the loop reads where they are not, to be released behind
    it."""

    def __init__(self, low: Writer, w: g.WithLoop, found: Sequence[Kept], dying: set[str]) -> None:
        self.low = low
        code = low.code
        assert w.frame is not None
        base = w.operators[0].base  # type: ignore[union-attr]
        extents = low.wides(w.frame)
        row = elements(code, (str(size_of(base)), *extents[1:]))
        windows = [self._window(k, row, dying) for k in found]
        header, data, front, kept, number = (
            windows[0].old.header,
            windows[0].data,
            windows[0].front,
            windows[0].bytes,
            "0",
        )
        for at, other in enumerate(windows[1:], 1):
            better = code.op(f"icmp ugt i64 {other.bytes}, {kept}")
            header, data = (
                code.op(f"select i1 {better}, ptr {a}, ptr {b}")
                for a, b in ((other.old.header, header), (other.data, data))
            )
            front, kept, number = (
                code.op(f"select i1 {better}, i64 {a}, i64 {b}")
                for a, b in ((other.front, front), (other.bytes, kept), (str(at), number))
            )
        code.module.declare("sacpy_times", "declare i64 @sacpy_times(i64, i64)")
        total = code.product(str(size_of(base)), extents[0])  # an extent is an int: that does not wrap
        for extent in extents[1:]:
            total = constant_product(total, extent) or code.op(f"call i64 @sacpy_times(i64 {total}, i64 {extent})")
        code.module.declare("sacpy_grow", "declare {ptr, ptr} @sacpy_grow(ptr, ptr, ptr, i64, i64, i64)")
        made = code.op(
            f"call {{ptr, ptr}} @sacpy_grow(ptr %frame, ptr {header}, ptr {data}, i64 {front}, i64 {kept}, i64 {total})"
        )
        block, start = code.op(f"extractvalue {{ptr, ptr}} {made}, 0"), code.op(f"extractvalue {{ptr, ptr}} {made}, 1")
        low.unless(code.op(f"icmp ne ptr {block}, null"), layout.OUT_OF_MEMORY)
        self.place = Array(start, block, base, extents, unique=True)
        self.within = {k.load.array.name for k in found if k.shared}
        self.stay: dict[int, str] = {}
        self.moved: list[Array] = []
        same = code.op(f"icmp eq ptr {block}, {header}")
        for at, window in enumerate(windows):
            self._settle(
                window,
                code.op(f"and i1 {same}, {code.op(f'icmp eq i64 {number}, {at}')}") if len(windows) > 1 else same,
            )

    def _window(self, k: Kept, row: str, dying: set[str]) -> Window:
        low, code, p = self.low, self.low.code, k.partition
        old = low.take(k.load.array, dying)
        assert isinstance(old, Array)
        data, count = first_row(low, k, old, row)
        return Window(k, old, data, code.product(low.wide(p.lower[0]), row), code.product(count, row))

    def _settle(self, w: Window, stays: str) -> None:
        """Where an array is found from here on, and what becomes of its reference."""
        code, name = self.low.code, w.kept.load.array.name
        self.stay[id(w.kept.partition)] = stays
        if not w.old.borrowed:
            self.moved.append(
                replace(w.old, header=code.op(f"select i1 {stays}, ptr null, ptr {w.old.header}"), unique=False)
            )
        if w.kept.shared:  # others read it, and may do so after it has been written behind it
            data = code.op(f"getelementptr i8, ptr {self.place.data}, i64 {w.front}")
            self.low.env[name] = Array(
                code.op(f"select i1 {stays}, ptr {data}, ptr {w.old.data}"), BORROWED, w.old.element, w.old.extents
            )


__all__ = ["Growth", "Kept", "kept_rows"]
