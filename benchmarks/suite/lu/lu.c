#include <stdint.h>
#include <string.h>

void lu(double *restrict a, const double *restrict given, int64_t n)
{
    memcpy(a, given, n * n * sizeof(double));
    for (int64_t k = 0; k < n; k++) {
        const double *restrict top = a + k * n;
        double reciprocal = 1.0 / top[k];
#pragma omp parallel for schedule(static) if ((n - k) * (n - k) > 20000)
        for (int64_t i = k + 1; i < n; i++) {
            double *restrict row = a + i * n;
            double f = row[k] * reciprocal;
            row[k] = f;
#pragma omp simd
            for (int64_t j = k + 1; j < n; j++)
                row[j] -= f * top[j];
        }
    }
}
