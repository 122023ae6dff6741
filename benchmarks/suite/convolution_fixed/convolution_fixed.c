#include <stdint.h>

void convolution_fixed(double *restrict out, const double *restrict x, int64_t n, int64_t m)
{
#pragma omp parallel for schedule(static) if (n * m > 20000)
    for (int64_t i = 0; i < n - 2; i++) {
        const double *restrict a = x + i * m, *restrict b = a + m, *restrict c = b + m;
#pragma omp simd
        for (int64_t j = 0; j < m - 2; j++)
            out[i * (m - 2) + j] = (a[j] + c[j] + a[j + 2] + c[j + 2] + 2.0 * (a[j + 1] + b[j] + b[j + 2] + c[j + 1]) + 4.0 * b[j + 1]) * (1.0 / 16.0);
    }
}
