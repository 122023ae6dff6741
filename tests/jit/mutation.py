"""Changes the code of a function while a test runs: a bug, put in on purpose.

In: a module's name, the qualified name of a function in it, and a piece of its text with what takes its place. Out: a
context in which the function has that bug, for everybody who has imported it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """A bug. `old` stands exactly once in the function's text, `new` takes its place. `name` says what is wrong."""

    name: str
    module: str
    function: str
    old: str
    new: str


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Inside, the function has the bug."""
    module = importlib.import_module(mutant.module)
    function = _function(module, mutant.function)
    lines, first = inspect.getsourcelines(function)
    text = "".join(lines)
    assert text.count(mutant.old) == 1, (
        f"{mutant.function} of {mutant.module} does not have the text {mutant.old!r} once: this mutant needs another "
        "place"
    )
    whole = inspect.getsource(module).splitlines(keepends=True)
    whole[first - 1 : first - 1 + len(lines)] = [text.replace(mutant.old, mutant.new)]
    assert module.__file__ is not None
    made = _code(compile("".join(whole), module.__file__, "exec", dont_inherit=True), mutant.function)
    before = function.__code__
    function.__code__ = made
    try:
        yield
    finally:
        function.__code__ = before


def _function(module: Any, name: str) -> FunctionType:
    found = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, staticmethod):
        found = found.__func__
    assert isinstance(found, FunctionType)
    return found


def _code(code: CodeType, name: str) -> CodeType:
    """The code of a function in that of its module."""
    for part in name.split("."):
        (code,) = (c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
    return code
