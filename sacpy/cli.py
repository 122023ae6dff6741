"""The command line.

    sacpy                                 a prompt: type SaC, see values
    sacpy -i FILE.sac                     a prompt that has loaded a file
    sacpy FILE.sac [ARGS]                 run a program
    sacpy run [options] FILE.sac [ARGS]   run a program; everything after FILE is its own
    sacpy watch [options] FILE.sac [ARGS] run a program now and after each change of its text
    sacpy check [options] [--json] FILE   say what is wrong with a program, without running it
    sacpy explain [options] FILE [ARGS]   run a program on a GPU or the emulator, and say what became of its with-loops
    sacpy picture [options] FILE          draw how the with-loops of a program are laid out on a GPU
    sacpy eval [options] 'EXPR'           print the value of an expression
    sacpy fmt [--check] [--diff] FILE ..  lay programs out in the one style
    sacpy lsp                             what editors talk to: the language server
    sacpy doc [NAME]                      what a function, module or type of the library is for
    sacpy cache info | clear              what is kept of compiled programs; forget it
    sacpy doctor                          what this installation can do, and what to do about what it cannot
    sacpy kernel install                  SaC for Jupyter notebooks
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sacpy.interp.world import World
    from sacpy.lang.diagnostics import Diagnostic
    from sacpy.lang.elaborate.program import ElaboratedProgram
    from sacpy.workspace import Workspace

INTERRUPTED = 130
GENERATIONS = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100")  # of GPUs: those of withloop.devices, which is loaded only where it is needed
RUNNING = ("--target", "--device", "--threads", "--strategy", "--memory", "--seconds", "--depth", "--emit", "--function")  # options of a run that take a value
WRONG_USE = 2
_WITHOUT_COMMAND = """SaC (Single Assignment C): run, check and evaluate programs.

  sacpy                   a prompt: type SaC, see values
  sacpy -i FILE.sac       the same, with a file loaded
  sacpy FILE.sac [ARGS]   run a program; everything behind FILE is its own"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and gives the exit status."""
    gc.disable()  # what is made until the program runs stays, so looking for garbage in it would be a fifth of the start-up
    parsed = parse(sys.argv[1:] if argv is None else argv)
    return _guarded(parsed)


def _started() -> None:
    """What is there now stays; from here on garbage is looked for again."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The command line taken apart; what belongs to the program is in `rest`, what stands before it in `options`."""
    arguments = list(argv) or ["repl"]
    if arguments[0] == "-i":
        arguments.insert(0, "repl")
    if arguments[0] not in COMMANDS and arguments[0] not in ("-h", "--help", "--version"):
        _not_understood(arguments[0])
        arguments.insert(0, "run")
    options: list[str] = []
    rest: list[str] = []
    if arguments[0] in ("run", "watch", "explain"):
        options, rest = split_run(arguments[1:])
        arguments = [arguments[0], *options]
    parsed, unknown = _parser().parse_known_args(arguments)
    if unknown:
        what = f"there is no option {unknown[0]}" if unknown[0].startswith("-") else f"{unknown[0]!r} is one argument too many"
        _refuse(f"{what}; sacpy {arguments[0]} --help says what there is", f"sacpy {arguments[0]}")
    parsed.options, parsed.rest = options, rest
    return parsed


def _not_understood(word: str) -> None:
    """Ends with a message if a first word is meant neither as a command nor as a file to run."""
    if word.startswith("-"):
        known = any(word.startswith(option) for option in ("-D", "-I", "-L", *RUNNING, "--debug", "--progress", "--strict-fp", "--stats", "--explain", "--verify"))
        _refuse(f"options of a run stand behind the word run: sacpy run {word} .. FILE.sac" if known else f"there is no option {word}; sacpy --help says what there is")
    if not Path(word).suffix and not Path(word).exists():
        from sacpy.lang.suggest import closest

        near = closest(word, list(COMMANDS))
        if near and not Path(word + ".sac").exists():
            _refuse(f"there is no command and no file {word}; did you mean sacpy {near[0]}?")


def _refuse(message: str, command: str = "sacpy") -> NoReturn:
    sys.stderr.write(f"{command}: error: {message}\n")
    raise SystemExit(WRONG_USE)


def _guarded(parsed: argparse.Namespace) -> int:
    """Whatever happens, a user sees a message and not a traceback."""
    from sacpy.lang.diagnostics import SacError

    try:
        return COMMANDS[parsed.command](parsed)
    except SacError as error:
        _show(error.diagnostics)
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
        sys.stderr.write("  = help: this is a defect of sacpy, not of your program; run again with --debug and report what it shows\n")
        return 1


def split_run(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The options of `run` with the file, and what belongs to the program."""
    with_value = {"-D", "-I", "-L", *RUNNING}
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-":
        at += 2 if arguments[at] in with_value else 1
    return arguments[: at + 1], arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    from sacpy import __version__

    parser = argparse.ArgumentParser(prog="sacpy", usage="sacpy [COMMAND] [options] ..", formatter_class=argparse.RawDescriptionHelpFormatter, description=_WITHOUT_COMMAND)
    parser.add_argument("--version", action="version", version=f"sacpy {__version__}")
    commands = parser.add_subparsers(dest="command", prog="sacpy", metavar="COMMAND", title="commands", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro")
    common.add_argument("-I", dest="include", action="append", default=[], type=Path, metavar="DIR", help="look for included files there")
    common.add_argument("-L", dest="search", action="append", default=[], type=Path, metavar="DIR", help="look for modules there")
    common.add_argument("--debug", action="store_true", help="show Python's traceback if sacpy itself fails")
    running = argparse.ArgumentParser(add_help=False)
    running.add_argument("--target", choices=["auto", "cpu", "cuda", "emulator", "interp"], default="auto", help="how to run: auto, interpreted, and compiled where it is hot, for the CPU and for the GPU if there is one; cpu, compiled wherever there is some work; cuda, with-loops on the GPU; emulator, the same kernels on the CPU; interp, never compiled")
    running.add_argument("--device", choices=list(GENERATIONS), default="", metavar="NAME", help=f"the GPU that --target emulator stands for: {', '.join(GENERATIONS)}; by default sm_90")
    running.add_argument("--threads", type=_positive(int), default=None, metavar="N", help="how many threads a compiled loop may use; by default one per core")
    running.add_argument("--strategy", choices=["auto", "jing", "jing_ext", "foldall"], default="auto", help="who lays out with-loops that have no pragma on a GPU")
    running.add_argument("--strict-fp", action="store_true", help="floating point in the order that the program says, the same to the last bit on every target")
    running.add_argument("--verify", action="store_true", help="let the compiler check its own steps")
    running.add_argument("--memory", type=_size, default=None, metavar="SIZE", help="how much memory the program may take: bytes, or a number with K, M, G or T")
    running.add_argument("--seconds", type=_positive(float), default=None, metavar="S", help="how long the program may run")
    running.add_argument("--depth", type=_positive(int), default=None, metavar="N", help="how deep calls may nest before the program is stopped")
    watched = argparse.ArgumentParser(add_help=False)
    watched.add_argument("--stats", action="store_true", help="say in the end what ran where, how often, how long, and why it was not compiled")
    watched.add_argument("--explain", action="store_true", help="say in the end what was compiled, and what the compiler made of it")
    watched.add_argument("--emit", choices=["core", "graph", "llvm", "asm", "kernel", "nvvm", "ptx", "sass"], default=None, help="do not run; print what this stage of the compiler makes of the program's functions; kernel, nvvm, ptx and sass: of their with-loops, for a GPU")
    watched.add_argument("--function", default="", metavar="NAME|LINE", help="with --emit: of the functions with this name, or of what stands on this line, only")
    watched.add_argument("--progress", action="store_true", help="show the elapsed time on the terminal when it takes longer than a second")
    run = commands.add_parser("run", parents=[common, running, watched], help="run a program", usage="sacpy run [options] FILE.sac [ARGS]")
    run.add_argument("file", type=Path)
    watch = commands.add_parser("watch", parents=[common, running, watched], help="run a program now and after each change of its text", usage="sacpy watch [options] FILE.sac [ARGS]")
    watch.add_argument("file", type=Path)
    check = commands.add_parser("check", parents=[common], help="say what is wrong with a program, without running it")
    check.add_argument("--device", choices=list(GENERATIONS), default="", metavar="NAME", help=f"also say which GPU pragmas that device cannot take: {', '.join(GENERATIONS)}")
    check.add_argument("--json", action="store_true", help="print the diagnostics as JSON")
    check.add_argument("file", type=Path)
    evaluate = commands.add_parser("eval", parents=[common, running, watched], help="print the value of an expression")
    evaluate.add_argument("expression")
    explained = commands.add_parser("explain", parents=[common, running], help="run a program on a GPU or the emulator, and say what became of its with-loops", usage="sacpy explain [options] FILE.sac [ARGS]")
    explained.add_argument("--function", default="", metavar="NAME|LINE", help="of the functions with this name, or of the with-loops on this line, only")
    explained.add_argument("file", type=Path)
    picture = commands.add_parser("picture", parents=[common, running], help="draw how the with-loops of a program are laid out on a GPU")
    picture.add_argument("--function", default="", metavar="NAME|LINE", help="of the functions with this name, or of the with-loop on this line, only; otherwise of what main comes to")
    picture.add_argument("--step", type=_positive(int), default=None, metavar="K", help="only what the combinator with this number does, counted from the innermost")
    picture.add_argument("--run", action="store_true", help="run the program first, on the emulator unless --target cuda, and draw what was launched")
    picture.add_argument("-o", dest="out", type=Path, default=None, metavar="FILE", help="write a picture: FILE.svg or FILE.png; otherwise small spaces are drawn in characters")
    picture.add_argument("file", type=Path)
    fmt = commands.add_parser("fmt", parents=[common], help="lay programs out in the one style")
    fmt.add_argument("--check", action="store_true", help="change nothing; name the files that would change, and end with status 1 if there are any")
    fmt.add_argument("--diff", action="store_true", help="change nothing; print what would change")
    fmt.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file, a folder for all .sac files in it, or - for standard input")
    commands.add_parser("lsp", parents=[common], help="what editors talk to: the language server, on standard input and output")
    doc = commands.add_parser("doc", parents=[common], help="what a function, module or type of the library is for")
    doc.add_argument("name", nargs="?", default="", help="a function, a module, Module::function, a type; all modules without it")
    cache = commands.add_parser("cache", parents=[common], help="what is kept of compiled programs; forget it")
    cache.add_argument("action", choices=["info", "clear"])
    commands.add_parser("doctor", parents=[common], help="what this installation can do, and what to do about what it cannot")
    kernel = commands.add_parser("kernel", help="SaC for Jupyter notebooks: install or uninstall the kernel")
    kernel.add_argument("--debug", action="store_true", help="show Python's traceback if sacpy itself fails")
    kernel.add_argument("action", choices=["install", "uninstall"])
    kernel.add_argument("--user", action="store_true", help="for this user; by default in the virtual environment that runs sacpy, if it is one, else for this user")
    kernel.add_argument("--prefix", metavar="DIR", help="under DIR/share/jupyter")
    kernel.add_argument("--name", default="sac", help="what Jupyter calls the kernel in its folders and commands")
    kernel.add_argument("--options", dest="prompt_options", default="", metavar="TEXT", help="options of the prompt (sacpy repl --help) that its notebooks run with: --options='--seconds 60'")
    repl = commands.add_parser("repl", parents=[common, running], help="a prompt, as without a command, with options")
    repl.add_argument("-i", dest="load", type=Path, default=None, metavar="FILE", help="load a program or module first")
    return parser


def _positive(number: Callable[[str], float]) -> Callable[[str], float]:
    """A number above 0."""

    def read(text: str) -> float:
        value = number(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    read.__name__ = number.__name__  # argparse calls it that in its message
    return read


def _size(text: str) -> int:
    """A number of bytes: 1000000, 64K, 1.5G."""
    unit = "KMGT".find(text[-1:].upper()) + 1
    size = float(text[:-1] if unit else text) * 1024**unit
    if not size >= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return int(size)


_size.__name__ = "size"


# ---------------------------------------------------------------- commands


def _run(parsed: argparse.Namespace) -> int:
    from sacpy.interp.world import World

    world = World.system(tuple(a.encode(errors="surrogateescape") for a in (str(parsed.file), *parsed.rest)))
    try:
        with _progress(parsed, world) as erased:

            def loaded(found: Sequence[Diagnostic]) -> None:
                with erased():
                    _show_warnings(found)

            status, _ = run_program(parsed, world, loaded)
    finally:
        closed = world.finish()
    return status if closed is None else closed


@contextmanager
def _progress(parsed: argparse.Namespace, world: World) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """With `--progress`, a sign of life on the terminal while the program runs. Gives what takes it off the screen for a while."""
    if not parsed.progress:
        yield nullcontext
        return
    from sacpy.progress import Progress

    progress = Progress(world)
    with progress.watching():
        yield progress.erased


def run_program(parsed: argparse.Namespace, world: World, loaded: Callable[[Sequence[Diagnostic]], None] | None = None) -> tuple[int, Sequence[Diagnostic]]:
    """Loads and runs a program: its exit status, and warnings and notes about it (`loaded` is told before it runs). Raises `SacError`."""
    workspace = workspace_of(parsed)
    program, found = workspace.load(parsed.file)
    if loaded is not None:
        loaded(found)
    return _run_or_emit(parsed, workspace, program, world, found), found


def _run_or_emit(parsed: argparse.Namespace, workspace: Workspace, program: ElaboratedProgram, world: World, found: Sequence[Diagnostic] = ()) -> int:
    """Runs a program, with the tables that are asked for behind its output; or prints what a stage of the compiler makes of it."""
    if getattr(parsed, "emit", None):
        from sacpy.jit.stages import emission

        world.stdout.write(emission(program, parsed.emit, parsed.function, workspace.options).encode("utf-8", "surrogateescape"))
        return 0
    _started()
    try:
        return workspace.run(program, world, found)
    finally:
        if parsed.stats or parsed.explain:
            from sacpy.jit.statistics import explain, stats

            engine = None if workspace.engine is None else workspace.engine.started
            texts = [explain(engine)] * parsed.explain + [str(stats(engine))] * parsed.stats
            world.stdout.flush()
            world.stderr.write("\n".join(texts).encode("utf-8", "surrogateescape"))


def _evaluate(parsed: argparse.Namespace) -> int:
    from sacpy.interp.world import World

    workspace = workspace_of(parsed)
    program = workspace.expression(parsed.expression)
    world = World.system((b"eval",))
    try:
        with _progress(parsed, world):
            status = _run_or_emit(parsed, workspace, program, world)
    finally:
        closed = world.finish()
    return status if closed is None else closed


def _check(parsed: argparse.Namespace) -> int:
    from sacpy.lang.diagnostics import to_json

    status, found = check_program(parsed)
    if parsed.json:
        print(to_json(found))
    else:
        _show(found)
    return status


def check_program(parsed: argparse.Namespace) -> tuple[int, Sequence[Diagnostic]]:
    """Checks a program: the exit status, and everything there is to say about it."""
    from sacpy.lang.diagnostics import SacError
    from sacpy.workspace import main_key

    found: list[Diagnostic] = []
    try:
        program, found = workspace_of(parsed).check(parsed.file)
        if program.main.info.kind == "program":
            main_key(program)
    except SacError as error:
        found = [*found, *error.diagnostics]
    return int(any(d.severity == "error" for d in found)), found


def _explain(parsed: argparse.Namespace) -> int:
    from sacpy.jit.statistics import explain

    engine = _ran(parsed).engine
    sys.stdout.write(explain(None if engine is None else engine.started, parsed.function))
    return 0


def _picture(parsed: argparse.Namespace) -> int:
    from sacpy.mapped import Picture, known, launched

    if parsed.run:
        workspace = _ran(parsed)
        drawn = launched(workspace.engine.started if workspace.engine is not None else None, parsed.function)
    else:
        workspace = workspace_of(parsed)
        program, found = workspace.check(parsed.file)
        if any(d.severity == "error" for d in found):
            _show(found)
            return 1
        drawn = known(program, parsed.function, workspace.strategy, workspace.device)
    picture = Picture(tuple(drawn), parsed.step)
    if parsed.out is not None:
        picture.save(parsed.out)
    else:
        from shutil import get_terminal_size

        sys.stdout.write(picture.text(get_terminal_size((120, 40)).columns))
    return 0


def _ran(parsed: argparse.Namespace) -> Workspace:
    """The workspace of a program behind its run on a device, whatever the work; what it prints goes nowhere. Without a target that is a device: on the emulator. Raises `SacError`."""
    from sacpy.interp.world import World
    from sacpy.nodes import replace

    workspace = workspace_of(parsed)
    workspace = replace(workspace, target=parsed.target if parsed.target != "auto" else "emulator", eager=True)
    program, found = workspace.load(parsed.file)
    _show_warnings(found)
    world = World.system(tuple(a.encode(errors="surrogateescape") for a in (str(parsed.file), *getattr(parsed, "rest", ()))), silent=True)
    try:
        workspace.run(program, world, found)
    finally:
        world.finish()
    return workspace


def _fmt(parsed: argparse.Namespace) -> int:
    from sacpy.formatting import Formatting

    return Formatting(parsed.check, parsed.diff, tuple(parsed.include), _defines(parsed), tuple(parsed.search)).run(parsed.files, _show)


def _lsp(parsed: argparse.Namespace) -> int:
    from sacpy.lsp import serve

    _started()
    return serve(tuple(parsed.search), tuple(parsed.include), _defines(parsed))


def _doc(parsed: argparse.Namespace) -> int:
    from sacpy.documentation import Library, describe, overview, unknown
    from sacpy.workspace import cache_folder

    library = Library((Path(), *parsed.search), cache_folder())
    text = describe(library, parsed.name) if parsed.name else overview(library)
    if text is None:
        sys.stderr.write(f"error[E0718]: {unknown(library, parsed.name)}\n")
        return 1
    sys.stdout.write(text)
    return 0


def _cache(parsed: argparse.Namespace) -> int:
    from sacpy.interp.memory import in_words
    from sacpy.jit.cache import Cache, native_folder

    cache = Cache(native_folder())
    info = cache.clear() if parsed.action == "clear" else cache.info()
    amount = f"{info.files} compiled function{'s' * (info.files != 1)}, {in_words(info.size)}"
    if info.folder is None:
        sys.stdout.write("compiled functions are not kept: SACPY_CACHE_DIR is empty\n")
    elif parsed.action == "clear":
        sys.stdout.write(f"{amount}: removed from {info.folder}\n")
    else:
        sys.stdout.write(f"{info.folder}: {amount}; at most {in_words(info.most)}\n")
    return 0


def _doctor(parsed: argparse.Namespace) -> int:
    from sacpy.doctor import diagnose, report

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
        _refuse("--user and --prefix are two places; give one", "sacpy kernel")
    options = shlex.split(parsed.prompt_options)
    prompt_workspace(options)  # refuses what the prompt would refuse
    sys.stdout.write(install(user=parsed.user, prefix=parsed.prefix, name=parsed.name, options=options))
    return 0


def prompt_workspace(options: Sequence[str] = ()) -> Workspace:
    """The settings of a prompt with these options."""
    return workspace_of(parse(["repl", *options]))


def _repl(parsed: argparse.Namespace) -> int:
    from sacpy.repl.prompt import run

    file: Path | None = parsed.load
    return run(lambda: workspace_of(parsed), None if file is None else lambda engine: engine.load(file), _started, parsed.debug)


def _watch(parsed: argparse.Namespace) -> int:
    from sacpy.terminal import has_escapes
    from sacpy.watch import Files, watch

    files = Files(parsed.file, parsed.search, parsed.include)
    return watch(files, [sys.executable, "-m", "sacpy", "run", *parsed.options, *parsed.rest], screen=has_escapes(sys.stdout))


COMMANDS = {"run": _run, "watch": _watch, "check": _check, "eval": _evaluate, "explain": _explain, "picture": _picture, "fmt": _fmt, "lsp": _lsp, "doc": _doc, "cache": _cache, "doctor": _doctor, "kernel": _kernel, "repl": _repl}


def workspace_of(parsed: argparse.Namespace) -> Workspace:
    from sacpy.interp.limits import Limits
    from sacpy.workspace import DEPTH_LIMIT, Workspace

    depth = getattr(parsed, "depth", None)
    limits = Limits(getattr(parsed, "memory", None), getattr(parsed, "seconds", None), DEPTH_LIMIT if depth is None else depth)
    running = {name: getattr(parsed, name) for name in ("target", "threads", "strategy", "strict_fp", "verify", "device") if hasattr(parsed, name)}
    return Workspace(tuple(parsed.search), tuple(parsed.include), _defines(parsed), limits, **running)


def _defines(parsed: argparse.Namespace) -> dict[str, str]:
    """The macros of -D."""
    return {d.partition("=")[0]: d.partition("=")[2] if "=" in d else "1" for d in parsed.defines}


def _show_warnings(diagnostics: Sequence[Diagnostic]) -> None:
    _show([d for d in diagnostics if d.severity == "warning"])


def _show(diagnostics: Sequence[Diagnostic]) -> None:
    if diagnostics:
        from sacpy.lang.diagnostics import render_text
        from sacpy.terminal import has_color

        sys.stdout.flush()
        text = render_text(diagnostics, color=has_color(sys.stderr))
        sys.stderr.write(text if text.endswith("\n") else text + "\n")
