"""A solver of scalars in a while loop, for many equations."""


def root(a: float) -> float:
    x = a
    while abs(x * x * x - a) > 1e-12 * a:
        x = x - (x * x * x - a) / (3.0 * x * x)
    return x


s = 0.0
for i in range(1, 20001):
    s += root(float(i))
print(f"{s:.6f}")
