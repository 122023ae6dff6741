#include <stdint.h>

void dot(double *result, const double *restrict a, const double *restrict b, int64_t n)
{
    double s = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : s) if (n > 20000)
    for (int64_t i = 0; i < n; i++)
        s += a[i] * b[i];
    *result = s;
}
