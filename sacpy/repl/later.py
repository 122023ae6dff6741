"""A value that is made while somebody types.

In: an action. Out: its result, whenever that is needed. The prompt appears before the front end and the library are
loaded; they are loaded behind it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """`begin` starts to make the value in a thread, which calls `then` when it is there; `get` waits for it, and raises
    what making it raised; `ready` gives it only if it is there."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._made: list[T] = []
        self._error: BaseException | None = None

    def begin(self, then: Callable[[], None] = lambda: None) -> None:
        """Starts; a second call does nothing."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, args=(then,), name="sacpy start", daemon=True)
                self._thread.start()

    def _run(self, then: Callable[[], None]) -> None:
        try:
            self._made.append(self._make())
            then()
        except BaseException as error:  # whoever asks for the value gets it
            self._error = error

    @property
    def ready(self) -> T | None:
        """The value, if it has been made."""
        return self._made[0] if self._made else None

    def get(self) -> T:
        """The value."""
        self.begin()
        assert self._thread is not None
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._made[0]
