"""`sacpy doctor`: what this installation can do, and what to do about what it cannot.

In: the machine it runs on. Out: findings in words a user can act on. Nothing heavy is imported and no device is opened:
packages are asked for their version only, a graphics card through what its driver writes to the file system.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from sacpy.base.distribution import NAME, OTHER, extra

OLDEST_PYTHON = (3, 11)
REQUIRED = ("numpy", "platformdirs")
FOR_NATIVE_CODE = ("llvmlite",)
FOR_THE_PROMPT = ("prompt-toolkit", "pygments")
FOR_NOTEBOOKS = ("ipykernel",)
FOR_EDITORS = ("pygls",)
FOR_PLOTS = ("matplotlib",)
FOR_CUDA = ("cuda-python", "nvidia-nvvm", "nvidia-nvjitlink")
DRIVER = Path("/proc/driver/nvidia")
MARKS = {"ok": "+", "note": "-", "problem": "!"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `level`: "ok", "note" (something optional is not there) or "problem" (sacpy does not work
    as it should). `remedy`: what to do."""

    level: str
    topic: str
    text: str
    remedy: str = ""


def diagnose() -> list[Finding]:
    """Everything there is to say, in the order of the report."""
    cache = list(_cache())  # before the compiler is tried, which fills it
    return [*_sacpy(), *_packages(), *_compiler(), *_gpu(), *cache]


def report(findings: Sequence[Finding]) -> str:
    """The findings as text: one line each, and below it what to do."""
    lines: list[str] = []
    for found in findings:
        lines.append(f"{MARKS[found.level]} {found.topic}: {found.text}")
        if found.remedy:
            lines.append(f"    {found.remedy}")
    problems = sum(f.level == "problem" for f in findings)
    lines.append(
        "everything needed to run SaC programs is there"
        if not problems
        else f"{problems} problem{'s' * (problems > 1)} to mend, marked with '!'"
    )
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- what runs the programs


def _sacpy() -> Iterator[Finding]:
    from sacpy import __version__

    yield Finding("ok", "sacpy", f"{__version__} ({NAME}), in {Path(__file__).parents[1]}")
    version = ".".join(map(str, sys.version_info[:3]))
    where = f"{platform.python_implementation()} {version}, {sys.executable}"
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("problem", "Python", where, f"sacpy needs Python {'.'.join(map(str, OLDEST_PYTHON))} or later")
    else:
        yield Finding("ok", "Python", where)
    yield from _names()
    yield Finding("ok", "machine", f"{platform.system()} {platform.machine()}, {os.cpu_count() or 1} cores")


def _names() -> Iterator[Finding]:
    """Whether the distribution of others that has our name has been installed too, and overwritten files, or will."""
    other = next((d for d in metadata.distributions(name=OTHER) if _has_our_files(d)), None)
    if other is not None:
        text = f"the distribution {OTHER} {other.version} (climate data) is installed here, and overwrites our files"
        remedy = f"pip uninstall -y {OTHER}; pip install --force-reinstall --no-deps {NAME}; keep the two apart"
        yield Finding("problem", "names", text, remedy)


def _has_our_files(distribution: metadata.Distribution) -> bool:
    """Whether a distribution has put its files where our package is."""
    return any(file.parts[:1] == ("sacpy",) for file in distribution.files or ())


def _version(package: str) -> str | None:
    """The version of an installed package, without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> Iterator[Finding]:
    for name in REQUIRED:
        yield _package(name, "problem", f"needed: {_install(name)}")
    for name in FOR_NATIVE_CODE:
        yield _package(
            name, "note", f"needed to compile what is hot; without it everything is interpreted: {_install(name)}"
        )
    for name in FOR_THE_PROMPT:
        yield _package(name, "note", f"needed for the prompt only (`sacpy` alone): {_install(name)}")
    for name in FOR_NOTEBOOKS:
        yield _package(name, "note", f"needed for notebooks only (`sacpy kernel install`): {_install(name)}")
    for name in FOR_EDITORS:
        yield _package(name, "note", f"needed for editors only (`sacpy lsp`): {_install(name)}")
    for name in FOR_PLOTS:
        what = "needed for plots in PNG and PDF files only (`:plot v to v.png`)"
        yield _package(name, "note", f"{what}: {_install(name)}")


def _package(name: str, level: str, remedy: str) -> Finding:
    version = _version(name)
    if version is not None:
        return Finding("ok", name, version)
    if util.find_spec(name.replace("-", "_")) is not None:
        return Finding("ok", name, "there, version unknown")
    return Finding(level, name, "not installed", remedy)


def _install(package: str) -> str:
    return f"{Path(sys.executable).name} -m pip install {package}"


# ---------------------------------------------------------------- the compiler

TRIAL = (
    "use Array: all; int squares(int n) { return with { ([0] <= [i] < [n]) : i * i; } : fold(+, 0); } int main() "
    "{ return 0; }"
)


def _compiler() -> Iterator[Finding]:
    """Whether native code can be made and run: a small function is compiled, loaded and called in a process of its own,
    since a compiler that does not fit the machine may not survive it."""
    if any(_version(name) is None for name in FOR_NATIVE_CODE):
        return
    program = "from sacpy.commands.doctor import trial\nprint(trial())"
    try:
        tried = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding(
            "problem", "compiler", f"it could not be tried: {error}", "programs run interpreted with --target interp"
        )
        return
    if tried.returncode == 0:
        yield Finding("ok", "compiler", tried.stdout.strip())
    else:
        last = (tried.stderr.strip().splitlines() or [f"it ended with status {tried.returncode}"])[-1]
        yield Finding(
            "problem",
            "compiler",
            f"it does not work here: {last}",
            "programs run with --target interp; please report this",
        )


def trial() -> str:
    """Compiles and calls a small function, and says for what machine. Raises whatever goes wrong."""
    from llvmlite import binding

    from sacpy.interp.evaluator import Evaluator
    from sacpy.interp.world import World
    from sacpy.jit.cache import Cache
    from sacpy.jit.options import cores
    from sacpy.jit.run.engine import Engine
    from sacpy.workspace import Workspace

    program, _ = Workspace().load_text(TRIAL)
    engine = Engine("cpu", eager=True, defects=True, cache=Cache(None))
    evaluator = Evaluator(program, World.captured(), engine=engine)
    (found,) = evaluator.call(program.key(program.main.own("squares")[0], ()), (1000,))
    if found != sum(i * i for i in range(1000)) or not engine.entered()[0].versions:
        raise RuntimeError(f"compiled code gave {found}")
    return f"works, for the processor {binding.get_host_cpu_name()}; loops may use {cores()} threads"


# ---------------------------------------------------------------- graphics cards


def _gpu() -> Iterator[Finding]:
    cards = _cards()
    missing = [name for name in FOR_CUDA if _version(name) is None]
    if cards:
        yield Finding("ok", "GPU", f"{', '.join(cards)}{_driver_version()}; --target cuda runs with-loops there")
    else:
        yield Finding("note", "GPU", "none found; programs run on the CPU, and kernels with --target emulator")
    if not missing:
        yield Finding("ok", "CUDA packages", ", ".join(f"{name} {_version(name)}" for name in FOR_CUDA))
    elif cards:
        yield Finding("note", "CUDA packages", f"without {', '.join(missing)}, which --target cuda uses", extra("cuda"))
    else:
        yield Finding("note", "CUDA packages", "not installed, and not needed without a GPU")


def _cards() -> list[str]:
    """The names of the NVIDIA cards that the driver knows."""
    names: list[str] = []
    for file in sorted(DRIVER.glob("gpus/*/information")):
        try:
            lines = file.read_text(errors="replace").splitlines()
        except OSError:
            continue
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    if not names and (Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi")):
        names.append("an NVIDIA card")
    return names


def _driver_version() -> str:
    try:
        first = (DRIVER / "version").read_text(errors="replace").splitlines()[0]
    except (OSError, IndexError):
        return ""
    version = next((word for word in first.split() if word[:1].isdigit() and "." in word), "")
    return f" (driver {version})" if version else ""


# ---------------------------------------------------------------- the cache


def _cache() -> Iterator[Finding]:
    from sacpy.base import kept
    from sacpy.base.kept import chosen_folder

    folder = chosen_folder()
    if folder is None and util.find_spec("platformdirs") is None:
        return  # which has been said
    if folder is None:
        yield Finding(
            "note",
            "cache",
            "turned off by SACPY_CACHE_DIR, which is empty; every start parses the library anew, about a second",
            "unset SACPY_CACHE_DIR, or set it to a folder",
        )
        return
    files = [path for path in folder.glob("**/*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    why = kept.fault(folder) or kept.fault(folder / "native")
    if why:
        text = f"{folder} is not used, since {why}; every start parses and compiles anew"
        yield Finding("problem", "cache", text, kept.remedy(folder if kept.fault(folder) else folder / "native"))
    elif not _writable(folder):
        yield Finding(
            "problem",
            "cache",
            f"{folder} cannot be written; every start parses the library anew, about a second",
            "make it writable, or set SACPY_CACHE_DIR to a folder that is",
        )
    elif not files:
        yield Finding("ok", "cache", f"{folder}, empty; the first run fills it")
    else:
        yield Finding(
            "ok",
            "cache",
            f"{folder}, {_size(size)} in {len(files)} file{'s' * (len(files) > 1)}; it may be deleted at any time",
        )
    yield from _native(folder)
    yield from _library(folder)


def _native(folder: Path) -> Iterator[Finding]:
    from sacpy.jit.cache import Cache

    info = Cache(folder / "native").info()
    yield Finding(
        "ok",
        "compiled code",
        f"{info.files} file{'s' * (info.files != 1)}, {_size(info.size)} of at most {_size(info.most)}; sacpy cache "
        "clear removes it",
    )


def _library(folder: Path) -> Iterator[Finding]:
    from sacpy.lang.image import read_image
    from sacpy.lang.modules import parsed_library
    from sacpy.lang.source import STDLIB

    modules = len(list(STDLIB.glob("*.sac")))
    if not modules:
        yield Finding("problem", "standard library", f"missing: no module in {STDLIB}", "install sacpy again")
    elif parsed_library(folder).is_file():
        yield Finding("ok", "standard library", f"{modules} modules; those used so far are in the cache, parsed")
    elif read_image():
        yield Finding("ok", "standard library", f"{modules} modules, parsed when sacpy was installed")
    else:
        yield Finding(
            "ok", "standard library", f"{modules} modules; each is parsed when it is first used, and kept in the cache"
        )


def _writable(folder: Path) -> bool:
    """Whether a file can be made in the folder, or in the nearest one above it that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
