"""Arrays that are given up for a longer one grow where they lie, and nobody ever sees that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from sacpy.interp import growth, memory
from sacpy.interp.errors import Fault
from sacpy.interp.growth import LITTLE, grown, keeper_of
from tests.interp.growing_programs import programs
from tests.interp.tools import main, run


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short arrays grow as long ones do."""
    monkeypatch.setattr(growth, "FEW", 0)


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The bytes of each piece of memory that an array has moved to."""
    found: list[int] = []
    make = growth.room

    def counted(size: int) -> growth.Room:
        found.append(size)
        return make(size)

    monkeypatch.setattr(growth, "room", counted)
    yield found


@settings(max_examples=15, deadline=None)
@given(programs())
def test_nobody_sees_that_an_array_has_grown_where_it_lies(text: str) -> None:
    expected = run(text, head="", always_copy=True).out
    assert run(text, head="").out == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "FEW", 0)
        assert run(text, head="").out == expected


GROWING = {
    "one behind": "r = r ++ [i];", "a scalar behind": "r = r ++ i;", "one before": "r = [i] ++ r;",
    "a scalar before": "r = i ++ r;",
    "both": "r = [i] ++ r ++ [i];", "in a function": "r = push(r, i);",
    "in a branch": "if (i % 3 == 0) { r = r ++ [i, i]; } else { r = r ++ [i]; }",
    "under another name": "t = r; r = t ++ [i];",
    "in a struct": "s = Box{ r, i }; r = s.held ++ [i];",
}  # fmt: skip
FUNCTIONS = "struct Box { int[.] held; int age; }; int[.] push(int[.] a, int x) { return a ++ [x]; } "


@pytest.mark.parametrize("statement", GROWING.values(), ids=GROWING)
def test_n_times_one_more_element_moves_an_array_a_few_times_only(statement: str, moved: list[int]) -> None:
    run(FUNCTIONS + f"int main() {{ r = [:int]; for (i = 0; i < 6000; i++) {{ {statement} }} return shape(r)[0]; }}")
    assert 3 <= len(moved) <= 18
    assert sum(moved) < 12 * 12000 * 4


def test_an_array_that_others_hold_moves_each_time(moved: list[int]) -> None:
    main(
        "r = iota(3000); s = r; for (i = 0; i < 20; i++) { s = r; r = r ++ [i]; } print(shape(s)[0]); "
        "print(shape(r)[0]); return 0;"
    )
    assert moved == []  # copied, without room


@pytest.mark.parametrize("statement", ["r = r ++ [[i, i]];", "r = [[i, i]] ++ r;", "r = r ++ genarray([i % 3, 2], i);"])
def test_rows_are_added_to_a_matrix_where_it_lies(statement: str, moved: list[int]) -> None:
    found = main(
        f"r = genarray([0, 2], 0); for (i = 0; i < 3000; i++) {{ {statement} }} print(shape(r)); print(sum(r)); "
        "return 0;"
    )
    plain = main(
        f"r = genarray([0, 2], 0); for (i = 0; i < 3000; i++) {{ {statement} }} print(shape(r)); print(sum(r)); "
        "return 0;",
        always_copy=True,
    )
    assert found.out == plain.out and 3 <= len(moved) <= 12


def larger(kept: Any, count: int, *, before: bool = False) -> Any:
    """An array with so many more elements, 0 and so on, one after the other."""
    for k in range(count):
        one = np.array([k], kept.dtype)
        kept = grown(one, kept, (False, True)) if before else grown(kept, one, (True, False))
    return kept


@pytest.mark.parametrize("before", [False, True], ids=["behind", "before"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.float64, np.bool_])
def test_no_array_holds_more_than_twice_its_bytes(dtype: Any, before: bool, always: None) -> None:
    array = np.zeros(0, dtype)
    for count in range(1, 1500):
        one = np.array([count % 5 - 1], dtype)
        array = grown(one, array, (False, True)) if before else grown(array, one, (True, False))
        keeper = keeper_of(array)
        assert array.shape == (count,) and array.flags.c_contiguous and array.flags.aligned
        assert keeper is None or keeper.capacity() <= 2 * array.nbytes + 2 * LITTLE
    assert ((array[::-1] if before else array) == (np.arange(1, 1500) % 5 - 1).astype(dtype)).all()


def test_of_two_that_are_given_up_the_larger_one_stays(always: None) -> None:
    long, short = larger(np.arange(2000, dtype=np.int32), 1), np.arange(3, dtype=np.int32)
    start = growth.address_of()(long)
    behind = grown(long, short, (True, True))
    assert growth.address_of()(behind) == start and behind.tolist()[-4:] == [0, 0, 1, 2]
    before = larger(np.arange(2000, dtype=np.int32), 1, before=True)
    end = growth.address_of()(before) + before.nbytes
    both = grown(short, before, (True, True))
    assert growth.address_of()(both) + both.nbytes == end and both.tolist()[:4] == [0, 1, 2, 0]


@pytest.mark.parametrize("rows", [10, 3000, 40_000])
def test_what_is_left_of_a_much_longer_one_does_not_keep_its_memory(rows: int, always: None) -> None:
    long = larger(np.zeros(100_000), 1)
    left = grown(long[:rows], np.ones(3), (True, False))
    keeper = keeper_of(left)
    assert left.tolist() == [0.0] * rows + [1.0] * 3
    assert keeper is not None and keeper.capacity() <= 2 * left.nbytes + LITTLE


def test_a_part_that_has_gaps_is_copied(always: None) -> None:
    array = np.arange(5000, dtype=np.int32)[::2]
    assert grown(array, array[:3], (True, False)).tolist() == [*range(0, 5000, 2), 0, 2, 4]


def test_an_array_of_no_elements_grows(always: None) -> None:
    none = np.zeros((0, 3), np.int32)
    assert grown(none, none, (True, True)).shape == (0, 3)
    assert grown(none, np.ones((2, 3), np.int32), (True, False)).tolist() == [[1, 1, 1]] * 2
    assert larger(np.zeros(0), 4).tolist() == [0, 1, 2, 3]


def test_room_is_asked_for_only_where_there_is_memory_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def room(size: int) -> None:
        asked.append(size)
        if size > 5_000_000:
            raise Fault("E0703", "out of memory")

    monkeypatch.setattr(memory, "room", room)
    array = grown(np.zeros(500_000), np.zeros(100_000), (True, False))
    keeper = keeper_of(array)
    assert asked == [4_800_000 + 2_250_000, 4_800_000] and keeper is not None and keeper.capacity() == array.nbytes
    with pytest.raises(Fault, match="out of memory"):
        grown(array, np.zeros(100_000), (True, False))


def test_what_is_added_in_place_is_asked_for_too(monkeypatch: pytest.MonkeyPatch) -> None:
    array = larger(np.zeros(600_000), 1)
    asked: list[int] = []
    monkeypatch.setattr(memory, "room", asked.append)
    grown(array, np.zeros(200_000), (True, False))
    assert asked == [1_600_000]
