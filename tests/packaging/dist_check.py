"""Builds the wheels and the sdist, installs each in a clean virtual environment, and uses what is there.

`make dist-check` runs it; it needs a package index for the dependencies, and takes some minutes. With `--quick` it is
the wheel for this machine only.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.docs.conversations import follow  # noqa: E402

PROGRAM = (
    'use StdIO: all;\nuse Array: all;\nint main() { print(iota(3) + 1); printf("%d\\n", sum(iota(5))); return 7; }\n'
)
PARSED = (
    "from sacpy.lang.image import read_image; from sacpy.lang.modules import packing; "
    "print(packing().unpacked(read_image()['Array']).span.source.name)"
)
PYTHON = 'import sacpy; print(sacpy.Session().eval("sum(iota(5))"), sacpy.__version__)'
COMPILED = "import sacpy; print(sacpy.Session('cpu').eval('sum({ [i] -> i % 7 | [i] < [1000000] })'))"
RUNTIME = "sacpy/jit/host/runtime.object"
MADE = {"sacpy/stdlib/parsed.image"}
HERE = sys.platform == "linux" and platform.machine() == "x86_64"  # where a wheel has the runtime


def main() -> None:
    """Raises where something is not as it should be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = _environment(folder / "tools")
        _run(tools, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "build", "twine")
        dist = folder / "dist"
        if "--quick" in sys.argv:
            _run(tools, "-m", "build", "--wheel", "--outdir", str(dist), str(ROOT))
            (package,) = dist.iterdir()
            _try(folder / "try", package)
            _ten_minutes(folder / "try", package)
            return
        _run(tools, "-m", "build", "--outdir", str(dist), str(ROOT))
        _run(tools, "-m", "build", "--wheel", "--outdir", str(dist), str(ROOT), SAC_LANG_PURE="1")
        _run(tools, "-m", "twine", "check", "--strict", *map(str, dist.iterdir()))
        packages = sorted(dist.iterdir())
        ends = {"-py3-none-any.whl", ".tar.gz"} | ({"-py3-none-manylinux2014_x86_64.whl"} if HERE else set())
        assert len(packages) == len(ends) and all(p.name.endswith(tuple(ends)) for p in packages), packages
        assert all(p.name.startswith("sac_lang-") for p in packages), packages
        _complete(packages)
        for number, package in enumerate(packages):
            _try(folder / f"try{number}", package)
            print(f"{package.name}: installs and runs", flush=True)
            if package.suffix == ".whl" and ("manylinux" in package.name) == HERE:
                _ten_minutes(folder / f"try{number}", package)
        _beside_the_other(folder, folder / "try0", packages[0])


def _complete(packages: list[Path]) -> None:
    """Every file of the package that git knows is in each, and in wheels what was made ahead."""
    known = subprocess.run(
        ["git", "ls-files", "sacpy"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    for package in packages:
        wanted = {*known, "sac_lang.py"}
        if package.suffix == ".gz":
            with tarfile.open(package) as archive:
                names = {name.partition("/")[2] for name in archive.getnames()}
        else:
            wanted |= MADE
            with zipfile.ZipFile(package) as wheel:
                names = set(wheel.namelist())
            assert (RUNTIME in names) == ("manylinux" in package.name), package
        assert not wanted - names, f"{package.name} lacks {sorted(wanted - names)}"


def _beside_the_other(folder: Path, place: Path, package: Path) -> None:
    """Where the distribution that has our import name overwrites our files, the command says what to do, and that
    helps."""
    other = folder / "sacpy-0.0.24-py3-none-any.whl"
    info = "sacpy-0.0.24.dist-info"
    with zipfile.ZipFile(other, "w") as wheel:
        wheel.writestr("sacpy/__init__.py", "__version__ = '0.0.24'  # climate data\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sacpy\nVersion: 0.0.24\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", f"sacpy/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    python, sacpy = place / "bin/python", place / "bin/sacpy"
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    _run(*pip, "install", "--quiet", str(other))
    assert "is not that of SaC" in _out(sacpy, "eval", "1+1", cwd=place, status=1, errors=True)
    _run(*pip, "uninstall", "--quiet", "-y", "sacpy")
    _run(*pip, "install", "--quiet", "--force-reinstall", "--no-deps", str(package))
    assert _out(sacpy, "eval", "1+1", cwd=place) == "2\n"
    print("beside the other distribution: said, and mended")


def _environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / "bin/python"


def _try(folder: Path, package: Path) -> None:
    """Installs a package with what it needs, and runs a program, an expression, the prompt, the doctor and the Python
    API away from the source tree."""
    python = _environment(folder)
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(package))
    (folder / "program.sac").write_text(PROGRAM, encoding="utf-8")
    sacpy = folder / "bin/sacpy"
    assert _out(sacpy, "program.sac", cwd=folder, status=7) == "Dimension:  1\nShape    : <  3>\n< 1  2  3 > \n10\n"
    assert _out(sacpy, "eval", "toi(sqrt(2.0) * 100.0)", cwd=folder) == "141\n"
    assert _out(sacpy, cwd=folder, typed="x = 3\nx + 1\n") == "int 4\n"
    assert "everything needed to run SaC programs is there" in _out(sacpy, "doctor", cwd=folder)
    assert "iota(4)" in _out(sacpy, "doc", "iota", cwd=folder)
    assert "index out of bounds" in _out(sacpy, "doc", "E0506", cwd=folder)
    assert _out(python, "-c", PYTHON, cwd=folder).startswith("10 ")
    assert _out(python, "-c", COMPILED, cwd=folder) == "2999997\n"
    # valid, and at home where it was installed
    assert Path(_out(python, "-c", PARSED, cwd=folder).strip()).is_relative_to(folder.resolve())
    assert (
        _out(
            python,
            "-c",
            "from importlib.resources import files; print(files('sacpy').joinpath('py.typed').is_file())",
            cwd=folder,
        )
        == "True\n"
    )


def _ten_minutes(place: Path, package: Path) -> None:
    """A reader follows docs/ten-minutes.md with the package that has been installed there."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SAC_LANG_PURE")}
    work = place / "ten minutes"
    work.mkdir()
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    count = follow(work, kept | {"PATH": path, "SACPY_CACHE_DIR": str(place / "new cache")})
    print(f"{package.name}: {count} commands of the ten minutes print what they should", flush=True)


def _run(python: Path, *arguments: str, **environment: str) -> None:
    subprocess.run([python, *arguments], check=True, stdout=sys.stderr, env={**os.environ, **environment})


def _out(program: Path, *arguments: str, cwd: Path, typed: str = "", status: int = 0, errors: bool = False) -> str:
    """Standard output (or, with `errors`, standard error) of a program that must end with that status; the source tree
    is out of its sight."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SAC_LANG_PURE")}
    environment = kept | {"SACPY_CACHE_DIR": str(cwd / "cache")}
    command = [program, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, input=typed, capture_output=True, text=True, check=False)
    said = f"{program.name} {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == status, said
    return done.stderr if errors else done.stdout


if __name__ == "__main__":
    main()
