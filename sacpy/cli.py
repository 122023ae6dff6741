"""The command line.

sacpy                                 a prompt: type SaC, see values
sacpy -i FILE.sac                     a prompt that has loaded a file
sacpy FILE.sac [ARGS]                 run a program
sacpy run [options] FILE.sac [ARGS]   run a program; everything after FILE is its own
sacpy watch [options] FILE.sac [ARGS] run a program now and after each change of its text
sacpy check [options] [--json] FILE ..  say what is wrong with programs, without running them
sacpy test [options] FILE|FOLDER ..     run the tests in programs and modules
sacpy bench [options] FILE [EXPR ..]    how long calls take, and whether they take longer than before
sacpy profile [options] FILE [ARGS]     run a program, and say where the time went, line by line
sacpy new program|module|python NAME    a folder to begin with, and tests that pass
sacpy dap                               what editors debug with: the debug adapter
sacpy explain [options] FILE [ARGS]   run a program on a GPU or the emulator, and say what became of its with-loops
sacpy picture [options] FILE          draw how the with-loops of a program are laid out on a GPU
sacpy eval [options] 'EXPR'           print the value of an expression
sacpy fmt [--check] [--diff] FILE ..  lay programs out in the one style
sacpy stubs FILE.sac [-o FILE.pyi]    the functions of a module as Python's tools see them
sacpy lsp                             what editors talk to: the language server
sacpy doc [NAME | WORDS]              what a function, module, type, word or message is about
sacpy cache info | clear              what is kept of programs; forget it
sacpy doctor                          what this installation can do, and what to do about what it cannot
sacpy kernel install                  SaC for Jupyter notebooks
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sacpy.commands.messages import how_to_look, show, show_warnings, tell
from sacpy.commands.settings import TOOLS, defines, plain_run, refuse, refuse_misplaced, workspace_of

if TYPE_CHECKING:
    import argparse

    from sacpy.commands.opening import Opening
    from sacpy.interp.kept_code import KeptCode
    from sacpy.interp.world import World
    from sacpy.lang.core import CheckedProgram
    from sacpy.lang.diagnostics import Diagnostic
    from sacpy.workspace import Workspace

INTERRUPTED = 130
UNDOCUMENTED = ("run", "eval")  # commands that show nobody what a library says of its functions


def _nothing() -> None:
    """What `ready` is where nobody else is to be told."""


ready = _nothing  # called once a command has been loaded and sees to Ctrl-C, which ends the process at once until then


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and gives the exit status."""
    words = sys.argv[1:] if argv is None else list(argv)
    parsed = plain_run(words)
    if parsed is None:
        from sacpy.commands.options import parse

        parsed = parse(words)
    return _guarded(parsed, own=argv is None)


def _started() -> None:
    """What is there now stays; from here on garbage is looked for again, and Ctrl-C raises `KeyboardInterrupt`."""
    ready()
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _guarded(parsed: argparse.Namespace, own: bool) -> int:
    """Whatever happens, a user sees a message and not a traceback. `own`: there is nothing else in this process."""
    parsed.alone = own
    if own and parsed.command in UNDOCUMENTED:
        from sacpy.base.deferring import load

        load("dataclasses")
    from sacpy.base import kept
    from sacpy.lang.diagnostics import SacError

    kept.tell = tell
    try:
        return COMMANDS[parsed.command](parsed)
    except SacError as error:
        show(error.diagnostics)
        if parsed.command == "run" and error.diagnostics[-1].stack:
            how_to_look(parsed.file)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        return 1
    except Exception as error:
        if parsed.debug:
            raise
        sys.stderr.write(f"error[E0799]: sacpy itself failed: {type(error).__name__}: {error}\n")
        sys.stderr.write(
            "  = help: this is a defect of sacpy, not of your program; run again with --debug and report what it "
            "shows\n"
        )
        return 1


# ---------------------------------------------------------------- commands


def _run(parsed: argparse.Namespace) -> int:
    from sacpy.interp.world import World

    world = World.system(tuple(a.encode(errors="surrogateescape") for a in (str(parsed.file), *parsed.rest)))
    opening = _opening(parsed)
    try:
        with _progress(parsed, world) as erased:

            def loaded(found: Sequence[Diagnostic]) -> None:
                with erased():
                    show_warnings(found)

            with nullcontext() if opening is None else opening.during():
                status, _ = run_program(parsed, world, loaded, opening)
    finally:
        closed = world.finish()
    if opening is not None:
        opening.keep(parsed.alone)
    return status if closed is None else closed


def _opening(parsed: argparse.Namespace) -> Opening | None:
    """What keeps the program between runs; None where all that is known of it is wanted."""
    if parsed.stats or parsed.explain or getattr(parsed, "emit", None):
        return None
    from sacpy.commands.opening import Opening

    return Opening(workspace_of(parsed), parsed.file)


@contextmanager
def _progress(parsed: argparse.Namespace, world: World) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """With `--progress`, a sign of life on the terminal while the program runs. Gives what takes it off the screen for
    a while."""
    if not parsed.progress:
        yield nullcontext
        return
    from sacpy.commands.progress import Progress

    progress = Progress(world)
    with progress.watching():
        yield progress.erased


def run_program(
    parsed: argparse.Namespace,
    world: World,
    loaded: Callable[[Sequence[Diagnostic]], None] | None = None,
    opening: Opening | None = None,
) -> tuple[int, Sequence[Diagnostic]]:
    """Loads and runs a program: its exit status, and warnings and notes about it (`loaded` is told before it runs).
    `opening`: may know it from an earlier run. Raises `SacError`."""
    workspace = workspace_of(parsed) if opening is None else opening.workspace
    program, found = workspace.load(parsed.file) if opening is None else opening.program()
    refuse_misplaced(parsed, program)
    if loaded is not None:
        loaded(found)
    code = None if opening is None else opening.code
    return _run_or_emit(parsed, workspace, program, world, found, code), found


def _run_or_emit(
    parsed: argparse.Namespace,
    workspace: Workspace,
    program: CheckedProgram,
    world: World,
    found: Sequence[Diagnostic] = (),
    code: KeptCode | None = None,
) -> int:
    """Runs a program, with the tables that are asked for behind its output; or prints what a stage of the compiler
    makes of it."""
    if getattr(parsed, "emit", None):
        from sacpy.jit.reports.stages import emission

        text = emission(program.whole(), parsed.emit, parsed.function, workspace.options)
        world.stdout.write(text.encode("utf-8", "surrogateescape"))
        return 0
    workspace.foresee(program)
    _load_numpy(parsed)
    import sacpy.interp.evaluator  # noqa: F401  here, as Ctrl-C may come while NumPy is loaded

    with _told(parsed, workspace, world):
        return workspace.run(program, world, found, code)


@contextmanager
def _told(parsed: argparse.Namespace, workspace: Workspace, world: World) -> Iterator[None]:
    """Around a run; behind it come the tables that are asked for."""
    _started()
    try:
        yield
    finally:
        if parsed.stats or parsed.explain:
            from sacpy.jit.reports.statistics import explain, stats

            engine = None if workspace.engine is None else workspace.engine.started
            texts = [explain(engine)] * parsed.explain + [str(stats(engine))] * parsed.stats
            world.stdout.flush()
            world.stderr.write("\n".join(texts).encode("utf-8", "surrogateescape"))


def _load_numpy(parsed: argparse.Namespace) -> None:
    """Loads it without what a command shows to nobody, where that is all there is in this process."""
    if getattr(parsed, "alone", False):
        from sacpy.base.deferring import load

        with suppress(ImportError):  # whoever needs it says so
            load("numpy")


def _evaluate(parsed: argparse.Namespace) -> int:
    _load_numpy(parsed)
    from sacpy.interp.errors import Exit
    from sacpy.interp.limits import Watchdog
    from sacpy.interp.world import World

    workspace = workspace_of(parsed)
    found = workspace.expression(parsed.expression)
    world = World.system((b"eval",))
    status = 0
    try:
        with _progress(parsed, world):
            if parsed.emit:
                from sacpy.interp.evaluation import KEY
                from sacpy.jit.reports.stages import emission_of

                text = emission_of(found.program, parsed.emit, KEY, workspace.options)
            else:
                evaluator = workspace.evaluator(found.program, world)
                with _told(parsed, workspace, world):
                    text = workspace.guard(Watchdog(), lambda: found.text(evaluator))
            world.stdout.write(text.encode("utf-8", "surrogateescape"))
    except Exit as stop:
        status = stop.status & 0xFF
    finally:
        closed = world.finish()
    return status if closed is None else closed


def _check(parsed: argparse.Namespace) -> int:
    from sacpy.lang.diagnostics import to_json
    from sacpy.lang.files import sac_files

    files = list(dict.fromkeys(sac_files(parsed.files)))
    if not files:
        refuse(f"there is no .sac file in {', '.join(map(str, parsed.files))}", "sacpy check")
    workspace = workspace_of(parsed)
    if len(files) > 1:
        _started()
        workspace.preload()
    told: dict[tuple[object, ...], Diagnostic] = {}  # a module's mistakes are those of each program that uses it
    failed = 0
    for file in files:
        status, found = check_program(workspace, file)
        failed += status
        new = [d for d in found if _identity(d) not in told]
        told |= {_identity(d): d for d in new}
        if not parsed.json:
            show(new)
    if parsed.json:
        print(to_json(told.values()))
    elif len(files) > 1:
        sys.stderr.write(f"{len(files)} files, {failed or 'none'} with mistakes\n")
    return int(failed > 0)


def _identity(found: Diagnostic) -> tuple[object, ...]:
    """What makes two diagnostics the same."""
    return found.code, found.message, found.span.source.name, found.span.start, found.span.end


def check_program(workspace: Workspace, file: Path) -> tuple[int, Sequence[Diagnostic]]:
    """Checks a program or module: the exit status, and everything there is to say about it."""
    from sacpy.lang.diagnostics import SacError

    found: list[Diagnostic] = []
    try:
        program, found = workspace.check(file)
        if program.main.info.kind == "program":
            program.main_key()
    except SacError as error:
        found = [*found, *error.diagnostics]
    return int(any(d.severity == "error" for d in found)), found


def _tool(parsed: argparse.Namespace) -> int:
    """A command that has a module of its own."""
    from importlib import import_module

    status: int = import_module(f"sacpy.commands.{TOOLS[parsed.command][0]}").run(parsed, _started)
    return status


def _explain(parsed: argparse.Namespace) -> int:
    from sacpy.commands.placing import explain

    return explain(parsed, _started)


def _picture(parsed: argparse.Namespace) -> int:
    from sacpy.commands.placing import picture

    return picture(parsed, _started, ready)


def _fmt(parsed: argparse.Namespace) -> int:
    from sacpy.commands.formatting import Formatting

    ready()
    include, search = tuple(parsed.include), tuple(parsed.search)
    return Formatting(parsed.check, parsed.diff, include, defines(parsed), search).run(parsed.files, show)


def _stubs(parsed: argparse.Namespace) -> int:
    from sacpy.commands.stubs import write

    ready()
    return write(workspace_of(parsed), parsed.file, parsed.output)


def _lsp(parsed: argparse.Namespace) -> int:
    from sacpy.lsp import serve

    _started()
    return serve(tuple(parsed.search), tuple(parsed.include), defines(parsed))


def _doc(parsed: argparse.Namespace) -> int:
    from sacpy.base.kept import cache_folder
    from sacpy.documents.library import Library
    from sacpy.documents.manual import describe, findings, overview, paged, search, unknown

    ready()  # for the pager
    library = Library((Path(), *parsed.search), cache_folder())
    words = parsed.words
    if not words:
        paged(overview(library))
        return 0
    text = describe(library, words[0]) if len(words) == 1 and not parsed.find else None
    if text is not None:
        paged(text)
        return 0
    found = search(library, [w for word in words for w in word.split()])
    if len(words) == 1 and not parsed.find and " " not in words[0]:
        sys.stderr.write(f"error[E0718]: {unknown(library, words[0])}\n")
        if found:
            sys.stderr.write("What mentions it:\n" + findings(found, words))
        return 1
    paged(findings(found, words))
    return int(not found)


def _cache(parsed: argparse.Namespace) -> int:
    from sacpy.base.kept import chosen_folder
    from sacpy.interp.memory import in_words
    from sacpy.jit.cache import Cache, native_folder

    ready()
    cache = Cache(native_folder())
    info = cache.clear() if parsed.action == "clear" else cache.info()
    amount = f"{info.files} file{'s' * (info.files != 1)} of programs and compiled functions, {in_words(info.size)}"
    if info.folder is None:
        why = "others may write their folder" if chosen_folder() else "SACPY_CACHE_DIR is empty"
        sys.stdout.write(f"programs and compiled functions are not kept: {why}\n")
    elif parsed.action == "clear":
        sys.stdout.write(f"{amount}: removed from {info.folder}\n")
    else:
        sys.stdout.write(f"{info.folder}: {amount}; at most {in_words(info.most)}\n")
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from sacpy.commands.doctor import diagnose, report

    findings = diagnose()
    sys.stdout.write(report(findings))
    return int(any(f.level == "problem" for f in findings))


def _kernel(parsed: argparse.Namespace) -> int:
    import shlex

    from sacpy.notebook.install import install, uninstall

    if parsed.action == "uninstall":
        sys.stdout.write(uninstall(name=parsed.name))
        return 0
    if parsed.user and parsed.prefix:
        refuse("--user and --prefix are two places; give one", "sacpy kernel")
    from sacpy.commands.options import prompt_workspace

    ready()
    options = shlex.split(parsed.prompt_options)
    prompt_workspace(options)  # refuses what the prompt would refuse
    sys.stdout.write(install(user=parsed.user, prefix=parsed.prefix, name=parsed.name, options=options))
    return 0


def _repl(parsed: argparse.Namespace) -> int:
    from sacpy.repl.prompt import run

    ready()
    file: Path | None = parsed.load
    return run(
        lambda: workspace_of(parsed), None if file is None else lambda engine: engine.load(file), _started, parsed.debug
    )


def _watch(parsed: argparse.Namespace) -> int:
    from sacpy.base.terminal import has_escapes
    from sacpy.commands.watch import Files, watch

    ready()
    files = Files(parsed.file, parsed.search, parsed.include)
    return watch(
        files, [sys.executable, "-m", "sacpy", "run", *parsed.options, *parsed.rest], screen=has_escapes(sys.stdout)
    )


COMMANDS = {
    "run": _run,
    "watch": _watch,
    "check": _check,
    **dict.fromkeys(TOOLS, _tool),
    "eval": _evaluate,
    "explain": _explain,
    "picture": _picture,
    "fmt": _fmt,
    "stubs": _stubs,
    "lsp": _lsp,
    "doc": _doc,
    "cache": _cache,
    "doctor": _doctor,
    "kernel": _kernel,
    "repl": _repl,
}
