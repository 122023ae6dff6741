"""A table whose cells call a recursive function."""


def binomial(n: int, k: int) -> int:
    return 1 if k in (0, n) else binomial(n - 1, k - 1) + binomial(n - 1, k)


t = [[binomial(i, j) if j <= i else 0 for j in range(17)] for i in range(17)]
print(t[16][8], sum(map(sum, t)))
