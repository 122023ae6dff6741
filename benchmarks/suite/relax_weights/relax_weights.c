#include <stdint.h>

static inline double around(const double *restrict up, const double *restrict row, const double *restrict down, const double *restrict w, int64_t l, int64_t j, int64_t r)
{
    return w[0] * up[l] + w[1] * up[j] + w[2] * up[r] + w[3] * row[l] + w[4] * row[j] + w[5] * row[r] + w[6] * down[l] + w[7] * down[j] + w[8] * down[r];
}

static void relax(double *restrict v, const double *restrict u, const double *restrict weights, int64_t n, int64_t m)
{
#pragma omp parallel for schedule(static) if (n * m > 20000)
    for (int64_t i = 0; i < n; i++) {
        const double *up = u + (i == 0 ? n - 1 : i - 1) * m, *row = u + i * m, *down = u + (i == n - 1 ? 0 : i + 1) * m;
        double w[9], *restrict to = v + i * m;
        for (int k = 0; k < 9; k++)
            w[k] = weights[k];
        to[0] = around(up, row, down, w, m - 1, 0, 1);
        for (int64_t j = 1; j < m - 1; j++)
            to[j] = around(up, row, down, w, j - 1, j, j + 1);
        to[m - 1] = around(up, row, down, w, m - 2, m - 1, 0);
    }
}

/* The result lies in v after an odd number of steps, else in w. */
void relax_weights(double *v, double *w, const double *u, const double *weights, int64_t steps, int64_t n, int64_t m)
{
    const double *from = u;
    for (int64_t s = 0; s < steps; s++) {
        double *to = s % 2 ? w : v;
        relax(to, from, weights, n, m);
        from = to;
    }
}
