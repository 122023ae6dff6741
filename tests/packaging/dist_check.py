"""Builds the wheel and the sdist, installs each in a clean virtual environment, and uses what is there.

`make dist-check` runs it; it needs a package index for the dependencies, and takes a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = 'use StdIO: all;\nuse Array: all;\nint main() { print(iota(3) + 1); printf("%d\\n", sum(iota(5))); return 7; }\n'
PARSED = "import pickle; from sacpy.lang.image import read_image; print(pickle.loads(read_image()['Array']).span.source.name)"
PYTHON = 'import sacpy; print(sacpy.Session().eval("sum(iota(5))"), sacpy.__version__)'


def main() -> None:
    """Raises where something is not as it should be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = _environment(folder / "tools")
        _run(tools, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "build")
        _run(tools, "-m", "build", "--outdir", str(folder / "dist"), str(ROOT))
        packages = sorted((folder / "dist").iterdir())
        assert {p.suffix for p in packages} == {".whl", ".gz"}, packages
        _complete(next(p for p in packages if p.suffix == ".whl"))
        for package in packages:
            _try(folder / f"try{package.suffix}", package)
            print(f"{package.name}: installs and runs")


def _complete(wheel: Path) -> None:
    """Every file of the package that git knows is in the wheel, and what was made ahead."""
    known = subprocess.run(["git", "ls-files", "sacpy"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        missing = {*known, "sacpy/stdlib/parsed.image", "sacpy/jit/host/runtime.object"} - set(archive.namelist())
    assert not missing, f"the wheel lacks {sorted(missing)}"


def _environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / "bin/python"


def _try(folder: Path, package: Path) -> None:
    """Installs a package with what it needs, and runs a program, an expression, the prompt, the doctor and the Python API away from the source tree."""
    python = _environment(folder)
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(package))
    (folder / "program.sac").write_text(PROGRAM, encoding="utf-8")
    sacpy = folder / "bin/sacpy"
    assert _out(sacpy, "program.sac", cwd=folder, status=7) == "Dimension:  1\nShape    : <  3>\n< 1  2  3 > \n10\n"
    assert _out(sacpy, "eval", "toi(sqrt(2.0) * 100.0)", cwd=folder).endswith(" 141\n")
    assert _out(sacpy, cwd=folder, typed="x = 3\nx + 1\n") == "int 4\n"
    assert "everything needed to run SaC programs is there" in _out(sacpy, "doctor", cwd=folder)
    assert "iota(4)" in _out(sacpy, "doc", "iota", cwd=folder)
    assert _out(python, "-c", PYTHON, cwd=folder).startswith("10 ")
    assert Path(_out(python, "-c", PARSED, cwd=folder).strip()).is_relative_to(folder.resolve())  # valid, and at home where it was installed
    assert _out(python, "-c", "from importlib.resources import files; print(files('sacpy').joinpath('py.typed').is_file())", cwd=folder) == "True\n"


def _run(python: Path, *arguments: str) -> None:
    subprocess.run([python, *arguments], check=True, stdout=sys.stderr)


def _out(program: Path, *arguments: str, cwd: Path, typed: str = "", status: int = 0) -> str:
    """Standard output of a program that must end with that status; the source tree is out of its sight."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"SACPY_CACHE_DIR": str(cwd / "cache")}
    done = subprocess.run([program, *arguments], cwd=cwd, env=environment, input=typed, capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{program.name} {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    main()
