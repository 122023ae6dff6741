"""A matrix product as one writes it in C: three loops."""


def main() -> None:
    n = 120
    a = [[float((i * 7 + j * 3) % 11) for j in range(n)] for i in range(n)]
    b = [[float((i * 5 + j * 2) % 13) for j in range(n)] for i in range(n)]
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    print(f"{c[0][0]:.1f} {c[60][60]:.1f} {c[119][7]:.1f}")


main()
