"""Objects loaded without LLVM: what they do, and what is refused."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from sacpy.jit.host import objects
from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.loading import Library
from sacpy.jit.host.objects import RELA, SECTION, Image, Unknown
from sacpy.jit.options import Options
from tests.tools import ROOT

pytestmark = pytest.mark.skipif(not objects.suits(), reason="objects of x86-64 Linux")
IR = """
@count = internal global i64 5
@table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
declare double @cos(double)
declare i64 @outside(i64)
define i64 @next(i64 %x) {
  %c = load i64, ptr @count
  %n = add i64 %c, %x
  store i64 %n, ptr @count
  %r = call i64 @outside(i64 %n)
  ret i64 %r
}
define double @pick(i64 %i) {
  %at = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %v = load double, ptr %at
  %z = call double @cos(double 0.0)
  %s = fadd double %v, %z
  ret double %s
}
"""


@pytest.fixture(scope="module")
def code() -> bytes:
    return compile_object(IR, Options())


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def double_of(x: int) -> int:
    return 2 * x


def resolve(name: str) -> int:
    found = {
        "outside": ctypes.cast(double_of, ctypes.c_void_p).value,
        "cos": ctypes.cast(ctypes.CDLL("libm.so.6").cos, ctypes.c_void_p).value,
    }
    return found[name] or 0


def test_code_calls_out_reads_tables_and_keeps_its_variables(code: bytes) -> None:
    first, second = Image([code], resolve), Image([code], resolve)
    for image in (first, second):  # each has variables of its own
        step = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(image.address("next"))
        assert [step(1), step(10)] == [12, 32]
    pick = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(first.address("pick"))
    assert [pick(i) for i in range(4)] == [2.5, 3.5, 4.5, 5.5]


def test_code_cannot_be_written_and_data_cannot_be_executed(code: bytes) -> None:
    image = Image([code], resolve)
    rights = {
        line.split()[1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if int(line.split("-")[0], 16) <= image.address("pick") < int(line.split()[0].split("-")[1], 16)
    }
    assert rights == {"r-xp"}


def test_a_function_that_is_not_there_is_a_key_error(code: bytes) -> None:
    with pytest.raises(KeyError):
        Image([code], resolve).address("other")


def test_relocations_that_are_not_known_are_refused(code: bytes) -> None:
    changed = bytearray(code)
    at, count, _ = objects.HEADER.unpack_from(code)
    sections = [SECTION.unpack_from(code, at + SECTION.size * k) for k in range(count)]
    text = next(s for s in sections if s[1] == RELA)
    for entry in range(text[4], text[4] + text[5], 24):
        (info,) = struct.unpack_from("<Q", code, entry + 8)
        struct.pack_into("<Q", changed, entry + 8, info & ~0xFFFFFFFF | 9)  # a GOT, which objects of ours have not
    with pytest.raises(Unknown):
        Image([bytes(changed)], resolve)
    library = Library(code, ("pick",), {"outside": 1})
    assert library.address("pick")


CALLER = """
declare hidden i64 @next(i64)
declare i64 @outside(i64)
@where = internal constant ptr @next
define i64 @twice(i64 %x) {
  %f = load volatile ptr, ptr @where
  %a = call i64 @next(i64 %x)
  %b = call i64 %f(i64 %a)
  %c = call i64 @outside(i64 %b)
  ret i64 %c
}
"""


@pytest.mark.parametrize("by_llvm", [False, True])
def test_objects_of_a_bundle_call_each_other(code: bytes, by_llvm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if by_llvm:
        monkeypatch.setattr(objects, "suits", lambda: False)
    caller = compile_object(CALLER, Options())
    for codes in ([code, caller], [caller, code]):
        bundle = objects.bundled(codes)
        assert objects.unbundled(bundle) == codes
        outside = ctypes.cast(double_of, ctypes.c_void_p).value or 0
        library = Library(bundle, ("twice", "pick"), {"outside": outside})
        assert (library._image is None) == by_llvm
        twice = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.address("twice"))
        assert [twice(1), twice(0)] == [2 * 2 * (6 + 12), 2 * 2 * (18 + 36)]
        assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(library.address("pick"))(3) == 5.5


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(60), b"MZ" + bytes(100)])
def test_what_is_no_such_object_is_refused(data: bytes) -> None:
    with pytest.raises((Unknown, struct.error)):
        Image([data], resolve)


RUN = """
import sys
from sacpy.cli import main
assert main(["run", "--threads", "1", sys.argv[1]]) == 0
assert sys.argv[2] == "first" or "llvmlite" not in sys.modules
assert "sacpy.jit.host.native" in sys.modules
"""


def test_a_second_run_of_a_program_loads_no_llvm(tmp_path: Path) -> None:
    import os

    program = tmp_path / "p.sac"
    program.write_text(
        "use Array: all; use StdIO: all; int f(int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 31 + i) % 1000003; "
        "} return s; } int main() { print(f(3000000)); return 0; }"
    )
    environment = {**os.environ, "SACPY_CACHE_DIR": str(tmp_path / "cache")}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", RUN, str(program), which], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        for which in ("first", "second")
    ]
    assert [o.stderr for o in outputs] == ["", ""]
    assert outputs[0].stdout == outputs[1].stdout
