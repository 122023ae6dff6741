"""Natives for the program's surroundings: command line and its options, environment, processes, ending with an error.
The classes that only stand for a part of the world are the world itself."""

from __future__ import annotations

from typing import Any, cast

from sacpy.interp.errors import Exit, Fault
from sacpy.interp.natives import native
from sacpy.interp.natives.formatting import sprintf
from sacpy.interp.natives.stdio import NO_ERROR, failed
from sacpy.interp.streams import RawFile, Stream
from sacpy.interp.world import World, shown
from sacpy.nodes import Record


@native(
    "World::create_TheWorld/0",
    "Terminal::create_TheTerminal/0",
    "CommandLine::create_TheCommandLine/0",
    "Environment::create_TheEnvironment/0",
    "FileSystem::create_TheFileSystem/0",
)
def create(world: World) -> World:
    return world


@native("RuntimeError::error/2...")
def error(world: World, status: int, message: bytes, *args: Any, bases: tuple[str, ...]) -> None:
    text = sprintf(message, args, bases[2:], "error")
    world.flush()
    world.stderr.write(b"\n\n*** USER runtime error\n*** ")
    world.stderr.write(text)
    world.stderr.write(b"\n\n")
    raise Exit(status & 255)


# ---------------------------------------------------------------- command line


@native("CommandLine::argc/0")
def argc(world: World) -> int:
    return len(world.argv)


@native("CommandLine::argv/0")
def argv_all(world: World) -> bytes:
    return b" ".join(world.argv)


@native("CommandLine::argv/1")
def argv(world: World, number: int) -> bytes:
    """The argument of that number; empty behind the last one."""
    if number < 0:
        raise Fault(
            "E0658",
            f"argv({number}): arguments count from 0, the program's name",
            help="use argv(1) for the first argument",
        )
    return world.argv[number] if number < len(world.argv) else b""


class Options(Record):
    """Where `getopt` is: the argument to look at and the place in it."""

    index: int = 1
    place: int = 1
    report: bool = True
    option: int = 0
    argument: bytes = b""


def _options(world: World) -> Options:
    return cast(Options, world.state.setdefault("GetOpt", Options()))


@native("GetOpt::getopt/1")
def getopt(world: World, accepted: bytes) -> int:
    """The next option's letter; 0 where there is none, `?` for one that is wrong."""
    state = _options(world)
    state.argument = b""
    state.index = max(1, state.index)
    if state.index == 1 and state.place == 1 and world.argv[1:2] == (b"-mt",):
        state.index = 2
    if state.index >= len(world.argv):
        return 0
    word = world.argv[state.index]
    if word == b"--":
        state.index, state.place = state.index + 1, 1
    if not word.startswith(b"-") or word in (b"-", b"--"):
        return 0
    state.option = word[state.place]
    state.place += 1
    at = accepted.find(state.option) if state.option != ord(":") else -1
    wants = at >= 0 and accepted[at + 1 : at + 2] == b":"
    if wants and state.place < len(word):
        state.argument, state.place = word[state.place :], len(word)
    elif wants and state.index + 1 < len(world.argv):
        state.index += 1
        state.argument = world.argv[state.index]
        state.place = len(word)
    elif wants or at < 0:
        _complain(world, b"option requires an argument" if wants else b"invalid option")
        at = -1
    if state.place >= len(word):
        state.index, state.place = state.index + 1, 1
    return state.option if at >= 0 else ord("?")


def _complain(world: World, what: bytes) -> None:
    state = _options(world)
    if state.report:
        world.stderr.write(b"%b: %b -- '%c'\n" % (world.argv[0], what, state.option))


@native("GetOpt::optEND/0")
def opt_end(world: World) -> int:
    return 0


@native("GetOpt::optarg/0")
def optarg(world: World) -> bytes:
    return _options(world).argument


@native("GetOpt::optopt/0")
def optopt(world: World) -> int:
    return _options(world).option


@native("GetOpt::optind/0")
def optind(world: World) -> int:
    return _options(world).index


@native("GetOpt::optind/1")
def set_optind(world: World, index: int) -> None:
    state = _options(world)
    state.index, state.place = index, 1


@native("GetOpt::opterr/0")
def opterr(world: World) -> bool:
    return _options(world).report


@native("GetOpt::opterr/1")
def set_opterr(world: World, report: bool) -> None:
    _options(world).report = report


# ---------------------------------------------------------------- environment


@native("Environment::GetEnv/1")
def get_env(world: World, name: bytes) -> bytes:
    return world.environ.get(name, b"")


@native("Environment::ExistEnv/1")
def exist_env(world: World, name: bytes) -> bool:
    return name in world.environ


@native("Environment::SetEnv/3")
def set_env(world: World, name: bytes, value: bytes, overwrite: bool) -> bool:
    if not name or b"=" in name:
        return False
    if overwrite or name not in world.environ:
        world.environ[name] = value
    return True


@native("Environment::UnsetEnv/1")
def unset_env(world: World, name: bytes) -> None:
    world.environ.pop(name, None)


@native("Environment::EnvCount/0")
def env_count(world: World) -> int:
    return len(world.environ)


@native("Environment::IndexEnv/1")
def index_env(world: World, number: int) -> bytes:
    items = list(world.environ.items())
    return b"=".join(items[number]) if 0 <= number < len(items) else b""


# ---------------------------------------------------------------- processes


@native("Process::system/1")
def system(world: World, command: bytes) -> int:
    return world.run(command)


@native("Process::popen/2")
def popen(world: World, command: bytes, mode: bytes) -> tuple[int, Stream]:
    world.allow_processes(f"run {shown(command)}")
    if mode not in (b"r", b"w"):
        raise Fault(
            "E0651",
            f'"{shown(mode)}" is not a mode to open a process in',
            help='use "r" to read what it prints or "w" to write what it reads',
        )
    import subprocess  # few programs start one

    world.flush()
    reads = mode == b"r"
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            bufsize=0,
            env=dict(world.environ),
            stdout=subprocess.PIPE if reads else None,
            stdin=None if reads else subprocess.PIPE,
        )
    except OSError as problem:
        return failed(problem, command)
    pipe = cast(RawFile, process.stdout if reads else process.stdin)
    stream = world.adopt(Stream(pipe, shown(command), readable=reads, writable=not reads))
    world.state[f"process of {id(stream)}"] = process
    return NO_ERROR, stream


@native("Process::pclose/1")
def pclose(world: World, stream: Stream) -> None:
    world.close(stream)
    process: Any = world.state.pop(f"process of {id(stream)}", None)
    if process is not None:
        process.wait()
