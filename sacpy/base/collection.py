"""Python's search for cycles of objects, put off while much is made that stays."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager

_left_behind = False  # whether there may be cycles among what counts as old because an exception ended its making


@contextmanager
def without_collection(loading: str = "") -> Iterator[None]:
    """Inside, Python does not look for cycles: tokens, trees and graphs are many and have none, and looking through
    them again and again takes a good part of the time that making them takes. Also a decorator.

    `loading`: a name for what loads modules as well when it is first done. That time Python does not look through what
    was made afterwards either.
    """
    global _left_behind
    paused = _Paused() if gc.isenabled() else None
    if paused and _left_behind:
        _left_behind = False
        gc.collect()
    if paused:  # otherwise whoever disabled it, another thread perhaps, enables it, and may do so before the next line
        gc.disable()
    try:
        yield
    except Exception:
        raise
    except BaseException:
        if paused:  # looking through what was made would keep a limit or Ctrl-C back: a tenth of a second and more
            _left_behind = True
            _all_is_old()
        raise
    finally:
        if paused and loading:
            _first_loaded(loading)
        paused = None


class _Paused:
    """The time in which Python does not look. It ends with this object, wherever Ctrl-C or a limit on time strikes: no
    line of Python is run for that which an exception could take the place of."""

    __del__ = staticmethod(gc.enable)


@functools.cache  # only the first time: cycles in what counts as old are found late
def _first_loaded(_loaded: str) -> None:
    _all_is_old()


def _all_is_old() -> None:
    """Has Python take all objects that there are for old: it looks through those seldom, and through young ones as soon
    as it may again."""
    frozen = gc.get_freeze_count() > 0  # somebody keeps objects apart on purpose: those remain so
    gc.freeze()
    if not frozen:
        gc.unfreeze()  # what was frozen is old now
