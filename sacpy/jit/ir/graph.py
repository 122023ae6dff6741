"""Graph IR, which the compiler works on: typed, single assignment, with-loops as nodes, static ranks, symbolic extents.

A unit is a root function and those that it calls and that were not inlined. Every variable carries its type, and an
array's type its extents: constants, or scalar variables of base "int" that are in scope wherever the array is. So a
shape is never looked up: `shape(a)` is the atoms in the type of `a`. Short vectors and other small arrays of known
shape do not exist here; their elements are scalars, side by side. Structs came apart in core already.

Laws, which `graph_verify` checks:
- A name is set once in a function, before it is used, in its own block or one around it.
- An array's extents that are variables are in scope. Where arrays enter or leave (parameters, results, carried
  variables, calls) each such extent is passed as a scalar of its own, before the array.
- Extents lie between 0 and `LARGEST_EXTENT`, so that two of them add up to an int: calls see to those of arguments, and
  whatever makes an array checks its own. Those of a `wide` function may be up to `WIDEST_EXTENT`.
- `Op` is total: it may be evaluated speculatively, and gives some value, never a trap, on operands that the language
  refuses (a division by 0). `Check` refuses them. `Load`, `View` and `Update` need indices in range: the checks that
  see to it come before, and nothing moves them in front of those.
- All code is free of side effects. A check that fails ends the unit: the interpreter runs it, and reports the error, or
  finds that there is none. So a check may fail too often (be hoisted out of a loop that is empty), never too seldom;
  code whose values nobody uses may go with its checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sacpy.lang.ast import Pragma
from sacpy.lang.source import NOWHERE, Span
from sacpy.nodes import Node, field

if TYPE_CHECKING:
    from sacpy.jit.ir.associative import Combine
    from sacpy.jit.ir.parts import Part

LARGEST_EXTENT = 2**30 - 1
WIDEST_EXTENT = 2**31 - 2**16  # so that one of them may be rounded up to a strip and is still an int
TOO_LARGE = "an extent is not too large"  # where that fails, or certainly would, there may be a wide function for it

# ---------------------------------------------------------------- types and atoms


class ScalarType(Node):
    """A scalar of one of the built-in base types."""

    base: str


class ArrayType(Node):
    """An array of rank >= 1, dense, in row-major order. Extents are atoms of base "int"."""

    base: str
    extents: tuple[Atom, ...]

    @property
    def rank(self) -> int:
        return len(self.extents)


Type = ScalarType | ArrayType


class Var(Node):
    """A variable. Two are the same if their names are."""

    name: str
    type: Type = field(compare=False)

    @property
    def base(self) -> str:
        return self.type.base


class Const(Node):
    """A scalar constant: int (within the base type's range; char as its code), float (a "float" already rounded to 32
    bits), or bool. Compared by representation: NaN equals NaN, 0.0 is not -0.0 (`key`)."""

    base: str
    value: int | float | bool = field(compare=False)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", repr(self.value))

    @property
    def type(self) -> ScalarType:
        return ScalarType(self.base)


Atom = Var | Const
INT = ScalarType("int")
BOOL = ScalarType("bool")
TRUE = Const("bool", True)
FALSE = Const("bool", False)


def integer(value: int) -> Const:
    """A constant of base "int"."""
    return Const("int", value)


# ---------------------------------------------------------------- right-hand sides


class Op(Node):
    """A scalar operation: an element-wise primitive of `lang/primitives.py` by its name ("add", "lt", "tod", ...),
    with the meaning `interp/arithmetic.py` gives it (integers wrap), "select" (condition, then, otherwise), or one of
    `operations.PLACES`. `exact`: the integer result is known not to wrap, for operands that occur."""

    code: str
    args: tuple[Atom, ...]
    exact: bool = False


class Load(Node):
    """One element: as many indices as the array has axes, each in range."""

    array: Var
    index: tuple[Atom, ...]


class View(Node):
    """The sub-array at the first few indices (fewer than the rank, at least one), in range. Shares memory."""

    array: Var
    index: tuple[Atom, ...]


class Reshape(Node):
    """The same elements under other extents, whose product is the same. Shares memory."""

    array: Var
    extents: tuple[Atom, ...]


class Cons(Node):
    """An array of constant extents from its elements, scalars in row-major order."""

    base: str
    extents: tuple[int, ...]
    elements: tuple[Atom, ...]


class Update(Node):
    """The array with one element (full index, scalar value) or one sub-array (partial index, array value of its shape)
    replaced. Indices in range."""

    array: Var
    index: tuple[Atom, ...]
    value: Atom


class Call(Node):
    """A call of another function of the unit. Arguments are its parameters in order, extents included; targets its
    results in order, likewise."""

    function: str
    args: tuple[Atom, ...]


class If(Node):
    """`condition` is a scalar bool. Each branch gives as many results as there are targets."""

    condition: Atom
    then: Block
    otherwise: Block


class Loop(Node):
    """Rounds: `condition` gives one bool (false leaves), `body` the next values of `params`; with `body_first` a round
    starts there. The targets are the last values of `params`. A carried array whose extents change has them among
    `params`, and the targets' types refer to the targets."""

    params: tuple[Var, ...]
    initial: tuple[Atom, ...]
    condition: Block
    body: Block
    body_first: bool = False


class For(Node):
    """A counting loop: `index` (base "int") runs from `lower` in steps of `step` (not 0) while below `upper` (above it,
    for a negative one); it does not wrap. `few`: of few rounds, rather small than fast. `associative`: the program says
    that the scalars carried are combined by an associative function (`combine`)."""

    index: Var
    lower: Atom
    upper: Atom
    step: int
    params: tuple[Var, ...]
    initial: tuple[Atom, ...]
    body: Block
    few: bool = False
    associative: bool = False
    combine: Combine | None = field(default=None, compare=False)


# ---------------------------------------------------------------- with-loops


class Genarray(Node):
    """A new array of extents `frame ++ cell` (see `WithLoop.frame`). Cells that no partition covers are `default`: a
    scalar (spread over the cell), or an array of extents `cell`. Each body gives one value: a scalar where `cell` is
    (), else an array."""

    base: str
    cell: tuple[Atom, ...]
    default: Atom


class Modarray(Node):
    """`array` with the covered cells replaced. Its first axes are the frame, the rest the cell. Bodies give a value."""

    array: Var


class Fold(Node):
    """One result per neutral element, scalars or arrays. `combine` takes `accumulators` and `values` and gives new
    accumulators. Every partition counts in full, from the neutral; partials are combined in order: f(F(p3), f(F(p2),
    F(p1))). Bodies give one value per neutral. `stop`: iteration of a partition ends once the accumulators equal it,
    tested after each application. The function is associative by the language's promise. Operands keep their order
    unless `commutative`: what a pragma says of it, or, where it is None, whether the function is known to be
    (`analysis.folds.recognised`)."""

    neutrals: tuple[Atom, ...]
    accumulators: tuple[Var, ...]
    values: tuple[Var, ...]
    combine: Block
    stop: tuple[Atom, ...] | None = None
    commutative: bool | None = None


class Propagate(Node):
    """Values threaded through all iterations in row-major order, or from the last one on (`down`, of scans). `params`
    name them in the bodies, which give the next; the targets are the last. `regroups`: groups may be combined first."""

    initial: tuple[Atom, ...]
    params: tuple[Var, ...]
    word: str = field(default="propagate", compare=False)
    combine: Combine | None = field(default=None, compare=False)
    regroups: bool = False
    down: bool = False


Operator = Genarray | Modarray | Fold | Propagate


class Partition(Node):
    """The index space { iv | lower <= iv < upper, (iv - lower) mod step < width }, axis by axis; `step` None: dense.
    Bounds are within the frame wherever there is one (checked before), and may be empty. Width <= step, both positive
    (checked before). `index` are the components of iv. `body.results`: the values, operator by operator. `staged`: the
    arrays that pragmas want in shared memory, under the names that the programmer gave them; that is no use."""

    lower: tuple[Atom, ...]
    upper: tuple[Atom, ...]
    step: tuple[Atom, ...] | None
    width: tuple[Atom, ...] | None
    index: tuple[Var, ...]
    body: Block
    pragmas: tuple[Pragma, ...] = field(default=(), compare=False)
    span: Span = field(default=NOWHERE, compare=False)
    staged: tuple[tuple[str, Var], ...] = field(default=(), compare=False)

    @property
    def rank(self) -> int:
        return len(self.index)


class WithLoop(Node):
    """`frame`: the extents that genarray and modarray share, one per axis of the index spaces (None where all operators
    are folds or propagates). For genarray and modarray the earlier partition wins where several cover a cell;
    `disjoint`: no two overlap. `complete`: all cells are covered, so that no default is ever used. Results are those of
    the operators in order."""

    frame: tuple[Atom, ...] | None
    partitions: tuple[Partition, ...]
    operators: tuple[Operator, ...]
    disjoint: bool = False
    complete: bool = False
    pragmas: tuple[Pragma, ...] = field(default=(), compare=False)


Rhs = Atom | Op | Load | View | Reshape | Cons | Update | Call | If | Loop | For | WithLoop

# ---------------------------------------------------------------- statements, functions, units


class Let(Node):
    """Sets variables. An atom on the right is an alias."""

    targets: tuple[Var, ...]
    rhs: Rhs
    span: Span = field(default=NOWHERE, compare=False)


class Check(Node):
    """Ends the unit unless `condition` (a bool) holds. `what`: what is asserted ("the index lies in the array")."""

    condition: Atom
    what: str
    span: Span = field(default=NOWHERE, compare=False)


Stmt = Let | Check


class Block(Node):
    """Statements, then the values it gives."""

    statements: tuple[Stmt, ...]
    results: tuple[Atom, ...] = ()


class Function(Node):
    """A function: its results are those of its body. `key` is the core function it was made from; `wide`: extents may
    be up to `WIDEST_EXTENT`, not just `LARGEST_EXTENT`."""

    name: str
    params: tuple[Var, ...]
    body: Block
    key: str = ""
    wide: bool = False


class Input(Node):
    """What the root's parameter is, of which argument: "scalar"; "element" number `at` (flat) of a small array;
    "extent" of axis `at`; "array"."""

    kind: str
    argument: int
    at: int = 0


class Output(Node):
    """How a result of the core function is put together from the root's results: "scalar" and "array" at
    `positions[0]`, "small" from scalars at `positions` (row-major). `base` and `extents`: of the value; an extent is a
    number, or a reference (None, position) to the root's result that holds it. `part`: it is that of the array."""

    kind: str
    base: str
    positions: tuple[int, ...]
    extents: tuple[int | tuple[None, int], ...] = ()
    part: Part | None = None


class Unit(Node):
    """What is compiled at once: `functions[0]` is the root. `inputs`: one per parameter of the root; `outputs`: one per
    result of the core function. `notes`: what was done to keep it small; `cuts`: where which partitions were cut."""

    functions: tuple[Function, ...]
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    notes: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()

    @property
    def root(self) -> Function:
        return self.functions[0]

    def function(self, name: str) -> Function:
        """The function of that name. Raises KeyError."""
        for f in self.functions:
            if f.name == name:
                return f
        raise KeyError(name)


# ---------------------------------------------------------------- looking around


# By class: this is asked for more often than anything else, and to ask for one class after the other takes longer.
_BLOCKS: dict[type, Callable[[Any], tuple[Block, ...]]] = {
    If: lambda r: (r.then, r.otherwise),
    Loop: lambda r: (r.condition, r.body),
    For: lambda r: (r.body,),
    WithLoop: lambda w: (
        *[o.combine for o in w.operators if isinstance(o, Fold)],
        *[p.body for p in w.partitions],
    ),
}
_OPERANDS: dict[type, Callable[[Any], tuple[Atom, ...]]] = {
    Var: lambda a: (a,),
    Const: lambda a: (a,),
    Op: lambda r: r.args,
    Call: lambda r: r.args,
    Load: lambda r: (r.array, *r.index),
    View: lambda r: (r.array, *r.index),
    Reshape: lambda r: (r.array, *r.extents),
    Cons: lambda r: r.elements,
    Update: lambda r: (r.array, *r.index, r.value),
    If: lambda r: (r.condition,),
    Loop: lambda r: r.initial,
    For: lambda r: (r.lower, r.upper, *r.initial),
    WithLoop: lambda w: (
        *(w.frame or ()),
        *[a for o in w.operators for a in _operator_operands(o)],
        *[a for p in w.partitions for a in (*p.lower, *p.upper, *(p.step or ()), *(p.width or ()))],
    ),
}


def blocks(rhs: Rhs) -> tuple[Block, ...]:
    """The blocks directly inside a right-hand side."""
    of = _BLOCKS.get(rhs.__class__)
    return () if of is None else of(rhs)


def is_nested(rhs: Rhs) -> bool:
    """Whether a right-hand side has inner blocks."""
    return rhs.__class__ in _BLOCKS


def statements(block: Block) -> Iterator[Stmt]:
    """All statements of a block, those of inner blocks included, outer ones first."""
    for statement in block.statements:
        yield statement
        if statement.__class__ is Let and statement.rhs.__class__ in _BLOCKS:
            for inner in blocks(statement.rhs):
                yield from statements(inner)


def operands(rhs: Rhs) -> tuple[Atom, ...]:
    """The atoms that a right-hand side itself uses, without those of its inner blocks and of types."""
    return _OPERANDS[rhs.__class__](rhs)


def _operator_operands(operator: Operator) -> Iterator[Atom]:
    match operator:
        case Genarray():
            yield from operator.cell
            yield operator.default
        case Modarray():
            yield operator.array
        case Fold():
            yield from operator.neutrals
            yield from operator.stop or ()
        case Propagate():
            yield from operator.initial


def stride(p: Partition, axis: int) -> tuple[int | None, int | None]:
    """The step and the width of a partition along an axis; None where a number is not known."""
    if p.step is None or p.width is None:
        return 1, 1
    step, width = p.step[axis], p.width[axis]
    return int(step.value) if isinstance(step, Const) else None, int(width.value) if isinstance(width, Const) else None


def extents_of(atom: Atom) -> tuple[Atom, ...]:
    """The extents of an array; () of a scalar."""
    return atom.type.extents if isinstance(atom.type, ArrayType) else ()
