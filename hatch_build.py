"""What is done when the package is built, for a wheel or an installation in place: the library is parsed, so that nobody waits for that later."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ParsedLibrary(BuildHookInterface[Any]):
    """Leaves `sacpy/stdlib/parsed.image` in the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        subprocess.run([sys.executable, "-B", "-c", "from sacpy.lang.modules import install_library; install_library()"], cwd=self.root, check=True)
        build_data["artifacts"].append("/sacpy/stdlib/parsed.image")
