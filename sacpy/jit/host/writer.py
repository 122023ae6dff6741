"""What all code inside one LLVM function shares while it is written: variables, slots, the ways to leave, arrays.

In: the module of LLVM IR that is being written, what is known of the unit. Out: `Writer`, the base of whatever writes
statements, so that those need not know one another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sacpy.jit.analysis.indices import Facts
from sacpy.jit.host import layout
from sacpy.jit.host.memory import (
    BORROWED,
    Array,
    Scalar,
    Uses,
    Value,
    byte_count,
    copy_elements,
    element_address,
    elements,
    flat,
    is_unique,
    new_block,
    release,
    retain,
)
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import LLVM_TYPES, Code, Module, constant, memory_type
from sacpy.jit.llvm.scalars import Style
from sacpy.jit.options import Options
from sacpy.jit.schedule.loops import Context
from sacpy.nodes import Record, field, replace

if TYPE_CHECKING:
    from sacpy.jit.analysis.makers import Destinations
    from sacpy.jit.host.watched import Watch
    from sacpy.jit.schedule.loops import Rounds, Schedule, Written

S = TypeVar("S", "Schedule", "Rounds")


class Inside(Record):
    """The function that is being written. `taken`: which of its parameters it may take over, if it is the root of a
    unit; `outside`: what is known of it (`analysis/circuits`), once somebody has asked; `unfilled`: its arrays that
    loops set from end to end (`analysis/filled`)."""

    function: g.Function
    taken: tuple[int, ...] | None = None
    outside: Any = None
    unfilled: frozenset[str] = frozenset()
    scratch: list[str] | None = None  # slots of memory that the rounds of a loop share (`scratch`), inside of one


class UnitContext(Record):
    """What the functions of a unit share while they are written."""

    module: Module
    options: Options
    functions: dict[str, g.Function]
    recursive: frozenset[str]
    known: Destinations | None = None  # which functions make results where they are told
    variants: dict[tuple[str, Placed], None] = field(default_factory=dict)  # those that are called so
    sites: dict[int, int] = field(default_factory=dict)
    uses: Uses = field(default_factory=Uses)
    watch: Watch | None = None  # what counts what with-loops take
    schedules: Written | None = None  # how loops run that were written, if somebody wants to know

    @property
    def style(self) -> Style:
        return Style(self.options.strict_fp)

    def site(self, check: g.Check) -> int:
        """The number of a check, from 1; those of extents are above `layout.EXTENTS`."""
        number = self.sites.setdefault(id(check), len(self.sites) + 1)
        return layout.EXTENTS + number if check.what == g.TOO_LARGE else number

    def site_of_loop(self, body: g.Block) -> int:
        """The number of the first check in a body; 0 if there is none."""
        return next((self.site(s) for s in g.statements(body) if isinstance(s, g.Check)), 0)


Placed = tuple[tuple[int, int | None], ...]  # results that have a place, with the parameter that lies there, if any
LANE = "<4 x i32>"  # what an int in a lane of a vector register is


def types_of(variables: Iterable[g.Var | g.Atom]) -> list[str]:
    """The LLVM types in which variables are passed: two for an array."""
    found: list[str] = []
    for v in variables:
        found += ["ptr", "ptr"] if isinstance(v.type, g.ArrayType) else [LLVM_TYPES[v.base]]
    return found


def result_type(results: Sequence[g.Atom]) -> str:
    """What a function returns: the status, then its results."""
    return "{" + ", ".join(["i32", *types_of(results)]) + "}"


def text_of(value: Value) -> str:
    """A scalar value's text."""
    assert isinstance(value, Scalar)
    return value.text


def function_name(function: g.Function, placed: Placed = ()) -> str:
    """The name of a function of the unit in its module; of the variant that makes some of its results in places that
    it is given."""
    into = "".join(f" {k} {'placed' if p is None else f'over {p}'}" for k, p in placed)
    return '@"f.' + function.name.replace("\\", "\\5C").replace('"', "\\22") + into + '"'


class Slots:
    """Memory for values that several paths set."""

    def __init__(self, writer: Writer, variables: Sequence[g.Var]) -> None:
        self.writer, self.variables = writer, variables
        types = types_of(variables)
        if writer.lanes:
            types = [LANE if t == "i32" and v.name in writer.lanes else t for v in variables for t in types_of([v])]
        self.slots = [writer.code.slot(t) for t in types]
        self.unique = True

    def set(self, values: Sequence[Value]) -> None:
        """Stores a value for each variable."""
        code, slots = self.writer.code, iter(self.slots)
        for variable, value in zip(self.variables, values):
            if isinstance(value, Array):
                code.store("ptr", value.data, next(slots))
                code.store("ptr", value.header, next(slots))
                self.unique &= value.unique
            elif variable.name in self.writer.lanes:
                code.store(LANE, self.writer.lane(value), next(slots))
            else:
                code.store(LLVM_TYPES[value.base], value.text, next(slots))

    def get(self, variables: Sequence[g.Var], unique: frozenset[str] = frozenset()) -> None:
        """Binds variables (as many, of the same types) to what is stored. `unique`: which of them are known to be."""
        code, slots = self.writer.code, iter(self.slots)
        for v, like in zip(variables, self.variables):
            if isinstance(v.type, g.ArrayType):
                data, header = code.load("ptr", next(slots)), code.load("ptr", next(slots))
                self.writer.bind_array(v, data, header, unique=v.name in unique)
            elif like.name in self.writer.lanes:
                self.writer.bind_lane(v, code.load(LANE, next(slots)))
            else:
                self.writer.bind_scalar(v, code.load(LLVM_TYPES[v.base], next(slots)))


class Writer(ABC):
    """Writes one LLVM function: its variables, the ways to leave it early, and its arrays. `functions.Lowering` adds
    statements; those who write with-loops and other loops know it as this."""

    def __init__(self, unit: UnitContext, code: Code, facts: Facts, inside: Inside) -> None:
        self.unit, self.code, self.facts, self.inside = unit, code, facts, inside
        self.env: dict[str, Value] = {}
        # where a failing check jumps to inside a vectorisable loop; None: it leaves the function
        self.on_failure: str | None = None
        self.status = code.slot("i32")
        self.failed, self.unchecked = code.label("failed"), code.label("unchecked")
        self.site = ""  # where the number of the check stands that fails, if one may
        self.fails = False
        self.parallel = True  # loops may be spread over threads here
        self.within = 0  # bodies of loops around what is being written
        self.in_order = False  # extremes of reals are computed from left to right here
        # what is asked for the row and the column of an element that is known to lie in some row, and what gives them
        self.row_places: dict[tuple[g.Atom, ...], Callable[[g.Op], tuple[str, str]]] = {}
        self.lanes: frozenset[str] = frozenset()  # ints that are computed in the first lane of a vector
        self.on_stack = 0  # bytes of the arrays that lie on the stack
        self.results = "{i32}"

    # ---- statements

    @abstractmethod
    def fork(self, code: Code) -> Writer:
        """What writes another function of the same unit, which knows the same numbers."""

    @abstractmethod
    def block(self, block: g.Block, owned: Iterable[str] = (), into: dict[str, Array] | None = None) -> list[Value]:
        """Runs a block's statements; gives its results with references of their own."""

    @abstractmethod
    def operation(self, target: g.Var, op: g.Op) -> None:
        """A scalar operation; in 64 bits as well where it computes an index without wrapping."""

    @abstractmethod
    def statement(self, s: g.Stmt, dying: set[str], into: dict[str, Array]) -> None:
        """Runs a statement."""

    @abstractmethod
    def placed(self, source: Array, place: Array) -> Array:
        """An array in its place, to be written to: copied there unless it is there already."""

    def scheduled(self, targets: Sequence[g.Var], s: S) -> S:
        """A schedule of the loop that sets `targets`, which is about to be written."""
        if self.unit.options.verify:
            from sacpy.jit.schedule.schedule_verify import verify_schedule

            verify_schedule(s, self.context())
        if self.unit.schedules is not None and targets:
            known = self.unit.schedules.setdefault((self.inside.function.name, targets[0].name), [])
            if s not in known:
                known.append(s)
        return s

    def context(self) -> Context:
        """Where a loop stands that is written here."""
        return Context(self.facts, self.unit.style.strict, self.parallel, self.within > 0, self.in_order)

    # ---- variables

    def bind_scalar(self, v: g.Var, text: str, wide: str | None = None) -> None:
        """Sets a scalar variable. An int that is used as an index gets a 64-bit version."""
        if wide is None and v.name in self.facts.indices:
            wide = self.code.op(f"sext i32 {text} to i64")
        self.env[v.name] = Scalar(text, v.base, wide)

    def bind_lane(self, v: g.Var, vector: str) -> None:
        """Sets an int to the first lane of a vector."""
        self.bind_scalar(v, self.code.op(f"extractelement {LANE} {vector}, i64 0"))
        value = self.env[v.name]
        assert isinstance(value, Scalar)
        value.lane = vector

    def lane(self, value: Value) -> str:
        """A vector whose first lane is an int."""
        assert isinstance(value, Scalar)
        return value.lane or self.code.op(f"insertelement {LANE} poison, i32 {value.text}, i64 0")

    def bind_array(self, v: g.Var, data: str, header: str, like: Array | None = None, *, unique: bool = False) -> Array:
        """Sets an array variable. What is known of the sharing of its memory is as for `like`."""
        assert isinstance(v.type, g.ArrayType)
        scope, apart = (like.scope, like.apart) if like else ("", ())
        array = Array(data, header, v.base, tuple(map(self.wide, v.type.extents)), unique, scope, apart)
        self.env[v.name] = array
        return array

    def bind(self, targets: Sequence[g.Var], values: Sequence[Value]) -> None:
        """Sets variables to values whose references they take over."""
        for target, value in zip(targets, values, strict=True):
            if isinstance(value, Array):
                self.bind_array(target, value.data, value.header, value, unique=value.unique)
            else:
                self.bind_scalar(target, value.text, value.wide)

    def text(self, a: g.Atom) -> str:
        """A scalar's text."""
        if isinstance(a, g.Const):
            return constant(a.base, a.value)
        value = self.env[a.name]
        assert isinstance(value, Scalar), a
        return value.text

    def wide(self, a: g.Atom) -> str:
        """An int as 64 bits."""
        if isinstance(a, g.Const):
            return str(int(a.value))
        value = self.env[a.name]
        assert isinstance(value, Scalar), a
        if value.wide is None:
            return self.code.op(f"sext i32 {value.text} to i64")
        return value.wide

    def wides(self, many: Iterable[g.Atom]) -> tuple[str, ...]:
        return tuple(map(self.wide, many))

    def array(self, a: g.Atom) -> Array:
        """An array, not taken: its reference stays where it is."""
        assert isinstance(a, g.Var)
        value = self.env[a.name]
        assert isinstance(value, Array), a
        return value

    def array_named(self, name: str) -> Array:
        """The array of a name."""
        value = self.env[name]
        assert isinstance(value, Array)
        return value

    def take(self, a: g.Atom, dying: set[str]) -> Value:
        """A value with a reference of its own: an array's last use hands it on."""
        if not isinstance(a.type, g.ArrayType):
            return Scalar(self.text(a), a.base, self.env[a.name].wide if isinstance(a, g.Var) else None)  # type: ignore[union-attr]
        array = self.array(a)
        assert isinstance(a, g.Var)
        if a.name in dying:
            dying.discard(a.name)
        else:
            retain(self.code, array)
        return replace(array)

    def take_each(self, atoms: Sequence[g.Atom], dying: set[str]) -> list[Value]:
        """Values with references of their own. An array that is among them several times is held by others, though it
        was nobody else's when it was taken first."""
        values = [self.take(a, dying) for a in atoms]
        count = Counter(a.name for a in atoms if isinstance(a, g.Var))
        for a, value in zip(atoms, values):
            if isinstance(a, g.Var) and isinstance(value, Array) and count[a.name] > 1:
                value.unique = False
        return values

    # ---- leaving

    def pass_on(self, status: str) -> None:
        """Ends the function if a status is not OK."""
        self._leave_unless(self.code.op(f"icmp eq i32 {status}, 0"), status)

    def unless(self, condition: str, status: int, site: int = 0) -> None:
        """Ends the function with a status unless a condition holds. `site`: the number of the check that failed
        then."""
        if not site:
            self._leave_unless(condition, str(status))
            return
        assert status == layout.CHECK_FAILED
        if not self.site:
            self.site = self.code.slot("i64")
        on = self.code.label("ok")
        self.code.store("i64", str(site - 1), self.site)
        self.code.branch(condition, on, self.unchecked, self.code.one_jump(condition))
        self.code.place(on)

    def _leave_unless(self, condition: str, status: str) -> None:
        """What is to be told stands in memory before the branch: LLVM makes that a value of the way that is taken, and
        a block for each way would take it longer."""
        on = self.code.label("ok")
        self.code.store("i32", status, self.status)
        self.code.branch(condition, on, self.failed)
        self.fails = True
        self.code.place(on)

    def finish_failures(self) -> None:
        """Writes where failures leave the function."""
        if self.site:
            self.code.place(self.unchecked)
            address = self.code.offset("i64", "%frame", str(layout.FRAME_SITE))
            self.code.store("i64", self.code.load("i64", self.site), address)
            self.code.store("i32", str(layout.CHECK_FAILED), self.status)
            self.fails = True
        if self.fails:
            self.code.place(self.failed)
            status = self.code.load("i32", self.status)
            if self.results == "i32":
                self.code.end(f"ret i32 {status}")
            else:
                made = self.code.op(f"insertvalue {self.results} poison, i32 {status}, 0")
                self.code.end(f"ret {self.results} {made}")

    def poll(self) -> None:
        """Leaves if the stop flag is set."""
        control = self.code.load("ptr", "%frame")
        stop = self.code.op(f"load volatile i64, ptr {control}")
        self.unless(self.code.op(f"icmp eq i64 {stop}, 0"), layout.INTERRUPTED)

    # ---- arrays

    def allocate(self, base: str, extents: tuple[str, ...]) -> Array:
        """A new array, its elements not set."""
        header = new_block(self.code, base, extents)
        self.unless(self.code.op(f"icmp ne ptr {header}, null"), layout.OUT_OF_MEMORY)
        data = self.code.op(f"getelementptr inbounds i8, ptr {header}, i64 {layout.HEADER_BYTES}")
        return Array(data, header, base, extents, unique=True)

    def copied(self, array: Array) -> Array:
        """A copy of an array."""
        new = self.allocate(array.element, array.extents)
        copy_elements(self.code, array.element, new.data, array.data, elements(self.code, array.extents))
        count = byte_count(self.code, array.element, array.extents)
        self.code.module.declare("sacpy_copied", "declare void @sacpy_copied(ptr, ptr, i64)")
        self.code.do(f"call void @sacpy_copied(ptr %frame, ptr {array.header}, i64 {count})")
        return new

    def owned(self, array: Array) -> Array:
        """An array that may be written to, made of one whose reference is given up: the same if no one else holds it,
        else a copy."""
        return array if array.unique else self.unless_shared(array, self.copied)

    def reused(self, array: Array) -> Array:
        """An array to be overwritten, made of one whose reference is given up: its memory if no one else holds it, else
        new."""
        return array if array.unique else self.unless_shared(array, lambda old: self.allocate(old.element, old.extents))

    def first_unshared(self, arrays: Sequence[Array]) -> Array:
        """The memory of the first of some arrays of one type that no one else holds, to be overwritten, else new; it
        has a reference of its own."""
        code = self.code
        data, header = code.slot("ptr"), code.slot("ptr")
        done = code.label("taken")
        for array in arrays:
            mine, next_ = code.label("unshared"), code.label("shared")
            code.branch(is_unique(code, array), mine, next_)
            code.place(mine)
            retain(code, replace(array))
            code.store("ptr", array.data, data)
            code.store("ptr", array.header, header)
            code.jump(done)
            code.place(next_)
        made = self.allocate(arrays[0].element, arrays[0].extents)
        code.store("ptr", made.data, data)
        code.store("ptr", made.header, header)
        code.jump(done)
        code.place(done)
        return Array(code.load("ptr", data), code.load("ptr", header), made.element, made.extents, unique=True)

    def unless_shared(self, array: Array, new: Callable[[Array], Array]) -> Array:
        """An array whose reference is given up, if no one else holds it; else what is made of it."""
        code = self.code
        data, header = code.slot("ptr"), code.slot("ptr")
        code.store("ptr", array.data, data)
        code.store("ptr", array.header, header)
        shared, done = code.label("shared"), code.label("owned")
        code.branch(is_unique(code, array), done, shared)
        code.place(shared)
        made = new(array)
        release(code, array)
        code.store("ptr", made.data, data)
        code.store("ptr", made.header, header)
        code.place(done)
        return Array(code.load("ptr", data), code.load("ptr", header), array.element, array.extents, unique=True)

    def built(self, value: Array, place: Array) -> Array:
        """A value that is to lie in a given place: copied there unless it was built there."""
        if value.data != place.data:
            copy_elements(self.code, place.element, place.data, value.data, elements(self.code, value.extents))
        release(self.code, value)
        return self.as_built(place)

    @staticmethod
    def as_built(place: Array) -> Array:
        """What was built in a place inside a larger array, as a value: borrowed from there."""
        return replace(place, header=BORROWED, unique=False)

    def load(self, array: Array, index: tuple[str, ...]) -> str:
        """An element, as a scalar."""
        return self.load_flat(array, flat(self.code, index, array.extents))

    def load_flat(self, array: Array, at: str) -> str:
        """The element of a row-major number, as a scalar."""
        address = element_address(self.code, array, at)
        value = self.code.load(memory_type(array.element), address, array.note(self.code))
        return self.code.op(f"trunc i8 {value} to i1") if array.element == "bool" else value

    def store(self, array: Array, at: str, value: str) -> None:
        """Sets the element of a row-major number."""
        if array.element == "bool":
            value = self.code.op(f"zext i1 {value} to i8")
        self.code.put(memory_type(array.element), value, element_address(self.code, array, at), array.note(self.code))
