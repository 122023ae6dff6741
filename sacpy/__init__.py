"""sacpy: SaC (Single Assignment C), the functional array language, in Python."""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] and "sacpy" in sys.orig_argv:  # `python -m sacpy` comes here before it comes to the command
    from sac_lang import quiet

    quiet()

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sacpy.capture.elemental import elemental, reduction
    from sacpy.capture.function import Captured, function
    from sacpy.capture.generalised import generalised
    from sacpy.capture.heads import Bool, Complex, Double, Float, Int, Int32, UInt8
    from sacpy.capture.importer import install_importer
    from sacpy.capture.tracing import trace
    from sacpy.embedding.functions import Function, Module
    from sacpy.embedding.grants import World
    from sacpy.embedding.kinds import Handle
    from sacpy.embedding.packed import Packed, packed, packed_from_dense
    from sacpy.interp.limits import Limits
    from sacpy.jit.device.interop import to_device
    from sacpy.jit.device.memory import DeviceArray
    from sacpy.lang.diagnostics import Diagnostic, SacError
    from sacpy.session import Session

__all__ = [
    "Bool",
    "Captured",
    "Complex",
    "DeviceArray",
    "Diagnostic",
    "Double",
    "Float",
    "Function",
    "Handle",
    "Int",
    "Int32",
    "Limits",
    "Module",
    "Packed",
    "SacError",
    "Session",
    "UInt8",
    "World",
    "__version__",
    "elemental",
    "function",
    "generalised",
    "install_importer",
    "packed",
    "packed_from_dense",
    "reduction",
    "to_device",
    "trace",
]

_WHERE = {
    "Diagnostic": "sacpy.lang.diagnostics", "SacError": "sacpy.lang.diagnostics",
    "Function": "sacpy.embedding.functions", "Module": "sacpy.embedding.functions", "Handle": "sacpy.embedding.kinds",
    "Limits": "sacpy.interp.limits",
    **dict.fromkeys(("Packed", "packed", "packed_from_dense"), "sacpy.embedding.packed"),
    "DeviceArray": "sacpy.jit.device.memory", "to_device": "sacpy.jit.device.interop",
    "World": "sacpy.embedding.grants", "Session": "sacpy.session", "load_ipython_extension": "sacpy.notebook.magic",
    "unload_ipython_extension": "sacpy.notebook.magic",
    **dict.fromkeys(("Double", "Float", "Int", "Int32", "UInt8", "Bool", "Complex"), "sacpy.capture.heads"),
    **dict.fromkeys(("function", "Captured"), "sacpy.capture.function"),
    **dict.fromkeys(("elemental", "reduction"), "sacpy.capture.elemental"),
    "generalised": "sacpy.capture.generalised",
    "install_importer": "sacpy.capture.importer", "trace": "sacpy.capture.tracing",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """The public names, and what `%load_ext sacpy` asks for, loaded when first used: importing sacpy costs nothing."""
    if name in _WHERE:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_WHERE[name]), name)
        return value
    why = "" if name.startswith("_") or _is_module(name) else _of_others() or _of_sessions(name)
    raise AttributeError(f"module 'sacpy' has no attribute {name!r}{why}")


def _is_module(name: str) -> bool:
    """Whether a module of ours has that name: `from sacpy import kept` asks for it here before the module is loaded."""
    import os

    return any(os.path.exists(os.path.join(place, name + end)) for place in __path__ for end in ("", ".py"))


def _of_sessions(name: str) -> str:
    """A word to those who look here for what a session does."""
    from sacpy.session import Session

    return f"; sessions have it: sacpy.Session().{name}(..)" if callable(getattr(Session, name, None)) else ""


def _of_others() -> str:
    """A word to those who have installed the other distribution with this name, and look for what that one has."""
    from importlib import metadata

    from sacpy.base.distribution import NAME, OTHER

    if not any(file.parts[:1] == ("sacpy",) for d in metadata.distributions(name=OTHER) for file in d.files or ()):
        return ""
    overwritten = f"; this is sacpy of {NAME} (SaC), whose files have overwritten those of the distribution {OTHER}"
    return f"{overwritten}: pip uninstall -y {NAME}; pip install --force-reinstall {OTHER}"


def __dir__() -> list[str]:
    """What completion offers."""
    return sorted(__all__)
