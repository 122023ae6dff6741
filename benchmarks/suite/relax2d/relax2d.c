#include <stdint.h>

static void relax(int64_t n, int64_t m, double v[restrict n][m], const double u[restrict n][m])
{
#pragma omp parallel for schedule(static) if (n * m > 20000)
    for (int64_t i = 0; i < n; i++) {
        const double *restrict up = u[i == 0 ? n - 1 : i - 1];
        const double *restrict down = u[i == n - 1 ? 0 : i + 1];
        const double *restrict here = u[i];
        v[i][0] = 0.5 * here[0] + 0.125 * (up[0] + down[0] + here[m - 1] + here[1 % m]);
#pragma omp simd
        for (int64_t j = 1; j < m - 1; j++)
            v[i][j] = 0.5 * here[j] + 0.125 * (up[j] + down[j] + here[j - 1] + here[j + 1]);
        if (m > 1)
            v[i][m - 1] = 0.5 * here[m - 1] + 0.125 * (up[m - 1] + down[m - 1] + here[m - 2] + here[0]);
    }
}

/* After an odd number of steps the result is in v, else in w; the caller takes it from there. */
void relax2d(double *v, double *w, const double *u, int64_t steps, int64_t n, int64_t m)
{
    for (int64_t s = 0; s < steps; s++) {
        double *to = s % 2 == 0 ? v : w;
        const double *from = s == 0 ? u : s % 2 == 0 ? w : v;
        relax(n, m, (double(*)[m])to, (const double(*)[m])from);
    }
}
