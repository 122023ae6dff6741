"""Modules that others import and hardly ever use, loaded when something of them is used, if that happens at all."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

# what `importlib.resources` imports, by which llvmlite finds its library: a sixth of what it takes to be ready to
# compile, and used for resources in archives alone
OF_RESOURCES = ("tempfile", "zipfile")


class _Deferred(ModuleType):
    """What stands for a module until something of it is asked for. (`importlib.util.LazyLoader` would load it when it
    is imported for the second time.)"""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        loaded = import_module(self.__name__)
        self.__dict__.update(vars(loaded))
        return getattr(loaded, name)


def defer(names: tuple[str, ...] = OF_RESOURCES) -> None:
    """Has modules loaded when something of them is used; nothing where they are loaded. For processes of sacpy's own:
    others may want to see what they import."""
    for name in names:
        sys.modules.setdefault(name, _Deferred(name))
