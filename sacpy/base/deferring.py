"""Modules that libraries import and that a process hardly ever uses, loaded when something of them is used, if at all.

Only for processes of sacpy's own: a command, or one that compiles. Who embeds sacpy may look at what it loads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def _function(module: str, name: str) -> Callable[..., Any]:
    """A function that is loaded when it is called."""
    return lambda *args, **named: getattr(import_module(module), name)(*args, **named)


# By library what it imports: each with what the library asks it for while it is itself loaded, and may be told so
UNUSED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    # to document its functions, to save arrays, to lend their memory to C, for polynomials and matrices: a fifth of the
    # start of a program. Nobody looks at the shape of texts, at signatures and at the types of results here
    "numpy": {
        "ast": {},
        "ctypes": {},
        "inspect": {"cleandoc": str, "signature": lambda function: None},
        "numpy._core._add_newdocs": {},
        "numpy._core._add_newdocs_scalars": {},
        "numpy._typing": {"NDArray": list},
        "numpy.linalg": {name: _function("numpy.linalg", name) for name in ("eigvals", "inv", "lstsq", "matrix_power")},
        "pickle": {},
        "platform": {},
    },
    "dataclasses": {"inspect": {}},
    "pathlib": {"urllib.parse": {"quote_from_bytes": _function("urllib.parse", "quote_from_bytes")}},
    # to find its library by `importlib.resources`, which can read archives: a sixth of what it takes to be ready to
    # compile
    "llvmlite.binding": {"tempfile": {"TemporaryDirectory": None}, "zipfile": {}},
}


class _Deferred(ModuleType):
    """What stands for a module until something of it is asked for. (`importlib.util.LazyLoader` would load it when it
    is imported for the second time.)"""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loaded(), name)

    def _loaded(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        loaded = import_module(self.__name__)
        self.__dict__.update(vars(loaded))
        return loaded


class _Places:
    """Where parts of a module that is not loaded are looked for: `from M import x` asks whether there is such a
    place, and looks there if the module has no x."""

    def __init__(self, module: _Deferred) -> None:
        self._module = module

    def __iter__(self) -> Iterator[str]:
        return iter(self._module._loaded().__path__)


def load(library: str) -> None:
    """Imports one of `UNUSED`. What it imports there is loaded when something of it is used, and parts of the library
    itself when somebody imports them; nothing is different for what is loaded already."""
    given = []
    for name, answers in UNUSED[library].items():
        stand_in = sys.modules.setdefault(name, _Deferred(name))
        if isinstance(stand_in, _Deferred):
            answers = {**answers, "__path__": _Places(stand_in)}
            vars(stand_in).update(answers)
            given.append((stand_in, answers))
    try:
        import_module(library)
    finally:
        for stand_in, answers in given:
            names = vars(stand_in)
            for name, answer in answers.items():
                if names.get(name) is answer:
                    del names[name]
            if stand_in.__name__.startswith(f"{library}.") and sys.modules.get(stand_in.__name__) is stand_in:
                del sys.modules[stand_in.__name__]
