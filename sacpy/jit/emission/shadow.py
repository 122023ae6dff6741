"""What check mode keeps beside each array, and the code that looks at it at every access, as LLVM IR for the host.

In: a module of LLVM IR. Out: the same with the functions that `host_machine` has called at every access; what they
leave in memory `findings` reads.

Every cell has a shadow of `CELL` words: who wrote it last, the last two readers that differ, how often it was written.
Who: a statement, a block, the count of barriers so far (epoch), the phase as executed (instance), the thread and, in a
phase, the virtual thread. Two accesses conflict if nothing orders them: in different blocks; in one phase by different
virtual threads; or between the same two barriers by different threads. Atomic accesses do not conflict with one
another; a cell remembers the last one, and whether others were not ordered with it: by threads of one block (then a
barrier orders them all with what comes after), or of several (then nothing does).

`access` gives an element's place, or -1 where the index is out of range; what it finds it writes into records.
"""

from __future__ import annotations

from sacpy.jit.llvm.legal import Code, Module

# Control words: where the emulator is, and where findings go; from WORDS on, the address of each array's description.
# ALONE: 1 in the last block, once all others are done: what they did is ordered before what it does.
BLOCK, EPOCH, INSTANCE, THREAD, VIRTUAL, ALONE, COUNT, CAPACITY, RECORDS, WORDS = range(10)
# Words of an array's description; from EXTENTS on, an extent per axis. STRIDE: cells per thread, for arrays of a
# thread. CELLS: how many the launch gave memory for.
NUMBER, RANK, FLAGS, GENERATION, SHADOW, STRIDE, CELLS, EXTENTS = range(8)
# Flags: memory of a block; written at most once; uninitialised; memory of a thread.
OF_BLOCK, ONCE, UNINITIALISED, OF_THREAD = 1, 2, 4, 8
# Words of a cell's shadow. An access takes six: SITE, BLOCK, EPOCH, INSTANCE, THREAD, VIRTUAL.
WRITER, WRITER_GENERATION, WRITES, READER, FIRST_BLOCK, MANY_BLOCKS, OTHER_READER, CELL = 0, 6, 7, 8, 14, 15, 16, 24
# Whether the last write was atomic: 0 no; 1 yes; 2 others of its block were not ordered with it; 3 others of others.
ATOMIC = 22
# Words of a record; from INDEX on, the index.
R_KIND, R_ARRAY, R_SITE, R_BLOCK, R_THREAD, R_AXIS, R_OTHER_SITE, R_OTHER_BLOCK, R_OTHER_THREAD, R_INDEX = range(10)
MOST_AXES = 16
RECORD = R_INDEX + MOST_AXES
# Kinds of findings.
OUT_OF_RANGE, TWICE, UNSET, WRITE_WRITE, READ_AFTER_WRITE, WRITE_AFTER_READ, BEYOND_MEMORY = range(7)

ACCESS, _REPORT, _CONFLICT, _NOTE = "sacpy_access", "sacpy_report", "sacpy_conflict", "sacpy_note"


def declare(module: Module) -> None:
    """Writes the functions into a module."""
    _conflict(module)
    _note(module)
    _report(module)
    _access(module)


def _get(code: Code, pointer: str, word: int) -> str:
    return code.load("i64", code.offset("i64", pointer, str(word)))


def _put(code: Code, pointer: str, word: int, value: str) -> None:
    code.store("i64", value, code.offset("i64", pointer, str(word)))


def _others_run(code: Code) -> str:
    """Whether other blocks may still run."""
    return code.op(f"icmp eq i64 {_get(code, '%control', ALONE)}, 0")


def _conflict(module: Module) -> None:
    """Whether a noted access and the one at hand are unordered."""
    code = Code(module, f"@{_CONFLICT}", "i1", [("ptr", "%noted"), ("ptr", "%control"), ("i1", "%ofblock")])

    def same(word: int, field: int) -> str:
        return code.op(f"icmp eq i64 {_get(code, '%noted', field)}, {_get(code, '%control', word)}")

    never = code.op(f"icmp eq i64 {_get(code, '%noted', 0)}, 0")
    block, epoch, instance, thread, virtual = (
        same(word, word + 1) for word in (BLOCK, EPOCH, INSTANCE, THREAD, VIRTUAL)
    )
    in_phase = code.op(f"xor i1 {virtual}, true")
    between = code.op(f"and i1 {epoch}, {code.op(f'xor i1 {thread}, true')}")
    in_block = code.op(f"select i1 {instance}, i1 {in_phase}, i1 {between}")
    elsewhere = code.op(f"and i1 {code.op('xor i1 %ofblock, true')}, {_others_run(code)}")
    found = code.op(f"select i1 {block}, i1 {in_block}, i1 {elsewhere}")
    code.end(f"ret i1 {code.op(f'select i1 {never}, i1 false, i1 {found}')}")
    code.finish()


def _note(module: Module) -> None:
    """Notes the access at hand."""
    code = Code(module, f"@{_NOTE}", "void", [("ptr", "%noted"), ("ptr", "%control"), ("i64", "%site")])
    _put(code, "%noted", 0, "%site")
    for word in (BLOCK, EPOCH, INSTANCE, THREAD, VIRTUAL):
        _put(code, "%noted", word + 1, _get(code, "%control", word))
    code.end("ret void")
    code.finish()


def _report(module: Module) -> None:
    """Writes a record, while there is room; counts in any case."""
    params = [
        ("ptr", "%control"),
        ("ptr", "%array"),
        ("ptr", "%index"),
        ("i64", "%site"),
        ("i64", "%kind"),
        ("i64", "%axis"),
        ("ptr", "%noted"),
    ]
    code = Code(module, f"@{_REPORT}", "void", params)
    room, done = code.label("room"), code.label("done")
    count = _get(code, "%control", COUNT)
    _put(code, "%control", COUNT, code.op(f"add i64 {count}, 1"))
    code.branch(code.op(f"icmp ult i64 {count}, {_get(code, '%control', CAPACITY)}"), room, done)
    code.place(room)
    records = code.load("ptr", code.offset("ptr", "%control", str(RECORDS)))
    record = code.offset("i64", records, code.op(f"mul i64 {count}, {RECORD}"))
    values = {
        R_KIND: "%kind",
        R_ARRAY: _get(code, "%array", NUMBER),
        R_SITE: "%site",
        R_BLOCK: _get(code, "%control", BLOCK),
        R_THREAD: _get(code, "%control", THREAD),
        R_AXIS: "%axis",
    }
    values |= {
        R_OTHER_SITE: _get(code, "%noted", 0),
        R_OTHER_BLOCK: _get(code, "%noted", BLOCK + 1),
        R_OTHER_THREAD: _get(code, "%noted", THREAD + 1),
    }
    values |= {R_INDEX + axis: _get(code, "%index", axis) for axis in range(MOST_AXES)}
    for word, value in values.items():
        _put(code, record, word, value)
    code.jump(done)
    code.place(done)
    code.end("ret void")
    code.finish()


class _Access:
    """Writes `access`."""

    def __init__(self, module: Module) -> None:
        self.code = Code(
            module,
            f"@{ACCESS}",
            "i64",
            [
                ("ptr", "%control"),
                ("ptr", "%array"),
                ("ptr", "%index"),
                ("i64", "%site"),
                ("i1", "%writes"),
                ("i1", "%atomic"),
            ],
        )
        self.none = self.code.slot(f"[{CELL} x i64]")

    def flag(self, bit: int) -> str:
        code = self.code
        flags = _get(code, "%array", FLAGS)
        return code.op(f"icmp ne i64 {code.op(f'and i64 {flags}, {bit}')}, 0")

    def report(self, kind: int, noted: str, axis: str = "0") -> None:
        self.code.do(
            f"call void @{_REPORT}(ptr %control, ptr %array, ptr %index, i64 %site, i64 {kind}, i64 {axis}, ptr "
            f"{noted})"
        )

    def conflict(self, noted: str, of_block: str) -> str:
        return self.code.op(f"call i1 @{_CONFLICT}(ptr {noted}, ptr %control, i1 {of_block})")

    def same(self, cell: str) -> tuple[str, str]:
        """Whether the access at hand is in the block of the last write, and whether between the same barriers."""
        code = self.code
        words = ((_get(code, "%control", word), _get(code, cell, WRITER + word + 1)) for word in (BLOCK, EPOCH))
        block, epoch = (code.op(f"icmp eq i64 {here}, {there}") for here, there in words)
        return block, epoch

    def clash(self, cell: str, of_block: str) -> str:
        """Whether the access at hand, which is not atomic, and the last writes are unordered."""
        code, kind = self.code, _get(self.code, cell, ATOMIC)
        block, epoch = self.same(cell)
        ordered = code.op(f"and i1 {block}, {code.op(f'xor i1 {epoch}, true')}")
        ordered = code.op(f"and i1 {ordered}, {code.op(f'icmp eq i64 {kind}, 2')}")
        several = code.op(f"and i1 {code.op(f'icmp ugt i64 {kind}, 1')}, {code.op(f'xor i1 {ordered}, true')}")
        elsewhere = code.op(f"and i1 {of_block}, {code.op(f'xor i1 {block}, true')}")  # other memory
        several = code.op(f"and i1 {several}, {code.op(f'xor i1 {elsewhere}, true')}")
        several = code.op(f"and i1 {several}, {_others_run(code)}")
        return code.op(f"or i1 {self.conflict(cell, of_block)}, {several}")

    def when(self, condition: str) -> str:
        """Opens a block for when a condition holds; gives the label to place behind it."""
        inside, on = self.code.label("when"), self.code.label("on")
        self.code.branch(condition, inside, on)
        self.code.place(inside)
        return on

    def place(self) -> str:
        """Where the element lies; leaves the function if it is out of range."""
        code = self.code
        flat, counter = code.slot("i64"), code.slot("i64")
        code.store("i64", "0", flat)
        code.store("i64", "0", counter)
        head, more, inside, outside, done = (code.label(stem) for stem in ("axes", "more", "inside", "outside", "done"))
        code.place(head)
        axis = code.load("i64", counter)
        code.branch(code.op(f"icmp slt i64 {axis}, {_get(code, '%array', RANK)}"), more, done)
        code.place(more)
        index = code.load("i64", code.offset("i64", "%index", axis))
        extent = code.load("i64", code.offset("i64", code.offset("i64", "%array", str(EXTENTS)), axis))
        positive, below = code.op(f"icmp sge i64 {index}, 0"), code.op(f"icmp slt i64 {index}, {extent}")
        code.branch(code.op(f"and i1 {positive}, {below}"), inside, outside)
        code.place(inside)
        rows = code.op(f"mul i64 {code.load('i64', flat)}, {extent}")
        code.store("i64", code.op(f"add i64 {rows}, {index}"), flat)
        code.store("i64", code.op(f"add i64 {axis}, 1"), counter)
        code.jump(head)
        code.place(outside)
        _put(code, self.none, 0, "0")
        self.report(OUT_OF_RANGE, self.none, axis)
        code.end("ret i64 -1")
        code.place(done)
        self.beyond_memory(code.load("i64", flat))
        before = code.op(f"mul i64 {_get(code, '%control', THREAD)}, {_get(code, '%array', STRIDE)}")
        return code.op(f"add i64 {before}, {code.load('i64', flat)}")

    def beyond_memory(self, place: str) -> None:
        """Leaves the function where the launch gave the array less memory than its extents say."""
        code = self.code
        on = self.when(code.op(f"icmp sge i64 {place}, {_get(code, '%array', CELLS)}"))
        _put(code, self.none, 0, "0")
        self.report(BEYOND_MEMORY, self.none)
        code.end("ret i64 -1")
        code.place(on)

    def write(self, cell: str, of_block: str) -> None:
        """Looks at a write, and notes it."""
        code = self.code
        many = code.op(f"icmp ne i64 {_get(code, cell, MANY_BLOCKS)}, 0")
        writes = _get(code, cell, WRITES)
        twice = code.op(f"and i1 {self.flag(ONCE)}, {code.op(f'icmp ne i64 {writes}, 0')}")
        raced = code.op(f"and i1 {self.clash(cell, of_block)}, {code.op(f'xor i1 {twice}, true')}")
        for condition, kind in ((twice, TWICE), (raced, WRITE_WRITE)):
            on = self.when(condition)
            self.report(kind, cell)
            code.place(on)
        self.after_reads(cell, of_block, many)
        code.do(f"call void @{_NOTE}(ptr {cell}, ptr %control, i64 %site)")
        _put(code, cell, WRITER_GENERATION, _get(code, "%array", GENERATION))
        _put(code, cell, WRITES, code.op(f"add i64 {writes}, 1"))
        _put(code, cell, ATOMIC, "0")

    def after_reads(self, cell: str, of_block: str, many: str) -> None:
        """Looks at a write, atomic or not, for readers that it is unordered with."""
        code = self.code
        reader, other = code.offset("i64", cell, str(READER)), code.offset("i64", cell, str(OTHER_READER))
        by_last, by_other = self.conflict(reader, of_block), self.conflict(other, of_block)
        foreign = code.op(f"and i1 {many}, {code.op(f'xor i1 {of_block}, true')}")
        foreign = code.op(f"and i1 {foreign}, {_others_run(code)}")
        on = self.when(code.op(f"or i1 {foreign}, {code.op(f'or i1 {by_last}, {by_other}')}"))
        self.report(WRITE_AFTER_READ, code.op(f"select i1 {by_other}, ptr {other}, ptr {reader}"))
        code.place(on)

    def combine(self, cell: str, of_block: str) -> None:
        """Looks at an atomic access, and notes it."""
        code = self.code
        many = code.op(f"icmp ne i64 {_get(code, cell, MANY_BLOCKS)}, 0")
        stale = code.op(f"icmp ne i64 {_get(code, cell, WRITER_GENERATION)}, {_get(code, '%array', GENERATION)}")
        unset = code.op(f"and i1 {stale}, {self.flag(UNINITIALISED)}")
        kind = _get(code, cell, ATOMIC)
        unordered = self.conflict(cell, of_block)
        plain = code.op(f"icmp eq i64 {kind}, 0")
        raced = code.op(f"and i1 {code.op(f'and i1 {unordered}, {plain}')}, {code.op(f'xor i1 {unset}, true')}")
        for condition, found in ((unset, UNSET), (raced, WRITE_WRITE)):
            on = self.when(condition)
            self.report(found, cell)
            code.place(on)
        self.after_reads(cell, of_block, many)
        block, epoch = self.same(cell)
        others = code.op(f"select i1 {block}, i64 2, i64 3")
        now = code.op(f"select i1 {plain}, i64 1, i64 {others}")
        now = code.op(f"select i1 {unordered}, i64 {now}, i64 1")
        # a barrier orders those of one block with this one
        lasts = code.op(f"or i1 {code.op(f'icmp eq i64 {kind}, 3')}, {code.op(f'and i1 {block}, {epoch}')}")
        still = code.op(f"select i1 {lasts}, i64 {kind}, i64 0")
        now = code.op(f"call i64 @llvm.umax.i64(i64 {now}, i64 {still})")
        code.module.declare("llvm.umax.i64", "declare i64 @llvm.umax.i64(i64, i64)")
        code.do(f"call void @{_NOTE}(ptr {cell}, ptr %control, i64 %site)")
        _put(code, cell, WRITER_GENERATION, _get(code, "%array", GENERATION))
        _put(code, cell, WRITES, code.op(f"add i64 {_get(code, cell, WRITES)}, 1"))
        _put(code, cell, ATOMIC, now)

    def read(self, cell: str, of_block: str) -> None:
        """Looks at a read, and notes it: the reader before is kept if it was another thread."""
        code = self.code
        stale = code.op(f"icmp ne i64 {_get(code, cell, WRITER_GENERATION)}, {_get(code, '%array', GENERATION)}")
        unset = code.op(f"and i1 {stale}, {self.flag(UNINITIALISED)}")
        raced = code.op(f"and i1 {self.clash(cell, of_block)}, {code.op(f'xor i1 {unset}, true')}")
        for condition, kind in ((unset, UNSET), (raced, READ_AFTER_WRITE)):
            on = self.when(condition)
            self.report(kind, cell)
            code.place(on)
        reader = code.offset("i64", cell, str(READER))
        differs = "false"
        for word in (BLOCK, THREAD, VIRTUAL):
            unlike = code.op(f"icmp ne i64 {_get(code, reader, word + 1)}, {_get(code, '%control', word)}")
            differs = code.op(f"or i1 {differs}, {unlike}")
        on = self.when(differs)
        for word in range(6):
            _put(code, cell, OTHER_READER + word, _get(code, reader, word))
        code.place(on)
        code.do(f"call void @{_NOTE}(ptr {reader}, ptr %control, i64 %site)")
        self._blocks(cell)

    def _blocks(self, cell: str) -> None:
        """Notes which block read first, and whether others did."""
        code = self.code
        here = code.op(f"add i64 {_get(code, '%control', BLOCK)}, 1")
        first = _get(code, cell, FIRST_BLOCK)
        none = code.op(f"icmp eq i64 {first}, 0")
        _put(code, cell, FIRST_BLOCK, code.op(f"select i1 {none}, i64 {here}, i64 {first}"))
        unlike = code.op(f"and i1 {code.op(f'xor i1 {none}, true')}, {code.op(f'icmp ne i64 {first}, {here}')}")
        _put(
            code,
            cell,
            MANY_BLOCKS,
            code.op(f"or i64 {_get(code, cell, MANY_BLOCKS)}, {code.op(f'zext i1 {unlike} to i64')}"),
        )


def _access(module: Module) -> None:
    """An element's place in memory, or -1; looks at the access and notes it."""
    access = _Access(module)
    code = access.code
    place = access.place()
    shadow = code.load("ptr", code.offset("ptr", "%array", str(SHADOW)))
    cell = code.offset("i64", shadow, code.op(f"mul i64 {place}, {CELL}"))
    of_block = access.flag(OF_BLOCK)
    own, shared, writes, reads, done = (code.label(stem) for stem in ("own", "shared", "writes", "reads", "done"))
    own_writes, own_reads = code.label("set"), code.label("get")
    code.branch(access.flag(OF_THREAD), own, shared)
    code.place(shared)
    code.branch("%writes", writes, reads)
    code.place(writes)
    together, alone = code.label("together"), code.label("alone")
    code.branch("%atomic", together, alone)
    code.place(together)
    access.combine(cell, of_block)
    code.jump(done)
    code.place(alone)
    access.write(cell, of_block)
    code.jump(done)
    code.place(reads)
    access.read(cell, of_block)
    code.jump(done)
    code.place(own)
    code.branch("%writes", own_writes, own_reads)
    code.place(own_writes)
    _put(code, cell, WRITER_GENERATION, _get(code, "%array", GENERATION))
    code.jump(done)
    code.place(own_reads)
    on = access.when(code.op(f"icmp ne i64 {_get(code, cell, WRITER_GENERATION)}, {_get(code, '%array', GENERATION)}"))
    access.report(UNSET, cell)
    code.place(on)
    code.jump(done)
    code.place(done)
    code.end(f"ret i64 {place}")
    code.finish()
