"""fib(28), one call, and a second one."""

from benchmarks.first.timing import Watch


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


watch = Watch()
with watch.over("first"):
    result = fib(28)
with watch.over("second"):
    again = fib(28)
print(result, again)
watch.tell()
