"""sacpy: SaC (Single Assignment C), the functional array language, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sacpy.embedding.functions import Function, Module
    from sacpy.embedding.kinds import Handle
    from sacpy.grants import World
    from sacpy.interp.limits import Limits
    from sacpy.jit.device.interop import to_device
    from sacpy.jit.device.memory import DeviceArray
    from sacpy.lang.diagnostics import Diagnostic, SacError
    from sacpy.session import Session

__all__ = ["DeviceArray", "Diagnostic", "Function", "Handle", "Limits", "Module", "SacError", "Session", "World", "__version__", "to_device"]

_WHERE = {
    "Diagnostic": "sacpy.lang.diagnostics", "SacError": "sacpy.lang.diagnostics", "Function": "sacpy.embedding.functions", "Module": "sacpy.embedding.functions", "Handle": "sacpy.embedding.kinds", "Limits": "sacpy.interp.limits",
    "DeviceArray": "sacpy.jit.device.memory", "to_device": "sacpy.jit.device.interop", "World": "sacpy.grants", "Session": "sacpy.session", "load_ipython_extension": "sacpy.notebook.magic", "unload_ipython_extension": "sacpy.notebook.magic",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """The public names, and what `%load_ext sacpy` asks for, loaded when first used: importing sacpy costs nothing."""
    if name in _WHERE:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_WHERE[name]), name)
        return value
    raise AttributeError(f"module 'sacpy' has no attribute {name!r}")


def __dir__() -> list[str]:
    """What completion offers."""
    return sorted(__all__)
