"""What holds for all tests."""

import gc
import signal
from collections import Counter

import pytest

GOLDEN = (5**0.5 - 1) / 2  # steps by which one comes by every combination of several parameters
OFTEN = 50_000  # objects made, after which Python looks for cycles; of its own accord it does after 700


def pytest_configure() -> None:
    """Who starts the tests in the background of a script has Ctrl-C ignored, in them and in what they start: it is
    listened to again."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test with `sample(n)` about one of n is run by default, the rest with the tests that take long.
    Those that are long of themselves do not count."""
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("sample")
        if mark is not None and item.get_closest_marker("long") is None:
            name = item.nodeid.partition("[")[0]
            if seen[name] * GOLDEN % 1 >= 1 / mark.args[0]:
                item.add_marker(pytest.mark.long)
            seen[name] += 1


def pytest_collection_finish() -> None:
    """The tests themselves are some hundred thousand objects that stay: Python need not look through them again and
    again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OFTEN)
