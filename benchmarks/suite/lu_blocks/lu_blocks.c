#include <stdint.h>
#include <string.h>

#define SIDE 64

static void diagonal(double *restrict t, int64_t n)
{
    for (int64_t k = 0; k < SIDE; k++)
        for (int64_t i = k + 1; i < SIDE; i++) {
            double f = t[i * n + k] /= t[k * n + k];
#pragma omp simd
            for (int64_t j = k + 1; j < SIDE; j++)
                t[i * n + j] -= f * t[k * n + j];
        }
}

static void row(double *restrict u, const double *restrict d, int64_t n)
{
    for (int64_t i = 1; i < SIDE; i++)
        for (int64_t k = 0; k < i; k++) {
            double f = d[i * n + k];
#pragma omp simd
            for (int64_t j = 0; j < SIDE; j++)
                u[i * n + j] -= f * u[k * n + j];
        }
}

static void column(double *restrict l, const double *restrict d, int64_t n)
{
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t k = 0; k < SIDE; k++) {
            double f = l[i * n + k] /= d[k * n + k];
#pragma omp simd
            for (int64_t j = k + 1; j < SIDE; j++)
                l[i * n + j] -= f * d[k * n + j];
        }
}

/* Four rows of a block of what is left at once. */
static void inner(double *restrict c, const double *restrict l, const double *restrict u, int64_t n)
{
    for (int64_t i = 0; i < SIDE; i += 4)
        for (int64_t k = 0; k < SIDE; k++) {
            double f0 = l[i * n + k], f1 = l[(i + 1) * n + k], f2 = l[(i + 2) * n + k], f3 = l[(i + 3) * n + k];
#pragma omp simd
            for (int64_t j = 0; j < SIDE; j++) {
                double x = u[k * n + j];
                c[i * n + j] -= f0 * x;
                c[(i + 1) * n + j] -= f1 * x;
                c[(i + 2) * n + j] -= f2 * x;
                c[(i + 3) * n + j] -= f3 * x;
            }
        }
}

void lu_blocks(double *restrict a, const double *restrict given, int64_t n)
{
    memcpy(a, given, n * n * sizeof(double));
    for (int64_t top = 0; top < n; top += SIDE) {
        double *d = a + top * n + top;
        diagonal(d, n);
#pragma omp parallel for schedule(static) if (n - top > 8 * SIDE)
        for (int64_t at = top + SIDE; at < n; at += SIDE) {
            row(a + top * n + at, d, n);
            column(a + at * n + top, d, n);
        }
#pragma omp parallel for schedule(static) if (n - top > 8 * SIDE)
        for (int64_t i = top + SIDE; i < n; i += SIDE)
            for (int64_t j = top + SIDE; j < n; j += SIDE)
                inner(a + i * n + j, a + i * n + top, a + top * n + j, n);
    }
}
