#include <stdint.h>

void livermore06(double *restrict w, const double *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double s = 0.01;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < i; k++)
            s += b[k * n + i] * w[i - k - 1];
        w[i] = s;
    }
}
