#include <stdint.h>

static void three_by_three(double *restrict out, const double *restrict x, const double *restrict w, int64_t n, int64_t m)
{
#pragma omp parallel for schedule(static) if (n * m > 10000)
    for (int64_t i = 0; i < n - 2; i++) {
        const double *restrict a = x + i * m, *restrict b = a + m, *restrict c = b + m;
#pragma omp simd
        for (int64_t j = 0; j < m - 2; j++)
            out[i * (m - 2) + j] = w[0] * a[j] + w[1] * a[j + 1] + w[2] * a[j + 2] + w[3] * b[j] + w[4] * b[j + 1] + w[5] * b[j + 2]
                                 + w[6] * c[j] + w[7] * c[j + 1] + w[8] * c[j + 2];
    }
}

void convolution_variable(double *restrict out, const double *restrict x, const double *restrict w, int64_t n, int64_t m, int64_t p, int64_t q)
{
    if (p == 3 && q == 3) {
        three_by_three(out, x, w, n, m);
        return;
    }
    int64_t rows = n - p + 1, columns = m - q + 1;
#pragma omp parallel for schedule(static) if (n * m > 10000)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double s = 0.0;
            for (int64_t a = 0; a < p; a++)
                for (int64_t b = 0; b < q; b++)
                    s += w[a * q + b] * x[(i + a) * m + j + b];
            out[i * columns + j] = s;
        }
}
