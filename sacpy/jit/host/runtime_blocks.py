"""Blocks of memory of compiled code, as LLVM IR: made, handed on, freed, and kept for the next that are as large.

In: nothing. Out: text, which `runtime` puts together with the rest.
"""

from __future__ import annotations

from sacpy.jit.host import layout
from sacpy.jit.host.threads import SLOW

KEPT_BLOCKS = 16
SMALL = 1 << 16  # bytes of the largest blocks that their frame keeps
FREED_BYTES = 1 << 20  # bytes of freed small blocks that a frame keeps at most
HUGE = 1 << 22  # bytes from which huge pages are asked for
PAGE = 1 << 21  # bytes of a huge page; blocks on such have whole ones
KEPT_BYTES = 1 << 30  # bytes of freed large blocks that the process keeps at most


def field(name: str, pointer: str, number: int) -> str:
    """An instruction that computes the address of a field."""
    return f"  %{name} = getelementptr i64, ptr {pointer}, i64 {number}\n"


BLOCKS = f"""
declare noalias ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define ptr @sacpy_new(ptr %frame, i64 %bytes) {{
  %absurd = icmp ugt i64 %bytes, {1 << 62}
  br i1 %absurd, label %none, label %padding
padding:
  %padded = add i64 %bytes, {layout.HEADER_BYTES + 63}
  %lines = and i64 %padded, -64
  %small = icmp ule i64 %lines, {SMALL}
  br i1 %small, label %classify, label %account
classify:
  %total_small = call i64 @class_size(i64 %lines)
  br label %account
account:
  %total = phi i64 [%lines, %padding], [%total_small, %classify]
  %control = load ptr, ptr %frame
{field("memory", "%control", layout.CONTROL_MEMORY)}  %limit = load i64, ptr %memory
{field("in_use", "%frame", layout.FRAME_IN_USE)}  %old = load i64, ptr %in_use
  %use = add i64 %old, %total
  %limited = icmp ne i64 %limit, 0
  %over = icmp ugt i64 %use, %limit
  %refused = and i1 %limited, %over
  br i1 %refused, label %none, label %get
get:
  br i1 %small, label %list, label %look
list:
  %class = call i64 @class_of(i64 %total)
{field("lists", "%frame", layout.FRAME_LISTS)}  %head = getelementptr i64, ptr %lists, i64 %class
  %listed = load ptr, ptr %head
  %none_listed = icmp eq ptr %listed, null
  br i1 %none_listed, label %fresh, label %pop
pop:
{field("listed_next", "%listed", layout.NEXT)}  %behind = load ptr, ptr %listed_next
  store ptr %behind, ptr %head
{field("freed", "%frame", layout.FRAME_FREED)}  %freed_before = load i64, ptr %freed
  %freed_after = sub i64 %freed_before, %total
  store i64 %freed_after, ptr %freed
  br label %link
look:
  %kept = call ptr @kept_take(i64 %total)
  %found = icmp ne ptr %kept, null
  br i1 %found, label %again, label %fresh
again:
{field("kept_size", "%kept", layout.BYTES)}  %size_kept = load i64, ptr %kept_size
  br label %link
fresh:
  %held = load i64, ptr @kept_bytes
{field("own_freed", "%frame", layout.FRAME_FREED)}  %held_here = load i64, ptr %own_freed
  %with_kept = add i64 %use, %held
  %with = add i64 %with_kept, %held_here
  %tight = icmp ugt i64 %with, %limit
  %cramped = and i1 %limited, %tight
  br i1 %cramped, label %make_room, label %make
make_room:
  call void @freed_release(ptr %frame)
  call void @kept_release()
  br label %make
make:
  %huge = icmp uge i64 %total, {HUGE}
  %alignment = select i1 %huge, i64 {PAGE}, i64 64
  %roundup = sub i64 %alignment, 1
  %up = add i64 %total, %roundup
  %minus = sub i64 0, %alignment
  %rounded = and i64 %up, %minus
  %new = call ptr @aligned_alloc(i64 %alignment, i64 %rounded)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %none, label %advise
advise:
  br i1 %huge, label %pages, label %link
pages:
  %ignored = call i32 @madvise(ptr %new, i64 %rounded, i32 14)
  br label %link
link:
  %block = phi ptr [%listed, %pop], [%kept, %again], [%new, %advise], [%new, %pages]
  %size = phi i64 [%total, %pop], [%size_kept, %again], [%rounded, %advise], [%rounded, %pages]
  store i64 1, ptr %block
{field("block_bytes", "%block", layout.BYTES)}  store i64 %size, ptr %block_bytes
{field("block_charged", "%block", layout.CHARGED)}  store i64 %size, ptr %block_charged
{field("block_previous", "%block", layout.PREVIOUS)}  store ptr %frame, ptr %block_previous
{field("frame_next", "%frame", layout.NEXT)}  %first = load ptr, ptr %frame_next
{field("block_next", "%block", layout.NEXT)}  store ptr %first, ptr %block_next
{field("first_previous", "%first", layout.PREVIOUS)}  store ptr %block, ptr %first_previous
  store ptr %block, ptr %frame_next
  %now = add i64 %old, %size
  store i64 %now, ptr %in_use
{field("made", "%frame", layout.FRAME_ALLOCATIONS)}  %count = load i64, ptr %made
  %more = add i64 %count, 1
  store i64 %more, ptr %made
  ret ptr %block
none:
  ret ptr null
}}
define void @sacpy_hand_over(ptr %block) alwaysinline {{
{field("p", "%block", layout.PREVIOUS)}  %previous = load ptr, ptr %p
{field("n", "%block", layout.NEXT)}  %next = load ptr, ptr %n
{field("pn", "%previous", layout.NEXT)}  store ptr %next, ptr %pn
{field("np", "%next", layout.PREVIOUS)}  store ptr %previous, ptr %np
  ret void
}}
define void @sacpy_adopt(ptr %frame, ptr %block) {{
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %link
link:
  store i64 1, ptr %block
{field("p", "%block", layout.PREVIOUS)}  store ptr %frame, ptr %p
{field("frame_next", "%frame", layout.NEXT)}  %first = load ptr, ptr %frame_next
{field("n", "%block", layout.NEXT)}  store ptr %first, ptr %n
{field("first_previous", "%first", layout.PREVIOUS)}  store ptr %block, ptr %first_previous
  store ptr %block, ptr %frame_next
{field("charged", "%block", layout.CHARGED)}  %size = load i64, ptr %charged
{field("in_use", "%frame", layout.FRAME_IN_USE)}  %old = load i64, ptr %in_use
  %now = add i64 %old, %size
  store i64 %now, ptr %in_use
  br label %done
done:
  ret void
}}
define i64 @sacpy_returned(ptr %frame, ptr %block) {{
  %none = icmp eq ptr %block, null
  br i1 %none, label %gone, label %look
look:
  %at = phi ptr [%frame, %0], [%next, %on]
{field("n", "%at", layout.NEXT)}  %next = load ptr, ptr %n
  %over = icmp eq ptr %next, %frame
  br i1 %over, label %gone, label %on
on:
  %here = icmp eq ptr %next, %block
  br i1 %here, label %found, label %look
found:
  call void @sacpy_hand_over(ptr %block)
  ret i64 1
gone:
  ret i64 0
}}
define void @sacpy_free(ptr %frame, ptr %block) {{
  call void @sacpy_hand_over(ptr %block)
{field("bytes", "%block", layout.BYTES)}  %size = load i64, ptr %bytes
{field("charged", "%block", layout.CHARGED)}  %counted = load i64, ptr %charged
{field("in_use", "%frame", layout.FRAME_IN_USE)}  %old = load i64, ptr %in_use
  %use = sub i64 %old, %counted
  store i64 %use, ptr %in_use
  %small = icmp ule i64 %size, {SMALL}
  br i1 %small, label %list, label %large
list:
{field("freed", "%frame", layout.FRAME_FREED)}  %before = load i64, ptr %freed
  %with = add i64 %before, %size
  %full = icmp ugt i64 %with, {FREED_BYTES}
  br i1 %full, label %empty, label %push
empty:
  call void @freed_release(ptr %frame)
  br label %push
push:
  %others = phi i64 [%before, %list], [0, %empty]
  %after = add i64 %others, %size
  store i64 %after, ptr %freed
  %class = call i64 @class_of(i64 %size)
{field("lists", "%frame", layout.FRAME_LISTS)}  %head = getelementptr i64, ptr %lists, i64 %class
  %first = load ptr, ptr %head
{field("next", "%block", layout.NEXT)}  store ptr %first, ptr %next
  store ptr %block, ptr %head
  ret void
large:
  call void @give_back(ptr %block, i64 %size)
  ret void
}}
define void @sacpy_discard(ptr %data) {{
  %block = getelementptr i8, ptr %data, i64 -{layout.HEADER_BYTES}
{field("bytes", "%block", layout.BYTES)}  %size = load i64, ptr %bytes
  call void @give_back(ptr %block, i64 %size)
  ret void
}}
define ptr @sacpy_own(ptr %frame, ptr %data, ptr %header, i64 %bytes) {{
  %none = icmp eq ptr %header, null
  br i1 %none, label %copy, label %counted
counted:
  %count = load i64, ptr %header
  %one = icmp eq i64 %count, 1
  %start = getelementptr i8, ptr %header, i64 {layout.HEADER_BYTES}
  %whole = icmp eq ptr %start, %data
{field("kept_bytes", "%header", layout.BYTES)}  %held = load i64, ptr %kept_bytes
  %most = lshr i64 %held, 1
  %worth = icmp uge i64 %bytes, %most
  %small = icmp ult i64 %held, 4096
  %fits = or i1 %worth, %small
  %alone = and i1 %one, %whole
  %mine = and i1 %alone, %fits
  br i1 %mine, label %same, label %copy
same:
  ret ptr %header
copy:
  %new = call ptr @sacpy_new(ptr %frame, i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %done, label %fill
fill:
  %to = getelementptr i8, ptr %new, i64 {layout.HEADER_BYTES}
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %data, i64 %bytes, i1 false)
  br i1 %none, label %done, label %less
less:
  %old = load i64, ptr %header
  %left = sub i64 %old, 1
  store i64 %left, ptr %header
  %last = icmp eq i64 %left, 0
  br i1 %last, label %drop, label %done
drop:
  call void @sacpy_free(ptr %frame, ptr %header)
  br label %done
done:
  ret ptr %new
}}
"""

# Small freed blocks that their frame keeps. Only its own thread uses a frame, so they need no lock. They lie in lists,
# one for each class: up to 512 bytes a class holds one size, a multiple of 64; above, each power of two is cut into
# four, and blocks are as large as the largest of their class. They count where a call may take so much memory only.
FREED = f"""
declare i64 @llvm.ctlz.i64(i64, i1)
define internal i64 @class_step(i64 %size) alwaysinline {{
  %less = sub i64 %size, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %step = sub i64 61, %zeros
  %coarse = icmp sgt i64 %step, 6
  %shift = select i1 %coarse, i64 %step, i64 6
  ret i64 %shift
}}
define internal i64 @class_size(i64 %size) alwaysinline {{
  %shift = call i64 @class_step(i64 %size)
  %less = sub i64 %size, 1
  %steps = lshr i64 %less, %shift
  %up = add i64 %steps, 1
  %rounded = shl i64 %up, %shift
  ret i64 %rounded
}}
define internal i64 @class_of(i64 %size) alwaysinline {{
  %shift = call i64 @class_step(i64 %size)
  %less = sub i64 %size, 1
  %steps = lshr i64 %less, %shift
  %doublings = sub i64 %shift, 6
  %first = shl i64 %doublings, 2
  %class = add i64 %first, %steps
  ret i64 %class
}}
define internal void @freed_release(ptr %frame) {SLOW} {{
{field("freed", "%frame", layout.FRAME_FREED)}  %bytes = load i64, ptr %freed
  %none = icmp eq i64 %bytes, 0
  br i1 %none, label %done, label %start
start:
  store i64 0, ptr %freed
{field("lists", "%frame", layout.FRAME_LISTS)}  br label %list
list:
  %k = phi i64 [0, %start], [%after, %empty]
  %head = getelementptr i64, ptr %lists, i64 %k
  br label %test
test:
  %block = load ptr, ptr %head
  %end = icmp eq ptr %block, null
  br i1 %end, label %empty, label %free
free:
{field("next", "%block", layout.NEXT)}  %behind = load ptr, ptr %next
  store ptr %behind, ptr %head
  call void @free(ptr %block)
  br label %test
empty:
  %after = add i64 %k, 1
  %more = icmp ult i64 %after, {layout.SIZE_CLASSES}
  br i1 %more, label %list, label %done
done:
  ret void
}}
"""

# Large freed blocks that the process keeps: a table under a spin lock. A kept block serves a request of at least four
# fifths of its size; when the table is full, its slots are reused in turn. Where a call may take so much memory only,
# kept blocks count, and go before there is too little for it.
KEPT = f"""
@kept_lock = internal global i32 0
@kept_turn = internal global i64 0
@kept_bytes = internal global i64 0
@kept = internal global [{KEPT_BLOCKS} x ptr] zeroinitializer
define internal void @lock() alwaysinline {{
  br label %try
try:
  %old = atomicrmw xchg ptr @kept_lock, i32 1 acquire
  %got = icmp eq i32 %old, 0
  br i1 %got, label %done, label %try
done:
  ret void
}}
define internal ptr @kept_take(i64 %size) {SLOW} {{
  call void @lock()
  %quarter = lshr i64 %size, 2
  %somewhat_more = add i64 %size, %quarter
  %up_to_pages = add i64 %somewhat_more, {PAGE - 1}
  %whole_pages = and i64 %up_to_pages, -{PAGE}
  %in_pages = icmp uge i64 %size, {HUGE}
  %most = select i1 %in_pages, i64 %whole_pages, i64 %somewhat_more
  br label %next
next:
  %i = phi i64 [0, %0], [%j, %on]
  %slot = getelementptr ptr, ptr @kept, i64 %i
  %block = load ptr, ptr %slot
  %empty = icmp eq ptr %block, null
  br i1 %empty, label %on, label %test
test:
{field("bytes", "%block", layout.BYTES)}  %have = load i64, ptr %bytes
  %enough = icmp uge i64 %have, %size
  %not_much = icmp ule i64 %have, %most
  %fits = and i1 %enough, %not_much
  br i1 %fits, label %take, label %on
take:
  store ptr null, ptr %slot
  %held = load i64, ptr @kept_bytes
  %left = sub i64 %held, %have
  store i64 %left, ptr @kept_bytes
  br label %out
on:
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, {KEPT_BLOCKS}
  br i1 %more, label %next, label %out
out:
  %result = phi ptr [%block, %take], [null, %on]
  store atomic i32 0, ptr @kept_lock release, align 4
  ret ptr %result
}}
define internal void @kept_release() {SLOW} {{
  call void @lock()
  br label %next
next:
  %i = phi i64 [0, %0], [%j, %on]
  %slot = getelementptr ptr, ptr @kept, i64 %i
  %block = load ptr, ptr %slot
  store ptr null, ptr %slot
  %empty = icmp eq ptr %block, null
  br i1 %empty, label %on, label %drop
drop:
  call void @free(ptr %block)
  br label %on
on:
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, {KEPT_BLOCKS}
  br i1 %more, label %next, label %done
done:
  store i64 0, ptr @kept_bytes
  store atomic i32 0, ptr @kept_lock release, align 4
  ret void
}}
define internal void @give_back(ptr %block, i64 %size) {{
  %large = icmp ugt i64 %size, {SMALL}
  br i1 %large, label %keep, label %free
keep:
  call void @lock()
  %held = load i64, ptr @kept_bytes
  %with = add i64 %held, %size
  %fits = icmp ule i64 %with, {KEPT_BYTES}
  br i1 %fits, label %search, label %unlock
search:
  %i = phi i64 [0, %keep], [%j, %on]
  %slot = getelementptr ptr, ptr @kept, i64 %i
  %there = load ptr, ptr %slot
  %empty = icmp eq ptr %there, null
  br i1 %empty, label %put, label %on
on:
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, {KEPT_BLOCKS}
  br i1 %more, label %search, label %replace
put:
  store ptr %block, ptr %slot
  store i64 %with, ptr @kept_bytes
  store atomic i32 0, ptr @kept_lock release, align 4
  ret void
replace:
  %turn = load i64, ptr @kept_turn
  %after = add i64 %turn, 1
  %wrapped = urem i64 %after, {KEPT_BLOCKS}
  store i64 %wrapped, ptr @kept_turn
  %oldest = getelementptr ptr, ptr @kept, i64 %turn
  %victim = load ptr, ptr %oldest
{field("victim_bytes", "%victim", layout.BYTES)}  %freed = load i64, ptr %victim_bytes
  %rest = sub i64 %with, %freed
  store i64 %rest, ptr @kept_bytes
  store ptr %block, ptr %oldest
  br label %unlock
unlock:
  %gone = phi ptr [%block, %keep], [%victim, %replace]
  store atomic i32 0, ptr @kept_lock release, align 4
  call void @free(ptr %gone)
  ret void
free:
  call void @free(ptr %block)
  ret void
}}
"""

# What units do again and again: as calls they take LLVM a line each, where they would be a dozen in every unit.
