"""Calls of functions of the unit, and the functions that make results in places that they are given.

In: a call; a function. Out: `{i32, results...} @name(ptr frame, params..., places...)`. The place of a result is the
address of its elements, of which there are as many as the arguments tell (`analysis/destinations`). A variant of a
function for the places that a call gives is written when somebody calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sacpy.jit.host.memory import BORROWED, Array
from sacpy.jit.host.writer import Writer, function_name, result_type
from sacpy.jit.ir import graph as g
from sacpy.jit.llvm.legal import LLVM_TYPES


def write_call(w: Writer, targets: Sequence[g.Var], rhs: g.Call, dying: set[str], into: Mapping[str, Array]) -> None:
    """A call of a function of the unit. It takes over the references of its arguments."""
    callee, code = w.unit.functions[rhs.function], w.code
    can = () if w.unit.known is None else w.unit.known.some.get(rhs.function, ())
    placed = tuple(k for k, t in enumerate(targets) if k in can and t.name in into)
    args = ["ptr %frame"]
    for a in rhs.args:
        value = w.take(a, dying)
        if isinstance(value, Array):
            args += [f"ptr {value.data}", f"ptr {value.header}"]
        else:
            args.append(f"{LLVM_TYPES[value.base]} {value.text}")
    args += [f"ptr {into[targets[k].name].data}" for k in placed]
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
        if k in placed:
            w.env[t.name] = w.as_built(into[t.name])
        else:
            data, header = (code.op(f"extractvalue {type_} {made}, {at + i}") for i in (0, 1))
            w.bind_array(t, data, header)
        at += 2


def given_places(w: Writer, function: g.Function, placed: Sequence[int]) -> dict[str, Array]:
    """The places that a variant of a function is given, by the names of its results: parameters `%place`, each with the
    number of its result. How large they are is computed of the other parameters."""
    lets = {t.name: s for s in function.body.statements if isinstance(s, g.Let) for t in s.targets}

    def compute(a: g.Atom) -> None:
        if isinstance(a, g.Var) and a.name not in w.env:
            s = lets[a.name]
            for other in g.operands(s.rhs):
                compute(other)
            w.statement(s, set(), {})

    found: dict[str, Array] = {}
    for k in placed:
        result = function.body.results[k]
        assert isinstance(result, g.Var) and isinstance(result.type, g.ArrayType)
        for extent in result.type.extents:
            compute(extent)
        found[result.name] = Array(f"%place{k}", BORROWED, result.base, w.wides(result.type.extents))
    return found
