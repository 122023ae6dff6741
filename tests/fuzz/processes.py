"""Seeds examined in several processes, so that a program that ends its process, or never ends, is a finding like any
other.

In: seeds, and how many processes. Out: `Findings`, seed by seed as they come. What a program makes LLVM or anybody else
write to standard error is a finding too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from tempfile import TemporaryFile
from time import monotonic

from tests.fuzz.work import Findings, each

CHUNK = 400  # seeds of a process
PATIENCE = 300.0  # seconds for one seed


@dataclass
class _Job:
    """A process at work; `next` is the seed that it is at, since `since`."""

    process: SpawnProcess
    seeds: range
    next: int
    since: float


def findings(seeds: range, jobs: int, until: float) -> Iterator[Findings]:
    """What comes of the seeds, none begun after the time `until`."""
    waiting = deque(range(k, min(k + CHUNK, seeds.stop)) for k in range(seeds.start, seeds.stop, CHUNK))
    running: dict[Connection, _Job] = {}
    try:
        while (waiting or running) and monotonic() < until:
            while waiting and len(running) < jobs:
                connection, job = _started(waiting.popleft())
                running[connection] = job
            ready = wait(list(running), 1.0)
            for connection in [c for c in running if c in ready]:
                job = running[connection]
                try:
                    yield connection.recv()
                    job.next, job.since = job.next + 1, monotonic()
                except EOFError:
                    job.process.join()
                    yield from _ended(running.pop(connection), f"ends the process ({job.process.exitcode})", waiting)
            for connection in [c for c, job in running.items() if monotonic() - job.since > PATIENCE]:
                running[connection].process.kill()
                yield from _ended(running.pop(connection), "does not end", waiting)
    finally:
        for job in running.values():
            job.process.kill()


def _started(seeds: range) -> tuple[Connection, _Job]:
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(seeds, theirs), daemon=True)
    process.start()
    theirs.close()
    return ours, _Job(process, seeds, seeds.start, monotonic())


def _ended(job: _Job, how: str, waiting: deque[range]) -> Iterator[Findings]:
    """The seed at which a process ended early; another is to go on behind it."""
    if job.next < job.seeds.stop:
        yield Findings(programs=1, failures=[f"seed {job.next}: {how}"])
        if job.next + 1 < job.seeds.stop:
            waiting.appendleft(range(job.next + 1, job.seeds.stop))


def _work(seeds: range, connection: Connection) -> None:
    with TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        for seed, found in zip(seeds, each(seeds)):
            said.seek(0)
            text = said.read().decode(errors="replace").strip()
            if text:
                found.failures.append(f"seed {seed}: writes {text[:300]!r}")
                said.truncate(0)
                said.seek(0)
            connection.send(found)
