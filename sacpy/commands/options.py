"""The command line taken apart: which command, and its options.

In: words. Out: a namespace with what was stated, or a message and the exit status for wrong use.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sacpy.commands.settings import (
    COMMANDS,
    FLAGS,
    GENERATIONS,
    ON_ALL,
    RUNNING,
    RUNS,
    SETTINGS,
    TOOLS,
    defines,
    refuse,
    workspace_of,
)

if TYPE_CHECKING:
    from sacpy.workspace import Workspace

WIDTH = 100  # columns of help that nobody sees
_Options = Callable[..., argparse.Action]
_WITHOUT_COMMAND = """SaC (Single Assignment C): run, check and evaluate programs.

  sacpy                   a prompt: type SaC, see values
  sacpy -i FILE.sac       the same, with a file loaded
  sacpy FILE.sac [ARGS]   run a program; everything behind FILE is its own"""


def parse(argv: Sequence[str], stated_only: bool = False) -> argparse.Namespace:
    """The command line taken apart; what belongs to the program is in `rest`, what stands before it in `options`.
    `stated_only`: settings that nobody has stated are left out, and have no defaults."""
    arguments = list(argv) or ["repl"]
    if arguments[0] == "-i":
        arguments.insert(0, "repl")
    if arguments[0] not in COMMANDS and arguments[0] not in ("-h", "--help", "--version"):
        _not_understood(arguments[0])
        arguments.insert(0, "run")
    options: list[str] = []
    rest: list[str] = []
    if arguments[0] in ("run", "watch", "explain", *RUNS):
        options, rest = split_run(arguments[1:])
        arguments = [arguments[0], *options]
    parsed, unknown = _parser(arguments[0], stated_only).parse_known_args(arguments)
    if unknown:
        no_option = f"there is no option {unknown[0]}"
        what = no_option if unknown[0].startswith("-") else f"{unknown[0]!r} is one argument too many"
        refuse(f"{what}; sacpy {arguments[0]} --help says what there is", f"sacpy {arguments[0]}")
    parsed.options, parsed.rest, parsed.words_given = options, rest, list(argv)
    return parsed


def _not_understood(word: str) -> None:
    """Ends with a message if a first word is meant neither as a command nor as a file to run."""
    if word.startswith("-"):
        if any(word.startswith(option) for option in ("-D", "-I", "-L", *RUNNING, *FLAGS)):
            refuse(f"options of a run stand behind the word run: sacpy run {word} .. FILE.sac")
        refuse(f"there is no option {word}; sacpy --help says what there is")
    if not Path(word).suffix and not Path(word).exists():
        from sacpy.base.spelling import closest

        near = closest(word, list(COMMANDS))
        if near and not Path(word + ".sac").exists():
            refuse(f"there is no command and no file {word}; did you mean sacpy {near[0]}?")


def split_run(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The options of `run` with the file, and what belongs to the program."""
    with_value = {"-D", "-I", "-L", *RUNNING}
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-":
        at += 2 if arguments[at] in with_value else 1
    return arguments[: at + 1], arguments[at + 1 :]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Text as wide as the terminal, which is asked for when there is something to tell: one is made for each option
    that is added, to see whether it is right."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=WIDTH)

    def format_help(self) -> str:
        wide = argparse.HelpFormatter(self._prog)
        self._width, self._max_help_position = wide._width, wide._max_help_position
        return super().format_help()


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_Formatter, **settings)


def _parser(word: str, stated_only: bool = False) -> argparse.ArgumentParser:
    """What takes a command line apart that begins with this word: of commands it has the one that is named, since each
    option takes its time to add; all of them where none is."""
    from sacpy import __version__

    parser = _Parser(prog="sacpy", usage="sacpy [COMMAND] [options] ..", description=_WITHOUT_COMMAND)
    parser.add_argument("--version", action="version", version=f"sacpy {__version__}")
    commands = parser.add_subparsers(dest="command", prog="sacpy", metavar="COMMAND", title="commands", required=True)
    common, running, watched = _common(stated_only), _running(stated_only), _watched()

    def command(name: str, help: str, *parents: _Parser, usage: str | None = None) -> _Options:
        if word in COMMANDS and name != word:
            return _left_out
        return commands.add_parser(name, parents=[common, *parents], help=help, usage=usage).add_argument

    add = command("run", "run a program", running, watched, usage="sacpy run [options] FILE.sac [ARGS]")
    add("file", type=Path)
    what = "run a program now and after each change of its text"
    add = command("watch", what, running, watched, usage="sacpy watch [options] FILE.sac [ARGS]")
    add("file", type=Path)
    add = command("check", "say what is wrong with programs, without running them")
    what = f"also say which GPU pragmas that device cannot take: {', '.join(GENERATIONS)}"
    add("--device", choices=list(GENERATIONS), default="", metavar="NAME", help=what)
    add("--json", action="store_true", help="print the diagnostics as JSON")
    what = "a program or module, or a folder for all .sac files in it"
    add("files", nargs="+", type=Path, metavar="FILE", help=what)
    for name, (_, what) in TOOLS.items():
        parents = [_running(stated_only, ("all",), "interp")] if name in ON_ALL else [running] * (name in RUNS)
        usage = f"sacpy {name} [options] FILE.sac [ARGS]" if name in RUNS else None
        add = command(name, what, *parents, usage=usage)
        if name == word:  # other commands need not load it
            from sacpy.commands.tool_options import OPTIONS

            OPTIONS[name](add)
    add = command("eval", "print the value of an expression", running, watched)
    add("expression")
    what = "run a program on a GPU or the emulator, and say what became of its with-loops"
    add = command("explain", what, running, usage="sacpy explain [options] FILE.sac [ARGS]")
    what = "of the functions with this name, or of the with-loops on this line, only"
    add("--function", default="", metavar="NAME|LINE", help=what)
    add("file", type=Path)
    _picture(command("picture", "draw how the with-loops of a program are laid out on a GPU", running))
    add = command("fmt", "lay programs out in the one style")
    what = "change nothing; name the files that would change, and end with status 1 if there are any"
    add("--check", action="store_true", help=what)
    add("--diff", action="store_true", help="change nothing; print what would change")
    what = "a file, a folder for all .sac files in it, or - for standard input"
    add("files", nargs="+", type=Path, metavar="FILE", help=what)
    add = command("stubs", "the functions of a program or module as Python's tools see them")
    add("file", type=Path)
    add("-o", dest="output", type=Path, default=None, metavar="FILE.pyi", help="where to; standard output without it")
    command("lsp", "what editors talk to: the language server, on standard input and output")
    add = command("doc", "what a function, a module, a type, a word of the language or a message is about")
    what = (
        "a function, a module, Module::function, a type, a word such as with, a code such as E0506; several words are "
        "looked for in all texts; all modules without any"
    )
    add("words", nargs="*", metavar="NAME", help=what)
    what = "look for the words in all texts, even if there is something of that name"
    add("-f", "--find", action="store_true", help=what)
    command("cache", "what is kept of programs; forget it")("action", choices=["info", "clear"])
    command("doctor", "what this installation can do, and what to do about what it cannot")
    if word == "kernel" or word not in COMMANDS:
        what = "SaC for Jupyter notebooks: install or uninstall the kernel"
        _kernel(commands.add_parser("kernel", help=what).add_argument)
    add = command("repl", "a prompt, as without a command, with options", running)
    add("-i", dest="load", type=Path, default=None, metavar="FILE", help="load a program or module first")
    return parser


def _left_out(*_: Any, **__: Any) -> Any:
    """Stands for adding an option to a command that is not there."""


def _common(stated_only: bool) -> _Parser:
    """Options of all commands that read programs."""
    parser = _Parser(add_help=False)
    add = parser.add_argument
    none: Any = argparse.SUPPRESS if stated_only else []
    add("-D", dest="defines", action="append", default=none, metavar="NAME[=VALUE]", help="define a macro")
    what = "look for included files there"
    add("-I", dest="include", action="append", default=none, type=Path, metavar="DIR", help=what)
    add("-L", dest="search", action="append", default=none, type=Path, metavar="DIR", help="look for modules there")
    add("--debug", action="store_true", help="show Python's traceback if sacpy itself fails")
    return parser


def _running(stated_only: bool, more: tuple[str, ...] = (), usual: str = "auto") -> _Parser:
    """Options of all commands that run programs. `more`: further targets; `usual`: the one by default."""
    parser = _Parser(add_help=False)
    add = parser.add_argument

    def default(value: Any) -> Any:
        return argparse.SUPPRESS if stated_only else value

    what = (
        "how to run: auto, interpreted, and compiled where it is hot, for the CPU and for the GPU if there is one; "
        "cpu, compiled wherever there is some work; cuda, with-loops on the GPU; emulator, the same kernels on the "
        "CPU; interp, never compiled"
    )
    targets = ["auto", "cpu", "cuda", "emulator", "interp", *more]
    add("--target", choices=targets, default=default(usual), help=what)
    what = f"the GPU that --target emulator stands for: {', '.join(GENERATIONS)}; by default sm_90"
    add("--device", choices=list(GENERATIONS), default=default(""), metavar="NAME", help=what)
    what = "how many threads a compiled loop may use; by default one per core"
    add("--threads", type=_positive(int), default=default(None), metavar="N", help=what)
    what = "who lays out with-loops that have no pragma on a GPU"
    add(
        "--strategy",
        choices=["auto", "jing", "jing_ext", "jing_printed", "foldall"],
        default=default("auto"),
        help=what,
    )
    what = "floating point in the order that the program says, the same to the last bit on every target"
    add("--strict-fp", action="store_true", default=default(False), help=what)
    what = "make arrays that end up inside another one where they are, and copy them; to compare"
    add("--no-short-circuit", dest="short_circuit", action="store_false", default=default(True), help=what)
    add("--verify", action="store_true", default=default(False), help="let the compiler check its own steps")
    what = "leave with-loops whole where conditions tell borders from an interior; to compare"
    add("--no-border-split", dest="split_borders", action="store_false", default=default(True), help=what)
    what = "how much memory the program may take: bytes, or a number with K, M, G or T"
    add("--memory", type=_size, default=default(None), metavar="SIZE", help=what)
    what = "how long the program may run"
    add("--seconds", type=_positive(float), default=default(None), metavar="S", help=what)
    what = "how deep calls may nest before the program is stopped"
    add("--depth", type=_positive(int), default=default(None), metavar="N", help=what)
    return parser


def _watched() -> _Parser:
    """Options that show what happens while a program runs, or what would."""
    parser = _Parser(add_help=False)
    add = parser.add_argument
    what = "say in the end what ran where, how often, how long, and why it was not compiled"
    add("--stats", action="store_true", help=what)
    what = "say in the end what was compiled, and what the compiler made of it"
    add("--explain", action="store_true", help=what)
    what = (
        "do not run; print what this stage of the compiler makes of the program's functions; kernel, nvvm, ptx and "
        "sass: of their with-loops, for a GPU"
    )
    stages = ["core", "graph", "memory", "schedule", "llvm", "asm", "kernel", "nvvm", "ptx", "sass"]
    add("--emit", choices=stages, default=None, help=what)
    what = "with --emit: of the functions with this name, or of what stands on this line, only"
    add("--function", default="", metavar="NAME|LINE", help=what)
    what = "show the elapsed time on the terminal when it takes longer than a second"
    add("--progress", action="store_true", help=what)
    return parser


def _picture(add: _Options) -> None:
    what = "of the functions with this name, or of the with-loop on this line, only; otherwise of what main comes to"
    add("--function", default="", metavar="NAME|LINE", help=what)
    what = "only what the combinator with this number does, counted from the innermost"
    add("--step", type=_positive(int), default=None, metavar="K", help=what)
    what = "run the program first, on the emulator unless --target cuda, and draw what was launched"
    add("--run", action="store_true", help=what)
    what = "draw where the arrays of compiled functions lie instead: in whose memory, from when to when"
    add("--arrays", action="store_true", help=what)
    what = "write a picture: FILE.svg or FILE.png; otherwise small spaces are drawn in characters"
    add("-o", dest="out", type=Path, default=None, metavar="FILE", help=what)
    add("file", type=Path)


def _kernel(add: _Options) -> None:
    add("--debug", action="store_true", help="show Python's traceback if sacpy itself fails")
    add("action", choices=["install", "uninstall"])
    what = "for this user; by default in the virtual environment that runs sacpy, if it is one, else for this user"
    add("--user", action="store_true", help=what)
    add("--prefix", metavar="DIR", help="under DIR/share/jupyter")
    add("--name", default="sac", help="what Jupyter calls the kernel in its folders and commands")
    what = "options of the prompt (sacpy repl --help) that its notebooks run with: --options='--seconds 60'"
    add("--options", dest="prompt_options", default="", metavar="TEXT", help=what)


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


def prompt_workspace(options: Sequence[str] = ()) -> Workspace:
    """The settings of a prompt with these options."""
    return workspace_of(parse(["repl", *options]))


def with_options(workspace: Workspace, options: Sequence[str]) -> Workspace:
    """The settings with those on top that these options of the prompt state. Raises `ValueError` for what is none."""
    from sacpy.nodes import replace

    try:
        with redirect_stderr(io.StringIO()) as said, redirect_stdout(said):
            parsed = parse(["repl", *options], stated_only=True)
    except SystemExit:
        raise ValueError(said.getvalue().strip().rpartition("error: ")[2]) from None  # with --help all of it
    stated = vars(parsed)
    settings = {name: stated[name] for name in SETTINGS if name in stated}
    if "include" in stated:
        settings["include_path"] = (*workspace.include_path, *parsed.include)
    if "search" in stated:
        settings["search"] = (*workspace.search, *parsed.search)
    if "defines" in stated:
        settings["defines"] = {**workspace.defines, **defines(parsed)}
    named = {name: stated[name] for name in ("memory", "seconds", "depth") if name in stated}
    settings["limits"] = replace(workspace.limits, **named)
    if all(getattr(workspace, name) == value for name, value in settings.items()):
        return workspace
    return replace(workspace, **settings, _engine=None)
