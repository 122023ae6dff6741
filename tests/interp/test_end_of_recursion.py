"""Of a recursion that branches, calls that would only find out that they are at its end are not made; what they would
have given, and failed with, is the same."""

from __future__ import annotations

import pytest

from sacpy.interp.evaluator import Evaluator
from sacpy.interp.world import World
from tests.interp.tools import HEAD, failure, run
from tests.tools import loaded

FIB = "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } "


def calls(text: str, name: str) -> int:
    """How often the generated function of that name is entered while `main` runs."""
    program = loaded(HEAD + text)
    evaluator = Evaluator(program, World.captured())
    entered = 0

    def counting(inner: object) -> object:
        def count(*args: object) -> object:
            nonlocal entered
            entered += 1
            return inner(*args)  # type: ignore[operator]

        return count

    key = f"_MAIN::{name}/0"
    evaluator.compiled(key)
    own = evaluator.python_name(key)
    evaluator.call(program.main_key(), ())
    evaluator.namespace[own] = counting(evaluator.namespace[own])
    evaluator.call(program.main_key(), ())
    return entered


@pytest.mark.parametrize(
    ("text", "name", "entered", "result"),
    [
        (FIB + "int main() { return fib(9); }", "fib", 54, 34),
        # the end is in the other branch, and takes a few operations
        (
            "int f(int n, int k) { m = n - 1; if (m > 0 && k < 9) { r = f(m, k + 1) + f(m - 1, k); } "
            "else { r = m * 2 + k; } return r; } int main() { return f(5, 0); }",
            "f",
            7,
            9,
        ),
        (
            "int a(int m, int n) { if (m == 0) { r = n + 1; } else if (n == 0) { r = a(m - 1, 1); } "
            "else { r = a(m - 1, a(m, n - 1)); } return r; } int main() { return a(2, 3); }",
            "a",
            24,
            9,
        ),
        # one call of itself gains nothing: the end comes once
        ("int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); } int main() { return f(9); }", "f", 10, 9),
    ],
)
def test_calls_at_the_end_are_not_made(text: str, name: str, entered: int, result: int) -> None:
    assert run(text).value == result
    assert calls(text, name) == entered


def test_results_wrap_at_the_end_as_elsewhere() -> None:
    text = "int f(int n, int k) { return n == 0 ? k + 1 : f(n - 1, k) - f(n - 1, k + 1); } "
    assert run(text + "int main() { return f(1, 2147483646); }").value == -1
    text = text.replace("int k", "byte k").replace("int f", "byte f").replace("k + 1", "k + 1b")
    assert run(text + "int main() { return toi(f(1, 126b)); }").value == -1


def test_arrays_stay_their_own() -> None:
    sort = (
        "int[.] qs(int[.] v, int lo, int hi) { if (lo < hi) { p = v[hi]; i = lo; for (j = lo; j < hi; j++) "
        "{ if (v[j] < p) { t = v[i]; v[i] = v[j]; v[j] = t; i++; } } t = v[i]; v[i] = v[hi]; v[hi] = t; "
        "v = qs(v, lo, i - 1); v = qs(v, i + 1, hi); } return v; } "
    )
    found = run(sort + "int main() { v = [3,1,2,5,4]; w = qs(v, 0, 4); print(w); print(v); return 0; }")
    assert "1  2  3  4  5" in found.out and "3  1  2  5  4" in found.out
    assert found.copies == 1  # the literal; the sort is in place
    both = (
        "int[.], int f(int[.] v, int n) { if (n == 0) { r = 0; } else { v[0] = n; v, a = f(v, n - 1); "
        "w, b = f(v, n - 1); w[1] = a + b + n; v = w; r = w[1]; } return (v, r); } "
    )
    assert run(both + "int main() { v, r = f([9, 9, 9], 3); return r * 100 + v[0] * 10 + v[1]; }").value == 1121


def test_functions_without_results_do_what_they_do_at_the_end() -> None:
    hanoi = (
        'void h(int n, int a, int b, int c) { if (n > 0) { h(n - 1, a, c, b); printf("%d%d ", a, b); '
        "h(n - 1, c, b, a); } } int main() { h(2, 1, 2, 3); return 0; }"
    )
    assert run(hanoi).out == "13 12 32 "
    told = 'void h(int n) { if (n == 0) { printf("."); } else { h(n - 1); h(n - 1); } } int main() { h(3); return 0; }'
    assert run(told).out == "." * 8


def test_arguments_may_be_of_another_rank() -> None:
    text = (
        "int[*] f(int[*] v, int n) { if (n == 0) { r = v; } else { r = f([v], n - 1) + f([v + 1], n - 1); } "
        "return r; } int main() { w = f([1, 2], 2); return w[0,0,1] * 100 + dim(w) * 10 + shape(w)[2]; }"
    )
    assert run(text).value == 12 * 100 + 32


@pytest.mark.parametrize(
    ("text", "code", "depth"),
    [
        # what the head demands is checked in each call
        ("int f(int n) | (n > 0) { return n < 3 ? n : f(n - 1) + f(n - 3); } int main() { return f(3); }", "E0616", 2),
        # a test that may fail is made in the call
        ("int f(int n) { return 6 / n > 5 ? 1 : f(n - 1) + f(n - 2); } int main() { return f(2); }", "E0603", 2),
        ("int f(int[.] v, int n) { return v[n] == 0 ? 1 : f(v, n - 1) + f(v, n - 2); } "
         "int main() { return f([1, 0, 1], 2) + f([0, 1], 1); }", "E0601", 2),
    ],
)  # fmt: skip
def test_what_may_fail_fails_in_the_call(text: str, code: str, depth: int) -> None:
    problem = failure(text)
    assert problem.code == code
    assert [frame.function for frame in problem.stack] == ["f"] * depth + ["main"]


def test_end_is_seen_in_loops_and_comprehensions() -> None:
    text = (
        "int f(int n) { if (n <= 1) { r = 1; } else { r = sum({ [i] -> f(n - 1 - i) | [i] < [n] }); "
        "for (i = 0; i < n; i++) { r = r + f(i); } } return r; } "
    )
    plain = [1, 1]
    for n in range(2, 8):
        plain.append(sum(plain[max(n - 1 - i, 0)] for i in range(n)) + sum(plain[:n]))
    assert run(text + "int main() { return f(7); }").value == plain[7]
