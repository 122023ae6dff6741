"""Modules that others import and that a process hardly ever uses, loaded when something of them is used, if at all.

Only for processes of sacpy's own: a command, or one that compiles. Who embeds sacpy may look at what it loads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

# what `importlib.resources` imports, by which llvmlite finds its library, for resources in archives: a sixth of what it
# takes to be ready to compile
OF_LLVMLITE = ("tempfile", "zipfile")
# what NumPy imports to document its functions, to save arrays and to lend their memory to C: a seventh of the start of
# a program
OF_NUMPY = (
    "ast",
    "ctypes",
    "inspect",
    "numpy._core._add_newdocs",
    "numpy._core._add_newdocs_scalars",
    "numpy._typing",
    "pickle",
    "platform",
)
# what it asks of them while it is loaded: texts in shape, signatures and types of results, at which nobody looks here
_ASKED: dict[str, dict[str, Any]] = {
    "inspect": {"cleandoc": str, "signature": lambda function: None},
    "numpy._typing": {"NDArray": list, "__path__": []},
}


class _Deferred(ModuleType):
    """What stands for a module until something of it is asked for. (`importlib.util.LazyLoader` would load it when it
    is imported for the second time.)"""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        loaded = import_module(self.__name__)
        self.__dict__.update(vars(loaded))
        return getattr(loaded, name)


def defer(modules: Iterable[str]) -> None:
    """Has modules loaded when something of them is used; nothing where they are loaded."""
    for name in modules:
        sys.modules.setdefault(name, _Deferred(name))


def load_numpy() -> None:
    """NumPy, as it is but for the documentation of its functions."""
    defer(OF_NUMPY)
    stand_ins = [(sys.modules[name], answers) for name, answers in _ASKED.items()]
    given = [(vars(module), answers) for module, answers in stand_ins if isinstance(module, _Deferred)]
    for names, answers in given:
        names.update(answers)
    try:
        import numpy  # noqa: F401
    finally:
        for names, answers in given:
            for name in answers:
                names.pop(name, None)
