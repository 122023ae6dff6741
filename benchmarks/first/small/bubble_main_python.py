"""Bubble sort in place."""


def main() -> None:
    n = 1000
    v = [i * 7919 % 1009 for i in range(n)]
    for i in range(n - 1, 0, -1):
        for j in range(i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    print(v[0], v[n // 2], v[n - 1])


main()
