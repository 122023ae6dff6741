"""Ctrl-C at any moment: while a loop is interpreted, compiled beside it, entered, replayed. The session goes on, and
gives right results."""

from __future__ import annotations

import os
import signal
import threading
from random import Random

import pytest

import sacpy

SOURCE = """use Array: all;
int spun(double end) { s = 0; x = 0.0; while (x < end) { x = x + 0.5; s = (s * 31 + 7) % 1000003; } return s; }
double[.,.] swept(double[.,.] a, double end) { x = 0.0; while (x < end) { a = {
  [i,j] -> a[j,i] * 0.5 + tod(i) | [i,j] < shape(a) }; x = x + 1.0; } return a; }
int deep(int n) { return n < 2 ? n : deep(n - 1) + deep(n - 2); }
int failing(int[.] v, int n) { s = 0; for (i = 0; i < n; i++) { s = (s * 31 + v[i / 1000]) % 1000003; } return s; }
"""


def rounds(count: int, seed: int) -> int:
    """So many calls, each interrupted at some moment; how many of them were."""
    random = Random(seed)
    interrupted = 0
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        session = sacpy.Session(world=sacpy.World())
        module = session.compile(SOURCE)
        zeros = [0] * 3000
        for _ in range(count):
            if random.random() < 0.05:  # one that has compiled nothing yet
                session = sacpy.Session()
                module = session.compile(SOURCE)
            name, args = random.choice(
                (
                    ("spun", (3.0e6,)),
                    ("swept", ([[1.0, 2.0], [3.0, 4.0]], 3.0e5)),
                    ("deep", (24,)),
                    ("failing", (zeros, 3_000_001)),
                )
            )
            timer = threading.Timer(random.random() ** 3 * 0.3, os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                try:
                    module[name](*args)
                except sacpy.SacError as error:
                    assert (name, error.diagnostics[0].code) == ("failing", "E0601")
                timer.cancel()
                timer.join()
            except KeyboardInterrupt:
                interrupted += 1
            while timer.is_alive():
                try:
                    timer.join()
                except KeyboardInterrupt:
                    interrupted += 1
            assert module.deep(15) == 610
            assert module.spun(10.0) == 619_777
    finally:
        signal.signal(signal.SIGINT, before)
    return interrupted


def test_a_session_goes_on_after_ctrl_c() -> None:
    assert rounds(14, 1) > 2


@pytest.mark.long
def test_a_session_goes_on_after_a_thousand_times_ctrl_c() -> None:
    assert rounds(1000, 2) > 300
