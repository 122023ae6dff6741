"""`import smooth` for `smooth.sac`: an import hook.

In: names of modules that Python looks for. Out: a Python module with the functions of the SaC file of that name in a
folder of `sys.path`; modules that it uses are looked for beside it. A file of Python of the same name comes first.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from sacpy.capture.function import default_session
from sacpy.session import Session


class SacImporter(MetaPathFinder, Loader):
    """Finds and loads files of SaC."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The place of a module, if there is a file of SaC for it."""
        name = fullname.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            file = Path(folder or ".") / f"{name}.sac"
            if file.is_file():
                return importlib.util.spec_from_loader(fullname, self, origin=str(file.resolve()))
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Python's own way to make one."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fills a module with the functions of its file. Raises `SacError` with everything that is wrong in it."""
        spec = module.__spec__
        assert spec is not None and spec.origin is not None
        module.__file__ = spec.origin
        loaded = self.session.load(spec.origin)
        module.__doc__ = loaded.__doc__
        names = [name for name in loaded if name.isidentifier()]
        values: dict[str, Any] = {name: loaded[name] for name in names}
        module.__dict__.update(values, __sac__=loaded, __all__=names)


def install_importer(session: Session | None = None) -> SacImporter:
    """Lets `import` find files of SaC from now on; they are run by `session`. Once is enough: a second call without a
    session changes nothing."""
    for finder in sys.meta_path:
        if isinstance(finder, SacImporter):
            if session is not None:
                finder.session = session
            return finder
    made = SacImporter(default_session("auto") if session is None else session)
    sys.meta_path.append(made)
    return made
