"""Where things lie in the memory that compiled code, the runtime and Python share. All fields have 8 bytes.

An array's memory is a block: a header of 64 bytes, then the elements. A block is linked into the list of the frame that
allocated it, so that a unit that ends early leaves nothing behind. A frame is one call of a unit, on the stack; threads
that help have frames of their own. The control block belongs to Python and outlives calls.
"""

from __future__ import annotations

HEADER_BYTES = 64  # also the alignment of the elements

# Header: the count of references, the bytes of the whole block, neighbours in the frame's list. Charged: the bytes that
# it counts for where a call may take so much memory only: not the room that arrays have yet to grow into.
COUNT, BYTES, PREVIOUS, NEXT, CHARGED = 0, 1, 2, 3, 4

# Frame. Its first block is a header as well (for the list): fields 2 and 3 are as there.
FRAME_CONTROL, FRAME_SITE = 0, 1
# Freed: the bytes of the small blocks that were freed and are kept, and from FRAME_LISTS on a list of them for each
# class of sizes.
FRAME_STACK_LIMIT, FRAME_NESTED, FRAME_IN_USE, FRAME_ALLOCATIONS, FRAME_FREED, FRAME_LISTS = 4, 5, 6, 7, 8, 9
SIZE_CLASSES = 36
FRAME_FIELDS = FRAME_LISTS + SIZE_CLASSES

# Control block. Copied: bytes of arguments that were copied before an update.
CONTROL_STOP, CONTROL_THREADS, CONTROL_MEMORY, CONTROL_ALLOCATIONS, CONTROL_COPIED = 0, 1, 2, 3, 4
CONTROL_FIELDS = 8

MOST_CHUNKS = 256  # that a loop is cut into for threads: a fold leaves so many partial results

# What a call of compiled code returns.
OK, CHECK_FAILED, OUT_OF_MEMORY, INTERRUPTED, TOO_DEEP = 0, 1, 2, 3, 4
EXTENTS = 1 << 30  # the numbers of checks of extents are above

ENTRY = "sacpy_entry"  # the name under which a unit is called
