"""A loop that prints between its computations."""


def divisors(n: int) -> int:
    count = 0
    for d in range(1, n + 1):
        if n % d == 0:
            count += 1
    return count


for n in range(2000, 2600):
    d = divisors(n)
    if d > 20:
        print(f"{n} has {d} divisors")
