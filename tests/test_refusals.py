"""When wrong shapes keep a program from being run, and when they wait until the run comes to them."""

from tests.tools import run_text

HEAD = "use StdIO: all; use Array: all; use CommandLine: all;\n"


def test_a_function_that_fails_whenever_it_is_called_is_refused_even_if_nobody_calls_it() -> None:
    result = run_text(HEAD + 'int f(int[3] v) { return v[7]; } int main() { printf("before"); return 0; }')
    assert (result.status, result.stdout, [p.code for p in result.diagnostics]) == (1, b"", ["E0506"])


def test_a_branch_that_the_run_does_not_take_may_fail() -> None:
    result = run_text(
        HEAD + 'int main() { a = [1, 2]; if (argc() > 1) { printf("%d", a[5]); } printf("after"); return 0; }'
    )
    assert (result.status, result.stdout) == (0, b"after")


def test_main_runs_up_to_what_is_certain_to_fail_and_every_such_error_is_reported() -> None:
    result = run_text(
        HEAD
        + 'int main() { printf("before\\n"); a = [1, 2]; b = a[5]; c = a + [1, 2, 3]; print(b); print(c); return 0; }'
    )
    assert (result.status, result.stdout, [p.code for p in result.diagnostics]) == (1, b"before\n", ["E0506", "E0503"])
