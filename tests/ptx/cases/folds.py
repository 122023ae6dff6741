"""Folds: whole spaces, rows, columns, products; and loops."""

from __future__ import annotations

import numpy as np

from tests.ptx.cases.case import Cases

MADE = Cases(12)
case, d, s, n = MADE.add, MADE.doubles, MADE.singles, MADE.integers

for op, neutral in (("+", "0"), ("*", "1"), ("max", "-2147483647"), ("min", "2147483647")):
    case(
        f"fold {op} of ints",
        f"int f(int[n] v) {{ return with {{ ([0] <= [i] < [n]) : v[i]; }} : fold({op}, {neutral}); }}",
        (n(5000),),
        (n(1),),
        (n(0),),
        (n(33),),
        (n(1025),),
    )
for op, neutral in (("+", "0.0"), ("*", "1.0"), ("max", "-1e300"), ("min", "1e300")):
    case(
        f"fold {op} of doubles",
        f"double f(double[n] v) {{ return with {{ ([0] <= [i] < [n]) : v[i]; }} : fold({op}, {neutral}); }}",
        (1 + d(3000) / 100,),
        (d(1),),
        (d(0),),
        (d(100),),
    )
PACKED = {
    "lower": "float[n] f(float[.] v, float[n] x) { a = (float[i<n, i+1]) v; return { [i] -> sum(a[i] * take([i+1], x)) "
    "| [i] < [n] }; }",
    "upper": "float[n] f(float[.] v, float[n] x) { a = (float[i<n, n-i]) v; return { [i] -> sum(a[i] * drop([i], x)) "
    "| [i] < [n] }; }",
}
for name, text in PACKED.items():
    for size in (7, 150, 700):
        case(
            f"packed {name} triangle times a vector, {size}",
            text.replace("float", "int"),
            n(size * (size + 1) // 2),
            n(size),
        )
case(
    "sums of bands",
    "double[n] f(double[n,n] a, int kl, int ku) { return { [i] -> sum({ [j] -> a[i, max(0, i - kl) + j] | [j] < "
    "[min(n, i + ku + 1) - max(0, i - kl)] }) | [i] < [n] }; }",
    (d(70, 70), 20, 33),
    (d(5, 5), 7, 9),
)
case(
    "fold of a large space",
    "double f(int n) { return with { ([0,0] <= [i,j] < [n,n]) : tod(i) * 0.001 + tod(j); } : fold(+, 0.0); }",
    300,
)
case(
    "fold with steps",
    (
        "int f(int m, int n) { return with { ([1,2] <= [i,j] < [m,n] step [3,4] width [1,2]) : i * 7 + "
        "j; } : fold(+, 0); }"
    ),
    (90, 77),
    (2, 3),
)
case(
    "logical folds",
    (
        "bool both(bool a, bool b) { return a && b; } bool one(bool a, bool b) { return a || b; } bool, "
        "bool f(int[n] v) { a = with { ([0] <= [i] < [n]) : v[i] > -51; } : fold(both, true); b = with { "
        "([0] <= [i] < [n]) : v[i] == 49; } : fold(one, false); return (a, b); }"
    ),
    (n(700),),
    (n(3),),
)
case("all and any", "bool, bool f(int[n] v) { return (all(v > -51), any(v == 49)); }", n(700))
for way in ("interleaved", "halving", "shuffle", "runs(8)", "strided(8)"):
    case(
        f"gpufold {way}",
        f"""
int f(int[n] v)
{{
  return with {{
    #pragma gpufold {way}
    ([0] <= [i] < [n]) : v[i];
  }} : fold(^, 0);
}}
double[m] rows(double[m,n] a)
{{
  return with {{
    #pragma gpufold {way}
    ([0] <= [i] < [m]) : with {{ ([0] <= [j] < [n]) : a[i,j]; }} : fold(max, -1e300);
  }} : genarray([m], 0.0);
}}""",
        (n(2500),),
        (n(0),),
        (n(33),),
    )
    MADE.all[-1].calls += [("rows", (d(5, 200),)), ("rows", (d(3, 1),)), ("rows", (d(2, 1025),))]
for rows, entries in ((60, 400), (30, 900), (5, 7000), (9, 9), (1, 0)):
    offsets = np.sort(n(rows + 1, low=0, high=entries + 1))
    case(
        f"sparse rows, {rows} of {entries}",
        """
use Segmented: { spmv, segment_max };
double[.] f(int[.] o, int[.] c, double[.] v, double[.] x) { return spmv(o, c, v, x); }
int[.] g(int[.] o, int[.] v) { return segment_max(o, v); }""",
        offsets,
        n(entries, low=0, high=50),
        d(entries),
        d(50),
    )
    MADE.all[-1].calls.append(("g", (offsets, n(entries))))
case(
    "gpufold shuffle of what does not commute",
    """
struct Map { int a; int b; };
struct Map after(struct Map f, struct Map g) { return Map{f.a * g.a % 1009, (f.a * g.b + f.b) % 1009}; }
int f(int[n] v)
{
  m = with {
    #pragma gpufold shuffle
    ([0] <= [i] < [n]) : Map{v[i] % 7 + 2, i};
  } : fold(after, Map{1, 0});
  return m.a + m.b;
}""",
    (n(3000) ** 2,),
    (n(1),),
    (n(0),),
    (n(65),),
)
case(
    "user's fold",
    (
        "int big(int a, int b) { return (a * a > b * b ? a : b); } int f(int[n] v) { return with { ([0] "
        "<= [i] < [n]) : v[i]; } : fold(big, 0); }"
    ),
    n(900, low=-30000, high=30000) | 1,
)
case(
    "argmax",
    (
        "int f(double[n] v) { m = with { ([0] <= [i] < [n]) : v[i]; } : fold(max, -1e300); return with { "
        "([0] <= [i] < [n]) : (v[i] == m ? i : n); } : fold(min, n); }"
    ),
    d(1500),
)
case(
    "per-row folds",
    (
        "double[m] f(double[m,n] a) { return with { ([0] <= [i] < [m]) : with { ([0] <= [j] < [n]) : "
        "a[i,j]; } : fold(+, 0.0); } : genarray([m], 0.0); }"
    ),
    (d(70, 90),),
    (d(2, 4000),),
    (d(3000, 3),),
    (d(5, 0),),
    (d(40, 33),),
)
case(
    "per-row extremes",
    (
        "int[m] f(int[m,n] a) { return with { ([0] <= [i] < [m]) : with { ([0] <= [j] < [n]) : a[i,j]; } "
        ": fold(max, -1000); } : genarray([m], 0); }"
    ),
    (n(70, 90),),
    (n(2, 3000),),
    (n(1, 1),),
)
case(
    "per-column folds",
    (
        "double[n] f(double[m,n] a) { return with { ([0] <= [j] < [n]) : with { ([0] <= [i] < [m]) : "
        "a[i,j]; } : fold(+, 0.0); } : genarray([n], 0.0); }"
    ),
    d(80, 55),
)
case(
    "sum of a subset",
    "int f(int[n] v) { return with { ([0] <= [i] < [n]) : (v[i] > 10 ? v[i] : 0); } : fold(+, 0); }",
    n(1234),
)
case(
    "folds in one",
    (
        "int, int, int f(int[n] v) { a, b, c = with { ([0] <= [i] < [n]) : (v[i], v[i], v[i]); } : "
        "(fold(+, 0), fold(max, -99), fold(min, 99)); return (a, b, c); }"
    ),
    n(2222),
)
case("float sum", "float f(float[n] v) { return with { ([0] <= [i] < [n]) : v[i]; } : fold(+, 0f); }", s(2000))
case(
    "matrix product",
    (
        "double[m,n] f(double[m,k] a, double[k,n] b) { return with { ([0,0] <= [i,j] < [m,n]) : with { "
        "([0] <= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0.0); } : genarray([m,n], 0.0); }"
    ),
    (d(33, 47), d(47, 29)),
    (d(1, 1), d(1, 1)),
    (d(64, 64), d(64, 64)),
    (d(16, 0), d(0, 16)),
)
case(
    "matrix product of floats",
    (
        "float[m,n] f(float[m,k] a, float[k,n] b) { return with { ([0,0] <= [i,j] < [m,n]) : with { ([0] "
        "<= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0f); } : genarray([m,n], 0f); }"
    ),
    s(50, 70),
    s(70, 65),
)
case(
    "integer matrix product",
    (
        "int[m,n] f(int[m,k] a, int[k,n] b) { return with { ([0,0] <= [i,j] < [m,n]) : with { ([0] <= "
        "[l] < [k]) : a[i,l] * b[l,j]; } : fold(+, 0); } : genarray([m,n], 0); }"
    ),
    n(35, 40),
    n(40, 37),
)
case(
    "product with a transpose",
    (
        "double[m,n] f(double[m,k] a, double[n,k] b) { return with { ([0,0] <= [i,j] < [m,n]) : with { "
        "([0] <= [l] < [k]) : a[i,l] * b[j,l]; } : fold(+, 0.0); } : genarray([m,n], 0.0); }"
    ),
    d(40, 33),
    d(37, 33),
)
case(
    "matrix and vector",
    (
        "double[m] f(double[m,n] a, double[n] v) { return with { ([0] <= [i] < [m]) : with { ([0] <= [j] "
        "< [n]) : a[i,j] * v[j]; } : fold(+, 0.0); } : genarray([m], 0.0); }"
    ),
    d(60, 70),
    d(70),
)
case(
    "convolution",
    (
        "float[.,.] f(float[m,n] a, float[k,l] w) { return { [i,j] -> with { ([0,0] <= [p,q] < [k,l]) : "
        "a[i + p, j + q] * w[p,q]; } : fold(+, 0f) | [i,j] < [m - k + 1, n - l + 1] }; }"
    ),
    s(30, 33),
    s(3, 5),
)
case(
    "bodies",
    (
        "double[n,3] f(double[n,3] p, double[n] m) { return with { ([0] <= [i] < [n]) { x = 0.0; y = "
        "0.0; z = 0.0; for (j = 0; j < n; j++) { dx = p[j,0] - p[i,0]; dy = p[j,1] - p[i,1]; dz = p[j,2] "
        "- p[i,2]; r = dx * dx + dy * dy + dz * dz + 0.01; w = m[j] / (r * sqrt(r)); x += dx * w; y += "
        "dy * w; z += dz * w; } } : [x, y, z]; } : genarray([n], [0.0, 0.0, 0.0]); }"
    ),
    d(90, 3),
    np.abs(d(90)),
)
case(
    "histogram",
    (
        "int[16] f(int[n] v) { h = { [i] -> 0 | [i] < [16] }; for (i = 0; i < n; i++) { h[v[i]] = "
        "h[v[i]] + 1; } return h; }"
    ),
    n(20000, low=0, high=16),
)
case(
    "prefix sums",
    (
        "int[n] f(int[n] v) { s = 0; for (i = 0; i < n; i++) { s = s + v[i]; v[i] = s; } return with { "
        "([0] <= [i] < [n]) : v[i] * 2; } : genarray([n], 0); }"
    ),
    n(600),
)
case(
    "mandelbrot",
    (
        "int[m,n] f(int m, int n) { return with { ([0,0] <= [i,j] < [m,n]) { cx = tod(j) * 3.0 / tod(n) "
        "- 2.0; cy = tod(i) * 2.0 / tod(m) - 1.0; x = 0.0; y = 0.0; k = 0; while (k < 50 && x * x + y * "
        "y < 4.0) { t = x * x - y * y + cx; y = 2.0 * x * y + cy; x = t; k++; } } : k; } : "
        "genarray([m,n], 0); }"
    ),
    20,
    30,
)
case(
    "structs",
    (
        "struct Body { double x; double v; int[2] k; }; struct Body[n] f(struct Body[n] b) { return with "
        "{ ([0] <= [i] < [n]) { o = b[i]; o.x = o.x + o.v; o.k[1] = o.k[0] * 2; } : o; } : genarray([n], "
        "Body { 0.0, 0.0, [0, 0] }); } double g(double[n] x, double[n] v) { b = { [i] -> Body { x[i], "
        "v[i], [i, 0] } | [i] < [n] }; b = f(b); return sum(b.x) + tod(sum(b.k)); }"
    ),
    d(150),
    d(150),
    function="g",
)
case(
    "complex",
    (
        "use Complex: all; double f(int n) { c = { [i] -> toc(tod(i), 1.0) * toc(0.5, -1.0) | [i] < [n] "
        "}; return sum({ [i] -> real(c[i]) * imag(c[i]) | [i] < [n] }); }"
    ),
    200,
)

MADE.add(
    "rows whose cells are arrays",
    "double[n,3] f(double[n,3] p, double[k,3] q, double[k] m) { return { [i] -> with { ([0] <= [j] < [k]) { d = q[j,0] "
    "- p[i,0]; w = m[j] / (d * d + q[j,1] * q[j,1] + 0.5); } : [w * d, w * q[j,1], w]; } : fold(+, [0.0, 0.0, 0.0]) "
    "| [i] < [n] }; }",
    (MADE.doubles(70, 3), MADE.doubles(300, 3), MADE.doubles(300)),
    (MADE.doubles(9, 3), MADE.doubles(70, 3), MADE.doubles(70)),
    (MADE.doubles(5, 3), MADE.doubles(0, 3), MADE.doubles(0)),
)
