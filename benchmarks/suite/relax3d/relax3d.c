#include <stdint.h>

static double at(const double *const rows[9], const double *w, int64_t left, int64_t k, int64_t right)
{
    double s = 0.0;
    for (int r = 0; r < 9; r++)
        s += w[3 * r] * rows[r][left] + w[3 * r + 1] * rows[r][k] + w[3 * r + 2] * rows[r][right];
    return s;
}

static void relax(int64_t n, int64_t m, int64_t l, double *restrict v, const double *restrict u, const double *restrict w)
{
#pragma omp parallel for collapse(2) schedule(static) if (n * m * l > 5000)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double *rows[9];
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    rows[3 * a + b] = u + ((i + a - 1 + n) % n * m + (j + b - 1 + m) % m) * l;
            double *restrict to = v + (i * m + j) * l;
            to[0] = at(rows, w, l - 1, 0, 1 % l);
#pragma omp simd
            for (int64_t k = 1; k < l - 1; k++) {
                double s = 0.0;
                for (int r = 0; r < 9; r++)
                    s += w[3 * r] * rows[r][k - 1] + w[3 * r + 1] * rows[r][k] + w[3 * r + 2] * rows[r][k + 1];
                to[k] = s;
            }
            if (l > 1)
                to[l - 1] = at(rows, w, l - 2, l - 1, 0);
        }
}

/* After an odd number of steps the result is in v, else in t; the caller takes it from there. */
void relax3d(double *v, double *t, const double *u, const double *w, int64_t steps, int64_t n, int64_t m, int64_t l)
{
    for (int64_t s = 0; s < steps; s++)
        relax(n, m, l, s % 2 == 0 ? v : t, s == 0 ? u : s % 2 == 0 ? t : v, w);
}
