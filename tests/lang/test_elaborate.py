"""From SaC text to core: what each construct becomes, and that what comes out is well-formed."""

from pathlib import Path

import pytest

from sacpy.lang.core_printer import print_function
from sacpy.lang.core_verify import verify
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.elaborate.program import ElaboratedProgram, elaborate
from sacpy.lang.modules import Loader, load_library, parse_source
from sacpy.lang.source import Source

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = load_library(None)


def program_of(text: str) -> ElaboratedProgram:
    return elaborate(parse_source(Source("test.sac", text)), Loader((), library=LIBRARY))


def body_of(text: str, name: str = "f") -> list[str]:
    """The lines of a function's core, without its head."""
    program = program_of(text)
    entry = program.main.own(name)[0]
    return [line.strip() for line in print_function(program.function(program.key(entry, ()))).strip().splitlines()[1:]]


def errors_of(text: str) -> list[Diagnostic]:
    try:
        return [d for d in program_of(text).check() if d.severity == "error"]
    except SacError as error:
        return list(error.diagnostics)


OWN = "int + (int a, int b) { return _add_SxS_(a, b); } bool < (int a, int b) { return _lt_SxS_(a, b); } "


# ---------------------------------------------------------------- order and names


def test_arguments_are_evaluated_right_to_left() -> None:
    lines = body_of(OWN + "int g(int x) { return x; } int f() { return g(1) + g(2); }")
    assert [line for line in lines if "g(" in line] == ["int t = g(2) {_MAIN::g/0}", "int t~1 = g(1) {_MAIN::g/0}"]


def test_array_elements_are_evaluated_right_to_left() -> None:
    lines = body_of("int g(int x) { return x; } int[2] f() { return [g(1), g(2)]; }")
    assert lines[:3] == ["int t = g(2) {_MAIN::g/0}", "int t~1 = g(1) {_MAIN::g/0}", "int t~2 = [t~1, t]"]


def test_reassigned_variables_get_names_of_their_own() -> None:
    assert body_of(OWN + "int f(int x) { x = x + 1; x = x + 2; return x; }")[-1] == "return x~2"


def test_overlapping_names_of_a_module_and_a_program_prefer_the_program() -> None:
    lines = body_of("use Array: all; int sum(int[.] a) { return 1; } int f(int[.] a) { return sum(a); }")
    assert lines[0] == "int t = sum(a) {_MAIN::sum/0}"


def test_calls_keep_the_candidates_that_differ_in_shape_only() -> None:
    lines = body_of(
        "int g(int x) { return 0; } int g(int[.] x) { return 1; } int g(double x) { return 2; } int f(int[*] a) { "
        "return g(a); }"
    )
    assert lines[0] == "int t = g(a) {_MAIN::g/0, _MAIN::g/1}"


def test_a_new_value_of_a_reference_stays_with_its_variable() -> None:
    lines = body_of("void g(int &a) { a = 2; } int f(int a) { g(a); b = a; return _add_SxS_(a, b); }")
    assert lines == ["int t = g(a) {_MAIN::g/0}", "int b = t", "int t~1 = _add_SxS_(t, b)", "return t~1"]


# ---------------------------------------------------------------- desugaring


def test_lazy_operators_become_conditionals() -> None:
    lines = body_of(OWN + "bool f(int a, int b) { return a < 1 && b < 2; }")
    assert lines[1].startswith("if t") and "-> false" in lines


def test_an_update_is_a_modarray_and_a_selection_a_sel() -> None:
    assert body_of("int[.] f(int[.] a) { a[1] = a[0]; return a; }") == [
        "int t = _sel_(0, a)",
        "int a~1 = _modarray_(a, 1, t)",
        "return a~1",
    ]


def test_a_compound_update_reads_once() -> None:
    lines = body_of(OWN + "int[.] f(int[.] a, int i) { a[i] += 5; return a; }")
    assert [line.split(" = ")[1].split("(")[0] for line in lines[:-1]] == ["_sel_", "+", "_modarray_"]


def test_a_struct_is_its_fields_side_by_side() -> None:
    lines = body_of("struct P { int x; int[2] v; }; int f(struct P p) { p.v[1] = p.x; return p.x; }")
    assert lines[0] == "int t = _modarray_(p.v, 1, p.x)"
    assert lines[-1] == "return p.x~1"


def test_indices_of_an_array_of_structs_and_of_a_field_join() -> None:
    lines = body_of("struct P { int[2] v; }; struct P[.] f(struct P[.] ps) { ps[3].v[1] = 7; return ps; }")
    assert "int t~2 = _cat_(t, t~1)" in lines


def test_a_typedef_keeps_its_own_axes_apart() -> None:
    lines = body_of("typedef double[2] complex; int[.] f(complex[.] a) { return _shape_A_(a); }")
    assert lines[0] == "int t = _shape_(a) <cell 1>"


def test_dots_select_in_one_step() -> None:
    assert "_slice_" in body_of("int[.] f(int[.,.] a) { return a[., 1]; }")[0]


def test_a_comprehension_takes_its_range_from_its_selections() -> None:
    lines = body_of(OWN + "int[.] f(int[.] a, int[.] b) { return { [i] -> a[i] + b[i] }; }")
    assert [line for line in lines if "_min_" in line], lines


def test_a_range_comes_from_an_inner_comprehension_too() -> None:
    assert not errors_of("use Array: all; int[.,.] f(int[.] v) { return { [i] -> { iv -> v[iv] * [1] }[[i]] }; }")


def test_what_a_loop_changes_is_carried() -> None:
    lines = body_of(OWN + "int f(int n) { s = 0; for (i = 0; i < n; i = i + 1) { s = s + i; } return s; }")
    assert lines[0] == "loop int s = 0, int i = 0"


def test_a_do_loop_may_test_what_its_body_sets() -> None:
    lines = body_of(OWN + "int f(int n) { do { y = n + 1; n = y; } while (y < 9); return n; }")
    assert lines[0] == "loop int n~1 = n, int y~1 = undefined"


def test_objects_changed_in_a_with_loop_are_threaded_through() -> None:
    text = (
        "class C; classtype int; use Array: all; export all; C make() { return to_C(0); } void inc(C &c) { x = "
        "from_C(c); c = to_C(x + 1); } "
    )
    text += "int f() { c = make(); with { ([0] <= iv < [3]) { inc(c); } : void; } : void; return from_C(c); }"
    assert any("propagate" in line for line in body_of(text))


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int f() { return x; }", "E0305"),
        ("use Array: all; int f(int n) { for (i = 0; i < n; i++) { y = i; } return y; }", "E0306"),
        ("int f() { return g(1); }", "E0307"),
        ("use Arrray: all; int f() { return 1; }", "E0301"),
        ("use Array: { foo }; int f() { return 1; }", "E0308"),
        ("foo f() { return 1; }", "E0310"),
        ("struct A { struct A a; }; int f(struct A a) { return 1; }", "E0311"),
        ("use Array: all; int f() { return 1 + 1.5; }", "E0403"),
        ("int f() { if (1) { x = 1; } else { x = 2; } return x; }", "E0402"),
        ("int f() { return [1, 1.5][0]; }", "E0404"),
        ("int g() { return 1; } int f() { return g(1); }", "E0415"),
        ("double f() { return 1; }", "E0437"),
        ("int f() { x = 1; }", "E0435"),
        ("int, int f() { return 1; }", "E0436"),
        ("int f(int a, int a) { return 1; }", "E0434"),
        ("int f(int[.,.] a, int i) { a[., i] = 1; return i; }", "E0421"),
        ("int f() { return { [i] -> i }[0]; }", "E0430"),
        ("int g() { return 1; } int f() { a, b = g(); return a; }", "E0401"),
        ("struct P { int x; }; int f(struct P p) { return p.y; }", "E0410"),
        ("int f(int p) { return p.y; }", "E0411"),
        ("struct P { int x; int y; }; int f() { p = P{1}; return p.x; }", "E0412"),
        ("int f(int a) { return a[1.0]; }", "E0419"),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_diagnostic(text: str, code: str) -> None:
    found = errors_of(text)
    assert [d.code for d in found] == [code]
    assert all(d.help for d in found)


def test_what_follows_from_a_mistake_is_not_reported() -> None:
    found = errors_of("use Array: all; int f() { x = undefined + 1; y = x * 2; z = y + x; return z; }")
    assert [d.code for d in found] == ["E0305"]


def test_several_mistakes_are_reported_together() -> None:
    found = errors_of("use Array: all; int f() { x = undefined + 1; y = 1 + 1.5; return missing(2); }")
    assert [d.code for d in found] == ["E0305", "E0403", "E0307"]


def test_who_means_a_power_is_told_its_name() -> None:
    (found,) = errors_of("use Array: all; double f(int n) { return 2.0 ^ n; }")
    assert (found.code, found.help) == (
        "E0403",
        "^ is the exclusive or of integers' bits; powers are pow(a, b), of two doubles: add 'use Math: all;'",
    )


def test_a_missing_conversion_is_suggested_as_an_edit() -> None:
    (found,) = errors_of("use Array: all; double f(int n) { return n * 1.5; }")
    assert found.edit is not None and found.edit.text == "tod(n)"


# ---------------------------------------------------------------- the whole


@pytest.mark.parametrize("path", sorted((ROOT / "programs").glob("*.sac")), ids=lambda p: p.stem)
def test_core_of_every_program_and_what_it_calls_is_well_formed(path: Path) -> None:
    program = elaborate(parse_source(Source(str(path))), Loader((path.parent,), library=LIBRARY))
    assert not [d for d in program.check() if d.severity == "error"]
    done: set[str] = set()
    while todo := program.instances.keys() - done:
        for key in todo:
            done.add(key)
            if program.signature(key).native is None:
                assert verify(program.function(key), program) == [], key


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("double f() { return sqrt(2.0); }", "'use Math: all;'"),
        ("use ScalarArith: all; int f() { return summ(1); }", "define summ"),
        ("use Array: all; int f() { return summ([1]); }", "did you mean sum?"),
        ("use Sort: all; int f() { return sorteds([1]); }", "did you mean sort?"),  # `sorted` is its own affair
        ("use Sort: { sorted }; int f() { return 1; }", "did you mean sort?"),
        ('use String: { string }; use Array: all; string f() { return "a" + "b"; }', "'use String: all;'"),
    ],
)
def test_help_names_what_was_meant(text: str, help: str) -> None:
    assert help in (errors_of(text)[0].help or "")


@pytest.mark.parametrize("operator", ["fold(h, 0)", "scan(h, 0)"])
def test_a_function_of_an_operator_that_takes_too_many_is_told_what_it_is_called_with(operator: str) -> None:
    (found,) = errors_of(
        "int h(int a, int b, int c) { return a; } "
        f"int[*] f(int[.] v) {{ return with {{ ([0] <= [i] < [2]) : i; }} : {operator}; }}"
    )
    assert found.code == "E0415" and found.message == "h takes 3 arguments, not 2"
    assert found.help.startswith("name a function of 2: it is called with what there is so far")
