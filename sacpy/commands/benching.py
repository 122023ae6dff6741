"""`sacpy bench`: how long calls take, on targets and numbers of threads side by side, and against an earlier state.

In: the options. Out: tables on standard output, a file for later comparisons, and the exit status: 1 where something is
slower than it was.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.benching.baselines import Baseline, Row, read, texts_of
from sacpy.benching.comparing import Verdict
from sacpy.benching.measuring import against, measured
from sacpy.benching.reports import comparison, table
from sacpy.benching.subjects import Subject, expressions
from sacpy.commands.settings import refuse, workspace_of
from sacpy.commands.watch import Files
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE
from sacpy.nodes import replace
from sacpy.workspace import Workspace

if TYPE_CHECKING:
    from sacpy.benching.roofline import Roofline


def run(parsed: argparse.Namespace, started: Callable[[], None]) -> int:
    """The command. Raises `SacError`."""
    started()
    workspace = workspace_of(parsed)
    workspace.preload()
    earlier = None if parsed.against is None else read(parsed.against)
    wanted = parsed.expressions or expressions(parsed.file, workspace, parsed.sizes)
    if not wanted:
        raise SacError(
            Diagnostic(
                "E0777",
                f"there is nothing to measure in {parsed.file}",
                NOWHERE,
                help=f"name a call, sacpy bench {parsed.file} 'f(iota(1000))', or define functions called bench_*",
            )
        )
    roofs: dict[Row, Roofline | str] = {}
    rows = list(_rows(parsed, workspace, wanted, roofs))
    verdicts = [] if earlier is None else list(_against(parsed, workspace, earlier, rows))
    _say(parsed, rows, verdicts, earlier, roofs)
    if parsed.save is not None:
        _write(parsed.save, json.dumps(_baseline(parsed, rows).as_data(), indent=1) + "\n")
    return int(any(verdict.word == "slower" for _, verdict, _ in verdicts))


def _ways(parsed: argparse.Namespace, workspace: Workspace) -> list[tuple[str, int, Workspace]]:
    """Targets and numbers of threads, each with its workspace; what interprets has no threads."""
    found: dict[tuple[str, int], Workspace] = {}
    for target, threads in itertools.product(parsed.targets, parsed.threads or [0]):
        number = 0 if target == "interp" else threads
        found[target, number] = replace(workspace, target=target, threads=number or None, _engine=None)
    return [(target, threads, space) for (target, threads), space in found.items()]


def _rows(
    parsed: argparse.Namespace, workspace: Workspace, wanted: Sequence[str], roofs: dict[Row, Roofline | str]
) -> Iterator[Row]:
    """Everything measured; with `--roofline`, `roofs` has the with-loops of each row."""
    for text in wanted:
        ways = _ways(parsed, workspace)
        subjects = [Subject(parsed.file, text, space) for _, _, space in ways]
        times = measured(subjects, parsed.time)
        for (target, threads, _), subject, one in zip(ways, subjects, times, strict=True):
            row = Row(text, target, threads, one)
            if parsed.roofline:
                from sacpy.benching.roofline import roofline

                roofs[row] = roofline(subject, parsed.time / 2)
            yield row


def _against(
    parsed: argparse.Namespace, workspace: Workspace, earlier: Baseline, rows: Sequence[Row]
) -> Iterator[tuple[Row, Verdict, int]]:
    """Each row that the earlier state has too, compared: both programs are measured now."""
    known = {(row.expression, row.target, row.threads) for row in earlier.rows}
    with tempfile.TemporaryDirectory(prefix="sacpy-bench-") as folder:
        program, folders = earlier.unfold(Path(folder))
        old = replace(workspace, search=folders, include_path=folders)
        for row in rows:
            if (row.expression, row.target, row.threads) not in known:
                continue
            spaces = (
                replace(space, target=row.target, threads=row.threads or None, _engine=None)
                for space in (old, workspace)
            )
            before, now = (
                partial(Subject, file, row.expression, space)
                for file, space in zip((program, parsed.file), spaces, strict=True)
            )
            verdict, groups = against(before, now, parsed.time, parsed.tolerance / 100)
            yield row, verdict, sum(map(len, groups))


def _baseline(parsed: argparse.Namespace, rows: Sequence[Row]) -> Baseline:
    from sacpy import __version__

    files = Files(parsed.file, parsed.search, parsed.include).digests()
    folders = [parsed.file.parent, *parsed.search, *parsed.include]
    program, texts = texts_of(parsed.file, files, folders)
    return Baseline(program, texts, tuple(rows), __version__)


def _say(
    parsed: argparse.Namespace,
    rows: Sequence[Row],
    verdicts: Sequence[tuple[Row, Verdict, int]],
    earlier: Baseline | None,
    roofs: Mapping[Row, Roofline | str],
) -> None:
    if parsed.json:
        data = _baseline(parsed, rows).as_data()
        data["against"] = [
            {
                "expression": row.expression, "target": row.target, "threads": row.threads,
                "ratio": verdict.ratio if count else None, "low": verdict.low if count else None,
                "high": verdict.high if count else None, "verdict": verdict.word, "pairs": count,
            }
            for row, verdict, count in verdicts
        ]  # fmt: skip
        if roofs:
            from sacpy.benching.roofline import data as loops_as_data
        for row, entry in zip(rows, data["benchmarks"]) if roofs else ():
            roof = roofs[row]
            entry["with_loops"] = roof if isinstance(roof, str) else loops_as_data(roof)
        sys.stdout.write(json.dumps(data, indent=1) + "\n")
        return
    sys.stdout.write(table(rows))
    for row, roof in roofs.items():
        from sacpy.benching.roofline import lines

        sys.stdout.write(f"with-loops of {row.expression}, {row.way}\n")
        sys.stdout.write("".join(f"  {line}\n" for line in ([roof] if isinstance(roof, str) else lines(roof))))
    if earlier is None:
        return
    sys.stdout.write(f"now against the program in {parsed.against}, measured in turns:\n")
    sys.stdout.write("".join(comparison(*one) for one in verdicts) or "  it has none of these calls\n")
    if earlier.texts == _baseline(parsed, rows).texts:
        sys.stdout.write("  the program is the same, so only chance can make a difference\n")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        refuse(f"cannot write {file}: {error.strerror}", "sacpy bench")
