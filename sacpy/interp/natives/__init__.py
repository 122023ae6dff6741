"""External functions of the library, in Python: files, clocks, strings, the command line.

A native is found by the function's qualified name and number of declared parameters ("File::fopen/2";
"TermFile::printf/1..." where `...` ends the parameters or the results). It is called as `f(world, *args)`, and returns
its results: None for none, the value for one, a tuple for several; the new values of reference parameters come after
the declared results. Two attributes of the function say what else it is called with:

- `wants_bases`: the keyword `bases`, the base types of all its arguments. Natives whose parameters end in `...` have
  it, and generic ones that ask for it.
- `wants_result_bases`: the keyword `result_bases`, the base types of the results that `...` stands for ("" where
  unknown), so their number too. Those values come right after the declared results.

It raises `Fault`. The modules of this package are imported when a program first calls one of their functions: `MODULES`
says which library module's natives are where.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

Native = Callable[..., Any]
F = TypeVar("F", bound=Native)

TABLE: dict[str, Native] = {}

MODULES: dict[str, str] = {
    **dict.fromkeys(("TermFile", "File"), "stdio"),
    **dict.fromkeys(("ScalarIO", "ArrayIO", "ComplexIO"), "printing"),
    "Assert": "assertions",
    "BinFile": "binfile",
    **dict.fromkeys(("NPY", "CSV"), "npy"),
    "NPZ": "npz",
    "Raw": "raw",
    "WAV": "wav",
    "FibreIO": "fibre",
    "List": "lists",
    "String": "strings",
    "StringArray": "string_arrays",
    **dict.fromkeys(("World", "Terminal", "CommandLine", "Environment", "Process", "RuntimeError", "GetOpt"), "system"),
    **dict.fromkeys(("FileSystem", "Dir", "SysErr"), "filesystem"),
    **dict.fromkeys(("RTClock", "RTimer", "MTClock", "Clock", "TimeStamp", "Benchmarking"), "clocks"),
    **dict.fromkeys(("Rand", "Random", "Rand48", "Xoshiro"), "randoms"),
    **dict.fromkeys(("PNG", "PPM", "SDLdisplay"), "pictures"),
}


def native(*names: str, wants_bases: bool = False, wants_result_bases: bool = False) -> Callable[[F], F]:
    """Registers a Python function under one or more native names."""

    def register(function: F) -> F:
        any_arguments = not wants_result_bases and any(name.endswith("...") for name in names)
        setattr(function, "wants_bases", wants_bases or any_arguments)  # noqa: B010
        setattr(function, "wants_result_bases", wants_result_bases)  # noqa: B010
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
