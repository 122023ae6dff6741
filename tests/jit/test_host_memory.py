"""Blocks of memory in compiled code: what a frame has in use, what it keeps of what was freed, and that all goes back
in the end."""

from __future__ import annotations

import ctypes
import math
import random
import sys
from collections.abc import Iterator

import pytest

from sacpy.jit.host import layout
from sacpy.jit.host.loading import runtime
from sacpy.jit.host.native import Context
from sacpy.jit.host.runtime_blocks import FREED_BYTES, HUGE, PAGE, SMALL


class Frame:
    """A frame, and what compiled code does with it."""

    def __init__(self, memory: int = 0) -> None:
        self.context = Context(memory=memory)
        self.words = (ctypes.c_int64 * layout.FRAME_FIELDS)(*[-1] * layout.FRAME_FIELDS)
        self.address = ctypes.addressof(self.words)
        self.call("enter", None, self.context.address, ctypes.c_int64(0))

    def call(self, name: str, result: object, *args: object) -> int | None:
        function = ctypes.CFUNCTYPE(
            result, ctypes.c_void_p, *[type(a) if isinstance(a, ctypes.c_int64) else ctypes.c_void_p for a in args]
        )(runtime()[f"sacpy_{name}"])  # type: ignore[arg-type]
        found: int | None = function(self.address, *args)
        return found

    def new(self, size: int) -> int:
        """The address of a new block's header; 0 where it is refused."""
        return self.call("new", ctypes.c_void_p, ctypes.c_int64(size)) or 0

    def free(self, block: int) -> None:
        self.call("free", None, block)

    @property
    def in_use(self) -> int:
        return self.words[layout.FRAME_IN_USE]

    @property
    def freed(self) -> int:
        return self.words[layout.FRAME_FREED]

    def drop(self) -> None:
        self.call("drop", None)


@pytest.fixture
def frame() -> Iterator[Frame]:
    frame = Frame()
    yield frame
    frame.drop()


def held(block: int) -> int:
    """The bytes of a whole block."""
    return ctypes.c_int64.from_address(block + 8 * layout.BYTES).value


SIZES = [*range(0, 1200, 8), *(n + d for n in range(1 << 10, 1 << 17, 1 << 9) for d in (-65, -64, -63, -1, 0, 1))]


def test_a_block_is_aligned_and_holds_what_was_asked_for(frame: Frame) -> None:
    for size in SIZES:
        block = frame.new(size)
        assert block % layout.HEADER_BYTES == 0
        assert size + layout.HEADER_BYTES <= held(block) <= (size + layout.HEADER_BYTES) * 5 // 4 + 64
        ctypes.memset(block + layout.HEADER_BYTES, 0xEE, size)
        frame.free(block)


def test_what_is_in_use_is_what_the_blocks_hold() -> None:
    choose, frame, blocks = random.Random(7), Frame(), dict[int, tuple[int, int]]()
    for step in range(6000):
        if blocks and choose.random() < 0.49:
            block, (size, mark) = (
                blocks.popitem() if choose.random() < 0.5 else (k := choose.choice(list(blocks)), blocks.pop(k))
            )
            assert set(ctypes.string_at(block + layout.HEADER_BYTES, size)) == {mark}
            frame.free(block)
        else:
            size = choose.choice((1, 8, 100, 500, 3000, 30_000, 100_000)) + choose.randrange(50)
            block = frame.new(size)
            assert block not in blocks
            blocks[block] = size, step % 251
            ctypes.memset(block + layout.HEADER_BYTES, step % 251, size)
        assert frame.in_use == sum(map(held, blocks))
        assert 0 <= frame.freed <= FREED_BYTES
    frame.drop()
    assert frame.in_use == frame.freed == 0
    assert frame.context.allocations > 3000


@pytest.mark.parametrize("size", [0, 24, 440, 1000, 60_000])
def test_a_freed_small_block_serves_the_next_request(frame: Frame, size: int) -> None:
    first, second = frame.new(size), frame.new(size)
    frame.free(first)
    assert frame.freed == held(first)
    assert frame.new(size) == first != second
    assert frame.freed == 0


def test_a_limit_counts_blocks_in_full_and_freed_ones_only_until_they_are_needed() -> None:
    frame = Frame(memory=1 << 19)
    blocks = [frame.new(960) for _ in range(1000)]
    fitting = (1 << 19) // held(blocks[0])
    assert all(blocks[:fitting]) and not any(blocks[fitting:])
    for block in blocks[:fitting]:
        frame.free(block)
    assert (frame.in_use, frame.freed) == (0, fitting * 1024)
    assert frame.new((1 << 19) - layout.HEADER_BYTES)
    assert (frame.in_use, frame.freed) == (1 << 19, 0)
    assert not frame.new(0)
    frame.drop()


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library on Linux what is taken")
@pytest.mark.parametrize("freed", [0, 1, 2], ids=["nothing freed", "half freed", "all freed"])
def test_a_frame_that_ends_leaves_nothing_behind(freed: int) -> None:
    def taken() -> int:
        class Info(ctypes.Structure):
            _fields_ = [(f"f{k}", ctypes.c_size_t) for k in range(10)]

        mallinfo2 = ctypes.CDLL(None).mallinfo2
        mallinfo2.restype = Info
        return int(mallinfo2().f7)  # bytes in use

    before = taken()
    for _ in range(30):
        frame = Frame()
        blocks = [frame.new(size) for size in range(0, SMALL, 512) for _ in range(2)]
        for block in blocks[: len(blocks) * freed // 2]:
            frame.free(block)
        frame.drop()
    assert taken() - before < 1 << 20  # what one round takes is eight times as much


def test_a_result_outlives_its_frame() -> None:
    frame = Frame()
    frame.free(frame.new(100))
    block = frame.new(100)
    ctypes.memset(block + layout.HEADER_BYTES, 7, 100)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runtime()["sacpy_hand_over"])(block)
    frame.drop()
    other = Frame()
    assert other.new(100) != block
    assert ctypes.string_at(block + layout.HEADER_BYTES, 100) == b"\7" * 100
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(runtime()["sacpy_discard"])(block + layout.HEADER_BYTES)
    other.drop()


@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_fill_sets_its_bytes_and_no_others(width: int) -> None:
    word = int.from_bytes(bytes(range(1, width + 1)) * (8 // width), "little")
    fill = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(runtime()["sacpy_fill"])
    for count in (*range(70 // width + 3), 1000 // width):
        memory = (ctypes.c_uint8 * (16 + width * (count + 2)))(*[255] * (16 + width * (count + 2)))
        fill(ctypes.addressof(memory) + 16, width * count, word)
        filled = bytes(range(1, width + 1)) * count
        assert bytes(memory) == b"\xff" * 16 + filled + b"\xff" * (2 * width)


@pytest.mark.parametrize("extents", [(3,), (3, 4), (3, 4, 5)])
def test_a_block_has_room_for_an_array(frame: Frame, extents: tuple[int, ...]) -> None:
    sizes = [ctypes.c_int64(e) for e in (8, *extents)]
    block = frame.call(f"array{len(sizes) - 1}", ctypes.c_void_p, *sizes) or 0
    assert block % 64 == 0
    assert frame.in_use >= 8 * math.prod(extents) + layout.HEADER_BYTES


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_an_array_of_more_bytes_than_there_are_numbers_is_refused(frame: Frame, rank: int) -> None:
    extents = [ctypes.c_int64(1 << 62)] + [ctypes.c_int64(3)] * (rank - 1)
    assert not frame.call(f"array{rank}", ctypes.c_void_p, ctypes.c_int64(8), *extents)


@pytest.mark.parametrize("bytes_", [HUGE, HUGE + 1, HUGE + PAGE // 2, 3 * HUGE + 64], ids=str)
def test_a_block_on_huge_pages_is_taken_again(frame: Frame, bytes_: int) -> None:
    """Rounding up to whole pages makes it larger by up to half; it is still the one for the next of the same size."""
    block = frame.new(bytes_)
    frame.free(block)
    assert frame.new(bytes_) == block
    frame.free(block)
