"""Steps in a process of their own, so that nothing that goes wrong in one is in the way of the next.

In: names of steps, how long one and all of them may take, what to do with each result. Out: each step's result, or what
went wrong, as soon as it is there. An exception costs its step; a step that takes too long, ends the process, or leaves
the GPU unusable costs the process, and the next step begins in a new one.
"""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from benchmarks.gpu.steps import Settings, Steps

Found = dict[str, Any]
STARTS = 60.0  # seconds until a process has found its GPU
OPENING = "device"  # the step that every process begins with


def work(connection: Connection, steps: Sequence[str], settings: Settings) -> None:
    """The process: says what device it has, then runs the steps. Ends after one that left the device unusable."""
    try:
        runs = Steps(settings)
        connection.send((OPENING, runs.about()))
    except BaseException as error:
        connection.send((OPENING, _told(error)))
        return
    for name in steps:
        try:
            found = runs.run(name)
        except BaseException as error:
            found = _told(error)
        connection.send((name, found))
        if "error" in found:
            try:
                runs.wait()
            except BaseException:
                return


def _told(error: BaseException) -> Found:
    reason = getattr(error, "reason", "")
    return {"error": str(reason) or f"{type(error).__name__}: {error}"[:2000], "trace": traceback.format_exc()[-3000:]}


# of a process for some steps: its connection, and what has `kill`
Start = Callable[[Sequence[str]], tuple[Connection, Any]]


def started(settings: Settings) -> Start:
    """What starts processes."""

    def start(steps: Sequence[str]) -> tuple[Connection, Any]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(theirs, list(steps), settings), daemon=True)
        process.start()
        theirs.close()
        return ours, process

    return start


def run(
    steps: Sequence[str],
    start: Start,
    heard: Callable[[str, Found], None],
    *,
    each: float,
    whole: float,
    clock: Callable[[], float] = monotonic,
) -> None:
    """Runs the steps and hands on what each found. `each`: seconds that a step may take; `whole`: all of them. Where
    the first process finds no device, that is all that is handed on."""
    end = clock() + whole
    left = list(steps)
    opened = False
    while left and clock() < end:
        connection, process = start(left)
        try:
            opening = _next(connection, min(STARTS, end - clock()))
            if opening is None or "error" in opening[1]:
                found = {"error": "the process ended, or said nothing"} if opening is None else opening[1]
                heard(OPENING, found)
                if not opened:
                    return
                heard(left.pop(0), {"error": "the device could not be used any more"})
                continue
            if not opened:
                heard(*opening)
            opened = True
            while left and clock() < end:
                allowed = min(each, end - clock())
                found_ = _next(connection, allowed)
                if found_ is None and allowed < each and clock() >= end:  # it had no fair chance
                    break
                name = left.pop(0)
                heard(
                    name,
                    found_[1]
                    if found_ is not None
                    else {"error": f"it took longer than {each:.0f} s, or ended the process"},
                )
                if found_ is None:
                    break
        finally:
            process.kill()
            process.join()
            connection.close()
    for name in left:
        heard(name, {"left out": f"{whole:.0f} s were over"})


def _next(connection: Connection, timeout: float) -> tuple[str, Found] | None:
    """What the process says next; None where it does not in time, or has ended."""
    try:
        if not connection.poll(max(0.0, timeout)):
            return None
        found: tuple[str, Found] = connection.recv()
        return found
    except (EOFError, OSError):
        return None
