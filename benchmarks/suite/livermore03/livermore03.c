#include <stdint.h>

void livermore03(double *result, const double *restrict z, const double *restrict x, int64_t n)
{
    double q = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : q) if (n > 20000)
    for (int64_t k = 0; k < n; k++)
        q += z[k] * x[k];
    *result = q;
}
