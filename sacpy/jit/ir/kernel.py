"""Kernel programs: what stands between a mapped with-loop and LLVM. They mirror the machine: a grid of blocks of
threads.

Three levels of statements, as types of their own, so that what is illegal cannot be written. At block level (the same
for all threads of a block) are `ForAll`, `Barrier`, `Shuffle`, `MultiplyAdd`, `Allocate`, loops and conditions on
values that all threads share, and what the last block alone does; inside a `ForAll` is code of one thread, where there
is neither barrier nor allocation.
After Svensson's Grid > Block > Thread programs (see docs/how-it-works.md): a barrier under divergent control flow
cannot be expressed.

A thread sees: the kernel's parameters, the indices of its block, block-level scalars, the indices of the `ForAll` it
runs in, and arrays. Scalars set inside one `ForAll` are gone after it; what one phase leaves to the next is in an
array. A `ForAll` may have more indices than the block has threads (virtual threads): each thread then takes several.
Two `ForAll` without a barrier between run in any order, thread by thread.

Arrays are "global" (parameters), "shared" (one per block), "private" (one per thread of the block's launch extents;
kept across phases) or "scratch" (as private, in global memory: for extents that only the launch knows). `extents` of
shared and private arrays are constants, or chain parameters that a launch fixes.

Index words: kernels are built for 32 or for 64 bits; indices and bounds have base "int" or "long" accordingly. Atoms,
`Op` and `Load` are those of graphs.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.jit.ir.graph import Atom, Load, Op, Var
from sacpy.nodes import Node

# ---------------------------------------------------------------- thread level


class Divide(Node):
    """Quotient by a number that is the same for all threads: `dividend` is not negative, `multiplier` and `shift` are
    those of `withloop.division` for the word size."""

    dividend: Atom
    divisor: Atom
    multiplier: Atom
    shift: Atom


class Let(Node):
    """Sets a scalar."""

    target: Var
    rhs: Atom | Op | Load | Divide


class Store(Node):
    """Writes one element."""

    array: Var
    index: tuple[Atom, ...]
    value: Atom


ATOMIC_CODES = frozenset(["add", "min", "max", "bitand", "bitor", "bitxor"])
ATOMIC_BASES = frozenset(["int", "uint", "long", "ulong", "longlong", "ulonglong"])


class Atomic(Node):
    """Combines one element, of global or shared memory, with a value, in one step that no other thread comes between.
    `code` is one of `ATOMIC_CODES`, the element's base type one of `ATOMIC_BASES`: so what all threads together make of
    an element does not depend on their order. Accesses that are not atomic need a barrier, or another launch, between
    them and these. `old`: set to what the element was before, which does depend on the order; with a neutral value
    that looks at what other threads change."""

    code: str
    array: Var
    index: tuple[Atom, ...]
    value: Atom
    old: Var | None = None


class Check(Node):
    """Unless `condition` holds, the launch fails: a word in memory says so, the thread goes on (loads and stores behind
    a failed check keep in range by a guard of their own: `If`)."""

    condition: Atom
    what: str


class Merge(Node):
    """A scalar set by both branches of an `If`."""

    target: Var
    then: Atom
    otherwise: Atom


class If(Node):
    """A condition of one thread."""

    condition: Atom
    then: tuple[ThreadStmt, ...]
    otherwise: tuple[ThreadStmt, ...] = ()
    merges: tuple[Merge, ...] = ()


class Carried(Node):
    """A scalar of a loop: `target` is `initial` at first, `update` after each round, and visible in the loop and after
    it."""

    target: Var
    initial: Atom
    update: Atom


class SeqFor(Node):
    """A counting loop of one thread: `index` from `lower` while below `upper` (above it, for a negative step).
    `rolled`: compilers are not to write its rounds out, which has been done as far as it pays."""

    index: Var
    lower: Atom
    upper: Atom
    step: int
    carried: tuple[Carried, ...]
    body: tuple[ThreadStmt, ...]
    rolled: bool = False


class While(Node):
    """Rounds of one thread: `condition`, `test` (false leaves), `body`. With `body_first` the first round starts at the
    body."""

    carried: tuple[Carried, ...]
    condition: tuple[ThreadStmt, ...]
    test: Atom
    body: tuple[ThreadStmt, ...]
    body_first: bool = False


ThreadStmt = Let | Store | Atomic | Check | If | SeqFor | While

# ---------------------------------------------------------------- block level

WARP = 32  # threads that go in step


class ForAll(Node):
    """All threads of the block run `body`, for all `index` below `extents`, the last axis (x) running fastest over
    neighbouring threads."""

    index: tuple[Var, ...]
    extents: tuple[Atom, ...]
    body: tuple[ThreadStmt, ...]


class Barrier(Node):
    """What was written before is seen by all threads of the block after."""


class Shuffle(Node):
    """The threads of each warp hand on what they have: the element of `target` becomes that of `source` of the thread
    whose number is higher by `distance`, or the thread's own if there is none in the warp. Both are private arrays of
    one element, of a thread each; what of all threads must have come so far needs no barrier, neither before nor
    behind. A block has whole warps. Steps of 1, 2, 4, ..., each of which combines the two, make a reduction of a warp,
    with whatever function, that keeps the order of its operands."""

    target: Var
    source: Var
    distance: int


class MultiplyAdd(Node):
    """The threads of each warp multiply matrices that they hold in parts: `target += left * right`, by instructions of
    a form of `matrix_units.FORMS`. The three are private arrays. Of r rows of the target and c columns that a thread
    has, it has r * c elements, row by row, and of the left and the right matrix r and c / 2 times `deep`. What of all
    threads must have come so far needs no barrier, neither before nor behind. A block has whole warps."""

    target: Var
    left: Var
    right: Var
    form: str


class Allocate(Node):
    """An array of the block: `space` is "shared", "private" or "scratch". Uninitialised; it lives to the end of the
    statements it stands among."""

    array: Var
    space: str


class Uniform(Node):
    """Sets a scalar that is the same in all threads of the block, from such."""

    target: Var
    rhs: Atom | Op | Divide


class BlockFor(Node):
    """A loop of the whole block, with bounds that all threads share."""

    index: Var
    lower: Atom
    upper: Atom
    step: Atom
    body: tuple[BlockStmt, ...]


class BlockIf(Node):
    """A condition that all threads of the block share."""

    condition: Atom
    then: tuple[BlockStmt, ...]


class LastBlock(Node):
    """What only that block of the launch does that comes here last. It sees what the first threads of all blocks have
    written, and what others have before a barrier. For the threads of the block it is a barrier. It ends a kernel's
    body. `flag`: a shared array of one int, by which the threads are told."""

    flag: Var
    body: tuple[BlockStmt, ...]


BlockStmt = ForAll | Barrier | Shuffle | MultiplyAdd | Allocate | Uniform | BlockFor | BlockIf | LastBlock

# ---------------------------------------------------------------- kernels

ALIGNMENT = 16  # bytes of the widest access to memory


class Written(Node):
    """A result array of a kernel. `once`: every cell inside the launch's index space is written exactly once (what
    check mode asserts)."""

    array: Var
    once: bool = True


class Kernel(Node):
    """One launch. `params`: scalars and global arrays, extents of arrays among the scalars and before them. `slots`:
    the scalars at the end of `params` that are the mapping's parameter block (`Mapping.words`), in order. `grid`,
    `block`: the block's indices in the launched grid and the extents of both (outermost axis first, at most three
    each); extents are constants or parameters. `writes`: the arrays it writes; all others are only read. `bits`: 32 or
    64. `aligned`: the arrays among its parameters begin at multiples of `ALIGNMENT` bytes. `multiples`: scalars among
    its parameters, each with a power of two that it is a multiple of: a launch where it is not is another kernel's.
    `resident`: how many of its blocks a multiprocessor is to have at a time, which bounds the registers of a thread; 0:
    nobody asks."""

    name: str
    params: tuple[Var, ...]
    slots: tuple[Var, ...]
    block_index: tuple[Var, ...]
    grid: tuple[Atom, ...]
    block: tuple[Atom, ...]
    body: tuple[BlockStmt, ...]
    writes: tuple[Written, ...]
    bits: int = 32
    aligned: bool = False
    multiples: tuple[tuple[Var, int], ...] = ()
    resident: int = 0

    @property
    def index_base(self) -> str:
        """The base type of indices."""
        return "int" if self.bits == 32 else "long"


def thread_statements(statements: tuple[ThreadStmt, ...]) -> Iterator[ThreadStmt]:
    """All statements of a thread's code, inner ones included."""
    for s in statements:
        yield s
        match s:
            case If():
                yield from thread_statements(s.then)
                yield from thread_statements(s.otherwise)
            case SeqFor():
                yield from thread_statements(s.body)
            case While():
                yield from thread_statements(s.condition)
                yield from thread_statements(s.body)


def block_statements(statements: tuple[BlockStmt, ...]) -> Iterator[BlockStmt]:
    """All statements of block level, inner ones included."""
    for s in statements:
        yield s
        match s:
            case BlockFor() | LastBlock():
                yield from block_statements(s.body)
            case BlockIf():
                yield from block_statements(s.then)


def read_by_the_last(kernel: Kernel) -> frozenset[str]:
    """The arrays that the last block of a kernel reads, where it does something of its own."""
    own = (t for s in kernel.body if isinstance(s, LastBlock) for t in block_statements(s.body))
    code = (t for s in own if isinstance(s, ForAll) for t in thread_statements(s.body))
    return frozenset(t.rhs.array.name for t in code if isinstance(t, Let) and isinstance(t.rhs, Load))
