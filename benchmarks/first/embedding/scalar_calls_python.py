"""A function of a scalar, twenty thousand calls."""

from benchmarks.first.timing import Watch

CALLS = 20_000


def digits(n: int) -> int:
    s = 0
    while n > 0:
        s += n % 10
        n //= 10
    return s


watch = Watch()
with watch.over("each", CALLS):
    total = sum(digits(n) for n in range(CALLS))
print(total)
watch.tell()
