"""Arrays in compiled code: what is known of them while code is written, when they die, and the instructions that count references.

An array value is the address of its elements and of its block's header; a null header is a borrowed array: an argument, or one that a loop over threads captured. Borrowed arrays are neither counted nor freed, and never written to. Every block of statements owns the arrays it sets (and those
handed to it); each is released, or handed on, at its last use, which is known statically. An array with one reference that is handed to an update is updated in place.
"""

from __future__ import annotations

from sacpy.jit.graph import ArrayType, Block, Check, Rhs, Stmt, Var, blocks, operands
from sacpy.jit.host import layout
from sacpy.jit.host.legal import Code, memory_type, size_of
from sacpy.nodes import Record

BORROWED = "null"


class Scalar(Record):
    """A scalar: its text, and for ints that are used as indices also that of the 64-bit value."""

    text: str
    base: str
    wide: str | None = None


class Array(Record):
    """An array: `data` and `header` are addresses, `extents` 64-bit texts. `unique`: known to have no other reference. `scope`: the alias scope that its memory belongs to, if it has one of its own; `apart`: the scopes of memory that it is known not to share."""

    data: str
    header: str
    element: str
    extents: tuple[str, ...]
    unique: bool = False
    scope: str = ""
    apart: tuple[str, ...] = ()

    def note(self, code: Code) -> str:
        """The metadata of its loads and stores."""
        scope = f", !alias.scope {code.module.list_of((self.scope,))}" if self.scope else ""
        return scope + (f", !noalias {code.module.list_of(self.apart)}" if self.apart else "")

    @property
    def borrowed(self) -> bool:
        return self.header == BORROWED


Value = Scalar | Array


class Uses:
    """The arrays that statements use, inner blocks included. Computed once per statement."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Stmt | Block, frozenset[str]]] = {}

    def of(self, item: Stmt | Block) -> frozenset[str]:
        """Names of the arrays used."""
        found = self._known.get(id(item))
        if found is None:
            found = self._known[id(item)] = (item, self._block(item) if isinstance(item, Block) else self._statement(item))
        return found[1]

    def _block(self, block: Block) -> frozenset[str]:
        names = {a.name for a in block.results if isinstance(a, Var) and isinstance(a.type, ArrayType)}
        return frozenset(names.union(*map(self.of, block.statements)))

    def _statement(self, statement: Stmt) -> frozenset[str]:
        if isinstance(statement, Check):
            return frozenset()
        return self.of_rhs(statement.rhs)

    def of_rhs(self, rhs: Rhs) -> frozenset[str]:
        """Names of the arrays that a right-hand side uses."""
        names = {a.name for a in operands(rhs) if isinstance(a, Var) and isinstance(a.type, ArrayType)}
        return frozenset(names.union(*map(self.of, blocks(rhs))))


# ---------------------------------------------------------------- instructions


def elements(code: Code, extents: tuple[str, ...]) -> str:
    """The number of elements, 64 bits."""
    total = "1"
    for extent in extents:
        total = constant_product(total, extent) or code.product(total, extent)
    return total


def constant_product(a: str, b: str) -> str | None:
    """The product of two texts if both are numbers."""
    return str(int(a) * int(b)) if a.isdigit() and b.isdigit() else None


def byte_count(code: Code, base: str, extents: tuple[str, ...]) -> str:
    """The bytes of an array's elements, 64 bits unsigned. Saturates, so that what is too large is refused when it is allocated."""
    total = str(size_of(base))
    for extent in extents:
        total = constant_product(total, extent) or code.op(f"call i64 @sacpy.times(i64 {total}, i64 {extent})")
    return total


def flat(code: Code, index: tuple[str, ...], extents: tuple[str, ...]) -> str:
    """The row-major number of an index; a partial index gives the number of its sub-array's first element."""
    at = "0"
    for i, extent in zip(index, extents):
        at = code.sum(code.product(at, extent), i)
    for extent in extents[len(index) :]:
        at = code.product(at, extent)
    return at


def retain(code: Code, array: Array) -> None:
    """One more reference."""
    array.unique = False
    if not array.borrowed:
        code.do(f"call void @sacpy.retain(ptr {array.header})")


def release(code: Code, array: Array) -> None:
    """One reference less; the last one frees the block."""
    if not array.borrowed:
        code.do(f"call void @sacpy.release(ptr %frame, ptr {array.header})")


def is_unique(code: Code, array: Array) -> str:
    """Whether the array may be written to: an i1."""
    if array.borrowed:
        return "false"
    return "true" if array.unique else code.op(f"call i1 @sacpy.unique(ptr {array.header})")


def copy_elements(code: Code, base: str, to: str, source: str, count: str) -> None:
    """Copies elements between arrays that do not overlap."""
    code.module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    size = code.product(count, str(size_of(base)))
    code.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")


def element_address(code: Code, array: Array, at: str) -> str:
    """The address of the element of a row-major number."""
    return code.offset(memory_type(array.element), array.data, at)


COUNTING = f"""
define internal void @sacpy.retain(ptr %header) alwaysinline {{
  %none = icmp eq ptr %header, null
  br i1 %none, label %done, label %count
count:
  %old = load i64, ptr %header
  %new = add i64 %old, 1
  store i64 %new, ptr %header
  br label %done
done:
  ret void
}}
define internal void @sacpy.release(ptr %frame, ptr %header) alwaysinline {{
  %none = icmp eq ptr %header, null
  br i1 %none, label %done, label %count
count:
  %old = load i64, ptr %header
  %new = sub i64 %old, 1
  store i64 %new, ptr %header
  %last = icmp eq i64 %new, 0
  br i1 %last, label %free, label %done
free:
  call void @sacpy_free(ptr %frame, ptr %header)
  br label %done
done:
  ret void
}}
define internal i1 @sacpy.unique(ptr %header) alwaysinline {{
  %none = icmp eq ptr %header, null
  br i1 %none, label %no, label %count
count:
  %references = load i64, ptr %header
  %one = icmp eq i64 %references, 1
  ret i1 %one
no:
  ret i1 false
}}
define internal i64 @sacpy.times(i64 %a, i64 %b) alwaysinline {{
  %both = call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 %a, i64 %b)
  %product = extractvalue {{i64, i1}} %both, 0
  %over = extractvalue {{i64, i1}} %both, 1
  %result = select i1 %over, i64 -1, i64 %product
  ret i64 %result
}}
define internal void @sacpy.copied(ptr %frame, ptr %header, i64 %bytes) alwaysinline {{
  %borrowed = icmp eq ptr %header, null
  br i1 %borrowed, label %count, label %done
count:
  %control = load ptr, ptr %frame
  %total = getelementptr i64, ptr %control, i64 {layout.CONTROL_COPIED}
  %old = atomicrmw add ptr %total, i64 %bytes monotonic
  br label %done
done:
  ret void
}}
declare {{i64, i1}} @llvm.umul.with.overflow.i64(i64, i64)
declare void @sacpy_free(ptr, ptr)
declare noalias ptr @sacpy_new(ptr, i64)
"""
assert layout.COUNT == 0
