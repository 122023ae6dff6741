"""What holds for all tests."""

import gc
import signal

OFTEN = 50_000  # objects made, after which Python looks for cycles; of its own accord it does after 700


def pytest_configure() -> None:
    """Who starts the tests in the background of a script has Ctrl-C ignored, in them and in what they start: it is
    listened to again."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """The tests themselves are some hundred thousand objects that stay: Python need not look through them again and
    again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(OFTEN)
