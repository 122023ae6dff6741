"""External functions of the library, in Python: files, clocks, strings, the command line.

A native is found by the function's qualified name and number of declared parameters ("File::fopen/2"; "TermFile::printf/1..." where `...` ends the parameters). It is called as `f(world, *args)`, and returns its results: None for
none, the value for one, a tuple for several; the new values of reference parameters come after the declared results. One that takes `...` is called with the keyword `bases`, the base types of all its arguments. It raises `Fault`.
The modules of this package are imported when a program first calls one of their functions: `MODULES` says which library module's natives are where.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

Native = Callable[..., Any]

TABLE: dict[str, Native] = {}

MODULES: dict[str, str] = {}


def native(*names: str) -> Callable[[Native], Native]:
    """Registers a Python function under one or more native names."""

    def register(function: Native) -> Native:
        for name in names:
            TABLE[name] = function
        return function

    return register


def find(name: str) -> Native | None:
    """The native of that name, loading the Python module it is in."""
    if name not in TABLE:
        module = MODULES.get(name.partition("::")[0])
        if module is not None:
            import_module(f"sacpy.interp.natives.{module}")
    return TABLE.get(name)
