"""scanf, compared with the C library's own."""

import ctypes
import ctypes.util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacpy.interp.errors import Fault
from sacpy.interp.natives import find
from sacpy.interp.natives.scanning import scan_text
from sacpy.interp.world import World
from sacpy.lang.scan_formats import STRING, scan_bases

LIBC = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6")


def scanned(text: bytes, fmt: bytes):
    return scan_text(text, fmt, scan_bases(fmt.decode()))


def test_a_format_says_what_it_stores():
    assert scan_bases("%d %ld%lf %f,%c %s %*d %[a-z]%% %hhu %u %lu %lld") == (
        "int",
        "long",
        "double",
        "float",
        "char",
        STRING,
        STRING,
        "ubyte",
        "uint",
        "ulong",
        "longlong",
    )
    assert scan_bases("no conversions 100%%") == ()
    assert scan_bases("%[]]%d") == (STRING, "int")


@pytest.mark.parametrize(
    ("text", "fmt", "expected"),
    [
        (b"12 3.5 hello", b"%d %lf %s", (3, 12, 3.5, b"hello")),
        (b"", b"%d", (-1, 0)),
        (b"   ", b"%d", (-1, 0)),
        (b"abc", b"%d", (0, 0)),
        (b"1 abc", b"%d%d", (1, 1, 0)),
        (b"1", b"%d %d", (1, 1, 0)),
        (b"(1.5,-2e3)", b"(%lf,%lf)", (2, 1.5, -2000.0)),
        (b"x: 7", b"x : %d", (1, 7)),
        (b"12345", b"%2d%d", (2, 12, 345)),
        (b"1 2 3", b"%*d %d", (1, 2)),
        (b"ab", b"%c%c", (2, 97, 98)),
        (b" a", b" %c", (1, 97)),
        (b"0x1f 010 ff 17", b"%i %i %x %o", (4, 31, 8, 255, 15)),
        (b"4294967295 -1", b"%d %u", (2, -1, 4294967295)),
        (b"abc123]", b"%[a-c]%[^]]", (2, b"abc", b"123")),
        (b"50%", b"%d%%", (1, 50)),
        (b"inf -nan 1e5", b"%lf %*f %lf", (2, float("inf"), 100000.0)),
        (b"1e x", b"%lf %c", (2, 1.0, 120)),
        (b"-", b"%d", (0, 0)),
        (b"0.1", b"%f", (1, 0.10000000149011612)),
        (b".5 5.", b"%lf%lf", (2, 0.5, 5.0)),
    ],
)
def test_scanning(text, fmt, expected):
    assert scanned(text, fmt) == expected


@settings(max_examples=400, deadline=None)
@given(st.text("0123456789+-. eEx,", max_size=12), st.sampled_from((b"%d %d", b"%d,%d", b"%i%i", b"%3d%2d", b"%x %o")))
def test_integers_agree_with_c(text, fmt):
    a, b = ctypes.c_int(0), ctypes.c_int(0)
    count = LIBC.sscanf(text.encode(), fmt, ctypes.byref(a), ctypes.byref(b))
    ours = scanned(text.encode(), fmt)
    assert (ours[0], *(v - (1 << 32) if v >= 1 << 31 else v for v in ours[1:])) == (count, a.value, b.value)


@settings(max_examples=400, deadline=None)
@given(st.text("0123456789+-. eE,", max_size=12))
def test_reals_agree_with_c(text):
    a, b = ctypes.c_double(0), ctypes.c_double(0)
    count = LIBC.sscanf(text.encode(), b"%lf %lf", ctypes.byref(a), ctypes.byref(b))
    assert scanned(text.encode(), b"%lf %lf") == (count, a.value, b.value)


def test_results_must_match_the_format():
    with pytest.raises(Fault, match="stores 1 value, but the call has 2 results"):
        scan_text(b"1", b"%d", ("int", "int"))
    with pytest.raises(Fault, match="reads a value of type int, but result 1 is of type double"):
        scan_text(b"1", b"%d", ("double",))
    with pytest.raises(Fault, match="`%y`"):
        scan_text(b"1", b"%y", ())
    assert scan_text(b"1", b"%ld", ("longlong",)) == (1, 1)


class Trickle:
    """A file that gives one byte at a time, as a slow pipe does."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, size: int = -1) -> bytes:
        first, self.data = self.data[:1], self.data[1:]
        return first

    def write(self, data: bytes) -> int:
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        raise OSError

    def tell(self) -> int:
        raise OSError

    def close(self) -> None:
        return None


def test_numbers_that_arrive_in_pieces_are_whole():
    import io

    world = World(Trickle(b"  -123.5e1 42\nrest"), io.BytesIO(), io.BytesIO())
    scanf = find("TermFile::scanf/1...")
    assert scanf is not None
    assert scanf(world, b"%lf %d", result_bases=("double", "int")) == (2, -1235.0, 42)
    assert world.stdin.readline(100) == b"\n"
    assert world.stdin.readline(100) == b"rest"


def test_an_interactive_reader_waits_for_no_more_than_it_needs():
    class Line(Trickle):
        def read(self, size: int = -1) -> bytes:
            assert self.data, "asked for more although the line was enough"
            line, self.data = self.data, b""
            return line

    import io

    world = World(Line(b"5\n"), io.BytesIO(), io.BytesIO())
    reader = find("ScalarIO::scanint/0")
    assert reader is not None
    assert reader(world) == (True, 5)
