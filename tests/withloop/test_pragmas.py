import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacpy.withloop.block_words import Force, GpuBlock, GpuEach, GpuThreads
from sacpy.withloop.combinators import Parameter, SplitLast
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import GpuKernel, GpuMem, GpuParam, Order, effective, order_of, parse, parse_all
from sacpy.withloop.ways import WAYS, GpuFold
from tests.withloop.spaces_strategy import chains, spaces


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(spaces().flatmap(chains), st.randoms())
def test_a_chain_is_read_as_it_is_written_however_it_is_broken(chain, chance):
    values = {p.name: p.choices for p in chain.parameters}
    if len(values) < len(chain.parameters):
        return  # the generator gave one name twice, with different values
    text = "gpukernel " + str(chain)
    broken = "".join(
        c + chance.choice(["", " ", "\n   ", " \\\n", "/* why */", " // here\n"]) if c in "(),[]" else c for c in text
    )
    parsed = parse(broken, values)
    assert isinstance(parsed, GpuKernel)
    assert str(parsed.chain) == str(chain)
    assert parsed.chain.steps == chain.steps and parsed.chain.grid_block.axes == chain.grid_block.axes
    for step in (*parsed.chain.steps, parsed.chain.grid_block):
        assert broken[slice(*step.span)] == type(step).__name__


@pytest.mark.parametrize(
    "text",
    [
        "gpukernel GridBlock(0,Gen)",
        "pragma gpukernel GridBlock(0,Gen)",
        "#pragma gpukernel GridBlock(0,Gen)",
        " # pragma\tgpukernel\nGridBlock ( 0 , Gen ) ",
    ],
)
def test_the_word_pragma_may_be_there(text):
    assert str(parse(text).chain) == "GridBlock(0, Gen)"


def test_parameters_stay_open():
    first, second = parse_all(["gpuparam B = 32, 64, 128, 256", "gpukernel GridBlock(1, SplitLast(B, ShiftLB(Gen)))"])
    assert first == GpuParam("B", (32, 64, 128, 256), (9, 10))
    assert second.chain.steps[1] == SplitLast(Parameter("B", (32, 64, 128, 256)))
    assert str(second.chain) == "GridBlock(1, SplitLast(B, ShiftLB(Gen)))"


def test_a_parameter_serves_only_what_stands_behind_it():
    with pytest.raises(MappingError, match="E0813"):
        parse_all(["gpukernel GridBlock(1, SplitLast(B, ShiftLB(Gen)))", "gpuparam B = 32"])


@pytest.mark.parametrize("way", WAYS)
def test_ways_to_fold_are_read_as_they_are_written(way):
    text = f"gpufold {way}" + ("(8)" if way in ("runs", "strided") else "(tf32)" if way == "mma" else "")
    found = parse(text)
    assert isinstance(found, GpuFold) and f"gpufold {found.words}" == text
    assert text[slice(*found.span)] == found.words


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("gpufold halfing", "E0820.*did you mean halving", "halfing"),
        ("gpufold", "E0820.*the pragma ends", ""),
        ("gpufold runs", "E0801.*how many indices a thread folds", ""),
        ("gpufold runs(x)", "E0820.*`x` stands", "x"),
        ("gpufold strided(0)", "E0820.*1 to 65536 indices, and not 0", "0"),
        ("gpufold strided(65537)", "E0820.*and not 65537", "65537"),
        ("gpufold shuffle(8)", r"E0801.*`\(` stands", "("),
        ("gpufold mma", "E0820.*which numbers tensor cores multiply", ""),
        ("gpufold mma(f16)", "E0820.*one of f64, tf32.*factors are rounded", "f16"),
    ],
)
def test_ways_to_fold_that_are_none(text, message, at):
    with pytest.raises(MappingError, match=message) as caught:
        parse(text)
    assert text[slice(*caught.value.span)] == at


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gpublock(256)", GpuBlock(256)),
        ("gpublock ( 1024 )", GpuBlock(1024)),
        ("gputhreads(2)", GpuThreads(2)),
        ("gpueach(4)", GpuEach(4)),
        ("force", Force()),
    ],
)
def test_words_of_a_block_s_program(text, found):
    assert parse(text) == found


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("gpublock", "E0801.*the pragma ends", ""),
        ("gpublock(x)", "E0821.*a number is expected here, and `x` stands", "x"),
        ("gpublock(0)", "E0821.*a block has 1 to 1024 threads, and not 0", "0"),
        ("gputhreads(1025)", "E0821.*and not 1025", "1025"),
        ("gpueach(0)", "E0821.*a thread has 1 to 1024 elements, and not 0", "0"),
        ("gpueach(4", r"E0801.*`\)` is expected", ""),
        ("force(2)", r"E0801.*`\(` stands", "("),
    ],
)
def test_words_of_a_block_s_program_that_are_none(text, message, at):
    with pytest.raises(MappingError, match=message) as caught:
        parse(text)
    assert text[slice(*caught.value.span)] == at


def test_memory():
    text = "gpumem shared(image, kernel)"
    found = parse(text)
    assert found == GpuMem("shared", ("image", "kernel"), ((14, 19), (21, 27)))
    assert [text[slice(*span)] for span in found.spans] == ["image", "kernel"]
    assert parse("gpumem global") == GpuMem("global")
    assert parse("gpumem [0,2]") == GpuMem("arguments", arguments=(0, 2))
    assert parse("gpumem []") == GpuMem("arguments")


def test_order():
    assert parse("noncommutative") == Order(False)
    assert parse("commutative") == Order(True)
    assert [
        order_of(texts) for texts in ((), ["commutative"], ["gpumem global", "noncommutative"], ["wlcomp Naive(Gen)"])
    ] == [None, True, False, None]


@pytest.mark.parametrize(
    "text", ["", 'linkname "f"', "wlcomp Naive(Gen)", "pragma", "#pragma effect World::world", "((("]
)
def test_other_pragmas_are_none_of_its_business(text):
    assert parse(text) is None


def test_others_are_left_out_of_all():
    assert parse_all(['linkname "f"', "noncommutative"]) == [Order(False)]


def test_long_mappings_need_no_stack():
    text = "gpukernel GridBlock(0, " + "ShiftLB(" * 20000 + "Gen" + ")" * 20001
    assert len(parse(text).chain.steps) == 20000


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "gpukernel",
                "GridBlock",
                "(",
                ")",
                ",",
                "1",
                "-3",
                "[",
                "]",
                "SplitLast",
                "Gen",
                "B",
                "=",
                "gpuparam",
                "gpumem",
                "shared",
                "global",
                "\\",
                '"',
                "é",
                "/*",
                "99999999999999999999",
            ]
        ),
        max_size=12,
    )
)
def test_whatever_the_text_an_error_has_a_place_in_it(words):
    text = "gpukernel " + " ".join(words)
    try:
        parse(text)
    except MappingError as error:
        start, end = error.span
        assert 0 <= start <= end <= len(text)
        assert error.code.startswith("E08") and error.message


def test_a_partitions_own_pragmas_replace_the_with_loops():
    wide, narrow = "gpukernel GridBlock(1, SplitLast(B, Gen))", "gpukernel GridBlock(1, SplitLast(8, Gen))"
    shared = ["gpuparam B = 32, 64", wide, "gpumem global"]
    assert [type(p) for p in effective(shared, [])] == [GpuParam, GpuKernel, GpuMem]
    found = effective(shared, [narrow])
    assert [str(p.chain) for p in found if isinstance(p, GpuKernel)] == ["GridBlock(1, SplitLast(8, Gen))"]
    assert [p.mode for p in found if isinstance(p, GpuMem)] == ["global"]
    assert [
        p.chain.parameters[0].choices for p in effective(shared, ["gpuparam B = 128", wide]) if isinstance(p, GpuKernel)
    ] == [(128,)]
