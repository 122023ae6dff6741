"""The code of gates (`gates`), as LLVM IR, and how the tables look that it reads.

In: nothing. Out: text, which `runtime` puts together with the rest. A table begins with HEAD words; then come the
records: of each argument ARGUMENT words, of each parameter INPUT words, of each result RESULT words.
"""

from __future__ import annotations

FUNCTIONS = (
    "PyFloat_FromDouble", "PyLong_FromLongLong", "PyLong_FromUnsignedLongLong", "PyLong_AsLongLongAndOverflow",
    "PyEval_SaveThread", "PyEval_RestoreThread", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef",
    "PyArray_NewFromDescr", "True", "False",
)  # fmt: skip
AXES, SMALL = 8, 16  # of arrays, and elements of results that come one by one
MOST_ARGUMENTS, MOST_WORDS = 16, 64
HEAD, ARGUMENT, INPUT, RESULT = 8 + len(FUNCTIONS), 5 + AXES, 3, 6 + 2 * AXES + SMALL
COUNT, ENTRY, CONTROL, ARGUMENTS, INPUTS, RESULTS, MISSED, TYPE = range(8)
_AT = {name: 8 + k for k, name in enumerate(FUNCTIONS)}


def _word(name: str, number: int, table: str = "%w", type: str = "i64") -> str:
    return f"  %{name}.at = getelementptr i64, ptr {table}, i64 {number}\n  %{name} = load {type}, ptr %{name}.at\n"


def _function(name: str) -> str:
    return _word(name, _AT[name], type="ptr")


def _loaded(name: str, type: str, extended: str) -> str:
    wide = f"  %{name}.wide = {extended} {type} %{name}.value to i64\n" if extended else ""
    value = f"%{name}.wide" if extended else f"%{name}.value"
    return f"""{name}:
  %{name}.value = load {type}, ptr %element
{wide}  store i64 {value}, ptr %input.at
  br label %input.next
"""


_NUMBER = {
    "double": ("PyFloat_FromDouble", "double", ""),
    "single": ("PyFloat_FromDouble", "float", "fpext"),
    "whole": ("PyLong_FromLongLong", "i64", ""),
    "natural": ("PyLong_FromUnsignedLongLong", "i64", ""),
}


def _number(label: str) -> str:
    function, type, extended = _NUMBER[label]
    wide = f"  %{label}.wide = fpext float %{label}.value to double\n" if extended else ""
    value = f"double %{label}.wide" if extended else f"{type} %{label}.value"
    call = f"  %{label}.made = call ptr %{label}.f({value})\n  ret ptr %{label}.made\n"
    loaded = f"  %{label}.value = load {type}, ptr %value.at\n{wide}"
    return f"{label}:\n{_word(f'{label}.f', _AT[function], type='ptr')}{loaded}{call}"


# A new reference to a result; null where there is no memory. Memory of the code's is freed.
_RESULT = f"""
define internal ptr @gate_result(ptr %w, ptr %record, ptr %out) {{
  %dims = alloca [{AXES} x i64]
{_word("kind", 0, "%record")}{_word("position", 1, "%record")}  %value.at = getelementptr i64, ptr %out, i64 %position
  switch i64 %kind, label %array [ i64 0, label %double
    i64 1, label %single
    i64 2, label %whole
    i64 3, label %natural
    i64 4, label %truth ]
{"".join(map(_number, _NUMBER))}truth:
  %bit = load i8, ptr %value.at
  %is = icmp ne i8 %bit, 0
{_function("True")}{_function("False")}{_function("Py_IncRef")}  %which = select i1 %is, ptr %True, ptr %False
  call void %Py_IncRef(ptr %which)
  ret ptr %which
array:
{_word("dtype", 2, "%record", "ptr")}{_word("size", 3, "%record")}{_word("axes", 4, "%record")}  br label %axis.test
axis.test:
  %d = phi i64 [0, %array], [%d.next, %axis.next]
  %bytes = phi i64 [%size, %array], [%bytes.next, %axis.next]
  %axes.done = icmp eq i64 %d, %axes
  br i1 %axes.done, label %make, label %axis
axis:
  %pair = mul i64 %d, 2
  %from.number = add i64 %pair, 6
  %from.at = getelementptr i64, ptr %record, i64 %from.number
  %from = load i64, ptr %from.at
  %given.at = getelementptr i64, ptr %from.at, i64 1
  %given = load i64, ptr %given.at
  %is.given = icmp eq i64 %from, 0
  br i1 %is.given, label %axis.next, label %found
found:
  %found.at = getelementptr i64, ptr %out, i64 %given
  %found.extent = load i64, ptr %found.at
  br label %axis.next
axis.next:
  %extent = phi i64 [%given, %axis], [%found.extent, %found]
  %dim.at = getelementptr i64, ptr %dims, i64 %d
  store i64 %extent, ptr %dim.at
  %bytes.next = mul i64 %bytes, %extent
  %d.next = add i64 %d, 1
  br label %axis.test
make:
{_word("increase", _AT["Py_IncRef"], type="ptr")}{_word("new", _AT["PyArray_NewFromDescr"], type="ptr")}\
{_word("type", TYPE, type="ptr")}  call void %increase(ptr %dtype)
  %rank = trunc i64 %axes to i32
  %made = call ptr %new(ptr %type, ptr %dtype, i32 %rank, ptr %dims, ptr null, ptr null, i32 0, ptr null)
  %is.small = icmp eq i64 %kind, 6
  %failed = icmp eq ptr %made, null
  br i1 %is.small, label %small, label %large
large:
  %data = load ptr, ptr %value.at
  br i1 %failed, label %free, label %copy
copy:
  %to.at = getelementptr i8, ptr %made, i64 16
  %to = load ptr, ptr %to.at
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %data, i64 %bytes, i1 false)
  br label %free
free:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %large.done, label %discard
discard:
  call void @sacpy_discard(ptr %data)
  br label %large.done
large.done:
  ret ptr %made
small:
{_word("count", 5, "%record")}  br i1 %failed, label %small.done, label %small.begin
small.begin:
  %elements.at = getelementptr i8, ptr %made, i64 16
  %elements = load ptr, ptr %elements.at
  br label %small.test
small.test:
  %c = phi i64 [0, %small.begin], [%c.next, %small.one]
  %small.end = icmp eq i64 %c, %count
  br i1 %small.end, label %small.done, label %small.one
small.one:
  %c.number = add i64 %c, {6 + 2 * AXES}
  %c.record = getelementptr i64, ptr %record, i64 %c.number
  %c.position = load i64, ptr %c.record
  %c.from = getelementptr i64, ptr %out, i64 %c.position
  %c.offset = mul i64 %c, %size
  %c.to = getelementptr i8, ptr %elements, i64 %c.offset
  call void @llvm.memcpy.p0.p0.i64(ptr %c.to, ptr %c.from, i64 %size, i1 false)
  %c.next = add i64 %c, 1
  br label %small.test
small.done:
  ret ptr %made
}}
"""

GATE = f"""{_RESULT}
define ptr @sacpy_gate(ptr %self, ptr %args, i64 %n) {{
  %values = alloca [{MOST_ARGUMENTS} x i64]
  %inputs = alloca [{MOST_WORDS} x i64]
  %out = alloca [{MOST_WORDS} x i64]
  %overflow = alloca i32
  %w.at = getelementptr i8, ptr %self, i64 16
  %w = load ptr, ptr %w.at
{_word("left", COUNT)}{_word("wanted", ARGUMENTS)}  %open = icmp sgt i64 %left, 0
  %as.many = icmp eq i64 %n, %wanted
  %begin = and i1 %open, %as.many
  br i1 %begin, label %arguments, label %miss
arguments:
  %first = getelementptr i64, ptr %w, i64 {HEAD}
  br label %argument.test
argument.test:
  %k = phi i64 [0, %arguments], [%k.next, %argument.good]
  %record = phi ptr [%first, %arguments], [%record.next, %argument.good]
  %k.done = icmp eq i64 %k, %n
  br i1 %k.done, label %inputs.begin, label %argument
argument:
  %a.at = getelementptr ptr, ptr %args, i64 %k
  %a = load ptr, ptr %a.at
  %type.at = getelementptr i8, ptr %a, i64 8
  %type = load ptr, ptr %type.at
  %type.wanted = load ptr, ptr %record
  %type.same = icmp eq ptr %type, %type.wanted
  br i1 %type.same, label %kind, label %miss
kind:
{_word("a.kind", 1, "%record")}{_word("a.one", 2, "%record")}{_word("a.two", 3, "%record")}\
{_word("a.mask", 4, "%record")}  switch i64 %a.kind, label %truth [ i64 0, label %array
    i64 1, label %real
    i64 2, label %whole ]
array:
  %dtype.at = getelementptr i8, ptr %a, i64 56
  %dtype = load i64, ptr %dtype.at
  %dtype.same = icmp eq i64 %dtype, %a.one
  %rank.at = getelementptr i8, ptr %a, i64 24
  %rank.short = load i32, ptr %rank.at
  %rank = sext i32 %rank.short to i64
  %rank.same = icmp eq i64 %rank, %a.two
  %flags.at = getelementptr i8, ptr %a, i64 64
  %flags = load i32, ptr %flags.at
  %flags.two = and i32 %flags, 257
  %flags.good = icmp eq i32 %flags.two, 257
  %data.at = getelementptr i8, ptr %a, i64 16
  %data = load i64, ptr %data.at
  %data.low = and i64 %data, %a.mask
  %data.good = icmp eq i64 %data.low, 0
  %good.one = and i1 %dtype.same, %rank.same
  %good.two = and i1 %flags.good, %data.good
  %good = and i1 %good.one, %good.two
  br i1 %good, label %extents, label %miss
extents:
  %dims.at = getelementptr i8, ptr %a, i64 32
  %dims = load ptr, ptr %dims.at
  br label %extent.test
extent.test:
  %d = phi i64 [0, %extents], [%d.next, %extent.good]
  %d.done = icmp eq i64 %d, %rank
  br i1 %d.done, label %argument.good, label %extent
extent:
  %extent.at = getelementptr i64, ptr %dims, i64 %d
  %extent.is = load i64, ptr %extent.at
  %wanted.number = add i64 %d, 5
  %wanted.at.d = getelementptr i64, ptr %record, i64 %wanted.number
  %extent.wanted = load i64, ptr %wanted.at.d
  %extent.same = icmp eq i64 %extent.is, %extent.wanted
  br i1 %extent.same, label %extent.good, label %miss
extent.good:
  %d.next = add i64 %d, 1
  br label %extent.test
real:
  %real.at = getelementptr i8, ptr %a, i64 16
  %real.word = load i64, ptr %real.at
  br label %argument.good
whole:
{_function("PyLong_AsLongLongAndOverflow")}  \
%whole.word = call i64 %PyLong_AsLongLongAndOverflow(ptr %a, ptr %overflow)
  %over = load i32, ptr %overflow
  %fits = icmp eq i32 %over, 0
  %not.less = icmp sge i64 %whole.word, %a.one
  %not.more = icmp sle i64 %whole.word, %a.two
  %within = and i1 %not.less, %not.more
  %whole.good = and i1 %fits, %within
  br i1 %whole.good, label %argument.good, label %miss
truth:
{_function("True")}  %is.true = icmp eq ptr %a, %True
  %truth.word = zext i1 %is.true to i64
  br label %argument.good
argument.good:
  %word = phi i64 [%data, %extent.test], [%real.word, %real], [%whole.word, %whole], [%truth.word, %truth]
  %value.at = getelementptr i64, ptr %values, i64 %k
  store i64 %word, ptr %value.at
  %k.next = add i64 %k, 1
  %record.next = getelementptr i64, ptr %record, i64 {ARGUMENT}
  br label %argument.test
inputs.begin:
{_word("inputs.all", INPUTS)}  br label %input.test
input.test:
  %i = phi i64 [0, %inputs.begin], [%i.next, %input.next]
  %source = phi ptr [%record, %inputs.begin], [%source.next, %input.next]
  %i.done = icmp eq i64 %i, %inputs.all
  br i1 %i.done, label %run, label %input
input:
  %input.at = getelementptr i64, ptr %inputs, i64 %i
{_word("source.kind", 0, "%source")}{_word("source.one", 1, "%source")}{_word("source.two", 2, "%source")}\
  %is.number = icmp eq i64 %source.kind, 0
  br i1 %is.number, label %number, label %taken
number:
  store i64 %source.one, ptr %input.at
  br label %input.next
taken:
  %taken.at = getelementptr i64, ptr %values, i64 %source.one
  %taken.word = load i64, ptr %taken.at
  %base = inttoptr i64 %taken.word to ptr
  %element = getelementptr i8, ptr %base, i64 %source.two
  switch i64 %source.kind, label %plain [ i64 2, label %eight
    i64 3, label %four
    i64 4, label %four.signed
    i64 5, label %one
    i64 6, label %one.signed ]
plain:
  store i64 %taken.word, ptr %input.at
  br label %input.next
{_loaded("eight", "i64", "")}{_loaded("four", "i32", "zext")}{_loaded("four.signed", "i32", "sext")}\
{_loaded("one", "i8", "zext")}{_loaded("one.signed", "i8", "sext")}input.next:
  %i.next = add i64 %i, 1
  %source.next = getelementptr i64, ptr %source, i64 {INPUT}
  br label %input.test
run:
{_word("entry", ENTRY, type="ptr")}{_word("control", CONTROL, type="ptr")}{_function("PyEval_SaveThread")}\
{_function("PyEval_RestoreThread")}  %less = sub i64 %left, 1
  store i64 %less, ptr %left.at
  store i64 0, ptr %out ; the code runs on the caller's stack: it may deal out loops
  %thread = call ptr %PyEval_SaveThread()
  %status = call i32 %entry(ptr %control, ptr %inputs, ptr %out)
  call void %PyEval_RestoreThread(ptr %thread)
  %ended = icmp eq i32 %status, 0
  br i1 %ended, label %results, label %miss
results:
{_word("results.all", RESULTS)}  %single = icmp eq i64 %results.all, 1
  br i1 %single, label %alone, label %several
alone:
  %result = call ptr @gate_result(ptr %w, ptr %source, ptr %out)
  ret ptr %result
several:
{_function("PyTuple_New")}{_function("PyTuple_SetItem")}{_function("Py_DecRef")}\
  %tuple = call ptr %PyTuple_New(i64 %results.all)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %without, label %result.begin
without:
  ret ptr null
result.begin:
  br label %result.test
result.test:
  %r = phi i64 [0, %result.begin], [%r.next, %result.put]
  %made = phi ptr [%source, %result.begin], [%made.next, %result.put]
  %lost = phi i1 [false, %result.begin], [%lost.next, %result.put]
  %r.done = icmp eq i64 %r, %results.all
  br i1 %r.done, label %results.done, label %result.make
result.make:
  %item = call ptr @gate_result(ptr %w, ptr %made, ptr %out)
  %item.none = icmp eq ptr %item, null
  %lost.next = or i1 %lost, %item.none
  %ignored = call i32 %PyTuple_SetItem(ptr %tuple, i64 %r, ptr %item)
  br label %result.put
result.put:
  %r.next = add i64 %r, 1
  %made.next = getelementptr i64, ptr %made, i64 {RESULT}
  br label %result.test
results.done:
  br i1 %lost, label %failed, label %whole.tuple
failed:
  call void %Py_DecRef(ptr %tuple)
  ret ptr null
whole.tuple:
  ret ptr %tuple
miss:
{_word("missed", MISSED, type="ptr")}{_word("increase", _AT["Py_IncRef"], type="ptr")}  call void %increase(ptr %missed)
  ret ptr %missed
}}
"""
