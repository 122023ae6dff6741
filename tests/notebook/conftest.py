"""A kernel installed in a folder of its own, where Jupyter looks for the time of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sacpy.cli import main


@pytest.fixture(scope="session", autouse=True)
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The prefix with the kernel, installed as a user would; none of the machine's own settings are read or written."""
    prefix = tmp_path_factory.mktemp("jupyter")
    assert main(["kernel", "install", "--prefix", str(prefix)]) == 0
    settings = {"JUPYTER_PATH": str(prefix / "share/jupyter"), "JUPYTER_RUNTIME_DIR": str(prefix / "runtime"), "JUPYTER_CONFIG_DIR": str(prefix / "config"), "IPYTHONDIR": str(prefix / "ipython")}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
        yield prefix
