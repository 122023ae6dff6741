"""Where arrays are: on the host, on the device, or on both; they move when somebody needs them elsewhere.

In: host arrays, and shapes of results to come. Out: `DeviceArray`s, and for whoever needs one a host array or an
address on the device. Memory that was given back is kept in a pool, by size; when the device is full, arrays that were
not used for longest go to the host. Transfers are counted.

An array's elements lie in a `Storage`; arrays that share memory (views, the same elements under another shape) share
one. A storage counts the arrays that look at it: one that only a dead variable looks at may be overwritten.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from math import prod
from threading import RLock
from typing import Any

import numpy as np

from sacpy.interp.values import dtype_of
from sacpy.jit.device.machine import Array, Block, DeviceFull, Machine
from sacpy.jit.device.storage import Account, Fill, Storage, Transfers
from sacpy.jit.failures import OutOfMemory

GRAIN = 256  # bytes; the device's own allocations begin at multiples of that
SHORT = 64  # bytes that take no longer to fetch than one element does
ELEMENTS = 16  # single elements read from the device, after which the whole array is fetched


class DeviceArray:
    """An array that a device can work on: a base type of SaC, extents, and elements that are where they were needed
    last. It takes part in calls of SaC functions like any other array, and other libraries can look at it without a
    copy (`lending`)."""

    __slots__ = ("__weakref__", "_at", "_shape", "_storage")
    __array_priority__ = 100

    def __init__(self, storage: Storage, shape: tuple[int, ...], at: int = 0) -> None:
        self._storage = storage
        self._shape = shape
        self._at = at
        storage.looked_at += 1

    def __del__(self) -> None:
        self._storage.looked_at -= 1

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self._shape

    @property
    def base(self) -> str:
        """The base type, as SaC calls it."""
        return self._storage.base

    @property
    def dtype(self) -> np.dtype[Any]:
        """The base type, as NumPy calls it."""
        return dtype_of(self._storage.base)

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self._shape)

    @property
    def nbytes(self) -> int:
        """The bytes that the elements take."""
        return self.size * int(self.dtype.itemsize)

    def __len__(self) -> int:
        return self._shape[0]

    def __repr__(self) -> str:
        s = self._storage
        where = (
            " and ".join(
                name
                for name, there in (("host", s.host is not None), (s.memory.machine.name, s.block is not None))
                if there
            )
            or "nowhere yet"
        )
        return f"<sacpy.DeviceArray {s.base}{list(self._shape)} on {where}>"

    # ---- where it is

    @property
    def memory(self) -> Memory:
        """The memory that it moves to and from."""
        return self._storage.memory

    @property
    def on_device(self) -> bool:
        """Whether its elements are on the device."""
        return self._storage.block is not None

    @property
    def on_host(self) -> bool:
        """Whether its elements are on the host."""
        return self._storage.host is not None

    @property
    def foreign(self) -> bool:
        """Whether its elements are in memory of somebody else."""
        return self._storage.foreign

    @property
    def filled(self) -> bool:
        """Whether its elements are all the same, and nowhere yet: they need not be sent."""
        return self._storage.fill is not None and not (self.on_device or self.on_host)

    def numpy(self) -> Array:
        """The elements on the host; an array of its own, which may be changed."""
        return self.host().copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False and not self.on_host:
            raise ValueError("the elements are on the device: a copy is needed")
        found = self.host() if copy is False else self.numpy()
        return found if dtype is None or found.dtype == dtype else found.astype(dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._storage.memory.machine.interface

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """DLPack: the elements on the device, where they stay alive as long as somebody else uses them, who must not
        write them."""
        from sacpy.jit.device.lending import exported

        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError("sacpy hands an array on where it is; numpy() fetches it")
        return exported(self.memory.copied(self) if copy else self, stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What CuPy, Numba and others look for; only on a GPU. They must not write the elements."""
        from sacpy.jit.device.lending import interface

        return interface(self)

    def host(self) -> Array:
        """The elements on the host, not to be written; fetched where they are not there. Raises `CheckFailed` if a
        kernel that came before failed."""
        whole = self._storage.memory.fetched(self._storage)
        found = whole[self._at : self._at + self.size].reshape(self._shape)
        found.flags.writeable = False
        return found

    def taken(self) -> Array:
        """The elements on the host for somebody who may write them; this array is not used after."""
        whole = self._storage.memory.fetched(self._storage)
        if self.own and whole.flags.writeable:
            return whole.reshape(self._shape)
        return self.numpy()

    def lend(self) -> int:
        """The address, for others, who may look at it as long as the elements live."""
        self._storage.lent = True
        return self.address()

    def element(self, at: int) -> Any:
        """One element by its place in row-major order, as a Python scalar."""
        return self._storage.memory.element(self._storage, self._at + at)

    def address(self) -> int:
        """Where the elements begin on the device; sent there where they are not. Raises `OutOfMemory`."""
        s = self._storage
        block = s.memory.placed(s)
        return block.address + self._at * int(self.dtype.itemsize) if self._at else block.address

    # ---- others on the same elements

    def view(self, shape: tuple[int, ...], offset: int = 0) -> DeviceArray:
        """The elements from `offset` on, under another shape."""
        return DeviceArray(self._storage, shape, self._at + offset)

    def share(self) -> DeviceArray:
        """The same array once more, for another holder."""
        return DeviceArray(self._storage, self._shape, self._at)

    @property
    def own(self) -> bool:
        """Whether nobody else looks at the elements, all of which it has: then those on the device may be
        overwritten."""
        return self.looked_at_by(1)

    def looked_at_by(self, many: int) -> bool:
        """Whether so many arrays look at the elements, this one among them, which has all of them."""
        return self._storage.looked_at == many and self.size == self._storage.size and not self._storage.foreign

    def written(self) -> DeviceArray:
        """Itself, after its elements on the device were overwritten."""
        self._storage.host = None
        self._storage.reads = 0
        return self


class Charged:
    """While the memory is somebody's. No generator: one is around each call."""

    __slots__ = ("account", "before", "memory")

    def __init__(self, memory: Memory, account: Account) -> None:
        self.memory, self.account = memory, account

    def __enter__(self) -> None:
        memory = self.memory
        memory.lock.acquire()
        self.before, memory.account = memory.account, self.account
        memory.machine.stop = self.account.stop_address

    def __exit__(self, *_: object) -> None:
        memory = self.memory
        memory.account = self.before
        memory.machine.stop = self.before.stop_address
        memory.lock.release()


class Memory:
    """The memory of one machine, and all arrays that may be there. `transfers`: of all its users. `lock`: whoever uses
    the machine holds it, since sessions of several threads share one."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.lock = RLock()
        self.account = Account()  # of whoever uses it now; this one is of those who have none
        self.used = 0  # bytes in blocks of arrays
        self.pooled = 0  # bytes in blocks that wait
        self.transfers = Transfers()
        self._pool: defaultdict[int, list[Block]] = defaultdict(list)
        self._resident: dict[int, weakref.ref[Storage]] = {}  # storages on the device
        self._clock = 1  # launches so far

    def charged(self, account: Account) -> Charged:
        """Inside, the memory is this user's, and nobody else's."""
        return Charged(self, account)

    def _moved(self, size: int, out: bool) -> None:
        for counted in (self.transfers, self.account.transfers):
            if out:
                counted.bytes_out += size
                counted.times_out += 1
            else:
                counted.bytes_in += size
                counted.times_in += 1

    # ---- new arrays

    def new(self, base: str, shape: tuple[int, ...]) -> DeviceArray:
        """An array on the device, not initialised. Raises `OutOfMemory`."""
        storage = Storage(self, base, prod(shape))
        storage.used = self._clock
        storage.block = self._allocate(storage.bytes)
        self._resident[id(storage)] = weakref.ref(storage)
        return DeviceArray(storage, shape)

    def of(self, host: Array, base: str) -> DeviceArray:
        """A host array, which is not sent before somebody needs it, and never written here."""
        flat = np.ascontiguousarray(host).reshape(-1)
        return DeviceArray(Storage(self, base, flat.size, flat), host.shape)

    def filled(self, fill: Fill, base: str, shape: tuple[int, ...]) -> DeviceArray:
        """An array whose elements are all the same, made where somebody needs it."""
        return DeviceArray(Storage(self, base, prod(shape), fill=fill), shape)

    def adopt(self, block: Block, base: str, shape: tuple[int, ...], lender: int | None = None) -> DeviceArray:
        """An array in memory of the device that belongs to somebody else, who uses it in the stream `lender`."""
        return DeviceArray(Storage(self, base, prod(shape), block=block, foreign=True, lender=lender), shape)

    def done_with(self, array: DeviceArray) -> None:
        """Work that reads somebody else's array was launched. He may change it, or use its memory for other things,
        only after that: his stream waits, or, where that is not known, the host does."""
        lender = array._storage.lender
        if lender is None:
            self.machine.synchronise()
        else:
            self.machine.let_wait(lender)

    # ---- moving

    def placed(self, storage: Storage) -> Block:
        """The block of a storage; its elements are there."""
        storage.used = self._clock
        return self._sent(storage) if storage.block is None else storage.block

    def _sent(self, storage: Storage) -> Block:
        with self.lock:
            if storage.host is None and storage.fill is not None:
                other = storage.fill.there()._storage
                storage.block, other.block = other.block, None
                self._resident.pop(id(other), None)
                self._resident[id(storage)] = weakref.ref(storage)
                assert storage.block is not None
                return storage.block
            block = self._allocate(storage.bytes)
            storage.block = block
            self._resident[id(storage)] = weakref.ref(storage)
            if storage.host is not None and storage.size:
                try:
                    self.machine.copy_in(block.address, storage.host)
                except BaseException:  # the elements are not there
                    self.release(storage)
                    raise
                self._moved(storage.bytes, out=False)
        return block

    def fetched(self, storage: Storage) -> Array:
        """The elements of a storage on the host, flat."""
        return self._read(storage) if storage.host is None else storage.host

    def _read(self, storage: Storage) -> Array:
        with self.lock:
            found = np.empty(storage.size, dtype_of(storage.base))
            if storage.block is not None and storage.size:
                self.machine.copy_out(found, storage.block.address)
                self._moved(storage.bytes, out=True)
            elif storage.fill is not None:
                found.fill(storage.fill.value)
            if not storage.foreign:  # the owner of that may change it
                storage.host = found
        return found

    def element(self, storage: Storage, at: int) -> Any:
        """One element. An array that is short, or read again and again, is fetched whole."""
        if storage.host is None and storage.block is not None and storage.bytes > SHORT:
            storage.reads += 1
            if storage.reads <= ELEMENTS:
                dtype = dtype_of(storage.base)
                one = np.empty(1, dtype)
                with self.lock:
                    self.machine.copy_out(one, storage.block.address + at * int(dtype.itemsize))
                self._moved(int(dtype.itemsize), out=True)
                return one[0].item()
        return self.fetched(storage)[at].item()

    def copied(self, array: DeviceArray) -> DeviceArray:
        """A new array with the same elements: copied where they are."""
        with self.lock:
            new = self.new(array.base, array.shape)
            if array.size:
                self.machine.copy(new.address(), array.address(), array.nbytes)
        return new

    # ---- room

    def let_go(self) -> None:
        """What was used until now may be sent away: no launch to come needs it. Until this is called again, what is
        used stays on the device."""
        self._clock += 1

    def release(self, storage: Storage) -> None:
        """The storage's block is free."""
        block, storage.block = storage.block, None
        if block is None or storage.foreign:
            return
        self._resident.pop(id(storage), None)
        self.used -= block.size
        self.pooled += block.size
        self._pool[block.size].append(block)

    def trim(self) -> None:
        """Gives what waits in the pool back to the machine."""
        for blocks in self._pool.values():
            while blocks:
                block = blocks.pop()
                self.pooled -= block.size
                self.machine.free(block)
        self._pool.clear()

    def _allocate(self, size: int) -> Block:
        """A block of at least so many bytes. Raises `OutOfMemory` where sending others away does not help."""
        rounded = _rounded(size)
        waiting = self._pool.get(rounded)
        if waiting:
            self.pooled -= rounded
            self.used += rounded
            self.transfers.reused += 1
            return waiting.pop()
        while True:
            try:
                if self.account.most is not None and self.used + self.pooled + rounded > self.account.most:
                    raise DeviceFull(rounded)
                block = self.machine.allocate(rounded)
            except DeviceFull:
                if self.pooled:
                    self.trim()
                elif not self._spill():
                    raise OutOfMemory(size) from None
            else:
                self.used += rounded
                self.transfers.allocated += 1
                return block

    def _spill(self) -> bool:
        """Sends the array that was not used for longest to the host; False: there is none."""
        there = [
            s
            for s in (r() for r in self._resident.values())
            if s is not None and s.block is not None and s.used < self._clock and not s.lent
        ]
        if not there:
            return False
        storage = min(there, key=lambda s: s.used)
        self.fetched(storage)
        self.release(storage)
        self.transfers.spilled += 1
        self.account.note(
            f"the memory of {self.machine.name} is full: arrays that were not used for longest went back to the host"
        )
        return True


def _rounded(size: int) -> int:
    """The size of the block for so many bytes: classes an eighth apart, so that similar arrays take each other's
    place."""
    size = max(size, GRAIN)
    step = max(GRAIN, 1 << max(0, size.bit_length() - 4))
    return -(-size // step) * step
