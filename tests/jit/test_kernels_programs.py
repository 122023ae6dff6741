"""Kernels of functions of SaC text: bodies with conditionals, loops, calls, inner folds and arrays; folds; rows;
structs; what stays on the CPU, and why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sacpy.interp.values import Value
from sacpy.jit.emission.emulator import Emulated
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.ir.kernel_verify import verify_kernel
from sacpy.jit.kernels import Launch
from sacpy.jit.passes import optimise
from sacpy.withloop.chains import Mapping
from sacpy.withloop.errors import MappingError
from tests.jit import kernel_tools
from tests.jit.kernel_programs import faulty
from tests.jit.kernel_tools import OnKernels, agree, options
from tests.jit.specialise_tools import Subject, shapes_of
from tests.jit.test_emission_kernels import OnEmulator

MATRIX = np.arange(6 * 70).reshape(6, 70).astype(np.int32) % 23
REALS = np.random.default_rng(1).random((5, 40))
ONE = options().device.with_processors(1)
COLLATZ = (
    "int g(int i) { k = i; c = 0; while (k > 1) { if (k % 2 == 0) { k = k / 2; } else { k = 3 * k + 1; } c = c "
    "+ 1; } return c; } "
)


def run(text: str, *args: Value, close: bool = False, passes: bool = True, **changes: object) -> OnKernels:
    """Runs f of a text on kernels, with small extents fixed and with open ones; compares with the plain evaluation."""
    subject = Subject(text)
    found = None
    for fixed in (4, -1):
        unit = subject.unit(*shapes_of(args, fixed=fixed))
        found = agree(optimise(unit) if passes else unit, args, options(**changes), close=close)
    assert found is not None
    return found


BODIES = {
    "conditional": ("int[.] f(int[.,.] a) { return { [i] -> a[i,0] > 3 ? a[i,1] / a[i,0] : sum(a[i]) }; }", (MATRIX,)),
    "while": (COLLATZ + "int[.] f(int n) { return { [i] -> g(i) | [i] < [n] }; }", (20,)),
    "column sums": ("int[.] f(int[.,.] a) { return { [j] -> sum({ [i] -> a[i,j] }) | [j] < [70] }; }", (MATRIX,)),
    "product": (
        "int[.,.] f(int[.,.] a, int[.,.] b) { return { [i,j] -> sum({ [k] -> a[i,k] * b[k,j] }) }; }",
        (MATRIX, MATRIX.T.copy()),
    ),
    "rows turned": ("int[.,.] f(int[.,.] a) { return { [i] -> reverse(0, a[i]) }; }", (MATRIX,)),
    "structs": (
        "struct V { double x; double y; }; double[.] f(double[.,.] a) { v = { [i] -> V{a[i,0], 2d * a[i,1]} }; w = { "
        "[i] -> v[i].x * v[i].y }; return w; }",
        (REALS,),
    ),
    "small arrays": (
        "int[.] f(int[.,.] a) { return { [i] -> { [j] -> a[i,j] | [j] < [5] }[a[i,1] % 5] }; }",
        (MATRIX,),
    ),
    "updates": (
        "int[.] h(int[.] v) { for (k = 1; k < 5; k++) { v[k] = v[k] + v[k-1]; } return v; } int[.,.] f(int[.,.] a) { "
        "return { [i] -> h({ [j] -> a[i,j] | [j] < [5] }) }; }",
        (MATRIX,),
    ),
    "nothing": ("int[.] f(int n) { return { [i] -> i | [i] < [n] }; }", (0,)),
    "search": (
        "int[.] f(int[.,.] a) { return { [i] -> with { ([0] <= [j] < [70]) : a[i,j]; } : foldfix(max, 0, 22) }; }",
        (MATRIX,),
    ),
}


@pytest.mark.parametrize("passes", [True, False])
@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str, passes: bool) -> None:
    text, args = BODIES[name]
    found = run(text, *args, passes=passes)
    assert not found.refused and (found.launches or name == "nothing")


def test_wide_words_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mapping, "bits", lambda *_: 64)
    for name in ("conditional", "product", "rows turned", "column sums"):
        text, args = BODIES[name]
        found = run(text, *args, row_length=4)
        assert {launch.kernel.bits for launch in found.launches} == {64}


# ---------------------------------------------------------------- folds


@pytest.mark.parametrize("threads", [1, 2, 32])
def test_folds_over_everything(threads: int) -> None:
    found = run("int f(int[.,.] a) { return sum(a) + maxval(a); }", MATRIX, fold_threads=threads)
    assert [launch.purpose for launch in found.launches] == ["fold"]
    assert all(launch.grid[2] > 1 for launch in found.launches)


def test_a_fold_of_nothing_is_the_neutral_element() -> None:
    assert (
        run("int f(int n) { return with { ([0] <= [i] < [n]) : i; } : fold(max, -7); }", 0).launches[0].purpose
        == "fold"
    )


def test_a_partial_launch_has_as_many_partials_as_blocks() -> None:
    found = run("int f(int[.,.] a) { return sum(a); }", MATRIX, fold_threads=4)
    (plan,) = found.plans
    assert [b.extents for b in plan.temporaries] == [(plan.launches[0].grid[2],)]


LAID_OUT = "int f(int[.,.] a) { return with { PRAGMA ([0,0] <= iv < shape(a)) : a[iv] * 2; } : fold(FOLD); }"
FOLDS = {"sum": "+, 3", "last": "last, 0"}
LAST = "int last(int a, int b) { return b % 3 == 0 ? a : b; } "


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize(
    ("chain", "grid", "block"),
    [
        ("GridBlock(1, SplitLast(32, ShiftLB(Gen)))", (1, 6, 3), (1, 1, 32)),
        ("GridBlock(1, Gen)", (1, 1, 6), (1, 1, 70)),
        ("GridBlock(2, SplitLast(7, Gen))", (1, 1, 6), (1, 10, 7)),
        ("GridBlock(0, Gen)", (1, 6, 70), (1, 1, 1)),
        ("GridBlock(2, Gen)", (1, 1, 1), (1, 6, 70)),
        ("GridBlock(1, SplitLast(100, FoldLast2(Gen)))", (1, 1, 5), (1, 1, 100)),
    ],
)
def test_a_fold_is_laid_out_as_its_mapping_says(
    chain: str, grid: tuple[int, int, int], block: tuple[int, int, int], fold: str
) -> None:
    text = LAST + LAID_OUT.replace("PRAGMA", f"#pragma gpukernel {chain}\n").replace("FOLD", FOLDS[fold])
    found = run(text, MATRIX)
    first = found.launches[0]
    assert (first.grid, first.block, first.reasons[0]) == (grid, block, "the pragma says so")
    assert [launch.purpose for launch in found.plans[0].launches] == (
        ["partials", "total"] if max(grid) > 1 else ["fold"]
    )


@pytest.mark.parametrize(
    ("strategy", "block", "reason"),
    [
        ("jing", (1, 32, 32), "rank 2: blocks"),
        ("jing_printed", (1, 32, 32), "rank 2: blocks"),
        ("foldall", (1, 1, 32), "the 2 axes folded into one"),
    ],
)
def test_strategies_lay_out_folds_too_where_the_order_may_go(
    strategy: str, block: tuple[int, int, int], reason: str
) -> None:
    first = run(LAID_OUT.replace("PRAGMA", "").replace("FOLD", FOLDS["sum"]), MATRIX, strategy=strategy).launches[0]
    assert first.block == block and first.reasons[0].startswith(reason)
    first = run(
        LAST + LAID_OUT.replace("PRAGMA", "").replace("FOLD", FOLDS["last"]), MATRIX, strategy=strategy
    ).launches[0]
    if strategy == "foldall":
        assert first.block == block
    else:
        assert first.block == (1, 1, 256) and first.reasons[0].startswith(
            f"{strategy} does not fit: this mapping changes the order"
        )


def test_a_block_with_more_to_accumulate_than_there_is_shared_memory() -> None:
    fields = "".join(f"double x{k}; " for k in range(40))
    sums = ", ".join(f"a.x{k} + b.x{(k + 1) % 40}" for k in range(40))
    values = ", ".join("a[i]" for _ in range(40))
    text = f"""
        struct V {{ {fields}}};
        struct V more(struct V a, struct V b) {{ return V{{{sums}}}; }}
        double f(double[.] a)
        {{
          v = with {{ PRAGMA ([0] <= [i] < shape(a)) : V{{{values}}}; }} : fold(more, V{{}});
          return v.x3;
        }}"""
    numbers = np.random.default_rng(1).random(700)
    small = options().device
    device = type(small)(small.name, 132, 2048, 32, 50_000, 50_000)
    assert run(text.replace("PRAGMA", "#pragma commutative\n"), numbers, close=True, device=device).launches[
        0
    ].block == (1, 1, 128)
    with pytest.raises(
        MappingError, match=r"E0811: the 256 threads of a block accumulate 321 bytes each, and sm_90 has 50000 bytes"
    ) as caught:
        run(text.replace("PRAGMA", "#pragma gpukernel GridBlock(1, SplitLast(256, Gen))\n"), numbers, device=device)
    assert caught.value.span == (10, 19)


# ---------------------------------------------------------------- rows


@pytest.mark.parametrize(
    "text",
    [
        "int[.] f(int[.,.] a) { return { [i] -> 2 * sum(a[i]) + i }; }",
        "int[.] f(int[.,.] a) { return { [i] -> maxval(a[i]) - a[i,0] }; }",
    ],
)
def test_a_block_folds_a_row(text: str) -> None:
    found = run(text, MATRIX, row_length=8)
    assert [(launch.purpose, launch.grid, launch.block) for launch in found.launches] == [
        ("rows", (1, 1, 6), (1, 1, 32))
    ]


TALL = np.arange(300 * 21).reshape(300, 21).astype(np.int32) % 23


def test_many_rows_have_some_threads_of_a_warp_each() -> None:
    found = run("int[.] f(int[.,.] a) { return { [i] -> 2 * sum(a[i]) + i }; }", TALL, device=ONE)
    assert [(launch.purpose, launch.grid, launch.block) for launch in found.launches] == [
        ("rows", (1, 1, 5), (1, 1, 256))
    ]
    assert "300 cells with 4 threads each keep the device busy" in found.launches[0].reasons[0]


COLUMNS = "int[.] f(int[.,.] a) { return { [j] -> sum({ [i] -> a[i,j] }) + j | [j] < [shape(a)[1]] }; }"


def test_neighbouring_columns_share_a_block() -> None:
    found = run(COLUMNS, MATRIX.T.copy(), row_length=8)
    assert [(launch.purpose, launch.grid, launch.block) for launch in found.launches] == [
        ("rows", (1, 1, 1), (1, 1, 256))
    ]


@pytest.mark.parametrize(
    ("text", "matrix"),
    [(COLUMNS, MATRIX.T.copy()), ("int[.] f(int[.,.] a) { return { [i] -> sum(a[i]) + i }; }", MATRIX)],
)
def test_few_long_folds_are_cut_into_chunks(text: str, matrix: Value) -> None:
    found = run(text, matrix, row_length=8, fold_threads=4)
    (plan,) = found.plans
    assert [launch.purpose for launch in plan.launches] == ["rows", "joined"]
    assert [b.extents for b in plan.temporaries] == [(plan.launches[0].grid[1], 6)]


@pytest.mark.parametrize("threads", [1, 8, 64])
def test_folds_of_any_function_count_the_neutral_element_once(threads: int) -> None:
    text = (
        "int g(int a, int b) { return (a * b) % 1000; } int[.] f(int[.,.] a) { return { [i] -> with { ([0] <= [j] "
        "< [shape(a)[1]]) : a[i,j] + 1; } : fold(g, 7) | [i] < [shape(a)[0]] }; }"
    )
    assert run(text, MATRIX, row_length=8, fold_threads=threads).launches[0].purpose == "rows"


def test_strategies_for_comparison_give_a_cell_one_thread() -> None:
    assert run(COLUMNS, MATRIX.T.copy(), row_length=8, strategy="jing").launches[0].purpose == "partition"


def test_short_folds_and_many_columns_have_a_thread_each() -> None:
    assert (
        run("int[.] f(int[.,.] a) { return { [i] -> sum(a[i]) }; }", MATRIX, row_length=71).launches[0].purpose
        == "partition"
    )
    wide = np.zeros((5, 1100), np.int32)
    found = run(
        "int[.] f(int[.,.] a) { return { [j] -> sum({ [i] -> a[i,j] }) | [j] < [1100] }; }",
        wide,
        row_length=4,
        device=options().device.with_processors(1),
    )
    assert found.launches[0].purpose == "partition"


OF_ROWS = """
    int f(int[.,.] a)
    {
      return with {
        ([0] <= [i] < [shape(a)[0]]) : with { ([0] <= [j] < [shape(a)[1]]) : a[i,j] * (i + 1); } : fold(+, 0) + i;
      } : fold(max, 3);
    }"""


def test_folds_of_folds_of_rows_keep_their_threads() -> None:
    found = run(OF_ROWS, MATRIX, row_length=8)
    assert [(launch.purpose, launch.grid, launch.block) for launch in found.launches] == [
        ("rows", (1, 1, 6), (1, 1, 32)),
        ("fold", (1, 1, 1), (1, 1, 256)),
    ]
    chunks = run(OF_ROWS, MATRIX, row_length=8, fold_threads=4)
    assert [launch.purpose for launch in chunks.launches] == ["rows", "joined", "fold"]
    assert [launch.purpose for launch in run(OF_ROWS, MATRIX).launches] == ["rows", "fold"]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (OF_ROWS, (6, 63)),  # short rows
        (OF_ROWS, (0, 70)),
        (OF_ROWS.replace("[0] <= [i]", "[1] <= [i]"), (6, 70)),
        (
            OF_ROWS.replace(
                "{\n        ([0] <= [i]", "{\n#pragma gpukernel GridBlock(1, SplitLast(4, Gen))\n([0] <= [i]"
            ),
            (6, 70),
        ),
    ],
)
def test_folds_of_other_folds_are_one_launch(text: str, shape: tuple[int, int]) -> None:
    assert not any(launch.purpose == "rows" for launch in run(text, np.ones(shape, np.int32)).launches)


WAYS = ("interleaved", "halving", "shuffle", "runs(8)", "strided(8)")
ROWS_BY = """
    double[.], int[.] f(int[.,.] a)
    {
      x, y = with {
        #pragma gpufold WAY
        ([0] <= [i] < [shape(a)[0]]) {
          p, q = with { ([0] <= [j] < [shape(a)[1]]) : (tod(a[i,j]), a[i,j] - i); } : (fold(max, -9d), fold(^, 0));
        } : (p + 1d, q);
      } : (genarray([shape(a)[0]], 0d), genarray([shape(a)[0]], 0));
      return (x, y);
    }"""
FOLD_BY = """
    int, double f(int[.,.] a)
    {
      x, y = with {
        #pragma gpufold WAY
        ([0,0] <= [i,j] < shape(a)) : (a[i,j] * i, tod(a[i,j] - j));
        ([1,1] <= [i,j] < shape(a)) : (7, tod(j));
      } : (fold(+, 5), fold(min, 9d));
      return (x, y);
    }"""


def barriers(launch: Launch) -> int:
    return print_kernel(launch.kernel).count("barrier")


@pytest.mark.parametrize(
    ("way", "fold", "row"),
    [
        ("interleaved", (2, 16), (128, 7)),
        ("halving", (2, 16), (128, 7)),
        ("shuffle", (1, 1), (32, 0)),
        ("runs(8)", (1, 3), (16, 2)),
        ("strided(8)", (1, 3), (16, 2)),
    ],
)
def test_threads_put_together_what_they_fold_as_a_pragma_says(
    way: str, fold: tuple[int, int], row: tuple[int, int]
) -> None:
    launches = run(FOLD_BY.replace("WAY", way), MATRIX).plans[0].launches
    first = [launch for launch in launches if launch.partition == 0]
    assert (first[0].grid[2], barriers(first[0])) == fold
    assert any(r == f"the pragma says so: {way}" for r in first[0].reasons)
    (launch,) = run(ROWS_BY.replace("WAY", way), MATRIX).launches
    assert (launch.purpose, launch.block[2], barriers(launch)) == ("rows", *row)


@pytest.mark.parametrize("way", ["interleaved", "runs(4)", "shuffle"])
@pytest.mark.parametrize("n", [0, 1, 31, 33, 70])
def test_ways_that_keep_the_order_do(way: str, n: int) -> None:
    text = f"""
        int g(int a, int b) {{ return b % 5 == 0 ? a : b; }}
        int, int[.] f(int[.] a)
        {{
          x = with {{
            #pragma gpufold {way}
            ([0] <= [i] < shape(a)) : a[i];
          }} : fold(g, 7);
          y = with {{
            #pragma gpufold {way}
            ([0] <= [k] < [3]) : with {{ ([0] <= [i] < shape(a)) : a[i] - k; }} : fold(g, 7);
          }} : genarray([3], 0);
          return (x, y);
        }}"""
    run(text, np.arange(n, dtype=np.int32) * 7 % 31, fold_threads=32)


def test_folds_of_several_folds_of_rows_keep_order_and_neutral_elements() -> None:
    text = """
        int g(int a, int b) { return b % 5 == 0 ? a : b; }
        int, int f(int[.,.] a)
        {
          x, y = with {
            ([0] <= [i] < [shape(a)[0]]) {
              p, q = with { ([0] <= [j] < [shape(a)[1]]) : (a[i,j], a[i,j] - i); } : (fold(g, 7), fold(min, 100));
            } : (p, q);
          } : (fold(g, 11), fold(+, 0));
          return (x, y);
        }"""
    assert [launch.purpose for launch in run(text, MATRIX, row_length=8).launches] == ["rows", "fold"]


# ---------------------------------------------------------------- shared memory

TILES = (
    "#pragma gpukernel GridBlock(2, Permute([0, 2, 1, 3], SplitLast(8, Permute([1, 2, 0], SplitLast({n}, "
    "Permute([1, 0], ShiftLB(Gen)))))))\n"
)


def stencil(*pragmas: str) -> str:
    lines = "".join(f"{p}\n" for p in pragmas)
    return (
        "double[.,.] f(double[.,.] a) { return with {\n"
        + lines
        + "([1,1] <= [i,j] < shape(a) - 1) : 0.25 * (a[i-1,j] + a[i+1,j] + a[i,j-1] + a[i,j+1]); } : modarray(a); }"
    )


def test_tiles_with_halos_are_staged() -> None:
    found = run(stencil(TILES.format(n=4), "#pragma gpumem shared(a)"), REALS)
    (launch,) = [x for x in found.launches if x.purpose == "partition"]
    assert "staged" in launch.kernel.name and "a by tiles of 6 x 10" in launch.reasons[-1]


def test_open_numbers_stay_open_but_for_tiles() -> None:
    text = stencil("#pragma gpuparam B = 2, 4", TILES.format(n="B"), "#pragma gpumem shared(a)")
    unit = optimise(Subject(text).unit((None, None)))
    for value in (2, 4):
        found = agree(unit, [REALS], options(), {"B": value})
        assert any(f"tiles of {value + 2} x 10" in r for launch in found.launches for r in launch.reasons)


def test_global_memory_and_tiles_that_are_too_large() -> None:
    assert not any(
        "staged" in launch.kernel.name
        for launch in run(stencil(TILES.format(n=4), "#pragma gpumem global"), REALS).launches
    )
    small = options().device
    with pytest.raises(MappingError, match=r"E0819.* take 480 bytes, and a block has 100"):
        run(
            stencil(TILES.format(n=4), "#pragma gpumem shared(a)"),
            REALS,
            device=type(small)(small.name, 1, 1024, 16, 100, 100),
        )


def test_a_chain_whose_blocks_are_no_boxes_is_refused_where_something_is_to_be_staged() -> None:
    with pytest.raises(MappingError, match=r"E0819.* the indices of a block are no box") as caught:
        run(
            stencil(
                "#pragma gpukernel GridBlock(1, SplitLast(7, FoldLast2(ShiftLB(Gen))))", "#pragma gpumem shared(a)"
            ),
            REALS,
        )
    assert (caught.value.word, caught.value.span) == ("gpumem", (14, 15))


@pytest.mark.sample(2)
@pytest.mark.parametrize("strategy", ["auto", "jing", "foldall"])
@pytest.mark.parametrize("shape", [(5, 40), (3, 3), (40, 5), (1, 200)])
def test_what_is_to_be_staged_is_under_every_strategy(strategy: str, shape: tuple[int, int]) -> None:
    found = run(stencil("#pragma gpumem shared(a)"), np.random.default_rng(1).random(shape), strategy=strategy)
    assert all("staged" in launch.kernel.name for launch in found.launches if launch.purpose == "partition")


def test_what_a_row_reads_is_staged_where_that_is_asked_for() -> None:
    text = """
        int[.] f(int[.] w, int[.,.] a)
        {
          return with {
            PRAGMA ([0] <= [i] < [shape(a)[0]]) : with { ([0] <= [j] < [shape(a)[1]]) : a[i,j] * w[i]; } : fold(+, 0);
          } : genarray([shape(a)[0]], 0);
        }"""
    weights = np.arange(6, dtype=np.int32)
    assert run(text.replace("PRAGMA", ""), weights, MATRIX, row_length=8).launches[0].purpose == "rows"
    found = run(text.replace("PRAGMA", "#pragma gpumem shared(a)\n"), weights, MATRIX, row_length=8)
    assert [launch.purpose for launch in found.launches] == ["partition"] and "tiled" in found.launches[0].kernel.name
    with pytest.raises(MappingError, match="E0819"):
        run(
            text.replace("PRAGMA", "#pragma gpumem shared(a)\n").replace("a[i,j] *", "a[j % 6,i % 3] *"),
            weights,
            MATRIX,
            row_length=8,
        )


def test_many_reads_are_staged_without_being_asked_for() -> None:
    text = (
        "double[.,.] f(double[.,.] a) { return with { ([2,2] <= [i,j] < shape(a) - 2) : with { ([0,0] <= [p,q] < "
        "[5,5]) : a[i+p-2,j+q-2]; } : fold(+, 0d); } : genarray(shape(a), 0d); }"
    )
    found = run(
        text, np.random.default_rng(2).random((20, 68)), merge=False, device=options().device.with_processors(1)
    )
    assert any("staged" in launch.kernel.name for launch in found.launches)


def test_the_blocks_of_a_strided_grid_wait_before_they_load_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = options().device
    device = type(limits)(limits.name, 1, 64, 1, 2**16, 2**16)
    text = (
        "double[.] f(double[.] a) { return with {\n#pragma gpumem shared(a)\n"
        "([1] <= [i] < shape(a) - 1) : a[i-1] + a[i+1]; } : modarray(a); }"
    )
    found = run(text, np.random.default_rng(3).random(2000), device=device)
    (launch,) = [x for x in found.launches if "staged" in x.kernel.name]
    assert launch.mapping is not None and any(launch.mapping.placement.strided)


# ---------------------------------------------------------------- tiles along a folded axis

SQUARE = (
    "#pragma gpukernel GridBlock(2, Permute([2, 0, 3, 1], SplitLast(4, Permute([1, 2, 0], SplitLast(4, "
    "ShiftLB(Gen))))))\n"
)


def product(
    *pragmas: str, base: str = "double", neutral: str = "0d", cell: str = "a[i,k] * b[k,j]", fold: str = "+"
) -> str:
    lines = "".join(f"{p}\n" for p in pragmas)
    head = f"{base}[.,.] f({base}[.,.] a, {base}[.,.] b) {{ return with {{\n{lines}"
    return (
        f"{head}([0,0] <= [i,j] < [shape(a)[0], shape(b)[1]]) : with {{ ([0] <= [k] < [shape(a)[1]]) : {cell}; }} "
        f": fold({fold}, {neutral}); }} : genarray([shape(a)[0], shape(b)[1]], {neutral}); }}"
    )


def numbers(m: int, n: int, dtype: str = "float64", seed: int = 5) -> Any:
    return (np.random.default_rng(seed).integers(0, 50, (m, n)) - (0 if dtype.startswith("u") else 20)).astype(dtype)


def is_tiled(found: OnKernels) -> bool:
    return any("tiled" in launch.kernel.name for launch in found.launches)


@pytest.mark.parametrize(
    ("m", "length", "n"), [(5, 37, 7), (4, 32, 4), (1, 1, 1), (9, 0, 6), (0, 3, 5), (3, 65, 1), (13, 31, 2)]
)
def test_products_are_loaded_in_strips(m: int, length: int, n: int) -> None:
    found = run(product(SQUARE, "#pragma gpumem shared(a, b)"), numbers(m, length), numbers(length, n))
    assert is_tiled(found) or not m * n
    assert not is_tiled(run(product(SQUARE, "#pragma gpumem global"), numbers(m, length), numbers(length, n)))


@pytest.mark.parametrize(
    ("base", "dtype", "neutral"),
    [
        ("float", "float32", "0f"),
        ("int", "int32", "0"),
        ("long", "int64", "0l"),
        ("short", "int16", "0s"),
        ("ubyte", "uint8", "0ub"),
        ("ulong", "uint64", "0ul"),
    ],
)
def test_strips_of_every_kind_of_numbers(base: str, dtype: str, neutral: str) -> None:
    found = run(
        product(SQUARE, "#pragma gpumem shared(a, b)", base=base, neutral=neutral),
        numbers(6, 40, dtype),
        numbers(40, 5, dtype, 6),
    )
    assert is_tiled(found)


@pytest.mark.parametrize(
    ("cell", "fold"),
    [
        ("a[i,k] + b[k,j]", "min"),
        ("a[i,k] * b[k,j] - a[i,0]", "+"),
        ("(a[i,k] - b[k,j]) * (a[i,k] - b[k,j])", "max"),
        ("a[i,k] * tod(k) + b[k,j]", "+"),
    ],
)
def test_strips_of_other_folds(cell: str, fold: str) -> None:
    assert is_tiled(
        run(product(SQUARE, "#pragma gpumem shared(a, b)", cell=cell, fold=fold), numbers(6, 40), numbers(40, 5))
    )


def test_halos_along_all_axes() -> None:
    text = (
        f"double[.,.] f(double[.,.] a, double[.,.] b) {{ return with {{\n{SQUARE}#pragma gpumem shared(a, b)\n"
        f"([1,0] <= [i,j] < [5, 6]) : with {{ ([2] <= [k] < [36]) : (a[i-1,k] + a[i+1,k-2]) * b[k+1,j]; }} : fold(+, "
        f"0d); }} : genarray([6,6], 0d); }}"
    )
    found = run(text, numbers(6, 40), numbers(40, 6))
    (reason,) = {
        r for launch in found.launches if "tiled" in launch.kernel.name for r in launch.reasons if "tiles" in r
    }
    assert (
        reason
        == "2656 bytes of shared memory: b by tiles of 32 x 4, a by tiles of 6 x 34, along the folded axis 32 at a time"
    )


def test_products_are_tiled_without_being_asked_for_where_that_pays() -> None:
    a, b = numbers(20, 33), numbers(33, 40)
    found = run(product(), a, b, row_length=64)
    assert is_tiled(found)
    assert any("as neighbours read the same" in r for launch in found.launches for r in launch.reasons)
    assert not is_tiled(run(product(), numbers(20, 9), numbers(9, 40)))  # nothing much is read twice
    sums = (
        "double[.] f(double[.,.] a) { return { [i] -> with { ([0] <= [k] < [33]) : a[i,k]; } : fold(+, 0d) | [i] < "
        "[20] }; }"
    )
    assert not is_tiled(run(sums, a))


def test_squares_keep_to_the_limits_of_the_grid() -> None:
    (template,) = agree(
        optimise(Subject(product()).unit((None, None), (None, None))), [numbers(3, 40), numbers(40, 3)]
    ).templates.values()
    plan = template.plan(tuple(3_000_000 for _ in template.inputs))
    (launch,) = plan.launches
    assert "tiled" in launch.kernel.name and all(n <= most for n, most in zip(launch.grid, options().device.grid))
    verify_kernel(launch.kernel)


@pytest.mark.sample(2)
@pytest.mark.parametrize("strategy", ["auto", "jing", "foldall"])
@pytest.mark.parametrize(
    ("m", "length", "n"),
    [(17, 3, 34), (2, 5, 3), *(pytest.param(*p, marks=pytest.mark.long) for p in ((18, 35, 17), (70, 33, 1)))],
)
def test_products_are_loaded_in_strips_under_every_strategy_where_that_is_asked_for(
    strategy: str, m: int, length: int, n: int
) -> None:
    text = product("#pragma gpumem shared(a, b)")
    found = run(text, numbers(m, length), numbers(length, n), strategy=strategy)
    assert all("tiled" in launch.kernel.name or "staged" in launch.kernel.name for launch in found.launches)
    with pytest.raises(MappingError, match="no box"):
        run(
            product(
                "#pragma gpukernel GridBlock(1, SplitLast(32, FoldLast2(ShiftLB(Gen))))\n#pragma gpumem shared(a, b)"
            ),
            numbers(m, length),
            numbers(length, n),
            strategy=strategy,
        )


def test_what_may_fail_cannot_be_loaded_in_strips() -> None:
    text = product(SQUARE, "#pragma gpumem shared(a)", base="int", neutral="0", cell="a[i,k] / b[k,j]")
    with pytest.raises(MappingError, match="E0819"):
        run(text, numbers(6, 40, "int32"), numbers(40, 5, "uint8").astype(np.int32) + 1)


def test_tiles_are_the_programmers_arrays_wherever_the_function_is_inlined() -> None:
    text = (
        product(SQUARE, "#pragma gpumem shared(a, b)").replace(" f(", " product(")
        + " double[.,.] f(double[.,.] x, double[.,.] y) { z = product(x, y); return product(z, y); }"
    )
    found = run(text, numbers(8, 40), numbers(40, 40))
    assert sum("tiled" in launch.kernel.name for launch in found.launches) == 2


# ---------------------------------------------------------------- launches


def test_more_than_64_pieces_are_one_launch() -> None:
    parts = "".join(f"([{2 * i},{3 * i}] <= iv < [{2 * i + 9},{3 * i + 5}]) : {i};" for i in range(14))
    found = run("int[.,.] f() { return with { " + parts + " } : genarray([50,60], -1); }", merge=False)
    assert [launch.purpose for launch in found.launches] == ["pieces"] and "more than 64 pieces" in found.launches[
        0
    ].reasons[0]


def crowded(pragma: str, before: int) -> str:
    """14 partitions that overlap so that they make more than 64 pieces; the pragma stands before one of them."""
    parts = "".join(
        f"{pragma if i == before else ''}([{2 * i},{3 * i}] <= iv < [{2 * i + 9},{3 * i + 5}]) : a[iv] + {i};"
        for i in range(14)
    )
    return "int[.,.] f(int[.,.] a) { return with { " + parts + " } : genarray([50,60], -1); }"


@pytest.mark.parametrize("before", [5, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 13))])
def test_a_mapping_is_kept_where_there_are_more_than_64_pieces(before: int) -> None:
    array = np.arange(3000, dtype=np.int32).reshape(50, 60)
    found = run(crowded("\n#pragma gpukernel GridBlock(2, SplitLast(2, ShiftLB(Gen)))\n", before), array, merge=False)
    assert [(launch.purpose, launch.partition) for launch in found.launches] == [
        ("pieces", None),
        ("partition", before),
    ]
    assert (found.launches[1].grid, found.launches[1].block, found.launches[1].reasons[0]) == (
        (1, 1, 9),
        (1, 3, 2),
        "the pragma says so",
    )
    with pytest.raises(MappingError, match=r"E0819.* more than 64 pieces"):
        run(crowded("\n#pragma gpumem shared(a)\n", before), array, merge=False)


def test_a_mapping_that_does_not_fit_what_others_leave_of_a_partition_is_that_of_all_of_it() -> None:
    parts = "([0] <= iv < [5]) : iv[0]; PRAGMA ([0] <= iv < [n]) : iv[0] * 10;"
    text = f"int[.] f(int n) {{ return with {{ {parts} }} : genarray([n], 0); }}"
    found = run(text.replace("PRAGMA", "\n#pragma gpukernel GridBlock(1, SplitLast(32, Gen))\n"), 100)
    (launch,) = [launch for launch in found.launches if launch.partition == 1 and launch.mapping is not None]
    assert (launch.grid, launch.block, launch.reasons) == (
        (1, 1, 4),
        (1, 1, 32),
        ("the pragma says so", "its mapping does not fit what other partitions leave of it"),
    )
    assert launch.mapping is not None and launch.mapping.space.size == 100


def test_a_launch_met_again_is_the_same() -> None:
    unit = optimise(Subject("int[.,.] f(int[.,.] a) { return a + 1; }").unit((None, None)))
    found = agree(unit, [MATRIX])
    (template,) = found.templates.values()
    assert template.plan((6, 70)) is template.plan((6, 70))
    (one,), (other,) = (template.plan(shape).launches for shape in ((8, 96), (8, 128)))
    assert one.kernel is other.kernel


def test_modarray_may_take_the_place_of_its_array_unless_others_read_it() -> None:
    def where(text: str) -> dict[str, str]:
        (template,) = agree(optimise(Subject(text).unit((None, None))), [REALS]).templates.values()
        return {name: found.source.name for name, found in template.in_place.items() if not found.needed}

    assert list(
        where(
            "double[.,.] f(double[.,.] a) { return with { ([1,1] <= iv < [3,4]) : a[iv] * 2d; } : modarray(a); }"
        ).values()
    ) == ["a"]
    assert where(stencil()) == {}


@pytest.mark.parametrize(
    ("text", "args", "reason"),
    [
        (
            "int fib(int n) { if (n < 2) { r = n; } else { r = fib(n-1) + fib(n-2); } return r; } int[.] f(int n) { "
            "return { [i] -> fib(i) | [i] < [n] }; }",
            (8,),
            "its body calls fib, which calls itself",
        ),
        (
            "int f(int[.] a) { return with { ([0] <= [i] < shape(a)) : a[i]; } : foldfix(max, 0, 5); }",
            (MATRIX[0],),
            "foldfix ends at an index that is not known before",
        ),
        (
            "int[.] g(int[.] a, int[.] b) { return { [i] -> a[i] + b[69 - i] | [i] < [70] }; } int[.] f(int[.,.] a) { "
            "return with { ([0] <= [i] < [shape(a)[0]]) : a[i]; } : fold(g, genarray([70], 0)); }",
            (MATRIX,),
            "it folds arrays",
        ),
        (
            "int[.] f(int n) { return { [i] -> sum({ [j] -> g(j, i) | [j] < [i] }) | [i] < [n] }; } int g(int j, int "
            "i) { v = genarray([i + 1], j); v[i] = 3; return v[i / 2] + sum(v); }",
            (5,),
            "a body makes an array whose size is not known before the launch",
        ),
        (
            "int[.] f(int[.] a) { return { [i] -> g(a[i]) | [i] < shape(a) }; } int g(int n) { v = [n]; k = 0; "
            "while (k < n % 3) { v = v ++ [k]; k = k + 1; } return sum(v); }",
            (MATRIX[0],),
            "a loop in its body carries an array that changes its size",
        ),
        (
            "int[.,.] f(int[.,.] a, int[.] b) { return { [k] -> k < 1 ? b : a[k] | [k] < [shape(a)[0]] }; }",
            (MATRIX, MATRIX[0]),
            "a condition in its body decides how large an array is",
        ),
    ],
)
def test_what_stays_on_the_cpu_says_why(text: str, args: tuple[Value, ...], reason: str) -> None:
    found = run(text, *args, passes=False)
    assert reason in found.refused


# ---------------------------------------------------------------- all of it on the emulator

SHARED_ROWS = "int[.] f(int[.,.] a) { return { [i] -> maxval(a[i]) + i }; }"
HARD: dict[str, tuple[str, tuple[Value, ...], dict[str, object]]] = {
    "columns": (COLUMNS, (MATRIX.T.copy(),), {"row_length": 8}),
    "chunks of columns": (COLUMNS, (MATRIX.T.copy(),), {"row_length": 8, "fold_threads": 4}),
    "rows": (SHARED_ROWS, (MATRIX,), {"row_length": 8}),
    "chunks of rows": (SHARED_ROWS, (MATRIX,), {"row_length": 8, "fold_threads": 4}),
    "tiles": (stencil(TILES.format(n=4), "#pragma gpumem shared(a)"), (REALS,), {}),
    "tiles of a strided grid": (
        "double[.] f(double[.] a) { return with {\n#pragma gpumem shared(a)\n"
        "([1] <= [i] < shape(a) - 1) : a[i-1] + a[i+1]; } : modarray(a); }",
        (np.linspace(0, 1, 700),),
        {"device": options().device.with_processors(1)},
    ),
    "strips": (product(SQUARE, "#pragma gpumem shared(a, b)"), (numbers(5, 70), numbers(70, 6)), {}),
    "strips of a strided grid": (
        product(SQUARE, "#pragma gpumem shared(a, b)"),
        (numbers(20, 34), numbers(34, 20)),
        {"device": type(options().device)("small", 1, 64, 1, 2**16, 2**16)},
    ),
    "rows in halves": (ROWS_BY.replace("WAY", "halving"), (MATRIX,), {"fold_threads": 32}),
    "rows by warps": (ROWS_BY.replace("WAY", "shuffle"), (MATRIX,), {"fold_threads": 64}),
    "a fold by neighbours": (FOLD_BY.replace("WAY", "interleaved"), (MATRIX,), {"fold_threads": 16}),
    "a fold by warps": (FOLD_BY.replace("WAY", "shuffle"), (MATRIX,), {"fold_threads": 64}),
    "rows by groups": (SHARED_ROWS, (TALL,), {"device": ONE}),
    "rows of a fold": (OF_ROWS, (MATRIX,), {"row_length": 8, "fold_threads": 4}),
    "partial sums": ("int f(int[.,.] a) { return sum(a) + maxval(a); }", (MATRIX,), {"fold_threads": 4}),
}

DEAR = {"rows in halves", "a fold by neighbours", "a fold by warps"}  # of the same kind as others


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in DEAR)) for name in HARD])
def test_phases_run_on_the_emulator_without_a_finding(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    emulator = OnEmulator()
    monkeypatch.setattr(kernel_tools, "run_plan", emulator.run_plan)
    text, args, changes = HARD[name]
    run(text, *args, **changes)  # type: ignore[arg-type]
    assert emulator.kernels


class WithoutBarriers(OnEmulator):
    """Runs each launch without one of its barriers first, on copies of the memory. `silent`: kernels in which nothing
    was found then; `removed`: how many barriers."""

    def __init__(self) -> None:
        super().__init__()
        self.removed = 0
        self.silent: list[str] = []

    def launched(self, launch: Launch, args: list[Any]) -> None:
        for what, kernel in faulty(launch.kernel):
            if what.startswith("no barrier"):
                self.removed += 1
                copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
                if not Emulated(kernel, check=True).launch(copies, scratch=[b.size for b in launch.scratch]).findings:
                    self.silent.append(f"{what}\n{print_kernel(launch.kernel)}")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in DEAR)) for name in HARD])
def test_every_barrier_of_a_compiled_kernel_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    emulator = WithoutBarriers()
    monkeypatch.setattr(kernel_tools, "run_plan", emulator.run_plan)
    text, args, changes = HARD[name]
    run(text, *args, **changes)  # type: ignore[arg-type]
    # a thread of a block has a column to itself there, or a warp of it a row
    assert emulator.removed or name in ("chunks of columns", "rows by warps", "rows by groups")
    assert not emulator.silent, emulator.silent[0]


def test_a_kernel_serves_all_values_of_an_open_number() -> None:
    text = stencil("#pragma gpuparam B = 2, 4", TILES.format(n="B"))
    (template,) = agree(optimise(Subject(text).unit((None, None))), [REALS], options(), {"B": 2}).templates.values()
    numbers = tuple({"a_n": 40, "a_n.1": 60}.get(name, 39 if name == "t" else 59) for name in template.inputs)
    kernels = [
        {
            launch.kernel.name: launch.block
            for launch in template.plan(numbers, {"B": b}).launches
            if launch.purpose == "partition"
        }
        for b in (2, 4)
    ]
    assert kernels[0].keys() == kernels[1].keys() and kernels[0] != kernels[1]


@pytest.mark.parametrize(
    "text",
    [
        "int f(int[.,.] a) { return sum(a); }",
        "int[.,.] f(int[.,.] a) { return a + 1; }",
        SHARED_ROWS,
        COLUMNS,
        "int[.,.] f(int[.,.] a) { return { [i,j] -> sum({ [k] -> a[i,k] * a[j,k] }) }; }",
    ],
)
def test_more_elements_than_32_bits_can_count(text: str) -> None:
    (template,) = agree(optimise(Subject(text).unit((None, None))), [MATRIX]).templates.values()
    plan = template.plan(tuple(100_000 for _ in template.inputs))
    assert {launch.kernel.bits for launch in plan.launches if launch.purpose not in ("total", "joined")} == {64}
    for launch in plan.launches:
        verify_kernel(launch.kernel)
        assert all(abs(a) < 1 << 63 for a in launch.arguments if not isinstance(a, str))
        assert all(n <= most for n, most in zip(launch.grid, options().device.grid))


def test_cells_whose_neighbours_read_side_by_side_have_a_thread_each() -> None:
    from tests.ptx.sessions import emulated

    session = emulated(1)  # so that few cells keep it busy
    module = session.compile(
        "use Array: all;\n"
        "double[.,.] f(double[m,n] a, double[p,q] w) { return { [i,j] -> with { ([0,0] <= [k,l] < [p,q]) : "
        "a[i + k, j + l] * w[k, l]; } : fold(+, 0.0) | [i,j] < [m - p + 1, n - q + 1] }; }\n"
        "double[m] g(double[m,n] a, double[n] w) { return { [i] -> with { ([0] <= [l] < [n]) : a[i, l] * w[l]; } : "
        "fold(+, 0.0) | [i] < [m] }; }"
    )
    a, w = np.arange(60.0 * 64).reshape(60, 64) % 7, np.arange(25.0).reshape(5, 5) % 3
    wanted = sum(w[k, l] * a[k : k + 56, l : l + 60] for k in range(5) for l in range(5))  # noqa: E741
    np.testing.assert_allclose(module.f(a, w), wanted)
    np.testing.assert_allclose(module.g(np.repeat(a, 20, 0), a[0]), np.repeat(a, 20, 0) @ a[0])
    assert "threads for each of" not in session.explain("f")  # the weights are the same for all
    assert "threads for each of" in session.explain("g")
