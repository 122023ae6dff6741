"""Nested loops of scalars only."""


def main() -> None:
    best = at = 0
    for n in range(1, 30000):
        steps = 0
        x = n
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        if steps > best:
            best, at = steps, n
    print(f"{at} has {best} steps")


main()
