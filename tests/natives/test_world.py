"""Streams, files and permissions."""

import gc
import io
import os
import sys

import pytest

from sacpy.interp.errors import Exit, Fault
from sacpy.interp.natives import find
from sacpy.interp.streams import Stream
from sacpy.interp.world import World


def call(world, name, *args, **keywords):
    function = find(name)
    assert function is not None, name
    return function(world, *args, **keywords)


def test_standard_output_is_flushed_before_standard_error():
    order = []

    class Recorder(io.BytesIO):
        def __init__(self, name):
            super().__init__()
            self.label = name

        def write(self, data):
            order.append((self.label, bytes(data)))
            return super().write(data)

    world = World(io.BytesIO(), Recorder("out"), Recorder("err"))
    world.stdout.write(b"one")
    world.stderr.write(b"two")
    assert order == [("out", b"one"), ("err", b"two")]


def test_output_is_flushed_before_input_is_read():
    out = io.BytesIO()

    class Input(io.BytesIO):
        def read(self, size=-1):
            assert out.getvalue() == b"name? "
            return super().read(size)

    world = World(Input(b"x\n"), out, io.BytesIO())
    world.stdout.write(b"name? ")
    assert world.stdin.readline(10) == b"x\n"


def test_a_reader_that_is_gone_ends_the_program_quietly():
    class Gone(io.BytesIO):
        def write(self, data):
            raise BrokenPipeError

    world = World(io.BytesIO(), Gone(), io.BytesIO())
    world.stdout.write(b"lost")
    with pytest.raises(Exit) as caught:
        world.stdout.flush()
    assert caught.value.status == 141
    world.stdout.write(b"lost too")
    assert world.finish() == 141
    assert world.finish() is None


def test_a_full_disk_is_reported_at_the_end():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    world = World(io.BytesIO(), Full(), io.BytesIO())
    world.stdout.write(b"lost")
    assert world.finish() == 1
    assert b"No space left" in world.stderr.raw.getvalue()


def test_partial_writes_are_completed():
    class Narrow(io.BytesIO):
        def write(self, data):
            return super().write(data[:3])

    raw = Narrow()
    stream = Stream(raw, "narrow", writable=True)
    stream.write(b"0123456789")
    stream.flush()
    assert raw.getvalue() == b"0123456789"


def test_the_output_limit():
    world = World.captured(output_limit=10)
    world.stdout.write(b"0123456789")
    with pytest.raises(Fault) as caught:
        world.stdout.write(b"x")
    assert caught.value.code == "E0705"
    assert world.out() == b"0123456789"


def test_end_of_file_is_known_only_after_a_read_found_it():
    world = World.captured(b"a")
    assert call(world, "TermFile::getc/0") == 97
    assert call(world, "TermFile::eof/0") is False
    assert call(world, "TermFile::getc/0") == 255
    assert call(world, "TermFile::eof/0") is True
    call(world, "TermFile::ungetc/1", 98)
    assert call(world, "TermFile::eof/0") is False
    assert call(world, "TermFile::getc/0") == 98


def test_files_are_written_read_back_and_positioned(tmp_path):
    world = World.captured()
    path = bytes(tmp_path / "data.txt")
    error, file = call(world, "File::fopen/2", path, b"w+")
    assert error == -1
    call(
        world,
        "File::fprintf/2...",
        file,
        b"%d %s\n",
        5,
        b"five",
        bases=("File::File", "String::string", "int", "String::string"),
    )
    assert call(world, "File::ftell/1", file)[0] == 7
    call(world, "File::rewind/1", file)
    assert call(world, "File::fscanf/2...", file, b"%d %s", result_bases=("int", "String::string")) == (
        2,
        5,
        b"five",
        file,
    )
    call(world, "File::fseek/3", file, 2, 0)
    call(world, "File::fputs/2", b"FI", file)
    assert call(world, "File::fscanl/2", file, 80)[0] == b"ve\n"
    assert call(world, "File::feof/1", file)[0] is False
    assert call(world, "File::fgets/2", 80, file)[:2] == (0, b"")
    assert call(world, "File::feof/1", file)[0] is True
    call(world, "File::fclose/1", file)
    assert (tmp_path / "data.txt").read_bytes() == b"5 FIve\n"
    with pytest.raises(Fault, match="closed"):
        call(world, "File::fputc/2", 97, file)


def test_what_is_not_closed_is_written_at_the_end(tmp_path):
    world = World.captured()
    _, file = call(world, "File::fopen/2", bytes(tmp_path / "x"), b"a")
    call(world, "File::fputs/2", b"kept", file)
    world.finish()
    assert (tmp_path / "x").read_bytes() == b"kept"


def test_a_file_that_does_not_exist():
    world = World.captured()
    error, file = call(world, "File::fopen/2", b"/nonexistent/file", b"r")
    assert error == 2
    assert call(world, "SysErr::fail/1", error) and not call(world, "SysErr::clear/1", error)
    assert call(world, "SysErr::strerror/1", error) == b"No such file or directory"
    with pytest.raises(Fault, match="could not be opened") as caught:
        call(world, "File::fgetc/1", file)
    assert "fail(err)" in caught.value.help


def test_a_mode_that_does_not_exist():
    with pytest.raises(Fault, match='"q" is not a mode'):
        World.captured().open(b"x", b"q")


def test_reading_from_a_file_that_is_only_written(tmp_path):
    world = World.captured()
    _, file = call(world, "File::fopen/2", bytes(tmp_path / "x"), b"wb")
    with pytest.raises(Fault, match="open for writing only"):
        call(world, "File::fgetc/1", file)


def test_temporary_files(tmp_path):
    world = World.captured()
    error, file, name = call(world, "File::mkstemp/1", bytes(tmp_path / "TMP_XXXXXX"))
    assert error == -1 and len(name) == len(bytes(tmp_path / "TMP_XXXXXX")) + 2
    call(world, "File::fclose/1", file)
    call(world, "File::fremove/1", name)
    assert list(tmp_path.iterdir()) == []


def test_lines_and_words():
    world = World.captured(b"first line\n  word rest\nlast")
    assert call(world, "TermFile::gets/1", 6) == (-1, b"first")
    assert call(world, "TermFile::getl/0") == (-1, b" line")
    assert call(world, "TermFile::scans/1", 3) == b"wor"
    assert call(world, "TermFile::scans/1", 30) == b"d"
    assert call(world, "TermFile::scanl/1", 80) == b" rest\n"
    assert call(world, "TermFile::getl/0") == (0, b"last")
    assert call(world, "TermFile::scanl/1", 80) == b""


def test_a_closed_world_refuses_politely():
    world = World.captured(allowed=False)
    for name, args, code in (
        ("File::fopen/2", (b"x", b"r"), "E0750"),
        ("FileSystem::remove/1", (b"x",), "E0750"),
        ("BinFile::binfopen/2", (b"x", 0), "E0750"),
        ("Process::system/1", (b"true",), "E0751"),
        ("Process::popen/2", (b"true", b"r"), "E0751"),
        ("Environment::GetEnv/1", (b"HOME",), "E0752"),
    ):
        with pytest.raises(Fault) as caught:
            call(world, name, *args)
        assert caught.value.code == code
        assert caught.value.help


def test_the_command_line():
    world = World.captured(argv=(b"prog", b"-n", b"5"))
    assert call(world, "CommandLine::argc/0") == 3
    assert call(world, "CommandLine::argv/1", 2) == b"5"
    assert call(world, "CommandLine::argv/1", 9) == b""
    assert call(world, "CommandLine::argv/0") == b"prog -n 5"


def test_options():
    world = World.captured(argv=(b"prog", b"-ab", b"-ofile", b"-x", b"-o", b"other", b"--", b"rest"))
    found = []
    while (letter := call(world, "GetOpt::getopt/1", b"abo:")) != call(world, "GetOpt::optEND/0"):
        found.append((chr(letter), call(world, "GetOpt::optarg/0")))
    assert found == [("a", b""), ("b", b""), ("o", b"file"), ("?", b""), ("o", b"other")]
    assert call(world, "GetOpt::optind/0") == 7
    assert world.err() == b"prog: invalid option -- 'x'\n"


def test_the_environment_of_a_captured_world_is_a_copy():
    world = World.captured()
    assert call(world, "Environment::SetEnv/3", b"SACPY_TEST", b"1", False)
    assert call(world, "Environment::SetEnv/3", b"SACPY_TEST", b"2", False)
    assert call(world, "Environment::GetEnv/1", b"SACPY_TEST") == b"1"
    call(world, "Environment::UnsetEnv/1", b"SACPY_TEST")
    assert not call(world, "Environment::ExistEnv/1", b"SACPY_TEST")
    assert call(world, "Environment::GetEnv/1", b"SACPY_TEST") == b""


def test_processes():
    world = World.captured()
    assert call(world, "Process::system/1", b"exit 3") == 3 << 8
    error, pipe = call(world, "Process::popen/2", b"echo hello", b"r")
    assert error == -1
    assert call(world, "File::fscanl/2", pipe, 80)[0] == b"hello\n"
    call(world, "Process::pclose/1", pipe)


def test_a_program_may_end_itself_with_a_message():
    world = World.captured()
    world.stdout.write(b"before")
    with pytest.raises(Exit) as caught:
        call(world, "RuntimeError::error/2...", 3, b"bad %d", 7, bases=("int", "String::string", "int"))
    assert caught.value.status == 3
    assert world.err() == b"\n\n*** USER runtime error\n*** bad 7\n\n"


def test_directories_and_files(tmp_path):
    world = World.captured()
    folder = bytes(tmp_path / "d")
    assert call(world, "FileSystem::mkdir/1", folder) == -1
    assert call(world, "FileSystem::mkdir/1", folder) == 17
    assert call(world, "FileSystem::isdir/1", folder) == (True, -1)
    assert call(world, "FileSystem::isreg/1", folder) == (False, -1)
    assert call(world, "FileSystem::access/2", bytes(tmp_path / "none"), 0) == (False, 2)
    (tmp_path / "d" / "b").write_bytes(b"123")
    (tmp_path / "d" / "a").write_bytes(b"")
    assert call(world, "FileSystem::filesize/1", folder + b"/b") == (3, -1)
    _, listing = call(world, "Dir::opendir/1", folder)
    assert [call(world, "Dir::readdir/1", listing)[0] for _ in range(3)] == [b"a", b"b", b""]
    call(world, "Dir::rewinddir/1", listing)
    assert call(world, "Dir::telldir/1", listing)[0] == 0
    call(world, "Dir::closedir/1", listing)
    with pytest.raises(Fault, match="not open"):
        call(world, "Dir::readdir/1", listing)


def test_binary_files_keep_every_bit(tmp_path):
    import numpy as np

    world = World.captured()
    path = bytes(tmp_path / "x.bin")
    flags = call(world, "BinFile::O_CREAT/0") | call(world, "BinFile::O_RDWR/0") | call(world, "BinFile::O_TRUNC/0")
    shape, data = np.array([2, 2], np.int32), np.array([[0.1, -0.0], [np.inf, 5e-324]])
    _, file = call(world, "BinFile::binfopen/2", path, flags)
    call(world, "BinFile::binfWriteDoubleArray/4", file, 2, shape, data)
    assert call(world, "BinFile::binfclose/1", file) == -1
    _, file = call(world, "BinFile::binfopen/2", path, call(world, "BinFile::O_RDONLY/0"))
    back, _ = call(world, "BinFile::binfReadDoubleArray/3", file, 2, shape)
    assert back.tobytes() == data.tobytes()
    with pytest.raises(Fault, match="needs 32"):
        call(world, "BinFile::binfReadDoubleArray/3", file, 2, shape)


def test_clocks_go_forward():
    world = World.captured()
    first, second = call(world, "MTClock::gettime/0"), call(world, "MTClock::gettime/0")
    assert first <= second and 0 <= first[1] < 10**9
    timer = call(world, "RTimer::startRTimer/1", call(world, "RTimer::createRTimer/0"))
    stopped = call(world, "RTimer::stopRTimer/1", timer)
    assert call(world, "RTimer::getRTimerDbl/1", stopped)[0] >= 0
    assert call(world, "RTimer::getRTimerLong/1", call(world, "RTimer::resetRTimer/1", stopped))[:2] == (0, 0)


def test_benchmarking_measures_in_the_unit_asked_for():
    world = World.captured()
    interval = call(world, "Benchmarking::getInterval/3", b"loop", 4, 2)
    interval = call(world, "Benchmarking::end/1", call(world, "Benchmarking::start/1", interval))
    result, unit, _ = call(world, "Benchmarking::returnResultUnit/1", interval)
    assert result >= 0 and unit == b"us"
    call(world, "Benchmarking::printResult/1", interval)
    assert b'"4 loop us"' in world.out()


def test_dates():
    world = World.captured()
    moment, good = call(world, "Clock::mktime/6", 124, 1, 29, 12, 30, 15)
    assert good
    assert call(world, "Clock::date/1", moment) == (124, 1, 29)
    assert call(world, "Clock::clock/1", moment) == (12, 30, 15)
    assert call(world, "Clock::wday/1", moment) == 4
    assert call(world, "Clock::yday/1", moment) == 59
    assert call(world, "Clock::isleap/1", moment, bases=("Clock::time",))
    assert not call(world, "Clock::isleap/1", 1900, bases=("int",))
    assert call(world, "Clock::strftime/3", 99, b"%Y-%m-%d", moment) == b"2024-02-29"
    assert call(world, "Clock::strftime/3", 4, b"%Y-%m-%d", moment) == b""
    assert call(world, "Clock::strptime/2", b"2024-02-29 12:30:15 rest", b"%Y-%m-%d %H:%M:%S") == (moment, b" rest")
    assert call(world, "Clock::strptime/2", b"no date", b"%Y") == (0, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="open files are looked up in /proc")
def test_a_world_that_nobody_has_any_more_holds_no_files(tmp_path):
    def files() -> int:
        return sum(str(tmp_path) in os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd"))

    gc.disable()  # they do not wait for Python to look for cycles
    try:
        world = World.captured()
        call(world, "File::fopen/2", bytes(tmp_path / "some.txt"), b"w")
        assert files() == 1
        del world
        assert files() == 0
    finally:
        gc.enable()
