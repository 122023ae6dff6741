"""Graphs as text: one statement a line, the same text for the same graph.

In: a unit, a function or a block. Out: text for tests and `--emit graph`. A variable's type stands where it is set;
operations on indices known not to wrap carry `!`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.ir import graph as g

INDENT = "    "


def print_unit(unit: g.Unit) -> str:
    """All functions, the root first."""
    return "\n".join(map(print_function, unit.functions))


def print_function(f: g.Function) -> str:
    """One function."""
    head = f"function {f.name}({', '.join(map(_typed, f.params))})"
    return "\n".join([head, *_indent(_block(f.body, "return"))]) + "\n"


def print_block(block: g.Block) -> str:
    """One block."""
    return "\n".join(_block(block, "give")) + "\n"


def type_text(type_: g.Type) -> str:
    """`double`, `double[n,3]`."""
    return f"{type_.base}[{','.join(map(atom_text, type_.extents))}]" if isinstance(type_, g.ArrayType) else type_.base


def atom_text(a: g.Atom) -> str:
    """A name, or a constant: `3`, `2.5`, `true`, `1.0:float`."""
    if isinstance(a, g.Var):
        return a.name
    if a.base == "bool":
        return "true" if a.value else "false"
    return str(a.value) if a.base in ("int", "double") else f"{a.value}:{a.base}"


def _atoms(many: Iterable[g.Atom]) -> str:
    return ", ".join(map(atom_text, many))


def _vector(many: Iterable[g.Atom]) -> str:
    return f"[{','.join(map(atom_text, many))}]"


def _typed(v: g.Var) -> str:
    return f"{type_text(v.type)} {v.name}"


def _indent(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _block(block: g.Block, word: str) -> list[str]:
    lines: list[str] = []
    for s in block.statements:
        if isinstance(s, g.Check):
            lines.append(f"check {atom_text(s.condition)} : {s.what}")
        else:
            lines += _let(s)
    return [*lines, f"{word} {_atoms(block.results)}".rstrip()]


def _let(let: g.Let) -> list[str]:
    first, *others = _rhs(let.rhs)
    targets = ", ".join(map(_typed, let.targets))
    return [f"{targets} = {first}" if targets else first, *others]


def _carried(params: tuple[g.Var, ...], initial: tuple[g.Atom, ...]) -> str:
    return ", ".join(f"{_typed(p)} := {atom_text(i)}" for p, i in zip(params, initial))


def _rhs(rhs: g.Rhs) -> list[str]:
    match rhs:
        case g.Op(code=code, args=args, exact=exact):
            return [f"{code}{'!' if exact else ''} {_atoms(args)}"]
        case g.Load(array=array, index=index):
            return [f"load {array.name}{_vector(index)}"]
        case g.View(array=array, index=index):
            return [f"view {array.name}{_vector(index)}"]
        case g.Reshape(array=array, extents=extents):
            return [f"reshape {array.name} to {_vector(extents)}"]
        case g.Cons():
            return [f"array {rhs.base}[{','.join(map(str, rhs.extents))}] of {_atoms(rhs.elements)}"]
        case g.Update(array=array, index=index, value=value):
            return [f"update {array.name}{_vector(index)} with {atom_text(value)}"]
        case g.Call(function=function, args=args):
            return [f"call {function}({_atoms(args)})"]
        case g.If():
            return [
                f"if {atom_text(rhs.condition)}",
                *_indent(_block(rhs.then, "give")),
                "else",
                *_indent(_block(rhs.otherwise, "give")),
            ]
        case g.Loop():
            head = f"{'do' if rhs.body_first else 'loop'} {_carried(rhs.params, rhs.initial)}".rstrip()
            return [
                head,
                f"{INDENT}while",
                *_indent(_indent(_block(rhs.condition, "test"))),
                f"{INDENT}round",
                *_indent(_indent(_block(rhs.body, "next"))),
            ]
        case g.For():
            head = (
                f"for {rhs.index.name} from {atom_text(rhs.lower)} to {atom_text(rhs.upper)} step "
                f"{rhs.step}{' few' if rhs.few else ''}{' associative' if rhs.associative else ''}"
            )
            return [
                f"{head} with {_carried(rhs.params, rhs.initial)}" if rhs.params else head,
                *_indent(_block(rhs.body, "next")),
            ]
        case g.WithLoop():
            return _with_loop(rhs)
        case _:
            return [atom_text(rhs)]


def _with_loop(w: g.WithLoop) -> list[str]:
    marks = "".join(f" {mark}" for mark, holds in (("disjoint", w.disjoint), ("complete", w.complete)) if holds)
    lines = [f"with{'' if w.frame is None else ' ' + _vector(w.frame)}{marks}"]
    for o in w.operators:
        lines += _indent(_operator(o))
    for p in w.partitions:
        lines += _indent(_partition(p))
    return lines


def _operator(o: g.Operator) -> list[str]:
    match o:
        case g.Genarray():
            cell = f" cell {_vector(o.cell)}" if o.cell else ""
            return [f"genarray {o.base}{cell} default {atom_text(o.default)}"]
        case g.Modarray():
            return [f"modarray {o.array.name}"]
        case g.Propagate():
            how = f"{' in groups' if o.regroups else ''}{' down' if o.down else ''}"
            return [f"propagate{how} {_carried(o.params, o.initial)}"]
        case g.Fold():
            stop = f" until {_atoms(o.stop)}" if o.stop is not None else ""
            order = "" if o.commutative is None else " in any order" if o.commutative else " in order"
            head = (
                f"fold from {_atoms(o.neutrals)}{stop}{order} by ({', '.join(map(_typed, o.accumulators))}), "
                f"({', '.join(map(_typed, o.values))})"
            )
            return [head, *_indent(_block(o.combine, "give"))]


def _partition(p: g.Partition) -> list[str]:
    grid = "" if p.step is None else f" step {_vector(p.step)} width {_vector(p.width or ())}"
    head = f"part {_vector(p.lower)} <= {_vector(p.index)} < {_vector(p.upper)}{grid}"
    return [head, *_indent(_block(p.body, "yield"))]
