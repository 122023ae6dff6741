"""Whether a loop's own thread runs all its chunks, though helpers are ready, as LLVM IR: `done_alone_is_faster`.

How long a short loop takes on several threads does not follow from its work: what other loops left in which core's
cache counts as much, and in what order they come. So it is measured. The first rounds of a loop run on all threads, the
next ones on its own alone; from then on, the way that took less for each unit of work; and after many rounds both are
tried again. What counts is the time from one entry to the next, which has in it what the loops around this one pay for
what it does to the caches. Loops that follow one another are tried together, so that they agree.

The chunks are the same either way, and so are the results. One loop asks at a time: who has the pool (`threads`).
"""

from __future__ import annotations

from sacpy.jit.llvm.legal import constant

LOOPS = 256  # loops that are known at a time, a power of two; who comes to another's place begins anew
LOOPS_BITS = LOOPS.bit_length() - 1
TRIED = 12  # rounds each way
SETTLING = 4  # rounds of these that do not count: memory moves from cache to cache
AGAIN = 1000  # rounds after which both ways are tried again
LARGE = 4_000_000.0  # work (see `host/work`), some half a millisecond, from which a loop is for all threads in any case
MARGIN = 0.95  # of the time on several threads that it must take alone

# A loop: its body, rounds since the trial began, when it was entered last (0: that does not count), its work then; and
# for each way the sum of nanoseconds per unit of work, and the largest of these, which is left out.
_FIELDS = ("body", "rounds", "entered", "work")
_WAYS = len(_FIELDS)  # sum and largest of all threads', then of its own


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
@loops = internal global [{LOOPS} x [8 x i64]] zeroinitializer, align 64

define internal i1 @done_alone_is_faster(ptr %body, double %amount, i1 %ready) noinline {{
  %little = fcmp olt double %amount, {constant("double", LARGE)}
  br i1 %little, label %find, label %no
find:
  %address = ptrtoint ptr %body to i64
  %mixed = mul i64 %address, {0x9E3779B97F4A7C15 - (1 << 64)}
  %number = lshr i64 %mixed, {64 - LOOPS_BITS}
  %loop = getelementptr [8 x i64], ptr @loops, i64 %number
{_field("body")}{_field("rounds")}{_field("entered")}{_field("work")}  %owner = load ptr, ptr %body_at
  %known = icmp eq ptr %owner, %body
  %rounds = load i64, ptr %rounds_at
  %old = icmp uge i64 %rounds, {AGAIN}
  %fresh = xor i1 %known, true
  %begins = or i1 %fresh, %old
  br i1 %begins, label %begin, label %go
begin:
  call void @llvm.memset.p0.i64(ptr align 64 %loop, i8 0, i64 64, i1 false)
  store ptr %body, ptr %body_at
  br label %go
go:
  %round = phi i64 [0, %begin], [%rounds, %find]
  %after = add i64 %round, 1
  %over = icmp uge i64 %round, {2 * TRIED}
  br i1 %over, label %decided, label %measure
decided:
  store i64 %after, ptr %rounds_at
{_sums(0, "spread")}{_sums(1, "alone")}  %most = fmul double %spread, {constant("double", MARGIN)}
  %faster = fcmp olt double %alone, %most
  ret i1 %faster
measure:
  %second = icmp uge i64 %round, {TRIED}
  %counts = or i1 %second, %ready
  br i1 %counts, label %clock, label %skip
skip:
  store i64 0, ptr %entered_at
  br label %no
clock:
  %now = call i64 @clock()
  %entered = load i64, ptr %entered_at
  %work = load double, ptr %work_at
  store i64 %now, ptr %entered_at
  store double %amount, ptr %work_at
  %behind = select i1 %second, i64 {TRIED}, i64 0
  %within = sub i64 %round, %behind
  %settled = icmp uge i64 %within, {SETTLING}
  br i1 %settled, label %whole, label %count
whole:
  %there = icmp ne i64 %entered, 0
  br i1 %there, label %add, label %again
add:
  %period = sub i64 %now, %entered
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
  br label %again
again:
  ret i1 %second
no:
  ret i1 false
}}
"""
