"""Run-time errors: code, message, place and call stack, one program for each mistake."""

import pytest

import sacpy
from tests.interp.tools import failure, main, run

COUNT = "int three() { n = 0; while (n < 3) { n++; } return n; } "  # a number that inference does not know

CASES = {
    "E0601": (
        "int main() { a = iota(three()); return a[[three()]]; }",
        "index [3] is out of range for the shape [3]",
        "a[[three()]]",
    ),
    "E0602": (
        "int main() { return sum(iota(three()) + iota(three() + 1)); }",
        "+ needs equal shapes, but these are [3] and [4]",
        "iota(three()) + iota(three() + 1)",
    ),
    "E0603": ("int main() { return 5 / (three() - 3); }", "division by zero", "5 / (three() - 3)"),
    "E0604": ("int main() { return 1 << (three() + 29); }", "shift by 32, but int has 32 bits", "1 << (three() + 29)"),
    "E0605": (
        "int main() { b = reshape(genarray([three() - 2], 1), [true]); if (b) { n = 1; } else { n = 2; } return n; }",
        "must be a scalar bool",
        "if (b)",
    ),
    "E0607": (
        "int main() { a = genarray([three() - 5], 0); return sum(a); }",
        "[-2] has a negative extent",
        "genarray([three() - 5], 0)",
    ),
    "E0608": (
        "int main() { return sum(reshape([2, 2], iota(three()))); }",
        "cannot reshape [3] to [2,2]",
        "reshape([2, 2], iota(three()))",
    ),
    "E0611": (
        "int main() { n = three() - 3; a = with { ([0] <= [i] < [3] step [n]) : i; } : genarray([3], 0); return a[0]; "
        "}",
        "the step of a generator is 0",
        "([0] <= [i]",
    ),
    "E0612": (
        "int main() { n = three(); a = with { ([0] <= [i] < [n]) : i; } : genarray([2], 0); return a[0]; }",
        "from [0] to below [3] leaves the result",
        "([0] <= [i]",
    ),
    "E0613": (
        "int main() { a = with { ([0] <= [i] < [3]) : iota(i); } : genarray([3]); return 1; }",
        "need one shape, but here is [1] after [0]",
        "([0] <= [i]",
    ),
    "E0615": (
        "int f(int[n] a, int[n] b) { return n; } int main() { return f(iota(three()), iota(three() + 1)); }",
        "violates its type patterns: argument 2 (b) is int[4]",
        "f(iota(three()), iota(three() + 1))",
    ),
    "E0616": (
        "int f(int x) | (x > 3) { return x; } int main() { return f(three()); }",
        "the condition (x > 3) of f does not hold",
        "f(three())",
    ),
    "E0617": ("int main() { a = (int[2]) iota(three()); return a[0]; }", "int[2]", "(int[2]) iota(three())"),
    "E0618": (
        "external int mystery(int a); int main() { return mystery(1); }",
        "mystery(int a) is not bound",
        "mystery(1)",
    ),
    "E0619": (
        "int f(int[4] a) { return 1; } int main() { return f(iota(three())); }",
        "no instance of f takes arguments of these shapes: [3]",
        "f(iota(three()))",
    ),
}


@pytest.mark.parametrize("code", CASES)
def test_mistake_is_named_where_it_is(code: str) -> None:
    text, message, place = CASES[code]
    found = failure(COUNT + text)
    assert found.code == code, found.message
    assert message in found.message
    assert found.span.text.startswith(place)
    assert found.help


def test_call_stack_is_innermost_first() -> None:
    found = failure(
        "int g(int[.] a, int i) { return a[i]; } int f(int i) { return g([1, 2, 3], i); } int main() { s = 0; for (i "
        "= 0; i < 9; i++) { s += f(i); } return s; }"
    )
    assert [frame.function for frame in found.stack] == ["g", "f", "main"]
    assert [frame.span.text for frame in found.stack] == ["a[i]", "g([1, 2, 3], i)", "f(i)"]


def test_all_violations_of_a_call_are_reported() -> None:
    found = failure(
        COUNT
        + "int f(int[n] a, int[n] b, int[n] c) { return n; } int main() { n = three(); return f(iota(n), iota(n + 1), "
        "iota(n + 2)); }"
    )
    assert "argument 2" in found.message
    assert any("argument 3" in note for note in found.notes)


@pytest.mark.parametrize("index", ["-1", "3"])
@pytest.mark.parametrize(
    "use", ["return a[i];", "a[i] = 1; return a[0];", "a[[i]] = 1; return a[0];", "return sum(reshape([3, 1], a)[i]);"]
)
def test_index_is_checked_on_both_sides(index: str, use: str) -> None:
    assert failure(COUNT + f"int main() {{ a = iota(3); i = {index} + three() - 3; {use} }}").code == "E0601"


def test_runaway_recursion_ends_with_a_diagnostic() -> None:
    found = failure("int f(int n) { return f(n + 1) + 1; } int main() { return f(0); }", depth_limit=5_000)
    assert found.code == "E0701"
    assert len(found.stack) <= 100


DEEP = {
    "plain": "int f(int n) { if (n == 0) { r = 0; } else { r = f(n - 1) + 1; } return r; } int main() { return "
    "f(20000); }",
    "with-loop": "int f(int n) { r = 0; if (n > 0) { r = with { ([0] <= [i] < [1]) : f(n - 1) + 1; } : fold(+, 0); } "
    "return r; } int main() { return f(20000); }",
    "dispatch": """int g(int[*] a, int n) { return n == 0 ? 0 : f(reshape([1], a), n - 1) + 1; }
        int f(int[.] a, int n) { return n == 0 ? 0 : g(a, n - 1) + 1; }
        int f(int[.,.] a, int n) { return n == 0 ? 0 : g(a, n - 1) + 1; } int main() { return g([1], 20000); }""",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_recursion_works(name: str) -> None:
    assert run(DEEP[name]).value == 20000


def test_deeply_nested_statements_work() -> None:
    chain = (
        "x = three() + 54; "
        + "".join(f"if (x == {i}) {{ r = {i}; }} else " for i in range(90))
        + "{ r = 0; } return r;"
    )
    assert run(COUNT + "int main() { " + chain + " }").value == 57
    loops = (
        "s = 0; "
        + "".join(f"for (i{k} = 0; i{k} < 1; i{k}++) {{ " for k in range(24))
        + "s++; "
        + "}" * 24
        + " return s;"
    )
    assert main(loops).value == 1


def test_error_inside_a_split_off_part_has_one_frame() -> None:
    loops = (
        "s = 0; a = iota(3); "
        + "".join(f"for (i{k} = 0; i{k} < 1; i{k}++) {{ " for k in range(14))
        + "s = a[s + 3]; "
        + "}" * 14
        + " return s;"
    )
    assert [frame.function for frame in failure("int main() { " + loops + " }").stack] == ["main"]


@pytest.mark.parametrize("target", ["interp", "auto", "cpu"])
def test_a_condition_in_the_head_of_a_function_is_a_scalar_too(target: str) -> None:
    session = sacpy.Session(target=target)
    for condition, argument in (("b", "bool[*] b"), ("b == b", "bool[.] b")):
        with pytest.raises(sacpy.SacError) as known:
            session.compile(f"use Array: all; int f({argument}) | {condition} {{ return 1; }}").f([True, True])
        assert known.value.diagnostics[0].code in ("E0605", "E0515")
    assert session.compile("int f(bool[*] b) | b { return 1; }").f(True) == 1
