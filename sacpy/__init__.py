"""sacpy: SaC (Single Assignment C), the functional array language, in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sacpy.lang.diagnostics import Diagnostic, SacError
    from sacpy.session import Session

__all__ = ["Diagnostic", "SacError", "Session", "__version__"]


def __getattr__(name: str) -> Any:
    """The public names, loaded when first used: importing sacpy costs nothing."""
    if name == "Session":
        from sacpy.session import Session

        return Session
    if name in ("Diagnostic", "SacError"):
        from sacpy.lang import diagnostics

        return getattr(diagnostics, name)
    raise AttributeError(f"module 'sacpy' has no attribute {name!r}")
