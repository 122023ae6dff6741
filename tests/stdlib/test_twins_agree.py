"""Every twin against the definition in SaC that it stands for: the same program, with twins and without, prints the
same."""

from __future__ import annotations

import pytest

import sacpy.interp.twins
from sacpy.interp.twins import TWINS
from sacpy.interp.world import World
from sacpy.workspace import Workspace

ARRAYS = {
    "int": [
        "[7, -7, 0, 2147483647]",
        "reshape([0], [:int])",
        "[[1, -2], [3, 4]]",
        "reshape([2, 0, 3], [:int])",
        "reshape([2, 1, 2], [5, 0, -1, 9])",
    ],
    "ubyte": ["toub([7, 200, 0, 255])", "toub(reshape([3, 0], [:int]))", "toub([[1, 2], [3, 4]])"],
    "long": ["tol([7, -7, 0, 2147483647])", "-(tol([[1, 2]]) << 40l)"],
    "double": [
        "[1.5, -0.0, 0.0, 1.0/0.0, 0.0/0.0, -2.25]",
        "[:double]",
        "reshape([2, 3], [0.1, 0.2, -0.3, 4.0, 5.5, 1e300])",
    ],
    "float": ["[1.5f, -0f, 1f/0f, 0f/0f, -2.25f, 0.1f]", "reshape([2, 0], [:float])"],
    "bool": ["[true, false, true]", "[:bool]", "[[true], [false]]"],
}
INTS, REALS = ("int", "ubyte", "long"), ("double", "float")
SCALAR = {"int": "3", "ubyte": "3ub", "long": "3l", "double": "0.5", "float": "0.5f", "bool": "true"}


def _names(module: str, arity: int) -> list[str]:
    """The functions of a module that have a twin for so many arguments."""
    return [key[len(module) + 2 : -2] for key in TWINS if key.startswith(f"{module}::") and key.endswith(f"/{arity}")]


def _call(name: str, *args: str) -> str:
    return (
        f"{name}({', '.join(args)})"
        if name[0].isalpha()
        else f"(({args[0]}) {name} ({args[1]}))"
        if len(args) == 2
        else f"({name}({args[0]}))"
    )


SIGNED_ONLY, INT_ONLY, DIVIDING, BOOL_ONLY = {"-"}, {"%", "mod", "^", "<<", ">>"}, {"/", "%"}, {"!"}


def _binary(name: str) -> list[str]:
    logical = name in ("&", "|")
    bases = (
        (*INTS, "bool")
        if logical
        else INTS
        if name in INT_ONLY
        else (*INTS, *REALS, *(("bool",) if name in ("==", "!=") else ()))
    )
    calls = []
    for base in bases:
        for a in ARRAYS[base]:
            b = SCALAR[base]
            calls += [_call(name, a, b)]
            if name not in ("<<", ">>") and not (name in DIVIDING and base in INTS):
                calls += [_call(name, b, a), _call(name, a, a)]
    return calls


def _unary(name: str) -> list[str]:
    bases = ("bool",) if name in BOOL_ONLY else ("int", "long", *REALS) if name in SIGNED_ONLY else (*INTS, *REALS)
    return [_call(name, a) for base in bases for a in ARRAYS[base]]


def _reals(name: str, arity: int) -> list[str]:
    found = []
    for base in REALS:
        for a in ARRAYS[base]:
            found += (
                [_call(name, a)]
                if arity == 1
                else [_call(name, a, a), _call(name, a, SCALAR[base]), _call(name, SCALAR[base], a)]
            )
    return found


MATRIX = [
    "[[1, 2, 3], [4, 5, 6]]",
    "reshape([2, 0], [:int])",
    "reshape([2, 1, 3], iota(6))",
    "[[0.5, 1.5]]",
    "[['a', 'b']]",
    "[[true, false]]",
]
STRUCTURE = [
    text.replace("M", m)
    for m in MATRIX
    for text in (
        "take([1], M)", "take([-3, 1], M)", "take([5, -2], M)", "take([], M)", "drop([1], M)", "drop([-1, 1], M)",
        "drop([9], M)", "tile([1], [0], M)", "tile_apl([2, 2], [-1, 1], M)", "take_apl([3], M)", "drop_apl([1], M)",
        "M ++ M", "M ++^ M", "M ++ zero(M)", "catenate(zero(M), M)", "reverse(M)", "reverse(1, M)",
        "rotate([1, -5], M)", "rotate(1, 1, M)", "rotate(0, -7, M)", "shift([1], M)", "shift([0, -1], one(M), M)",
        "shift(1, 3, one(M), M)", "transpose(M)",
        "where(M == M, M, zero(M))", "where(M == M, zero(M), M)", "where(M != M, zero(M), one(M))",
        "mask(M == M, M, zero(M))", "mask(true, M, zero(M))", "mask(false, M, zero(M))", "mask(true, zero(M), M)",
        "genarray([2, 1], M)", "genarray([0], M)",
        "toi(match(M, M))", "toi(match(M, reverse(M)))",
    )
]  # fmt: skip
REDUCTIONS = [
    f"{name}({a})"
    for name in ("sum", "prod", "minval", "maxval")
    for base in (*INTS, *REALS)
    for a in ARRAYS[base]
    if "1e300" not in a and "0.1" not in a
]
REDUCTIONS += [f"toi({name}({a}))" for name in ("any", "all") for a in ARRAYS["bool"]] + [
    f"rsum({r}, [[1, 2], [3, 4]])" for r in range(3)
]
OTHERS = [
    "iota(3)",
    "iota(0)",
    "iota([2, 3])",
    "iota([0])",
    "l2norm([3.0, 4.0])",
    "l2norm([:float])",
    "tochar([97, 98])",
    "tosh([70000, -1])",
]
OTHERS += [
    f"{name}({a})"
    for name in ("tob", "tol", "toll", "toub", "tous", "toui", "toul", "toull", "tof", "tod", "tobool")
    for a in (ARRAYS["int"][0], ARRAYS["double"][0], ARRAYS["bool"][0])
]

GROUPS = {
    "binary": [c for name in _names("ArrayArith", 2) for c in _binary(name)],
    "unary": [c for name in _names("ArrayArith", 1) if name in ("abs", "-", "!", "toi", "tod") for c in _unary(name)],
    "maths": [
        c
        for arity in (1, 2)
        for name in _names("MathArray", arity)
        if name not in ("sincos", "modf", "frexp", "ldexp", "l2norm")
        for c in _reals(name, arity)
    ],
    "structure": STRUCTURE,
    "reductions": REDUCTIONS,
    "others": OTHERS,
}


def _output(calls: list[str]) -> bytes:
    lines = "".join(f'    printf("%s\\n", "{call}");\n    print({call});\n' for call in calls)
    text = (
        f"use Array: all; use Numerical: all; use Char: all; use StdIO: all;\nint main()\n{{\n"
        f"{lines}    return 0;\n}}\n"
    )
    session, world = Workspace(), World.captured()
    program, _ = session.load_text(text)
    assert session.run(program, world) == 0
    return world.out()


@pytest.mark.parametrize("group", GROUPS)
def test_twins_print_what_the_definitions_print(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_twins = _output(GROUPS[group])
    used: list[str] = []
    monkeypatch.setattr(sacpy.interp.twins, "find", lambda signature, strict=False: used.append(signature.name))
    without = _output(GROUPS[group])
    assert used
    assert with_twins.decode("latin-1").splitlines() == without.decode("latin-1").splitlines()
