"""What only the last block of a launch does: where it may stand, who is last, and what it sees."""

from __future__ import annotations

import numpy as np
import pytest

from sacpy.jit.emission.emulator import ORDERS, Emulated
from sacpy.jit.emission.findings import READ_AFTER_WRITE
from sacpy.jit.ir import kernel as k
from sacpy.jit.ir.graph import INT, ArrayType, Var, integer
from sacpy.jit.ir.kernel_printer import print_kernel
from sacpy.jit.ir.kernel_verify import verify_kernel
from sacpy.jit.ir.operations import GraphError
from sacpy.nodes import replace
from tests.jit.kernel_programs import whole_sum


def _flag(name: str = "flag", base: str = "int", size: int = 1) -> Var:
    return Var(name, ArrayType(base, (integer(size),)))


def _kernel(*body: k.BlockStmt) -> k.Kernel:
    return k.Kernel("k", (R,), (), (), (), (integer(4),), body, (k.Written(R),))


LAST = k.LastBlock(_flag(), ())
SHARED = k.Allocate(_flag(), "shared")
R = Var("r", ArrayType("int", (integer(4),)))


def writing(threads: int) -> k.ForAll:
    t = Var("t", INT)
    return k.ForAll((t,), (integer(threads),), (k.Store(R, (t,), t),))


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ((SHARED, LAST, k.Barrier()), "elsewhere than last"),
        ((SHARED, k.BlockFor(Var("i", INT), integer(0), integer(2), integer(1), (LAST,))), "elsewhere than last"),
        ((SHARED, k.LastBlock(_flag(), (LAST,))), "elsewhere than last"),
        ((k.Allocate(_flag(), "private"), LAST), "flag is no shared array"),
        ((LAST,), "flag is no shared array"),
        ((SHARED, writing(4), LAST), "no barrier stands between what threads write and the last block"),
        ((k.Allocate(_flag(size=2), "shared"), k.LastBlock(_flag(size=2), ())), "flag is not one int"),
    ],
)
def test_where_it_may_not_stand(body: tuple[k.BlockStmt, ...], wrong: str) -> None:
    with pytest.raises(GraphError, match=wrong):
        verify_kernel(_kernel(*body))


@pytest.mark.parametrize("before", [(), (writing(1),), (writing(4), k.Barrier())])
def test_where_it_may_stand(before: tuple[k.BlockStmt, ...]) -> None:
    verify_kernel(_kernel(SHARED, *before, LAST))


def test_it_is_printed() -> None:
    assert "last block, told by" in print_kernel(whole_sum().kernel)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("check", [False, True])
def test_the_last_one_sees_what_all_have_written(order: str, threads: int, check: bool) -> None:
    p = whole_sum()
    made = Emulated(p.kernel, check=check)
    for _ in range(3):
        args = [a.copy() if isinstance(a, np.ndarray) else a for a in p.args]
        found = made.launch(args, cover=p.cover, threads=threads, order=order)
        assert found.findings == () and args[-1] == p.wanted["r"]


def test_reading_what_other_blocks_write_is_a_race_elsewhere() -> None:
    p = whole_sum()
    last = p.kernel.body[-1]
    assert isinstance(last, k.LastBlock)
    all_do = replace(p.kernel, body=(*p.kernel.body[:-1], *last.body))
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in p.args]
    assert READ_AFTER_WRITE in {f.kind for f in Emulated(all_do, check=True).launch(args).findings}
