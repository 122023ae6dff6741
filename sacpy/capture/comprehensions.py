"""Comprehensions and generators in reductions, as with-loops.

In: `[x * x for x in a if x > 0]`, `sum(a[i] * b[i] for i in range(n))`. Out: arrays and folds. A list is an array: its
elements have one type and one shape.
"""

from __future__ import annotations

import ast as py
from collections.abc import Callable, Sequence

from sacpy.capture import build
from sacpy.capture.conditions import condition
from sacpy.capture.frame import NOTHING, Frame, Val, handles
from sacpy.capture.kinds import BOOL, LONG, Num, array
from sacpy.capture.numbers import converted
from sacpy.capture.places import DIFFER
from sacpy.capture.spaces import Space, space
from sacpy.lang import ast
from sacpy.nodes import Record, replace


class _Round(Record):
    """One round of a with-loop: the index's name, the extent, statements that come first, the condition (None: always),
    and the value."""

    name: str
    count: ast.Expr
    body: list[ast.Stmt]
    test: ast.Expr | None
    value: Val


def _bound(frame: Frame, target: py.expr, found: Val, body: list[ast.Stmt]) -> None:
    """Sets a target of a comprehension; it is no variable of the function."""
    if isinstance(target, py.Tuple) and found.items is not None and len(target.elts) == len(found.items):
        for inner, item in zip(target.elts, found.items):
            _bound(frame, inner, item, body)
        return
    if not isinstance(target, py.Name):
        raise frame.refused(target, "a name is needed here", "", DIFFER)
    if not isinstance(found.expr, ast.Name | ast.Binary):
        name = frame.fresh(frame.sac_name(target.id))
        body.append(build.assign(name, found.expr, found.span))
        found = replace(found, expr=build.var(name, found.span))
    frame.renamed[target.id] = found


def _round(
    frame: Frame, generator: py.comprehension, value: Callable[[], Val], node: py.AST, *, lazy: bool = True
) -> _Round:
    """A generator with what stands before `for`. `lazy`: the value is wanted only where the condition holds."""
    if generator.is_async:
        raise frame.refused(node, "an async comprehension is not taken", "")
    over: Space = space(frame, generator.target, generator.iter)
    kept = dict(frame.renamed)
    name = frame.fresh("k")
    if isinstance(generator.target, py.Name) and over.range is not None:
        plain = frame.sac_name(generator.target.id)
        name = plain if plain not in frame.env and plain not in frame.inner else name
    frame.inner.add(name)
    try:
        with frame.writing() as body:
            for target, found in over.bind(build.var(name, frame.span(generator.target))):
                _bound(frame, target, found, body)
            test: ast.Expr | None = None
            for clause in generator.ifs:
                one = condition(frame, clause)
                test = one if test is None else ast.Logical("&&", test, one, one.span)
            if test is None or not lazy:
                made = value()
            else:
                with frame.conditional():
                    made = value()
    finally:
        frame.renamed = kept
        frame.inner.discard(name)
    return _Round(name, over.count, body, test, made)


def _array(frame: Frame, node: py.AST, one: _Round, value: ast.Expr) -> ast.Expr:
    span = frame.span(node)
    if not one.body:
        return build.comprehension([one.name], value, [one.count], span)
    shape = build.array([one.count], span)
    return build.withloop([one.name], [one.count], one.body, value, ast.GenarrayOp(shape, None, span), span)


@handles(py.ListComp)
def listed(frame: Frame, node: py.ListComp | py.GeneratorExp) -> Val:
    """A comprehension, as an array."""
    return _listed(frame, node, node.generators, lambda: frame.value(node.elt))


def _listed(
    frame: Frame, node: py.ListComp | py.GeneratorExp, generators: Sequence[py.comprehension], value: Callable[[], Val]
) -> Val:
    inner = value if len(generators) == 1 else lambda: _listed(frame, node, generators[1:], value)
    one = _round(frame, generators[0], inner, node, lazy=True)
    made = one.value
    if made.items is not None or made.kind == NOTHING:
        help = "make an array for each of its items"
        raise frame.refused(node, f"an array has numbers for elements, not {frame.shown(made)}", help, DIFFER)
    if made.kind.is_int:
        made = converted(frame, made, "long")
    span, base, rank = frame.span(node), made.kind.base, made.kind.rank
    if one.test is not None and len(generators) == 1:
        if rank != 0:
            help = "leave rows out afterwards: a[mask]"
            raise frame.refused(node, "'if' in a comprehension of arrays is not taken", help)
        zero = Val(build.integer(0, span), Num("int", 0, 0, 0, literal=True)) if base != "bool" else None
        other = build.truth(False, span) if zero is None else converted(frame, zero, base).expr
        mask = Val(_array(frame, node, one, one.test), array("bool", 1))
        test = one.test
        if frame.pre is not None:
            mask = frame.kept(mask, node)
            test = ast.Select(mask.expr, (build.var(one.name, span),), span)
        values = _array(frame, node, one, ast.Conditional(test, made.expr, other, span))
        return Val(build.call("Select::filter", [mask.expr, values], span), array(base, 1))
    if one.test is not None:
        raise frame.refused(node, "'if' between two 'for' is not taken", "put all conditions last")
    expr = _array(frame, node, one, made.expr)
    found = array(base, None if rank is None else rank + 1)
    if len(generators) > 1:  # the rows one behind the other
        if frame.pre is None:
            raise frame.refused(node, "a comprehension with several 'for' needs a name here", "set a variable before")
        flat = frame.kept(Val(expr, found), node)
        sizes = [build.extent(flat.expr, axis, span) for axis in (0, 1)]
        shape = [build.binary("*", sizes[0], sizes[1], span)]
        shape += [build.extent(flat.expr, axis, span) for axis in range(2, found.rank or 2)]
        return Val(build.call("reshape", [build.array(shape, span), flat.expr], span), array(base, len(shape)))
    return Val(expr, found)


# ---------------------------------------------------------------- reductions


def folded(frame: Frame, node: py.AST, generator: py.GeneratorExp, name: str) -> Val:
    """`sum`, `any` or `all` of a generator."""
    return _folded(frame, node, generator, generator.generators, name)


def _folded(
    frame: Frame, node: py.AST, whole: py.GeneratorExp, generators: Sequence[py.comprehension], name: str
) -> Val:
    def value() -> Val:
        if len(generators) > 1:
            return _folded(frame, node, whole, generators[1:], name)
        found = frame.value(whole.elt)
        if found.items is not None or found.kind == NOTHING or (name != "sum" and found.kind.base != "bool"):
            wanted = "numbers" if name == "sum" else "bool"
            raise frame.refused(whole.elt, f"{name} takes {wanted}, and this is {frame.shown(found)}", "", DIFFER)
        return found

    one = _round(frame, generators[0], value, node)
    span, made = frame.span(node), one.value
    if name != "sum":
        neutral = build.truth(name == "all", span)
        test = one.test
        expr = made.expr
        if test is not None:
            other = ast.Unary(ast.QName(None, "!", span), test, span) if name == "all" else test
            expr = ast.Logical("||" if name == "all" else "&&", other, expr, span)
        stop = build.truth(name == "any", span)
        operator = ast.FoldOp(ast.QName(None, "&" if name == "all" else "|", span), (), neutral, stop, span)
        return Val(build.withloop([one.name], [one.count], one.body, expr, operator, span), BOOL)
    if made.kind.rank != 0:
        raise frame.refused(
            node, f"sum of a generator takes numbers, not {made.kind}", "use np.sum(.., axis=0)", DIFFER
        )
    base = "long" if made.kind.is_int or made.kind.base == "bool" else made.kind.base
    expr = converted(frame, converted(frame, made, "int") if made.kind.base == "bool" else made, base).expr
    zero = converted(frame, Val(build.integer(0, span), Num("int", 0, 0, 0, literal=True)), base).expr
    if one.test is not None:
        expr = ast.Conditional(one.test, expr, zero, span)
    operator = ast.FoldOp(ast.QName(None, "+", span), (), zero, None, span)
    kind = LONG if base == "long" else Num(base, 0)
    return Val(build.withloop([one.name], [one.count], one.body, expr, operator, span), kind)
