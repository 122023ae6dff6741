"""Sessions in several threads."""

import sys
import threading
from collections.abc import Callable

import numpy as np

import sacpy

SOURCE = (
    "use Array: all; int f(int x, int[.] v) { return x + sum(v * x); } int deep(int n) { return n == 0 ? 0 : 1 + "
    "deep(n - 1); }"
)
THREADS, CALLS = 8, 1250


def in_threads(work: Callable[[int], None]) -> None:
    """Does the work in eight threads; what goes wrong in them goes wrong here."""
    wrong: list[BaseException] = []

    def guarded(k: int) -> None:
        try:
            work(k)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "deadlock"
    if wrong:
        raise wrong[0]


def test_a_session_for_each_thread() -> None:
    modules = [sacpy.Session(limits=sacpy.Limits(seconds=60.0)).compile(SOURCE) for _ in range(THREADS)]
    vector = np.arange(5, dtype=np.int32)

    def work(k: int) -> None:
        for i in range(CALLS):
            assert modules[k].f(i, vector) == 11 * i

    in_threads(work)


def test_one_session_for_all_threads() -> None:
    session = sacpy.Session()
    module = session.compile(SOURCE)

    def work(k: int) -> None:
        vector = np.full(3, k, np.int32)
        for i in range(CALLS - 250):
            assert module.f(i, vector) == i + 3 * k * i
        session[f"x{k}"] = k
        for i in range(250):
            assert session.eval(f"x{k} * n", n=i) == k * i

    in_threads(work)
    assert sorted(session) == [f"x{k}" for k in range(THREADS)]


def test_sessions_made_and_loaded_in_threads() -> None:
    def work(k: int) -> None:
        for i in range(3):
            assert sacpy.Session().compile(SOURCE).f(i, [k]) == i + k * i

    in_threads(work)


def test_recursion_in_threads_leaves_the_limit_as_it_was() -> None:
    before = sys.getrecursionlimit()
    modules = [sacpy.Session(limits=sacpy.Limits(depth=4000 + 100 * k)).compile(SOURCE) for k in range(THREADS)]

    def work(k: int) -> None:
        for _ in range(10):
            assert modules[k].deep(1500) == 1500

    in_threads(work)
    assert sys.getrecursionlimit() == before


def test_defining_while_others_call() -> None:
    session = sacpy.Session()
    session.define("int f(int x) { return x; } int g(int x) { return f(x); }")

    def work(k: int) -> None:
        for i in range(20):
            if k == 0:
                session.define(f"int f(int x) {{ return x + {i}; }}")
            else:
                assert 0 <= session.eval("g(0)") < 20

    in_threads(work)
    assert session.eval("g(0)") == 19
