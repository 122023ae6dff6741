"""A kernel that Jupyter finds for the time of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.installed import jupyter_with_kernel


@pytest.fixture(scope="session", autouse=True)
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The prefix with the kernel."""
    with jupyter_with_kernel(tmp_path_factory.mktemp("jupyter")) as prefix:
        yield prefix
