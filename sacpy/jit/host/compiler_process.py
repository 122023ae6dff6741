"""A process that translates for others: what runs on the other side of `compilers`.

In: requests on standard input. Out: replies on standard output, in order. It has nothing to lose, so it may be killed
at any moment. It ends by itself as soon as nobody holds the other end of its input, whatever LLVM is doing; so it does
not outlive who started it.

A request is a head (`REQUEST`: bytes of text, level, flags, passes, seconds of processor time that it may take) and the
text; a reply is a head (`REPLY`: bytes, whether it is an error) and the code, or the message of LLVM's error.
"""

from __future__ import annotations

import os
import struct
import threading
from typing import BinaryIO

from sacpy.jit.host.translate import Task, machine, translated

REQUEST, REPLY = struct.Struct("<QBBBH"), struct.Struct("<QB")
VERIFY, ASSEMBLY, LITTLE = 1, 2, 4
READY = b"sacpy compiler 1\n"  # what it says first
MEMORY = 4 << 30  # bytes of address space that translating may take beyond what is there when it starts
STACK = 256 << 20  # bytes of address space for the stack: some of LLVM's passes recurse as deep as the text nests
IDLE = 60.0  # seconds without a request after which it ends
LOOK = 1.0  # seconds between two looks at whether that is so


def packed(task: Task, seconds: int) -> bytes:
    """A request."""
    text = task.text.encode()
    flags = VERIFY * task.verify | ASSEMBLY * task.assembly | LITTLE * task.little
    return REQUEST.pack(len(text), task.level, flags, task.passes, seconds) + text


def serve() -> None:
    """Answers requests until there are no more."""
    requests, replies = os.fdopen(0, "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what LLVM prints is no reply
    machine(3)
    _bound_memory()
    threading.stack_size(STACK)
    _send(replies, READY)
    work: threading.Thread | None = None
    while True:
        _await(requests, work)
        length, level, flags, passes, seconds = REQUEST.unpack(_received(requests, REQUEST.size))
        text = _received(requests, length).decode()
        task = Task(text, level, bool(flags & VERIFY), bool(flags & ASSEMBLY), bool(flags & LITTLE), passes)
        work = threading.Thread(target=_answer, args=(task, seconds, replies), daemon=True)
        work.start()


def _answer(task: Task, seconds: int, replies: BinaryIO) -> None:
    _bound_time(seconds)
    try:
        code, failed = translated(task), False
    except RuntimeError as error:
        code, failed = str(error).encode(), True
    _send(replies, REPLY.pack(len(code), failed) + code)


def _await(requests: BinaryIO, work: threading.Thread | None) -> None:
    """Waits for the next request, while there is work, and then until it is time to go."""
    import select

    if os.name != "posix":
        return
    waited = 0.0
    while not select.select([requests], [], [], LOOK)[0]:
        waited = 0.0 if work is not None and work.is_alive() else waited + LOOK
        if waited >= IDLE:
            os._exit(0)


def _received(requests: BinaryIO, count: int) -> bytes:
    """So many bytes; ends the process where there are no more, at once, LLVM or no LLVM."""
    data = bytearray()
    while len(data) < count:
        more = requests.read(min(count - len(data), 1 << 20))
        if not more:
            os._exit(0)
        data += more
    return bytes(data)


def _send(replies: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[replies.write(view) :]


def _bound_memory() -> None:
    """LLVM may ask for so much memory; where it asks for more, it ends the process."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = now + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
    except (ImportError, OSError, ValueError):
        pass  # no such limits here


def _bound_time(seconds: int) -> None:
    """From now on it may use so many seconds of the processor; then the system ends it."""
    try:
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        wanted = int(used.ru_utime + used.ru_stime) + 1 + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
    except (ImportError, OSError, ValueError):
        pass
