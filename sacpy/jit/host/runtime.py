"""The runtime of compiled code, as LLVM IR: frames, blocks of memory, the thread pool (`threads`), and gates from
Python (`gates`).

Compiled when it is first needed, and kept; nothing runs before it is there. So it is written as LLVM would have it
after its passes, which are left out. Blocks come from the C library, one by one, since Python frees those of results
one by one. Small ones that are freed are kept by their frame until it ends: the C library takes long over aligned
blocks. Large ones that are freed are kept for a while by the process, since fresh pages cost as much as a pass over
them, and are asked to lie in huge pages.
"""

from __future__ import annotations

import sys

from sacpy.jit.host import layout
from sacpy.jit.host.gate_text import GATE
from sacpy.jit.host.measured import MEASURED
from sacpy.jit.host.room import ROOM
from sacpy.jit.host.runtime_blocks import BLOCKS, FREED, KEPT, field
from sacpy.jit.host.threads import POOL, SLOW
from sacpy.jit.llvm.legal import constant

EXPORTS = (
    "sacpy_enter", "sacpy_drop", "sacpy_new", "sacpy_array1", "sacpy_array2", "sacpy_array3", "sacpy_times",
    "sacpy_free", "sacpy_release", "sacpy_copied", "sacpy_fill",
    "sacpy_own", "sacpy_hand_over", "sacpy_adopt", "sacpy_returned", "sacpy_grain", "sacpy_evenly", "sacpy_blocks",
    "sacpy_spread", "sacpy_awaited", "sacpy_discard", "sacpy_forked", "sacpy_grow", "sacpy_roomy", "sacpy_gate",
)  # fmt: skip
STACK_RESERVE = 192 << 10  # bytes of stack that a unit may use before it is moved to a larger one
MOST_PLACED = 256  # helpers whose place is seen to

_CLEAR = f"call void @llvm.memset.p0.i64(ptr align 8 %freed, i8 0, i64 {8 * (1 + layout.SIZE_CLASSES)}, i1 false)"

# A frame on a large stack runs its loops by itself: helpers have small ones.
FRAMES = f"""
declare ptr @llvm.frameaddress.p0(i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define void @sacpy_enter(ptr %frame, ptr %control, i64 %stack) {{
  store ptr %control, ptr %frame
{field("site", "%frame", layout.FRAME_SITE)}  store i64 -1, ptr %site
{field("previous", "%frame", layout.PREVIOUS)}  store ptr %frame, ptr %previous
{field("next", "%frame", layout.NEXT)}  store ptr %frame, ptr %next
  %here = call ptr @llvm.frameaddress.p0(i32 0)
  %address = ptrtoint ptr %here to i64
  %usual = icmp eq i64 %stack, 0
  %size = select i1 %usual, i64 {STACK_RESERVE}, i64 %stack
  %bottom = sub i64 %address, %size
{field("limit", "%frame", layout.FRAME_STACK_LIMIT)}  store i64 %bottom, ptr %limit
  %large = icmp ne i64 %stack, 0
  %sequential = zext i1 %large to i64
{field("nested", "%frame", layout.FRAME_NESTED)}  store i64 %sequential, ptr %nested
{field("used", "%frame", layout.FRAME_IN_USE)}  store i64 0, ptr %used
{field("made", "%frame", layout.FRAME_ALLOCATIONS)}  store i64 0, ptr %made
{field("freed", "%frame", layout.FRAME_FREED)}  {_CLEAR}
  ret void
}}
define void @sacpy_drop(ptr %frame) {{
{field("next", "%frame", layout.NEXT)}  br label %test
test:
  %block = load ptr, ptr %next
  %end = icmp eq ptr %block, %frame
  br i1 %end, label %done, label %free
free:
  call void @sacpy_free(ptr %frame, ptr %block)
  br label %test
done:
  call void @sacpy_leave(ptr %frame)
  ret void
}}
define void @sacpy_leave(ptr %frame) {{
  call void @freed_release(ptr %frame)
{field("made", "%frame", layout.FRAME_ALLOCATIONS)}  %count = load i64, ptr %made
  store i64 0, ptr %made
  %control = load ptr, ptr %frame
{field("total", "%control", layout.CONTROL_ALLOCATIONS)}  %old = atomicrmw add ptr %total, i64 %count monotonic
  ret void
}}
"""

ARRAYS = f"""
declare {{i64, i1}} @llvm.umul.with.overflow.i64(i64, i64)
define i64 @sacpy_times(i64 %a, i64 %b) alwaysinline {{
  %both = call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 %a, i64 %b)
  %product = extractvalue {{i64, i1}} %both, 0
  %over = extractvalue {{i64, i1}} %both, 1
  %result = select i1 %over, i64 -1, i64 %product
  ret i64 %result
}}
define ptr @sacpy_array1(ptr %frame, i64 %size, i64 %n) {{
  %bytes = call i64 @sacpy_times(i64 %size, i64 %n)
  %block = tail call ptr @sacpy_new(ptr %frame, i64 %bytes)
  ret ptr %block
}}
define ptr @sacpy_array2(ptr %frame, i64 %size, i64 %n, i64 %m) {{
  %row = call i64 @sacpy_times(i64 %size, i64 %m)
  %bytes = call i64 @sacpy_times(i64 %row, i64 %n)
  %block = tail call ptr @sacpy_new(ptr %frame, i64 %bytes)
  ret ptr %block
}}
define ptr @sacpy_array3(ptr %frame, i64 %size, i64 %n, i64 %m, i64 %k) {{
  %row = call i64 @sacpy_times(i64 %size, i64 %k)
  %plane = call i64 @sacpy_times(i64 %row, i64 %m)
  %bytes = call i64 @sacpy_times(i64 %plane, i64 %n)
  %block = tail call ptr @sacpy_new(ptr %frame, i64 %bytes)
  ret ptr %block
}}
define void @sacpy_release(ptr %frame, ptr %header) {{
  %none = icmp eq ptr %header, null
  br i1 %none, label %done, label %count
count:
  %old = load i64, ptr %header
  %new = sub i64 %old, 1
  store i64 %new, ptr %header
  %last = icmp eq i64 %new, 0
  br i1 %last, label %free, label %done
free:
  tail call void @sacpy_free(ptr %frame, ptr %header)
  ret void
done:
  ret void
}}
define void @sacpy_fill(ptr %data, i64 %bytes, i64 %word) {{
  %one = insertelement <8 x i64> poison, i64 %word, i64 0
  %eight = shufflevector <8 x i64> %one, <8 x i64> poison, <8 x i32> zeroinitializer
  %lines = lshr i64 %bytes, 6
  br label %test
test:
  %k = phi i64 [0, %0], [%next, %line]
  %more = icmp ult i64 %k, %lines
  br i1 %more, label %line, label %rest
line:
  %line_at = getelementptr <8 x i64>, ptr %data, i64 %k
  store <8 x i64> %eight, ptr %line_at, align 1
  %next = add i64 %k, 1
  br label %test
rest:
  %words = lshr i64 %bytes, 3
  %first = shl i64 %lines, 3
  br label %test_word
test_word:
  %w = phi i64 [%first, %rest], [%next_word, %one_word]
  %more_words = icmp ult i64 %w, %words
  br i1 %more_words, label %one_word, label %half
one_word:
  %word_at = getelementptr i64, ptr %data, i64 %w
  store i64 %word, ptr %word_at, align 1
  %next_word = add i64 %w, 1
  br label %test_word
half:
  %four = and i64 %bytes, 4
  %has_half = icmp ne i64 %four, 0
  br i1 %has_half, label %one_half, label %quarter
one_half:
  %half_start = and i64 %bytes, -8
  %half_at = getelementptr i8, ptr %data, i64 %half_start
  %low_half = trunc i64 %word to i32
  store i32 %low_half, ptr %half_at, align 1
  br label %quarter
quarter:
  %two = and i64 %bytes, 2
  %has_quarter = icmp ne i64 %two, 0
  br i1 %has_quarter, label %one_quarter, label %done
one_quarter:
  %quarter_start = and i64 %bytes, -4
  %quarter_at = getelementptr i8, ptr %data, i64 %quarter_start
  %low_quarter = trunc i64 %word to i16
  store i16 %low_quarter, ptr %quarter_at, align 1
  br label %done
done:
  ret void
}}
define void @sacpy_copied(ptr %frame, ptr %header, i64 %bytes) {{
  %borrowed = icmp eq ptr %header, null
  br i1 %borrowed, label %count, label %done
count:
  %control = load ptr, ptr %frame
{field("total", "%control", layout.CONTROL_COPIED)}  %old = atomicrmw add ptr %total, i64 %bytes monotonic
  br label %done
done:
  ret void
}}
"""

# Helpers of the thread pool run on other cores than the thread that they help. Left to themselves some schedulers wake
# them on that thread's own core, where they wait until it is through. What the thread itself may use is what they may
# use, but for the core it is on; the mask is set anew when it has moved.
PLACES = (
    f"""
@pool_threads = internal global [{MOST_PLACED} x i64] zeroinitializer
@pool_apart = internal global i32 -1
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @pthread_setaffinity_np(i64, i64, ptr)

define internal void @settle_apart() {SLOW} {{
  %mask = alloca [16 x i64], align 8
  %cpu = call i32 @sched_getcpu()
  %apart = load i32, ptr @pool_apart
  %moved = icmp ne i32 %cpu, %apart
  %known = icmp ult i32 %cpu, 1024
  %due = and i1 %moved, %known
  br i1 %due, label %look, label %done
look:
  store i32 %cpu, ptr @pool_apart
  call void @llvm.memset.p0.i64(ptr %mask, i8 0, i64 128, i1 false)
  %got = call i32 @sched_getaffinity(i32 0, i64 128, ptr %mask)
  %failed = icmp slt i32 %got, 0
  br i1 %failed, label %done, label %clear
clear:
  %word = lshr i32 %cpu, 6
  %at = getelementptr i64, ptr %mask, i32 %word
  %bits = load i64, ptr %at
  %low = and i32 %cpu, 63
  %shift = zext i32 %low to i64
  %bit = shl i64 1, %shift
  %others = xor i64 %bit, -1
  %left = and i64 %bits, %others
  store i64 %left, ptr %at
  br label %sum
sum:
  %k = phi i64 [0, %clear], [%next, %sum]
  %all = phi i64 [0, %clear], [%with, %sum]
  %one_at = getelementptr i64, ptr %mask, i64 %k
  %one = load i64, ptr %one_at
  %with = or i64 %all, %one
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, 16
  br i1 %more, label %sum, label %any
any:
  %none = icmp eq i64 %with, 0
  br i1 %none, label %done, label %test
test:
  %n = phi i64 [0, %any], [%m, %set]
  %size = load i64, ptr @pool_size
  %here = icmp ult i64 %n, %size
  %kept = icmp ult i64 %n, {MOST_PLACED}
  %go = and i1 %here, %kept
  br i1 %go, label %set, label %done
set:
  %id_at = getelementptr i64, ptr @pool_threads, i64 %n
  %id = load i64, ptr %id_at
  %ignored = call i32 @pthread_setaffinity_np(i64 %id, i64 128, ptr %mask)
  %m = add i64 %n, 1
  br label %test
done:
  ret void
}}
define internal void @keep_thread(i64 %number, i64 %id) {SLOW} {{
  %fits = icmp ult i64 %number, {MOST_PLACED}
  br i1 %fits, label %keep, label %done
keep:
  %at = getelementptr i64, ptr @pool_threads, i64 %number
  store i64 %id, ptr %at
  store i32 -1, ptr @pool_apart
  br label %done
done:
  ret void
}}
"""
    if sys.platform == "linux"
    else """
define internal void @settle_apart() alwaysinline {
  ret void
}
define internal void @keep_thread(i64 %number, i64 %id) alwaysinline {
  ret void
}
"""
)

# How many rounds of a loop a chunk has, for so much work in all and so many rounds: a multiple of `step`. What is less
# work than `least` is one chunk, which its thread does by itself; else chunks have about `each`. Where the work for an
# index changes evenly from `first` to `last`, a share of the indices becomes the same share of the work: with
# u = (index - lower) / count, the r that solves first r + (last - first) r r / 2 = u (first + last) / 2. And into how
# many blocks rows are cut, of what length, where they are few and long: rows of less than `short` indices stay whole,
# blocks have a multiple of `aligned`, a power of two, but where fewer indices make up the work of a chunk.
CHUNKS = f"""
declare i64 @llvm.smax.i64(i64, i64)
define i64 @sacpy_grain(double %work, i64 %count, i64 %step, double %least, double %each) {{
  %worth = fcmp ogt double %work, %least
  br i1 %worth, label %divide, label %whole
whole:
  %some = icmp sgt i64 %count, 0
  %rounds = select i1 %some, i64 %count, i64 0
  %all = add i64 %rounds, %step
  ret i64 %all
divide:
  %wanted = fdiv double %work, %each
  %above = fcmp ogt double %wanted, {constant("double", float(layout.MOST_CHUNKS))}
  %bounded = select i1 %above, double {constant("double", float(layout.MOST_CHUNKS))}, double %wanted
  %chunks = fptosi double %bounded to i64
  %over = add i64 %count, %chunks
  %size = sdiv i64 %over, %chunks
  %up = add i64 %size, %step
  %less = sub i64 %up, 1
  %steps = sdiv i64 %less, %step
  %rounded = mul i64 %steps, %step
  %positive = icmp sgt i64 %rounded, 0
  %result = select i1 %positive, i64 %rounded, i64 %step
  ret i64 %result
}}
declare double @llvm.sqrt.f64(double)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare i64 @llvm.smin.i64(i64, i64)
define i64 @sacpy_evenly(i64 %index, i64 %lower, i64 %upper, double %first, double %last, i64 %step) {{
  %before = sub i64 %index, %lower
  %count = sub i64 %upper, %lower
  %low = icmp sle i64 %before, 0
  %high = icmp sge i64 %index, %upper
  %end = or i1 %low, %high
  br i1 %end, label %same, label %inside
inside:
  %x = sitofp i64 %before to double
  %n = sitofp i64 %count to double
  %u = fdiv double %x, %n
  %both = fadd double %first, %last
  %top = fmul double %u, %both
  %square = fmul double %first, %first
  %apart = fsub double %last, %first
  %grows = fmul double %apart, %top
  %under = fadd double %square, %grows
  %root = call double @llvm.sqrt.f64(double %under)
  %below = fadd double %first, %root
  %r = fdiv double %top, %below
  %at = fmul double %r, %n
  %rounded = call i64 @llvm.fptosi.sat.i64.f64(double %at) ; 0 where no index has any work
  %positive = call i64 @llvm.smax.i64(i64 %rounded, i64 0)
  %row = call i64 @llvm.smin.i64(i64 %positive, i64 %count)
  %steps = sdiv i64 %row, %step
  %whole = mul i64 %steps, %step
  %found = add i64 %lower, %whole
  ret i64 %found
same:
  ret i64 %index
}}
define {{i64, i64}} @sacpy_blocks(i64 %n, i64 %m, i64 %enough, double %work, double %each, i64 %most, i64 %line) {{
  %rows = call i64 @llvm.smax.i64(i64 %n, i64 1)
  %columns = call i64 @llvm.smax.i64(i64 %m, i64 1)
  %fill = fdiv double %each, %work
  %filling = call i64 @llvm.fptosi.sat.i64.f64(double %fill)
  %some = call i64 @llvm.smax.i64(i64 %filling, i64 1)
  %limit = call i64 @llvm.smin.i64(i64 %some, i64 %most)
  %short = call i64 @llvm.smax.i64(i64 %limit, i64 2)
  %few = call i64 @llvm.smin.i64(i64 %some, i64 %line)
  %zeros = call i64 @llvm.ctlz.i64(i64 %few, i1 true)
  %bits = sub i64 63, %zeros
  %aligned = shl i64 1, %bits
  %whole = icmp slt i64 %columns, %short
  br i1 %whole, label %one, label %divide
divide:
  %less = sub i64 %enough, 1
  %others = sdiv i64 %less, %rows
  %wanted = add i64 %others, 1
  %single = icmp eq i64 %wanted, 1
  br i1 %single, label %one, label %several
several:
  %share = sdiv i64 %columns, %wanted
  %up = add i64 %share, %aligned
  %mask = sub i64 0, %aligned
  %length = and i64 %up, %mask
  %all = add i64 %columns, %length
  %before = sub i64 %all, 1
  %in_row = sdiv i64 %before, %length
  %made = insertvalue {{i64, i64}} poison, i64 %in_row, 0
  %found = insertvalue {{i64, i64}} %made, i64 %length, 1
  ret {{i64, i64}} %found
one:
  %alone = insertvalue {{i64, i64}} {{i64 1, i64 poison}}, i64 %columns, 1
  ret {{i64, i64}} %alone
}}
define i32 @sacpy_spread(ptr %frame, ptr %body, ptr %env, i64 %lower, i64 %upper, i64 %chunk, double %work) {{
  %length = sub i64 %upper, %lower
  %one = icmp sge i64 %chunk, %length
  br i1 %one, label %direct, label %several
direct:
  %status = tail call i32 %body(ptr %frame, ptr %env, i64 %lower, i64 %upper)
  ret i32 %status
several:
  %first = tail call i32 @sacpy_parallel(ptr %frame, ptr %body, ptr %env, i64 %lower, i64 %upper, i64 %chunk,
    double %work)
  ret i32 %first
}}
"""


def runtime_ir() -> str:
    """The text of the runtime's module."""
    return FRAMES + BLOCKS + ROOM + FREED + KEPT + ARRAYS + CHUNKS + PLACES + POOL + MEASURED + GATE
