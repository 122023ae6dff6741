"""Pragmas checked before the program runs: on the very word, in both places, over several lines, out of macros; and
what waits for the launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacpy.interp.world import World
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.workspace import Workspace
from tests.withloop.pragma_messages import KEPT, messages


def check(text: str, device: str = "") -> list[Diagnostic]:
    try:
        return Workspace(device=device).check_text("use Array: all;\n" + text, "loop.sac")[1]
    except SacError as error:
        return list(error.diagnostics)


def loop(
    before: str = "",
    generator: str = "[0] <= iv < [50]",
    inside: str = "",
    more: str = "",
    operator: str = "genarray([100], 0)",
) -> str:
    return (
        f"int[*] f(int n, int[.] a)\n{{\n  return with {{\n{before}\n    ({generator})\n{inside}\n    : a[iv];\n"
        f"{more}\n  }} : {operator};\n}}\n"
    )


def told(found: list[Diagnostic]) -> list[tuple[str, str]]:
    """Code and the text that it points at."""
    return [(d.code, d.span.text) for d in found]


def test_each_requirement_has_its_message() -> None:
    assert messages() == KEPT.read_text(encoding="utf-8"), (
        "if the new texts are right: python -m tests.withloop.pragma_messages"
    )


@pytest.mark.parametrize("device", ["", "sm_75", "sm_90"])
def test_a_legal_mapping_says_nothing(device: str) -> None:
    assert (
        check(
            loop(
                "#pragma gpuparam B = 32, 64\n#pragma gpukernel GridBlock(1, SplitLast(B, ShiftLB(Gen)))\n"
                "#pragma gpumem shared(a)",
                "[1] <= iv < [n]",
            ),
            device,
        )
        == []
    )


def test_both_places_and_the_partition_goes_first() -> None:
    good, bad = (
        "#pragma gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))",
        "#pragma gpukernel GridBlock(1, FoldLast2(ShiftLB(Gen)))",
    )
    assert told(check(loop(bad))) == told(check(loop(inside=bad))) == [("E0809", "FoldLast2")]
    assert check(loop(bad, inside=good)) == []
    second = f"    {bad}\n    ([50] <= iv < [60]) : 1;"
    assert told(check(loop(good, more=second))) == [("E0809", "FoldLast2")]


def test_one_mapping_for_several_partitions_is_told_once() -> None:
    assert told(
        check(loop("#pragma gpukernel GridBlock(1, Permute([1, 0], Gen))", more="([50] <= iv < [60]) : 1;"))
    ) == [("E0804", "[1, 0]")]


def test_over_several_lines_with_comments() -> None:
    found = check(loop("#pragma gpukernel\n  GridBlock (1, // one axis\n   FoldLast2 (\n    /* the whole */ Gen))"))
    assert told(found) == [("E0809", "FoldLast2")]
    assert found[0].span.line == 7


def test_at_the_end_of_the_pragma() -> None:
    (found,) = check(loop("#pragma gpukernel GridBlock(1,\n  SplitLast(32, Gen)"))
    assert (found.code, found.message, found.span.line, found.span.column) == (
        "E0801",
        "`)` is expected here, and the pragma ends",
        6,
        21,
    )


def test_out_of_a_macro_both_places_are_told() -> None:
    (found,) = check("#define MAP #pragma gpukernel GridBlock(1, SplitLast(0, Gen))\n" + loop("MAP"))
    assert (found.code, found.span.text) == ("E0803", "MAP")
    assert found.span.macro is not None and found.span.macro.text == "0"
    (found,) = check("#define MAP #pragma gpukernel GridBlock(1, \\\n  Permute([1, 0], Gen))\n" + loop("MAP"))
    assert found.span.macro is not None and found.span.macro.text == "[1, 0]" and found.span.macro.line == 3


def test_bounds_that_are_not_known_are_not_held_against_the_mapping() -> None:
    pragma = "#pragma gpukernel GridBlock(1, SplitLast(32, Gen))"
    assert check(loop(pragma, "[n] <= iv < [50]")) == []
    assert check(loop(pragma, "[0] <= iv < [50] step [n]")) == []
    assert told(check(loop(pragma, "[0] < iv < [50]"))) == [("E0807", "SplitLast")]
    assert told(check(loop(pragma, ". < iv < ."))) == [("E0807", "SplitLast")]
    assert check(loop(pragma, ". <= iv <= .")) == []
    assert told(check(loop(pragma, "[0] <= iv < [n] step [4] width [2]"))) == [("E0808", "SplitLast")]
    assert check(loop(pragma, "[0] <= iv < [n] step [4] width [4]")) == []


def test_no_limit_without_a_device() -> None:
    pragma = "#pragma gpukernel GridBlock(1, Gen)"
    text = (
        f"int[*] f()\n{{\n  return with {{\n    {pragma}\n    ([0,0] <= iv < [9,5000]) : 1;\n"
        f"  }} : genarray([9,5000], 0);\n}}\n"
    )
    assert check(text) == []
    assert told(check(text, "sm_80")) == [("E0811", "GridBlock")]


def test_every_value_of_a_parameter_is_checked() -> None:
    pragmas = "#pragma gpuparam B = 32, 4096\n#pragma gpukernel GridBlock(1, SplitLast(B, ShiftLB(Gen)))"
    assert check(loop(pragmas)) == []
    assert told(check(loop(pragmas), "sm_90")) == [("E0811", "GridBlock")]


def test_parameters_hold_in_the_partitions_behind() -> None:
    assert check(loop("#pragma gpuparam B = 32", inside="#pragma gpukernel GridBlock(1, SplitLast(B, Gen))")) == []
    assert told(check(loop("#pragma gpuparam B = 32\n#pragma gpuparam B = 64"))) == [("E0814", "B")]


def test_said_twice() -> None:
    assert told(check(loop("#pragma gpumem global\n#pragma gpumem shared(a)"))) == [("E0801", "gpumem")]


def folding(before: str = "", inside: str = "", operator: str = "fold(+, 0)") -> str:
    return loop(before, inside=inside, operator=operator).replace("int[*] f", "int f")


def test_what_is_said_of_the_order_of_a_fold_stands_before_all_partitions() -> None:
    for word in ("commutative", "noncommutative"):
        assert check(folding(f"#pragma {word}")) == []
        assert told(check(folding(inside=f"#pragma {word}"))) == [("E0817", word)]
        assert told(check(loop(f"#pragma {word}"))) == [("E0817", word)]
    assert told(check(folding("#pragma commutative", operator="foldfix(+, 0, 9)"))) == [("E0817", "commutative")]
    assert check(folding("#pragma noncommutative", operator="foldfix(+, 0, 9)")) == []
    (found,) = check(folding("#pragma commutative\n#pragma noncommutative"))
    assert (found.code, found.message, found.span.text) == (
        "E0801",
        "`noncommutative` contradicts the `commutative` before it",
        "noncommutative",
    )


def test_a_way_to_fold_wants_a_fold() -> None:
    assert check(folding("#pragma gpufold shuffle")) == []
    assert told(check(folding("#pragma gpufold shuffel")))[0][1] == "shuffel"  # and not the partition behind it
    assert check(folding(inside="#pragma gpufold runs(8)")) == []
    assert told(check(loop("#pragma gpufold shuffle"))) == [("E0820", "shuffle")]
    assert told(check(folding("#pragma gpufold shuffle\n#pragma gpufold halving"))) == [("E0801", "gpufold")]
    assert told(check(folding("#pragma gpufold halving", operator="foldfix(+, 0, 9)"))) == [("W0812", "gpufold")]
    rows = (
        "int[*] f(int[.,.] a)\n{\n  return with {\n#pragma gpufold shuffle\n    ([0] <= [i] < [9]) : SUM;\n"
        "  } : genarray([9], 0);\n}\n"
    )
    inner = "with { ([0] <= [j] < [9]) : a[i,j]; } : fold(+, 0)"
    assert check(rows.replace("SUM", "sum(a[i])")) == check(rows.replace("SUM", inner)) == []
    inside = rows.replace("#pragma gpufold shuffle", "").replace(
        "SUM", inner.replace("{", "{\n#pragma gpufold shuffle\n")
    )
    assert told(check(inside)) == [("W0816", "gpufold")]


def test_nothing_is_staged_for_a_fold_of_everything() -> None:
    assert (
        told(check(folding("#pragma gpumem shared(a)")))
        == told(check(folding(inside="#pragma gpumem shared(a)")))
        == [("E0819", "a")]
    )
    assert check(folding("#pragma gpumem global")) == []


def test_a_mapping_where_there_is_no_kernel() -> None:
    inner = (
        "with {\n#pragma gpukernel GridBlock(1, SplitLast(32, Gen))\n ([0] <= [j] < [9]) : j + iv[0]; } : fold(+, 0)"
    )
    outer = loop().replace(": a[iv];", f": {inner};")
    (found,) = check(outer)
    assert (found.code, found.span.text, found.severity) == ("W0816", "gpukernel", "warning")
    assert told(
        check(
            outer.replace("return with", "for (k = 0; k < 9; k++) { b = with", 1).replace(
                "  } : genarray([100], 0);", "  } : genarray([100], 0); }\n  return a;"
            )
        )
    ) == [("W0816", "gpukernel")]
    point = "with {\n#pragma gpukernel GridBlock(0, Gen)\n ([] <= iv < []) : n; } : genarray([], 0)"
    assert told(check(f"int f(int n) {{ return {point}; }}")) == [("W0816", "gpukernel")]
    assert (
        check(
            "int f(int n) { s = 0; for (k = 0; k < 9; k++) { s = s + " + inner.replace("iv[0]", "n") + "; } return s; }"
        )
        == []
    )


def test_arrays_to_stage_must_be_read() -> None:
    (found,) = check(loop("#pragma gpumem shared(a, c)"))
    assert (found.code, found.span.text, found.help) == ("E0815", "c", "what is read there: a")


@pytest.mark.parametrize("operator", ["foldfix(+, 0, 9)", "propagate(n)"])
def test_a_loop_that_cannot_run_on_a_gpu(operator: str) -> None:
    text = loop("#pragma gpukernel GridBlock(1, Gen)", operator=operator).replace("int[*] f", "int f")
    if "propagate" in operator:
        text = text.replace(": a[iv];", "{ n = n + a[iv]; } : n;").replace("    : ", "    ")
    assert told(check(text)) == [("W0812", "gpukernel")]
    assert told(check(text, "sm_90")) == [("E0812", "gpukernel")]


GOOD = "#pragma gpukernel GridBlock(1, SplitLast(32, ShiftLB(Gen)))"
LEGAL = "with { ([0] <= iv < [50]) : iv[0]; } : genarray([50], 0)"


@pytest.mark.parametrize(
    "text",
    [
        f"int[*] f()\n{{\n  {GOOD}\n  return {LEGAL};\n}}",
        f"int[*] f()\n{{\n  a = {LEGAL};\n  {GOOD}\n  return a;\n}}",
        f"int[*] f()\n{{\n  if (true) {{\n    {GOOD}\n  }}\n  return {LEGAL};\n}}",
        f"{GOOD}\nint[*] f() {{ return {LEGAL}; }}",
        f"int[*] f() {{ return {LEGAL}; }}\n{GOOD}",
        f"int[*] f() {{ return {LEGAL}; }}\n{GOOD}\nint g() {{ return 1; }}",
    ],
)
def test_a_pragma_that_lays_out_nothing(text: str) -> None:
    (found,) = check(text)
    assert (found.code, found.span.text, found.severity) == ("E0816", "gpukernel", "error")
    assert "braces of the with-loop" in found.help
    wrong = check(text.replace("SplitLast(32", "SplitFirst(32"))
    assert told(wrong) == [("E0802", "SplitFirst"), ("E0816", "gpukernel")]


def test_each_word_out_of_place() -> None:
    pragmas = (
        "#pragma gpuparam B = 32, 64\n#pragma gpukernel GridBlock(1, SplitLast(B, Gen))\n#pragma gpumem global\n"
        "#pragma noncommutative\n"
    )
    found = check(f"int[*] f()\n{{\n{pragmas}return {LEGAL};\n}}")
    assert told(found) == [
        ("E0816", "gpuparam"),
        ("E0816", "gpukernel"),
        ("E0816", "gpumem"),
        ("E0816", "noncommutative"),
    ]


def test_pragmas_of_external_functions_stand_right() -> None:
    assert check('external double g(double x);\n  #pragma gpumem [0]\n  #pragma linkname "gee"\n#pragma anything') == []


def test_a_program_that_is_broken_says_nothing_of_its_pragmas() -> None:
    assert [
        d.code[0]
        for d in check(f"int[*] f()\n{{\n  {GOOD}\n  return with {{ ([0] <= iv < [50] : 1; }} : genarray([50], 0);\n}}")
    ] == ["E"]


PROGRAM = """use Array: all;
use StdIO: all;
use CommandLine: all;
int[.,.] f(int n)
{
  return with {
    #pragma gpukernel GridBlock(1, ShiftLB(Gen))
    ([0,0] <= iv < [2,n]) : iv[1];
  } : genarray([2,n], 0);
}
int main()
{
  a = f(argc() * 2000);
  a[0,1] = 5;
  printf("%d", a[1,7] + a[0,1]);
  return 0;
}
"""


def run(target: str, text: str = PROGRAM) -> bytes:
    workspace = Workspace(target=target, eager=True)
    program, found = workspace.load_text(text)
    world = World.captured()
    workspace.run(program, world, found)
    return world.out()


def test_what_depends_on_extents_is_told_at_the_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_CACHE_DIR", str(tmp_path))
    for _ in ("compiled", "out of the cache"):
        with pytest.raises(SacError) as caught:
            run("emulator")
        (found,) = caught.value.diagnostics
        assert (found.code, found.span.text, found.span.line) == ("E0811", "GridBlock", 7)
        assert found.notes == ("the space it is applied to is [0, 0] <= iv < [2, 2000]",)


@pytest.mark.parametrize("step", ["step [1,2]", "step [1,2] width [1,1]", "step [1,5] width [1,2]"])
def test_an_axis_without_gaps_need_not_be_compressed(step: str) -> None:
    text = PROGRAM.replace(
        "GridBlock(1, ShiftLB(Gen))", "GridBlock(1, SplitLast(32, FoldLast2(CompressGrid([0,1], Gen))))"
    ).replace("[2,n])", f"[2,n] {step})", 1)
    assert run("emulator", text) == run("interp", text)


def test_the_same_program_runs_on_the_cpu_and_in_the_interpreter() -> None:
    assert run("cpu") == run("interp") == b"12"
