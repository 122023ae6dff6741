#include <stdint.h>

void livermore01(double *restrict x, const double *restrict y, const double *restrict z, double q, double r, double t, int64_t n)
{
#pragma omp parallel for simd schedule(static) if (n > 20000)
    for (int64_t k = 0; k < n; k++)
        x[k] = q + y[k] * (r * z[k + 10] + t * z[k + 11]);
}
