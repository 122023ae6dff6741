"""What came of tests, as text on a terminal and as JUnit's XML.

In: results, one by one. Out: a line for each file as its tests end, then each failure with all there is to say, a line
for each, and a summary, in the manner of pytest.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from sacpy.testing.cases import Result

LETTERS = {"passed": ".", "failed": "F", "error": "E"}
COLORS = {"passed": "32", "failed": "31", "error": "31"}
WIDTH = 80
_ILLEGAL = re.compile("[^\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Progress:
    """Shows on a stream how the tests go. `color`: with escape sequences; `verbose`: a line for each test."""

    def __init__(self, out: TextIO, *, color: bool, verbose: bool) -> None:
        self.out = out
        self.color = color
        self.verbose = verbose
        self._file: Path | None = None

    def add(self, result: Result) -> None:
        """A test has ended."""
        status = result.outcome.status
        if self.verbose:
            self.out.write(f"{result.case.id} {self._painted(status.upper(), status)}\n")
        else:
            if result.case.file != self._file:
                self.out.write(("\n" if self._file is not None else "") + f"{result.case.file} ")
                self._file = result.case.file
            self.out.write(self._painted(LETTERS[status], status))
        self.out.flush()

    def finish(self, results: Sequence[Result], seconds: float, interrupted: bool, slowest: int = 0) -> None:
        """All there is to say in the end; of so many tests that took longest how long."""
        write = self.out.write
        if self._file is not None:
            write("\n")
        bad = [r for r in results if r.outcome.status != "passed"]
        for result in bad:
            write(f"\n{f' {result.case.id} '.center(WIDTH, '_')}\n")
            write(f"{result.case.file}:{result.case.line}\n{result.outcome.text.rstrip()}\n")
            if result.outcome.output:
                write(f"{' it printed '.center(WIDTH, '-')}\n{result.outcome.output.rstrip()}\n")
        if slowest and results:
            write(f"\n{' what took longest '.center(WIDTH, '=')}\n")
            for result in sorted(results, key=lambda r: -r.seconds)[:slowest]:
                write(f"{result.seconds:.3f} s  {result.case.id}\n")
        if bad:
            write(f"\n{' what is wrong '.center(WIDTH, '=')}\n")
        for result in bad:
            write(f"{self._painted(result.outcome.status.upper(), 'failed')} {result.case.id}")
            write(f" - {result.outcome.summary}\n")
        if interrupted:
            write("interrupted\n")
        write(f"{self._painted(summary(results, seconds), 'failed' if bad or interrupted else 'passed')}\n")

    def _painted(self, text: str, status: str) -> str:
        return f"\x1b[{COLORS[status]}m{text}\x1b[0m" if self.color else text


def summary(results: Sequence[Result], seconds: float) -> str:
    """The last line."""
    counts = {status: sum(r.outcome.status == status for r in results) for status in LETTERS}
    words = {"passed": "passed", "failed": "failed", "error": f"error{'s' * (counts['error'] != 1)}"}
    parts = [f"{counts[s]} {words[s]}" for s in ("failed", "passed", "error") if counts[s]]
    return f"{', '.join(parts) or 'no tests were found'} in {seconds:.2f} s"


def junit(results: Sequence[Result], seconds: float) -> str:
    """The results as JUnit's XML: a suite with a test case for each."""
    failures, errors = (sum(r.outcome.status == s for r in results) for s in ("failed", "error"))
    suites = tree.Element("testsuites")
    suite = tree.SubElement(
        suites, "testsuite", name="sacpy", tests=str(len(results)), failures=str(failures), errors=str(errors),
        time=f"{seconds:.3f}",
    )  # fmt: skip
    for result in results:
        case, outcome = result.case, result.outcome
        entry = tree.SubElement(
            suite, "testcase", classname=case.file.with_suffix("").as_posix().replace("/", "."), name=case.name,
            file=case.file.as_posix(), line=str(case.line), time=f"{result.seconds:.3f}",
        )  # fmt: skip
        if outcome.status != "passed":
            kind = "failure" if outcome.status == "failed" else "error"
            tree.SubElement(entry, kind, message=_legal(outcome.summary)).text = _legal(outcome.text)
        if outcome.output:
            tree.SubElement(entry, "system-out").text = _legal(outcome.output)
    tree.indent(suites)
    return tree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _legal(text: str) -> str:
    """Without what XML cannot hold."""
    return _ILLEGAL.sub("?", text)
