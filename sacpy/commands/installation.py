"""What sacpy's installer leaves in the package, so that nobody waits for it later: the parsed library, and the compiled
runtime of native code."""

from __future__ import annotations

from sacpy.lang.modules import install_library


def install() -> None:
    """Makes both anew. Where the package is built without llvmlite, the runtime is compiled when it is first needed."""
    install_library()
    try:
        from sacpy.jit.host.compile import install_runtime
    except ImportError:
        return
    install_runtime()
