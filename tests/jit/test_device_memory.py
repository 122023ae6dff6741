"""Arrays move when they are needed elsewhere, and no more; memory that was given back is used again; a full device
sends arrays to the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sacpy.jit.cache import Cache
from sacpy.jit.device.emulated import EmulatorMachine
from sacpy.jit.device.memory import ELEMENTS, DeviceArray, Memory
from sacpy.jit.device.storage import Account
from sacpy.jit.failures import OutOfMemory
from sacpy.withloop.devices import DEVICES
from tests.jit.kernel_programs import PROGRAMS


def memory_of(size: int | None = None) -> Memory:
    return Memory(EmulatorMachine(DEVICES["sm_90"], memory=size, check=True))


def counted(memory: Memory) -> tuple[int, int, int, int]:
    t = memory.transfers
    return t.times_in, t.bytes_in, t.times_out, t.bytes_out


def test_nothing_is_sent_before_it_is_needed() -> None:
    memory = memory_of()
    a = memory.of(np.arange(10.0), "double")
    assert a.host().tolist() == list(range(10))
    assert counted(memory) == (0, 0, 0, 0)
    assert not a.on_device
    a.address()
    a.address()
    assert counted(memory) == (1, 80, 0, 0)
    assert a.host()[3] == 3.0
    assert counted(memory) == (1, 80, 0, 0)


def test_what_the_device_wrote_is_fetched_once() -> None:
    memory = memory_of()
    a = memory.of(np.arange(4, dtype=np.int32), "int")
    memory.machine.copy_in(a.address(), np.array([7, 8, 9, 10], np.int32))
    a.written()
    assert a.host().tolist() == [7, 8, 9, 10]
    assert a.host().tolist() == [7, 8, 9, 10]
    assert counted(memory)[2:] == (1, 16)


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (1,), (1, 1, 1)])
def test_empty_arrays_and_single_elements(shape: tuple[int, ...]) -> None:
    memory = memory_of()
    a = memory.new("double", shape)
    assert a.host().shape == shape
    b = memory.copied(memory.of(np.ones(shape), "double"))
    assert b.host().tolist() == np.ones(shape).tolist()
    assert a.address()


def test_single_elements_are_read_singly_until_there_are_many() -> None:
    memory = memory_of()
    a = memory.copied(memory.of(np.arange(1000.0), "double"))
    assert [a.element(k) for k in range(ELEMENTS)] == list(range(ELEMENTS))
    assert counted(memory)[3] == 8 * ELEMENTS
    assert a.element(500) == 500.0
    assert a.element(501) == 501.0
    assert counted(memory)[3] == 8 * ELEMENTS + 8000
    short = memory.copied(memory.of(np.arange(8.0), "double"))
    assert short.element(3) + short.element(4) == 7.0
    assert counted(memory)[3] == 8 * ELEMENTS + 8000 + 64


def test_views_share_the_elements_wherever_they_are() -> None:
    memory = memory_of()
    a = memory.of(np.arange(12.0).reshape(3, 4), "double")
    row = a.view((4,), 4)
    assert row.address() == a.address() + 32
    assert row.host().tolist() == [4.0, 5.0, 6.0, 7.0]
    assert counted(memory)[0] == 1
    assert not a.own


def test_who_holds_an_array_is_counted() -> None:
    memory = memory_of()
    a = memory.new("int", (5,))
    assert a.own
    b = a.share()
    assert not a.own
    del b
    assert a.own
    assert not a.view((2,)).own


def test_memory_given_back_is_used_again() -> None:
    memory = memory_of()
    for n in range(20):
        a = memory.new("double", (1000 - n,))
        del a
    assert (memory.transfers.allocated, memory.transfers.reused) == (1, 19)
    assert memory.used == 0
    memory.trim()
    assert memory.pooled == 0


def test_a_full_device_sends_away_what_was_not_used_for_longest() -> None:
    memory = memory_of(32_000)
    arrays = []
    for k in range(3):
        arrays.append(memory.copied(memory.of(np.full(1000, float(k)), "double")))
        memory.let_go()
    assert memory.transfers.spilled
    assert [a.host()[999] for a in arrays] == [0.0, 1.0, 2.0]
    assert memory.account.notes == [
        "the memory of the emulated sm_90 is full: arrays that were not used for longest went back to the host"
    ]
    arrays[0].address()
    assert arrays[0].host()[0] == 0.0


def test_what_a_launch_uses_stays() -> None:
    memory = memory_of(20_000)
    arrays: list[DeviceArray] = [memory.new("double", (1000,)) for _ in range(2)]
    with pytest.raises(OutOfMemory):
        memory.new("double", (1000,))
    memory.let_go()
    memory.new("double", (1000,))
    assert sum(a.on_device for a in arrays) == 1


def test_larger_than_the_device() -> None:
    memory = memory_of(1000)
    with pytest.raises(OutOfMemory) as full:
        memory.new("double", (1000,))
    assert full.value.size == 8000


def test_what_somebody_else_lends_is_neither_kept_nor_pooled() -> None:
    memory = memory_of()
    theirs = memory.machine.allocate(80)
    memory.machine.copy_in(theirs.address, np.arange(10.0))
    a = memory.adopt(theirs, "double", (10,))
    assert a.host().tolist() == list(range(10))
    assert not a.own
    del a
    assert memory.pooled == 0


def test_kernels_of_the_emulator_are_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kernel = PROGRAMS["interior"]().kernel
    EmulatorMachine(DEVICES["sm_90"], cache=cache).prepare(kernel)
    (name,) = [p.stem for p in tmp_path.iterdir()]
    cache.write(name, b"no code")
    EmulatorMachine(DEVICES["sm_90"], cache=cache).prepare(kernel)
    good = cache.read(name)
    assert good is not None
    assert len(good) > 500
    EmulatorMachine(DEVICES["sm_90"], cache=cache).prepare(kernel)
    EmulatorMachine(DEVICES["sm_90"], cache=cache, check=True).prepare(kernel)
    assert cache.info().files == 2


def test_each_user_of_a_memory_has_his_own_limit() -> None:
    memory = memory_of(1 << 20)
    small, large = Account(most=10_000), Account()
    with memory.charged(large):
        kept = memory.new("double", (5000,))
        with memory.charged(small), pytest.raises(OutOfMemory):
            memory.new("double", (5000,))
        again = memory.new("double", (5000,))
    assert kept.on_device and again.on_device
