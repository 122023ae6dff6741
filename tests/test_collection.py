"""When Python looks for cycles around what loads much."""

import subprocess
import sys

from tests.tools import ROOT

LOADING = """
import gc
from sacpy.base.collection import without_collection
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))

@without_collection("lists")
def load():
    return [[] for _ in range(5000)]

def collections():
    del seen[:]
    made = load()
    more = [[] for _ in range(10)]
    return len(seen)
"""


def _printed(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", LOADING + script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_what_is_loaded_first_is_not_looked_through() -> None:
    assert _printed("print(collections(), gc.isenabled())") == "0 True"


def test_what_is_loaded_later_is() -> None:
    assert _printed("load(); print(collections() > 0)") == "True"


def test_cycles_in_what_was_loaded_first_are_found_all_the_same() -> None:
    script = """
import weakref
class Node: pass
@without_collection("cycles")
def cycle():
    node = Node()
    node.itself = node
    return weakref.ref(node)
node = cycle()
gc.collect()
print(node(), gc.get_freeze_count())
"""
    assert _printed(script) == "None 0"


def test_what_somebody_has_frozen_remains_so_and_nothing_happens_where_python_does_not_look() -> None:
    assert _printed("gc.collect(); gc.freeze(); load(); print(gc.get_freeze_count() > 5000)") == "True"
    assert _printed("gc.disable(); load(); print(gc.get_freeze_count(), gc.isenabled())") == "0 False"


STRUCK = """
import weakref

class Node: pass

def struck(reason):
    made = [[] for _ in range(5000)]
    node = Node()
    node.itself = node
    found.append(weakref.ref(node))
    del seen[:]
    try:
        with without_collection():
            more = [[] for _ in range(5000)]
            raise reason
    except BaseException:
        others = [[] for _ in range(100)]
        return len(seen)

found = []
"""


def test_what_a_limit_ends_is_not_looked_through_before_that_is_said_but_when_the_next_begins() -> None:
    assert _printed(STRUCK + "print(struck(ValueError()) > 0)") == "True"
    script = """
print(struck(KeyboardInterrupt()), found[0]() is not None, end=" ")
with without_collection():
    print(found[0](), gc.isenabled(), end=" ")
print(gc.isenabled(), gc.get_freeze_count())
"""
    assert _printed(STRUCK + script) == "0 True None False True 0"


def test_python_looks_again_wherever_an_interruption_strikes() -> None:
    script = """
import itertools, sys
from sacpy.base import collection

def interrupted(after):
    steps = itertools.count()
    def step(frame, event, argument):
        if frame.f_code.co_filename == collection.__file__:
            frame.f_trace_opcodes = True
            if event == "opcode" and next(steps) == after:
                raise KeyboardInterrupt
            return step
    def traced(frame, event, argument):
        return step(frame, event, argument)
    sys.settrace(traced)
    try:
        with without_collection():
            pass
        return False
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)

found = []
for after in itertools.count():
    if not interrupted(after):
        break
    found.append(gc.isenabled())
print(len(found) > 20, all(found))
"""
    assert _printed(script) == "True True"


def test_python_looks_again_where_another_thread_leaves_while_this_one_enters() -> None:
    script = """
from sacpy.base import collection

class Leaving:
    disable = gc.disable

    @staticmethod
    def isenabled():
        found = gc.isenabled()
        gc.enable()  # by the other thread
        return found

gc.disable()
collection.gc = Leaving
with without_collection():
    pass
print(gc.isenabled())
"""
    assert _printed(script) == "True"
