#include <stdint.h>

void livermore07(double *restrict x, const double *restrict u, const double *restrict y, const double *restrict z, double q, double r, double t, int64_t n)
{
#pragma omp parallel for simd schedule(static) if (n > 10000)
    for (int64_t k = 0; k < n; k++)
        x[k] = u[k] + r * (z[k] + r * y[k])
             + t * (u[k + 3] + r * (u[k + 2] + r * u[k + 1]) + t * (u[k + 6] + q * (u[k + 5] + q * u[k + 4])));
}
