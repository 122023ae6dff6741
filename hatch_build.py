"""What is done when the package is built, for a wheel or an installation in place: the library is parsed and the runtime of native code compiled, so that nobody waits for that later."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MadeAhead(BuildHookInterface[Any]):
    """Leaves `sacpy/stdlib/parsed.image` and `sacpy/jit/host/runtime.object` in the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        subprocess.run([sys.executable, "-B", "-c", "from sacpy.installation import install; install()"], cwd=self.root, check=True)
        build_data["artifacts"] += ["/sacpy/stdlib/parsed.image", "/sacpy/jit/host/runtime.object"]
