"""Whether a loop's own thread runs all its chunks, though helpers are ready, as LLVM IR: `done_alone_is_faster`.

How long a short loop takes on several threads does not follow from its work: what other loops left in which core's
cache counts as much, and in what order they come. So it is measured. The first rounds of a loop run on all threads, the
next ones on its own alone; from then on, the way that took less for each unit of work; after many rounds both are tried
again. What counts is the time from one entry to the next, which has in it what the loops around this one pay for what
it does to the caches. Loops that follow one another are tried together, so that they agree: where one begins another
trial, the others begin one too.

The chunks are the same either way, and so are the results. One loop asks at a time: who has the pool (`threads`).
"""

from __future__ import annotations

from sacpy.jit.llvm.legal import constant

LOOPS = 256  # loops that are known at a time, a power of two; who comes to another's place begins anew
LOOPS_BITS = LOOPS.bit_length() - 1
TRIED = 8  # rounds each way
SETTLING = 3  # rounds of these that do not count: memory moves from cache to cache
PAUSE = 1_000_000  # nanoseconds from an entry to the next after which a trial begins anew: caches have other things
SOON = 100  # rounds after which a loop is tried again for the first time: at first memory is new, and threads are
AGAIN = 1000  # rounds after which it is tried again later
LARGE = 600_000.0  # work (see `host/work`), some 80 microseconds, from which a loop is for all threads in any case
MARGIN = 0.95  # of the time on several threads that it must take alone

# A loop: its body, rounds since the trial began, when it was entered last, its work then, the
# number of the trial among all loops', and how many it has had; and for each way the sum of nanoseconds per unit of
# work, and the largest of these, which is left out.
_FIELDS = ("body", "rounds", "entered", "work", "trial", "trials")
_WAYS = len(_FIELDS)  # sum and largest of all threads', then of its own
_SIZE = 16  # words: whole cache lines


def _field(name: str) -> str:
    return f"  %{name}_at = getelementptr i64, ptr %loop, i64 {_FIELDS.index(name)}\n"


def _sums(number: int, name: str) -> str:
    """Nanoseconds per unit of work in all rounds of a way that count, but for the slowest."""
    at = _WAYS + 2 * number
    return f"""  %{name}_sum_at = getelementptr double, ptr %loop, i64 {at}
  %{name}_most_at = getelementptr double, ptr %loop, i64 {at + 1}
  %{name}_sum = load double, ptr %{name}_sum_at
  %{name}_most = load double, ptr %{name}_most_at
  %{name} = fsub double %{name}_sum, %{name}_most
"""


MEASURED = f"""
@loops = internal global [{LOOPS} x [{_SIZE} x i64]] zeroinitializer, align 64
@trial = internal global i64 0

define internal i1 @done_alone_is_faster(ptr %body, double %amount, i1 %ready) noinline {{
  %little = fcmp olt double %amount, {constant("double", LARGE)}
  br i1 %little, label %find, label %no
find:
  %address = ptrtoint ptr %body to i64
  %mixed = mul i64 %address, {0x9E3779B97F4A7C15 - (1 << 64)}
  %number = lshr i64 %mixed, {64 - LOOPS_BITS}
  %loop = getelementptr [{_SIZE} x i64], ptr @loops, i64 %number
{"".join(map(_field, _FIELDS))}  %owner = load ptr, ptr %body_at
  %trials = load i64, ptr %trials_at
  %latest = load i64, ptr @trial
  %known = icmp eq ptr %owner, %body
  br i1 %known, label %look, label %begin
look:
  %rounds = load i64, ptr %rounds_at
  %trial = load i64, ptr %trial_at
  %first = icmp ult i64 %trials, 2
  %most = select i1 %first, i64 {SOON}, i64 {AGAIN}
  %old = icmp uge i64 %rounds, %most
  br i1 %old, label %next, label %join
next:
  %new_trial = add i64 %latest, 1
  store i64 %new_trial, ptr @trial
  br label %begin
join:
  %behind = icmp ne i64 %trial, %latest
  %some = icmp uge i64 %rounds, {SOON}
  %joins = and i1 %behind, %some
  br i1 %joins, label %begin, label %go
begin:
  %before = phi i64 [0, %find], [%trials, %next], [%trials, %join]
  %number_now = phi i64 [%latest, %find], [%new_trial, %next], [%latest, %join]
  call void @llvm.memset.p0.i64(ptr align 64 %loop, i8 0, i64 {8 * _SIZE}, i1 false)
  %trials_now = add i64 %before, 1
  store ptr %body, ptr %body_at
  store i64 %number_now, ptr %trial_at
  store i64 %trials_now, ptr %trials_at
  br label %go
go:
  %round = phi i64 [0, %begin], [%rounds, %join]
  %after = add i64 %round, 1
  %over = icmp uge i64 %round, {2 * TRIED}
  br i1 %over, label %decided, label %measure
decided:
  store i64 %after, ptr %rounds_at
{_sums(0, "spread")}{_sums(1, "alone")}  %limit = fmul double %spread, {constant("double", MARGIN)}
  %faster = fcmp olt double %alone, %limit
  ret i1 %faster
measure:
  %second = icmp uge i64 %round, {TRIED}
  %counts = or i1 %second, %ready
  br i1 %counts, label %clock, label %anew
clock:
  %now = call i64 @clock()
  %entered = load i64, ptr %entered_at
  %work = load double, ptr %work_at
  store i64 %now, ptr %entered_at
  store double %amount, ptr %work_at
  %period = sub i64 %now, %entered
  %long = icmp sgt i64 %period, {PAUSE}
  %later = icmp ne i64 %round, 0
  %paused = and i1 %later, %long
  br i1 %paused, label %anew, label %phase
anew:
  %at = phi i64 [0, %measure], [%now, %clock]
  store i64 %at, ptr %entered_at
  store i64 0, ptr %rounds_at
  %sums = getelementptr i64, ptr %loop, i64 {_WAYS}
  call void @llvm.memset.p0.i64(ptr align 8 %sums, i8 0, i64 32, i1 false)
  br label %no
phase:
  %start = select i1 %second, i64 {TRIED}, i64 0
  %within = sub i64 %round, %start
  %settled = icmp uge i64 %within, {SETTLING}
  br i1 %settled, label %add, label %count
add:
  %time = sitofp i64 %period to double
  %each = fdiv double %time, %work
  %way = select i1 %second, i64 {_WAYS + 2}, i64 {_WAYS}
  %sum_at = getelementptr double, ptr %loop, i64 %way
  %most_at = getelementptr double, ptr %sum_at, i64 1
  %sum = load double, ptr %sum_at
  %total = fadd double %sum, %each
  store double %total, ptr %sum_at
  %largest = load double, ptr %most_at
  %larger = fcmp ogt double %each, %largest
  %new = select i1 %larger, double %each, double %largest
  store double %new, ptr %most_at
  br label %count
count:
  store i64 %after, ptr %rounds_at
  ret i1 %second
no:
  ret i1 false
}}
"""
