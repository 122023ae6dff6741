"""Functions of open rank run in versions made for the ranks they are called with; nobody can tell from the results."""

from collections.abc import Callable

from sacpy.interp.versions import MOST, dispatcher
from tests.interp.tools import failure, run

GENERIC = "noinline int[*] twice(int[*] a) { return { iv -> 2 * a[iv] | iv < shape(a) }; } "


def test_each_rank_gets_its_result() -> None:
    text = (
        GENERIC
        + "int main() { print(twice(3)); print(twice([1, 2])); print(twice([[1], [2]])); print(twice(genarray([0, 3], "
        "1))); return 0; }"
    )
    assert run(text).out.split("\n")[2] == " 6"
    assert "< 2  4 >" in run(text).out
    assert run(text).out == run(text, always_copy=True).out


def test_more_ranks_than_versions_still_run() -> None:
    calls = " ".join(f'printf("%d ", sum(twice(genarray({[1] * rank}, 1))));' for rank in range(1, MOST + 4))
    assert run(GENERIC + "int main() { " + calls + " return 0; }").out.split() == ["2"] * (MOST + 3)


def test_lengths_of_short_vectors_count_and_long_ones_do_not() -> None:
    text = "noinline int[*] fill(int[.] shp) { return { iv -> sum(iv) | iv < shp }; } "
    text += "int main() { " + " ".join(f'printf("%d ", sum(fill({[2] * n})));' for n in range(1, 12)) + " return 0; }"
    assert run(text).out.split() == [str(n * 2 ** (n - 1)) for n in range(1, 12)]


def test_an_error_in_a_version_names_the_function_once() -> None:
    text = (
        "noinline int[*] pick(int[*] a, int i) { for (k = 0; k < 1; k++) { a = a[i]; } return a; } int main() { "
        "print(pick([[1], [2]], 5)); return 0; }"
    )
    assert [frame.function for frame in failure(text).stack] == ["pick", "main"]


def test_recursion_over_falling_rank_dispatches_to_the_next_version() -> None:
    text = (
        "int total(int[*] a) { if (dim(a) == 0) { s = toi(a); } else { s = 0; for (i = 0; i < shape(a)[0]; i++) { "
        "s = s + total(a[i]); } } return s; } "
    )
    assert run(text + 'int main() { printf("%d", total(reshape([2, 3, 4], iota(24)))); return 0; }').out == "276"


def test_functions_that_look_at_the_same_arguments_share_the_code_that_chooses() -> None:
    """And each has a table of its own."""
    make = dispatcher(("a0", "a1"), "type(a0)", ("a0",))
    assert make is dispatcher(("a0", "a1"), "type(a0)", ("a0",))
    asked: list[object] = []

    def find(key: type, values: tuple[object, ...]) -> Callable[..., object]:
        asked.append((key, values))
        return tables[0].setdefault(key, lambda a, b: (key.__name__, a, b))

    tables: tuple[dict[type, Callable[..., object]], ...] = ({}, {})
    one, other = make(tables[0], find), make(tables[1], lambda key, values: lambda a, b: "other")
    assert [one(1, 2), one(3, 4), one(1.0, 2), other(1, 2)] == [
        ("int", 1, 2),
        ("int", 3, 4),
        ("float", 1.0, 2),
        "other",
    ]
    assert asked == [(int, (1,)), (float, (1.0,))]
    assert one.__code__ is other.__code__
