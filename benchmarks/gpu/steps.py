"""What is checked and measured, one step after the other, in a process that has a GPU (or the emulator in its place).

In: the name of a step. Out: what it found, as JSON has it; whatever it raises is told by whoever runs it (`runner`).
Steps depend on nothing that another one left behind but what is made once: the session, the device, the peers.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.gpu import by_hand, mappings, measure
from benchmarks.gpu.cases import CASES, HEAD, Case, vector
from benchmarks.gpu.measure import PEERS, seconds

COMPARED = 1 << 24  # elements up to which the results of peers are compared
TINY = 1 << 10  # the size of everything on the emulator
GROUPS = 4  # into which programs are divided, and with-loops
SEEDS = 60  # of random programs, in a group
SMALLER = 128  # times, extents of kernels beside those by hand, on the emulator
SAMPLE = ("black_scholes", "matmul", "regression")  # the programs that run on the emulator


@dataclass(frozen=True, slots=True)
class Settings:
    """`emulator`: in the place of the GPU, with tiny sizes; `rehearsal`: the same with the stand-in for a GPU and its
    driver, so that all but the driver is what runs on a GPU; `quick`: the smallest sizes only; `peers`: those that are
    asked."""

    emulator: bool = False
    quick: bool = False
    peers: tuple[str, ...] = PEERS
    rehearsal: bool = False

    @property
    def tiny(self) -> bool:
        """Whether there is no GPU."""
        return self.emulator or self.rehearsal


def names(settings: Settings) -> list[str]:
    """The steps in their order: what must hold, then what all else is compared with, then the cases, small sizes first;
    last whole programs."""
    if settings.tiny:
        sized = [(TINY, f"case {case.name}") for case in CASES] + [(TINY, "mappings")]
    else:
        most = 1 if settings.quick else 3
        sized = [(size, f"case {case.name}") for case in CASES for size in case.sizes[:most]] + [
            (size, "mappings") for size in (1 << 16, 1 << 26, 1 << 28)[:most]
        ]
    groups = 1 if settings.tiny else GROUPS
    whole = [f"programs, {n}" for n in range(groups)] + (
        [] if settings.tiny or settings.quick else [f"corpus, {n}" for n in range(groups)]
    )
    return [
        "checks",
        "copy",
        "launch",
        *(f"kernel {case.name}" for case in by_hand.timed(SMALLER)),
        *([] if settings.tiny else [f"with-loops, {n}" for n in range(groups)]),
        *(f"peer {name}" for name in settings.peers),
        *(f"{what}, {size}" for size, what in sorted(sized, key=lambda one: one[0])),
        *whole,
        *([] if settings.tiny or settings.quick else [f"random, {n}" for n in range(groups)]),
    ]


@dataclass
class Steps:
    """What steps share. `refused`: peers that cannot be used, and why."""

    settings: Settings
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """Of sessions."""
        return "emulator" if self.settings.emulator else "cuda"

    @cached_property
    def hardware(self) -> Any:
        """The device. Raises `DeviceFailure` where there is none."""
        from sacpy.jit.device.context import emulated, real

        if self.settings.rehearsal:
            stand_in()
        return emulated("sm_90") if self.settings.emulator else real()

    @property
    def session(self) -> Any:
        """A new one, in which nothing else has been compiled."""
        from benchmarks.gpu.checks import on
        from sacpy import Session

        assert self.hardware
        return on(self.target) if self.settings.tiny else Session(target="cuda")

    @cached_property
    def _modules(self) -> dict[str, Any]:
        return {}

    def wait(self, _: Any = None) -> None:
        """Waits for the device."""
        self.hardware.machine.synchronise()

    def about(self) -> dict[str, Any]:
        """The device, and what is installed for it."""
        from sacpy.jit.emission import toolchain

        machine = self.hardware.machine
        found = {name: str(getattr(toolchain, name)()) for name in ("libnvvm", "libdevice", "nvjitlink")} | {
            name: str(toolchain.program(name)) for name in ("ptxas", "nvdisasm")
        }
        return {
            "device": machine.name,
            "limits": str(machine.limits),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "tools": found,
            **_versions(),
        }

    def run(self, name: str) -> dict[str, Any]:
        """What a step finds."""
        kind, _, rest = name.partition(" ")
        if name in ("checks", "copy", "launch"):
            found: dict[str, Any] = getattr(self, name)()
            return found
        if kind in ("programs,", "corpus,"):
            return self.programs(kind.rstrip(","), int(rest))
        if kind in ("with-loops,", "random,"):
            return self.agreement(kind.rstrip(","), int(rest))
        if kind == "kernel":
            return self.kernel(rest)
        if kind == "peer":
            return {"version": measure.version(rest, self.peer(rest))}
        title, _, size = rest.rpartition(", ") if kind == "case" else ("", "", rest)
        if kind == "case":
            return self.case(next(c for c in CASES if c.name == title), int(size))
        return self.mappings(int(name.rpartition(", ")[2]))

    # ---- steps

    def checks(self) -> dict[str, Any]:
        """What must agree with the interpreter."""
        from benchmarks.gpu.checks import checks, on

        assert self.hardware
        return {c.name: c.problem for c in checks(on(self.target), 1e-4 if self.settings.tiny else 1e-5)}

    def copy(self) -> dict[str, Any]:
        """The bytes per second, read and written, of a copy on the device, by its size."""
        memory, machine = self.hardware.memory, self.hardware.machine
        found = {}
        for elements in (TINY,) if self.settings.tiny else (1 << 24, 1 << 26, 1 << 28):
            a, b = memory.new("float", (elements,)), memory.new("float", (elements,))
            taken = seconds(lambda a=a, b=b: machine.copy(b.address(), a.address(), a.nbytes), self.wait)  # type: ignore[misc]
            found[str(elements)] = 2 * a.nbytes / taken
        return found

    def launch(self) -> dict[str, Any]:
        """Seconds of a call from Python whose work is nothing, and of its launch alone."""
        twice = self.session.compile(
            HEAD + "float[n] twice(float[n] v) { return { [i] -> v[i] * 2.0f | [i] < [n] }; }"
        )["twice"]
        v = self.hardware.memory.of(vector(1 << 15), "float")  # fewer would stay on the CPU
        found = {"call": seconds(lambda: twice(v), self.wait)}
        machine = self.hardware.machine
        seen: list[tuple[Any, ...]] = []
        launch = machine.launch

        def noted(*args: Any) -> None:
            seen.append(args)
            launch(*args)

        machine.launch = noted
        try:
            kept = twice(v)
        finally:
            del machine.launch
        if seen:
            found["launch"] = seconds(lambda: launch(*seen[-1]), self.wait)
        del kept
        return found

    def programs(self, which: str, group: int) -> dict[str, Any]:
        """What is wrong with the output of programs that run on the device."""
        from benchmarks.gpu import programs

        paths = (
            [p for p in programs.PROGRAMS if p.stem in SAMPLE]
            if self.settings.tiny
            else (programs.PROGRAMS if which == "programs" else programs.CORPUS)[group::GROUPS]
        )
        return dict(programs.wrong(paths, self.target, self.wait))

    def agreement(self, which: str, group: int) -> dict[str, Any]:
        """What is wrong with the results of with-loops or of random programs that run on the device."""
        try:
            from benchmarks.gpu import agreement
        except ImportError as error:  # the tests' own needs
            return {"left out": f"there is no {error.name}"}
        assert self.hardware
        if which == "random":
            return dict(agreement.random_programs(self.target, range(group * SEEDS, (group + 1) * SEEDS), self.wait))
        return dict(agreement.with_loops(self.target, group, GROUPS, self.wait))

    def kernel(self, name: str) -> dict[str, Any]:
        """A classic kernel beside the one by hand, which rehearsals have none of."""
        (case,) = (c for c in by_hand.timed(SMALLER if self.settings.tiny else 1) if c.name == name)
        return by_hand.compared(self.session, self.hardware, case, lambda: self._by_hand)

    @cached_property
    def _by_hand(self) -> by_hand.ByHand:
        if self.settings.tiny:
            raise RuntimeError("nothing is compiled by hand here")
        return by_hand.ByHand(self.hardware)

    def case(self, case: Case, size: int) -> dict[str, Any]:
        """One case at one size, beside its peers."""
        from sacpy.jit.device.interop import take

        values = case.arguments(size)
        session = self.session
        function = session.compile(HEAD + case.source)[case.function]
        own = tuple(take(self.hardware.memory, v) if isinstance(v, np.ndarray) else v for v in values)
        row: dict[str, Any] = {"sacpy": seconds(lambda: function(*own), self.wait)}
        if case.traffic is not None:
            row["bytes per second"] = case.traffic(size) / row["sacpy"]
        row["explain"] = session.explain(case.function)[-4000:]
        wanted = np.asarray(function(*own)) if size <= COMPARED else None
        for name in self.settings.peers:
            if name in case.peers and size <= case.most.get(name, size):
                row[name] = self.of_peer(name, case.peers[name], values, wanted)
        return row

    def mappings(self, size: int) -> dict[str, Any]:
        """Ways to map steps and widths, by density."""
        return {
            row.pop("density"): row
            for row in mappings.compared(self.session, self.hardware.memory.of(vector(size), "float"))
        }

    # ---- peers

    def peer(self, name: str) -> Any:
        """What a peer is used through. Raises what it raised the first time."""
        if name in self.refused:
            raise RuntimeError(self.refused[name])
        if name not in self._modules:
            try:
                self._modules[name] = measure.peer(name, self.hardware)
            except Exception as error:  # a peer may fail in any way
                self.refused[name] = f"{type(error).__name__}: {error}"[:500]
                raise
        return self._modules[name]

    def of_peer(
        self, name: str, make: Callable[[Any], Callable[..., Any]], values: tuple[Any, ...], wanted: Any
    ) -> float | str:
        """A peer's seconds; or why there are none."""
        try:
            module = self.peer(name)
            function, given = make(module), measure.placed(name, module, values)
            if wanted is not None:
                found = np.asarray(measure.fetched(name, function(*given)))
                if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-3, atol=1e-3, equal_nan=True):
                    return f"another result: {_differs(found, wanted)}"
            return seconds(lambda: function(*given), measure.waiter(name, module))
        except Exception as error:  # a peer may fail in any way; it is left out then
            return f"left out: {type(error).__name__}: {error}"[:500]


def stand_in() -> None:
    """From now on the GPU of this process is the interpreter of PTX, behind the stand-in for cuda.core."""
    from sacpy.jit.device.context import Hardware, take_place
    from tests.ptx.driver import PtxCuda

    for strict in (False, True):
        take_place(Hardware(PtxCuda("sm_90", strict=strict, races=False, memory=1 << 28).machine()), strict)


def _differs(found: Any, wanted: Any) -> str:
    if found.shape != wanted.shape:
        return f"shape {found.shape} instead of {wanted.shape}"
    apart = ~np.isclose(found, wanted, rtol=1e-3, atol=1e-3, equal_nan=True)
    return f"{int(apart.sum())} of {found.size} elements"


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in ("llvmlite", "cuda-core", "cuda-bindings", "numba", "numba-cuda", "nvidia-nvjitlink", "nvidia-nvvm"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
