"""What is done when the package is built, for a wheel or an installation in place: the library is parsed and the
runtime
of native code compiled, so that nobody waits for that later.

The compiled runtime is for x86-64 on Linux (of any C library: nothing in it is linked), so a wheel with it is for that
platform. With SAC_LANG_PURE=1 in the environment, and on all other platforms, the wheel is without it, and for all
platforms: there the runtime is compiled when it is first needed, and kept in the user's cache.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

RUNTIME = "sacpy/jit/host/runtime.object"
TAG = "py3-none-manylinux2014_x86_64"


class MadeAhead(BuildHookInterface[Any]):
    """Leaves `parsed.image` and `runtime.object` in the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        code = "from sacpy.commands.installation import install; install()"
        subprocess.run([sys.executable, "-B", "-c", code], cwd=self.root, check=True)
        build_data["artifacts"].append("/sacpy/stdlib/parsed.image")
        here = sys.platform == "linux" and platform.machine() == "x86_64" and Path(self.root, RUNTIME).is_file()
        if here and not os.environ.get("SAC_LANG_PURE"):
            build_data["artifacts"].append(f"/{RUNTIME}")
            build_data["tag"] = TAG
        if version != "editable":  # the pages that `sacpy doc` shows; in place, those of docs/ are read
            build_data["force_include"] |= {f"docs/{page}.md": f"sacpy/{page}.md" for page in ("errors", "language")}
