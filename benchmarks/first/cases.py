"""What is run: the programs of the repository as cases, with what they must print and the peers that print the same.

In: the folders. Out: `Case`s, by name. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GROUPS = ("programs", "suite", "small", "table", "embedding")
SUITE_SIZE = "cached"
PEERS = {"python": "_python.py", "numpy": "_numpy.py", "numba": "_numba.py", "c": ".c"}
START = "table/start"
FAILS = {"table/fails_late": ("E0601", 1)}
"""Cases that end with a diagnostic: its code, and the exit status."""


@dataclass(frozen=True, slots=True)
class Case:
    """One program. `source`: a SaC program, or a script of Python that gets the target as its last argument;
    `expected`: what it prints; `code`: of the diagnostic that it ends with, "" where it does not; `peers`: files that
    print the same, by kind."""

    name: str
    source: Path
    expected: bytes
    stdin: bytes = b""
    arguments: tuple[str, ...] = ()
    code: str = ""
    status: int = 0
    peers: dict[str, Path] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        """The name without the group."""
        return self.name.partition("/")[2]


def cases() -> dict[str, Case]:
    """All of them, by name: GROUP/NAME."""
    found = [*_programs(), *_suite(), *(c for group in GROUPS[2:] for c in _own(group))]
    return {case.name: case for case in found}


def _programs() -> Iterator[Case]:
    """Those of `programs/`: a file, or a folder with a `main.sac`."""
    folder = ROOT / "programs"
    for path in sorted([*folder.glob("*.sac"), *folder.glob("*/main.sac")]):
        name = path.parent.name if path.stem == "main" else path.stem
        yield _case(f"programs/{name}", path, folder / name)


def _suite() -> Iterator[Case]:
    """Those of the suite: a process loads the program, calls it once and compares with the version of NumPy."""
    from benchmarks.suite import benchmarks

    for benchmark in benchmarks():
        arguments = (benchmark.name, SUITE_SIZE)
        yield Case(f"suite/{benchmark.name}", HERE / "suite.py", b"agrees\n", arguments=arguments)


def _own(group: str) -> Iterator[Case]:
    for path in sorted((HERE / group).glob("*.sac")):
        driver = path.with_suffix(".py")
        yield _case(f"{group}/{path.stem}", driver if driver.exists() else path, path.with_suffix(""))


def _case(name: str, source: Path, stem: Path) -> Case:
    """A case whose other files lie beside `stem`."""
    expected, stdin = (stem.with_name(stem.name + suffix) for suffix in (".expected", ".stdin"))
    peers = {kind: stem.with_name(stem.name + suffix) for kind, suffix in PEERS.items()}
    code, status = FAILS.get(name, ("", 0))
    return Case(
        name,
        source,
        expected.read_bytes(),
        stdin.read_bytes() if stdin.exists() else b"",
        code=code,
        status=status,
        peers={kind: path for kind, path in peers.items() if path.exists()},
    )
