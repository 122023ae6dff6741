"""Python values into SaC and back: nothing is lost, wrapped or guessed."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import sacpy

SOURCE = """
use Structures: all;
byte f_byte(byte x) { return x; }
short f_short(short x) { return x; }
int f_int(int x) { return x; }
long f_long(long x) { return x; }
ubyte f_ubyte(ubyte x) { return x; }
uint f_uint(uint x) { return x; }
ulong f_ulong(ulong x) { return x; }
float f_float(float x) { return x; }
double f_double(double x) { return x; }
bool f_bool(bool x) { return x; }
char f_char(char x) { return x; }
string f_string(string x) { return x; }
complex f_complex(complex x) { return x; }

int[*] a_int(int[*] x) { return x; }
long[*] a_long(long[*] x) { return x; }
float[*] a_float(float[*] x) { return x; }
double[*] a_double(double[*] x) { return x; }
bool[*] a_bool(bool[*] x) { return x; }
char[*] a_char(char[*] x) { return x; }
complex[*] a_complex(complex[*] x) { return x; }

typedef double[3] vec;
vec f_vec(vec v) { return v; }
vec[.] a_vec(vec[.] v) { return v; }
int[.] shape_of_vecs(vec[.] v) { return shape(v); }

struct Point { double x; double y; };
struct Body { struct Point at; double[3] speed; int id; };
struct Body f_body(struct Body b) { return b; }
struct Body[.] a_body(struct Body[.] b) { return b; }
double[.] xs(struct Body[.] b) { return b.at.x; }

double[.] first_to_zero(double[.] a) { a[0] = 0.0; return a; }
double[.] all_to_one(double[.] a) { return with { (. <= iv <= .) : 1.0; } : modarray(a); }
double[.], double[.] both(double[.] a) { return (a, a); }
int[.] constant() { return [1, 2, 3]; }
list cells(int n) { return cons(n, nil()); }
int head(list l) { return hd(l); }
"""


@pytest.fixture(scope="module")
def m() -> sacpy.Module:
    return sacpy.Session().compile(SOURCE)


def code(call: Any, *args: Any) -> str:
    """The code of the error that a call ends with."""
    with pytest.raises(sacpy.SacError) as caught:
        call(*args)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message
    return diagnostic.code


LIMITS = {
    "byte": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "ubyte": (0, 2**8 - 1),
    "uint": (0, 2**32 - 1),
    "ulong": (0, 2**64 - 1),
}


@pytest.mark.parametrize("base", LIMITS)
def test_integers_fit_to_the_last_one_and_never_wrap(m: sacpy.Module, base: str) -> None:
    low, high = LIMITS[base]
    f = m[f"f_{base}"]
    assert (f(low), f(high), f(np.uint8(7))) == (low, high, 7)
    for outside in (low - 1, high + 1, 1 << 100):
        assert code(f, outside) == "E0707"


def test_the_message_names_argument_and_range(m: sacpy.Module) -> None:
    with pytest.raises(
        sacpy.SacError, match=r"argument 1 \(x\) of f_byte: 128 does not fit byte, whose values are -128 to 127"
    ):
        m.f_byte(128)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("f_int", 1.0),
        ("f_int", True),
        ("f_int", "1"),
        ("f_int", None),
        ("f_bool", 1),
        ("f_double", "1"),
        ("f_double", True),
        ("f_string", 1),
        ("f_char", 65),
        ("f_char", "ab"),
        ("f_complex", "1"),
        ("a_int", [1, 2.5]),
        ("a_int", [True]),
        ("a_bool", [1]),
    ],
)
def test_values_of_another_sort_are_refused(m: sacpy.Module, name: str, value: Any) -> None:
    assert code(m[name], value) in ("E0708", "E0619")


def test_an_int_is_a_double_where_it_is_exact(m: sacpy.Module) -> None:
    assert m.f_double(2) == 2.0
    assert isinstance(m.f_double(2), float)
    assert m.f_double(2**53) == 2.0**53
    assert code(m.f_double, 2**53 + 1) == "E0707"
    assert code(m.f_float, 2**24 + 1) == "E0707"
    assert code(m.f_double, 10**400) == "E0707"


def test_a_python_float_is_rounded_to_float_as_a_literal_is(m: sacpy.Module) -> None:
    assert m.f_float(0.1) == float(np.float32(0.1))
    assert code(m.f_float, 1e300) == "E0707"
    assert m.f_float(float("inf")) == float("inf")
    assert np.isnan(m.f_float(float("nan")))


def test_numpy_scalars(m: sacpy.Module) -> None:
    assert m.f_int(np.int64(5)) == 5
    assert code(m.f_int, np.int64(2**40)) == "E0707"
    assert m.f_double(np.float32(0.5)) == 0.5
    assert m.f_bool(np.bool_(True)) is True
    assert m.f_long(np.array(7)) == 7


def test_scalars_come_back_as_python_scalars(m: sacpy.Module) -> None:
    assert [
        type(v) for v in (m.f_int(1), m.f_double(1.0), m.f_bool(True), m.f_string("a"), m.f_char("a"), m.f_complex(1j))
    ] == [int, float, bool, str, bytes, complex]


def test_text(m: sacpy.Module) -> None:
    assert m.f_string("Grüße, 世界") == "Grüße, 世界"
    assert m.f_string("") == ""
    assert m.f_string(b"\xff") == "\udcff"
    assert m.f_string(m.f_string(b"\xff")) == "\udcff"
    assert code(m.f_string, "a\0b") == "E0707"
    assert m.f_char("a") == m.f_char(b"a") == b"a"
    assert bytes(m.a_char("héllo")) == "héllo".encode()
    assert m.a_char(b"abc").dtype == np.uint8


# ---------------------------------------------------------------- arrays


@pytest.mark.parametrize(
    "value",
    [
        [],
        [[]],
        [1, 2, 3],
        [[1, 2], [3, 4]],
        ((1,), (2,)),
        np.zeros((0, 3), np.int32),
        np.arange(6, dtype=np.int32).reshape(1, 2, 3),
        5,
    ],
)
def test_arrays_go_through_unchanged(m: sacpy.Module, value: Any) -> None:
    result = m.a_int(value)
    assert np.array_equal(result, np.array(value, np.int32))
    assert np.shape(result) == np.shape(value)


def test_integer_arrays_of_other_widths_are_checked(m: sacpy.Module) -> None:
    result = m.a_int(np.array([1, -2, 2**31 - 1]))
    assert result.dtype == np.int32
    assert result.tolist() == [1, -2, 2**31 - 1]
    with pytest.raises(sacpy.SacError, match=r"element \[1\] is 2147483648, which does not fit int"):
        m.a_int(np.array([1, 2**31]))
    assert code(m.a_int, [1, 2**31]) == "E0707"
    assert code(m.a_long, np.array([2**63], np.uint64)) == "E0707"


def test_real_arrays(m: sacpy.Module) -> None:
    assert m.a_double(np.array([1, 2])).tolist() == [1.0, 2.0]
    assert m.a_double(np.array([0.5], np.float32)).tolist() == [0.5]
    assert m.a_double([1, 2.5]).tolist() == [1.0, 2.5]
    assert code(m.a_double, np.array([2**53 + 1])) == "E0707"
    with pytest.raises(sacpy.SacError, match="astype"):
        m.a_float(np.array([0.1]))
    assert code(m.a_int, np.array([1.0])) == "E0708"


@pytest.mark.parametrize(
    "make", [lambda a: a[::2], lambda a: a.reshape(4, 6).T, lambda a: a.astype(">f8"), lambda a: a[::-1]]
)
def test_arrays_of_another_layout(m: sacpy.Module, make: Any) -> None:
    array = make(np.arange(24.0))
    assert np.array_equal(m.a_double(array), array)


def test_unaligned_and_read_only_arrays(m: sacpy.Module) -> None:
    unaligned = np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.uint8)[1:].view(np.float64)
    assert m.a_double(unaligned).tolist() == [0.0, 1.0, 2.0]
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    assert m.first_to_zero(fixed).tolist() == [0.0, 1.0, 2.0]


def test_masked_arrays_and_ragged_lists_are_refused(m: sacpy.Module) -> None:
    assert code(m.a_double, np.ma.masked_array([1.0, 2.0], [True, False])) == "E0708"
    assert code(m.a_int, [[1, 2], [3]]) == "E0708"
    assert code(m.a_int, [[1], 2]) == "E0708"


@pytest.mark.parametrize("name", ["first_to_zero", "all_to_one"])
def test_an_argument_is_never_written(m: sacpy.Module, name: str) -> None:
    array = np.arange(1.0, 5.0)
    m[name](array)
    assert array.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_result_is_never_an_argument_nor_a_constant(m: sacpy.Module) -> None:
    array = np.arange(4.0)
    result = m.a_double(array)
    assert not np.shares_memory(result, array)
    one, two = m.both(array)
    assert not np.shares_memory(one, array)
    assert not np.shares_memory(one, two)
    changed = m.constant()
    changed[0] = 100
    assert m.constant().tolist() == [1, 2, 3]


# ---------------------------------------------------------------- complex numbers, typedefs, structs, objects


def test_complex(m: sacpy.Module) -> None:
    assert m.f_complex(1 + 2j) == 1 + 2j
    assert m.f_complex(3) == 3
    values = np.array([[1 + 2j, 3j], [4, -1 - 1j]])
    result = m.a_complex(values)
    assert result.dtype == np.complex128
    assert np.array_equal(result, values)
    assert m.a_complex([1j, 2]).tolist() == [1j, 2]
    assert m.a_complex(values.T).tolist() == values.T.tolist()
    assert m.a_complex(np.zeros(0, complex)).shape == (0,)
    assert m.a_complex(values.astype(np.complex64)).dtype == np.complex128


def test_typedefs_lie_as_trailing_axes(m: sacpy.Module) -> None:
    assert m.f_vec([1, 2, 3]).tolist() == [1.0, 2.0, 3.0]
    assert m.a_vec(np.ones((4, 3))).shape == (4, 3)
    assert m.shape_of_vecs(np.ones((4, 3))).tolist() == [4]
    assert code(m.f_vec, [1.0, 2.0]) == "E0708"


BODY = {"at": {"x": 1.0, "y": 2.0}, "speed": [1, 2, 3], "id": 7}


def test_a_struct_is_a_record(m: sacpy.Module) -> None:
    result = m.f_body(BODY)
    assert isinstance(result, np.void)
    assert result["at"]["y"] == 2.0
    assert result["speed"].tolist() == [1.0, 2.0, 3.0]
    assert result["id"] == 7
    assert m.f_body(result) == result


def test_arrays_of_structs(m: sacpy.Module) -> None:
    result = m.a_body([BODY, BODY | {"id": 8}])
    assert result.shape == (2,)
    assert result["id"].tolist() == [7, 8]
    assert result["speed"].shape == (2, 3)
    assert m.xs(result).tolist() == [1.0, 1.0]
    columns = {"at": {"x": [1.0, 2.0], "y": [0.0, 0.0]}, "speed": np.zeros((2, 3)), "id": [1, 2]}
    assert m.xs(columns).tolist() == [1.0, 2.0]
    assert m.a_body(result[:0]).shape == (0,)


@dataclass
class At:
    """The fields of the struct Point."""

    x: float
    y: float
    unit: ClassVar[str] = "m"


@dataclass(frozen=True, slots=True)
class Body:
    """The fields of the struct Body, in another order."""

    id: int
    at: Any
    speed: Any


class Pair(NamedTuple):
    """The same as `At`."""

    x: float
    y: float


@pytest.mark.parametrize("at", [At(1.0, 2.0), Pair(1.0, 2), {"x": 1, "y": 2.0}], ids=["dataclass", "tuple", "dict"])
def test_dataclasses_and_named_tuples_are_structs(m: sacpy.Module, at: Any) -> None:
    result = m.f_body(Body(7, at, (1, 2, 3)))
    assert result == m.f_body(BODY)
    assert m.f_body({"id": 7, "at": at, "speed": [1.0, 2.0, 3.0]}) == result
    several = m.a_body([Body(1, at, [1, 2, 3]), Body(2, at, np.ones(3))])
    assert several["id"].tolist() == [1, 2] and several["at"]["y"].tolist() == [2.0, 2.0]


def test_named_tuples_in_lists_and_sessions() -> None:
    session = sacpy.Session()
    functions = session.define("""
        struct Pair { double x; double y; };
        double[.] sums(struct Pair[.] p) { return p.x + p.y; }
        double one(struct Pair p) { return p.x; }""")
    assert functions.sums([Pair(1, 2), Pair(1.5, 2.5)]).tolist() == [3.0, 4.0]
    assert functions.one(At(5.0, 6.0)) == 5.0
    session["p"] = Pair(1.0, 2.0)
    assert session.eval("p.x + p.y") == 3.0
    assert session.eval("q.y", q=At(1.0, 7.0)) == 7.0


def test_a_named_tuple_is_a_tuple_where_no_struct_is_wanted(m: sacpy.Module) -> None:
    assert m.a_double(Pair(1.0, 2.0)).tolist() == [1.0, 2.0]
    assert m.a_double([Pair(1, 2), Pair(3, 4.5)]).tolist() == [[1.0, 2.0], [3.0, 4.5]]
    assert m.f_vec(NamedTuple("Three", [("a", int), ("b", int), ("c", int)])(1, 2, 3)).tolist() == [1.0, 2.0, 3.0]
    assert sacpy.Session().eval("sum(v)", v=Pair(1.0, 2.0)) == 3.0


def test_fields_that_do_not_fit_are_told(m: sacpy.Module) -> None:
    def said(*arguments: Any) -> str:
        with pytest.raises(sacpy.SacError) as caught:
            m.f_body(*arguments)
        return str(caught.value)

    assert "field at.x: str is not double" in said(Body(7, At("a", 2.0), [1, 2, 3]))  # type: ignore[arg-type]
    assert "struct Body has the fields at, speed, id, this value has x, y" in said(At(1.0, 2.0))
    assert "type is not struct Body\n" in said(At)
    assert "pass a dict, dataclass or named tuple with the fields at, speed, id" in said(At)
    with pytest.raises(sacpy.SacError, match="a record of x, y is not int"):
        m.f_int(At(1.0, 2.0))


@pytest.mark.parametrize(
    "value",
    [
        {"at": {"x": 1.0}, "speed": [1, 2, 3], "id": 7},
        BODY | {"more": 1},
        {},
        BODY | {"speed": [1.0, 2.0]},
        BODY | {"id": 1.5},
        5,
        BODY | {"id": [1, 2]},
    ],
)
def test_records_that_do_not_fit(m: sacpy.Module, value: Any) -> None:
    assert code(m.f_body, value) in ("E0707", "E0708")


def test_what_only_sac_understands_is_a_handle(m: sacpy.Module) -> None:
    cells = m.cells(5)
    assert isinstance(cells, sacpy.Handle)
    assert m.head(cells) == 5
    assert code(m.head, 5) == "E0708"


@pytest.mark.parametrize("value", [300, -129, 2**80, [300], np.array([300]), 1.0, "a", None, 1j, [[1], [2, 3]]])
def test_every_refusal_says_what_to_do(value: Any) -> None:
    module = sacpy.Session().compile("byte[*] same(byte[*] b) { return b; }")
    with pytest.raises(sacpy.SacError) as caught:
        module.same(value)
    assert caught.value.diagnostics[0].help
