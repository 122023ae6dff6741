"""Core as text: one statement a line, names as they are, the same for the same function.

In: core. Out: text for tests, documentation and `--emit core`. Base types stand where variables are set; nested blocks
are indented.
"""

from __future__ import annotations

from collections.abc import Iterator

from sacpy.lang.core import (
    ArrayCons,
    Atom,
    Bind,
    Block,
    Call,
    Const,
    Fold,
    Function,
    Genarray,
    GlobalGet,
    GlobalSet,
    If,
    Let,
    Loop,
    Modarray,
    Operator,
    Partition,
    Prim,
    Rhs,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.lattice import show_value
from sacpy.lang.types import Scalar, Shape

INDENT = "    "


def print_function(function: Function) -> str:
    """A whole function."""
    signature = function.signature
    params = ", ".join(f"{s.text} {s.bind.name}" for s in signature.params)
    results = ", ".join(s.text for s in signature.results) or "void"
    lines = [f"{results} {signature.name}({params})    // {signature.key}"]
    lines += (
        [f"{INDENT}names {', '.join(f'{v} = {n}' if n != v else n for n, v in signature.pattern_names)}"]
        if signature.pattern_names
        else []
    )
    for condition in function.conditions:
        lines.append(f"{INDENT}{'exit' if condition.on_exit else 'entry'} condition {condition.text}:")
        lines += _indent(_indent([*_block(condition.block), f"holds {atom(condition.value)}"]))
    lines += _indent(_block(function.body))
    lines.append(f"{INDENT}return {', '.join(map(atom, function.returns))}".rstrip())
    return "\n".join(lines) + "\n"


def print_block(block: Block) -> str:
    """A block."""
    return "".join(f"{line}\n" for line in _block(block))


def atom(a: Atom) -> str:
    """An operand: a name, or a constant with its base type behind it where that is not int, double or bool."""
    if isinstance(a, Var):
        return a.name
    if any(isinstance(v, bytes) for v in a.value):
        return " ".join(ascii(v)[1:] for v in a.value)
    values: list[Scalar] = [v for v in a.value if not isinstance(v, bytes)]
    if a.undefined:
        return "undefined"
    text = show_value(Shape(len(a.shape), a.shape, len(a.shape), tuple(values)))
    return text if a.base in ("int", "double", "bool") and values else f"{text}:{a.base}"


def _bind(bind: Bind) -> str:
    return f"{bind.base} {bind.name}"


def _binds(binds: tuple[Bind, ...]) -> str:
    return ", ".join(map(_bind, binds))


def _indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _block(block: Block) -> list[str]:
    return [line for s in block.statements for line in _statement(s)]


def _statement(s: Stmt) -> Iterator[str]:
    match s:
        case Let():
            left = f"{_binds(s.targets)} = " if s.targets else ""
            if isinstance(s.rhs, WithLoop):
                yield from _with_loop(left, s.rhs)
            else:
                yield left + _rhs(s.rhs)
        case If():
            yield f"if {atom(s.condition)}"
            yield from _indent([*_block(s.then), *(f"-> {atom(m.then)}" for m in s.merges)])
            yield "else"
            yield from _indent([*_block(s.otherwise), *(f"-> {atom(m.otherwise)}" for m in s.merges)])
            if s.merges:
                yield f"merge {_binds(tuple(m.target for m in s.merges))}"
        case Loop():
            yield f"loop {', '.join(f'{_bind(c.target)} = {atom(c.initial)}' for c in s.carried)}".rstrip()
            condition = [*_indent(_block(s.condition)), f"{INDENT}while {atom(s.test)}"]
            body = [*_indent(_block(s.body)), *(f"{INDENT}{c.target.name} <- {atom(c.update)}" for c in s.carried)]
            yield from body + condition if s.body_first else condition + body
        case GlobalSet(name=name, value=value):
            yield f"global {name} = {atom(value)}"
        case _:
            yield f"check {atom(s.value)} is {s.text}"


def _rhs(rhs: Rhs) -> str:
    match rhs:
        case Var() | Const():
            return atom(rhs)
        case Prim():
            form = f"_{'x'.join(rhs.form)}" if rhs.form else ""
            notes = [f"cell {rhs.cell}"] * bool(rhs.cell) + [str(a) for a in rhs.attrs]
            return f"_{rhs.op}{form}_({', '.join(map(atom, rhs.args))})" + (f" <{', '.join(notes)}>" if notes else "")
        case ArrayCons(elements=elements):
            return f"[{', '.join(map(atom, elements))}]"
        case Call():
            return f"{rhs.name}({', '.join(map(atom, rhs.args))}) {{{', '.join(rhs.candidates)}}}"
        case GlobalGet(name=name):
            return f"global {name}"
    return "with"


def _with_loop(left: str, loop: WithLoop) -> Iterator[str]:
    yield f"{left}with" + "".join(f" #{pragma.text}" for pragma in loop.pragmas)
    for partition in loop.partitions:
        yield from _indent(_partition(partition))
    for op in loop.operators:
        yield from _indent(_operator(op))


def _partition(p: Partition) -> list[str]:
    lower = "." if p.lower is None else atom(p.lower)
    upper = "." if p.upper is None else atom(p.upper)
    index = p.index.name + (f"=[{','.join(b.name for b in p.scalars)}]" if p.scalars is not None else "")
    head = f"({lower} {'<=' if p.lower_inclusive else '<'} {index} {'<=' if p.upper_inclusive else '<'} {upper}"
    head += (f" step {atom(p.step)}" if p.step is not None else "") + (
        f" width {atom(p.width)}" if p.width is not None else ""
    )
    pragmas = "".join(f" #{pragma.text}" for pragma in p.pragmas)
    return [f"{head}){pragmas}", *_indent([*_block(p.body), f"-> {', '.join(map(atom, p.values))}".rstrip()])]


def _operator(op: Operator) -> list[str]:
    match op:
        case Genarray():
            return [f"genarray({atom(op.shape)}{'' if op.default is None else ', ' + atom(op.default)})"]
        case Modarray():
            return [f"modarray({atom(op.array)})"]
        case Fold():
            stop = "" if op.stop is None else f" until {', '.join(map(atom, op.stop))}"
            head = f"fold({', '.join(map(atom, op.neutrals))}){stop} by ({_binds(op.combine.params)})"
            return [head, *_indent([*_block(op.combine.body), f"-> {', '.join(map(atom, op.combine.results))}"])]
    return [f"propagate({', '.join(f'{_bind(p)} = {atom(a)}' for p, a in zip(op.params, op.initial))})"]
