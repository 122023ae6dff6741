"""Printer and verifier of core."""

from __future__ import annotations

from sacpy.lang.core import Call, Function, Modarray, Stmt
from sacpy.lang.core_printer import print_function
from sacpy.lang.core_verify import verify
from tests.lang.coretools import (
    Operand,
    SlotSpec,
    Table,
    atom,
    block,
    branch,
    c,
    call,
    check,
    cons,
    entry,
    fold,
    fun,
    genarray,
    let,
    loop,
    part,
    prim,
    sig,
    with_,
)

CALLEE = fun(sig("f", [("int", "a", None)], [("int", "", None)]), [], "a")


def everything() -> Function:
    return fun(
        sig("main", [("int", "a", "n,d:shp")], [("int", "", "*"), ("int", "", None)]),
        [
            let("int x", prim("sel", "n", "a", form="VA", cell=1)),
            let("int y", call("f", 3, bases=("int",))),
            branch(c(True), block(let("int z", cons(1, 2))), block(), ("int w", "z", [3, 4])),
            loop(
                [("int i", 0, "next")],
                block(let("bool go", prim("lt", "i", "y"))),
                "go",
                block(let("int next", prim("add", "i", 1))),
            ),
            let(
                "int g,int s",
                with_(
                    [genarray("shp", 0), fold(0, "int", "add")],
                    part(None, "shp", block(let("int e", prim("sel", "iv", "a"))), "e", 1, step=2),
                ),
            ),
            let("int m", with_([Modarray(atom("g"))])),
            check("m", "2,.", "int[2,.]"),
        ],
        "m",
        "s",
        conditions=(entry("n > 0", "ok", let("bool ok", prim("gt", "n", 0))),),
    )


def test_one_statement_a_line() -> None:
    assert (
        print_function(everything())
        == """\
int[*], int main::main(int[n,d:shp] a)    // main
    names d, n, shp
    entry condition n > 0:
        bool ok = _gt_(n, 0)
        holds ok
    int x = _sel_VxA_(n, a) <cell 1>
    int y = f(3) {f}
    if true
        int z = [1, 2]
        -> z
    else
        -> [3,4]
    merge int w
    loop int i = 0
        bool go = _lt_(i, y)
        while go
        int next = _add_(i, 1)
        i <- next
    int g, int s = with
        (. <= iv < shp step 2)
            int e = _sel_(iv, a)
            -> e, 1
        genarray(shp, 0)
        fold(0) by (int acc, int val)
            int combined = _add_(acc, val)
            -> combined
    int m = with
        modarray(g)
    check m is int[2,.]
    return m, s
"""
    )


def problems(statements: list[Stmt], *returns: Operand, params: list[SlotSpec] | None = None) -> list[str]:
    function = fun(sig("main", params or [], [("int", "", "*")] * len(returns)), statements, *returns)
    return verify(function, Table(function, CALLEE))


def test_a_good_function_breaks_no_law() -> None:
    function = everything()
    assert verify(function, Table(function, CALLEE)) == []


def test_broken_laws() -> None:
    assert problems([let("int x", prim("add", "y", 1))]) == ["y is used before it is set, in add"]
    assert problems([let("int x", prim("neg", 1)), let("int x", prim("neg", 1))]) == ["x is set twice"]
    assert problems([let("int x", prim("add", 1, 1.0))]) == ["(1.0,) is double, but add needs int"]
    assert problems([let("double x", prim("add", 1, 1))]) == ["x is double, but its value is int"]
    assert problems([let("int x", prim("nonsense", 1))]) == ["there is no primitive nonsense"]
    assert problems([let("bool x", prim("not", c(True), c(True)))]) == ["not takes 1 arguments, not 2"]
    assert problems([branch(c(True), block(let("int z", cons(1))), block(), ("int w", "z", "z"))]) == [
        "z is used before it is set, in the merge of w"
    ]
    assert problems([branch(1, block(), block())]) == ["(1,) is int, but a condition needs bool"]
    assert problems([let("int x", call("f", 1.0, bases=("double",)))]) == [
        "f takes ('int',), but is called with ('double',)"
    ]
    assert problems([let("int x", Call("f", (), (), ()))]) == ["the call of f has no candidates"]
    assert problems([let("int x", with_([genarray(3)], part(0, 3, block(), 1, 2)))]) == [
        "a partition yields 2 values for 1 results"
    ]
    assert problems([], 1.0) == ["(1.0,) is double, but a result needs int"]
