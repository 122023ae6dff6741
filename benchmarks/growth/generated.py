"""Functions of one kind, as long as one likes.

In: a size. Out: the text of a SaC program whose function `f` is to be compiled, and the extents of its arguments,
None for those that the code takes any of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HEAD = "use Array: all;\n"
Kind = tuple[tuple[int | None, ...], ...]
SCALARS: Kind = ((), ())
VECTOR: Kind = ((None,), ())
MATRIX: Kind = ((None, None), ())


@dataclass(frozen=True, slots=True)
class Family:
    """`text(n)`: the program of a size; `kind`: of the arguments of `f`; `sizes`: in rising order; `power`: of the
    size, that the time may grow with: 0 where the size says how large an index space is, 1 where it says how much
    text there is, or how much code the program asks for."""

    name: str
    text: Callable[[int], str]
    kind: Kind
    sizes: tuple[int, ...]
    power: int = 1


def _function(head: str, body: list[str], result: str) -> str:
    return "\n".join([f"{head}", "{", *(f"  {line}" for line in body), f"  return {result};", "}"])


def scalars(n: int) -> str:
    """Statements of scalars, each of which needs some before it."""
    body = [f"x{i} = x{max(i - 1, 0)} * {i % 7 + 1} + x{max(i - 3, 0)} % {i % 11 + 2};" for i in range(1, n + 1)]
    return HEAD + _function("int f(int a, int x0)", body, f"x{n} + a")


def arrays(n: int) -> str:
    """Whole-array operations, each on the result of the one before: one with-loop in the end."""
    body = [f"v = v * {i % 5}.5 + {i % 3}.25;" for i in range(n)]
    return HEAD + _function("double[.] f(double[.] v, double x)", body, "v * x")


def kept_arrays(n: int) -> str:
    """With-loops whose results are all needed, so that none vanishes."""
    body = [f"v = {{ [i] -> v[i] * {k % 5}.5 + v[(i * {k + 2}) % n] | [i] < [n] }};" for k in range(n)]
    return HEAD + _function("double[n] f(double[n] v, double x)", body, "v * x")


def loops(n: int) -> str:
    """For loops, one after the other."""
    body = [f"for (i = 0; i < a; i++) {{ x = x * {k % 5 + 2} % {1009 + k} + i; }}" for k in range(n)]
    return HEAD + _function("int f(int a, int x)", body, "x")


def while_loops(n: int) -> str:
    """While loops that update an array, one after the other."""
    body = [f"k = {k % 3}; while (k < n) {{ v[k] = v[k] + x; x = x * 0.5; k = k + {k % 4 + 1}; }}" for k in range(n)]
    return HEAD + _function("double[n] f(double[n] v, double x)", body, "v")


def nested_loops(n: int) -> str:
    """For loops inside one another."""
    head = "".join(f"for (i{k} = 0; i{k} < a; i{k}++) {{ " for k in range(n))
    return HEAD + _function("int f(int a, int x)", [f"{head} x = x * 3 % 1009 + i{n - 1}; {'}' * n}"], "x")


def conditionals(n: int) -> str:
    """Conditionals, one after the other."""
    otherwise = "x = x * 3 % {0}; a = a + 1;"
    body = [f"if (x % {k % 7 + 2} == 0) {{ x = x + {k}; }} else {{ {otherwise.format(1009 + k)} }}" for k in range(n)]
    return HEAD + _function("int f(int a, int x)", body, "x + a")


def nested_conditionals(n: int) -> str:
    """Conditionals inside one another."""
    body = "x = x + 1;"
    for k in range(n):
        body = f"if (x % {k % 7 + 2} == 0) {{ x = x * 3 + {k}; {body} }} else {{ x = x - {k}; }}"
    return HEAD + _function("int f(int a, int x)", [body], "x + a")


def array_conditionals(n: int) -> str:
    """Conditionals that choose among arrays."""
    body = [f"if (x > {k}.0) {{ v = v + {k}.5; }} else {{ v = v * 0.5; }}" for k in range(n)]
    return HEAD + _function("double[.] f(double[.] v, double x)", body, "v")


def chain(n: int) -> str:
    """Functions, each of which calls the one before once."""
    return _tower(n, lambda k: f"g{k - 1}(x * {k % 5 + 2} % {1009 + k}) + {k}")


def doubled(n: int) -> str:
    """Functions, each of which calls the one before twice: written out, the code would be 2^n times as long."""
    return _tower(n, lambda k: f"g{k - 1}(x + {k}) * 3 % 1009 + g{k - 1}(x * 2 % 1013)")


def _tower(n: int, result: Callable[[int], str]) -> str:
    """Functions g0 to g(n - 1), with their results."""
    functions = [_function(f"int g{k}(int x)", [], result(k)) for k in range(1, n)]
    root = f"int f(int a, int x) {{ return g{n - 1}(x) + a; }}"
    return "\n".join([HEAD, "int g0(int x) { return x + 1; }", *functions, root])


def callers(n: int) -> str:
    """Calls of one function with a loop in it."""
    loop = "for (i = 0; i < n; i++) { x = x * 3 % 1009 + i; if (x > 500) { x = x - 7; } }"
    function = _function("int g(int x, int n)", [loop], "x")
    return "\n".join([HEAD, function, _function("int f(int a, int x)", [f"x = g(x + {k}, a);" for k in range(n)], "x")])


def array_callers(n: int) -> str:
    """Calls of one function on matrices, whose results are all needed."""
    function = """
double[n,m] g(double[n,m] a, double w)
{
  return with {
           (. < [i,j] < .) : w * (a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]);
         } : modarray(a);
}"""
    return "\n".join([HEAD, function, _function("double[.,.] f(double[.,.] a, double x)", ["a = g(a, x);"] * n, "a")])


def unrolled(n: int) -> str:
    """A cell that is the sum over a window of known size, in a stencil on a matrix."""
    side = round(n**0.5)
    cell = f"with {{ ([0,0] <= [k,l] < [{side},{side}]) : a[i+k,j+l] * tod(k * {side} + l); }} : fold(+, 0.0)"
    result = f"{{ [i,j] -> {cell} | [i,j] < [n-{side},m-{side}] }}"
    return HEAD + _function("double[.,.] f(double[n,m] a, double x)", [f"b = {result};"], "b * x")


def rotations(n: int) -> str:
    """A sum of rotated matrices."""
    terms = " + ".join(f"{k % 5}.5 * rotate([{k % 3 - 1},{k // 3 % 3 - 1}], a)" for k in range(n))
    return HEAD + _function("double[.,.] f(double[.,.] a, double x)", [f"b = {terms};"], "b * x")


def partitions(n: int) -> str:
    """A with-loop of many partitions."""
    parts = "".join(f"([{k}] <= [i] < [n - {n - k}]) : tod(i) * {k}.5; " for k in range(n))
    return HEAD + _function("double[.] f(double[n] v, double x)", [f"w = with {{ {parts} }} : modarray(v);"], "w * x")


def literals(n: int) -> str:
    """An array written out."""
    numbers = ", ".join(f"{k * 7919 % 1009}" for k in range(n))
    return HEAD + _function("int f(int a, int x)", [f"v = [{numbers}];"], f"v[a % {n}] + x")


def _shape(n: int) -> str:
    """The shape of a matrix of so many elements; an extent is at most 10^5."""
    rows = max(1, n // 10**5)
    return f"[{rows}, {n // rows}]"


def sums(n: int) -> str:
    """A fold over that many indices, which need not be made."""
    return HEAD + f"int f(int a, int x) {{ return sum({{ [i,j] -> i * x + j | [i,j] < {_shape(n)} }} * 3 + x) + a; }}"


def questions(n: int) -> str:
    """A question about that many bools, which need not be made."""
    return HEAD + f"bool f(int a, int x) {{ return any(genarray({_shape(n)}, a == x)); }}"


def filled(n: int) -> str:
    """An array of that many elements, of which some are changed and one is looked at."""
    body = [f"v = {{ [i,j] -> i * x + j | [i,j] < {_shape(n)} }};", "v[0,a % 7] = x;"]
    return HEAD + _function("int f(int a, int x)", body, "v[0,a % 9]")


def counted(n: int) -> str:
    """Two loops of that many rounds."""
    rows = max(1, n // 10**5)
    inner = f"for (j = 0; j < {n // rows}; j++) {{ x = x * 3 % 1009 + j; }}"
    return HEAD + _function("int f(int a, int x)", [f"for (i = 0; i < {rows}; i++) {{ {inner} }}"], "x + a")


EXTENTS = (10**3, 10**5, 10**7, 10**10)
LENGTHS = (10, 100, 1000, 3000)
FAMILIES = (
    Family("sums, extents", sums, SCALARS, EXTENTS, 0),
    Family("questions, extents", questions, SCALARS, EXTENTS, 0),
    Family("filled, extents", filled, SCALARS, EXTENTS, 0),
    Family("counted, rounds", counted, SCALARS, EXTENTS, 0),
    Family("scalars", scalars, SCALARS, LENGTHS),
    Family("arrays", arrays, VECTOR, LENGTHS),
    Family("kept arrays", kept_arrays, VECTOR, (10, 100, 300)),
    Family("loops", loops, SCALARS, (10, 100, 1000)),
    Family("while loops", while_loops, VECTOR, (10, 100, 300)),
    Family("nested loops", nested_loops, SCALARS, (1, 5, 10, 20)),
    Family("conditionals", conditionals, SCALARS, LENGTHS),
    Family("nested conditionals", nested_conditionals, SCALARS, (1, 10, 40, 80)),
    Family("array conditionals", array_conditionals, VECTOR, (10, 100, 300)),
    Family("chain of functions", chain, SCALARS, (10, 50, 200)),
    Family("functions that call twice", doubled, SCALARS, (5, 10, 50, 200)),
    Family("calls", callers, SCALARS, (10, 100, 300)),
    Family("calls on matrices", array_callers, MATRIX, (1, 10, 50)),
    Family("unrolled cells", unrolled, MATRIX, (4, 16, 64, 256)),
    Family("rotations", rotations, MATRIX, (3, 9, 27)),
    Family("partitions", partitions, VECTOR, (3, 10, 30, 100)),
    Family("literals", literals, SCALARS, LENGTHS),
)
