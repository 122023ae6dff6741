"""The command `sacpy`, which first makes sure that the package `sacpy` is that of SaC.

On the package index the name sacpy belongs to another distribution, whose package is imported under the same name.
Where both have been installed into one environment, the one that came last has overwritten files of the other. Whatever
is inside of the package cannot be sure to be reached then; so this module stands beside it.

It also sees to it that Ctrl-C ends the command without a word as long as it is only loading modules: an exception could
come up anywhere in them, and some turn it into another, or lose it. And once the command is done, so is the process: to
take apart all that it has made, object by object, would take a tenth of the time of a short program.

In: what Python finds as `sacpy`. Out: the exit status of the command; or a message that says what to do.
"""

import gc
import os
import signal
import sys

MARK = "Single Assignment C"  # in the first line of the package that is meant
WRONG_PACKAGE = 1
INTERRUPTED = 130


def quiet() -> None:
    """From here on Ctrl-C ends the process at once; where it is ignored, as in what runs in the background, it stays
    so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def ready() -> None:
    """From here on Ctrl-C raises `KeyboardInterrupt`."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)


if os.path.basename(sys.argv[0]).startswith("sacpy"):  # the script, which does one thing and another before `main`
    quiet()


def main() -> int:
    """Runs the command and gives the exit status."""
    quiet()
    wrong = problem()
    if wrong:
        sys.stderr.write(wrong)
        return WRONG_PACKAGE
    # what is made until the program runs stays: to look for garbage in it would be a fifth of the start-up
    gc.disable()
    from sacpy.base.deferring import load

    load("pathlib")
    from sacpy import cli

    cli.ready = ready
    status = cli.main()
    if _is_alone():
        _end(status)
    return status


def _is_alone() -> bool:
    """Whether nothing else is in this process that may have to do something when it ends: who runs the command in
    another program (a profiler, a debugger), threads that are waited for, libraries of others."""
    begun = sys.modules["__main__"]
    spec = getattr(begun, "__spec__", None)
    path = getattr(begun, "__file__", None) or ""
    if not (spec.name == "sacpy.__main__" if spec is not None else os.path.basename(path).startswith("sacpy")):
        return False
    foreign, threading = sys.modules.get("sacpy.interp.foreign"), sys.modules.get("threading")
    return (
        not sys.flags.inspect
        and sys.gettrace() is None
        and sys.getprofile() is None
        and "cuda" not in sys.modules
        and (foreign is None or not foreign.loaded)
        and (threading is None or all(t.daemon or t is threading.main_thread() for t in threading.enumerate()))
    )


def _end(status: int) -> None:
    """Ends the process as it is, behind what was registered for that; returns where its output finds no reader: Python
    has something to say then."""
    import atexit

    if not _flushed():
        return
    atexit._run_exitfuncs()
    _flushed()  # what those have said
    os._exit(status)


def _flushed() -> bool:
    """Whether all that has been written is out."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return False
    return True


def problem() -> str:
    """What is wrong with the package that Python finds, and what to do about it; "" if it is the right one. It is not
    imported for that: others take long, and may fail."""
    from importlib import util

    found = util.find_spec("sacpy")
    place = found.origin if found is not None else None
    if place is None:
        said = "the package sacpy is not there"
    else:
        with open(place, encoding="utf-8", errors="replace") as text:
            if MARK in text.readline():
                return ""
        said = f"the package sacpy in {os.path.dirname(place)} is not that of SaC, but that of another distribution"
    return (
        f"sacpy: error: {said}\n"
        "  = note: SaC's is called sac-lang on the package index; the distribution sacpy there is about climate data,\n"
        "    and the two overwrite each other's files\n"
        "  = help: pip uninstall -y sacpy; pip install --force-reinstall --no-deps sac-lang; and give each an\n"
        "    environment of its own where both are needed\n"
    )
