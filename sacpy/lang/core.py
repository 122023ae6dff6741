"""Core: the small language that is left after desugaring and elaboration. Interpreter, inference and specialiser all
read it.

A function is a block of single-assignment statements. Operands are atoms (variables and constants), so the order of
evaluation is the order of the statements: elaboration has already put arguments right to left. Base types, operators,
fields and casts are settled: a struct is its fields side by side (`b.pos`, `b.mass`), a typedef is its underlying array
with `cell` trailing axes, comprehensions are with-loops, updates are `modarray`, `&&` and `?:` are `If`, a reference
parameter is one more result. Calls keep the candidates that differ in shape class only; dispatch looks at shapes alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sacpy.lang.ast import Feature, Pragma
from sacpy.lang.source import Span
from sacpy.lang.types import Scalar
from sacpy.nodes import Node, Record, field

if TYPE_CHECKING:
    from sacpy.lang.elaborate.program import ElaboratedProgram

# ---------------------------------------------------------------- atoms


class Var(Node):
    """A use of a variable. Names are unique within a function (loop targets are the one exception: set before the loop
    and again at the end of each iteration)."""

    name: str
    span: Span


class Const(Node):
    """A constant: a scalar (`shape` is ()), or a small array, flat in row-major order. Of base `String::string` the
    value is one `bytes`."""

    base: str
    shape: tuple[int, ...]
    value: tuple[Scalar | bytes, ...]
    span: Span

    @property
    def undefined(self) -> bool:
        """A scalar without an element: the initial value, which nobody sees, of a variable that a `do` loop's body sets
        and its condition reads."""
        return self.shape == () and self.value == ()


Atom = Var | Const


class Bind(Node):
    """A variable being set, with its base type. `source` is the programmer's name for it, "" for a temporary."""

    name: str
    base: str
    source: str
    span: Span


# ---------------------------------------------------------------- right-hand sides


class Prim(Node):
    """A primitive. `op` such as "add", "sel", "shape" (`lang/primitives.py` lists them). `form` gives the rank each
    argument must have where the program called `_add_SxV_` itself: letters S, V, A; "" where any mix is meant. `cell`:
    the last `cell` axes of the array arguments belong to the element (a typedef such as complex has 1), so `shape`,
    `dim`, `sel`, `reshape`, `cat`, `take`, `drop`, `modarray` leave them alone. `attrs`: constants that some primitives
    need (see the table)."""

    op: str
    args: tuple[Atom, ...]
    form: str = ""
    cell: int = 0
    attrs: tuple[object, ...] = ()


class ArrayCons(Node):
    """`[a, b, c]`: elements of equal shape, at least one; the result has one more axis, in front."""

    elements: tuple[Atom, ...]


class Call(Node):
    """A call. `candidates` are keys of functions that differ in shape class only, in order of definition; `bases` the
    base types of the arguments (natives with `...` need them); `name` is what the programmer wrote."""

    name: str
    candidates: tuple[str, ...]
    args: tuple[Atom, ...]
    bases: tuple[str, ...]


class GlobalGet(Node):
    """The present value of a global object (key "Module::name")."""

    name: str


class Lambda(Node):
    """A block with parameters, for the function of a fold."""

    params: tuple[Bind, ...]
    body: Block
    results: tuple[Atom, ...]


class Genarray(Node):
    """One result array: `shape ++ shape(cell)`. Cells that no partition covers are `default`; without one, zeros of the
    cell's shape."""

    shape: Atom
    default: Atom | None


class Modarray(Node):
    """One result array: `array` with the covered cells replaced."""

    array: Atom


class Fold(Node):
    """One result per neutral element (a fold over structs has several). `combine` takes the accumulators, then the
    partition's values, and gives the new accumulators. Every partition counts in full, from the neutral: the partials
    are then combined in order: f(F(p3), f(F(p2), F(p1))). `stop`: foldfix; iteration ends once the accumulators equal
    it, tested after each application."""

    neutrals: tuple[Atom, ...]
    combine: Lambda
    stop: tuple[Atom, ...] | None


class Propagate(Node):
    """Values threaded through all iterations in order: `params` name them inside the bodies, the partition's values are
    the next ones. `word`: the operator that the program wrote, "propagate", "scan" or "into". `combine`: a scan's
    function of two elements, if it needs nothing of what is around it; the interpreter has no use for it."""

    initial: tuple[Atom, ...]
    params: tuple[Bind, ...]
    word: str = "propagate"
    combine: Lambda | None = field(default=None, compare=False)


HANDED_ON = {
    "propagate": "threads an object through the iterations, one after the other",
    "scan": "combines the iterations one after the other",
    "into": "changes an array at places that only the iterations tell, one after the other",
}  # what a propagate does, by its word


Operator = Genarray | Modarray | Fold | Propagate


class Partition(Node):
    """An index set with a body. Bounds as written (`lower_inclusive`, `upper_inclusive`); None is a dot bound: the
    smallest or largest legal index. A scalar bound, step or width spreads over all axes. `index` binds the index
    vector; `scalars`, where given, its components as well. `values`: the body's results, operator by operator, as many
    for each as it has results."""

    lower: Atom | None
    lower_inclusive: bool
    upper: Atom | None
    upper_inclusive: bool
    step: Atom | None
    width: Atom | None
    index: Bind
    scalars: tuple[Bind, ...] | None
    body: Block
    values: tuple[Atom, ...]
    pragmas: tuple[Pragma, ...]
    span: Span


class WithLoop(Node):
    """Its results are those of its operators in order. For genarray and modarray the earlier partition wins where
    several cover a cell."""

    partitions: tuple[Partition, ...]
    operators: tuple[Operator, ...]
    pragmas: tuple[Pragma, ...]


Rhs = Atom | Prim | ArrayCons | Call | GlobalGet | WithLoop

# ---------------------------------------------------------------- statements


class Let(Node):
    """Sets one variable, or several for a call or with-loop with several results, none for a void one. An atom on the
    right is an alias."""

    targets: tuple[Bind, ...]
    rhs: Rhs
    span: Span


class Merge(Node):
    """A variable set by both branches of an `If`."""

    target: Bind
    then: Atom
    otherwise: Atom


class If(Node):
    """`condition` must be a scalar bool. Lazy operators and `?:` arrive here too."""

    condition: Atom
    then: Block
    otherwise: Block
    merges: tuple[Merge, ...]
    span: Span


class Carried(Node):
    """A variable of a loop: `target` is `initial` before the first iteration and `update` after each one; it is visible
    in condition, body and after the loop."""

    target: Bind
    initial: Atom
    update: Atom


class Loop(Node):
    """`while`, `do` and `for`. Each round: `condition` block, `test` (a scalar bool; false leaves), `body`, then all
    carried variables at once. With `body_first` the first round starts at the body. Carried variables nobody changes
    are not carried."""

    carried: tuple[Carried, ...]
    condition: Block
    test: Atom
    body: Block
    body_first: bool
    span: Span


class GlobalSet(Node):
    """Sets a global object."""

    name: str
    value: Atom
    span: Span


class Check(Node):
    """Asserts that a value has a type's pattern (a cast to a shape, a declared local). `text` is the type as written,
    `what` says whose it is ("the declared type of x", "this cast"). Names in the pattern stand for any extent."""

    value: Atom
    pattern: tuple[Feature, ...] | None
    cell: tuple[int | None, ...]
    text: str
    what: str
    span: Span


Stmt = Let | If | Loop | GlobalSet | Check


class Block(Node):
    statements: tuple[Stmt, ...]


# ---------------------------------------------------------------- functions


class Slot(Node):
    """One parameter or result of a function in core: base type, outer pattern (None: a scalar), the extents of the
    element itself (`cell`, () for built-in types), the type as the programmer wrote it, and the programmer's name for
    it (a field of a struct: `b.pos`)."""

    bind: Bind
    pattern: tuple[Feature, ...] | None
    cell: tuple[int | None, ...]
    text: str

    @property
    def base(self) -> str:
        """The core base type."""
        return self.bind.base


class Native(Node):
    """An external function: the name to bind by, with the number of declared parameters ("TermFile::printf/1...",
    "File::fclose/1"), its `linkname` pragma ("" without), and whether `...` ends its parameters or results."""

    name: str
    linkname: str
    varargs: bool
    varresults: bool
    pragmas: tuple[Pragma, ...]


class Signature(Node):
    """All that a caller needs. `key` is unique in the program and names the instance; `name` is "Module::f". The
    results are the declared ones, then one for each reference parameter. `pattern_names` are the names that the
    patterns bind, with the core variable each is in the body."""

    key: str
    name: str
    params: tuple[Slot, ...]
    results: tuple[Slot, ...]
    pattern_names: tuple[tuple[str, str], ...]
    inlining: str
    native: Native | None
    text: str
    span: Span


class Condition(Node):
    """A condition behind the head: `block` computes `value`, a scalar bool. On entry, names are those bound by the
    parameters; on exit (`on_exit`), those of the results too (as variables named in `Function.exit_names`)."""

    block: Block
    value: Atom
    on_exit: bool
    text: str
    span: Span


class Function(Node):
    """A function with its body. Patterns bind `signature.pattern_names` on entry; `conditions` are checked, the body
    runs, `returns` are the results. `exit_names`: pattern names that only results bind, with the core variable that
    exit conditions use."""

    signature: Signature
    conditions: tuple[Condition, ...]
    body: Block
    returns: tuple[Atom, ...]
    exit_names: tuple[tuple[str, str], ...] = ()


class Global(Node):
    """A global object: the function (no parameters, one result) that makes its first value."""

    name: str
    base: str
    initial: str
    span: Span


class Program(Protocol):
    """What inference and interpreter ask for. Bodies are elaborated when first asked for; `function` raises `SacError`
    if one is wrong."""

    def signature(self, key: str) -> Signature: ...

    def function(self, key: str) -> Function: ...

    def global_object(self, name: str) -> Global: ...


@runtime_checkable
class CheckedProgram(Program, Protocol):
    """A program that has been checked and may be run, however it came about: `ElaboratedProgram` is made of its text,
    `KeptProgram` as an earlier run has left it. Who only runs one need not load what makes programs of texts."""

    def whole(self) -> ElaboratedProgram:
        """All that is known of the program."""

    def main_key(self) -> str:
        """The key of `main`: the one without parameters, or the only one there is. Raises `SacError` (E0309) if there
        is none to run."""

    def text(self) -> str:
        """The text of its file; "" if it has none."""

    def reads_words(self) -> bool:
        """Whether it looks at the words of its command line."""

    def elaborated(self) -> Iterable[Function]:
        """The user's functions that this process has made of their text so far; none where an earlier one did."""

    def known_pure(self, key: str) -> bool | None:
        """Whether a function of the library has no effects, where that is known without looking at it."""


EMPTY = Block(())


class Names(Record):
    """Makes names that are unique within a function."""

    used: dict[str, int] = field(default_factory=dict)

    def fresh(self, base: str) -> str:
        """`base`, or `base~1`, `base~2`, ... once it is taken."""
        count = self.used.get(base, 0)
        self.used[base] = count + 1
        return base if count == 0 else f"{base}~{count}"
