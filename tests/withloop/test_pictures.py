import pytest

from sacpy.withloop.errors import MappingError
from sacpy.withloop.pictures import picture, steps
from sacpy.withloop.pragmas import parse
from sacpy.withloop.spaces import IndexSpace


def test_the_papers_shift():
    drawn = steps(parse("gpukernel GridBlock(2, ShiftLB(Gen))").chain, IndexSpace.of([1, 1], [6, 6], [1, 2]))
    assert drawn.split("\n") == [
        "Gen                    ShiftLB",
        "",
        ".. .. .. .. .. ..      00 .. 02 .. 04",
        ".. 11 .. 13 .. 15      10 .. 12 .. 14",
        ".. 21 .. 23 .. 25      20 .. 22 .. 24",
        ".. 31 .. 33 .. 35 ---> 30 .. 32 .. 34",
        ".. 41 .. 43 .. 45      40 .. 42 .. 44",
        ".. 51 .. 53 .. 55",
    ]


def test_the_papers_split_with_two_threads_disabled():
    drawn = steps(parse("gpukernel GridBlock(1, SplitLast(4, Gen))").chain, IndexSpace.box([10]))
    assert drawn.split("\n") == [
        "Gen                      SplitLast(4)",
        "",
        "0 1 2 3 4 5 6 7 8 9      00 01 02 03",
        "                    ---> 10 11 12 13",
        "                         20 21 .. ..",
    ]


def test_rank_0_and_empty_and_large():
    assert picture(IndexSpace.box([])) == "()"
    assert picture(IndexSpace.box([3, 0])) == "(empty)"
    assert picture(IndexSpace.box([100, 1000])) == "100 x 1000 cells, too many to draw"


def test_planes():
    assert picture(IndexSpace.of([0, 0, 1], [2, 1, 3])) == "[0, *, *]\n .. 001 002\n\n[1, *, *]\n .. 101 102"


def test_indices_beyond_one_digit_and_below_0():
    assert picture(IndexSpace.of([-1], [2])) == "-1  0  1"
    assert picture(IndexSpace.of([0, 9], [1, 11])).split()[-1] == "0,10"


def test_wide_pictures_stand_below_one_another():
    drawn = steps(parse("gpukernel GridBlock(1, SplitLast(4, Gen))").chain, IndexSpace.box([10]), columns=20)
    assert drawn == "Gen\n\n0 1 2 3 4 5 6 7 8 9\n\nSplitLast(4)\n\n00 01 02 03\n10 11 12 13\n20 21 .. .."


def test_pruned_threads_are_dots():
    drawn = steps(parse("gpukernel GridBlock(1, PruneGrid(Gen))").chain, IndexSpace.of([0], [5], [2]))
    assert drawn.split("\n")[2] == "0 . 2 . 4 ---> 0 . 2 . 4"


def test_what_does_not_fit_is_refused():
    with pytest.raises(MappingError, match="E0807"):
        steps(parse("gpukernel GridBlock(1, PruneGrid(Gen))").chain, IndexSpace.of([1], [5], [2]))
