"""`sacpy kernel install` and `sacpy kernel uninstall`: tells Jupyter about the kernel.

In: where to. Out: what was done, in words. Raises `SacError` (E0760) where a package is missing, a folder cannot be
written, or nothing is installed.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sacpy.base.distribution import extra
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.source import NOWHERE

if TYPE_CHECKING:
    from jupyter_client.kernelspec import KernelSpecManager

LOGO = Path(__file__).with_name("logo.svg")
OPTIONS = "SACPY_KERNEL_OPTIONS"  # the environment variable that tells the kernel its settings
NEEDED = extra("notebook")


def specification(python: str = sys.executable, options: Sequence[str] = ()) -> dict[str, Any]:
    """What Jupyter must know to start the kernel. `options`: of the prompt, for the settings of its notebooks."""
    return {
        "argv": [python, "-m", "sacpy.notebook", "-f", "{connection_file}"],
        "display_name": "SaC",
        "language": "sac",
        "interrupt_mode": "signal",
        "env": {OPTIONS: shlex.join(options)},
        "metadata": {"debugger": False},
    }


def install(*, user: bool = False, prefix: str | None = None, name: str = "sac", options: Sequence[str] = ()) -> str:
    """Installs for the user, under a prefix, or, with neither, in the virtual environment that runs this, else for the
    user. Gives the words to say."""
    manager = _manager(check_kernel=True)
    if not user and prefix is None:
        user, prefix = (False, sys.prefix) if sys.prefix != sys.base_prefix else (True, None)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel.json").write_text(
            json.dumps(specification(options=options), indent=1) + "\n", encoding="utf-8"
        )
        shutil.copyfile(LOGO, Path(folder, "logo-svg.svg"))
        try:
            where = manager.install_kernel_spec(folder, name, user=user, prefix=prefix)
        except (OSError, ValueError) as error:
            raise _refusal(
                f"the kernel cannot be installed: {_reason(error)}", "choose another place: --user, or --prefix DIR"
            ) from None
    return f"installed the SaC kernel in {where}; jupyter lab, jupyter notebook and editors offer it as SaC\n"


def uninstall(*, name: str = "sac") -> str:
    """Takes the kernel away where Jupyter finds it first. Gives the words to say."""
    from jupyter_client.kernelspec import NoSuchKernel

    manager = _manager(check_kernel=False)
    try:
        spec = manager.get_kernel_spec(name)
        if "sacpy.notebook" not in spec.argv:
            raise _refusal(f"the kernel {name} is none of sacpy's", "jupyter kernelspec list shows what is installed")
        where = manager.remove_kernel_spec(name)
    except NoSuchKernel:
        raise _refusal(f"no kernel {name} is installed", "jupyter kernelspec list shows what is installed") from None
    except OSError as error:
        raise _refusal(
            f"the kernel cannot be removed: {_reason(error)}", "jupyter kernelspec list shows where it is"
        ) from None
    return f"removed {where}\n"


def _manager(*, check_kernel: bool) -> KernelSpecManager:
    """What knows where Jupyter looks for kernels."""
    try:
        if check_kernel:
            import ipykernel  # noqa: F401  (the kernel will need it)
        from jupyter_client.kernelspec import KernelSpecManager
    except ModuleNotFoundError as error:
        raise _refusal(f"notebooks need {error.name}, which is not installed", NEEDED) from None
    return cast("KernelSpecManager", cast(Any, KernelSpecManager)())


def _reason(error: Exception) -> str:
    return f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.strerror else str(error)


def _refusal(message: str, help: str) -> SacError:
    return SacError(Diagnostic("E0760", message, NOWHERE, help=help))
