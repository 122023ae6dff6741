"""Ctrl-C while LLVM is at work: the caller goes on at once, and what was abandoned does not disturb what comes after
it."""

import _thread
import threading

import pytest

from sacpy.jit.host import compilers
from sacpy.jit.host.waiting import Waiting


def test_an_interrupt_does_not_wait_for_llvm() -> None:
    started, release = threading.Event(), threading.Event()

    def work() -> bytes:
        started.set()
        assert release.wait(20)
        return b"late"

    def interrupt() -> None:
        assert started.wait(20)
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        Waiting(work).result()
    assert not release.is_set()
    release.set()
    assert Waiting(lambda: b"next").result() == b"next"


def test_errors_of_the_work_are_the_callers() -> None:
    def work() -> bytes:
        raise RuntimeError("no such instruction")

    with pytest.raises(RuntimeError, match="no such instruction"):
        Waiting(work).result()


def test_a_process_that_was_killed_takes_no_place() -> None:
    pool = compilers._Pool(1)
    lost = pool._free()  # held here, as a traceback holds it
    assert lost is not None and pool._free() is None
    lost.end()
    found = pool._free()
    assert found is not None and found is not lost and found.process.poll() is None
    found.end()
