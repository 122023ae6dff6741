"""Each requirement of the table of combinators violated once: code, message, help, and the text the error points at."""

import re
from pathlib import Path

import pytest

from sacpy.withloop.chains import Chain
from sacpy.withloop.combinators import (
    COMBINATORS,
    CompressGrid,
    FoldLast2,
    FoldTriangle,
    PadLast,
    Permute,
    PruneGrid,
    ShiftLB,
    SplitLast,
)
from sacpy.withloop.devices import DEVICES
from sacpy.withloop.errors import MappingError
from sacpy.withloop.placement import GridBlock
from sacpy.withloop.pragmas import parse, parse_all
from sacpy.withloop.spaces import IndexSpace

H100 = DEVICES["sm_90"]
BOX = IndexSpace.box([9, 9])
SHIFTED = IndexSpace.of([1, 1], [9, 9])
GAPS = IndexSpace.of([0, 0], [9, 9], [1, 2])

TRIANGLE = IndexSpace.rows([9, 1], 1)

REQUIREMENTS = [
    (
        "GridBlock(1, SplitLast(4, Gen))",
        TRIANGLE,
        "E0822: SplitLast needs rows of one length (put FoldTriangle or FoldLast2 inside it, which make a rectangle or "
        "one axis of rows that grow)",
        "SplitLast",
    ),
    (
        "GridBlock(1, Permute([1, 0], ShiftLB(Gen)))",
        TRIANGLE,
        "E0822: Permute needs rows of one length (put FoldTriangle or FoldLast2 inside it, which make a rectangle or "
        "one axis of rows that grow)",
        "Permute",
    ),
    (
        "GridBlock(1, ShiftLB(Gen))",
        TRIANGLE,
        "E0822: GridBlock needs rows of one length (put FoldTriangle or FoldLast2 inside it, which make a rectangle or "
        "one axis of rows that grow)",
        "GridBlock",
    ),
    (
        "GridBlock(1, FoldTriangle(Gen))",
        BOX,
        "E0822: FoldTriangle needs rows that grow, as those of `[i,j] < [n, i+1]` do (leave it out: what has rows of "
        "one length is a rectangle)",
        "FoldTriangle",
    ),
    (
        "GridBlock(1, CompressGrid([0, 1], Gen))",
        SHIFTED,
        "E0807: CompressGrid needs a zero-based space (put ShiftLB inside it)",
        "CompressGrid",
    ),
    (
        "GridBlock(1, PruneGrid(Gen))",
        SHIFTED,
        "E0807: PruneGrid needs a zero-based space (put ShiftLB inside it)",
        "PruneGrid",
    ),
    (
        "GridBlock(1, FoldLast2(Gen))",
        SHIFTED,
        "E0807: FoldLast2 needs a zero-based space (put ShiftLB inside it)",
        "FoldLast2",
    ),
    (
        "GridBlock(1, SplitLast(4, Gen))",
        SHIFTED,
        "E0807: SplitLast needs a zero-based space (put ShiftLB inside it)",
        "SplitLast",
    ),
    (
        "GridBlock(1, PadLast(4, Gen))",
        SHIFTED,
        "E0807: GridBlock needs a zero-based space (put ShiftLB inside it)",
        "GridBlock",
    ),
    (
        "GridBlock(1, FoldLast2(ShiftLB(Gen)))",
        GAPS,
        "E0808: FoldLast2 needs a dense space (put CompressGrid or PruneGrid inside it)",
        "FoldLast2",
    ),
    (
        "GridBlock(1, SplitLast(4, CompressGrid([1, 0], Gen)))",
        GAPS,
        "E0808: SplitLast needs a dense space (put CompressGrid or PruneGrid inside it)",
        "SplitLast",
    ),
    (
        "GridBlock(1, PadLast(4, Gen))",
        GAPS,
        "E0808: GridBlock needs a dense space (put CompressGrid or PruneGrid inside it)",
        "GridBlock",
    ),
    (
        "GridBlock(1, CompressGrid([1], Gen))",
        GAPS,
        "E0804: the list of CompressGrid has 1 entry, and the space 2 axes (write one entry for each axis)",
        "[1]",
    ),
    (
        "GridBlock(1, CompressGrid([1, 2], Gen))",
        GAPS,
        "E0805: the list of CompressGrid has 1 for an axis to compress and 0 for one to leave, and 2 is neither "
        "(write 0 or 1)",
        "[1, 2]",
    ),
    (
        "GridBlock(1, Permute([2, 1, 0], Gen))",
        BOX,
        "E0804: the list of Permute has 3 entries, and the space 2 axes (write one entry for each axis)",
        "[2, 1, 0]",
    ),
    (
        "GridBlock(1, Permute([1, 1], Gen))",
        BOX,
        "E0806: [1, 1] is not a permutation of the axes (name each axis from 0 to 1 once)",
        "[1, 1]",
    ),
    (
        "GridBlock(0, FoldLast2(FoldLast2(Gen)))",
        BOX,
        "E0809: FoldLast2 needs at least two axes, and here is one (leave it out, or put SplitLast inside it)",
        "FoldLast2",
    ),
    (
        "GridBlock(0, FoldLast2(Gen))",
        IndexSpace.box([]),
        "E0809: FoldLast2 needs at least two axes, and here is none (leave it out, or put SplitLast inside it)",
        "FoldLast2",
    ),
    (
        "GridBlock(1, SplitLast(2, Gen))",
        IndexSpace.box([]),
        "E0809: SplitLast needs at least one axis, and here is none (leave it out: rank 0 is one thread, GridBlock(0, "
        "Gen))",
        "SplitLast",
    ),
    (
        "GridBlock(3, Gen)",
        BOX,
        "E0810: GridBlock asks for 3 block axes, and the space has 2 axes (write a number from 0 to 2)",
        "3",
    ),
    (
        "GridBlock(4, Gen)",
        IndexSpace.box([2] * 8),
        "E0810: the block would have 4 axes, and a GPU has three (fold some with FoldLast2, or make the number "
        "smaller)",
        "4",
    ),
    (
        "GridBlock(2, Gen)",
        IndexSpace.box([2] * 6),
        "E0810: the grid would have 4 axes, and a GPU has three (fold some with FoldLast2)",
        "2",
    ),
    (
        "GridBlock(1, Gen)",
        IndexSpace.box([2000, 2000]),
        "E0811: axis x of the block has extent 2000, and sm_90 allows 1024 (split that axis with SplitLast)",
        "GridBlock",
    ),
    (
        "GridBlock(3, Gen)",
        IndexSpace.box([100, 70000, 2]),
        "E0811: axis z of the block has extent 100, and sm_90 allows 64 (split that axis with SplitLast)",
        "GridBlock",
    ),
    (
        "GridBlock(2, Gen)",
        IndexSpace.box([70000, 40, 40]),
        "E0811: the block 40 x 40 has 1600 threads, and sm_90 allows 1024 (split an axis of the block with SplitLast)",
        "GridBlock",
    ),
    (
        "GridBlock(1, SplitLast(2, Gen))",
        IndexSpace.box([70000, 70000, 9]),
        "E0811: axis z of the grid has extent 70000, and sm_90 allows 65535 (bring the long axis last among the "
        "grid's with Permute, or fold and split it anew)",
        "GridBlock",
    ),
]


@pytest.mark.parametrize(
    ("text", "space", "message", "place"), REQUIREMENTS, ids=[f"{r[2][:5]} {r[0]}" for r in REQUIREMENTS]
)
def test_requirements(text, space, message, place):
    pragma = "#pragma gpukernel " + text
    chain = parse(pragma).chain
    with pytest.raises(MappingError) as caught:
        chain.map(space, H100)
    assert str(caught.value) == message
    start, end = caught.value.span
    assert pragma[start:end] == place


def test_an_error_tells_the_space_and_the_step():
    with pytest.raises(MappingError) as caught:
        Chain((ShiftLB(), FoldLast2()), GridBlock(1)).map(GAPS)
    assert caught.value.place == 1 and caught.value.span is None
    assert caught.value.notes == ("the space it is applied to is [0, 0] <= iv < [9, 9] step [1, 2] width [1, 1]",)
    with pytest.raises(MappingError) as caught:
        Chain((ShiftLB(),), GridBlock(3)).map(BOX)
    assert caught.value.place == 1


@pytest.mark.parametrize("kind", [SplitLast, PadLast])
@pytest.mark.parametrize("n", [0, -4])
def test_numbers_below_1_are_refused_without_a_pragma_too(kind, n):
    with pytest.raises(MappingError, match=f"E0803: {kind.__name__} needs a number of at least 1, and {n} is not"):
        Chain((kind(n),), GridBlock(1)).map(BOX)


def test_pad_requires_nothing():
    for space in (SHIFTED, GAPS, IndexSpace.box([]), IndexSpace.of([7], [3])):
        PadLast(4).forward(space)


def test_what_needs_no_bounds_is_found_before_any_are_known():
    for text, rank, code in (
        ("GridBlock(1, Permute([1, 0], Gen))", 3, "E0804"),
        ("GridBlock(1, FoldLast2(Gen))", 1, "E0809"),
        ("GridBlock(1, SplitLast(2048, Gen))", 1, "E0811"),
        ("GridBlock(1, Gen)", 5, "E0810"),
    ):
        with pytest.raises(MappingError, match=code):
            parse("gpukernel " + text).chain.check(rank, H100)
    chain = parse("gpukernel GridBlock(1, SplitLast(32, Gen))").chain
    chain.check(2, H100)
    with pytest.raises(MappingError, match="E0807"):
        chain.check(2, H100, zero_based=False)
    with pytest.raises(MappingError, match="E0808"):
        chain.check(2, H100, dense=(True, False))


def test_gaps_count_along_the_axes_that_have_them():
    chain = parse("gpukernel GridBlock(1, FoldLast2(CompressGrid([0, 1], Gen)))").chain
    chain.check(2, H100, dense=(True, False))
    with pytest.raises(MappingError, match="E0808"):
        chain.check(2, H100, dense=(False, True))


def test_every_value_of_a_parameter_is_checked():
    chain = parse("gpukernel GridBlock(1, SplitLast(B, Gen))", {"B": (32, 64, 2048)}).chain
    with pytest.raises(MappingError, match="E0811: axis x of the block has extent 2048, and sm_90 allows 1024"):
        chain.check(1, H100)
    chain.check(1)


def test_the_other_reading_is_taken_and_said_where_only_it_fits():
    chain = parse("gpukernel GridBlock(1, Gen)").chain
    space = IndexSpace.box([5000, 8, 8])
    mapping = Chain(chain.steps, chain.grid_block).map(space, H100)
    assert mapping.grid == (1, 5000, 8) and mapping.placement.note == ""
    other = parse("gpukernel GridBlock(2, Gen)").chain.map(IndexSpace.box([8, 40, 50]), H100)
    assert other.grid == (1, 8, 40) and other.block == (1, 1, 50)
    assert (
        other.placement.note
        == "2 is taken for the number of grid axes, as sac2c does: the block 40 x 50 has 2000 threads, and sm_90 "
        "allows 1024"
    )


def test_without_a_device_no_limit_applies():
    mapping = parse("gpukernel GridBlock(4, Gen)").chain.map(IndexSpace.box([2] * 8))
    assert mapping.placement.grid == mapping.placement.block == (2, 2, 2, 2)


PRAGMAS = [
    (
        "gpukernel GridBlock(1, FoldLast3(Gen))",
        "E0802: there is no combinator FoldLast3 here (did you mean FoldLast2?)",
        "FoldLast3",
    ),
    (
        "gpukernel GridBlock(1, shiftlb(Gen))",
        "E0802: there is no combinator shiftlb here (did you mean ShiftLB?)",
        "shiftlb",
    ),
    ("gpukernel GridBlock(1, gen)", "E0802: there is no combinator gen here (did you mean Gen?)", "gen"),
    (
        "gpukernel Gridblock(1, Gen)",
        "E0802: there is no combinator Gridblock here (did you mean GridBlock?)",
        "Gridblock",
    ),
    (
        "gpukernel GridBlock(1, Rotate(Gen))",
        "E0802: there is no combinator Rotate here (there are ShiftLB, CompressGrid, PruneGrid, Permute, FoldLast2, "
        "FoldTriangle, SplitLast, PadLast, Gen)",
        "Rotate",
    ),
    (
        "gpukernel SplitLast(32, Gen)",
        "E0802: GridBlock is the outermost combinator of every mapping (write GridBlock(b, SplitLast...) with b the "
        "number of block axes)",
        "SplitLast",
    ),
    (
        "gpukernel GridBlock(1, GridBlock(1, Gen))",
        "E0802: GridBlock stands outermost only (leave the inner one out)",
        "GridBlock",
    ),
    (
        "gpukernel GridBlock(1, Gen(3))",
        "E0801: `)` is expected here, and `(` stands (close the parenthesis of GridBlock)",
        "(",
    ),
    ("gpukernel GridBlock(1, Gen())", "E0803: Gen takes no arguments and no parentheses (write Gen)", "()"),
    (
        "gpukernel GridBlock(Gen)",
        "E0803: GridBlock needs the number of block axes in front of the mapping inside it (write GridBlock(b, "
        "mapping), b the number of block axes)",
        "Gen",
    ),
    (
        "gpukernel GridBlock(-1, Gen)",
        "E0803: GridBlock needs the number of block axes, and -1 is negative (write GridBlock(b, mapping), b the "
        "number of block axes)",
        "-1",
    ),
    (
        "gpukernel GridBlock(1, SplitLast(Gen))",
        "E0803: SplitLast needs a number in front of the mapping inside it (write SplitLast(n, mapping))",
        "Gen",
    ),
    (
        "gpukernel GridBlock(1, SplitLast([32], Gen))",
        "E0803: SplitLast needs a number, and not a list (write SplitLast(n, mapping))",
        "[",
    ),
    (
        "gpukernel GridBlock(1, PadLast(0, Gen))",
        "E0803: PadLast needs a number of at least 1, and 0 is not (write how many positions the last axis is to "
        "have, or to be a multiple of)",
        "0",
    ),
    (
        "gpukernel GridBlock(1, Permute(1, Gen))",
        "E0803: Permute needs a list in front of the mapping inside it (write Permute([1, 0], mapping), with the old "
        "axis for each new one)",
        "1",
    ),
    (
        "gpukernel GridBlock(1, ShiftLB(1, Gen))",
        "E0803: ShiftLB takes no argument but the mapping inside it (write ShiftLB(mapping))",
        "1",
    ),
    (
        "gpukernel GridBlock(1, ShiftLB(Gen, 1))",
        "E0803: ShiftLB has more arguments than it takes (write ShiftLB(mapping))",
        ",",
    ),
    (
        "gpukernel GridBlock(1, Permute([1, x], Gen))",
        "E0803: a number is expected here, and `x` stands (write one entry for each axis)",
        "x",
    ),
    (
        "gpukernel GridBlock(1, ShiftLB(Gen)",
        "E0801: `)` is expected here, and the pragma ends (close the parenthesis of GridBlock)",
        "",
    ),
    (
        "gpukernel GridBlock(1, ShiftLB(",
        "E0801: a combinator is expected here, and the pragma ends (the innermost one is Gen)",
        "",
    ),
    ("gpukernel", "E0801: GridBlock is expected here, and the pragma ends", ""),
    (
        "gpukernel GridBlock(1, Gen) x = 3;",
        "E0801: the end of the pragma is expected here, and `x` stands (put what belongs to the program on a line of "
        "its own)",
        "x",
    ),
    (
        "gpukernel GridBlock(1 Gen)",
        "E0801: `,` is expected here, and `Gen` stands (write `,` between the number and the mapping)",
        "Gen",
    ),
    (
        "gpukernel GridBlock(1, SplitLast(B, Gen))",
        "E0813: the parameter B has no values (put `#pragma gpuparam B = 32, 64` before this pragma)",
        "B",
    ),
    (
        "gpukernel GridBlock(1, SplitLast(2147483648, Gen))",
        "E0803: this number is too large (write one of at most 2147483647)",
        "2147483648",
    ),
    ("gpuparam B = " + "9" * 5000, "E0803: this number is too large (write one of at most 2147483647)", "9" * 5000),
    (
        "gpuparam = 3",
        "E0801: the name of a parameter is expected here, and `=` stands (write `gpuparam B = 32, 64, 128`)",
        "=",
    ),
    ("gpuparam B 3", "E0801: `=` is expected here, and `3` stands (write `=` behind the name)", "3"),
    (
        "gpuparam B =",
        "E0803: a number is expected here, and the pragma ends (write the values, with commas between them)",
        "",
    ),
    ("gpuparam B = 32, 0", "E0814: the values of a parameter are at least 1, and 0 is not (leave it out)", "32, 0"),
    ("gpuparam B = 32, 32", "E0814: 32 is listed twice (list each value once)", "32, 32"),
    ("gpuparam Gen = 32", "E0814: Gen is a combinator and cannot name a parameter (take another name)", "Gen"),
    (
        "gpumem share(a)",
        "E0815: `shared(...)` or `global` is expected here, and `share` stands (did you mean shared?)",
        "share",
    ),
    (
        "gpumem",
        "E0815: `shared(...)` or `global` is expected here, and the pragma ends (name the arrays to stage: `gpumem "
        "shared(a, b)`)",
        "",
    ),
    (
        "gpumem shared()",
        "E0815: the name of an array is expected here, and `)` stands (name the arrays to stage: `gpumem shared(a, "
        "b)`)",
        ")",
    ),
    ("gpumem shared(a, b, a)", "E0815: a is named twice (name each array once)", "a"),
    (
        "noncommutative 1",
        "E0801: the end of the pragma is expected here, and `1` stands (put what belongs to the program on a line of "
        "its own)",
        "1",
    ),
]


@pytest.mark.parametrize(("text", "message", "place"), PRAGMAS, ids=[p[0][:60] for p in PRAGMAS])
def test_what_is_wrong_with_a_pragma(text, message, place):
    with pytest.raises(MappingError) as caught:
        parse(text)
    assert str(caught.value) == message
    start, end = caught.value.span
    assert text[start:end] == place


def test_a_near_parameter_is_suggested():
    with pytest.raises(MappingError) as caught:
        parse("gpukernel GridBlock(1, SplitLast(BLOK, Gen))", {"BLOCK": (32,)})
    assert str(caught.value) == "E0813: the parameter BLOK has no values (did you mean BLOCK?)"


def test_pragmas_said_twice():
    with pytest.raises(MappingError, match="E0814: the parameter B has its values already"):
        parse_all(["gpuparam B = 32", "gpuparam B = 64"])
    with pytest.raises(MappingError, match="E0801: there is a second `gpumem` pragma here"):
        parse_all(["gpumem global", "gpumem shared(a)"])


def test_every_code_is_explained():
    root = Path(__file__).parents[2]
    explained = re.findall(r"^## (E08\d\d): ", (root / "docs/errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    files = [*(root / "sacpy/withloop").glob("*.py"), root / "sacpy/lang/check_mappings.py"]
    raised = {code for path in files for code in re.findall(r'"(E08\d\d)"', path.read_text(encoding="utf-8"))}
    assert sorted(raised) == explained


def test_checks_by_class_agree_with_the_table():
    """Which combinators need what: the table itself."""
    needs = {
        c.__name__: (c.needs_zero_based, c.needs_dense, c.takes_rows)
        for c in (ShiftLB, CompressGrid, PruneGrid, Permute, FoldLast2, FoldTriangle, SplitLast, PadLast)
    }
    assert needs == {
        "ShiftLB": (False, False, True),
        "CompressGrid": (True, False, False),
        "PruneGrid": (True, False, False),
        "Permute": (False, False, False),
        "FoldLast2": (True, True, True),
        "FoldTriangle": (True, True, True),
        "SplitLast": (True, True, False),
        "PadLast": (False, False, False),
    }
    assert set(needs) == set(COMBINATORS)
