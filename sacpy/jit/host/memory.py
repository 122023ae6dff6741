"""Arrays in compiled code: what is known of them while code is written, when they die, and the instructions that count
references.

An array value is the address of its elements and of its block's header; a null header is a borrowed array: an argument,
or one that a loop over threads captured. Borrowed arrays are neither counted nor freed, and never written to. Every
block of statements owns the arrays it sets (and those handed to it); each is released, or handed on, at its last use,
which is known statically. An array with one reference that is handed to an update is updated in place.
"""

from __future__ import annotations

from sacpy.jit.host import layout
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import SIZES, Code, constant, memory_type, size_of
from sacpy.nodes import Record

BORROWED = "null"
ABSURD = (1 << 63) - 1  # bytes


class Scalar(Record):
    """A scalar: its text, for ints that are used as indices also that of the 64-bit value, and that of the vector whose
    first lane it is, where it is computed there."""

    text: str
    base: str
    wide: str | None = None
    lane: str | None = None


class Array(Record):
    """An array: `data` and `header` are addresses, `extents` 64-bit texts. `unique`: known to have no other reference.
    `scope`: the alias scope that its memory belongs to, if it has one of its own; `apart`: the scopes of memory that it
    is known not to share; `over`: the loop at hand writes it over what it reads, each cell where that alone is read."""

    data: str
    header: str
    element: str
    extents: tuple[str, ...]
    unique: bool = False
    scope: str = ""
    apart: tuple[str, ...] = ()
    over: bool = False

    def note(self, code: Code) -> str:
        """The metadata of its loads and stores."""
        scope = f", !alias.scope {code.module.list_of((self.scope,))}" if self.scope else ""
        apart = f", !noalias {code.module.list_of(self.apart)}" if self.apart else ""
        return scope + apart + (f", !llvm.access.group {code.group}" if code.group else "")

    @property
    def borrowed(self) -> bool:
        return self.header == BORROWED


Value = Scalar | Array


class Uses:
    """The arrays that statements use, inner blocks included. Computed once per statement."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[g.Stmt | g.Block, frozenset[str]]] = {}

    def of(self, item: g.Stmt | g.Block) -> frozenset[str]:
        """Names of the arrays used."""
        found = self._known.get(id(item))
        if found is None:
            found = self._known[id(item)] = (
                item,
                self._block(item) if isinstance(item, g.Block) else self._statement(item),
            )
        return found[1]

    def _block(self, block: g.Block) -> frozenset[str]:
        names = {a.name for a in block.results if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType)}
        return frozenset(names.union(*map(self.of, block.statements)))

    def _statement(self, statement: g.Stmt) -> frozenset[str]:
        if isinstance(statement, g.Check):
            return frozenset()
        return self.of_rhs(statement.rhs)

    def of_rhs(self, rhs: g.Rhs) -> frozenset[str]:
        """Names of the arrays that a right-hand side uses."""
        names = {a.name for a in g.operands(rhs) if isinstance(a, g.Var) and isinstance(a.type, g.ArrayType)}
        return frozenset(names.union(*map(self.of, g.blocks(rhs))))


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
    """The bytes of the elements of an array that there is."""
    return elements(code, (str(size_of(base)), *extents))


def new_block(code: Code, base: str, extents: tuple[str, ...]) -> str:
    """The header of a block for an array; null where there is no room. Its bytes saturate, so that what is too large is
    refused."""
    module, known, others = code.module, size_of(base), []
    for extent in extents:
        if extent.isdigit():
            known = min(known * int(extent), ABSURD)
        else:
            others.append(extent)
    while len(others) > 3:
        module.declare("sacpy_times", "declare i64 @sacpy_times(i64, i64)")
        others[:2] = [code.op(f"call i64 @sacpy_times(i64 {others[0]}, i64 {others[1]})")]
    name = f"@sacpy_array{len(others)}" if others else "@sacpy_new"
    module.declare(name, f"declare noalias align 64 ptr {name}(ptr, i64{', i64' * len(others)})")
    return code.op(f"call ptr {name}(ptr %frame, {', '.join(f'i64 {n}' for n in (str(known), *others))})")


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
        code.module.declare("sacpy_release", "declare void @sacpy_release(ptr, ptr)")
        code.do(f"call void @sacpy_release(ptr %frame, ptr {array.header})")


def is_unique(code: Code, array: Array) -> str:
    """Whether the array may be written to: an i1."""
    if array.borrowed:
        return "false"
    return "true" if array.unique else code.op(f"call i1 @sacpy.unique(ptr {array.header})")


def copy_elements(code: Code, base: str, to: str, source: str, count: str) -> None:
    """Copies elements between arrays that do not overlap, or are the same."""
    code.module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    size = code.product(count, str(size_of(base)))
    code.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 false)")


def fill_elements(code: Code, array: Array, count: str, value: str) -> None:
    """Sets the first elements of an array to a scalar."""
    type_ = memory_type(array.element)
    bits, bytes_ = f"i{8 * SIZES[type_]}", code.product(count, str(SIZES[type_]))
    word = value
    if array.element == "bool":
        word = code.op(f"zext i1 {value} to i8")
    elif type_ != bits:
        word = code.op(f"bitcast {type_} {value} to {bits}")
    if bits == "i8" or value in _ZEROS:
        code.module.declare("llvm.memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        code.do(
            f"call void @llvm.memset.p0.i64(ptr {array.data}, i8 {word if bits == 'i8' else 0}, i64 {bytes_}, i1 false)"
        )
        return
    wide = word if bits == "i64" else code.op(f"zext {bits} {word} to i64")
    for shift in [s for s in (16, 32) if s >= SIZES[type_] * 8]:
        wide = code.op(f"or i64 {wide}, {code.op(f'shl i64 {wide}, {shift}')}")
    code.module.declare("sacpy_fill", "declare void @sacpy_fill(ptr, i64, i64)")
    code.do(f"call void @sacpy_fill(ptr {array.data}, i64 {bytes_}, i64 {wide})")


_ZEROS = frozenset(("0", constant("double", 0.0)))


def element_address(code: Code, array: Array, at: str) -> str:
    """The address of the element of a row-major number."""
    return code.offset(memory_type(array.element), array.data, at)


COUNTING = """
define internal void @sacpy.retain(ptr %header) alwaysinline {
  %none = icmp eq ptr %header, null
  br i1 %none, label %done, label %count
count:
  %old = load i64, ptr %header
  %new = add i64 %old, 1
  store i64 %new, ptr %header
  br label %done
done:
  ret void
}
define internal i1 @sacpy.unique(ptr %header) alwaysinline {
  %none = icmp eq ptr %header, null
  br i1 %none, label %no, label %count
count:
  %references = load i64, ptr %header
  %one = icmp eq i64 %references, 1
  ret i1 %one
no:
  ret i1 false
}
"""
assert layout.COUNT == 0
