"""The text that GPUs get, run by threads of the host: one for each thread of a block, with a real barrier. Special
registers and libdevice's functions are calls of Python; blocks run one after the other, so that they share the block's
memory."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import threading
from typing import Any

import numpy as np
import pytest

from sacpy.interp.values import DTYPES
from sacpy.jit.emission.geometry import geometry
from sacpy.jit.emission.nvvm import device_text
from sacpy.jit.host.compile import compile_object
from sacpy.jit.host.loading import Library
from sacpy.jit.ir.graph import ArrayType
from sacpy.jit.ir.kernel import Kernel
from sacpy.jit.options import Options
from tests.jit.kernel_programs import PROGRAMS, P

AXES = "xyz"
REGISTERS = [f"{name}.{axis}" for name in ("tid", "ctaid", "ntid", "nctaid") for axis in AXES]
LIBDEVICE = {
    "__nv_dsqrt_rn": (math.sqrt, ctypes.c_double),
    "__nv_fabs": (abs, ctypes.c_double),
    "__nv_fsqrt_rn": (math.sqrt, ctypes.c_float),
    "__nv_fabsf": (abs, ctypes.c_float),
}


def on_the_host(text: str) -> str:
    """The module with special registers and barriers as calls of ordinary functions, and memory for what the launch
    would ask for."""
    text = re.sub(r"@llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.(\w)", r"@\1_\2", text)
    text = (
        text.replace("@llvm.nvvm.barrier0", "@barrier")
        .replace("@llvm.nvvm.membar.gl", "@fence")
        .replace("@llvm.nvvm.shfl.sync.down.i32", "@shuffle")
        .replace("external addrspace(3) global [0 x i8]", "internal addrspace(3) global [65536 x i8] undef")
        .replace("[0 x i8]", "[65536 x i8]")
    )
    return re.sub(r"^target .*|^!nvvm.*|^!\d+ = !\{ptr .*|noalias readonly", "", text, flags=re.MULTILINE)


class Block:
    """One block of threads."""

    def __init__(self, kernel: Kernel, args: list[Any]) -> None:
        self.kernel, self.args, self.shape = kernel, args, geometry(kernel, args)
        self.here = threading.local()
        self.barrier = threading.Barrier(max(self.shape.threads, 1))
        device = device_text(kernel, strict=True)
        functions: dict[str, Any] = {
            r.replace(".", "_"): ctypes.CFUNCTYPE(ctypes.c_int32)(lambda r=r: self.here.registers[r]) for r in REGISTERS
        }
        functions |= {name: ctypes.CFUNCTYPE(type_, type_)(f) for name, (f, type_) in LIBDEVICE.items()}
        functions["barrier"] = ctypes.CFUNCTYPE(None)(self.wait)
        functions["fence"] = ctypes.CFUNCTYPE(None)(lambda: None)
        functions["shuffle"] = ctypes.CFUNCTYPE(*[ctypes.c_int32] * 5)(self.shuffle)
        self.words = np.zeros(self.shape.threads, np.int32)
        self.kept = functions
        addresses = {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in functions.items()}
        self.library = Library(
            compile_object(on_the_host(device.text), Options(opt_level=1)), (device.name,), addresses
        )
        types = [
            ctypes.c_void_p if isinstance(p.type, ArrayType) else np.ctypeslib.as_ctypes_type(DTYPES[p.base])
            for p in kernel.params
        ]
        self.entry = ctypes.CFUNCTYPE(None, *types, *[ctypes.c_void_p] * (len(self.shape.scratch_bytes) + 1))(
            self.library.address(device.name)
        )

    def wait(self) -> None:
        self.barrier.wait(timeout=30)

    def shuffle(self, _mask: int, word: int, distance: int, _last: int) -> int:
        """The word of the thread so far behind in the warp, or the thread's own."""
        at, number = self.here.registers, 0
        for axis in reversed(AXES[: len(self.shape.block)]):
            number = number * at[f"ntid.{axis}"] + at[f"tid.{axis}"]
        self.words[number] = word
        self.wait()
        found = int(self.words[number + distance if number % 32 + distance < 32 else number])
        self.wait()
        return found

    def launch(self) -> int:
        """Runs all blocks; gives the check word."""
        scratch = [np.empty(size, np.uint8) for size in self.shape.scratch_bytes]
        words = (ctypes.c_int32 * 2)()
        passed = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in (*self.args, *scratch)] + [
            ctypes.addressof(words)
        ]
        sizes = {
            f"{name}.{axis}": e
            for name, extents in (("ntid", self.shape.block), ("nctaid", self.shape.grid))
            for axis, e in zip(AXES, reversed(extents))
        }

        def run(block: tuple[int, ...], thread: tuple[int, ...]) -> None:
            at = {
                f"{name}.{axis}": i
                for name, index in (("tid", thread), ("ctaid", block))
                for axis, i in zip(AXES, reversed(index))
            }
            self.here.registers = sizes | at
            self.entry(*passed)

        for block in itertools.product(*map(range, self.shape.grid)):
            threads = [
                threading.Thread(target=run, args=(block, thread))
                for thread in itertools.product(*map(range, self.shape.block))
            ]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        assert words[1] == 0  # how many blocks have come to where the last one goes on
        return words[0]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_threads_side_by_side_compute_what_numpy_does(name: str) -> None:
    p = PROGRAMS[name]()
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in p.args]
    assert Block(p.kernel, args).launch() == 0
    names = [v.name for v in p.kernel.params]
    for result, wanted in p.wanted.items():
        np.testing.assert_array_equal(args[names.index(result)], wanted)


def test_phases_of_other_shapes_than_the_block_cover_each_index_once() -> None:
    p = P("shapes", [2], [2, 3, 2])
    counts = [
        p.result(f"r{at}", "int", 2, *extents, once=False)
        for at, extents in enumerate([(2, 3, 2), (2, 2, 1), (31,), (4, 5), (1, 1, 1)])
    ]
    for r, extents in zip(counts, [(2, 3, 2), (2, 2, 1), (31,), (4, 5), (1, 1, 1)]):
        with p.forall(*extents) as (t, *index):
            t.store(r, p.block_index[0], *index, t.op("add", t.load(r, p.block_index[0], *index), 1))
    args = [np.zeros((2, *extents), np.int32) for extents in [(2, 3, 2), (2, 2, 1), (31,), (4, 5), (1, 1, 1)]]
    Block(p.kernel(), args).launch()
    assert all((a == 1).all() for a in args)


def test_the_check_word_names_the_statement() -> None:
    from sacpy.jit.ir import kernel as k

    p = P("refusing", [1], [4])
    r = p.result("r", "int", 4)
    with p.forall(4) as (t, x):
        t.store(r, x, x)
        t.statements.append(k.Check(t.op("neq", x, 2), "the index is not 2"))
    out = np.zeros(4, np.int32)
    number = Block(p.kernel(), [out]).launch()
    assert device_text(p.kernel()).sites[number - 1].what == "the index is not 2"
    assert list(out) == [0, 1, 2, 3]
