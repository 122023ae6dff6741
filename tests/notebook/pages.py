"""The notebooks in `docs/`, run from top to bottom.

In: a notebook. Out: the same with what its cells give now. `python -m tests.notebook.pages` brings the files up to
date.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).parents[2] / "docs"
PACKED = re.compile(r"base64,[^']*")  # how small zlib packs a picture depends on its version
PAGES = sorted(DOCS.glob("*.ipynb"))


def run(page: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs."""
    notebook = nbformat.read(page, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=60, resources={"metadata": {"path": folder}}, record_timing=False).execute()
    return notebook


def outputs(notebook: nbformat.NotebookNode) -> list[list[dict[str, Any]]]:
    """What each cell of code shows, without what depends on the versions of other packages."""
    return [[_output(o) for o in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def _output(output: nbformat.NotebookNode) -> dict[str, Any]:
    kept = {
        key: output[key]
        for key in ("output_type", "name", "text", "data", "ename", "evalue", "traceback")
        if key in output
    }
    if "data" in kept:
        kept["data"] = {
            mime: "" if mime == "image/png" else PACKED.sub("", content) for mime, content in kept["data"].items()
        }
    return kept


if __name__ == "__main__":
    from tests.notebook.installed import jupyter_with_kernel

    with jupyter_with_kernel(Path(tempfile.mkdtemp())):
        for path in PAGES:
            nbformat.write(run(path), path)
