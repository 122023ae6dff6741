"""What SaC has for words of other array languages.

In: a name that SaC does not know. Out: help that says how SaC writes it. `ELSEWHERE` is the table; tests evaluate each of its expressions.
"""

from __future__ import annotations

_ROW = "v"  # the names that the expressions use: a vector of reals, a matrix, a number of elements, a truth
_LENGTH = f"shape({_ROW})[0]"
_ZEROS, _ONES = "genarray([3, 4], 0.0)", "genarray([3, 4], 1.0)"
_STEPS = "{ [i] -> 0.5 * tod(i) | [i] < [n] }"
_PRODUCT = "{ [i, j] -> sum(m[i] * m[., j]) | [i, j] < shape(m) }"
_FLAT = "reshape([prod(shape(m))], m)"
_SUMS = f"{{ [i] -> sum(take([i + 1], {_ROW})) | [i] < shape({_ROW}) }}"
_UNIT = "{ [i, j] -> i == j ? 1.0 : 0.0 | [i, j] < [n, n] }"
_EACH = f"{{ [i] -> sqrt({_ROW}[i]) }}"

ELSEWHERE: dict[str, str] = {
    "len": _LENGTH, "size": "prod(shape(m))", "numel": "prod(shape(m))", "ndim": "dim(m)", "ndims": "dim(m)", "rank": "dim(m)",
    "zeros": _ZEROS, "ones": _ONES, "full": "genarray([3, 4], 7)", "fill": "genarray([3, 4], 7)", "range": "iota(n)", "arange": "iota(n)", "linspace": _STEPS,
    "eye": _UNIT, "identity": _UNIT, "mean": f"sum({_ROW}) / tod({_LENGTH})", "dot": f"sum({_ROW} * {_ROW})", "matmul": _PRODUCT, "mmul": _PRODUCT, "cumsum": _SUMS, "scan": _SUMS, "product": f"prod({_ROW})",
    "minimum": f"minval({_ROW})", "maximum": f"maxval({_ROW})", "amin": f"minval({_ROW})", "amax": f"maxval({_ROW})",
    "concatenate": f"{_ROW} ++ {_ROW}", "concat": f"{_ROW} ++ {_ROW}", "vcat": "m ++ m", "hcat": "transpose(transpose(m) ++ transpose(m))", "flatten": _FLAT, "ravel": _FLAT, "vec": _FLAT,
    "roll": f"rotate([1], {_ROW})", "flip": f"reverse({_ROW})", "map": _EACH, "round": f"rint({_ROW}[0])", "power": "pow(2.0, 10.0)",
    "println": "print(m)", "disp": "print(m)", "echo": "print(m)", "not": "!b",
    "typeof": ":type m", "who": ":vars", "whos": ":vars",
}  # fmt: skip


def help_for(name: str) -> str | None:
    """How SaC writes what other languages call so; None where nothing is known."""
    expression = ELSEWHERE.get(name)
    return f"{name} is a word of other languages; in SaC, for example: {expression}" if expression is not None else None
