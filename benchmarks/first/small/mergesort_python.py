"""Recursion that takes lists apart and gives new ones."""


def merge(a: list[int], b: list[int]) -> list[int]:
    c = []
    i = j = 0
    while i < len(a) or j < len(b):
        if j == len(b) or (i < len(a) and a[i] <= b[j]):
            c.append(a[i])
            i += 1
        else:
            c.append(b[j])
            j += 1
    return c


def ordered(v: list[int]) -> list[int]:
    n = len(v)
    return v if n < 2 else merge(ordered(v[: n // 2]), ordered(v[n // 2 :]))


s = ordered([i * 7919 % 10007 for i in range(10000)])
print(s[0], s[1], s[5000], s[9999])
