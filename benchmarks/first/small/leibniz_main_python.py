"""A sum in a loop."""


def main() -> None:
    s = 0.0
    for k in range(3000000):
        s += (1.0 if k % 2 == 0 else -1.0) / (2 * k + 1)
    print(f"{4.0 * s:.6f}")


main()
