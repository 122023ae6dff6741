"""Calls of functions of the unit, and the functions that make results in places that they are given.

In: a call; a function. Out: `{i32, results...} @name(ptr frame, params..., places...)`. The place of a result is the
address of its elements, of which there are as many as the arguments tell (`analysis/destinations`); that of what a
parameter becomes is where the parameter lies: the argument is moved to the place before the call, unless it is there. A
variant of a function for the places that a call gives is written when somebody calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.analysis.makers import NOWHERE
from sacpy.jit.host.memory import BORROWED, Array
from sacpy.jit.host.writer import Placed, Writer, function_name, result_type
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import LLVM_TYPES


def write_call(w: Writer, targets: Sequence[g.Var], rhs: g.Call, dying: set[str], into: Mapping[str, Array]) -> None:
    """A call of a function of the unit. It takes over the references of its arguments."""
    callee, code = w.unit.functions[rhs.function], w.code
    known = w.unit.known or NOWHERE
    can, over = known.some.get(rhs.function, ()), known.over.get(rhs.function, {})
    placed = tuple(
        (k, over[k] if k in over and (k not in can or _is_there(w, rhs.args[over[k]], into[t.name])) else None)
        for k, t in enumerate(targets)
        if t.name in into and (k in can or k in over)
    )
    moved = {p: into[targets[k].name] for k, p in placed if p is not None}
    args = ["ptr %frame"]
    for number, a in enumerate(rhs.args):
        value = w.placed(w.array(a), moved[number]) if number in moved else w.take(a, dying)
        if isinstance(value, Array):
            args += [f"ptr {value.data}", f"ptr {value.header}"]
        else:
            args.append(f"{LLVM_TYPES[value.base]} {value.text}")
    args += [f"ptr {into[targets[k].name].data}" for k, p in placed if p is None]
    if placed:
        w.unit.variants[rhs.function, placed] = None
    type_ = result_type(callee.body.results)
    made = code.op(f"call fastcc {type_} {function_name(callee, placed)}({', '.join(args)})")
    w.pass_on(code.op(f"extractvalue {type_} {made}, 0"))
    at = 1
    for k, t in enumerate(targets):
        if not isinstance(t.type, g.ArrayType):
            w.bind_scalar(t, code.op(f"extractvalue {type_} {made}, {at}"))
            at += 1
            continue
        if any(k == number for number, _ in placed):
            w.env[t.name] = w.as_built(into[t.name])
        else:
            data, header = (code.op(f"extractvalue {type_} {made}, {at + i}") for i in (0, 1))
            w.bind_array(t, data, header)
        at += 2


def _is_there(w: Writer, a: g.Atom, place: Array) -> bool:
    """Whether an argument lies in a place."""
    return isinstance(a, g.Var) and w.array(a).data == place.data


def given_places(w: Writer, function: g.Function, placed: Placed) -> dict[str, Array]:
    """The places that a variant of a function is given, by the names of its results: parameters `%place`, each with the
    number of its result, or those that become results. How large they are is computed of the other parameters."""
    lets = {t.name: s for s in function.body.statements if isinstance(s, g.Let) for t in s.targets}

    def compute(a: g.Atom) -> None:
        if isinstance(a, g.Var) and a.name not in w.env:
            s = lets[a.name]
            for other in g.operands(s.rhs):
                compute(other)
            w.statement(s, set(), {})

    found: dict[str, Array] = {}
    for k, p in placed:
        result = function.body.results[k]
        assert isinstance(result, g.Var) and isinstance(result.type, g.ArrayType)
        for extent in result.type.extents:
            compute(extent)
        data = f"%place{k}" if p is None else f"%p{p}"
        found[result.name] = Array(data, BORROWED, result.base, w.wides(result.type.extents))
    return found
