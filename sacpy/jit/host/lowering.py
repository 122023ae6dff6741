"""A unit as the text of an LLVM module: its functions, and the entry that Python calls.

The entry, `i32 sacpy_entry(ptr control, ptr in, ptr out)`, has 8 bytes per parameter and result of the root: ints extended to 64 bits, reals as their bits, arrays as the address of their elements. The first word of `out` says beforehand how many bytes of stack may be used (0: few). It returns a status of `layout`. Arguments are borrowed. The arrays among the results are each a block of
their own with one reference, which the caller gets.
"""

from __future__ import annotations

from sacpy.jit.graph import ArrayType, Atom, Function, Unit
from sacpy.jit.host import layout
from sacpy.jit.host.functions import called, function_name, lower_function
from sacpy.jit.host.legal import LLVM_TYPES, Code, Module
from sacpy.jit.host.memory import COUNTING, byte_count
from sacpy.jit.host.writer import UnitContext, result_type, types_of
from sacpy.jit.options import Options
from sacpy.lang.types import SIGNED

Extents = dict[int, tuple[int | tuple[None, int], ...]]


def lower(unit: Unit, options: Options) -> str:
    """The LLVM IR of a unit. The same for any number of threads."""
    module = Module()
    context = UnitContext(module, options, {f.name: f for f in unit.functions}, recursive(unit))
    for function in unit.functions:
        lower_function(context, function)
    _entry(module, unit.root, {o.positions[0]: o.extents for o in unit.outputs if o.kind == "array"})
    return COUNTING + module.text()


def recursive(unit: Unit) -> frozenset[str]:
    """The functions that may call themselves, directly or through others."""
    reached = {f.name: called(f) for f in unit.functions}
    for _ in unit.functions:
        for name, others in reached.items():
            reached[name] = others.union(*(reached[o] for o in others))
    return frozenset(name for name, others in reached.items() if name in others)


def _entry(module: Module, root: Function, extents: Extents) -> None:
    """`extents`: by the position of each array among the results, numbers or the positions of the results that hold them."""
    code = Code(module, f"@{layout.ENTRY}", "i32", [("ptr", "%control"), ("ptr", "%in"), ("ptr", "%out")], head="define")
    code.do(f"%frame = alloca [{layout.FRAME_FIELDS} x i64], align 64")
    module.declare("sacpy_enter", "declare void @sacpy_enter(ptr, ptr, i64)")
    module.declare("sacpy_drop", "declare void @sacpy_drop(ptr)")
    code.do(f"call void @sacpy_enter(ptr %frame, ptr %control, i64 {code.load('i64', '%out')})")
    args = ["ptr %frame"]
    for number, p in enumerate(root.params):
        word = code.offset("i64", "%in", str(number))
        args.append(f"ptr {code.load('ptr', word)}, ptr null" if isinstance(p.type, ArrayType) else f"{LLVM_TYPES[p.base]} {_unpacked(code, p.base, word)}")
    type_ = result_type(root.body.results)
    made = code.op(f"call fastcc {type_} {function_name(root)}({', '.join(args)})")
    status = code.op(f"extractvalue {type_} {made}, 0")
    fine, failed = code.label("fine"), code.label("failed")
    code.branch(code.op(f"icmp eq i32 {status}, 0"), fine, failed)
    code.place(failed)
    code.store("i64", code.load("i64", code.offset("i64", "%frame", str(layout.FRAME_SITE))), "%out")
    code.do("call void @sacpy_drop(ptr %frame)")
    code.end(f"ret i32 {status}")
    code.place(fine)
    _results(code, root, made, extents)
    code.finish()


def _unpacked(code: Code, base: str, word: str) -> str:
    """A scalar out of its 8 bytes; the machine has the low bytes first."""
    if base == "bool":
        return code.op(f"icmp ne i64 {code.load('i64', word)}, 0")
    return code.load(LLVM_TYPES[base], word)


def _results(code: Code, root: Function, made: str, extents: Extents) -> None:
    """Stores the results; the arrays first become blocks of their own."""
    type_, at = result_type(root.body.results), 1
    whole = zip(root.body.results, _positions(root.body.results))
    scalars = {number: code.op(f"extractvalue {type_} {made}, {k}") for number, (a, k) in enumerate(whole) if not isinstance(a.type, ArrayType)}
    module = code.module
    module.declare("sacpy_own", "declare ptr @sacpy_own(ptr, ptr, ptr, i64)")
    arrays: list[tuple[int, str]] = []
    for number, a in enumerate(root.body.results):
        word = code.offset("i64", "%out", str(number))
        if isinstance(a.type, ArrayType):
            data, header = (code.op(f"extractvalue {type_} {made}, {at + k}") for k in (0, 1))
            shape = tuple(str(e) if isinstance(e, int) else code.op(f"sext i32 {scalars[e[1]]} to i64") for e in extents[number])
            own = code.op(f"call ptr @sacpy_own(ptr %frame, ptr {data}, ptr {header}, i64 {byte_count(code, a.base, shape)})")
            arrays.append((number, own))
        else:
            code.store("i64", _packed(code, a.base, scalars[number]), word)
        at += len(types_of([a]))
    _hand_over(code, arrays)


def _positions(results: tuple[Atom, ...]) -> list[int]:
    found, at = [], 1
    for a in results:
        found.append(at)
        at += len(types_of([a]))
    return found


def _packed(code: Code, base: str, text: str) -> str:
    """A scalar as 64 bits."""
    if base == "double":
        return code.op(f"bitcast double {text} to i64")
    if base == "float":
        return code.op(f"zext i32 {code.op(f'bitcast float {text} to i32')} to i64")
    if LLVM_TYPES[base] == "i64":
        return text
    return code.op(f"{'sext' if base in SIGNED else 'zext'} {LLVM_TYPES[base]} {text} to i64")


def _hand_over(code: Code, arrays: list[tuple[int, str]]) -> None:
    """Unless memory ran out while results were copied, the caller gets them."""
    short = code.label("short")
    code.module.declare("sacpy_hand_over", "declare void @sacpy_hand_over(ptr)")
    for _, own in arrays:
        on = code.label("own")
        code.branch(code.op(f"icmp ne ptr {own}, null"), on, short)
        code.place(on)
    for number, own in arrays:
        code.do(f"call void @sacpy_hand_over(ptr {own})")
        data = code.op(f"getelementptr inbounds i8, ptr {own}, i64 {layout.HEADER_BYTES}")
        code.store("ptr", data, code.offset("i64", "%out", str(number)))
    code.do("call void @sacpy_drop(ptr %frame)")
    code.end(f"ret i32 {layout.OK}")
    if arrays:
        code.place(short)
        code.do("call void @sacpy_drop(ptr %frame)")
        code.end(f"ret i32 {layout.OUT_OF_MEMORY}")
