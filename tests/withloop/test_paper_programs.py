"""The paper's listings as whole programs, on the emulator: the results that the definition of index spaces gives, and
the launches that the paper describes, with its numbers corrected."""

from __future__ import annotations

import itertools

import pytest

from sacpy.interp.world import World
from sacpy.jit.device.program import DeviceProgram
from sacpy.jit.kernels import Launch
from sacpy.jit.reports.statistics import explain
from sacpy.workspace import Workspace


class Ran:
    """A program behind its run on the emulator: what it printed, and what it launched."""

    def __init__(self, text: str, strategy: str = "auto") -> None:
        self.workspace = Workspace(target="emulator", eager=True, strategy=strategy)
        program, found = self.workspace.load_text("use Array: all;\nuse StdIO: all;\n" + text)
        assert not found
        world = World.captured()
        self.workspace.run(program, world, found)
        self.numbers = [int(n) for n in world.out().split()]

    @property
    def programs(self) -> list[DeviceProgram]:
        engine = self.workspace.engine
        assert engine is not None and engine.started is not None
        return [v.device for s in engine.started.entered() for v in s.versions.values() if v.device is not None]

    @property
    def launches(self) -> list[Launch]:
        return [
            launch
            for p in self.programs
            for loop in p.runtime.loops
            for prepared in loop.prepared.values()
            for launch in prepared.plan.launches
        ]

    @property
    def explained(self) -> str:
        engine = self.workspace.engine
        assert engine is not None
        return explain(engine.started)


def program(head: str, with_loop: str, rank: int, argument: str) -> str:
    """A function with the with-loop, called so that the result leaves it; its elements are printed."""
    dots = ",".join("." * rank)
    return f"""
int[{dots}] made({head})
{{
  return {with_loop};
}}
int main()
{{
  b = made({argument});
  for (i = 0; i < prod(shape(b)); i++) {{
    printf("%d ", reshape([prod(shape(b))], b)[i]);
  }}
  return 0;
}}
"""


LISTING_3 = """with {
    ([0,1] <= iv < [9,8] step [2,3] width [1,2]) : 3;
    ([1,0] <= iv < [8,9] step [3,2] width [2,1]) : 7;
  } : genarray([n,9], 0)"""


@pytest.mark.parametrize("strategy", ["auto", "jing", "jing_ext", "jing_printed", "foldall"])
def test_listing_3(strategy: str) -> None:
    expected = []
    for i, j in itertools.product(range(9), range(9)):
        first = i < 9 and 1 <= j < 8 and i % 2 < 1 and (j - 1) % 3 < 2
        second = 1 <= i < 8 and (i - 1) % 3 < 2 and j % 2 < 1
        expected.append(3 if first else 7 if second else 0)
    ran = Ran(program("int n", LISTING_3, 2, "9"), strategy)
    assert ran.numbers == expected
    assert ran.launches


LISTING_4 = """with {
    ([0] <= iv < [1000] step [2]) : a[iv] + 1;
    ([1000] <= iv < [1500]) : a[iv] + 4;
  } : genarray([1500], 0)"""


def test_listings_4_to_8_the_generated_partition_and_its_launches() -> None:
    pragma = "#pragma gpukernel GridBlock(1, SplitLast(32, PruneGrid(ShiftLB(Gen))))\n    "
    ran = Ran(program("int[.] a", LISTING_4.replace("([0]", pragma + "([0]"), 1, "iota(1500)"))
    assert ran.numbers == [i + 1 if i < 1000 and i % 2 == 0 else i + 4 if i >= 1000 else 0 for i in range(1500)]
    described = [
        (launch.purpose, launch.partition, str(launch.mapping.space), launch.grid, launch.block)
        for launch in ran.launches
        if launch.mapping is not None and launch.purpose in ("partition", "default")
    ]
    assert ("partition", 0, "[0] <= iv < [1000] step [2] width [1]", (1, 1, 32), (1, 1, 32)) in described
    assert ("partition", 1, "[1000] <= iv < [1500]", (1, 1, 16), (1, 1, 32)) in described
    assert [d[2] for d in described if d[0] == "default"] == ["[1] <= iv < [1000] step [2] width [1]"]


def test_listings_9_and_10() -> None:
    plusone = """with {
    #pragma gpukernel
        GridBlock (1,
        SplitLast (32,
        ShiftLB (
        Gen)))
    (0 * shape(a) <= iv < shape(a)) : a[iv] + 1;
  } : genarray(shape(a), 0)"""
    ran = Ran(program("int[.,.] a", plusone, 2, "reshape([10,100], iota(1000))"))
    assert ran.numbers == list(range(1, 1001))
    (launch,) = [launch for launch in ran.launches if launch.purpose == "partition"]
    assert (launch.grid, launch.block) == ((1, 10, 4), (1, 1, 32))
    assert launch.mapping is not None and launch.mapping.idle == 10 * 28
    assert "the pragma says so" in ran.explained


REFUSED = {
    name: {rank: f"{name} maps ranks up to 5, and this space has rank {rank}" for rank in (6, 7)}
    for name in ("jing", "jing_printed")
}


@pytest.mark.parametrize("strategy", ["jing", "jing_ext", "jing_printed", "foldall"])
@pytest.mark.parametrize("rank", range(1, 8))
def test_the_strategies_of_section_7(strategy: str, rank: int) -> None:
    extents = [5, 2, 4, 2, 3, 2, 2][:rank]
    shape = ", ".join(["n", *map(str, extents[1:])])
    loop = f"with {{ (. <= iv <= .) : sum(iv) + n; }} : genarray([{shape}], 0)"
    ran = Ran(program("int n", loop, rank, "5"), strategy)
    assert ran.numbers == [5 + sum(index) for index in itertools.product(*map(range, extents))]
    (chain, reasons) = next(
        (str(launch.mapping.chain), launch.reasons)
        for launch in ran.launches
        if launch.mapping is not None and launch.mapping.space.rank == rank
    )
    refused = REFUSED.get(strategy, {}).get(rank)
    if refused is not None:
        assert reasons[0] == f"{refused}, so auto chose"
    elif strategy == "foldall":
        assert chain.count("FoldLast2") == rank - 1
    elif 3 <= rank <= 5:
        assert chain == "GridBlock(2, ShiftLB(Gen))"
    elif rank > 5:
        assert chain.count("FoldLast2") == rank // 2
    assert chain in ran.explained


def test_a_block_over_the_limits_falls_back_with_the_reason() -> None:
    ran = Ran(program("int n", "with { ([0,0,0] <= iv < [2,40,n]) : iv[2]; } : genarray([2,40,n], 0)", 3, "50"), "jing")
    assert ran.numbers == [k for _ in range(80) for k in range(50)]
    assert (
        "jing does not fit: the block 40 x 50 has 2000 threads, and sm_90 allows 1024, so auto chose" in ran.explained
    )
