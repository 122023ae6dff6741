/* Products of a packed lower triangle and a vector, by hand: rows dealt to threads, a row at a time or four; and the sum
   of all elements, which reads as much memory and hardly does anything else. */
#include <stdint.h>

static double product(const double *row, const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += row[j] * x[j];
    return sum;
}

void rows_on_threads(const double *a, const double *x, double *y, int64_t n)
{
#pragma omp parallel for schedule(dynamic, 64) if (n >= 512)
    for (int64_t i = 0; i < n; i++) y[i] = product(a + i * (i + 1) / 2, x, i + 1);
}

void rows_by_four(const double *restrict a, const double *restrict x, double *restrict y, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *r0 = a + i * (i + 1) / 2, *r1 = r0 + i + 1, *r2 = r1 + i + 2, *r3 = r2 + i + 3;
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
        for (int64_t j = 0; j <= i; j++) {
            s0 += r0[j] * x[j];
            s1 += r1[j] * x[j];
            s2 += r2[j] * x[j];
            s3 += r3[j] * x[j];
        }
        y[i] = s0;
        y[i + 1] = s1 + product(r1 + i + 1, x + i + 1, 1);
        y[i + 2] = s2 + product(r2 + i + 1, x + i + 1, 2);
        y[i + 3] = s3 + product(r3 + i + 1, x + i + 1, 3);
    }
    for (; i < n; i++) y[i] = product(a + i * (i + 1) / 2, x, i + 1);
}

void read_all(const double *a, double *y, int64_t count)
{
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum) if (count >= 131072)
    for (int64_t k = 0; k < count; k++) sum += a[k];
    *y = sum;
}
