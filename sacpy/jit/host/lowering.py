"""A unit as the text of an LLVM module: its functions, and the entry that Python calls.

The entry, `i32 sacpy_entry(ptr control, ptr in, ptr out)`, has 8 bytes per parameter and result of the root: ints
extended to 64 bits, reals as their bits, arrays as the address of their elements. The first word of `out` says
beforehand how many bytes of stack may be used (0: few). It returns a status of `layout`. Arguments are borrowed, but
for those that the caller gives away: where the unit may take some over (`takeover`), a further word behind the
parameters has a bit for each, by its position. The arrays among the results are each a block of their own with one
reference, which the caller gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.jit.analysis.indices import Facts
from sacpy.jit.host import layout
from sacpy.jit.host.functions import Lowering
from sacpy.jit.host.memory import BORROWED, COUNTING, Array, byte_count
from sacpy.jit.host.takeover import takes
from sacpy.jit.host.writer import Inside, Placed, UnitContext, function_name, result_type, types_of
from sacpy.jit.ir import graph as g
from sacpy.jit.ir.rewrite import callees
from sacpy.jit.llvm.legal import EXTENT, LLVM_TYPES, Code, Module
from sacpy.jit.options import Options
from sacpy.lang.types import SIGNED

if TYPE_CHECKING:
    from sacpy.jit.host.watched import Watch
    from sacpy.jit.schedule.loops import Written

Extents = dict[int, tuple[int | tuple[None, int], ...]]


def lower(unit: g.Unit, options: Options, watch: Watch | None = None, written: Written | None = None) -> str:
    """The LLVM IR of a unit. The same for any number of threads. `watch`: it is to count what its with-loops take;
    `written`: is told the schedules of its loops."""
    module = Module()
    functions = {f.name: f for f in unit.functions}
    known = None
    if options.short_circuit and len(unit.functions) > 1:
        from sacpy.jit.analysis.destinations import destinations

        known = destinations(unit)
    context = UnitContext(module, options, functions, recursive(unit), known, watch=watch, schedules=written)
    found = takes(unit, bool(context.recursive))
    for function in unit.functions:
        taken = found if function is unit.root and not context.recursive else None
        lower_function(context, function, taken)
    done = 0
    while done < len(context.variants):  # which becomes longer: variants call others
        name, placed = list(context.variants)[done]
        lower_function(context, functions[name], None, placed)
        done += 1
    extents = {o.positions[0]: o.extents if o.part is None else o.part[0] for o in unit.outputs if o.kind == "array"}
    _entry(module, unit.root, extents, found)
    return COUNTING + module.text()


def recursive(unit: g.Unit) -> frozenset[str]:
    """The functions that may call themselves, directly or through others."""
    called = {f.name: callees(f) for f in unit.functions}
    callers: dict[str, list[str]] = {name: [] for name in called}
    for name, others in called.items():
        for other in others:
            callers[other].append(name)
    calls = {name: len(others) for name, others in called.items()}
    ended = [name for name, count in calls.items() if not count]
    for name in ended:  # which becomes longer: those that call only such as come to an end
        for caller in callers[name]:
            calls[caller] -= 1
            if not calls[caller]:
                ended.append(caller)
    left = {name: others for name, others in called.items() if calls[name]}
    return frozenset(name for name in left if name in _reached(left, name))


def _reached(called: dict[str, set[str]], start: str) -> set[str]:
    """The functions that one may call, directly or through others; of those that there are entries of."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = called.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _entry(module: Module, root: g.Function, extents: Extents, takes: tuple[int, ...]) -> None:
    """`extents`: by the position of each array among the results, numbers or the positions of the results that hold
    them; `takes`: the parameters that may be given away."""
    code = Code(
        module, f"@{layout.ENTRY}", "i32", [("ptr", "%control"), ("ptr", "%in"), ("ptr", "%out")], head="define"
    )
    code.do(f"%frame = alloca [{layout.FRAME_FIELDS} x i64], align 64")
    module.declare("sacpy_enter", "declare void @sacpy_enter(ptr, ptr, i64)")
    module.declare("sacpy_drop", "declare void @sacpy_drop(ptr)")
    code.do(f"call void @sacpy_enter(ptr %frame, ptr %control, i64 {code.load('i64', '%out')})")
    args, headers = ["ptr %frame"], {}
    given = code.load("i64", code.offset("i64", "%in", str(len(root.params)))) if takes else ""
    for number, p in enumerate(root.params):
        word = code.offset("i64", "%in", str(number))
        if isinstance(p.type, g.ArrayType):
            data, header = code.load("ptr", word), BORROWED
            if number in takes:
                header = headers[number] = _adopted(code, data, given, number)
            args.append(f"ptr {data}, ptr {header}")
        else:
            args.append(f"{LLVM_TYPES[p.base]} {_unpacked(code, p.base, word)}")
    type_ = result_type(root.body.results)
    made = code.op(f"call fastcc {type_} {function_name(root)}({', '.join(args)})")
    status = code.op(f"extractvalue {type_} {made}, 0")
    fine, failed = code.label("fine"), code.label("failed")
    code.branch(code.op(f"icmp eq i32 {status}, 0"), fine, failed)
    code.place(failed)
    code.store("i64", code.load("i64", code.offset("i64", "%frame", str(layout.FRAME_SITE))), "%out")
    if takes:
        _return(code, headers)
    code.do("call void @sacpy_drop(ptr %frame)")
    code.end(f"ret i32 {status}")
    code.place(fine)
    _results(code, root, made, extents)
    code.finish()


def _adopted(code: Code, data: str, given: str, number: int) -> str:
    """The header of an argument that the caller may have given away; null if he has not."""
    code.module.declare("sacpy_adopt", "declare void @sacpy_adopt(ptr, ptr)")
    mine = code.op(f"icmp ne i64 {code.op(f'and i64 {given}, {1 << number}')}, 0")
    block = code.op(f"getelementptr i8, ptr {data}, i64 -{layout.HEADER_BYTES}")
    header = code.op(f"select i1 {mine}, ptr {block}, ptr null")
    code.do(f"call void @sacpy_adopt(ptr %frame, ptr {header})")
    return header


def _return(code: Code, headers: dict[int, str]) -> None:
    """Gives the caller back what is left of what he gave away. The second word of `out` says which arrays that are."""
    code.module.declare("sacpy_returned", "declare i64 @sacpy_returned(ptr, ptr)")
    left = "0"
    for number, header in headers.items():
        there = code.op(f"call i64 @sacpy_returned(ptr %frame, ptr {header})")
        left = code.op(f"or i64 {left}, {code.op(f'shl i64 {there}, {number}')}")
    code.store("i64", left, code.offset("i64", "%out", "1"))


def _unpacked(code: Code, base: str, word: str) -> str:
    """A scalar out of its 8 bytes; the machine has the low bytes first."""
    if base == "bool":
        return code.op(f"icmp ne i64 {code.load('i64', word)}, 0")
    return code.load(LLVM_TYPES[base], word)


def _results(code: Code, root: g.Function, made: str, extents: Extents) -> None:
    """Stores the results; the arrays first become blocks of their own."""
    type_, at = result_type(root.body.results), 1
    whole = zip(root.body.results, _positions(root.body.results))
    scalars = {
        number: code.op(f"extractvalue {type_} {made}, {k}")
        for number, (a, k) in enumerate(whole)
        if not isinstance(a.type, g.ArrayType)
    }
    module = code.module
    module.declare("sacpy_own", "declare ptr @sacpy_own(ptr, ptr, ptr, i64)")
    arrays: list[tuple[int, str]] = []
    for number, a in enumerate(root.body.results):
        word = code.offset("i64", "%out", str(number))
        if isinstance(a.type, g.ArrayType):
            data, header = (code.op(f"extractvalue {type_} {made}, {at + k}") for k in (0, 1))
            shape = tuple(
                str(e) if isinstance(e, int) else code.op(f"sext i32 {scalars[e[1]]} to i64") for e in extents[number]
            )
            own = code.op(
                f"call ptr @sacpy_own(ptr %frame, ptr {data}, ptr {header}, i64 {byte_count(code, a.base, shape)})"
            )
            arrays.append((number, own))
        else:
            code.store("i64", _packed(code, a.base, scalars[number]), word)
        at += len(types_of([a]))
    _hand_over(code, arrays)


def _positions(results: tuple[g.Atom, ...]) -> list[int]:
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


def lower_function(unit: UnitContext, function: g.Function, taken: tuple[int, ...] | None, placed: Placed = ()) -> None:
    """Writes a function into the unit's module. `taken`: which of its parameters it may take over, if it is
    the root; `placed`: the results that it makes in places that it is given."""
    params = [("ptr", "%frame")]
    extents = {e for p in function.params if isinstance(p.type, g.ArrayType) for e in p.type.extents}
    for number, p in enumerate(function.params):
        if isinstance(p.type, g.ArrayType):
            params += [("ptr", f"%p{number}"), ("ptr", f"%h{number}")]
        else:
            params.append((EXTENT if p in extents else LLVM_TYPES[p.base], f"%p{number}"))
    params += [("ptr", f"%place{k}") for k, p in placed if p is None]
    results = result_type(function.body.results)
    code = Code(unit.module, function_name(function, placed), results, params, head="define internal fastcc")
    lowering = Lowering(unit, code, Facts.of(function), Inside(function, taken))
    lowering.results = results
    if function.name in unit.recursive:
        lowering.poll()
        stack_check(lowering)
    for number, p in enumerate(function.params):
        if isinstance(p.type, g.ArrayType):
            lowering.bind_array(p, f"%p{number}", f"%h{number}")
        else:
            lowering.bind_scalar(p, f"%p{number}")
    owned = [p.name for p in function.params if isinstance(p.type, g.ArrayType)]
    into: dict[str, Array] = {}
    if placed:
        from sacpy.jit.host.calls import given_places

        into = given_places(lowering, function, placed)
    values = lowering.block(function.body, owned, into)
    for (k, _), place in zip(placed, into.values()):
        value = values[k]
        assert isinstance(value, Array)
        values[k] = lowering.built(value, place)
    made, at = f"{results} {{i32 0{''.join(f', {t} poison' for t in types_of(function.body.results))}}}", 1
    for value in values:
        parts = (
            [("ptr", value.data), ("ptr", value.header)]
            if isinstance(value, Array)
            else [(LLVM_TYPES[value.base], value.text)]
        )
        for type_, text in parts:
            made = f"{results} " + code.op(f"insertvalue {made}, {type_} {text}, {at}")
            at += 1
    code.end(f"ret {made}")
    lowering.finish_failures()
    code.finish()


def stack_check(lowering: Lowering) -> None:
    """Leaves if the stack is nearly used up."""
    code = lowering.code
    code.module.declare("llvm.frameaddress", "declare ptr @llvm.frameaddress.p0(i32)")
    here = code.op(f"ptrtoint ptr {code.op('call ptr @llvm.frameaddress.p0(i32 0)')} to i64")
    limit = code.load("i64", code.offset("i64", "%frame", str(layout.FRAME_STACK_LIMIT)))
    lowering.unless(code.op(f"icmp ugt i64 {here}, {limit}"), layout.TOO_DEEP)
