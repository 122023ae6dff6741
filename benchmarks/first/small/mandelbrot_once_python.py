"""Escape times, point by point."""


def escape(re: float, im: float) -> int:
    x = y = 0.0
    n = 0
    while n < 100 and x * x + y * y < 4.0:
        x, y = x * x - y * y + re, 2.0 * x * y + im
        n += 1
    return n


rows, columns = 200, 300
p = [escape(j * 3.0 / columns - 2.0, i * 2.0 / rows - 1.0) for i in range(rows) for j in range(columns)]
print(f"{p.count(100)} inside, sum {sum(p)}")
