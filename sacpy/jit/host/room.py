"""Room for arrays to grow in: the part of the runtime of compiled code that finds an array a window in the block of
another one, as LLVM IR.

In: an array that is given up, by its block's header; the bytes of it that the new array keeps, and how many come before
these and behind them. Out: the new array's block, and where in it the array is. If it is the same block, the kept bytes
are where they belong already; else nothing is set.

    block  |header| . . . |kept kept kept kept| . . . . . . |    what the old array and the new one have in common
                    |front|kept kept kept kept|back|             the new array: all of it lies in the block

An array that has a block for itself may use all of it. Where that does not do, the block that the kept bytes are to be
moved to has room behind them, or before them, or on both sides, wherever the array grows or has room already: for about
half as many bytes again as were kept, unless it grows by as much at once; so n appends move O(n) bytes. Whoever holds
an array then holds less than twice its bytes; a block that would be more than twice as large is left for a smaller one.
Room counts where a call may take so much memory only once it is used, since until then nobody has touched it; where
there is not enough memory for it, there is none.
"""

from __future__ import annotations

from sacpy.jit.host import layout
from sacpy.jit.host.runtime_blocks import HUGE, field

HUGE_PAGE = 1 << 21
LITTLE = 4096  # bytes of a block that may be mostly room


ROOM = f"""
define {{ptr, ptr}} @sacpy_grow(ptr %frame, ptr %header, ptr %data, i64 %front, i64 %kept, i64 %total) {{
  %absurd = icmp ugt i64 %total, {1 << 62}
  br i1 %absurd, label %none, label %owner
owner:
  %borrowed = icmp eq ptr %header, null
  br i1 %borrowed, label %exact, label %counted
counted:
  %count = load i64, ptr %header
  %alone = icmp eq i64 %count, 1
  br i1 %alone, label %look, label %exact
look:
{field("bytes", "%header", layout.BYTES)}  %size = load i64, ptr %bytes
  %back = sub i64 0, %front
  %window = getelementptr i8, ptr %data, i64 %back
  %low = ptrtoint ptr %window to i64
  %high = add i64 %low, %total
  %block_low = ptrtoint ptr %header to i64
  %first = add i64 %block_low, {layout.HEADER_BYTES}
  %block_high = add i64 %block_low, %size
  %from_first = icmp uge i64 %low, %first
  %to_last = icmp ule i64 %high, %block_high
  %enough = and i1 %from_first, %to_last
  %twice = shl i64 %total, 1
  %most = add i64 %twice, {LITTLE}
  %in_measure = icmp ule i64 %size, %most
  %here = and i1 %enough, %in_measure
  %added = sub i64 %total, %kept
  br i1 %here, label %charge, label %elsewhere
charge:
{field("charged", "%header", layout.CHARGED)}  %before = load i64, ptr %charged
  %with = add i64 %before, %added
  %over_block = icmp ugt i64 %with, %size
  %after = select i1 %over_block, i64 %size, i64 %with
  %more = sub i64 %after, %before
{field("in_use", "%frame", layout.FRAME_IN_USE)}  %old_use = load i64, ptr %in_use
  %use = add i64 %old_use, %more
  %control = load ptr, ptr %frame
{field("memory", "%control", layout.CONTROL_MEMORY)}  %limit = load i64, ptr %memory
  %limited = icmp ne i64 %limit, 0
  %over = icmp ugt i64 %use, %limit
  %refused = and i1 %limited, %over
  br i1 %refused, label %none, label %stay
stay:
  store i64 %use, ptr %in_use
  store i64 %after, ptr %charged
  %stays0 = insertvalue {{ptr, ptr}} poison, ptr %header, 0
  %stays = insertvalue {{ptr, ptr}} %stays0, ptr %window, 1
  ret {{ptr, ptr}} %stays
elsewhere:
  %share = lshr i64 %kept, 1
  %mostly_new = icmp ugt i64 %added, %share
  %nothing_new = icmp eq i64 %added, 0
  %shrunk = or i1 %mostly_new, %nothing_new
  br i1 %shrunk, label %exact, label %roomy
roomy:
  %half = lshr i64 %kept, 1
  %sixteenth = lshr i64 %kept, 4
  %spare = add i64 %half, %sixteenth
  %wanted = add i64 %total, %spare
  %whole = add i64 %wanted, {layout.HEADER_BYTES}
  %is_huge = icmp uge i64 %whole, {HUGE}
  %pages = and i64 %whole, -{HUGE_PAGE}
  %in_pages = sub i64 %pages, {layout.HEADER_BYTES}
  %rounded = select i1 %is_huge, i64 %in_pages, i64 %wanted
  %gains = icmp ugt i64 %rounded, %total
  br i1 %gains, label %try, label %exact
try:
  %large = call ptr @sacpy_new(ptr %frame, i64 %rounded)
  %too_large = icmp eq ptr %large, null
  br i1 %too_large, label %exact, label %discount
discount:
{field("large_bytes", "%large", layout.BYTES)}  %room = load i64, ptr %large_bytes
  %own = add i64 %total, {layout.HEADER_BYTES + 63}
  %lines = and i64 %own, -64
{field("large_charged", "%large", layout.CHARGED)}  store i64 %lines, ptr %large_charged
{field("large_use", "%frame", layout.FRAME_IN_USE)}  %with_room = load i64, ptr %large_use
  %unused = sub i64 %room, %lines
  %without = sub i64 %with_room, %unused
  store i64 %without, ptr %large_use
  %kept_low = ptrtoint ptr %data to i64
  %kept_high = add i64 %kept_low, %kept
  %slack_before = sub i64 %kept_low, %first
  %slack_behind = sub i64 %block_high, %kept_high
  %had_before = icmp sgt i64 %slack_before, %sixteenth
  %had_behind = icmp sgt i64 %slack_behind, %sixteenth
  %behind = add i64 %front, %kept
  %adds_behind = icmp ult i64 %behind, %total
  %adds_before = icmp ne i64 %front, 0
  %grown_behind = or i1 %adds_behind, %had_behind
  %grown_before = or i1 %adds_before, %had_before
  %both = and i1 %grown_behind, %grown_before
  %shared = lshr i64 %unused, 1
  %some = select i1 %both, i64 %shared, i64 %unused
  %aligned = and i64 %some, -64
  %before_it = select i1 %grown_before, i64 %aligned, i64 0
  br label %fill
exact:
  %fitting = call ptr @sacpy_new(ptr %frame, i64 %total)
  %short = icmp eq ptr %fitting, null
  br i1 %short, label %none, label %fill
fill:
  %block = phi ptr [%large, %discount], [%fitting, %exact]
  %skipped = phi i64 [%before_it, %discount], [0, %exact]
  %offset = add i64 %skipped, {layout.HEADER_BYTES}
  %made = getelementptr i8, ptr %block, i64 %offset
  %moved0 = insertvalue {{ptr, ptr}} poison, ptr %block, 0
  %moved = insertvalue {{ptr, ptr}} %moved0, ptr %made, 1
  ret {{ptr, ptr}} %moved
none:
  ret {{ptr, ptr}} zeroinitializer
}}
define ptr @sacpy_roomy(i64 %bytes) {{
  %frame = alloca [{layout.FRAME_FIELDS} x i64], align 64
  %control = alloca [{layout.CONTROL_FIELDS} x i64], align 64
  call void @llvm.memset.p0.i64(ptr align 8 %control, i8 0, i64 {8 * layout.CONTROL_FIELDS}, i1 false)
  call void @sacpy_enter(ptr %frame, ptr %control, i64 0)
  %block = call ptr @sacpy_new(ptr %frame, i64 %bytes)
  %short = icmp eq ptr %block, null
  br i1 %short, label %none, label %give
give:
  call void @sacpy_hand_over(ptr %block)
  call void @sacpy_drop(ptr %frame)
  %data = getelementptr i8, ptr %block, i64 {layout.HEADER_BYTES}
  ret ptr %data
none:
  ret ptr null
}}
"""
