#include <stdint.h>

void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, int64_t n)
{
#pragma omp parallel for simd schedule(static) if (n > 20000)
    for (int64_t i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
}
