"""Updates of single elements of a list."""


def main() -> None:
    n = 300000
    composite = [False] * n
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
            for j in range(2 * i, n, i):
                composite[j] = True
    print(count, "primes")


main()
