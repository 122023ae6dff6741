"""Arrays on a device, from Python: on the emulator they are in memory of their own, and go the same ways as on a
GPU."""

from __future__ import annotations

import contextlib
import gc
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sacpy
from sacpy.embedding.runner import MISSED
from sacpy.interp.limits import Limits
from sacpy.jit.device.dlpack import Tensor, from_capsule, is_dense, to_capsule
from sacpy.jit.device.interop import adopted

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "gpu.md").read_text(encoding="utf-8")

SOURCE = """
use Array: all;

double[n] next(double[n] v) { return { [i] -> v[i] * 2.0 + 1.0 | [i] < [n] }; }
double total(double[n] v) { return sum(v); }
double[n], int halves(double[n] v) { return ({ [i] -> v[i] * 0.5 | [i] < [n] }, n); }
int[.] drawn(int[*] v, int k) { return take([k], reshape([prod(shape(v))], v)); }
int[*] same(int[*] v) { return v; }
complex[n] twice(complex[n] z) { return { [i] -> z[i] + z[i] | [i] < [n] }; }
"""


@pytest.fixture(scope="module")
def module() -> Any:
    return sacpy.Session(target="emulator").define(
        SOURCE.replace("use Array: all;", "use Structures: all;\nuse Array: all;")
    )


def on_device(a: Any) -> Any:
    return sacpy.to_device(a, "emulator")


def test_results_stay_where_they_are_made(module: Any) -> None:
    v = on_device(np.arange(100_000.0))
    w = module.next(module.next(v))
    assert isinstance(w, sacpy.DeviceArray)
    assert w.on_device
    assert not w.on_host
    assert (w.numpy() == np.arange(100_000.0) * 4 + 3).all()
    assert (v.numpy() == np.arange(100_000.0)).all()
    assert isinstance(module.total(w), float)
    halves, n = module.halves(w)
    assert (type(n), n, halves.shape) == (int, 100_000, (100_000,))


def test_what_it_is() -> None:
    v = on_device(np.ones((3, 4), np.float32))
    assert (v.shape, v.dtype, v.ndim, v.size, v.nbytes, v.base, len(v)) == ((3, 4), np.float32, 2, 12, 48, "float", 3)
    assert repr(v) == "<sacpy.DeviceArray float[3, 4] on host>"
    v.address()
    assert repr(v) == "<sacpy.DeviceArray float[3, 4] on host and the emulated sm_90>"


def test_copies_are_the_callers_and_views_are_not() -> None:
    v = on_device(np.arange(5.0))
    mine = v.numpy()
    mine[0] = 9.0
    assert v.host()[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        v.host()[0] = 1.0
    assert np.asarray(v).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.asarray(v, np.float32).dtype == np.float32


def gated(function: Any, *args: Any) -> bool:
    """Whether a call with these arguments goes straight to the device."""
    return function.gate(*args) is not MISSED


def test_calls_of_known_shapes_go_straight_to_the_device() -> None:
    session = sacpy.Session(target="emulator")
    module = session.define(
        "use Array: all;\n"
        "double[n] scaled(double[n] v, double k) { return { [i] -> v[i] * k | [i] < [n] }; }\n"
        "int[.] at(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }\n"
        "double[.,.] outer(double[n] v, double[m] w) { return { [i,j] -> v[i] * w[j] | [i,j] < [n,m] }; }"
    )
    host = np.arange(70_000.0)
    v, short = on_device(host), on_device(host[:60_000])
    assert not gated(module.scaled, v, 2.0)
    for _ in range(3):
        assert (module.scaled(v, 2.0).numpy() == host * 2.0).all()
    assert gated(module.scaled, v, 3.0)
    assert (module.scaled(v, 3.0).numpy() == host * 3.0).all()
    assert not gated(module.scaled, short, 3.0)  # another shape
    assert (module.scaled(short, 3.0).numpy() == host[:60_000] * 3.0).all()
    assert gated(module.scaled, short, 3.0) and gated(module.scaled, v, 3.0)
    for wrong in ((v, 2), (v, True), (v,), (v, 2.0, 1), (host, 2.0), (on_device(host.astype(np.float32)), 2.0)):
        assert not gated(module.scaled, *wrong)
    assert (module.scaled(v, 2).numpy() == host * 2.0).all()
    # what a check refuses is told as ever
    good, bad = np.full(70_000, 7, np.int32), np.full(70_000, 7, np.int32)
    bad[66_000] = 70_000
    a, b, c = (on_device(x) for x in (np.arange(70_000, dtype=np.int32), good, bad))
    for _ in range(3):
        assert (module.at(a, b).numpy() == 7).all()
    assert gated(module.at, a, b) and not gated(module.at, a, c)
    with pytest.raises(sacpy.SacError, match="E0601"):
        module.at(a, c)
    assert (module.at(a, b).numpy() == 7).all()
    # where time is limited somebody has to watch
    limited = sacpy.Session(target="emulator", limits=Limits(seconds=20.0)).define(
        "double[n] scaled(double[n] v, double k) { return { [i] -> v[i] * k | [i] < [n] }; }"
    )
    for _ in range(3):
        assert (limited.scaled(v, 2.0).numpy() == host * 2.0).all()
    assert not gated(limited.scaled, v, 2.0)


def test_functions_choose_by_shape(module: Any) -> None:
    v = on_device(np.arange(12, dtype=np.int32).reshape(3, 4))
    assert module.drawn(v, 5).numpy().tolist() == [0, 1, 2, 3, 4]
    same = module.same(v)
    assert same.numpy().tolist() == v.numpy().tolist()
    assert (module["+"](v, v).numpy() == 2 * v.numpy()).all()


def test_an_update_does_not_reach_the_argument(module: Any) -> None:
    session = sacpy.Session(target="emulator")
    poked = session.define(
        "use Array: all;\ndouble[n] poked(double[n] v) { w = { [i] -> v[i] + 1.0 | [i] < [n] }; v[0] = 77.0; return v "
        "+ w; }"
    ).poked
    v = on_device(np.arange(50_000.0))
    assert poked(v).numpy()[0] == 78.0
    assert v.numpy()[0] == 0.0


def test_errors_are_those_of_any_call(module: Any) -> None:
    with pytest.raises(sacpy.SacError, match=r"E0708.*an array of bool is not double"):
        module.next(on_device(np.array([True, False])))
    with pytest.raises(sacpy.SacError, match="E0619"):
        module.next(on_device(np.ones((2, 2))))
    with pytest.raises(TypeError, match="a scalar is no array"):
        on_device(3.0)
    with pytest.raises(TypeError, match="no base type for elements of float16"):
        on_device(np.ones(3, np.float16))
    with pytest.raises(ValueError, match="there is no device 'tpu'"):
        sacpy.to_device(np.ones(3), "tpu")
    with pytest.raises(ValueError, match="there is no device 'sm_1'"):
        sacpy.to_device(np.ones(3), "emulator", "sm_1")
    with pytest.raises(ValueError, match="there is no device"):
        sacpy.Session(device="sm_1")


@pytest.mark.parametrize("target", ["interp", "cpu"])
def test_sessions_without_a_device_take_them_too(target: str) -> None:
    following = (
        sacpy.Session(target=target)
        .define("use Array: all;\ndouble[n] next(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }")
        .next
    )
    assert following(on_device(np.arange(3.0))).tolist() == [1.0, 2.0, 3.0]


def test_other_sorts_of_values_come_to_the_host(module: Any) -> None:
    z = np.array([1 + 2j, 3 - 1j])
    assert module.twice(z).tolist() == [2 + 4j, 6 - 2j]


def test_without_a_gpu_it_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacpy.jit.device import context, presence
    from sacpy.jit.device.machine import DeviceFailure

    def none(*_: Any) -> Any:
        raise DeviceFailure("no driver")

    monkeypatch.setattr(context, "real", none)
    with pytest.raises(sacpy.SacError, match=r"E0782.*there is no GPU to run on: no driver"):
        sacpy.to_device(np.ones(3), "cuda")
    with pytest.raises(sacpy.SacError, match=r"E0782"):
        sacpy.Session(target="cuda").eval("1 + 1")
    monkeypatch.setattr(presence, "present", lambda: False)
    assert sacpy.to_device(np.ones(3)).memory.machine.name == "the emulated sm_90"


def test_the_limit_on_memory_holds_on_the_emulator() -> None:
    session = sacpy.Session(target="emulator", limits=sacpy.Limits(memory=50_000_000))
    wide = session.define("use Array: all;\ndouble[n] wide(int n) { return { [i] -> tod(i) * 0.5 | [i] < [n] }; }").wide
    assert wide(1_000_000)[-1] == 499_999.5
    with pytest.raises(sacpy.SacError, match="E0703"):
        wide(100_000_000)
    assert wide(1_000_000)[-1] == 499_999.5


# ---------------------------------------------------------------- DLPack


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i8", "u1", "i2"])
def test_numpy_looks_at_the_same_memory(dtype: str) -> None:
    v = on_device(np.arange(24, dtype=dtype).reshape(2, 3, 4))
    seen = np.from_dlpack(v)
    assert (seen.dtype, seen.shape) == (np.dtype(dtype), (2, 3, 4))
    assert seen.ctypes.data == v.address()
    values = v.numpy().tolist()
    del v
    gc.collect()
    assert seen.tolist() == values


def test_a_copy_is_another_memory() -> None:
    v = on_device(np.arange(4.0))
    assert from_capsule(v.__dlpack__(copy=True)).address != v.address()
    with pytest.raises(BufferError):
        v.__dlpack__(dl_device=(2, 0))


def test_capsules_are_used_once_and_let_go() -> None:
    freed = []

    class Owner:
        def __del__(self) -> None:
            freed.append(1)

    a = np.arange(6.0)
    capsule = to_capsule(Tensor(a.ctypes.data, a.dtype, (2, 3), None, (1, 0), Owner()))
    found = from_capsule(capsule)
    assert (found.shape, found.strides, found.device, found.dtype) == ((2, 3), (3, 1), (1, 0), np.float64)
    with pytest.raises(ValueError, match="used already"):
        from_capsule(capsule)
    assert not freed
    del found
    gc.collect()
    assert freed == [1]
    capsule = to_capsule(Tensor(a.ctypes.data, a.dtype, (6,), None, (1, 0), Owner()))
    del capsule
    gc.collect()
    assert freed == [1, 1]


def test_arrays_of_others_come_in_through_capsules(module: Any) -> None:
    theirs = np.arange(2000.0)
    memory = on_device(np.ones(1)).memory
    before = memory.transfers.times_in
    v = adopted(memory, from_capsule(theirs.__dlpack__()))
    assert v.address() == theirs.ctypes.data
    assert module.next(v).numpy()[5] == 11.0
    assert memory.transfers.times_in == before
    with pytest.raises(ValueError, match="row-major order"):
        adopted(memory, from_capsule(theirs[::2].__dlpack__()))


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [
        ((2, 3), None, True),
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((1, 3), (99, 1), True),
        ((0, 3), (7, 7), True),
        ((), (), True),
        ((3,), (-1,), False),
    ],
)
def test_dense(shape: tuple[int, ...], strides: tuple[int, ...] | None, dense: bool) -> None:
    assert is_dense(shape, strides) == dense


def test_the_guide() -> None:
    for code, expected in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", GUIDE, re.DOTALL):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert printed.getvalue() == expected
