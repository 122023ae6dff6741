"""What `--save` keeps: the times, and the program itself, so that it can be measured again beside a later one.

In: files and times. Out: plain data for a file in JSON, and from that the same again. The texts are all that a program
is made of, the library left out, by the number of the folder they were found in and their path there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sacpy.benching.measuring import Measured
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.nodes import Node

FORMAT = 1


class Row(Node):
    """The times of a call on a target; `threads` 0: as many as the machine has."""

    expression: str
    target: str
    threads: int
    measured: Measured

    @property
    def way(self) -> str:
        """How it ran, in words."""
        return self.target + (f", {self.threads} thread{'s' * (self.threads != 1)}" if self.threads else "")


class Baseline(Node):
    """`program`: the path of the program among `texts`; `version`: of sacpy."""

    program: str
    texts: Mapping[str, str]
    rows: tuple[Row, ...]
    version: str

    def as_data(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "format": FORMAT,
            "sacpy": self.version,
            "program": self.program,
            "benchmarks": [
                {
                    "expression": row.expression,
                    "target": row.target,
                    "threads": row.threads,
                    "first": row.measured.first,
                    "calls": row.measured.calls,
                    "median": row.measured.median,
                    "least": row.measured.least,
                    "samples": list(row.measured.samples),
                }
                for row in self.rows
            ],
            "texts": dict(self.texts),
        }

    def unfold(self, folder: Path) -> tuple[Path, list[Path]]:
        """Writes the texts below a folder; the program's file there, and the folders of the others."""
        for name, text in self.texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return folder / self.program, sorted(p for p in folder.iterdir() if p.is_dir())


def texts_of(program: Path, files: Iterable[Path], folders: Sequence[Path]) -> tuple[str, dict[str, str]]:
    """The name of a program among the texts, and the texts of all its files. `folders`: where files are found, that of
    the program first."""
    texts: dict[str, str] = {}
    for file in files:
        texts[_name(file, folders)] = file.read_bytes().decode("utf-8", "surrogateescape")
    return _name(program, folders), texts


def _name(file: Path, folders: Sequence[Path]) -> str:
    for number, folder in enumerate(folders):
        if file.resolve().is_relative_to(folder.resolve()):
            return f"{number}/{file.resolve().relative_to(folder.resolve()).as_posix()}"
    return f"0/{file.name}"


def read(path: Path) -> Baseline:
    """What `--save` wrote. Raises `SacError` (E0778)."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise _unreadable(path, f"it has the format {data['format']}, and this sacpy knows {FORMAT}")
        rows = tuple(
            Row(
                str(one["expression"]),
                str(one["target"]),
                int(one["threads"]),
                Measured(float(one["first"]), tuple(map(float, one["samples"])), int(one["calls"])),
            )
            for one in data["benchmarks"]
        )
        texts = {str(name): str(text) for name, text in data["texts"].items()}
        if str(data["program"]) not in texts or any(_leaves(name) for name in texts):
            raise _unreadable(path, "it does not hold its program")
        return Baseline(str(data["program"]), texts, rows, str(data["sacpy"]))
    except OSError as error:
        raise _unreadable(path, str(error.strerror)) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _unreadable(path, "it is not what sacpy bench --save writes") from None


def _leaves(name: str) -> bool:
    """Whether a path leads out of the folder it is meant for."""
    return Path(name).is_absolute() or ".." in Path(name).parts


def _unreadable(path: Path, why: str) -> SacError:
    return SacError(
        Diagnostic(
            "E0778",
            f"{path} cannot be compared with: {why}",
            NOWHERE,
            help=f"write it with sacpy bench --save {path} .. while the program is as it was",
        )
    )


__all__ = ["Baseline", "Row", "read", "texts_of"]
