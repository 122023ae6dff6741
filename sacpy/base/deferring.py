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
# what NumPy imports to document its functions and to save arrays: a tenth of the start of a program
OF_NUMPY = ("ast", "inspect", "numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars", "pickle", "platform")
# what NumPy asks `inspect` for: texts in shape, and signatures, at which nobody looks here
_OF_INSPECT: dict[str, Any] = {"cleandoc": str, "signature": lambda function: None}


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
    inspect = vars(sys.modules["inspect"])
    answers = _OF_INSPECT if isinstance(sys.modules["inspect"], _Deferred) else {}
    inspect.update(answers)
    try:
        import numpy  # noqa: F401
    finally:
        for name in answers:
            inspect.pop(name, None)
