"""The thread pool of compiled code, as LLVM IR: `sacpy_parallel` runs a loop's chunks on the calling thread and on
helpers.

Helpers are created when they are first needed, and wait: spinning for a moment, then asleep. There is one loop at a
time that helpers work for; a second one, and a loop inside a loop, runs on its own thread. Each thread has a share of
neighbouring chunks, the same one from loop to loop, so that it finds in its cache what it wrote before; who is through
with its own takes from the others'. A loop ends when no chunk is left and no helper is inside. A helper first counts
itself in, then looks whether there is a loop; who ends a loop first takes it away, then waits until the count is zero:
so none works for a loop that has ended.

To wake a helper takes its thread some twenty microseconds, as long as many a loop. So helpers that sleep are woken, and
those that are wanting are created, for a loop with much work, or for several close together, or when a loop takes
longer than was thought. Until then its thread works alone, chunk by chunk (`done_alone`); and for good, where that is
measured to take less time (`measured`).

A process that was forked has no helpers, and may have been copied at any moment: `sacpy_forked` makes the pool there as
it was in the beginning.
"""

from __future__ import annotations

import time

from sacpy.jit.host import layout
from sacpy.jit.llvm.legal import constant
from sacpy.jit.llvm.processor import architecture

STACK_OF_HELPERS = 1 << 20  # bytes of its stack that a helper may use
SPINS = 6000  # rounds of waiting before a helper sleeps, some 200 microseconds
SLOW = "noinline optnone"  # of functions that wait, or run seldom: their code is made in a fifth of the time
WAKING = 160_000.0  # work (see `host/work`) from which it pays to wake helpers: some forty microseconds
PATIENCE = 40_000  # nanoseconds after which they are woken even so: memory may be far away
REST = 200_000  # nanoseconds from a loop to the next after which what was done alone before no longer counts

# What a thread does that spins: it lets a sibling on the same core run.
_PAUSE = (
    """declare void @llvm.x86.sse2.pause()
define internal void @pause() alwaysinline {
  call void @llvm.x86.sse2.pause()
  ret void
}"""
    if architecture() in ("x86_64", "AMD64")
    else """define internal void @pause() alwaysinline {
  fence seq_cst
  ret void
}"""
)

SHARES = 64  # at most so many shares of a loop

# A loop: body, environment, control block, lower and upper bound, chunk, status, site of a failure, number of chunks,
# number of shares, and for each share the next chunk, on a cache line of its own.
_JOB = f"{{ptr, ptr, ptr, i64, i64, i64, i32, i64, i64, i64, [{8 * SHARES} x i64]}}"


def _member(name: str, number: int) -> str:
    return f"  %{name} = getelementptr {_JOB}, ptr %job, i32 0, i32 {number}\n"


_MEMBERS = "".join(
    _member(f"{name}_at", number)
    for number, name in enumerate(
        ("body", "env", "control", "lower", "upper", "chunk", "status", "site", "count", "shares", "next")
    )
)


def _frame_field(name: str, number: int) -> str:
    return f"  %{name} = getelementptr i64, ptr %frame, i64 {number}\n"


POOL = f"""
@pool_busy = internal global i32 0
@pool_size = internal global i64 0
@pool_job = internal global ptr null
@pool_round = internal global i64 0
@pool_helpers = internal global i64 0
@pool_inside = internal global i64 0
@pool_asleep = internal global i64 0
@pool_alone = internal global double 0.0
@pool_last = internal global i64 0
@pool_mutex = internal global [64 x i8] zeroinitializer, align 16
@pool_wake = internal global [64 x i8] zeroinitializer, align 16
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()
declare i32 @clock_gettime(i32, ptr)

{_PAUSE}

define internal i1 @chunks(ptr %frame, ptr %job, i64 %number, i64 %deadline) {{
{_MEMBERS}  %body = load ptr, ptr %body_at
  %env = load ptr, ptr %env_at
  %control = load ptr, ptr %control_at
  %lower = load i64, ptr %lower_at
  %upper = load i64, ptr %upper_at
  %chunk = load i64, ptr %chunk_at
  %count = load i64, ptr %count_at
  %shares = load i64, ptr %shares_at
{_frame_field("nested", layout.FRAME_NESTED)}  %before = load i64, ptr %nested
  store i64 1, ptr %nested
  br label %share
share:
  %s = phi i64 [0, %0], [%after, %on]
  %turned = add i64 %number, %s
  %mine = urem i64 %turned, %shares
  %behind = add i64 %mine, 1
  %scaled = mul i64 %behind, %count
  %stop_at = udiv i64 %scaled, %shares
  %line = shl i64 %mine, 3
  %counter = getelementptr i64, ptr %next_at, i64 %line
  br label %next
next:
  %failed = load atomic i32, ptr %status_at monotonic, align 4
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %timed, label %done
timed:
  %open = icmp eq i64 %deadline, 0
  br i1 %open, label %deal, label %peek
peek:
  %dealt = load atomic i64, ptr %counter monotonic, align 8
  %some = icmp slt i64 %dealt, %stop_at
  br i1 %some, label %look, label %on
look:
  %now = call i64 @clock()
  %late = icmp sge i64 %now, %deadline
  br i1 %late, label %done, label %deal
deal:
  %k = atomicrmw add ptr %counter, i64 1 monotonic
  %more = icmp slt i64 %k, %stop_at
  br i1 %more, label %poll, label %on
on:
  %after = add i64 %s, 1
  %others = icmp ult i64 %after, %shares
  br i1 %others, label %share, label %done
poll:
  %stop = load volatile i64, ptr %control
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %interrupted, label %run
interrupted:
  store atomic i32 {layout.INTERRUPTED}, ptr %status_at monotonic, align 4
  br label %done
run:
  %gone = mul i64 %k, %chunk
  %i = add i64 %lower, %gone
  %end = add i64 %i, %chunk
  %beyond = icmp sgt i64 %end, %upper
  %last = select i1 %beyond, i64 %upper, i64 %end
  %status = call i32 %body(ptr %frame, ptr %env, i64 %i, i64 %last)
  %good = icmp eq i32 %status, 0
  br i1 %good, label %next, label %bad
bad:
{_frame_field("site", layout.FRAME_SITE)}  %where = load i64, ptr %site
  store atomic i64 %where, ptr %site_at monotonic, align 8
  store atomic i32 %status, ptr %status_at monotonic, align 4
  br label %done
done:
  %left = phi i1 [true, %look], [false, %next], [false, %on], [false, %interrupted], [false, %bad]
  store i64 %before, ptr %nested
  ret i1 %left
}}

define internal i64 @clock() {SLOW} {{
  %time = alloca [2 x i64]
  %r = call i32 @clock_gettime(i32 {time.CLOCK_MONOTONIC}, ptr %time)
  %seconds = load i64, ptr %time
  %at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %at
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}}

define internal i1 @done_alone(ptr %frame, ptr %job, double %amount) {SLOW} {{
  %now = call i64 @clock()
  %last = load i64, ptr @pool_last
  store i64 %now, ptr @pool_last
  %pause = sub i64 %now, %last
  %recent = icmp slt i64 %pause, {REST}
  %kept = load double, ptr @pool_alone
  %before = select i1 %recent, double %kept, double 0.0
  %sum = fadd double %before, %amount
  store double %sum, ptr @pool_alone
  %little = fcmp ole double %sum, {constant("double", WAKING)}
  br i1 %little, label %begin, label %wake
begin:
  %deadline = add i64 %now, {PATIENCE}
  %left = call i1 @chunks(ptr %frame, ptr %job, i64 0, i64 %deadline)
  br i1 %left, label %wake, label %done
wake:
  store double 0.0, ptr @pool_alone
  ret i1 false
done:
  ret i1 true
}}

define internal ptr @helper(ptr %given) {SLOW} {{
  %number = ptrtoint ptr %given to i64
  %frame = alloca [{layout.FRAME_FIELDS} x i64], align 64
  br label %wait
wait:
  %seen = phi i64 [0, %0], [%now, %out], [%now, %none]
  br label %spin
spin:
  %n = phi i64 [0, %wait], [%m, %again]
  %current = load atomic i64, ptr @pool_round acquire, align 8
  %changed = icmp ne i64 %current, %seen
  br i1 %changed, label %come, label %again
again:
  call void @pause()
  %m = add i64 %n, 1
  %patient = icmp ult i64 %m, {SPINS}
  br i1 %patient, label %spin, label %sleep
sleep:
  %l = call i32 @pthread_mutex_lock(ptr @pool_mutex)
  %s = atomicrmw add ptr @pool_asleep, i64 1 seq_cst
  br label %test
test:
  %later = load atomic i64, ptr @pool_round seq_cst, align 8
  %woken = icmp ne i64 %later, %seen
  br i1 %woken, label %awake, label %doze
doze:
  %w = call i32 @pthread_cond_wait(ptr @pool_wake, ptr @pool_mutex)
  br label %test
awake:
  %a = atomicrmw sub ptr @pool_asleep, i64 1 seq_cst
  %u = call i32 @pthread_mutex_unlock(ptr @pool_mutex)
  br label %come
come:
  %now = phi i64 [%current, %spin], [%later, %awake]
  %in = atomicrmw add ptr @pool_inside, i64 1 seq_cst
  %job = load atomic ptr, ptr @pool_job seq_cst, align 8
  %nothing = icmp eq ptr %job, null
  br i1 %nothing, label %none, label %place
place:
  %helpers = load atomic i64, ptr @pool_helpers seq_cst, align 8
  %free = icmp sle i64 %number, %helpers
  br i1 %free, label %work, label %none
none:
  %o = atomicrmw sub ptr @pool_inside, i64 1 seq_cst
  br label %wait
work:
{_member("control_at", 2)}  %control = load ptr, ptr %control_at
  call void @sacpy_enter(ptr %frame, ptr %control, i64 {STACK_OF_HELPERS})
  %more = call i1 @chunks(ptr %frame, ptr %job, i64 %number, i64 0)
  call void @sacpy_drop(ptr %frame)
  br label %out
out:
  %p = atomicrmw sub ptr @pool_inside, i64 1 seq_cst
  br label %wait
}}

define internal void @hire(i64 %wanted) {SLOW} {{
  %thread = alloca i64
  br label %test
test:
  %size = load i64, ptr @pool_size
  %enough = icmp sge i64 %size, %wanted
  br i1 %enough, label %done, label %create
create:
  %more = add i64 %size, 1
  %number = inttoptr i64 %more to ptr
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @helper, ptr %number)
  %fine = icmp eq i32 %failed, 0
  br i1 %fine, label %created, label %done
created:
  %id = load i64, ptr %thread
  call void @keep_thread(i64 %size, i64 %id)
  %d = call i32 @pthread_detach(i64 %id)
  store i64 %more, ptr @pool_size
  br label %test
done:
  ret void
}}

define internal void @deal(ptr %job, i64 %threads, i64 %count) {SLOW} {{
{_member("shares_at", 9)}{_member("next_at", 10)}  %many = icmp ugt i64 %threads, {SHARES}
  %shares = select i1 %many, i64 {SHARES}, i64 %threads
  store i64 %shares, ptr %shares_at
  br label %next
next:
  %k = phi i64 [0, %0], [%after, %next]
  %scaled = mul i64 %k, %count
  %first = udiv i64 %scaled, %shares
  %line = shl i64 %k, 3
  %at = getelementptr i64, ptr %next_at, i64 %line
  store i64 %first, ptr %at
  %after = add i64 %k, 1
  %more = icmp ult i64 %after, %shares
  br i1 %more, label %next, label %done
done:
  ret void
}}

define void @sacpy_awaited(ptr %at, i64 %wanted) {SLOW} {{
  br label %look
look:
  %n = phi i64 [0, %0], [%m, %patience], [0, %yield]
  %now = load atomic i64, ptr %at acquire, align 8
  %there = icmp eq i64 %now, %wanted
  br i1 %there, label %done, label %patience
patience:
  call void @pause()
  %m = add i64 %n, 1
  %long = icmp ugt i64 %m, {SPINS}
  br i1 %long, label %yield, label %look
yield:
  %y = call i32 @sched_yield()
  br label %look
done:
  ret void
}}

define void @sacpy_forked() {SLOW} {{
  store i32 0, ptr @pool_busy
  store i64 0, ptr @pool_size
  store ptr null, ptr @pool_job
  store i64 0, ptr @pool_helpers
  store i64 0, ptr @pool_inside
  store i64 0, ptr @pool_asleep
  store double 0.0, ptr @pool_alone
  store [64 x i8] zeroinitializer, ptr @pool_mutex
  store [64 x i8] zeroinitializer, ptr @pool_wake
  store i32 0, ptr @kept_lock
  ret void
}}

define i32 @sacpy_parallel(ptr %frame, ptr %body, ptr %env, i64 %lower, i64 %upper, i64 %chunk,
    double %amount) {{
  %job = alloca {_JOB}, align 64
  %control = load ptr, ptr %frame
{_member("body_at", 0)}  store ptr %body, ptr %body_at
{_member("env_at", 1)}  store ptr %env, ptr %env_at
{_member("control_at", 2)}  store ptr %control, ptr %control_at
{_member("lower_at", 3)}  store i64 %lower, ptr %lower_at
{_member("upper_at", 4)}  store i64 %upper, ptr %upper_at
{_member("chunk_at", 5)}  store i64 %chunk, ptr %chunk_at
{_member("status_at", 6)}  store i32 0, ptr %status_at
{_member("site_at", 7)}  store i64 -1, ptr %site_at
{_member("count_at", 8)}{_member("shares_at", 9)}{_member("next_at", 10)}  %length = sub i64 %upper, %lower
  %full = add i64 %length, %chunk
  %less = sub i64 %full, 1
  %count = sdiv i64 %less, %chunk
  store i64 %count, ptr %count_at
  store i64 1, ptr %shares_at
  store i64 0, ptr %next_at
{_frame_field("nested_at", layout.FRAME_NESTED)}  %nested = load i64, ptr %nested_at
  %outermost = icmp eq i64 %nested, 0
  %threads_at = getelementptr i64, ptr %control, i64 {layout.CONTROL_THREADS}
  %threads = load i64, ptr %threads_at
  %several = icmp sgt i64 %threads, 1
  %first_end = add i64 %lower, %chunk
  %many = icmp slt i64 %first_end, %upper
  %both = and i1 %outermost, %several
  %worth = and i1 %both, %many
  br i1 %worth, label %try, label %alone
try:
  %got = cmpxchg ptr @pool_busy, i32 0, i32 1 acquire monotonic
  %mine = extractvalue {{i32, i1}} %got, 1
  br i1 %mine, label %deal, label %alone
deal:
  %helpers = sub i64 %threads, 1
  %size = load i64, ptr @pool_size
  %there = icmp sge i64 %size, %helpers
  %dozing = load atomic i64, ptr @pool_asleep seq_cst, align 8
  %up = icmp eq i64 %dozing, 0
  %ready = and i1 %there, %up
  %faster = call i1 @done_alone_is_faster(ptr %body, double %amount, i1 %ready)
  br i1 %faster, label %leave, label %share
leave:
  store atomic i32 0, ptr @pool_busy release, align 4
  br label %alone
share:
  call void @deal(ptr %job, i64 %threads, i64 %count)
  br i1 %ready, label %publish, label %weigh
weigh:
  %through = call i1 @done_alone(ptr %frame, ptr %job, double %amount)
  br i1 %through, label %end, label %publish
publish:
  call void @hire(i64 %helpers)
  call void @settle_apart()
  store atomic i64 %helpers, ptr @pool_helpers seq_cst, align 8
  store atomic ptr %job, ptr @pool_job seq_cst, align 8
  %r = atomicrmw add ptr @pool_round, i64 1 seq_cst
  %asleep = load atomic i64, ptr @pool_asleep seq_cst, align 8
  %sleeping = icmp ne i64 %asleep, 0
  br i1 %sleeping, label %wake, label %work
wake:
  %l = call i32 @pthread_mutex_lock(ptr @pool_mutex)
  %c = call i32 @pthread_cond_broadcast(ptr @pool_wake)
  %u = call i32 @pthread_mutex_unlock(ptr @pool_mutex)
  br label %work
work:
  %more = call i1 @chunks(ptr %frame, ptr %job, i64 0, i64 0)
  store atomic ptr null, ptr @pool_job seq_cst, align 8
  br label %settle
settle:
  %n = phi i64 [0, %work], [%m, %patience], [0, %yield]
  %inside = load atomic i64, ptr @pool_inside seq_cst, align 8
  %left = icmp eq i64 %inside, 0
  br i1 %left, label %end, label %patience
patience:
  call void @pause()
  %m = add i64 %n, 1
  %long = icmp ugt i64 %m, {SPINS}
  br i1 %long, label %yield, label %settle
yield:
  %y = call i32 @sched_yield()
  br label %settle
end:
  store atomic i32 0, ptr @pool_busy release, align 4
  br label %done
alone:
  %rest = call i1 @chunks(ptr %frame, ptr %job, i64 0, i64 0)
  br label %done
done:
  %status = load atomic i32, ptr %status_at monotonic, align 4
  %ok = icmp eq i32 %status, 0
  br i1 %ok, label %return, label %report
report:
  %where = load atomic i64, ptr %site_at monotonic, align 8
{_frame_field("site", layout.FRAME_SITE)}  store i64 %where, ptr %site
  br label %return
return:
  ret i32 %status
}}
"""
