"""Loops whose threads all read the same elements, which blocks have in tiles of shared memory."""

from tests.ptx.cases.case import Cases

MADE = Cases(31)
_PULL = (
    "double[n,3] f(double[n,3] p, double[k,3] q, double[k] m) {{ return with {{ ([0] <= [i] < [n]) {{ x = 0.0; "
    "y = 0.0; z = 0.0; for (j = {0}; j < {1}; j++) {{ dx = q[j,0] - p[i,0]; dy = q[j,1] - p[i,1]; "
    "dz = q[j,2] - p[i,2]; r = dx * dx + dy * dy + dz * dz + 0.01; w = m[j] / (r * sqrt(r)); x += dx * w; "
    "y += dy * w; z += dz * w; }} }} : [x, y, z]; }} : genarray([n], [0.0, 0.0, 0.0]); }}"
)


def _bodies(n: int, k: int) -> tuple[object, ...]:
    return MADE.doubles(n, 3), MADE.doubles(k, 3), abs(MADE.doubles(k))


MADE.add(
    "loop tiles, bodies", _PULL.format(0, "k"), *(_bodies(n, k) for n, k in ((300, 131), (1, 5), (128, 256), (64, 0)))
)
MADE.add("loop tiles, some bodies", _PULL.format(3, "k - 2"), *(_bodies(n, k) for n, k in ((300, 131), (64, 4))))
MADE.add(
    "loop tiles, under a condition, with what comes before and after",
    "double[n] f(double[n] p, float[k] q, int[k] c) { return with { ([0] <= [i] < [n]) { s = 0.0; m = 0; "
    "if (p[i] > 0.0) { start = p[i] * 2.0; for (j = 0; j < k; j++) { s += tod(q[j]) / (start + 1.5) + tod(j); "
    "m += c[j]; } s = s + start + tod(m); } } : s; } : genarray([n], 0.0); }",
    MADE.doubles(1000),
    MADE.singles(201),
    MADE.integers(201),
)  # fmt: skip
MADE.add(
    "loop tiles, float, a loop behind it",
    "float[n] f(float[n] p, float[k] q) { return with { ([0] <= [i] < [n]) { s = 0f; for (j = 0; j < k; j++) { "
    "s += sqrt(abs(q[j] - p[i])); } for (j = 0; j < 3; j++) { s = s * 0.5f + p[i]; } } : s; } : genarray([n], 0f); }",
    (MADE.singles(777), MADE.singles(130)),
)
MADE.add(
    "loop tiles, two axes",
    "double[m,n] f(double[m,n] p, double[k] q) { return with { ([0,0] <= [i,l] < [m,n]) { s = 0.0; for (j = 0; j < k; "
    "j++) { s = s / (1.0 + q[j] * q[j]) + p[i,l]; } } : s; } : genarray([m,n], 0.0); }",
    (MADE.doubles(33, 65), MADE.doubles(99)),
)
MADE.add(
    "loop tiles, every second round, and rounds that read elsewhere",
    "double[n] f(double[n] p, double[k] q) { return with { ([0] <= [i] < [n]) { s = 0.0; for (j = 0; j < k; j += 2) { "
    "s += 1.0 / (2.0 + q[j]); } for (j = 0; j < k; j++) { s += p[(i + j) % n] / (2.0 + q[j]); } } : s; "
    "} : genarray([n], 0.0); }",
    (MADE.doubles(200), abs(MADE.doubles(77))),
)
