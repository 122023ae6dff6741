"""`sacpy watch`: runs again when, and only when, the program's text changes."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

from sacpy.commands.watch import Files

PATIENCE = 20.0  # seconds; reached only when something is wrong


class Watcher:
    """A watcher as a process, and what it prints, line by line."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sacpy", "watch", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def run(self) -> list[str]:
        """What a run prints, with the line behind it."""
        lines = [self.lines.get(timeout=PATIENCE)]
        while not lines[-1].startswith("["):
            lines.append(self.lines.get(timeout=PATIENCE))
        return lines


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "Own.sac").write_text("module Own; export all; int own() { return 5; }")
    path = tmp_path / "p.sac"
    path.write_text(
        'use StdIO: all; use Own: all; use CommandLine: all;\nint main() { printf("%d args\\n", argc()); return '
        "own(); }\n"
    )
    return path


@pytest.fixture
def watcher(program: Path) -> Iterator[Watcher]:
    made = Watcher("-D", "N=11", str(program), "a", "b")
    yield made
    if made.process.poll() is None:
        os.killpg(made.process.pid, signal.SIGKILL)
        made.process.wait()


def test_a_change_of_the_program_or_a_module_runs_it_again(watcher: Watcher, program: Path) -> None:
    assert watcher.run() == ["3 args", "[exit status 5; watching 2 files, Ctrl-C ends]"]
    module = program.parent / "Own.sac"
    module.write_text(module.read_text().replace("5", "6"))
    assert watcher.run()[-1].startswith("[exit status 6;")
    program.write_text(program.read_text().replace("own()", "N"))
    assert watcher.run()[-1].startswith("[exit status 11;")
    program.write_text(program.read_text().replace("N;", "N"))
    assert "error[E02" in "".join(watcher.run())
    program.write_text("int main() { while (true) { } return 0; }")
    program.write_text("int main() { while (1 > 0) { } return 0; }")
    program.write_text("int main() { return 9; }")
    while (last := watcher.run()[-1]).startswith("[ended by a change"):
        pass
    assert last.startswith("[exit status 9; watching 1 file,")
    os.killpg(watcher.process.pid, signal.SIGINT)
    assert watcher.process.wait(PATIENCE) == 0


def test_files_are_those_that_the_program_reads(program: Path) -> None:
    (program.parent / "other.sac").write_text("int main() { return 0; }")
    (program.parent / "m.h").write_text("#define N 3\n")
    files = Files(program)
    assert {p.name for p in files.digests()} == {"p.sac", "Own.sac"}
    program.write_text('#include "m.h"\nint main() { return Own::own() + N; }')
    before = files.digests()
    assert {p.name for p in before} == {"p.sac", "Own.sac", "m.h"}
    os.utime(program, (1, 1))
    assert files.digests() == before
    (program.parent / "m.h").write_text("#define N 4\n")
    assert files.digests() != before


def test_a_file_that_is_not_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sacpy", "watch", "/no/such.sac"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1 and "E0303" in done.stderr


def test_a_prompt_that_has_loaded_a_file(program: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sacpy", "-i", str(program)],
        input="main()\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 args\nint 5\n", "")
    done = subprocess.run(
        [sys.executable, "-m", "sacpy", "-i", "/no/such.sac"],
        input="1\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "int 1\n") and "E0303" in done.stderr
