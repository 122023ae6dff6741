"""Values as the prompt shows them: corners."""

import numpy as np
import pytest

from sacpy.lang.elaborate.usertypes import BUILTINS, STRING, BaseType, struct, wrap
from sacpy.repl.display import show

DOUBLE, INT = BUILTINS["double"], BUILTINS["int"]
COMPLEX = wrap("C::complex", "typedef", DOUBLE, (2,))


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (DOUBLE, float("nan"), "double nan"),
        (DOUBLE, np.array([np.nan, np.inf, -0.0]), "double[3] [ nan,  inf, -0.0]"),
        (DOUBLE, np.array([1e300, 1.0]), "double[2] [1e+300,    1.0]"),
        (DOUBLE, np.zeros((0, 3)), "double[0,3]\n[]"),
        (BUILTINS["longlong"], -(2**63), "longlong -9223372036854775808"),
        (BUILTINS["char"], np.frombuffer(b"a\n\xff", np.uint8), 'char[3] "a\\n\\377"'),
        (BUILTINS["char"], np.frombuffer(b"abcd", np.uint8).reshape(2, 2), "char[2,2]\n[['a', 'b'],\n ['c', 'd']]"),
        (STRING, np.array([b"a", b"bc"], object), 'string[2] [ "a", "bc"]'),
        (COMPLEX, np.zeros((0, 2)), "complex[0]\n[]"),
    ],
)
def test_value(type: BaseType, value: object, text: str) -> None:
    assert show(type, (value,)) == text


def test_array_of_structs_shows_its_fields_as_arrays() -> None:
    point = struct("M::P", (("x", DOUBLE, ()), ("c", COMPLEX, ())))
    assert show(point, (np.array([1.0, 2.0]), np.zeros((2, 2)))) == "struct P[2]\n  .x double[2] [1.0, 2.0]\n  .c complex[2]\n  [[0.0, 0.0],\n   [0.0, 0.0]]"


def test_struct_without_fields() -> None:
    assert show(struct("M::E", ()), ()) == "struct E"


def test_large_arrays_show_their_ends_quickly() -> None:
    assert show(INT, (np.arange(10**7, dtype=np.int32),)).endswith(", 9999997, 9999998, 9999999]")
