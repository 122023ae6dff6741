#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MANY (n > 150)

static void smooth(double *restrict u, const double *restrict f, double h2, int64_t n, int sweeps)
{
    for (int s = 0; s < sweeps; s++)
        for (int64_t colour = 0; colour < 2; colour++) {
#pragma omp parallel for schedule(static) if (MANY)
            for (int64_t i = 1; i < n - 1; i++)
                for (int64_t j = 1 + (i + 1 + colour) % 2; j < n - 1; j += 2)
                    u[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] + h2 * f[i * n + j]);
        }
}

static void residual(double *restrict r, const double *restrict u, const double *restrict f, double h2, int64_t n)
{
    double scale = 1.0 / h2;
    memset(r, 0, n * sizeof(double));
    memset(r + (n - 1) * n, 0, n * sizeof(double));
#pragma omp parallel for schedule(static) if (MANY)
    for (int64_t i = 1; i < n - 1; i++) {
        const double *restrict c = u + i * n;
        double *restrict to = r + i * n;
        to[0] = to[n - 1] = 0.0;
        for (int64_t j = 1; j < n - 1; j++)
            to[j] = f[i * n + j] - scale * (4.0 * c[j] - c[j - n] - c[j + n] - c[j - 1] - c[j + 1]);
    }
}

static void coarse(double *restrict g, const double *restrict r, int64_t n)
{
    int64_t m = n / 2 + 1;
    memset(g, 0, m * m * sizeof(double));
#pragma omp parallel for schedule(static) if (MANY)
    for (int64_t i = 1; i < m - 1; i++)
        for (int64_t j = 1; j < m - 1; j++) {
            const double *c = r + 2 * i * n + 2 * j;
            g[i * m + j] = 0.25 * c[0] + 0.125 * (c[-n] + c[n] + c[-1] + c[1]) + 0.0625 * (c[-n - 1] + c[-n + 1] + c[n - 1] + c[n + 1]);
        }
}

static void correct(double *restrict u, const double *restrict e, int64_t n)
{
    int64_t m = n / 2 + 1;
#pragma omp parallel for schedule(static) if (MANY)
    for (int64_t i = 0; i < n; i++) {
        const double *restrict a = e + i / 2 * m, *restrict b = a + i % 2 * m;
        double *restrict to = u + i * n;
        for (int64_t j = 0; j < m - 1; j++) {
            to[2 * j] += 0.5 * (a[j] + b[j]);
            to[2 * j + 1] += 0.25 * (a[j] + b[j] + a[j + 1] + b[j + 1]);
        }
        to[n - 1] += 0.5 * (a[m - 1] + b[m - 1]);
    }
}

static void cycle(double *restrict u, const double *restrict f, double h2, int64_t n)
{
    if (n == 3) {
        smooth(u, f, h2, n, 1);
        return;
    }
    int64_t m = n / 2 + 1;
    double *r = malloc((n * n + 2 * m * m) * sizeof(double)), *g = r + n * n, *e = g + m * m;
    smooth(u, f, h2, n, 2);
    residual(r, u, f, h2, n);
    coarse(g, r, n);
    memset(e, 0, m * m * sizeof(double));
    cycle(e, g, 4.0 * h2, m);
    correct(u, e, n);
    smooth(u, f, h2, n, 2);
    free(r);
}

void multigrid(double *u, const double *f, int64_t cycles, int64_t n)
{
    double h = 1.0 / (n - 1);
    memset(u, 0, n * n * sizeof(double));
    for (int64_t c = 0; c < cycles; c++)
        cycle(u, f, h * h, n);
}
