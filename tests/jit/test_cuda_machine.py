"""What the machine for GPUs asks of cuda.core. There is no GPU here: a stand-in notes the calls, and the emulator does
what the kernels would; that the driver does likewise is for `make gpu`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.context import Device, Hardware, real
from sacpy.jit.device.cubins import Cubin, Cubins
from sacpy.jit.device.cuda import PINNED, STAGED, CudaMachine, devices
from sacpy.jit.device.dlpack import Tensor, to_capsule
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.machine import DeviceFailure, DeviceFull
from sacpy.jit.device.memory import Memory
from sacpy.jit.device.weigh import Policy
from sacpy.jit.emission.assemble import Resources
from sacpy.jit.failures import CheckFailed
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.run.engine import Engine
from sacpy.jit.run.on_demand import OnDemand
from sacpy.session import Session
from sacpy.withloop.devices import DEVICES
from tests.jit.fake_cuda import FakeCuda, FakeDriver
from tests.jit.kernel_programs import P
from tests.tools import through

LAUNCH_CALLS = 32  # functions of sacpy between a prepared launch and the driver


class Assembler:
    """Makes empty cubins, whose launches run on the emulator; counts."""

    def __init__(self, fake: FakeCuda) -> None:
        self.fake = fake
        self.made: list[tuple[str, str]] = []
        self.emulator = EmulatorMachine(DEVICES["sm_90"])

    def __call__(self, kernel: Kernel, architecture: str) -> Cubin:
        name = f"k{len(self.made)}"
        self.made.append((kernel.name, architecture))
        ready = self.emulator.prepare(kernel)

        def run(grid: Any, block: Any, args: list[Any]) -> None:
            word = args[-1]
            self.emulator.launch(ready, grid[::-1], block[::-1], args[: len(kernel.params)])
            try:
                self.emulator.synchronise()
            except CheckFailed:
                np.ctypeslib.as_array((np.ctypeslib.ctypes.c_int32 * 1).from_address(word))[0] = 1

        self.fake.kernels[name] = run
        return Cubin(b"", name, ("a check",), Resources(8, 0, 0, 0, 0), ("none", "none"))


def machine_of(fake: FakeCuda) -> CudaMachine:
    return CudaMachine(assemble=Assembler(fake), core=fake)


def test_limits_are_the_devices() -> None:
    machine = machine_of(FakeCuda())
    known = DEVICES["sm_90"]
    assert (machine.limits, machine.name, machine.interface) == (known, "Fake H100", (2, 0))


def test_too_old_and_absent_devices_are_refused_in_words() -> None:
    with pytest.raises(DeviceFailure, match="sm_70, and sacpy needs sm_75"):
        machine_of(FakeCuda(capability=(7, 0)))
    with pytest.raises(DeviceFailure, match="driver says: CUDA_ERROR_INVALID_DEVICE"):
        machine_of(FakeCuda(gpus=0))
    assert devices(FakeCuda(gpus=3)) == 3


@pytest.mark.parametrize("size", [1, STAGED - 1, STAGED, PINNED, 2 * PINNED + 5, 3 * PINNED])
def test_transfers_arrive_whole_large_ones_through_pinned_memory(size: int) -> None:
    fake = FakeCuda()
    machine = machine_of(fake)
    source = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    block = machine.allocate(size)
    machine.copy_in(block.address, source)
    back = np.zeros_like(source)
    machine.copy_out(back, block.address)
    assert (back == source).all()
    assert len(fake.asked("pinned")) == (0 if size < STAGED else 1 if size <= PINNED else 2)


def test_a_full_device_is_told_from_other_failures() -> None:
    fake = FakeCuda(memory=1000)
    machine = machine_of(fake)
    with pytest.raises(DeviceFull):
        machine.allocate(2000)
    block = machine.allocate(500)
    machine.free(block)
    assert fake.used == 8  # what failed, and how many blocks have come


def test_arrays_spill_to_the_host_when_the_gpu_is_full() -> None:
    memory = Memory(machine_of(FakeCuda(memory=40_000)))
    arrays = [memory.of(np.full(2000, k, np.float64), "double") for k in range(4)]
    for a in arrays:
        a.address()
        memory.let_go()
    assert memory.transfers.spilled == 2
    assert [float(a.host().sum()) for a in arrays] == [0.0, 2000.0, 4000.0, 6000.0]


def test_which_gpu_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACPY_GPU", "first")
    with pytest.raises(DeviceFailure, match="SACPY_GPU is the number of a GPU, from 0, and not 'first'"):
        real()


def test_a_missing_driver_is_said_to_be_missing() -> None:
    class DynamicLibNotFoundError(RuntimeError):
        pass

    for error in (
        DynamicLibNotFoundError('"cuda" is an NVIDIA driver library'),
        RuntimeError("Failed to dlopen libcuda.so.1"),
    ):

        def none(*_: Any, error: Exception = error) -> Any:
            raise error

        fake = FakeCuda()
        fake.Device = none  # type: ignore[assignment]
        with pytest.raises(DeviceFailure, match=r"needs an NVIDIA GPU with its driver.*; the driver is missing"):
            machine_of(fake)


def test_streams_wait_for_each_other() -> None:
    fake = FakeCuda()
    machine = machine_of(fake)
    machine.wait_for(1)
    machine.let_wait(99)
    assert fake.calls[-4:] == [("record", 1), ("wait", 7000), ("record", 7000), ("wait", 99)]


def test_every_thread_may_use_the_device() -> None:
    gpu = GpuSession(FakeCuda())
    v = gpu.hardware.memory.of(np.arange(1000.0), "double")
    gpu.module.blur(v)
    with ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: gpu.module.blur(v).numpy()[1]).result() == 1.0
        assert other.submit(lambda: gpu.module.blur(v)).result().numpy()[2] == 2.0


def test_sessions_of_several_threads_share_a_device() -> None:
    first = GpuSession(FakeCuda())
    first.fake.launch = slowly(first.fake.launch)
    sessions = [first, *(GpuSession(first.fake, first.hardware) for _ in range(3))]
    for gpu in sessions:
        gpu.module.times(np.ones(100), 2.0)
    assert len(first.fake.asked("load")) == 1
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda k: (k, sessions[k % 4].module.times(np.ones(100), float(k))), range(80))
        assert [k for k, r in found if not (r == k).all()] == []


def slowly(launch: Any) -> Any:
    def slow(*args: Any) -> None:
        sleep(0)  # other threads go on here
        launch(*args)

    return slow


def test_much_shared_memory_is_asked_for() -> None:
    p = P("much", [1], [4])
    n = p.scalar("n")
    r = p.result("r", "int", 4)
    held = p.allocate("shared", "int", n)
    with p.forall(4) as (t, x):
        t.store(held, x, x)
        t.store(r, x, t.load(held, x))
    fake = FakeCuda()
    machine = CudaMachine(assemble=Assembler(fake), core=fake, driver=FakeDriver(200_000))
    ready = machine.prepare(p.kernel())
    fake.kernels = dict.fromkeys(fake.kernels, lambda *_: None)
    for words in (4, 20_000, 30_000, 20_000):
        machine.launch(ready, (1, 1, 1), (4, 1, 1), [words, 0])
    assert [call[-1] for call in fake.asked("launch")] == [16, 80_000, 120_000, 80_000]
    with pytest.raises(DeviceFailure, match="gives a block no 240000 bytes of shared memory: CUDA_ERROR_INVALID_VALUE"):
        machine.launch(ready, (1, 1, 1), (4, 1, 1), [60_000, 0])


def test_without_an_assembler_the_driver_s_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacpy.jit.emission.toolchain.nvjitlink", lambda: None)
    monkeypatch.setattr("sacpy.jit.emission.toolchain.program", lambda name: None)
    p = P("little", [1], [4])
    r = p.result("r", "int", 4)
    with p.forall(4) as (t, x):
        t.store(r, x, x)
    fake = FakeCuda()
    ready = CudaMachine(assemble=Cubins(Cache(None)), core=fake).prepare(p.kernel())
    assert fake.asked("assemble") == [("assemble", "sac_little")]
    assert b".visible .entry sac_little(" in ready.cubin.code
    assert ready.cubin.resources == Resources(32, 0, 8, 0, 0)


SOURCE = """
use Array: all;

double[n] blur(double[n] v) { return { [i] -> (v[i - 1] + v[i + 1]) / 2.0 | [1] <= [i] < [n - 1];
  [i] -> v[i] | [i] < [n] }; }
double[n] times(double[n] v, double k) { return { [i] -> v[i] * k | [i] < [n] }; }
int[.] at(int[n] v, int[m] w) { return { [i] -> v[w[i]] | [i] < [m] }; }
"""


class GpuSession:
    """A session whose GPU is the stand-in."""

    def __init__(self, fake: FakeCuda, hardware: Hardware | None = None) -> None:
        self.fake = fake
        self.assembler = Assembler(fake)
        engine = Engine("cuda", eager=True, defects=True)
        self.hardware = hardware or Hardware(CudaMachine(assemble=self.assembler, core=fake))
        engine.tools.device = Device(self.hardware, Policy(always=True))
        self.session = Session(target="cuda")
        on_demand = OnDemand("cuda")
        on_demand._engine = engine
        self.session._workspace.use(on_demand)
        self.module = self.session.define(SOURCE)


def test_functions_run_as_launches_and_kernels_are_loaded_once() -> None:
    gpu = GpuSession(FakeCuda())
    v = np.arange(3000.0) ** 2
    for size in (3000, 2000, 3000):
        found = gpu.module.blur(v[:size])
        wanted = v[:size].copy()
        wanted[1:-1] = (v[: size - 2] + v[2:size]) / 2
        assert (found == wanted).all()
    launches = gpu.fake.asked("launch")
    assert launches
    assert len(gpu.fake.asked("load")) == len(gpu.assembler.made) < len(launches)
    assert {architecture for _, architecture in gpu.assembler.made} == {"sm_90"}


def test_arrays_on_the_gpu_stay_there() -> None:
    gpu = GpuSession(FakeCuda())
    memory = gpu.hardware.memory
    v = memory.of(np.arange(5000.0), "double")
    w = v
    for _ in range(4):
        w = gpu.module.blur(w)
    assert (memory.transfers.times_in, memory.transfers.times_out) == (1, 0)
    assert w.__dlpack_device__() == (2, 0)
    told = w.__cuda_array_interface__
    assert (told["shape"], told["typestr"], told["data"], told["stream"]) == ((5000,), "<f8", (w.address(), True), 7000)
    assert w.numpy()[0] == 0.0


class Foreign:
    """Another library's array: what CuPy shows of one."""

    def __init__(
        self, gpu: GpuSession, values: Any, strides: tuple[int, ...] | None = None, stream: int | None = None
    ) -> None:
        self.block = gpu.hardware.machine.allocate(values.nbytes)
        gpu.hardware.machine.copy_in(self.block.address, values)
        self.__cuda_array_interface__ = {
            "shape": values.shape,
            "typestr": values.dtype.str,
            "data": (self.block.address, False),
            "version": 3,
            "strides": strides,
            "stream": stream,
        }


def test_arrays_of_other_libraries_come_in_without_a_copy() -> None:
    gpu = GpuSession(FakeCuda())
    values = np.arange(4000.0)
    theirs = Foreign(gpu, values, stream=55)
    before = len(gpu.fake.asked("copy"))
    found = gpu.module.blur(theirs)
    assert len(gpu.fake.asked("copy")) - before <= 1  # the check word
    assert gpu.hardware.memory.transfers.times_in == 0
    assert ("record", 55) in gpu.fake.calls
    # who changes his array now does so behind our kernels
    assert gpu.fake.calls.index(("wait", 55)) > gpu.fake.calls.index(gpu.fake.asked("launch")[-1])
    assert found.numpy()[1:-1].tolist() == values[1:-1].tolist()


def test_who_lends_an_array_without_a_stream_is_waited_for() -> None:
    gpu = GpuSession(FakeCuda())
    theirs = Foreign(gpu, np.arange(4000.0))
    gpu.module.blur(theirs)
    assert gpu.fake.calls[-1] == ("sync", 7000)
    theirs.__cuda_array_interface__["version"] = 2
    gpu.module.blur(theirs)
    assert ("record", 1) in gpu.fake.calls


class Tensorlike(Foreign):
    """What PyTorch shows: an interface that names no stream, and DLPack, which knows about streams."""

    def __init__(self, gpu: GpuSession, values: Any) -> None:
        super().__init__(gpu, values)
        self.__cuda_array_interface__["version"] = 2
        self.asked: list[int] = []
        self.values = values

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int) -> Any:
        self.asked.append(stream)
        return to_capsule(Tensor(self.block.address, self.values.dtype, self.values.shape, None, (2, 0), self))


def test_libraries_that_order_their_streams_through_dlpack_are_asked_to() -> None:
    gpu = GpuSession(FakeCuda())
    theirs = Tensorlike(gpu, np.arange(1000.0))
    assert gpu.module.blur(theirs).numpy()[1] == 1.0
    assert theirs.asked == [gpu.hardware.machine.stream]


def test_what_others_look_at_is_not_sent_away() -> None:
    memory = Memory(machine_of(FakeCuda(memory=40_000)))
    arrays = [memory.of(np.full(2000, k, np.float64), "double") for k in range(4)]
    seen = arrays[0].__cuda_array_interface__["data"][0]
    for a in arrays:
        a.address()
        memory.let_go()
    assert memory.transfers.spilled == 2
    assert arrays[0].on_device and arrays[0].address() == seen
    assert not arrays[1].on_device


def test_arrays_of_other_libraries_that_are_not_dense_are_refused_in_words() -> None:
    gpu = GpuSession(FakeCuda())
    with pytest.raises(Exception, match=r"E0708.*argument 1 \(v\) of blur.*row-major order"):
        gpu.module.blur(Foreign(gpu, np.arange(100.0), strides=(16,)))


def test_a_check_in_a_kernel_reaches_the_interpreter() -> None:
    gpu = GpuSession(FakeCuda())
    memory = gpu.hardware.memory
    v = memory.of(np.arange(100, dtype=np.int32), "int")
    good = memory.of(np.array([5] * 50, np.int32), "int")
    assert gpu.module["at"](v, good).numpy().tolist() == [5] * 50
    bad = memory.of(np.array([5] * 49 + [100], np.int32), "int")
    with pytest.raises(Exception, match="E0601"):
        gpu.module["at"](v, bad)
    assert gpu.module["at"](v, good).numpy().tolist() == [5] * 50


def test_an_error_of_the_driver_is_a_message() -> None:
    gpu = GpuSession(FakeCuda())
    gpu.module.blur(np.arange(100.0))

    def broken(*_: Any) -> None:
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered")

    gpu.fake.kernels.update(dict.fromkeys(gpu.fake.kernels, broken))
    with pytest.raises(
        Exception, match=r"E0784.*the GPU does not go on: the GPU's driver says: CUDA_ERROR_ILLEGAL_ADDRESS"
    ):
        gpu.module.blur(np.arange(100.0))


def test_a_prepared_launch_goes_through_few_functions() -> None:
    """Our own part of a call of a function with one launch: everything but the driver's."""
    gpu = GpuSession(FakeCuda())
    v = gpu.hardware.memory.of(np.arange(64, dtype=np.int32), "int")
    gpu.module["at"](v, v)
    gpu.fake.launch = lambda *args: None
    (program,) = [
        x.device
        for s in gpu.session._workspace.engine.engine.entered()
        for x in s.versions.values()
        if x.device is not None
    ]
    loop = program.runtime.loops[0]
    n = len(v)
    values = tuple(v if name in ("v", "w") else n for name in loop._names)
    loop.run(gpu.hardware.memory, values, ())
    loop.run(gpu.hardware.memory, values, ())
    assert through(lambda: loop.run(gpu.hardware.memory, values, ())) <= LAUNCH_CALLS


def test_auto_takes_the_gpu_where_the_work_is_worth_the_transfers() -> None:
    fake = FakeCuda()
    engine = Engine("auto", eager=True, defects=True)
    engine.tools.gpu = True
    engine.tools.device = Device(Hardware(CudaMachine(assemble=Assembler(fake), core=fake)), Policy(transfers=True))
    session = Session()
    on_demand = OnDemand("auto")
    on_demand._engine = engine
    session._workspace.use(on_demand)
    source = (
        "use Array: all;\nuse Math: all;\ndouble[n] much(double[n] v) { return { [i] -> sin(v[i]) + cos(v[i]) + "
        "exp(sin(v[i])) + tan(v[i]) | [i] < [n] }; }\ndouble[n] little(double[n] v) { return { [i] -> v[i] + 1.0 | "
        "[i] < [n] }; }"
    )
    module = session.define(source)
    large = np.linspace(0, 1, 400_000)
    for v, launches in ((large[:100], 0), (large, 1), (large[:100], 1)):
        assert np.allclose(module.much(v), np.sin(v) + np.cos(v) + np.exp(np.sin(v)) + np.tan(v))
        assert len(fake.asked("launch")) == launches
    assert (module.little(large) == large + 1).all()
    assert len(fake.asked("launch")) == 1


def test_auto_without_a_gpu_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacpy.jit.device.presence.present", lambda: False)
    monkeypatch.setattr("sacpy.jit.device.context.gpu", lambda *_, **__: pytest.fail("there is none"))
    module = Session().define(
        "use Array: all;\ndouble[n] next(double[n] v) { return { [i] -> v[i] + 1.0 | [i] < [n] }; }"
    )
    assert module.next(np.arange(300_000.0))[-1] == 300_000.0
