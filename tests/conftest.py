"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Who starts the tests in the background of a script has Ctrl-C ignored, in them and in what they start: it is listened to again."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
