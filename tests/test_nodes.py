"""Classes of nodes behave as frozen dataclasses with slots, and records as dataclasses with slots."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError
from typing import ClassVar

import pytest

from sacpy.nodes import Node, Record, field, field_names, replace


class Point(Node):
    x: int
    y: int = 2
    note: str = field(default="", compare=False, repr=False)


class Far(Point):
    z: int = 3


class Measured(Node):
    kind: ClassVar[str] = "length"
    value: float
    text: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", repr(self.value))


class Itself(Node, eq=False, repr=False):
    x: int


class Heap(Record):
    items: list[int] = field(default_factory=list)
    made: int = field(init=False, default=7)
    seen: set[int] = field(init=False, default_factory=set)


def test_fields_are_given_by_position_by_name_or_by_default() -> None:
    p = Point(1, note="n")
    assert (p.x, p.y, p.note) == (1, 2, "n")
    assert Point(y=5, x=4) == Point(4, 5)


@pytest.mark.parametrize(
    "wrong", [lambda: Point(), lambda: Point(1, 2, "", 4), lambda: Point(1, z=3), lambda: Point(1, x=1)]
)
def test_a_constructor_takes_its_fields_only(wrong) -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\)"):
        wrong()


def test_a_class_has_the_fields_of_the_one_it_extends() -> None:
    Point(1), Point(1) == Point(2), hash(Point(1))  # what is compiled for a class is not that of its subclasses
    assert repr(Far(1)) == "Far(x=1, y=2, z=3)"
    assert Far(1) != Far(1, z=4)
    assert hash(Far(1)) != hash(Far(1, z=4))
    assert field_names(Far(1)) == ("x", "y", "note", "z")


def test_nodes_of_one_class_are_compared_by_their_fields() -> None:
    nan = float("nan")
    assert Point(1) == Point(1, note="other")
    assert hash(Point(1)) == hash(Point(1, note="other"))
    assert Point(1) != Point(1, 3)
    assert Point(1) != (1, 2)
    assert Far(1) != Point(1)
    assert Measured(nan) == Measured(nan)


def test_without_eq_an_instance_is_equal_to_itself_only() -> None:
    one = Itself(1)
    assert one == one
    assert one != Itself(1)
    assert {one, one, Itself(1)} >= {one}
    assert repr(one).startswith("<")


def test_a_node_does_not_change() -> None:
    p = Point(1)
    with pytest.raises(FrozenInstanceError):
        p.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del p.x  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        p.w = 2  # type: ignore[attr-defined]
    assert p == Point(1)
    assert not hasattr(p, "__dict__")


def test_a_record_changes_has_only_its_fields_and_no_hash() -> None:
    h = Heap()
    h.items.append(1)
    h.made += 1
    assert (h.items, h.made) == ([1], 8)
    assert (Heap().items, Heap().made, Heap().seen) == ([], 7, set())  # nothing is shared
    assert Heap([1]) == Heap([1]) != Heap([2])
    with pytest.raises(AttributeError):
        h.other = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="unhashable"):
        hash(h)
    with pytest.raises(TypeError):
        Heap([1], 7)  # type: ignore[call-arg]


def test_what_is_no_field_stays_with_the_class() -> None:
    assert Measured.kind == "length"
    assert field_names(Measured(1.5)) == ("value", "text")


def test_replace_gives_another_node() -> None:
    p = Point(1, 2, "n")
    q = replace(p, y=9)
    assert (q.x, q.y, q.note) == (1, 9, "n")
    assert p.y == 2
    assert replace(Measured(1.0), value=2.0).text == "2.0"
    with pytest.raises(TypeError, match="'w'"):
        replace(p, w=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("node", [Point(1, note="n"), Far(1, z=9), Measured(2.5), Heap([1, 2])])
def test_nodes_are_pickled_and_copied(node: Node | Record) -> None:
    for other in (pickle.loads(pickle.dumps(node)), copy.copy(node), copy.deepcopy(node)):
        assert other == node
        assert other is not node
        assert [getattr(other, n) for n in field_names(other)] == [getattr(node, n) for n in field_names(node)]


def test_patterns_take_fields_in_order() -> None:
    match Far(1, 4, z=6):
        case Point(x, y, _):
            assert (x, y) == (1, 4)


def test_the_constructor_can_be_looked_up_before_there_is_an_instance() -> None:
    class Fresh(Node):
        a: int
        b: str = "c"

    assert str(inspect.signature(Fresh)) == "(a, b='c')"
