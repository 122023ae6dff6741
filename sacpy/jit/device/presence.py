"""Whether this computer has a GPU to run on, asked before anything is loaded that would run there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"))  # one of them is there where the driver is


def present() -> bool:
    """Whether this computer has an NVIDIA driver and the packages that talk to it; nothing is imported."""
    return (
        any(path.exists() for path in DRIVER) and find_spec("cuda") is not None and find_spec("cuda.core") is not None
    )
