"""Small constructors for core, for tests that need functions without a front end."""

from __future__ import annotations

import re

from sacpy.lang import ast
from sacpy.lang.core import (
    ArrayCons,
    Bind,
    Block,
    Call,
    Carried,
    Check,
    Condition,
    Const,
    Fold,
    Function,
    Genarray,
    Global,
    If,
    Lambda,
    Let,
    Loop,
    Merge,
    Operator,
    Partition,
    Prim,
    Rhs,
    Signature,
    Slot,
    Stmt,
    Var,
    WithLoop,
)
from sacpy.lang.source import NOWHERE


def pattern(text: str | None) -> tuple[ast.Feature, ...] | None:
    """The features of a pattern as it stands between brackets: "3,n,d>0:shp"; None is a scalar."""
    if text is None:
        return None
    return tuple(_feature(part.strip()) for part in text.split(",")) if text else ()


def _feature(text: str) -> ast.Feature:
    if text in (".", "*", "+"):
        return {".": ast.AnyExtent, "*": ast.AnyShape, "+": ast.SomeShape}[text](NOWHERE)
    if text.isdigit():
        return ast.FixedExtent(int(text), NOWHERE)
    slice_ = re.fullmatch(r"(\w+)(?:>(\d+))?:(\w+)", text)
    if slice_ is None:
        return ast.NamedExtent(text, NOWHERE)
    rank, minimum, shape = slice_.groups()
    return ast.RankSlice(
        int(rank) if rank.isdigit() else rank, shape, None if minimum is None else int(minimum), NOWHERE
    )


def slot(base: str, name: str, features: str | None, cell: tuple[int | None, ...] = ()) -> Slot:
    """A parameter or result."""
    return Slot(
        Bind(name, base, name, NOWHERE), pattern(features), cell, base if features is None else f"{base}[{features}]"
    )


SlotSpec = tuple[str, str, str | None] | tuple[str, str, str | None, tuple[int | None, ...]]


def sig(name: str, params: list[SlotSpec], results: list[SlotSpec], *, key: str = "", inlining: str = "") -> Signature:
    """A signature `main::name`. Every pattern name that is no parameter is bound to a variable of its own name."""
    from sacpy.lang.plan import names_used

    slots = tuple(slot(*p) for p in params)
    bound = names_used(slots) - {s.bind.source for s in slots}
    text = f"{name}({', '.join(f'{s.text} {s.bind.source}' for s in slots)})"
    return Signature(
        key or name,
        f"main::{name}",
        slots,
        tuple(slot(*r) for r in results),
        tuple((n, n) for n in sorted(bound)),
        inlining,
        None,
        text,
        NOWHERE,
    )


# ---------------------------------------------------------------- functions


def v(name: str) -> Var:
    """A use of a variable."""
    return Var(name, NOWHERE)


def c(value: object, base: str = "") -> Const:
    """A constant: a scalar, or a nested list of equal rows."""
    extents: list[int] = []
    inner = value
    while isinstance(inner, list):
        extents.append(len(inner))
        inner = inner[0] if inner else 0
    flat: list[object] = [value]
    for _ in extents:
        flat = [x for row in flat for x in row]  # type: ignore[attr-defined]
    base = base or ("bool" if isinstance(inner, bool) else "double" if isinstance(inner, float) else "int")
    return Const(base, tuple(extents), tuple(flat), NOWHERE)  # type: ignore[arg-type]


Operand = Var | Const | str | int | float | list[object]


def atom(x: Operand) -> Var | Const:
    """A name, a number or a list as an atom."""
    if isinstance(x, Var | Const):
        return x
    return v(x) if isinstance(x, str) else c(x)


def let(target: str, rhs: Rhs) -> Let:
    """`let("int x", rhs)`; "" for none, "int x, double y" for several."""
    binds = [Bind(name, base, name, NOWHERE) for base, name in (t.split() for t in target.split(",") if t)]
    return Let(tuple(binds), rhs, NOWHERE)


def prim(op: str, *args: Operand, form: str = "", cell: int = 0, attrs: tuple[object, ...] = ()) -> Prim:
    return Prim(op, tuple(map(atom, args)), form, cell, attrs)


def cons(*elements: Operand) -> ArrayCons:
    return ArrayCons(tuple(map(atom, elements)))


def call(keys: str, *args: Operand, bases: tuple[str, ...] = ()) -> Call:
    """`keys`: the candidates, by blanks; the name is what stands before the first dot."""
    candidates = tuple(keys.split())
    return Call(candidates[0].split(".")[0], candidates, tuple(map(atom, args)), bases)


def block(*statements: Stmt) -> Block:
    return Block(statements)


def bind(text: str) -> Bind:
    base, name = text.split()
    return Bind(name, base, name, NOWHERE)


def branch(condition: Operand, then: Block, otherwise: Block, *merges: tuple[str, Operand, Operand]) -> If:
    return If(atom(condition), then, otherwise, tuple(Merge(bind(t), atom(a), atom(b)) for t, a, b in merges), NOWHERE)


def loop(
    carried: list[tuple[str, Operand, Operand]],
    condition: Block,
    test: Operand,
    body: Block,
    *,
    body_first: bool = False,
) -> Loop:
    return Loop(
        tuple(Carried(bind(t), atom(i), atom(u)) for t, i, u in carried),
        condition,
        atom(test),
        body,
        body_first,
        NOWHERE,
    )


def part(
    lower: Operand | None,
    upper: Operand | None,
    statements: Block,
    *values: Operand,
    index: str = "iv",
    scalars: int | None = None,
    step: Operand | None = None,
    width: Operand | None = None,
    inclusive: tuple[bool, bool] = (True, False),
) -> Partition:
    """`lower <= iv < upper`; a dot bound is None."""
    names = None if scalars is None else tuple(bind(f"int {index}{k}") for k in range(scalars))
    atoms = [None if x is None else atom(x) for x in (lower, upper, step, width)]
    return Partition(
        atoms[0],
        inclusive[0],
        atoms[1],
        inclusive[1],
        atoms[2],
        atoms[3],
        bind(f"int {index}"),
        names,
        statements,
        tuple(map(atom, values)),
        (),
        NOWHERE,
    )


def fold(neutral: Operand, base: str, op: str) -> Fold:
    """A fold by a primitive."""
    params = (bind(f"{base} acc"), bind(f"{base} val"))
    return Fold(
        (atom(neutral),), Lambda(params, block(let(f"{base} combined", prim(op, "acc", "val"))), (v("combined"),)), None
    )


def genarray(shape: Operand, default: Operand | None = None) -> Genarray:
    return Genarray(atom(shape), None if default is None else atom(default))


def with_(operators: list[Operator], *partitions: Partition) -> WithLoop:
    return WithLoop(partitions, tuple(operators), ())


def fun(
    signature: Signature, statements: list[Stmt], *returns: Operand, conditions: tuple[Condition, ...] = ()
) -> Function:
    return Function(signature, conditions, Block(tuple(statements)), tuple(map(atom, returns)))


def entry(text: str, value: Operand, *statements: Stmt) -> Condition:
    """An entry condition."""
    return Condition(Block(statements), atom(value), False, text, NOWHERE)


def check(value: Operand, features: str | None, text: str) -> Check:
    return Check(atom(value), pattern(features), (), text, "this cast", NOWHERE)


class Table:
    """A program that is a table of functions."""

    def __init__(self, *functions: Function, natives: tuple[Signature, ...] = ()) -> None:
        self.functions = {f.signature.key: f for f in functions}
        self.natives = {s.key: s for s in natives}

    def signature(self, key: str) -> Signature:
        return self.natives[key] if key in self.natives else self.functions[key].signature

    def function(self, key: str) -> Function:
        return self.functions[key]

    def global_object(self, name: str) -> Global:
        return Global(name, "int", name, NOWHERE)
