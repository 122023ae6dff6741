"""Whether a with-loop that may run on the device should: work against transfers.

In: the work of a with-loop, the arrays that it reads, and the bytes that it makes. Out: yes or no, with the reason in
words. The figures are round ones of a current GPU on PCIe and of a current core; they need not be right, only be so
where it matters: tiny loops, and loops that do little with much that would have to be sent.
"""

from __future__ import annotations

from collections.abc import Iterable

from sacpy.jit.device.memory import DeviceArray
from sacpy.nodes import Node

LAUNCH = 12e-6  # seconds that a launch takes, all told
TRANSFER = 20e-6  # seconds that a transfer takes at least
BUS = 20e9  # bytes per second between host and device
DEVICE_RATE = 1e12  # simple operations per second
HOST_RATE = 6e9  # of one core, which does several at once
FEWEST = 512  # threads with loops of their own that keep a device busier than cores
CALL = 6e-6  # seconds that calling native code takes


class Policy(Node):
    """`always`: whatever can run on the device does. `transfers`: what has to be sent counts; otherwise only work of
    less than `least` simple operations stays on the host. `cores`: that the host would use."""

    always: bool = False
    transfers: bool = False
    least: float = 20_000.0
    cores: int = 1

    def takes(self, asked: bool) -> bool:
        """Whether a with-loop goes there whatever it does. `asked`: a pragma says so, which holds unless the device is
        but an option."""
        return self.always or (asked and not self.transfers)

    def device(self, work: float, arrays: Iterable[DeviceArray], made: int, threads: int | None = None) -> str:
        """Why a with-loop stays on the host; "": it goes to the device. `made`: bytes of its results. `threads`: how
        many there would be, where each has a loop of which nobody knows how long it takes."""
        if self.always:
            return ""
        if threads is not None and threads < FEWEST:
            return f"a loop runs at each of only {threads} indices, which would leave the device idle"
        if not self.transfers:
            small = work < self.least and not any(a.on_device and not a.on_host for a in arrays)
            return f"too small for a launch: {work:.0f} operations" if small else ""
        arrays = tuple(arrays)
        here, there = self.seconds(work, arrays, made)
        return "" if there < here else f"the CPU needs {_text(here)}, the GPU with its transfers {_text(there)}"

    def none(self, works: Iterable[float], arrays: Iterable[DeviceArray], rounds: int) -> bool:
        """Whether of with-loops inside a statement, each run of them, none is worth a launch. `arrays`: what the
        statement takes. What lies on the device alone stays there unless many rounds of a loop, with a launch each,
        would take longer than to bring it."""
        arrays = tuple(arrays)
        if not self.transfers:
            there = sum(_moving(a.nbytes) for a in arrays if a.on_device and not a.on_host)
            if rounds * LAUNCH > 2 * there:
                arrays = ()
        return all(self.device(work, arrays, 0) for work in works)

    def seconds(self, work: float, arrays: tuple[DeviceArray, ...], made: int) -> tuple[float, float]:
        """About how long it takes on the host, and on the device. What the device makes is expected to be used there
        half of the time."""
        up = sum(a.nbytes for a in arrays if not (a.on_device or a.filled))
        down = sum(a.nbytes for a in arrays if not (a.on_host or a.filled))
        here = CALL + work / (HOST_RATE * self.cores) + _moving(down)
        there = LAUNCH + work / DEVICE_RATE + _moving(up) + _moving(made) / 2
        return here, there


def _moving(size: int) -> float:
    return TRANSFER + size / BUS if size else 0.0


def _text(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
