#include <stdint.h>

#define AIR 80.0

static inline double cell(double here, double watts, double left, double right, double above, double below)
{
    return here + watts + 0.12 * (left + right - 2.0 * here) + 0.1 * (above + below - 2.0 * here) + 0.004 * (AIR - here);
}

static void step(int64_t n, int64_t m, double v[restrict n][m], const double t[restrict n][m], const double watts[restrict n][m])
{
#pragma omp parallel for schedule(static) if (n * m > 20000)
    for (int64_t i = 0; i < n; i++) {
        const double *restrict above = t[i == 0 ? 0 : i - 1];
        const double *restrict below = t[i == n - 1 ? i : i + 1];
        const double *restrict here = t[i];
        v[i][0] = cell(here[0], watts[i][0], here[0], here[1], above[0], below[0]);
#pragma omp simd
        for (int64_t j = 1; j < m - 1; j++)
            v[i][j] = cell(here[j], watts[i][j], here[j - 1], here[j + 1], above[j], below[j]);
        v[i][m - 1] = cell(here[m - 1], watts[i][m - 1], here[m - 2], here[m - 1], above[m - 1], below[m - 1]);
    }
}

/* After an odd number of steps the result is in v, else in w; the caller takes it from there. */
void hotspot(double *v, double *w, const double *t, const double *watts, int64_t steps, int64_t n, int64_t m)
{
    for (int64_t s = 0; s < steps; s++) {
        double *to = s % 2 == 0 ? v : w;
        const double *from = s == 0 ? t : s % 2 == 0 ? w : v;
        step(n, m, (double(*)[m])to, (const double(*)[m])from, (const double(*)[m])watts);
    }
}
