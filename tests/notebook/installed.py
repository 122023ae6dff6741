"""A kernel installed as a user would install it, in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from sacpy.notebook.install import install


@contextmanager
def jupyter_with_kernel(prefix: Path) -> Iterator[Path]:
    """Jupyter finds the kernel under `prefix`, and reads and writes none of the machine's own settings."""
    install(prefix=str(prefix))
    root = str(Path(__file__).parents[2])
    settings = {
        "JUPYTER_PATH": str(prefix / "share/jupyter"),
        "JUPYTER_RUNTIME_DIR": str(prefix / "runtime"),
        "JUPYTER_CONFIG_DIR": str(prefix / "config"),
        "IPYTHONDIR": str(prefix / "ipython"),
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")])),
    }
    with mock.patch.dict(os.environ, settings):
        yield prefix
